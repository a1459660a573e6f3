//! Which variables does the environment hold? Read once, here and nowhere else.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The variables of the environment, as they were when they were read.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads all of them.
    pub fn read() -> Self {
        Self(
            std::env::vars_os()
                .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
                .collect(),
        )
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }
}

/// The program that runs.
pub(crate) fn this_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// The folder that it runs in.
pub(crate) fn this_folder() -> std::io::Result<PathBuf> {
    std::env::current_dir()?.canonicalize()
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}
