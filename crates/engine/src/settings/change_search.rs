//! Changes the embedder and the reranker in the text of a settings file. A key stays with the
//! address that it was given for.

use std::path::Path;

use pikerag_models::{Batch, Endpoint, Secret};

use super::change::{ChangeableFile, ChangedText, KeyLines, bad_value, has_key};
use super::edit::{ModelTable, removed, replaced};
use super::file::EmbedKind;
use super::keys::{OPENAI, fill_in, same};
use super::parse::parse;
use super::rerank::rerank;
use super::resolve::embed;
use super::search_model::SearchModel;
use super::{EmbedSettings, Environment, Reranks, SettingsError};

/// The endpoint of an embedder or a reranker to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchModelChoice {
    /// The kind of model.
    pub of: SearchModel,
    /// The name that the endpoint gives the model.
    pub model: String,
    /// The address of the endpoint, with OpenAI's protocol for embedders and Cohere's for rerankers.
    pub base_url: String,
    /// A new key. `None` keeps the key of the file if the address stays the same; at the address of
    /// `[chat]` it uses that of the chat model; at the address of a known provider it selects the
    /// variable of that provider.
    pub api_key: Option<Secret>,
}

impl SearchModelChoice {
    /// The first setting whose value is no single line of TOML.
    pub(crate) fn bad_value(&self) -> Option<&'static str> {
        bad_value(&[
            ("model", Some(&self.model)),
            ("base_url", Some(&self.base_url)),
            ("api_key", self.api_key.as_ref().map(Secret::expose)),
        ])
    }
}

/// The endpoint of an embedder or a reranker, with the key that would be sent.
pub(crate) struct SearchEndpoint {
    pub(crate) endpoint: Endpoint,
    pub(crate) batch: Batch,
}

impl ChangeableFile {
    /// The settings of the file that would go to the address of this choice, although they were given for another one.
    pub(crate) fn search_settings_of_old_address(&self, choice: &SearchModelChoice) -> Vec<String> {
        match self.stays(choice) {
            true => Vec::new(),
            false => self.search_extra(choice.of),
        }
    }

    /// The further fields of requests, which would go to any later address of this model.
    pub(crate) fn search_extra(&self, of: SearchModel) -> Vec<String> {
        let extra = match of {
            SearchModel::Embedder => &self.file.embed.extra,
            SearchModel::Reranker => &self.file.rerank.extra,
        };
        let named = || format!("{}.extra", of.table());
        (!extra.is_empty()).then(named).into_iter().collect()
    }

    /// The settings of the file that hold for the present model alone, and that another one would take along: prefixes
    /// of texts. `next`: the name of the other model; `None` for weights of this machine.
    pub(crate) fn settings_of_old_model(&self, of: SearchModel, next: Option<&str>) -> Vec<String> {
        let embed = &self.file.embed;
        if of == SearchModel::Reranker || embed.model.as_deref() == next {
            return Vec::new();
        }
        let prefixes =
            [("query_prefix", &embed.query_prefix), ("document_prefix", &embed.document_prefix)];
        let set = prefixes.iter().filter(|(_, prefix)| prefix.is_some());
        set.map(|(name, _)| format!("embed.{name}")).collect()
    }

    /// Whether the choice has no key of its own and would get that of `[chat]`, or the one that belongs to the address
    /// of `[chat]` in the environment.
    pub(crate) fn uses_key_of_chat(&self, choice: &SearchModelChoice) -> bool {
        let is_usual = same(&choice.base_url, OPENAI)
            || (same(&choice.base_url, self.address(None)) && has_key(&self.file.chat));
        is_usual && choice.api_key.is_none() && !self.keeps_key(choice)
    }

