//! Writes a new settings file, and finds servers of models for the next step (`init`).

use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use pikerag_models::Transport;
use pikerag_models::open_models::{FoundServer, find_servers};
use serde::Serialize;

use crate::error::{EngineError, Result};
use crate::settings::{
    Environment, PROVIDERS, Provider, TEMPLATE, overriding_variable, trust, with_chat,
};

/// The settings file to write.
pub struct InitRequest<'a> {
    /// Its path.
    pub path: &'a Path,
    /// The environment, which knows where trust is kept and which keys there are.
    pub environment: &'a Environment,
    /// The provider that the file sets; `None` sets nothing.
    pub provider: Option<&'static Provider>,
    /// Whether the ports of this machine are left alone.
    pub offline: bool,
}

/// The new settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InitResponse {
    /// The path of the settings file. It did not exist before, or was as `init` had written it.
    pub written: PathBuf,
    /// Whether it is trusted; false if the user has no folder to store that in.
    pub trusted: bool,
    /// The provider that it sets.
    pub provider: Option<&'static Provider>,
    /// Whether the environment has the provider's key, or it needs none.
    pub has_key: bool,
    /// The variable of the environment that names another model or address, and has priority.
    pub overridden_by: Option<&'static str>,
    /// Servers of models that answer on this machine; not searched for a provider.
    pub servers: Vec<FoundServer>,
}

/// Writes [`TEMPLATE`], with the lines of the provider, to a new file and trusts it. It needs no
/// engine, because the existing settings may be broken.
///
/// # Errors
/// [`EngineError::SettingsExist`]: a file is never overwritten, unless a provider is given and the
/// file is one that `init` wrote and nobody changed. [`EngineError::NotWritten`].
///
/// # Examples
/// ```no_run
/// # async fn f() -> pikerag_engine::Result<()> {
/// use pikerag_engine::InitRequest;
/// use pikerag_engine::settings::{Environment, Provider};
///
/// let path = std::path::Path::new("pikerag.toml");
/// let environment = &Environment::read();
/// let provider = Provider::find("deepseek").ok();
/// let request = InitRequest { path, environment, provider, offline: false };
/// let response = pikerag_engine::init(&request).await?;
/// println!("{} is trusted: {}", response.written.display(), response.trusted);
/// # Ok(())
/// # }
/// ```
pub async fn init(request: &InitRequest<'_>) -> Result<InitResponse> {
    let InitRequest { path, environment, provider, offline } = *request;
    let not_written = |source| EngineError::NotWritten { path: path.to_owned(), source };
    let text = match provider {
        Some(provider) => of_provider(path, provider).map_err(not_written)?,
        None => TEMPLATE.to_owned(),
    };
    match write_new(path, &text) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if provider.is_none() || !is_unchanged(path) {
                return Err(EngineError::SettingsExist { path: path.to_owned() });
            }
            std::fs::write(path, &text).map_err(not_written)?;
        }
        written => written.map_err(not_written)?,
    }
    // The template sets nothing, so it also works without trust.
    let trusted = trust(path, environment).is_ok();
    let key = provider.and_then(|provider| provider.api_key_env);
    let servers = match provider {
        None if !offline => find_servers(&Transport::default(), &environment.ollama()).await,
        _ => Vec::new(),
    };
    Ok(InitResponse {
        written: path.to_owned(),
        trusted,
        provider,
        has_key: key.is_none_or(|variable| environment.get(variable).is_some()),
        overridden_by: provider.and_then(|provider| {
            overriding_variable(environment, provider.model, Some(provider.base_url))
        }),
        servers,
    })
}

/// The template with the lines of a provider.
fn of_provider(path: &Path, provider: &Provider) -> std::io::Result<String> {
    let text = with_chat(path, TEMPLATE, &provider.chat());
    text.ok_or_else(|| Error::other("the template has no place for the provider"))
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Whether this is a file of `init` without any change, so that replacing it loses nothing.
fn is_unchanged(path: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(path) else { return false };
    let of_provider = |provider| of_provider(path, provider).is_ok_and(|written| written == text);
    text == TEMPLATE || PROVIDERS.iter().any(of_provider)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn written(path: &Path, provider: &str, variables: &[(&str, &str)]) -> InitResponse {
        let environment = &variables.iter().copied().collect();
        let provider = Provider::find(provider).ok();
        init(&InitRequest { path, environment, provider, offline: true }).await.unwrap()
    }

    #[tokio::test]
    async fn a_provider_replaces_only_files_that_nobody_changed() {
        let home = tempfile::tempdir().unwrap();
        let path = &home.path().join("pikerag.toml");
        assert_eq!(written(path, "none", &[]).await.provider, None);
        written(path, "deepseek", &[]).await;
        written(path, "智谱", &[]).await;
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains("\nbase_url = \"https://open.bigmodel.cn/api/paas/v4\"\n"), "{text}");
        std::fs::write(path, text.replace("glm-5.1", "another")).unwrap();
        let environment = &Environment::default();
        let provider = Provider::find("openai").ok();
        let again = init(&InitRequest { path, environment, provider, offline: true }).await;
        assert!(matches!(again, Err(EngineError::SettingsExist { .. })), "{again:?}");
        assert!(std::fs::read_to_string(path).unwrap().contains("another"));
    }

    #[tokio::test]
    async fn the_key_and_variables_with_priority_are_reported() {
        let home = tempfile::tempdir().unwrap();
        let path = &home.path().join("pikerag.toml");
        let response = written(path, "mistral", &[]).await;
        assert_eq!((response.has_key, response.overridden_by), (false, None));
        let variables = [("MISTRAL_API_KEY", "k"), ("OPENAI_MODEL", "m")];
        let response = written(path, "mistral", &variables).await;
        assert_eq!((response.has_key, response.overridden_by), (true, Some("OPENAI_MODEL")));
        assert!(written(path, "ollama", &[]).await.has_key);
        assert!(!std::fs::read_to_string(path).unwrap().contains("\napi_key_env"));
    }
}
