//! Changes chat models in the text of a settings file. A key stays with the address that it was
//! given for.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use pikerag_knowledge::Role;
use pikerag_models::Secret;
use pikerag_models::openai::LOCAL;

use super::edit::{ModelTable, removed, replaced};
use super::endpoints::chat;
use super::file::{ChatTable, EmbedKind, SettingsFile};
use super::keys::{OPENAI, fill_in, same};
use super::parse::parse;
use super::providers::PROVIDERS;
use super::{ChatSettings, Environment, SettingsError, TEMPLATE, trust};

/// The chat model to use for one role, or for all roles without one of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatChoice {
    /// The role; `None` for all roles without a model of their own.
    pub role: Option<Role>,
    /// `local:NAME`, or the name that the endpoint gives the model; for Azure the deployment.
    pub model: String,
    /// The address of the endpoint; `None` for `OpenAI`'s. A model that pikerag serves has none.
    pub base_url: Option<String>,
    /// A new key. `None` keeps the key of the file if the address stays the same. At the address of
    /// a known provider it selects the variable of that provider. Other variables are never
    /// selected: their values could be keys for other services.
    pub api_key: Option<Secret>,
    /// The version of Azure's protocol; `None` keeps that of the file if the address stays the same.
    pub azure_api_version: Option<String>,
}

impl ChatChoice {
    /// The name of the model, without its beginning, if pikerag serves it itself.
    pub fn local_name(&self) -> Option<&str> {
        self.model.strip_prefix(LOCAL)
    }

    /// The address of the endpoint; `None` for a model that pikerag serves.
    pub(crate) fn address(&self) -> Option<&str> {
        match self.local_name() {
            Some(_) => None,
            None => Some(self.base_url.as_deref().unwrap_or(OPENAI)),
        }
    }

    /// The first setting whose value is no single line of TOML.
    pub(crate) fn bad_value(&self) -> Option<&'static str> {
        bad_value(&[
            ("model", Some(self.model.as_str())),
            ("base_url", self.base_url.as_deref()),
            ("api_key", self.api_key.as_ref().map(Secret::expose)),
            ("azure_api_version", self.azure_api_version.as_deref()),
        ])
    }
}

