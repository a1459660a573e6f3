//! Chooses the language of help and messages: `--lang`, else `PIKERAG_LANG`, else the locale, else English.

use std::ffi::OsString;

use pikerag_engine::narrate::Language;
use pikerag_engine::settings::Environment;

/// The option that sets the language.
const OPTION: &str = "--lang";
/// The values of the option, and of `PIKERAG_LANG`.
pub(crate) const NAMES: [&str; 2] = ["en", "zh"];

/// The language with a name of [`NAMES`].
pub(crate) fn named(name: &str) -> Language {
    if name == "zh" { Language::Chinese } else { Language::English }
}

/// The language that the environment sets: `PIKERAG_LANG`, else the first of the locale's variables that is set.
pub(crate) fn of_environment(environment: &Environment) -> Language {
    let variables = ["PIKERAG_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];
    match variables.iter().find_map(|name| environment.get(name)) {
        Some(locale) if is_chinese(locale) => Language::Chinese,
        _ => Language::English,
    }
}

/// Whether a locale such as `zh`, `zh-Hans` or `zh_CN.UTF-8` is Chinese.
fn is_chinese(locale: &str) -> bool {
    let language = locale.split(['_', '-', '.', '@']).next().unwrap_or_default();
    language.eq_ignore_ascii_case("zh")
}

/// The language that the arguments set, before they are parsed: help and errors of the parser need it.
pub(crate) fn of_arguments(arguments: &[OsString]) -> Option<Language> {
    let mut arguments = arguments.iter().take_while(|argument| *argument != "--");
    while let Some(argument) = arguments.next() {
        let name = match argument.to_str().and_then(|argument| argument.strip_prefix(OPTION)) {
            Some("") => arguments.next()?.to_str()?,
            Some(value) if value.starts_with('=') => value.trim_start_matches('='),
            _ => continue,
        };
        return NAMES.contains(&name).then(|| named(name));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let of = |variables: &[(&str, &str)]| of_environment(&variables.iter().copied().collect());
        assert_eq!(of(&[]), Language::English);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8")]), Language::Chinese);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C")]), Language::English);
        assert_eq!(of(&[("LANG", "en_US.UTF-8"), ("LC_MESSAGES", "zh")]), Language::Chinese);
        assert_eq!(
            of(&[("LANG", "C"), ("LC_ALL", " "), ("LC_MESSAGES", "ZH-Hans")]),
            Language::Chinese
        );
        assert_eq!(of(&[("LC_ALL", "zh_TW"), ("PIKERAG_LANG", "en")]), Language::English);
        assert_eq!(of(&[("PIKERAG_LANG", "zh")]), Language::Chinese);
        assert_eq!(of(&[("LANG", "zhuang")]), Language::English);
    }

    #[test]
    fn the_option_is_found_before_the_arguments_are_parsed() {
        let of = |arguments: &str| {
            let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
            of_arguments(&arguments)
        };
        assert_eq!(of("pikerag --lang zh --help"), Some(Language::Chinese));
        assert_eq!(of("pikerag index --lang=zh --nonsense"), Some(Language::Chinese));
        assert_eq!(of("pikerag --lang en status"), Some(Language::English));
        for none in [
            "pikerag status",
            "pikerag --lang",
            "pikerag --lang fr",
            "pikerag -- --lang zh",
            "pikerag --language zh",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