    /// Whether the file names an endpoint of this kind, or weights of a reranker.
    pub(crate) fn has_search_model(&self, of: SearchModel) -> bool {
        match of {
            SearchModel::Embedder => {
                let embed = &self.file.embed;
                let is_auto = embed.kind == EmbedKind::Auto && embed.weights.is_none();
                embed.kind == EmbedKind::OpenAi || (is_auto && embed.model.is_some())
            }
            SearchModel::Reranker => {
                self.file.rerank.model.is_some() || self.file.rerank.weights.is_some()
            }
        }
    }

    /// The text with this choice; `None` if its form does not allow that.
    pub(crate) fn with_search_model(
        &self,
        path: &Path,
        choice: &SearchModelChoice,
        environment: &Environment,
    ) -> Option<ChangedText> {
        let address = choice.base_url.as_str();
        let mut values = vec![("base_url", address), ("model", choice.model.as_str())];
        let mut absent = Vec::new();
        match choice.of {
            SearchModel::Embedder => {
                // Weights that the file names would count otherwise.
                values.insert(0, ("kind", "openai"));
                if !self.stays(choice) {
                    absent.push("azure_api_version");
                }
            }
            SearchModel::Reranker => absent.push("weights"),
        }
        let takes_key = same(self.address(None), address) && has_key(&self.file.chat);
        let keeps_key = self.keeps_key(choice);
        let key = KeyLines::new(choice.api_key.as_ref(), address, keeps_key, takes_key);
        values.extend(key.value);
        absent.extend(key.absent);
        let needs_key = key.variable.filter(|variable| environment.get(variable).is_none());
        let table = ModelTable::Search(choice.of);
        let text = replaced(path, &self.text, table, &values, &absent)?;
        Some(ChangedText { text, needs_key })
    }

    /// The text without an endpoint of this kind and without weights of a reranker; `None` if its form does not allow
    /// that.
    pub(crate) fn without_search_model(&self, path: &Path, of: SearchModel) -> Option<String> {
        let own: &[&str] = match of {
            SearchModel::Embedder => {
                &["kind", "base_url", "model", "api_key", "api_key_env", "azure_api_version"]
            }
            SearchModel::Reranker => &["base_url", "model", "api_key", "api_key_env", "weights"],
        };
        removed(path, &self.text, ModelTable::Search(of), own)
    }

    /// Whether the model has the address of the choice already.
    fn stays(&self, choice: &SearchModelChoice) -> bool {
        let present = match choice.of {
            SearchModel::Embedder => {
                Some(self.file.embed.base_url.as_deref().unwrap_or(self.address(None)))
            }
            SearchModel::Reranker => self.file.rerank.base_url.as_deref(),
        };
        present.is_some_and(|present| same(present, &choice.base_url))
    }

    /// Whether the file has a key for the model at the address of the choice.
    fn keeps_key(&self, choice: &SearchModelChoice) -> bool {
        let has_key = match choice.of {
            SearchModel::Embedder => self.file.embed.has_key(),
            SearchModel::Reranker => self.file.rerank.has_key(),
        };
        has_key && self.stays(choice)
    }
}