/// The first of these settings whose value is no single line of TOML.
pub(super) fn bad_value(values: &[(&'static str, Option<&str>)]) -> Option<&'static str> {
    let is_bad = |value: &str| {
        let is_bad = |c: char| matches!(c, '"' | '\\') || c.is_control();
        value.trim().is_empty() || value.contains(is_bad)
    };
    let mut bad = values.iter().filter(|(_, value)| value.is_some_and(is_bad));
    bad.next().map(|(name, _)| *name)
}

/// A settings file that may be changed: it is trusted, or the user named it, or it is missing.
pub(crate) struct ChangeableFile {
    /// Its text; the template if it is missing.
    pub(crate) text: String,
    /// Whether there is no such file yet.
    pub(crate) is_new: bool,
    pub(super) file: SettingsFile,
}

/// The text with another model.
pub(crate) struct ChangedText {
    pub(crate) text: String,
    /// The variable that must hold the key and is not set.
    pub(crate) needs_key: Option<&'static str>,
}

impl ChangeableFile {
    /// Reads a settings file for a change. `is_named`: the user named it, so it needs no trust.
    ///
    /// # Errors
    /// The file cannot be read or is not trusted, or trust cannot be stored.
    pub(crate) fn read(
        path: &Path,
        is_named: bool,
        environment: &Environment,
    ) -> Result<Self, SettingsError> {
        let (text, is_new) = match fs::read_to_string(path) {
            Ok(text) => (text, false),
            Err(error) if !is_named && error.kind() == ErrorKind::NotFound => {
                (TEMPLATE.to_owned(), true)
            }
            Err(source) => {
                return Err(SettingsError::Unreadable { path: path.to_owned(), source });
            }
        };
        let file = parse(path, &text)?;
        if !is_named {
            // The text may have changed since the program read it.
            if !is_new {
                trust::check(path, &text, &file, environment)?;
            }
            trust::state(environment).ok_or(SettingsError::NoStateFolder)?;
        }
        Ok(Self { text, is_new, file })
    }

    /// The settings that the file gives for the present address of the choice's table, and that would go to the address
    /// of this choice, too.
    pub(crate) fn settings_of_old_address(&self, choice: &ChatChoice) -> Vec<String> {
        if choice.address().is_none_or(|address| same(self.address(choice.role), address)) {
            return Vec::new();
        }
        if let Some(role) = choice.role {
            let is_further = !self.is_usual(choice);
            return self.settings_of_role(role, is_further);
        }
        let own = &self.file.chat;
        let mut names = further("chat", own);
        let roles = self.file.roles.iter().map(|(role, table)| (format!("roles.{role}"), table));
        let perspectives = self.file.perspectives.iter();
        let perspectives = perspectives.map(|own| ("perspectives.chat".to_owned(), &own.chat));
        for (name, table) in roles.chain(perspectives) {
            let has_more = !table.headers.is_empty() || !table.extra.is_empty();
            if table.base_url.is_none() && (has_key(table) || has_more) {
                names.push(name);
            }
        }
        let embed = &self.file.embed;
        // A variable may name the model.
        let is_endpoint =
            embed.model.is_some() || embed.kind == EmbedKind::OpenAi || embed.has_key();
        if embed.base_url.is_none() && is_endpoint {
            names.push("embed".to_owned());
        }
        names
    }

    /// The models of searches that use the key of `[chat]` and would lose it with this choice, by their tables.
    pub(crate) fn users_of_old_key(&self, choice: &ChatChoice) -> Vec<&'static str> {
        let old = self.address(None);
        let goes = choice.address().is_some_and(|address| !same(old, address));
        if choice.role.is_some() || !goes || !has_key(&self.file.chat) {
            return Vec::new();
        }
        let SettingsFile { embed, rerank, .. } = &self.file;
        let tables = [
            ("embed", &embed.base_url, embed.has_key()),
            ("rerank", &rerank.base_url, rerank.has_key()),
        ];
        let is_there =
            |base_url: &Option<String>| base_url.as_ref().is_some_and(|own| same(own, old));
        let users = tables.iter().filter(|(_, base_url, has_key)| !has_key && is_there(base_url));
        users.map(|(name, ..)| *name).collect()
    }

    /// The settings of a role that would go to another address with it. `is_further`: an address other than that of
    /// `[chat]`, whose further fields a role takes along.
    fn settings_of_role(&self, role: Role, is_further: bool) -> Vec<String> {
        let own = self.file.roles.get(&role);
        let mut names = own.map_or_else(Vec::new, |own| further(&format!("roles.{role}"), own));
        let has_extra = own.is_some_and(|own| !own.extra.is_empty());
        if is_further && !has_extra && !self.file.chat.extra.is_empty() {
            names.push("chat.extra".to_owned());
        }
        names
    }

    /// Whether the choice is for a role at the address of `[chat]`. Such a role takes address and key from there.
    pub(crate) fn is_usual(&self, choice: &ChatChoice) -> bool {
        let usual = self.address(None);
        choice.role.is_some() && choice.address().is_some_and(|address| same(usual, address))
    }

    /// The text with this choice; `None` if its form does not allow that.
    pub(crate) fn with(
        &self,
        path: &Path,
        choice: &ChatChoice,
        environment: &Environment,
    ) -> Option<ChangedText> {
        let mut values = vec![("model", choice.model.as_str())];
        let (mut absent, mut needs_key) = (Vec::new(), None);
        if let Some(address) = choice.address() {
            let (stays, is_usual) =
                (same(self.address(choice.role), address), self.is_usual(choice));
            match is_usual {
                true => absent.push("base_url"),
                false => values.insert(0, ("base_url", address)),
            }
            match &choice.azure_api_version {
                Some(version) => values.push(("azure_api_version", version.as_str())),
                None if stays => {}
                None => absent.push("azure_api_version"),
            }
            let keeps_key = stays && self.own(choice.role).is_some_and(has_key);
            let takes_key = is_usual && has_key(&self.file.chat);
            let key = KeyLines::new(choice.api_key.as_ref(), address, keeps_key, takes_key);
            values.extend(key.value);
            absent.extend(key.absent);
            needs_key = key.variable.filter(|variable| environment.get(variable).is_none());
        }
        let text = replaced(path, &self.text, ModelTable::Chat(choice.role), &values, &absent)?;
        Some(ChangedText { text, needs_key })
    }

    /// The text without a model, an address and a key of this role, which then uses those of `[chat]`; `None` if its form
    /// does not allow that.
    pub(crate) fn without(&self, path: &Path, role: Role) -> Option<String> {
        const OWN: [&str; 5] = ["base_url", "model", "api_key", "api_key_env", "azure_api_version"];
        removed(path, &self.text, ModelTable::Chat(Some(role)), &OWN)
    }

    /// The roles with a model or an address of their own.
    pub(crate) fn roles_with_models(&self) -> Vec<Role> {
        let own = self.file.roles.iter();
        let own = own.filter(|(_, own)| own.model.is_some() || own.base_url.is_some());
        own.map(|(role, _)| *role).collect()
    }

    /// The settings of a role that would go to the address of `[chat]` if it had no address of its own.
    pub(crate) fn settings_beside(&self, role: Role) -> Vec<String> {
        match same(self.address(Some(role)), self.address(None)) {
            true => Vec::new(),
            false => self.settings_of_role(role, false),
        }
    }

    /// The table of a role, or `[chat]`.
    fn own(&self, role: Option<Role>) -> Option<&ChatTable> {
        match role {
            None => Some(&self.file.chat),
            Some(role) => self.file.roles.get(&role),
        }
    }

    /// The address of a role in the file, or that of `[chat]`.
    pub(super) fn address(&self, role: Option<Role>) -> &str {
        let own = self.own(role).and_then(|own| own.base_url.as_deref());
        own.or(self.file.chat.base_url.as_deref()).unwrap_or(OPENAI)
    }
}

/// The lines of a table that give a key.
pub(super) struct KeyLines<'a> {
    /// A name and its value.
    pub(super) value: Option<(&'static str, &'a str)>,
    pub(super) absent: &'static [&'static str],
    /// The variable that must hold the key.
    pub(super) variable: Option<&'static str>,
}

