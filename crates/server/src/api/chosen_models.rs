//! Tries and sets chat models in the settings file of the server, for all tasks or for one.
#![expect(unused_qualifications, reason = "what the macro for the document writes")]

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::TriedChat;
use pikerag_engine::knowledge::Role;
use pikerag_engine::parts::Secret;
use pikerag_engine::settings::ChatChoice;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::models::{ChatInUse, in_use, session};
use crate::app::{App, Caller};
use crate::problem::{Fault, JsonBody, Problem, Query};
use crate::reload::{Changed, ModelChange, Reloader};
use crate::settings_file::SettingsFile;

/// A chat model to try or to set.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChosenChat {
    /// The task for which the model is chosen; all tasks without a model of their own by default.
    #[serde(default)]
    role: Option<Role>,
    /// `local:NAME`, or the name that the endpoint gives the model; for Azure the deployment.
    model: String,
    /// The address of the endpoint; `https://api.openai.com/v1` by default. A `local:` model has
    /// none.
    #[serde(default)]
    base_url: Option<String>,
    /// A new key. It is stored in the settings file and goes to this address only. Without it, the
    /// stored key stays if the address stays; at the address of a known provider, the server uses
    /// the variable of the provider.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    api_key: Option<Secret>,
    /// The version of Azure's protocol.
    #[serde(default)]
    azure_api_version: Option<String>,
}

impl From<ChosenChat> for ChatChoice {
    fn from(chosen: ChosenChat) -> Self {
        let ChosenChat { role, model, base_url, api_key, azure_api_version } = chosen;
        let given = |text: Option<String>| {
            text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        Self {
            role,
            model: model.trim().to_owned(),
            base_url: given(base_url),
            api_key: api_key.filter(|key| !key.expose().is_empty()),
            azure_api_version: given(azure_api_version),
        }
    }
}

/// The chat model that was set. New questions use it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SetChat {
    /// The chat model of the task; for all tasks, the one that writes answers. None offline.
    #[schema(required)]
    chat: Option<ChatInUse>,
    /// Whether the file of a model that pikerag serves is here; true for an endpoint.
    is_here: bool,
    /// The variable that must hold the key and is not set. The model refuses calls until then.
    #[schema(required, value_type = Option<String>)]
    needs_key: Option<&'static str>,
    /// Other settings of the file that have changed and need a restart.
    #[schema(value_type = Vec<String>)]
    needs_restart: Vec<&'static str>,
}

/// The task that loses its own model.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichRole {
    /// Its name.
    role: Role,
}

/// Tries a chat model by one small call, before it is set. Nothing is written. The call counts in
/// the caps.
#[utoipa::path(post, path = "/api/v1/models/test", operation_id = "testChatModel", tag = "settings", request_body = ChosenChat,
    responses((status = 200, body = TriedChat), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn test(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<ChosenChat>,
) -> Result<Json<TriedChat>, Problem> {
    let session = session(&app, &caller)?;
    let file = changeable(&app)?;
    let choice = ChatChoice::from(body);
    Ok(Json(pikerag_engine::try_chat(&session, file.place(), &choice).await?))
}

/// Sets the chat model of a task, or of all tasks, in the settings file of the server. New questions
/// use it without a restart; running requests keep theirs. The file must be trusted and writable.
#[utoipa::path(put, path = "/api/v1/models/chosen", operation_id = "setChatModel", tag = "settings", request_body = ChosenChat,
    responses((status = 200, body = SetChat), (status = 400, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn set(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<ChosenChat>,
) -> Result<Json<SetChat>, Problem> {
    let choice = ChatChoice::from(body);
    let role = choice.role;
    let changed = changed(&app, &caller, ModelChange::SetChat(choice)).await?;
    in_use_now(&app, &caller, role, changed)
}

/// Takes the model of a task from the settings file of the server, with its address and its key. The
/// task then uses the model of all tasks. It is no error if it has no model of its own.
#[utoipa::path(delete, path = "/api/v1/models/chosen", operation_id = "unsetChatModel", tag = "settings", params(WhichRole),
    responses((status = 200, body = SetChat), (status = 400, body = Problem), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn unset(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Query(WhichRole { role }): Query<WhichRole>,
) -> Result<Json<SetChat>, Problem> {
    let changed = changed(&app, &caller, ModelChange::UnsetChat(role)).await?;
    in_use_now(&app, &caller, Some(role), changed)
}

/// The chat model of a role after a change; without a role, the one that writes answers.
fn in_use_now(
    app: &App,
    caller: &Caller,
    role: Option<Role>,
    changed: Changed,
) -> Result<Json<SetChat>, Problem> {
    let Changed { is_here, needs_key, needs_restart } = changed;
    let chat = in_use(&session(app, caller)?, role.unwrap_or(Role::Answer));
    Ok(Json(SetChat { chat, is_here, needs_key, needs_restart }))
}

/// Changes a model in the settings file of the server for an administrator.
pub(super) async fn changed(
    app: &App,
    caller: &Caller,
    change: ModelChange,
) -> Result<Changed, Problem> {
    let own = session(app, caller)?;
    let file = changeable(app)?.clone();
    // On a task of its own: otherwise, a caller who leaves could stop it between writing the file
    // and using it.
    let change = Reloader::new(Arc::clone(app)).change_model(own, file, change);
    let changed = tokio::spawn(change).await;
    changed.map_err(|_| Problem::new(500, "defect", Fault::Server))?
}

/// The settings file of the server.
pub(super) fn changeable(app: &App) -> Result<&SettingsFile, Problem> {
    app.settings_file().ok_or_else(|| {
        Problem::new(409, "no-settings-file", Fault::Server)
            .saying("this server has no settings file")
    })
}
