//! Prints the limits of the server, a line for each.

use pikerag_engine::narrate::{Language, Words};
use pikerag_engine::settings::Settings;
use pikerag_server::{Limit, limits};

use crate::output::{Output, say, say_json};

pub(super) fn print(settings: &Settings, output: Output) -> anyhow::Result<u8> {
    let limits = limits(settings)?;
    if output.json {
        return say_json(&limits);
    }
    for limit in limits {
        say(&described(limit, output.language));
    }
    Ok(0)
}

/// The value in use, the default if it differs, the setting, and the reaction beyond the limit.
fn described(limit: Limit, language: Language) -> String {
    let Limit { name, default, now, setting, beyond } = limit;
    let mut notes = Vec::new();
    if now != default {
        let Words { english, chinese } = default;
        notes.push(Words::new(format!("default: {english}"), format!("默认：{chinese}")));
    }
    if let Some(setting) = setting {
        let name = setting.name();
        notes.push(Words::new(format!("set by `{name}`"), format!("由 `{name}` 设置")));
    }
    let notes: Vec<String> = notes.into_iter().map(|note| note.of(language)).collect();
    let notes = match notes.is_empty() {
        true => String::new(),
        false => {
            let notes = notes.join(language.separator());
            Words::new(format!(" ({notes})"), format!("（{notes}）")).of(language)
        }
    };
    Words::new(
        format!("{}: {}{notes}; beyond: {}", name.english, now.english, beyond.english),
        format!("{}：{}{notes}；超出时：{}", name.chinese, now.chinese, beyond.chinese),
    )
    .of(language)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use pikerag_server::LimitSetting;

    use super::*;
    use crate::cli::Arguments;

    #[test]
    fn options_of_limits_exist() {
        let mut n_options = 0;
        for limit in limits(&Settings::defaults().unwrap()).unwrap() {
            let Some(LimitSetting::Option(call)) = limit.setting else { continue };
            n_options += 1;
            let (path, option) = call.rsplit_once(" --").unwrap();
            let mut command = &Arguments::command();
            for name in path.split(' ') {
                command = command.find_subcommand(name).unwrap();
            }
            let mut options = command.get_arguments().filter_map(|argument| argument.get_long());
            assert!(options.any(|name| name == option), "{call}");
        }
        assert!(0 < n_options);
    }

    #[test]
    fn the_default_is_shown_where_it_differs() {
        let usual = Settings::defaults().unwrap();
        let mut set = usual.clone();
        set.server.body_bytes = 16 << 20;
        let body = |settings: &Settings, language| {
            let limits = limits(settings).unwrap();
            let is_body = |limit: &Limit| limit.name.english == "body of a request";
            described(limits.into_iter().find(is_body).unwrap(), language)
        };
        let shown = [
            body(&usual, Language::English),
            body(&set, Language::English),
            body(&set, Language::Chinese),
        ];
        insta::assert_snapshot!(shown.join("\n"), @"
        body of a request: 4 MiB (set by `server.body_mib`); beyond: 413
        body of a request: 16 MiB (default: 4 MiB; set by `server.body_mib`); beyond: 413
        请求正文：16 MiB（默认：4 MiB；由 `server.body_mib` 设置）；超出时：413
        ");
    }
}
