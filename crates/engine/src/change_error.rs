//! Defines why a model in a settings file cannot be changed or tried.

use std::path::PathBuf;

use pikerag_knowledge::ModelError;

use crate::local_error::LocalModelError;
use crate::settings::SettingsError;

/// Why a model cannot be set in the settings file, or cannot be tried. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum ChangeModelError {
    /// The file is not trusted or cannot be read, or the changed file makes no sense.
    #[error("the settings file cannot be changed")]
    Settings(#[from] SettingsError),
    /// There is no such model on this machine.
    #[error("the model cannot be used")]
    Local(#[from] LocalModelError),
    /// The address is none, or the key has characters that no header can carry.
    #[error("the endpoint cannot be used")]
    Endpoint(#[from] ModelError),
    /// The value would not be one line of TOML.
    #[error("`{name}` is empty, or has a quotation mark, a backslash or a control character")]
    BadValue { name: &'static str },
    /// The file has settings for the present address of the model, which would go to the new one.
    #[error("{} in {path} would go to the new address, too", settings.join(", "))]
    OtherSettings {
        path: PathBuf,
        /// Their names.
        settings: Vec<String>,
    },
    /// Other models of the file use the key of `[chat]`, which would be deleted.
    #[error("{} in {path} would lose the key of `[chat]`", settings.join(", "))]
    KeyUsed {
        path: PathBuf,
        /// Their tables.
        settings: Vec<&'static str>,
    },
    /// The file has prefixes of texts, which belong to the present embedder.
    #[error("{path} has settings for the present model alone: {}", settings.join(", "))]
    OfOldModel {
        path: PathBuf,
        /// Their names.
        settings: Vec<String>,
    },
    /// The file sets the model in another form than one line for each setting.
    #[error("{path} sets the model in a form that pikerag does not change")]
    Form { path: PathBuf },
    /// The file cannot be written.
    #[error("{path} cannot be written")]
    NotWritten { path: PathBuf, source: std::io::Error },
    /// The environment decides, so that the change would have no effect.
    #[error("the variable {variable} names another model or address, and has priority")]
    Overridden { variable: &'static str },
}