impl<'a> KeyLines<'a> {
    /// The lines for a new key, or for none. `keeps`: the table has a key for this address. `takes`: it uses the key of
    /// `[chat]`.
    pub(super) fn new(new: Option<&'a Secret>, address: &str, keeps: bool, takes: bool) -> Self {
        const BOTH: [&str; 2] = ["api_key", "api_key_env"];
        const NONE: KeyLines<'_> = KeyLines { value: None, absent: &BOTH, variable: None };
        match (new, variable_of(address)) {
            (Some(key), _) => {
                let value = Some(("api_key", key.expose()));
                Self { value, absent: &["api_key_env"], variable: None }
            }
            (None, _) if keeps => Self { absent: &[], ..NONE },
            (None, Some(variable)) if !takes => Self {
                value: Some(("api_key_env", variable)),
                absent: &["api_key"],
                variable: Some(variable),
            },
            (None, _) => NONE,
        }
    }
}

/// The headers and fields of a table, which could hold keys.
fn further(name: &str, table: &ChatTable) -> Vec<String> {
    let lists = [("headers", table.headers.is_empty()), ("extra", table.extra.is_empty())];
    lists.iter().filter(|(_, none)| !none).map(|(list, _)| format!("{name}.{list}")).collect()
}

pub(super) fn has_key(table: &ChatTable) -> bool {
    table.api_key.is_some() || table.api_key_env.is_some()
}

