//! Sends each key only to the address that was given in the same place: the environment's key to
//! the environment's address, the file's key to the file's address. A key given for another address
//! is not sent. If the endpoint refuses the call, the error names that key.

use std::path::PathBuf;

use pikerag_models::Secret;

use super::environment::Environment;
use super::file::{ChatTable, SettingsFile};
use super::search_model::SearchModel;

/// The default address.
pub(super) const OPENAI: &str = "https://api.openai.com/v1";

const CHAT_MODELS: [&str; 3] = ["PIKERAG_CHAT_MODEL", "OPENAI_MODEL", "AZURE_OPENAI_DEPLOYMENT"];
const CHAT_ADDRESSES: [&str; 4] =
    [OUR_ADDRESS, "OPENAI_BASE_URL", "OPENAI_API_BASE", AZURE_ADDRESS];
/// The address of either kind of endpoint, OpenAI or Azure.
const OUR_ADDRESS: &str = "PIKERAG_CHAT_BASE_URL";
const AZURE_ADDRESS: &str = "AZURE_OPENAI_ENDPOINT";
const EMBED_MODEL: &str = "PIKERAG_EMBED_MODEL";
const EMBED_ADDRESS: &str = "PIKERAG_EMBED_BASE_URL";
const RERANK_MODEL: &str = "PIKERAG_RERANK_MODEL";
const RERANK_ADDRESS: &str = "PIKERAG_RERANK_BASE_URL";
const OPENAI_KEY: &str = "OPENAI_API_KEY";
const AZURE_KEY: &str = "AZURE_OPENAI_API_KEY";
const EMBED_KEY: &str = "PIKERAG_EMBED_API_KEY";
const RERANK_KEY: &str = "PIKERAG_RERANK_API_KEY";

/// Completes the file with the environment, which has priority. Keys stay with their addresses.
pub(super) fn fill_in(settings: &mut SettingsFile, environment: &Environment) {
    let first =
        |names: &[&str]| names.iter().find_map(|name| environment.get(name)).map(str::to_owned);
    let set = |slot: &mut Option<String>, names: &[&str]| {
        if let Some(value) = first(names) {
            *slot = Some(value);
        }
    };
    set(&mut settings.chat.model, &CHAT_MODELS);
    set(&mut settings.chat.azure_api_version, &["OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION"]);
    set(&mut settings.author, &["PIKERAG_AUTHOR"]);
    set(&mut settings.embed.model, &[EMBED_MODEL]);
    set(&mut settings.rerank.model, &[RERANK_MODEL]);
    if let Some(path) = environment.get("PIKERAG_WEIGHTS") {
        settings.embed.weights = Some(PathBuf::from(path));
    }
    let chat = Place { file: settings.chat.base_url.clone(), environment: first(&CHAT_ADDRESSES) };
    let of_azure = settings.chat.azure_api_version.is_some();
    let address = CHAT_ADDRESSES.into_iter().find(|name| environment.get(name).is_some());
    let customary = match address {
        Some(AZURE_ADDRESS) => AZURE_KEY,
        Some(OUR_ADDRESS) if of_azure => AZURE_KEY,
        // Azure has no default address.
        _ => OPENAI_KEY,
    };
    chat_key(&mut settings.chat, &chat, "chat", Some(customary), environment);
    let is_keyless = settings.chat.api_key.is_none() && settings.chat.api_key_env.is_none();
    let other = [AZURE_KEY, OPENAI_KEY].into_iter().find(|name| *name != customary);
    let other = other.filter(|name| is_keyless && environment.get(name).is_some());
    let withheld = &mut settings.chat.withheld;
    withheld.extend(other.filter(|_| withheld.is_empty()).map(str::to_owned));
    settings.chat.base_url = chat.effective();
    let roles = settings.roles.iter_mut().map(|(role, table)| (format!("roles.{role}"), table));
    let perspectives = settings.perspectives.iter_mut();
    let perspectives = perspectives.map(|own| ("perspectives.chat".to_owned(), &mut own.chat));
    for (name, table) in roles.chain(perspectives) {
        let (place, customary) = match &table.base_url {
            Some(own) => (Place { file: Some(own.clone()), environment: None }, Some(OPENAI_KEY)),
            None => (chat.clone(), None),
        };
        chat_key(table, &place, &name, customary, environment);
    }
    embed_key(settings, &chat, first(&[EMBED_ADDRESS]), environment);
    rerank_key(settings, &chat, first(&[RERANK_ADDRESS]), environment);
}

