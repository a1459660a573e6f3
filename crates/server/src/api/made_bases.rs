//! Makes, renames and deletes bases. Needs scope `admin` and sight of all bases. The bases of the
//! settings stay as they are.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::{Extension, Json};
use pikerag_engine::keys::{Keys, mark_as_needed, now};
use pikerag_engine::knowledge::error_chain;
use pikerag_engine::settings::is_base_name;
use pikerag_engine::{Engine, LockedBases, MadeBases, begin_base};
use serde::Deserialize;
use tracing::info;
use utoipa::{IntoParams, ToSchema};

use super::bases::BaseLine;
use crate::app::{App, Caller};
use crate::problem::{Fault, JsonBody, Parts, Problem, Query};

/// The most characters of a name.
const LONGEST: usize = 64;
/// How long a deletion waits for requests that use the base.
const PATIENCE: Duration = Duration::from_secs(2);
/// The pause between two looks at them.
const STEP: Duration = Duration::from_millis(20);

/// The name of a base.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaseName {
    /// 1 to 64 letters (a to z, A to Z), digits, `-` and `_`; not `default`.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9_-]+$")]
    name: String,
}

/// Makes an empty base. It is in a folder of the server (`server.bases_folder`) and is there again
/// after a restart.
#[utoipa::path(post, path = "/api/v1/bases", operation_id = "createBase", tag = "bases", request_body = BaseName,
    responses((status = 201, body = BaseLine), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn make(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(BaseName { name }): JsonBody<BaseName>,
) -> Result<(StatusCode, [(HeaderName, String); 1], Json<BaseLine>), Problem> {
    app.for_all(&caller)?;
    let own = Arc::clone(&app);
    let line = to_the_end(&app, async move { made(&own, name).await }).await?;
    Ok((StatusCode::CREATED, located(&line), Json(line)))
}

/// Where the base is now; the audit log records it.
fn located(BaseLine { name, .. }: &BaseLine) -> [(HeaderName, String); 1] {
    [(header::LOCATION, format!("/api/v1/bases/{name}"))]
}

/// Renames a base that was made over REST or on the page. Running questions continue. While a job
/// waits or runs, and while a key names the base, it is refused.
#[utoipa::path(patch, path = "/api/v1/bases/{base}", operation_id = "renameBase", tag = "bases", params(("base" = String, Path)), request_body = BaseName,
    responses((status = 200, body = BaseLine), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn rename(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    JsonBody(BaseName { name }): JsonBody<BaseName>,
) -> Result<([(HeaderName, String); 1], Json<BaseLine>), Problem> {
    app.base(&caller, &base)?;
    app.for_all(&caller)?;
    let own = Arc::clone(&app);
    let line = to_the_end(&app, async move { renamed(&own, &base, name).await }).await?;
    Ok((located(&line), Json(line)))
}

/// The confirmation of a deletion.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Confirmed {
    /// The name of the base once more, so that nobody deletes it by mistake.
    confirm: Option<String>,
}

/// Deletes a base that was made over REST or on the page: documents, uploads, runs and everything
/// else. Waiting jobs are dropped. While a job or a request uses the base, and while a key names
/// it, it is refused.
#[utoipa::path(delete, path = "/api/v1/bases/{base}", operation_id = "deleteBase", tag = "bases", params(("base" = String, Path), Confirmed),
    responses((status = 204), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    Query(Confirmed { confirm }): Query<Confirmed>,
) -> Result<StatusCode, Problem> {
    app.base(&caller, &base)?;
    app.for_all(&caller)?;
    if confirm.as_deref() != Some(base.as_str()) {
        return Err(Problem::new(400, "not-confirmed", Fault::Caller)
            .saying(format!("the deletion of `{base}` is not confirmed"))
            .in_chinese(format!("没有确认删除 `{base}`"))
            .hint(format!("add `?confirm={base}`")));
    }
    let own = Arc::clone(&app);
    to_the_end(&app, async move { deleted(&own, &base).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Does a change to its end, even if the caller goes away meanwhile.
async fn to_the_end<T: Send + 'static>(
    app: &App,
    change: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    app.runtime.spawn(change).await.map_err(|_| defect())?
}

async fn made(app: &App, name: String) -> Result<BaseLine, Problem> {
    // The settings file is not read again meanwhile: it would restore the earlier bases.
    let _held = app.changing.lock().await;
    let engine = app.live().engine.clone();
    let bases = MadeBases::of(engine.settings());
    // Held until the base is begun: a starting server would remove it before.
    let locked = lock(&bases).await?;
    check_free(app, &bases, &name)?;
    let (most, n_made) = (app.live().settings.bases_limit, bases.all().len());
    if most <= n_made {
        return Err(Problem::new(409, "too-many-bases", Fault::Caller)
            .saying(format!("{most} bases may be made, and there are {n_made}"))
            .in_chinese(format!("最多可创建 {most} 个知识库，现有 {n_made} 个"))
            .hint("delete one, or ask the operator to raise `server.bases_limit`"));
    }
    let own = name.clone();
    let made = on_disk(move || match locked.make(&own) {
        // Another server over the same database was first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
        made => made.map(|folder| Some((locked, folder))),
    });
    let (locked, folder) = made.await?.ok_or_else(|| exists(&name))?;
    let session = engine.session_over(folder.clone());
    if let Err(error) = begin_base(&session).await {
        drop(session);
        engine.close(&folder).await?;
        on_disk(move || locked.remove(&folder)).await?;
        return Err(error.into());
    }
    // Without its store of keys, no server may serve the base. If it cannot be read, keys exist.
    if app.keys().is_some_and(|keys| keys.were_made().unwrap_or(true)) {
        on_disk(move || {
            mark_as_needed(engine.settings());
            Ok(())
        })
        .await?;
    }
    app.set_live(app.live().with(&name, session));
    app.jobs.go_on(&app.host(), &name);
    info!(base = name, "a base was made");
    Ok(BaseLine { name, made: true })
}

async fn renamed(app: &App, base: &str, name: String) -> Result<BaseLine, Problem> {
    let _held = app.changing.lock().await;
    let folder = folder_of(app, base)?;
    if name == base {
        return Ok(BaseLine { name, made: true });
    }
    let engine = app.live().engine.clone();
    let bases = MadeBases::of(engine.settings());
    let locked = lock(&bases).await?;
    check_free(app, &bases, &name)?;
    check_keys(app, base)?;
    if 0 < app.jobs.waiting(base) {
        return Err(in_use(base));
    }
    let session = engine.session_over(folder.clone());
    // No request begins a job in the queue that is closed now.
    app.set_live(app.live().without(base));
    let outcome = match app.jobs.close_idle(base).await {
        true => {
            let own = name.clone();
            let renamed = on_disk(move || match locked.rename(&folder, &own) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
                renamed => renamed.map(|()| true),
            });
            renamed.await.and_then(|is_free| if is_free { Ok(()) } else { Err(exists(&name)) })
        }
        false => Err(in_use(base)),
    };
    let current = if outcome.is_ok() { name.as_str() } else { base };
    app.set_live(app.live().with(current, session));
    app.jobs.go_on(&app.host(), current);
    outcome?;
    // Kept responses to requests of the old name are not those of a later base of this name.
    app.responses.forget();
    app.metrics.drop_base(base);
    info!(base, name, "a base was renamed");
    Ok(BaseLine { name, made: true })
}

async fn deleted(app: &App, base: &str) -> Result<(), Problem> {
    let _held = app.changing.lock().await;
    let folder = folder_of(app, base)?;
    check_keys(app, base)?;
    let engine = app.live().engine.clone();
    // The one session that stays is the server's own.
    if !is_at_most(1, &engine, &folder).await {
        return Err(in_use(base));
    }
    app.set_live(app.live().without(base));
    let removed = match is_at_most(0, &engine, &folder).await {
        true => removed(app, &engine, base, &folder).await,
        false => Err(in_use(base)),
    };
    if removed.is_err() {
        app.set_live(app.live().with(base, engine.session_over(folder)));
        app.jobs.go_on(&app.host(), base);
        return removed;
    }
    // Kept responses may hold text of the base.
    app.responses.forget();
    app.metrics.drop_base(base);
    info!(base, "a base was deleted");
    Ok(())
}

/// Removes the files of a base that nobody uses and nobody can find.
async fn removed(app: &App, engine: &Engine, base: &str, folder: &Path) -> Result<(), Problem> {
    app.jobs.close_deleted(base).await;
    engine.close(folder).await?;
    let (bases, folder) = (MadeBases::of(engine.settings()), folder.to_owned());
    let is_removed = on_disk(move || match bases.lock()?.remove(&folder) {
        // Requests or jobs of another server use it.
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
        removed => removed.map(|()| true),
    });
    if is_removed.await? { Ok(()) } else { Err(in_use(base)) }
}

/// Locks the folder of the bases against changes by other servers.
async fn lock(bases: &MadeBases) -> Result<LockedBases, Problem> {
    let bases = bases.clone();
    on_disk(move || bases.lock()).await
}

/// Waits briefly until few sessions use a base; false if more remain.
async fn is_at_most(few: usize, engine: &Engine, folder: &Path) -> bool {
    let began = Instant::now();
    while few < engine.sessions_over(folder) {
        if PATIENCE < began.elapsed() {
            return false;
        }
        tokio::time::sleep(STEP).await;
    }
    true
}

/// The folder of a base, which must have been made over REST or on the page.
fn folder_of(app: &App, base: &str) -> Result<PathBuf, Problem> {
    let live = app.live();
    let session = live.bases.get(base).filter(|_| live.made.contains(base));
    session.map(|session| session.folder().to_owned()).ok_or_else(|| {
        Problem::new(409, "base-declared", Fault::Caller)
            .saying(format!("the settings of the server declare the base `{base}`"))
            .in_chinese(format!("知识库 `{base}` 由服务器的设置声明"))
            .hint("change `base` or `server.bases` in the settings file")
    })
}

/// Refuses a name that is malformed or taken.
fn check_free(app: &App, bases: &MadeBases, name: &str) -> Result<(), Problem> {
    if LONGEST < name.len() || !is_base_name(name) {
        return Err(Problem::new(400, "bad-base-name", Fault::Caller)
            .saying(format!(
                "a base has a name of 1 to {LONGEST} letters (a to z), digits, `-` and `_`, other than `default`"
            ))
            .in_chinese(format!(
                "知识库名称由 1 到 {LONGEST} 个英文字母、数字、`-` 和 `_` 组成，且不是 `default`"
            )));
    }
    // Another process may have made it.
    if app.live().bases.contains_key(name) || bases.all().contains_key(name) {
        return Err(exists(name));
    }
    check_keys(app, name)
}

fn exists(name: &str) -> Problem {
    Problem::new(409, "base-exists", Fault::Caller)
        .saying(format!("there is already a base `{name}`"))
        .in_chinese(format!("已有知识库 `{name}`"))
}

/// Refuses to change what the name of a base means to keys: a key must not open another base than
/// the one that it was made for.
fn check_keys(app: &App, base: &str) -> Result<(), Problem> {
    let all = app.keys().map(Keys::list).transpose()?.unwrap_or_default();
    let keys = all.into_iter().map(|line| line.key);
    let naming =
        keys.filter(|key| key.params.bases.iter().any(|own| own == base) && !key.is_expired(now()));
    let ids: Vec<String> = naming.map(|key| key.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let ids = ids.join(", ");
    Err(Problem::new(409, "named-by-keys", Fault::Caller)
        .saying(format!("keys open the base `{base}` by its name: {ids}"))
        .in_chinese(format!("有密钥按名称打开知识库 `{base}`：{ids}"))
        .hint("revoke these keys first: DELETE /api/v1/keys/{id}"))
}

fn in_use(base: &str) -> Problem {
    Problem::new(409, "base-in-use", Fault::Caller)
        .saying(format!("a job or another request uses the base `{base}`"))
        .in_chinese(format!("有任务或其他请求正在使用知识库 `{base}`"))
        .hint("try again when it has ended: GET …/jobs lists the jobs")
}

/// Changes folders on a thread that may block.
async fn on_disk<T: Send + 'static>(
    change: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let changed = tokio::task::spawn_blocking(change).await.map_err(|_| defect())?;
    changed.map_err(|error| match error.kind() {
        ErrorKind::StorageFull => Problem::new(507, "disk-full", Fault::Server)
            .saying("the disk of the server is full")
            .in_chinese("服务器的磁盘已满")
            .logged(&error_chain(&error)),
        ErrorKind::TimedOut => Problem::new(500, "not-written", Fault::Server)
            .saying("another server is changing the bases of this folder")
            .in_chinese("另一台服务器正在更改此文件夹中的知识库")
            .hint("try again")
            .logged(&error_chain(&error)),
        _ => Problem::new(500, "not-written", Fault::Server)
            .saying("the folder of the base could not be changed")
            .in_chinese("无法更改知识库的文件夹")
            .logged(&error_chain(&error)),
    })
}

fn defect() -> Problem {
    Problem::new(500, "defect", Fault::Server)
}
