//! Lists providers of chat models that speak OpenAI's protocol, for `init --provider`.

use serde::Serialize;

/// An address with OpenAI's protocol, and what `[chat]` needs for it. It holds no key.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Provider {
    /// The name on the command line.
    pub name: &'static str,
    /// Names that mean the same: of its models, and in Chinese.
    #[serde(skip)]
    pub other_names: &'static [&'static str],
    /// The address.
    pub base_url: &'static str,
    /// An example of its models, as the documents of the provider name it.
    pub model: &'static str,
    /// The variable of the environment that holds the key; `None` if none is needed.
    pub api_key_env: Option<&'static str>,
    /// The version of Azure's protocol.
    pub azure_api_version: Option<&'static str>,
    /// Words in address and model that the user must replace.
    pub placeholders: &'static [&'static str],
}

/// No provider has this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no provider `{0}`")]
pub struct UnknownProvider(String);

impl Provider {
    /// The provider with this name, or with this other name.
    ///
    /// # Errors
    /// [`UnknownProvider`].
    pub fn find(name: &str) -> Result<&'static Self, UnknownProvider> {
        let mut all = PROVIDERS.iter();
        let found = all.find(|known| known.name == name || known.other_names.contains(&name));
        found.ok_or_else(|| UnknownProvider(name.to_owned()))
    }

    /// The settings under `[chat]`, in the order in which they are written.
    pub(crate) fn chat(&self) -> Vec<(&'static str, &'static str)> {
        let mut settings = vec![("base_url", self.base_url), ("model", self.model)];
        settings.extend(self.api_key_env.map(|variable| ("api_key_env", variable)));
        settings.extend(self.azure_api_version.map(|version| ("azure_api_version", version)));
        settings
    }
}

/// A provider that needs no more than address, model and key.
const fn usual(
    name: &'static str,
    other_names: &'static [&'static str],
    base_url: &'static str,
    model: &'static str,
    api_key_env: &'static str,
) -> Provider {
    Provider {
        name,
        other_names,
        base_url,
        model,
        api_key_env: Some(api_key_env),
        azure_api_version: None,
        placeholders: &[],
    }
}

/// The known providers. Addresses and models are those of the providers' own documents in November
/// 2026; we made no call to them.
pub static PROVIDERS: [Provider; 11] = [
    usual("openai", &[], "https://api.openai.com/v1", "gpt-4.1-mini", "OPENAI_API_KEY"),
    Provider {
        name: "azure",
        other_names: &[],
        base_url: "https://NAME.openai.azure.com",
        model: "DEPLOYMENT",
        api_key_env: Some("AZURE_OPENAI_API_KEY"),
        azure_api_version: Some("2024-10-21"),
        placeholders: &["NAME", "DEPLOYMENT"],
    },
    // Its layer for OpenAI's protocol accepts the key as a bearer token.
    usual(
        "anthropic",
        &["claude"],
        "https://api.anthropic.com/v1",
        "claude-opus-5-5",
        "ANTHROPIC_API_KEY",
    ),
    usual(
        "gemini",
        &["google"],
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "gemini-3.6-flash",
        "GEMINI_API_KEY",
    ),
    usual("mistral", &[], "https://api.mistral.ai/v1", "mistral-small-latest", "MISTRAL_API_KEY"),
    usual("deepseek", &[], "https://api.deepseek.com", "deepseek-flash", "DEEPSEEK_API_KEY"),
    usual(
        "dashscope",
        &["qwen", "tongyi", "通义", "通义千问", "百炼"],
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "qwen-plus",
        "DASHSCOPE_API_KEY",
    ),
    usual(
        "zhipu",
        &["glm", "bigmodel", "智谱"],
        "https://open.bigmodel.cn/api/paas/v4",
        "glm-5.1",
        "ZAI_API_KEY",
    ),
    usual(
        "siliconflow",
        &["硅基流动"],
        "https://api.siliconflow.cn/v1",
        "deepseek-ai/DeepSeek-V4-Flash",
        "SILICONFLOW_API_KEY",
    ),
    usual(
        "openrouter",
        &[],
        "https://openrouter.ai/api/v1",
        "openai/gpt-4.1-mini",
        "OPENROUTER_API_KEY",
    ),
    Provider {
        name: "ollama",
        other_names: &[],
        base_url: "http://127.0.0.1:11434/v1",
        model: "qwen3:14b",
        api_key_env: None,
        azure_api_version: None,
        placeholders: &[],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn providers_are_found_by_each_of_their_names() {
        let mut names = BTreeSet::new();
        for provider in &PROVIDERS {
            for name in provider.other_names.iter().chain([&provider.name]) {
                assert!(names.insert(*name), "{name} is there twice");
                assert_eq!(Provider::find(name).unwrap(), provider);
            }
        }
        assert!(Provider::find("nobody").unwrap_err().to_string().contains("`nobody`"));
    }

    #[test]
    fn providers_name_variables_and_hold_no_key() {
        for provider in &PROVIDERS {
            let url = provider.base_url;
            let is_here = url.starts_with("http://127.0.0.1:");
            assert!(url.starts_with("https://") || is_here, "{url}");
            assert!(!url.ends_with('/') && !url.contains(['?', '@']), "{url}");
            assert_eq!(provider.api_key_env.is_none(), is_here, "{url}");
            let variable = provider.api_key_env.unwrap_or("NONE_API_KEY");
            let is_name = variable.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            assert!(is_name && variable.ends_with("_API_KEY"), "{variable}");
        }
    }
}
