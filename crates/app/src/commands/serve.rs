//! Runs `serve` and `keys`: the HTTP server, and its access keys.

mod limits;

use std::time::Duration;

use pikerag_engine::keys::{KeyParams, KeyUse, Keys, KeysError, mark_as_needed, now};
use pikerag_engine::knowledge::Millis;
use pikerag_engine::narrate::{Language, Words};
use pikerag_engine::parts::Secret;
use pikerag_engine::settings::Settings;
use pikerag_engine::{Engine, MadeBases, Session};
use pikerag_server::{JobOffer, Reloader, SettingsFile, openapi, serve as listen};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::advice;
use crate::cli::{KeysVerb, MakeKey, Serve};
use crate::failure::Failure;
use crate::interrupt::signalled;
use crate::output::{Output, note, say, say_json};
use crate::plain::one_line;
use crate::render::when;

/// Puts the arguments over the settings.
pub(super) fn set(settings: &mut Settings, arguments: &Serve) {
    if let Some(host) = &arguments.host {
        settings.server.host.clone_from(host);
    }
    if let Some(port) = arguments.port {
        settings.server.port = port;
    }
}

/// Serves until a signal ends it. `SIGHUP` reads the settings again.
pub(super) async fn serve(
    engine: Engine,
    output: Output,
    arguments: &Serve,
    file: SettingsFile,
) -> anyhow::Result<u8> {
    if arguments.openapi {
        say(openapi().trim_end());
        return Ok(0);
    }
    if arguments.limits {
        return limits::print(engine.settings(), output);
    }
    let grace = engine.settings().server.grace;
    let on_offer = move |offer: &JobOffer| note(&offered(offer, output.language));
    let serving = listen(engine, Some(file.clone()), on_offer).await?;
    tokio::spawn(reload_at_hangup(serving.reloader(), file, output));
    // Before anybody learns that it listens.
    let signalled = signalled();
    let url = format!("http://{}", serving.address());
    match output.json {
        true => {
            say_json(&json!({ "listening": url }))?;
        }
        false => output.say(
            format!("listening on {url}; {url}/openapi.json describes it; Ctrl-C ends it"),
            format!("正在监听 {url}；接口说明见 {url}/openapi.json；按 Ctrl-C 结束"),
        ),
    }
    serving
        .until(async {
            signalled.await;
            at_the_latest(grace);
            output.note(
                "shutting down: finishing running requests (Ctrl-C again to quit now)",
                "正在关闭：等待进行中的请求完成（再按一次 Ctrl-C 立即退出）",
            );
        })
        .await;
    Ok(0)
}

/// Reads the settings again at each `SIGHUP`. Settings that cannot be read change nothing.
async fn reload_at_hangup(reloader: Reloader, file: SettingsFile, output: Output) {
    // If the signal cannot be received, it ends the program by itself.
    let Ok(mut hangups) = signal(SignalKind::hangup()) else { return };
    while hangups.recv().await.is_some() {
        let held = reloader.hold_file().await;
        let taken = (file.again)()
            .map_err(anyhow::Error::from)
            .and_then(|settings| Ok(reloader.reload(settings)?));
        drop(held);
        match taken {
            Ok(later) if later.is_empty() => {
                output.note("the settings are reloaded", "已重新读取设置");
            }
            Ok(later) => {
                let later = later.join(", ");
                output.note(
                    format!("the settings are reloaded; a restart is needed for {later}"),
                    format!("已重新读取设置；以下设置须重新启动才生效：{later}"),
                );
            }
            Err(error) => {
                output.problem(&advice::error(&error, output.language));
                output.note(
                    "the server continues with its earlier settings",
                    "服务器继续使用原有的设置",
                );
            }
        }
    }
}

/// Ends the program after this time, even if a model, a disk or a lock still blocks it. Committed work is kept.
fn at_the_latest(grace: Duration) {
    let end = move || {
        std::thread::sleep(grace);
        std::process::exit(i32::from(crate::exit::FAILED));
    };
    // Without a thread, the program ends when its requests do.
    let _ = std::thread::Builder::new().name("grace".to_owned()).spawn(end);
}

/// The cost of a job that needs approval, and the request that approves it.
pub(super) fn offered(JobOffer { base, id, bill }: &JobOffer, language: Language) -> String {
    let mut takes = Vec::new();
    if 0 < bill.calls {
        let (calls, tokens) = (bill.calls, bill.tokens);
        takes.push(Words::new(
            format!("{calls} calls to models ({tokens} tokens)"),
            format!("{calls} 次模型调用（{tokens} 个 Token）"),
        ));
    }
    if 0 < bill.texts {
        let texts = bill.texts;
        takes.push(Words::new(format!("{texts} texts to embed"), format!("{texts} 段文本待嵌入")));
    }
    let takes: Vec<String> = takes.into_iter().map(|words| words.of(language)).collect();
    let (takes, base) = (takes.join(language.either(", ", "，")), one_line(base));
    let (usd, money) = match bill.usd {
        Some(usd) => (format!(", ${usd:.2}"), format!("，{usd:.2} 美元")),
        None => Default::default(),
    };
    Words::new(
        format!(
            "{base}: {takes}{usd} pending, without approval: `POST /api/v1/bases/{base}/jobs/{id}/begin` begins"
        ),
        format!(
            "{base}：待确认 {takes}{money}：`POST /api/v1/bases/{base}/jobs/{id}/begin` 开始执行"
        ),
    )
    .of(language)
}

