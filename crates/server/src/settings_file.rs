//! Keeps the settings file that the server was started with, so that an administrator can change the
//! models in it.

use std::path::PathBuf;
use std::sync::Arc;

use pikerag_engine::knowledge::error_chain;
use pikerag_engine::settings::{Environment, Settings, SettingsError};
use pikerag_engine::{ChangeModelError, LocalModelError, SettingsPlace, chinese_chain};

use crate::problem::{Fault, Problem};

/// The settings file of a server, and how its settings are read.
#[derive(Clone)]
pub struct SettingsFile {
    /// Its path; it need not exist.
    pub path: PathBuf,
    /// Whether the user named it, so that it needs no trust.
    pub is_named: bool,
    /// The environment of the server.
    pub environment: Environment,
    /// Reads all settings as at the start of the server.
    pub again: Arc<dyn Fn() -> Result<Settings, SettingsError> + Send + Sync>,
}

impl SettingsFile {
    /// The file as a change needs it.
    pub(crate) fn place(&self) -> SettingsPlace<'_> {
        let Self { path, is_named, environment, .. } = self;
        SettingsPlace { path, is_named: *is_named, environment }
    }
}

/// The caller is an administrator, who can act on all of these; so the texts name the file.
impl From<ChangeModelError> for Problem {
    fn from(error: ChangeModelError) -> Self {
        let (status, code, hint) = judged(&error);
        let problem = Self::new(status, code, Fault::Caller)
            .saying(error_chain(&error))
            .in_chinese(chinese_chain(&error));
        if hint.is_empty() { problem } else { problem.hint(hint) }
    }
}

/// The status, the code and what to do next.
fn judged(error: &ChangeModelError) -> (u16, &'static str, &'static str) {
    match error {
        ChangeModelError::Settings(SettingsError::Untrusted { .. }) => {
            (409, "settings-not-trusted", "read the file, then run `pikerag trust` on the server")
        }
        ChangeModelError::Local(
            LocalModelError::NoSuchModel { .. } | LocalModelError::BadName { .. },
        ) => (404, "no-such-model", "GET /api/v1/models lists the models"),
        ChangeModelError::Settings(_) | ChangeModelError::Local(_) => {
            (409, "settings-not-changed", "")
        }
        ChangeModelError::Endpoint(_) => (400, "bad-address", ""),
        ChangeModelError::BadValue { .. } => (400, "bad-value", ""),
        ChangeModelError::OtherSettings { .. } => (
            409,
            "settings-of-old-address",
            "remove them from the file, or give their table its own `base_url` there",
        ),
        ChangeModelError::KeyUsed { .. } => {
            (409, "settings-share-key", "give them their own `api_key` in the file first")
        }
        ChangeModelError::OfOldModel { .. } => {
            (409, "settings-of-old-model", "remove them from the file first")
        }
        ChangeModelError::Form { .. } => {
            (409, "settings-form", "set `model` and `base_url` in the file yourself")
        }
        ChangeModelError::NotWritten { .. } => (409, "settings-not-written", ""),
        ChangeModelError::Overridden { .. } => {
            (409, "settings-overridden", "start the server without the variable")
        }
    }
}
