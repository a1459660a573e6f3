//! Reads the variables of the environment, once and in no other place.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// The variables of the environment, as they were when they were read.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// The names of variables whose values are not UTF-8.
    no_text: Vec<String>,
}

impl Environment {
    /// Reads all variables.
    pub fn read() -> Self {
        let mut environment = Self::default();
        for (name, value) in std::env::vars_os() {
            let Ok(name) = name.into_string() else { continue };
            match value.into_string() {
                Ok(value) => drop(environment.variables.insert(name, value)),
                Err(_) => environment.no_text.push(name),
            }
        }
        environment
    }

    /// The first variable of pikerag that is not UTF-8. Ignoring it could write to the wrong base.
    pub(super) fn no_text(&self) -> Option<&str> {
        let ours = |name: &&String| {
            ["PIKERAG_", "OPENAI_", "AZURE_OPENAI_"].iter().any(|start| name.starts_with(start))
        };
        self.no_text.iter().find(ours).map(String::as_str)
    }

    /// The address of Ollama as written in the environment; empty if there is none.
    pub(crate) fn ollama(&self) -> String {
        self.get("OLLAMA_HOST").unwrap_or_default().to_owned()
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }
}

/// The name of the program as it was started, and its arguments.
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// The path of this program.
pub(crate) fn this_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// The working folder.
pub(crate) fn this_folder() -> std::io::Result<PathBuf> {
    std::env::current_dir()?.canonicalize()
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        let variables = variables.into_iter().map(|(key, value)| (key.into(), value.into()));
        Self { variables: variables.collect(), no_text: Vec::new() }
    }
}