pub(super) fn keys(session: &Session, output: Output, verb: &KeysVerb) -> anyhow::Result<u8> {
    let path = session.settings().server.keys.clone().ok_or(KeysError::NoPlace)?;
    let keys = Keys::open(&path)?;
    match verb {
        KeysVerb::Make(make) => made(session, &keys, output, make),
        KeysVerb::List => list(&keys, output),
        KeysVerb::Rotate { id, grace } => {
            let (key, secret) = keys.rotate(id, grace.unwrap_or_default())?;
            show(output, &key.id, &secret)
        }
        KeysVerb::Revoke { id } => {
            let gone = keys.revoke(id)?;
            if output.json {
                return say_json(&json!({ "revoked": gone.id }));
            }
            let (id, name) = (&gone.id, one_line(&gone.params.name));
            output.say(format!("revoked: {id} ({name})"), format!("已撤销：{id}（{name}）"));
            Ok(0)
        }
    }
}

fn made(session: &Session, keys: &Keys, output: Output, make: &MakeKey) -> anyhow::Result<u8> {
    let known = &session.settings().server.bases;
    let made_bases = MadeBases::of(session.settings()).all();
    let usual = pikerag_engine::settings::DEFAULT_BASE;
    let is_known =
        |base: &String| base == usual || known.contains_key(base) || made_bases.contains_key(base);
    if let Some(other) = make.bases.iter().find(|base| !is_known(base)) {
        return Err(Failure::NoSuchBase { name: other.clone(), usual }.into());
    }
    let params = KeyParams {
        name: make.name.clone(),
        scope: make.scope,
        bases: make.bases.clone(),
        filter: make.filters.filter(),
        cap_usd: make.cap_usd,
        per_minute: make.per_minute,
        expires: make.expires,
    };
    let no_key = |error: KeysError| Failure::NoKey.of(error);
    match &make.into {
        None => {
            let (key, secret) = keys.make(params).map_err(no_key)?;
            show(output, &key.id, &secret)?;
        }
        Some(file) => {
            let key = keys.make_into(params, file).map_err(no_key)?;
            let file = file.display();
            match (output.json, &key) {
                (true, _) => {
                    say_json(&json!({ "id": key.map(|key| key.id) }))?;
                }
                (false, Some(key)) => {
                    let id = &key.id;
                    output
                        .note(format!("key {id} is in {file}"), format!("密钥 {id} 在 {file} 中"));
                }
                (false, None) => output.note(
                    format!("{file} already holds a valid key"),
                    format!("{file} 中已有有效的密钥"),
                ),
            }
        }
    }
    mark_as_needed(session.settings());
    Ok(0)
}

fn show(output: Output, id: &str, secret: &Secret) -> anyhow::Result<u8> {
    if output.json {
        return say_json(&json!({ "id": id, "key": secret.expose() }));
    }
    say(secret.expose());
    output.note(
        format!("key {id} is stored as a digest only: it is not shown again"),
        format!("密钥 {id} 只保存摘要：不会再次显示"),
    );
    Ok(0)
}

fn list(keys: &Keys, output: Output) -> anyhow::Result<u8> {
    let all = keys.list()?;
    let usd = |picodollars: u64| picodollars as f64 / 1e12;
    if output.json {
        let line = |line: &KeyUse| json!({ "id": line.key.id, "made": line.key.made, "good_for": line.key.params, "used": line.used, "spent_usd": usd(line.spent), "reserved_usd": usd(line.reserved) });
        return say_json(&json!(all.iter().map(line).collect::<Vec<_>>()));
    }
    if all.is_empty() {
        match keys.were_made()? {
            true => output.note(
                "all keys are revoked: the server refuses every request until a key is created",
                "密钥均已撤销：在创建新密钥之前，服务器拒绝所有请求",
            ),
            false => output.note(
                "there are no keys: everybody on this machine may use the server without limits",
                "没有密钥：本机上的任何人都可以不受限制地使用服务器",
            ),
        }
    }
    for line in &all {
        let KeyUse { key, used, spent, reserved } = line;
        let limits = limits(&key.params, usd(spent.saturating_add(*reserved)), *used);
        let limits: Vec<String> =
            limits.into_iter().map(|words| words.of(output.language)).collect();
        let limits = limits.join(output.language.separator());
        let name = one_line(&key.params.name);
        say(&format!("{}  {}  {name}  {}", key.id, when(key.made), one_line(&limits)));
    }
    Ok(0)
}

/// The permissions and limits of a key, with its use.
fn limits(params: &KeyParams, spent: f64, used: Option<Millis>) -> Vec<Words> {
    let scope = params.scope.as_str();
    let mut limits = vec![Words::new(scope, scope)];
    if !params.bases.is_empty() {
        let bases = params.bases.join(", ");
        limits.push(Words::new(format!("opens {bases}"), format!("可打开 {bases}")));
    }
    if !params.filter.is_empty() {
        let filter = &params.filter;
        limits.push(Words::new(format!("sees {filter}"), format!("可查看 {filter}")));
    }
    if let Some(n) = params.per_minute {
        limits.push(Words::new(format!("{n} a minute"), format!("每分钟 {n} 次")));
    }
    match params.cap_usd {
        Some(cap) => limits.push(Words::new(
            format!("${spent:.2} of ${cap:.2} spent"),
            format!("已用 {spent:.2} / {cap:.2} 美元"),
        )),
        None if 0.0 < spent => {
            limits.push(Words::new(format!("${spent:.2} spent"), format!("已用 {spent:.2} 美元")));
        }
        None => {}
    }
    if let Some(expires) = params.expires {
        let at = when(expires);
        limits.push(match expires <= now() {
            true => Words::new(format!("expired {at}"), format!("已于 {at} 过期")),
            false => Words::new(format!("valid until {at}"), format!("有效至 {at}")),
        });
    }
    if let Some(used) = used {
        let at = when(used);
        limits.push(Words::new(format!("last used {at}"), format!("上次使用 {at}")));
    }
    limits
}
