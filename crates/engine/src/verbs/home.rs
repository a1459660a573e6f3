//! Offers a folder with a settings file to tests that change it.

use std::path::{Path, PathBuf};

use super::set_chat::SettingsPlace;
use crate::engine::Session;
use crate::settings::{Environment, Flags, Settings, SettingsError};

/// A folder for a settings file, for trust and for models.
pub(super) struct Home {
    pub(super) folder: tempfile::TempDir,
    pub(super) environment: Environment,
}

impl Home {
    /// An empty folder, and an environment with these variables.
    pub(super) fn new(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = [("XDG_STATE_HOME", folder.path().to_str().unwrap())];
        let environment = state.iter().chain(variables).copied().collect();
        Self { folder, environment }
    }

    /// The path of the settings file.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("pikerag.toml")
    }

    /// The file as a server without `--config` has it.
    pub(super) fn place<'a>(&'a self, path: &'a Path) -> SettingsPlace<'a> {
        SettingsPlace { path, is_named: false, environment: &self.environment }
    }

    /// A session with the usual settings.
    pub(super) fn session(&self) -> Session {
        let mut settings = Settings::defaults().unwrap();
        settings.local.folder = self.folder.path().join("models");
        crate::open(settings).unwrap().session()
    }

    /// Reads the file as at the start of the program.
    pub(super) fn again(&self) -> Result<Settings, SettingsError> {
        let flags = Flags { config: Some(self.path()), ..Flags::default() };
        Settings::load(&flags, &self.environment)
    }
}
