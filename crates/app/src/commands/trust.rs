//! `trust`: which settings files may say where requests go, with which keys, and what is started?

use std::path::Path;

use pikerag_engine::settings::{
    Environment, Flags, TrustState, TrustedFile, distrust, settings_path, trusted,
};
use serde_json::json;

use crate::cli::Trust;
use crate::exit;
use crate::output::{note, say, say_json};
use crate::plain::one_line;

pub(crate) fn trust(
    arguments: &Trust,
    flags: &Flags,
    environment: &Environment,
    json: bool,
) -> anyhow::Result<u8> {
    let file = arguments.file.clone().unwrap_or_else(|| settings_path(flags, environment).0);
    if arguments.list {
        list(&trusted(environment)?, json)
    } else if arguments.remove {
        remove(&file, environment, json)
    } else {
        let trusted = pikerag_engine::settings::trust(&file, environment)?;
        if json {
            return say_json(&trusted);
        }
        say(&format!("trusted: {}; {}", name(&trusted.path), sets(&trusted)));
        Ok(0)
    }
}

fn list(files: &[TrustedFile], json: bool) -> anyhow::Result<u8> {
    if json {
        return say_json(&files);
    }
    for file in files {
        let state = match file.state {
            TrustState::Trusted => "trusted",
            TrustState::Changed => "changed since, not trusted",
            TrustState::Gone => "gone",
        };
        say(&format!("{}: {state}; {}", name(&file.path), sets(file)));
    }
    if files.is_empty() {
        note("no settings file is trusted");
    }
    Ok(0)
}

fn remove(file: &Path, environment: &Environment, json: bool) -> anyhow::Result<u8> {
    let was_trusted = distrust(file, environment)?;
    if json {
        say_json(&json!({ "removed": was_trusted }))?;
    } else if was_trusted {
        say(&format!("trusted no longer: {}", name(file)));
    } else {
        note(&format!("{} was not trusted; `pikerag trust --list` lists what is", name(file)));
    }
    Ok(if was_trusted { 0 } else { exit::FAILED })
}

fn name(path: &Path) -> String {
    one_line(&path.display().to_string()).into_owned()
}

/// What trust is needed for, by name alone: values may be keys.
fn sets(file: &TrustedFile) -> String {
    match file.sets.as_slice() {
        [] => "sets nothing that needs trust".to_owned(),
        sets => format!("sets {}", sets.join(", ")),
    }
}