/// The variable with the key for the address of a known provider. An address with a placeholder
/// names none, because somebody else may own the real one.
fn variable_of(address: &str) -> Option<&'static str> {
    let mut fixed = PROVIDERS.iter().filter(|provider| provider.placeholders.is_empty());
    fixed.find(|provider| same(provider.base_url, address))?.api_key_env
}

/// The endpoint of a role in a text, or that of `[chat]`, with the key that would be sent.
///
/// # Errors
/// The text is no settings file.
pub(crate) fn chat_of(
    path: &Path,
    text: &str,
    role: Option<Role>,
    environment: &Environment,
) -> Result<ChatSettings, SettingsError> {
    let mut file = parse(path, text)?;
    fill_in(&mut file, environment);
    let own = role.and_then(|role| file.roles.get(&role)).unwrap_or(&file.chat);
    Ok(chat(&own.over(&file.chat)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str =
        "[chat]\nbase_url = \"http://own/v1\"\nmodel = \"m\"\napi_key = \"own-key\"\n";

    fn choice(base_url: &str, api_key: Option<&str>) -> ChatChoice {
        ChatChoice {
            role: None,
            model: "n".to_owned(),
            base_url: Some(base_url.to_owned()),
            api_key: api_key.map(Secret::new),
            azure_api_version: None,
        }
    }

    fn file(text: &str) -> ChangeableFile {
        let file = parse(Path::new("pikerag.toml"), text).unwrap();
        ChangeableFile { text: text.to_owned(), is_new: false, file }
    }

    /// The address that a request goes to after the change, its key, and the missing variable.
    fn changed(text: &str, choice: &ChatChoice, variables: &[(&str, &str)]) -> String {
        let (path, environment) =
            (Path::new("pikerag.toml"), variables.iter().copied().collect::<Environment>());
        let changed = file(text).with(path, choice, &environment).unwrap();
        let endpoint = chat_of(path, &changed.text, choice.role, &environment).unwrap().endpoint;
        let key = endpoint.api_key.as_ref().map_or("none", Secret::expose);
        let missing = changed.needs_key.unwrap_or("nothing");
        format!("{} {} {key}, missing {missing}", endpoint.base_url, endpoint.model)
    }

    #[test]
    fn a_key_never_goes_to_another_address() {
        let deepseek = "https://api.deepseek.com";
        let variables = [("DEEPSEEK_API_KEY", "environments"), ("SECRET", "other")];
        let named = OWN.replace("api_key = \"own-key\"", "api_key_env = \"SECRET\"");
        let lines = [
            changed(OWN, &choice("http://own/v1/", None), &[]),
            changed(OWN, &choice("http://own/v1", Some("new-key")), &[]),
            changed(OWN, &choice("http://there/v1", None), &variables),
            changed(OWN, &choice("http://there/v1", Some("new-key")), &variables),
            changed(&named, &choice("http://there/v1", None), &variables),
            changed(&named, &choice("http://own/v1", None), &variables),
            changed(OWN, &choice(deepseek, None), &variables),
            changed(OWN, &choice(deepseek, None), &[]),
            changed(OWN, &choice(deepseek, Some("new-key")), &variables),
            changed(TEMPLATE, &choice(deepseek, None), &variables),
            changed(
                "",
                &choice("https://x.openai.azure.com", None),
                &[("AZURE_OPENAI_API_KEY", "k")],
            ),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        http://own/v1/ n own-key, missing nothing
        http://own/v1 n new-key, missing nothing
        http://there/v1 n none, missing nothing
        http://there/v1 n new-key, missing nothing
        http://there/v1 n none, missing nothing
        http://own/v1 n other, missing nothing
        https://api.deepseek.com n environments, missing nothing
        https://api.deepseek.com n none, missing DEEPSEEK_API_KEY
        https://api.deepseek.com n new-key, missing nothing
        https://api.deepseek.com n environments, missing nothing
        https://x.openai.azure.com n none, missing nothing
        ");
    }

    /// A role at the address of `[chat]` uses its key; elsewhere it has its own, or none.
    #[test]
    fn keys_of_roles_stay_with_their_addresses() {
        let deepseek = "https://api.deepseek.com";
        let role = |base_url: &str, api_key| ChatChoice {
            role: Some(Role::Answer),
            ..choice(base_url, api_key)
        };
        let there =
            format!("{OWN}[roles.answer]\nbase_url = \"http://there/v1\"\napi_key = \"theirs\"\n");
        let variables = [("DEEPSEEK_API_KEY", "environments"), ("OPENAI_API_KEY", "usual")];
        let lines = [
            changed(OWN, &role("http://own/v1/", None), &[]),
            changed(OWN, &role("http://own/v1", Some("new-key")), &[]),
            changed(OWN, &role("http://there/v1", None), &[]),
            changed(OWN, &role("http://there/v1", Some("new-key")), &[]),
            changed(&there, &role("http://there/v1", None), &[]),
            changed(&there, &role("http://third/v1", None), &[]),
            changed(&there, &role("http://own/v1", None), &[]),
            changed(OWN, &role(deepseek, None), &variables),
            changed(OWN, &role(deepseek, None), &[]),
            changed("", &role(OPENAI, None), &variables),
            changed("", &role(OPENAI, None), &[]),
            changed("[chat]\nmodel = \"local:m\"\n", &role(OPENAI, None), &variables),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        http://own/v1 n own-key, missing nothing
        http://own/v1 n new-key, missing nothing
        http://there/v1 n none, missing nothing
        http://there/v1 n new-key, missing nothing
        http://there/v1 n theirs, missing nothing
        http://third/v1 n none, missing nothing
        http://own/v1 n own-key, missing nothing
        https://api.deepseek.com n environments, missing nothing
        https://api.deepseek.com n none, missing DEEPSEEK_API_KEY
        https://api.openai.com/v1 n usual, missing nothing
        https://api.openai.com/v1 n none, missing OPENAI_API_KEY
        https://api.openai.com/v1 n usual, missing nothing
        ");
    }

    #[test]
    fn a_role_takes_nothing_to_another_address() {
        let role =
            |base_url: &str| ChatChoice { role: Some(Role::Answer), ..choice(base_url, None) };
        let found = |text: &str, address: &str| {
            file(&format!("{OWN}{text}")).settings_of_old_address(&role(address)).join(", ")
        };
        let there = "http://there/v1";
        assert_eq!(found("", there), "");
        assert_eq!(found("headers = { x = \"k\" }\n", there), "");
        assert_eq!(found("extra = { user = \"k\" }\n", there), "chat.extra");
        assert_eq!(found("extra = { user = \"k\" }\n", "http://own/v1"), "");
        let own = "[roles.answer]\nbase_url = \"http://a/v1\"\nextra = { user = \"k\" }\n";
        assert_eq!(found(own, there), "roles.answer.extra");
        assert_eq!(found(own, "http://own/v1"), "roles.answer.extra");
        assert_eq!(found(own, "http://a/v1/"), "");
        let beside = |text: &str| file(&format!("{OWN}{text}")).settings_beside(Role::Answer);
        assert_eq!(beside(own), ["roles.answer.extra"]);
        assert!(beside("[roles.answer]\nextra = { user = \"k\" }\n").is_empty());
    }

    #[test]
    fn settings_of_the_old_address_are_found() {
        let found = |text: &str| {
            let text = format!("{OWN}{text}");
            file(&text).settings_of_old_address(&choice("http://there/v1", None)).join(", ")
        };
        assert_eq!(found(""), "");
        assert_eq!(found("[chat.headers]\nx = \"k\"\n"), "chat.headers");
        assert_eq!(found("extra = { seed = 7 }\n"), "chat.extra");
        assert_eq!(found("[roles.answer]\nmodel = \"n\"\n"), "");
        assert_eq!(found("[roles.answer]\napi_key = \"k\"\n"), "roles.answer");
        let own = "[roles.answer]\napi_key = \"k\"\nbase_url = \"http://a/v1\"\n";
        assert_eq!(found(own), "");
        assert_eq!(found("[embed]\nmodel = \"e\"\n"), "embed");
        assert_eq!(found("[embed]\napi_key = \"k\"\n"), "embed");
        assert_eq!(found("[roles.answer]\nextra = { user = \"k\" }\n"), "roles.answer");
        let stays = file(&format!("{OWN}[chat.headers]\nx = \"k\"\n"));
        assert!(stays.settings_of_old_address(&choice("http://own/v1", None)).is_empty());
        let local = ChatChoice { model: "local:m".to_owned(), ..ChatChoice::default() };
        assert!(stays.settings_of_old_address(&local).is_empty());
    }

    #[test]
    fn models_of_searches_do_not_lose_the_key_of_the_chat_model() {
        let users = |text: &str, address: &str| {
            file(&format!("{OWN}{text}")).users_of_old_key(&choice(address, None)).join(", ")
        };
        let both = "[embed]\nmodel = \"e\"\nbase_url = \"http://own/v1/\"\n[rerank]\nmodel = \"r\"\nbase_url = \"http://own/v1\"\n";
        assert_eq!(users(both, "http://there/v1"), "embed, rerank");
        assert_eq!(users(both, "http://own/v1"), "");
        assert_eq!(
            users(&both.replace("[rerank]", "api_key = \"k\"\n[rerank]"), "http://there/v1"),
            "rerank"
        );
        assert_eq!(
            users("[embed]\nmodel = \"e\"\nbase_url = \"http://a/v1\"\n", "http://there/v1"),
            ""
        );
    }

    #[test]
    fn a_local_model_changes_the_model_only() {
        let local = ChatChoice { model: "local:m".to_owned(), ..ChatChoice::default() };
        let environment = Environment::default();
        let changed = file(OWN).with(Path::new("pikerag.toml"), &local, &environment).unwrap();
        assert_eq!(changed.text, OWN.replace("\"m\"", "\"local:m\""));
    }

    #[test]
    fn values_that_break_the_line_are_named() {
        assert_eq!(choice("http://own/v1", Some("key")).bad_value(), None);
        assert_eq!(choice("http://own\"", None).bad_value(), Some("base_url"));
        assert_eq!(choice("http://own", Some("a\nb")).bad_value(), Some("api_key"));
        assert_eq!(ChatChoice::default().bad_value(), Some("model"));
    }

    #[test]
    fn a_found_file_must_be_trusted_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pikerag.toml");
        let state = home.path().to_str().unwrap();
        let environment: Environment = [("XDG_STATE_HOME", state)].into_iter().collect();
        let read = |is_named| ChangeableFile::read(&path, is_named, &environment);
        assert!(read(false).unwrap().is_new);
        assert!(matches!(read(true).err(), Some(SettingsError::Unreadable { .. })));
        fs::write(&path, OWN).unwrap();
        assert!(matches!(read(false).err(), Some(SettingsError::Untrusted { .. })));
        assert!(!read(true).unwrap().is_new);
        trust(&path, &environment).unwrap();
        assert!(!read(false).unwrap().is_new);
        let without = Environment::default();
        fs::write(&path, "").unwrap();
        let refused = ChangeableFile::read(&path, false, &without).err();
        assert!(matches!(refused, Some(SettingsError::NoStateFolder)));
    }
}