/// The endpoint of a text, with the key that would be sent; `None` if it names none.
///
/// # Errors
/// The text is no settings file.
pub(crate) fn search_endpoint_of(
    path: &Path,
    text: &str,
    of: SearchModel,
    environment: &Environment,
) -> Result<Option<SearchEndpoint>, SettingsError> {
    let mut file = parse(path, text)?;
    fill_in(&mut file, environment);
    let found = match of {
        SearchModel::Embedder => match embed(&file.embed, false)? {
            EmbedSettings::Endpoint { endpoint, batch } => Some((*endpoint, batch)),
            _ => None,
        },
        SearchModel::Reranker => match rerank(&file.rerank, false)?.by {
            Reranks::Endpoint { endpoint, batch } => Some((*endpoint, batch)),
            _ => None,
        },
    };
    Ok(found.map(|(endpoint, batch)| SearchEndpoint { endpoint, batch }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::TEMPLATE;

    const CHAT: &str =
        "[chat]\nbase_url = \"http://own/v1\"\nmodel = \"m\"\napi_key = \"own-key\"\n";
    const THERE: &str = "[embed]\nkind = \"openai\"\nbase_url = \"http://there/v1\"\nmodel = \"e\"\napi_key = \"theirs\"\n";

    fn choice(of: SearchModel, base_url: &str, api_key: Option<&str>) -> SearchModelChoice {
        SearchModelChoice {
            of,
            model: "n".to_owned(),
            base_url: base_url.to_owned(),
            api_key: api_key.map(Secret::new),
        }
    }

    fn embedder(base_url: &str, api_key: Option<&str>) -> SearchModelChoice {
        choice(SearchModel::Embedder, base_url, api_key)
    }

    fn reranker(base_url: &str, api_key: Option<&str>) -> SearchModelChoice {
        choice(SearchModel::Reranker, base_url, api_key)
    }

    /// The file of this text, which the user named.
    fn file(text: &str) -> ChangeableFile {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pikerag.toml");
        std::fs::write(&path, text).unwrap();
        ChangeableFile::read(&path, true, &Environment::default()).unwrap()
    }

    /// The address that a request goes to after the change, its key, and the missing variable.
    fn changed(text: &str, choice: &SearchModelChoice, variables: &[(&str, &str)]) -> String {
        let path = Path::new("pikerag.toml");
        let environment: Environment = variables.iter().copied().collect();
        let changed = file(text).with_search_model(path, choice, &environment).unwrap();
        let found = search_endpoint_of(path, &changed.text, choice.of, &environment).unwrap();
        let endpoint = found.unwrap().endpoint;
        let key = endpoint.api_key.as_ref().map_or("none", Secret::expose);
        let missing = changed.needs_key.unwrap_or("nothing");
        format!("{} {} {key}, missing {missing}", endpoint.base_url, endpoint.model)
    }

    #[test]
    fn a_key_never_goes_to_another_address() {
        let siliconflow = "https://api.siliconflow.cn/v1";
        let both = format!("{CHAT}{THERE}");
        let shared = format!("{CHAT}[embed]\nmodel = \"e\"\napi_key = \"theirs\"\n");
        let variables = [("SILICONFLOW_API_KEY", "environments"), ("OPENAI_API_KEY", "usual")];
        let lines = [
            changed(TEMPLATE, &embedder("http://there/v1", None), &variables),
            changed(CHAT, &embedder("http://own/v1/", None), &[]),
            changed(CHAT, &embedder("http://there/v1", None), &[]),
            changed(CHAT, &embedder("http://there/v1", Some("new-key")), &[]),
            changed(&both, &embedder("http://there/v1/", None), &[]),
            changed(&both, &embedder("http://third/v1", None), &[]),
            changed(&shared, &embedder("http://own/v1", None), &[]),
            changed(&both, &embedder("http://own/v1", None), &[]),
            changed(&both, &embedder(siliconflow, None), &variables),
            changed(&both, &embedder(siliconflow, None), &[]),
            changed("[embed]\nweights = \"w\"\n", &embedder("http://there/v1", None), &[]),
            changed(CHAT, &reranker("http://own/v1", None), &[]),
            changed(CHAT, &reranker("http://there/v1", None), &variables),
            changed("[rerank]\nweights = \"w\"\n", &reranker("http://there/v1", Some("k")), &[]),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        http://there/v1 n none, missing nothing
        http://own/v1/ n own-key, missing nothing
        http://there/v1 n none, missing nothing
        http://there/v1 n new-key, missing nothing
        http://there/v1/ n theirs, missing nothing
        http://third/v1 n none, missing nothing
        http://own/v1 n theirs, missing nothing
        http://own/v1 n own-key, missing nothing
        https://api.siliconflow.cn/v1 n environments, missing nothing
        https://api.siliconflow.cn/v1 n none, missing SILICONFLOW_API_KEY
        http://there/v1 n none, missing nothing
        http://own/v1 n own-key, missing nothing
        http://there/v1 n none, missing nothing
        http://there/v1 n k, missing nothing
        ");
    }

    #[test]
    fn further_fields_and_prefixes_are_found() {
        let more = format!("{THERE}extra = {{ user = \"k\" }}\nquery_prefix = \"q: \"\n");
        let of_address = |text: &str, address: &str| {
            file(text).search_settings_of_old_address(&embedder(address, None)).join(", ")
        };
        assert_eq!(of_address(&more, "http://there/v1/"), "");
        assert_eq!(of_address(&more, "http://other/v1"), "embed.extra");
        assert_eq!(of_address(THERE, "http://other/v1"), "");
        let shared = format!("{CHAT}[embed]\nmodel = \"e\"\nextra = {{ user = \"k\" }}\n");
        assert_eq!(of_address(&shared, "http://own/v1"), "");
        let rerank = "[rerank]\nextra = { user = \"k\" }\n";
        let found = file(rerank).search_settings_of_old_address(&reranker("http://a/v1", None));
        assert_eq!(found, ["rerank.extra"]);
        let of_model = |next| file(&more).settings_of_old_model(SearchModel::Embedder, next);
        assert_eq!(of_model(Some("e")).join(""), "");
        assert_eq!(of_model(Some("n")), ["embed.query_prefix"]);
        assert_eq!(of_model(None), ["embed.query_prefix"]);
    }

    /// The environment may give the key of `[chat]` another address.
    #[test]
    fn the_key_of_the_chat_model_is_recognised() {
        let uses = |text: &str, choice: &SearchModelChoice| file(text).uses_key_of_chat(choice);
        assert!(uses("", &embedder(OPENAI, None)));
        assert!(uses(CHAT, &reranker("http://own/v1/", None)));
        assert!(!uses("", &embedder(OPENAI, Some("k"))));
        assert!(!uses(CHAT, &embedder("http://there/v1", None)));
        let own = format!("[embed]\nmodel = \"e\"\nbase_url = \"{OPENAI}\"\napi_key = \"k\"\n");
        assert!(!uses(&own, &embedder(OPENAI, None)));
    }

    #[test]
    fn an_endpoint_is_removed_again() {
        let path = Path::new("pikerag.toml");
        let set = |text: &str, choice: &SearchModelChoice| {
            file(text).with_search_model(path, choice, &Environment::default()).unwrap().text
        };
        let without =
            |text: &str, of: SearchModel| file(text).without_search_model(path, of).unwrap();
        let with_both = set(
            &set(CHAT, &embedder("http://there/v1", Some("k"))),
            &reranker("http://there/v1", Some("k")),
        );
        let one = without(&with_both, SearchModel::Embedder);
        assert!(!one.contains("[embed]") && one.contains("[rerank]"), "{one}");
        assert_eq!(without(&one, SearchModel::Reranker).trim_end(), CHAT.trim_end());
        let weights = "[embed]\nweights = \"w\"\n";
        let back =
            without(&set(weights, &embedder("http://there/v1", None)), SearchModel::Embedder);
        assert_eq!(back, weights);
        let batch = format!("{THERE}batch = 8\n");
        let left = without(&batch, SearchModel::Embedder);
        assert_eq!(left, "[embed]\nbatch = 8\n");
        let has = |text: &str, of: SearchModel| file(text).has_search_model(of);
        assert!(has(THERE, SearchModel::Embedder) && !has(THERE, SearchModel::Reranker));
        for other in ["", "[embed]\nkind = \"none\"\nmodel = \"e\"\n", weights] {
            assert!(!has(other, SearchModel::Embedder), "{other}");
        }
        assert!(has("[rerank]\nweights = \"w\"\n", SearchModel::Reranker));
        let form = "embed = { model = \"e\" }\n";
        assert!(file(form).without_search_model(path, SearchModel::Embedder).is_none());
    }
}
