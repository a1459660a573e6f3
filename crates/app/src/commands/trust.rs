//! Runs `trust`: lets settings files set endpoints, keys and external programs.

use std::path::Path;

use pikerag_engine::narrate::Words;
use pikerag_engine::settings::{
    Environment, Flags, TrustState, TrustedFile, distrust, settings_path, trusted,
};
use serde_json::json;

use crate::cli::Trust;
use crate::exit;
use crate::output::{Output, say_json};
use crate::plain::one_line;

pub(crate) fn trust(
    arguments: &Trust,
    flags: &Flags,
    environment: &Environment,
    output: Output,
) -> anyhow::Result<u8> {
    let file = arguments.file.clone().unwrap_or_else(|| settings_path(flags, environment).0);
    if arguments.list {
        list(&trusted(environment)?, output)
    } else if arguments.remove {
        remove(&file, environment, output)
    } else {
        let trusted = pikerag_engine::settings::trust(&file, environment)?;
        if output.json {
            return say_json(&trusted);
        }
        let (name, sets) = (name(&trusted.path), sets(&trusted));
        output.say(
            format!("trusted: {name}; {}", sets.english),
            format!("已信任：{name}；{}", sets.chinese),
        );
        Ok(0)
    }
}

fn list(files: &[TrustedFile], output: Output) -> anyhow::Result<u8> {
    if output.json {
        return say_json(&files);
    }
    for file in files {
        let (state, chinese) = match file.state {
            TrustState::Trusted => ("trusted", "受信任"),
            TrustState::Changed => ("changed since, not trusted", "此后有改动，不受信任"),
            TrustState::Gone => ("missing", "已不存在"),
        };
        let (name, sets) = (name(&file.path), sets(file));
        output.say(
            format!("{name}: {state}; {}", sets.english),
            format!("{name}：{chinese}；{}", sets.chinese),
        );
    }
    if files.is_empty() {
        output.note("no settings file is trusted", "没有受信任的设置文件");
    }
    Ok(0)
}

fn remove(file: &Path, environment: &Environment, output: Output) -> anyhow::Result<u8> {
    let was_trusted = distrust(file, environment)?;
    let name = name(file);
    if output.json {
        say_json(&json!({ "removed": was_trusted }))?;
    } else if was_trusted {
        output.say(format!("no longer trusted: {name}"), format!("不再信任：{name}"));
    } else {
        output.note(
            format!("{name} was not trusted; `pikerag trust --list` lists the trusted files"),
            format!("{name} 本不受信任；用 `pikerag trust --list` 列出受信任的文件"),
        );
    }
    Ok(if was_trusted { 0 } else { exit::FAILED })
}

fn name(path: &Path) -> String {
    one_line(&path.display().to_string()).into_owned()
}

/// The settings that need trust, by name only: values may be keys.
fn sets(file: &TrustedFile) -> Words {
    match file.sets.as_slice() {
        [] => Words::new("sets nothing that needs trust", "没有需要信任的设置"),
        sets => {
            Words::new(format!("sets {}", sets.join(", ")), format!("设置了 {}", sets.join("、")))
        }
    }
}