/// The variable of the environment that names another chat model than the file, or another address,
/// and has priority. `base_url` is the address of the file, if it matters.
pub(crate) fn overriding_variable(
    environment: &Environment,
    model: &str,
    base_url: Option<&str>,
) -> Option<&'static str> {
    let is_given = |name: &&str| environment.get(name).is_some();
    let of_model = CHAT_MODELS.into_iter().find(is_given);
    let of_model = of_model.filter(|name| environment.get(name) != Some(model));
    of_model.or_else(|| overriding_address(environment, base_url))
}

/// The variable of the environment that names another address of `[chat]` than this one, and has priority.
pub(crate) fn overriding_address(
    environment: &Environment,
    base_url: Option<&str>,
) -> Option<&'static str> {
    let given = CHAT_ADDRESSES.into_iter().find(|name| environment.get(name).is_some());
    given.filter(|name| {
        let (here, there) = (environment.get(name), base_url);
        here.zip(there).is_some_and(|(here, there)| !same(here, there))
    })
}

/// The variable of the environment that names another model of searches than this model and address, or any if these
/// are `None`. It has priority.
pub(crate) fn overriding_search(
    environment: &Environment,
    of: SearchModel,
    wanted: Option<(&str, &str)>,
) -> Option<&'static str> {
    let (model, address) = match of {
        SearchModel::Embedder => (EMBED_MODEL, EMBED_ADDRESS),
        SearchModel::Reranker => (RERANK_MODEL, RERANK_ADDRESS),
    };
    let is_wanted = |name: &str, value: &str| {
        wanted.is_some_and(|(model_wanted, base_url)| match name == model {
            true => value == model_wanted,
            false => same(value, base_url),
        })
    };
    [model, address]
        .into_iter()
        .find(|name| environment.get(name).is_some_and(|value| !is_wanted(name, value)))
}

/// A reranker has its own address. If this is the chat's, as with a gateway for both, and the
/// reranker has no key, it uses the chat's key.
fn rerank_key(
    settings: &mut SettingsFile,
    chat: &Place,
    own: Option<String>,
    environment: &Environment,
) {
    let rerank = &mut settings.rerank;
    let place = Place { file: rerank.base_url.clone(), environment: own };
    rerank.base_url = place.effective();
    if rerank.base_url.is_none() {
        return;
    }
    let own = Own { key: rerank.api_key.take(), named: rerank.api_key_env.as_deref() };
    let key = pick(own, &place, "rerank.api_key", Some(RERANK_KEY), environment);
    (rerank.api_key, rerank.withheld) = (key.sent, key.withheld);
    let is_keyless = rerank.api_key.is_none() && rerank.api_key_env.is_none();
    if is_keyless && same(place.address(), chat.address()) {
        rerank.api_key.clone_from(&settings.chat.api_key);
        rerank.withheld.extend(settings.chat.withheld.iter().cloned());
    }
    if rerank.api_key.is_some() {
        rerank.withheld.clear();
    }
}

/// Vectors use the chat's endpoint and key, unless they have their own address.
fn embed_key(
    settings: &mut SettingsFile,
    chat: &Place,
    own: Option<String>,
    environment: &Environment,
) {
    let embed = &mut settings.embed;
    let place = match (&embed.base_url, own) {
        (None, None) => chat.clone(),
        (file, environment) => Place { file: file.clone(), environment },
    };
    embed.base_url = place.effective();
    let own = Own { key: embed.api_key.take(), named: embed.api_key_env.as_deref() };
    let key = pick(own, &place, "embed.api_key", Some(EMBED_KEY), environment);
    (embed.api_key, embed.withheld) = (key.sent, key.withheld);
    if same(place.address(), chat.address()) {
        if embed.azure_api_version.is_none() {
            embed.azure_api_version.clone_from(&settings.chat.azure_api_version);
        }
        if embed.api_key.is_none() && embed.api_key_env.is_none() {
            embed.api_key.clone_from(&settings.chat.api_key);
            embed.withheld.extend(settings.chat.withheld.iter().cloned());
        }
    }
    if embed.api_key.is_some() {
        embed.withheld.clear();
    }
}

