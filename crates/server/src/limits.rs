//! Lists the limits of the server from the constants and settings that the code uses.

mod bases;
mod figures;
mod questions;
mod requests;

use pikerag_engine::narrate::Words;
use pikerag_engine::raise_descriptors;
use pikerag_engine::settings::{ServerSettings, Settings, SettingsError};
use serde::{Serialize, Serializer};

use crate::bounds::Bounds;

/// A limit of the server. As JSON, its words are English.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// The limited quantity.
    #[serde(serialize_with = "in_english")]
    pub name: Words,
    /// The value with default settings, in words that hold on every machine.
    #[serde(serialize_with = "in_english")]
    pub default: Words,
    /// The value with the settings in use, on this machine.
    #[serde(serialize_with = "in_english")]
    pub now: Words,
    /// The setting of this limit; `None` if nothing sets it.
    pub setting: Option<LimitSetting>,
    /// The reaction of the server beyond the limit.
    #[serde(serialize_with = "in_english")]
    pub beyond: Words,
}

/// The place where a limit is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LimitSetting {
    /// A setting of the settings file, such as `server.body_mib`.
    File(&'static str),
    /// An option of a command, such as `keys make --per-minute`.
    Option(&'static str),
}

impl LimitSetting {
    /// The setting or the option with its command.
    pub fn name(self) -> &'static str {
        match self {
            Self::File(name) | Self::Option(name) => name,
        }
    }
}

/// The settings and the machine on which limits are computed.
struct Place<'a> {
    settings: &'a Settings,
    /// The default settings.
    usual: &'a Settings,
    /// The open files that the process may have.
    descriptors: usize,
    bounds: Bounds,
    processors: usize,
}

impl Place<'_> {
    /// `[server]` as it is set, and by default.
    fn server(&self) -> (&ServerSettings, &ServerSettings) {
        (&self.settings.server, &self.usual.server)
    }
}

/// All limits, in the order of the documentation. It raises the limit of open files of this
/// process, as the server does.
///
/// # Errors
/// There are no default settings, which a test excludes.
pub fn limits(settings: &Settings) -> Result<Vec<Limit>, SettingsError> {
    let usual = Settings::defaults()?;
    let descriptors = raise_descriptors();
    let place = Place {
        settings,
        usual: &usual,
        descriptors,
        bounds: Bounds::within(descriptors, &settings.server),
        processors: std::thread::available_parallelism().map_or(2, usize::from),
    };
    let mut limits = requests::limits(&place);
    limits.extend(questions::limits(&place));
    limits.extend(bases::places(&place));
    limits.extend(bases::memory_and_log(&place));
    Ok(limits)
}

impl Limit {
    /// A limit that is the same with all settings and on all machines.
    fn new(name: Words, value: Words, beyond: Words) -> Self {
        Self { name, now: value.clone(), default: value, setting: None, beyond }
    }

    /// The same limit with another value now.
    fn now(self, now: Words) -> Self {
        Self { now, ..self }
    }

    /// The same limit with a setting of the settings file.
    fn set_by(self, name: &'static str) -> Self {
        Self { setting: Some(LimitSetting::File(name)), ..self }
    }
}

fn in_english<S: Serializer>(words: &Words, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&words.english)
}

#[cfg(test)]
mod tests {
    use pikerag_engine::settings::{Environment, Flags};

    use super::*;

    fn usual() -> Vec<Limit> {
        limits(&Settings::defaults().unwrap()).unwrap()
    }

    /// The limits with a settings file of one setting, such as `server.runs`.
    fn with(setting: &str, value: &str) -> Vec<Limit> {
        let (table, name) = setting.split_once('.').unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("[{table}]\n{name} = {value}\n")).unwrap();
        let flags = Flags { config: Some(file.path().to_owned()), ..Flags::default() };
        limits(&Settings::load(&flags, &Environment::default()).unwrap()).unwrap()
    }

    #[test]
    fn settings_exist_and_change_the_current_value_only() {
        let usual = usual();
        let mut n_set = 0;
        for limit in &usual {
            let Some(LimitSetting::File(setting)) = limit.setting else { continue };
            n_set += 1;
            let with = with(setting, "7");
            let now = |limits: &[Limit]| {
                let mut same = limits.iter().filter(|other| other.name == limit.name);
                (same.next().unwrap().now.clone(), same.count())
            };
            assert_ne!(now(&with).0, now(&usual).0, "{setting}");
            assert_eq!(now(&usual).1, 0, "{:?} is twice", limit.name);
            let defaults = |limits: &[Limit]| -> Vec<Words> {
                limits.iter().map(|limit| limit.default.clone()).collect()
            };
            assert_eq!(defaults(&with), defaults(&usual), "{setting}");
        }
        assert!(9 < n_set, "{n_set}");
    }

    #[test]
    fn settings_that_are_fractions_of_others_follow_them() {
        let waiting = |limits: Vec<Limit>| {
            let waiting =
                limits.into_iter().find(|limit| limit.name.english == "waiting questions");
            waiting.unwrap().now.english
        };
        assert_eq!(waiting(usual()), "256");
        assert_eq!(waiting(with("server.runs", "5")), "20");
    }

    #[test]
    fn words_are_complete_in_both_languages() {
        let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        for limit in usual() {
            for words in [&limit.name, &limit.default, &limit.now, &limit.beyond] {
                assert!(!words.english.is_empty() && !words.chinese.is_empty(), "{words:?}");
                assert!(!is_chinese(&words.english), "{words:?}");
            }
            assert!(is_chinese(&limit.name.chinese), "{:?}", limit.name);
        }
    }

    #[test]
    fn json_is_english() {
        let json = serde_json::to_value(usual()).unwrap();
        let body =
            json.as_array().unwrap().iter().find(|limit| limit["setting"] == "server.body_mib");
        let body = body.unwrap();
        assert_eq!((&body["default"], &body["now"]), (&"4 MiB".into(), &"4 MiB".into()));
        assert_eq!(body["beyond"], "413");
    }
}
