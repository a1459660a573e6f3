//! Reads the text of a settings file and words what is wrong with it.

use std::path::Path;

use super::SettingsError;
use super::file::SettingsFile;

/// Reads the text of a settings file. An error names the place and never shows the text there,
/// because it may be a key.
pub(super) fn parse(path: &Path, text: &str) -> Result<SettingsFile, SettingsError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map(|span| span.start);
        let setting = at.and_then(|at| setting_before(text, at));
        let reason = without_value(error.message());
        SettingsError::Malformed {
            path: path.to_owned(),
            place: at.map(|at| line_and_column(text, at)),
            reason: match setting {
                Some(name) => format!("`{name}`: {reason}"),
                None => reason,
            },
        }
    })
}

/// The setting whose value begins here: `file_mib` in `file_mib = "much"`.
fn setting_before(text: &str, at: usize) -> Option<&str> {
    let line = text.get(..at)?.rsplit('\n').next()?;
    let name = line.trim_end().strip_suffix('=')?.rsplit(['{', ',']).next()?.trim();
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Line and column, from 1; columns in characters.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Removes the string from `invalid type: string "sk-…", expected u64`: its kind and the expected
/// type say enough.
fn without_value(message: &str) -> String {
    let prefixes = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "];
    let Some(begins) = prefixes.iter().find(|begins| message.starts_with(**begins)) else {
        return message.to_owned();
    };
    let rest = message.get(begins.len()..).unwrap_or_default();
    let (found, expected) = rest.rsplit_once(", expected ").unwrap_or((rest, ""));
    let kind = found.split(['"', '`']).next().unwrap_or_default().trim_end();
    let shown = format!("{begins}{kind}");
    let shown = shown.trim_end();
    if expected.is_empty() { shown.to_owned() } else { format!("{shown}, expected {expected}") }
}