/// Leaves in a table like `[chat]` only the keys and headers that may go to its address.
fn chat_key(
    table: &mut ChatTable,
    place: &Place,
    name: &str,
    customary: Option<&'static str>,
    environment: &Environment,
) {
    let own = Own { key: table.api_key.take(), named: table.api_key_env.as_deref() };
    let key = pick(own, place, &format!("{name}.api_key"), customary, environment);
    (table.api_key, table.withheld) = (key.sent, key.withheld);
    // Headers may contain keys.
    if !place.is_files() && !table.headers.is_empty() {
        table.headers.clear();
        table.withheld.push(format!("{name}.headers"));
    }
}

/// The addresses that the file and the environment give.
#[derive(Clone)]
struct Place {
    file: Option<String>,
    environment: Option<String>,
}

impl Place {
    fn effective(&self) -> Option<String> {
        self.environment.clone().or_else(|| self.file.clone())
    }

    fn address(&self) -> &str {
        self.environment.as_deref().or(self.file.as_deref()).unwrap_or(OPENAI)
    }

    fn is_files(&self) -> bool {
        same(self.address(), self.file.as_deref().unwrap_or(OPENAI))
    }

    fn is_environments(&self) -> bool {
        same(self.address(), self.environment.as_deref().unwrap_or(OPENAI))
    }
}

/// Whether two addresses are one, whatever slash ends them.
pub(super) fn same(a: &str, b: &str) -> bool {
    a.trim().trim_end_matches('/') == b.trim().trim_end_matches('/')
}

/// The key settings of a table in the file.
struct Own<'a> {
    key: Option<Secret>,
    /// The environment variable that the file names.
    named: Option<&'a str>,
}

struct Key {
    sent: Option<Secret>,
    /// Settings and variables with keys for another address; empty if a key is sent.
    withheld: Vec<String>,
}

