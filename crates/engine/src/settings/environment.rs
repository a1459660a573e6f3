//! What do the customary variables of the environment set? Read once, here and nowhere else; they go before the
//! file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pikerag_models::Secret;

use super::file::SettingsFile;

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

/// The environment goes before the file.
pub(super) fn fill_in(settings: &mut SettingsFile, environment: &Environment) {
    let set = |slot: &mut Option<String>, names: &[&str]| {
        if let Some(value) = names.iter().find_map(|name| environment.get(name)) {
            *slot = Some(value.to_owned());
        }
    };
    set(
        &mut settings.chat.base_url,
        &["PIKERAG_CHAT_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "AZURE_OPENAI_ENDPOINT"],
    );
    set(
        &mut settings.chat.model,
        &["PIKERAG_CHAT_MODEL", "OPENAI_MODEL", "AZURE_OPENAI_DEPLOYMENT"],
    );
    set(&mut settings.chat.azure_api_version, &["OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION"]);
    set(&mut settings.embed.base_url, &["PIKERAG_EMBED_BASE_URL"]);
    set(&mut settings.embed.model, &["PIKERAG_EMBED_MODEL"]);
    if let Some(path) = environment.get("PIKERAG_WEIGHTS") {
        settings.embed.weights = Some(PathBuf::from(path));
    }
    let keys = match settings.chat.azure_api_version {
        Some(_) => ["AZURE_OPENAI_API_KEY", "OPENAI_API_KEY"],
        None => ["OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"],
    };
    set_key(&mut settings.chat.api_key, settings.chat.api_key_env.as_deref(), &keys, environment);
    for chat in settings.roles.values_mut() {
        set_key(&mut chat.api_key, chat.api_key_env.as_deref(), &[], environment);
    }
    // Vectors come from the chat's endpoint, key and all, unless they have an address of their own:
    // keys go only where they were meant to go.
    let embed = &mut settings.embed;
    set_key(
        &mut embed.api_key,
        embed.api_key_env.as_deref(),
        &["PIKERAG_EMBED_API_KEY"],
        environment,
    );
    let elsewhere = embed.base_url.is_some() && embed.base_url != settings.chat.base_url;
    if !elsewhere {
        embed.base_url.clone_from(&settings.chat.base_url);
        if embed.azure_api_version.is_none() {
            embed.azure_api_version.clone_from(&settings.chat.azure_api_version);
        }
        if embed.api_key.is_none() && embed.api_key_env.is_none() {
            embed.api_key.clone_from(&settings.chat.api_key);
        }
    }
}

/// The key from the variable that the settings name; else from the customary ones; else as set.
fn set_key(
    key: &mut Option<Secret>,
    named: Option<&str>,
    customary: &[&str],
    environment: &Environment,
) {
    if let Some(name) = named {
        *key = environment.get(name).map(Secret::new);
    } else if let Some(value) = customary.iter().find_map(|name| environment.get(name)) {
        *key = Some(Secret::new(value));
    }
}