/// The key for the address: first the variable that the file names, then the key of the place that
/// gave the address.
fn pick(
    own: Own<'_>,
    place: &Place,
    setting: &str,
    customary: Option<&'static str>,
    environment: &Environment,
) -> Key {
    let sent = |key: Option<Secret>| Key { sent: key, withheld: Vec::new() };
    let mut withheld = Vec::new();
    if let Some(name) = own.named {
        // A file without an address uses the environment's address, and the variable is in the
        // environment too.
        if place.is_files() || place.file.is_none() {
            return sent(environment.get(name).map(Secret::new));
        }
        withheld.extend(environment.get(name).map(|_| name.to_owned()));
    }
    let own_key = own.key.filter(|_| own.named.is_none());
    let customary = customary.and_then(|name| Some((name, environment.get(name)?)));
    let customary_goes = customary.filter(|_| place.is_environments());
    let own_goes = own_key.clone().filter(|_| place.is_files());
    match (own_goes, customary_goes) {
        (_, Some((_, key))) if place.environment.is_some() => sent(Some(Secret::new(key))),
        (Some(key), _) => sent(Some(key)),
        (None, Some((_, key))) => sent(Some(Secret::new(key))),
        (None, None) => {
            withheld.extend(own_key.map(|_| setting.to_owned()));
            withheld.extend(customary.map(|(name, _)| name.to_owned()));
            withheld.dedup();
            Key { sent: None, withheld }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: &str = "[chat]\nmodel = \"m\"\n";
    const HERE: (&str, &str) = ("OPENAI_BASE_URL", "http://here/v1");
    const KEY: (&str, &str) = ("OPENAI_API_KEY", "environments");

    const AZURE: (&str, &str) = ("AZURE_OPENAI_ENDPOINT", "http://azure");
    const AZURE_KEY: (&str, &str) = ("AZURE_OPENAI_API_KEY", "azures");

    /// The address of a request, its key and the withheld keys: for chat, then for embeddings.
    fn addresses(text: &str, variables: &[(&str, &str)]) -> String {
        let mut file: SettingsFile = toml::from_str(text).unwrap();
        fill_in(&mut file, &variables.iter().copied().collect());
        let line = |address: &Option<String>, key: &Option<Secret>, withheld: &[String]| {
            let address = address.as_deref().unwrap_or(OPENAI);
            let key = key.as_ref().map_or("none", Secret::expose);
            match withheld {
                [] => format!("{address} {key}"),
                withheld => format!("{address} {key}, not {}", withheld.join(", ")),
            }
        };
        let (chat, embed) = (&file.chat, &file.embed);
        format!(
            "{} | {}",
            line(&chat.base_url, &chat.api_key, &chat.withheld),
            line(&embed.base_url, &embed.api_key, &embed.withheld)
        )
    }

    #[test]
    fn a_key_goes_to_the_address_given_with_it() {
        let there = format!("{CHAT}base_url = \"http://there/v1\"\n");
        let there_with_key = format!("{there}api_key = \"files\"\n");
        let named = "api_key_env = \"OPENAI_API_KEY\"\n";
        let lines = [
            addresses(CHAT, &[KEY]),
            addresses(CHAT, &[KEY, HERE]),
            addresses(&there, &[KEY]),
            addresses(&format!("{there}{named}"), &[KEY]),
            addresses(&there_with_key, &[KEY]),
            addresses(&there_with_key, &[HERE]),
            addresses(&there_with_key, &[KEY, HERE]),
            addresses(&there_with_key, &[KEY, ("OPENAI_BASE_URL", "http://there/v1/")]),
            addresses(&format!("{there}api_key_env = \"MINE\"\n"), &[HERE, ("MINE", "named")]),
            addresses(&format!("{CHAT}api_key_env = \"MINE\"\n"), &[HERE, ("MINE", "named")]),
            addresses(&format!("{CHAT}api_key = \"files\"\n"), &[KEY]),
            addresses(&format!("{CHAT}api_key = \"files\"\n"), &[HERE]),
            addresses(CHAT, &[AZURE_KEY]),
            addresses(&format!("{there}[chat.headers]\nx-key = \"files\"\n"), &[HERE]),
            addresses(CHAT, &[KEY, AZURE_KEY, AZURE]),
            addresses(CHAT, &[AZURE_KEY, HERE]),
            addresses(CHAT, &[KEY, AZURE_KEY, HERE, ("OPENAI_API_VERSION", "1")]),
            addresses(CHAT, &[KEY, AZURE]),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        https://api.openai.com/v1 environments | https://api.openai.com/v1 environments
        http://here/v1 environments | http://here/v1 environments
        http://there/v1 none, not OPENAI_API_KEY | http://there/v1 none, not OPENAI_API_KEY
        http://there/v1 environments | http://there/v1 environments
        http://there/v1 files | http://there/v1 files
        http://here/v1 none, not chat.api_key | http://here/v1 none, not chat.api_key
        http://here/v1 environments | http://here/v1 environments
        http://there/v1/ environments | http://there/v1/ environments
        http://here/v1 none, not MINE | http://here/v1 none, not MINE
        http://here/v1 named | http://here/v1 named
        https://api.openai.com/v1 files | https://api.openai.com/v1 files
        http://here/v1 none, not chat.api_key | http://here/v1 none, not chat.api_key
        https://api.openai.com/v1 none, not AZURE_OPENAI_API_KEY | https://api.openai.com/v1 none, not AZURE_OPENAI_API_KEY
        http://here/v1 none, not chat.headers | http://here/v1 none, not chat.headers
        http://azure azures | http://azure azures
        http://here/v1 none, not AZURE_OPENAI_API_KEY | http://here/v1 none, not AZURE_OPENAI_API_KEY
        http://here/v1 environments | http://here/v1 environments
        http://azure none, not OPENAI_API_KEY | http://azure none, not OPENAI_API_KEY
        ");
    }

    #[test]
    fn a_variable_with_priority_is_named() {
        let overriding = |variables: &[(&str, &str)], base_url: Option<&str>| {
            overriding_variable(&variables.iter().copied().collect(), "m", base_url)
        };
        let there = Some("http://there/v1");
        assert_eq!(overriding(&[], there), None);
        assert_eq!(overriding(&[("OPENAI_MODEL", "m"), HERE], None), None);
        assert_eq!(overriding(&[("OPENAI_MODEL", "n")], None), Some("OPENAI_MODEL"));
        assert_eq!(overriding(&[HERE], there), Some("OPENAI_BASE_URL"));
        assert_eq!(overriding(&[HERE], Some("http://here/v1/")), None);
    }

    /// The address of a reranker's request, its key and the withheld keys.
    fn reranking(text: &str, variables: &[(&str, &str)]) -> String {
        let mut file: SettingsFile = toml::from_str(text).unwrap();
        fill_in(&mut file, &variables.iter().copied().collect());
        let rerank = &file.rerank;
        let address = rerank.base_url.as_deref().unwrap_or("nowhere");
        let key = rerank.api_key.as_ref().map_or("none", Secret::expose);
        format!("{address} {key} {:?}", rerank.withheld)
    }

    #[test]
    fn a_reranker_uses_the_key_of_its_address() {
        let own = "[rerank]\nmodel = \"r\"\nbase_url = \"http://ranks/v1\"\n";
        let elsewhere = ("PIKERAG_RERANK_BASE_URL", "http://elsewhere/v1");
        let its_key = ("PIKERAG_RERANK_API_KEY", "ranks");
        let chats = own.replace("http://ranks", "http://here");
        let lines = [
            reranking("[chat]\napi_key = \"files\"", &[KEY, its_key]),
            reranking(own, &[KEY]),
            reranking(own, &[KEY, its_key]),
            reranking(&format!("{own}api_key = \"files\"\n"), &[KEY, HERE]),
            reranking(&format!("{own}api_key = \"files\"\n"), &[elsewhere]),
            reranking(&format!("{own}api_key_env = \"MINE\"\n"), &[("MINE", "named")]),
            reranking(own, &[KEY, elsewhere, its_key]),
            reranking(&chats, &[KEY, HERE]),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        nowhere none []
        http://ranks/v1 none []
        http://ranks/v1 none ["PIKERAG_RERANK_API_KEY"]
        http://ranks/v1 files []
        http://elsewhere/v1 none ["rerank.api_key"]
        http://ranks/v1 named []
        http://elsewhere/v1 ranks []
        http://here/v1 environments []
        "#);
    }

    #[test]
    fn embeddings_use_the_key_of_their_address() {
        let own = "[embed]\nmodel = \"e\"\nbase_url = \"http://vectors/v1\"\n";
        let elsewhere = ("PIKERAG_EMBED_BASE_URL", "http://elsewhere/v1");
        let its_key = ("PIKERAG_EMBED_API_KEY", "vectors");
        let lines = [
            addresses(own, &[KEY, its_key]),
            addresses(&format!("{own}api_key = \"files\"\n"), &[KEY, HERE]),
            addresses(own, &[KEY, HERE, elsewhere]),
            addresses(own, &[KEY, HERE, elsewhere, its_key]),
            addresses("", &[KEY, HERE, its_key]),
            addresses("[chat]\nbase_url = \"http://there/v1\"\n", &[its_key]),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        https://api.openai.com/v1 environments | http://vectors/v1 none, not PIKERAG_EMBED_API_KEY
        http://here/v1 environments | http://vectors/v1 files
        http://here/v1 environments | http://elsewhere/v1 none
        http://here/v1 environments | http://elsewhere/v1 vectors
        http://here/v1 environments | http://here/v1 vectors
        http://there/v1 none | http://there/v1 none, not PIKERAG_EMBED_API_KEY
        ");
    }
}
