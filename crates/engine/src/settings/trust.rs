//! Decides whether a settings file that was found may set endpoints, keys and programs. A user must
//! first trust it: this content in this place, as in direnv.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use pikerag_postgres::Location;
use serde::{Deserialize, Serialize};

use super::SettingsError;
use super::environment::Environment;
use super::file::{ChatTable, EmbedKind, LimitsTable, MOST_PARSERS, SettingsFile};
use super::local::LocalTable;
use super::parse::parse;
use super::runs::RunsTable;
use super::server::ServerTable;

/// A settings file that is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrustedFile {
    /// Its path, links resolved.
    pub path: PathBuf,
    /// Whether its content is still the trusted one. Otherwise the trust does not count.
    pub state: TrustState,
    /// The settings in it that need trust, by name.
    pub sets: Vec<String>,
}

/// The state of a file since it was trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustState {
    /// It is unchanged.
    Trusted,
    /// Its content has changed.
    Changed,
    /// It cannot be read.
    Gone,
}

/// The record of a trusted file, which is a file of its own.
#[derive(Serialize, Deserialize)]
struct Entry {
    path: PathBuf,
    hash: String,
}

/// Trusts the current content of a settings file.
///
/// # Errors
/// The file cannot be read or is not a settings file, or its trust cannot be stored.
pub fn trust(path: &Path, environment: &Environment) -> Result<TrustedFile, SettingsError> {
    let unreadable = |source| SettingsError::Unreadable { path: path.to_owned(), source };
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let sets = needing_trust(&parse(path, &text)?);
    let path = fs::canonicalize(path).map_err(unreadable)?;
    let folder = folder(environment).ok_or(SettingsError::NoStateFolder)?;
    let kept = keep(&folder, &Entry { path: path.clone(), hash: hash(&text) });
    kept.map_err(|source| SettingsError::TrustNotKept { folder, source })?;
    Ok(TrustedFile { path, state: TrustState::Trusted, sets })
}

/// All files that were trusted and not distrusted since, by path.
///
/// # Errors
/// The record cannot be read.
pub fn trusted(environment: &Environment) -> Result<Vec<TrustedFile>, SettingsError> {
    let folder = folder(environment).ok_or(SettingsError::NoStateFolder)?;
    let unreadable = |source| SettingsError::Unreadable { path: folder.clone(), source };
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(unreadable(source)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let Some(Entry { path, hash: trusted }) = read(&entry.map_err(unreadable)?.path()) else {
            continue;
        };
        let text = fs::read_to_string(&path).ok();
        let state = match &text {
            None => TrustState::Gone,
            Some(text) if hash(text) == trusted => TrustState::Trusted,
            Some(_) => TrustState::Changed,
        };
        let file = text.and_then(|text| parse(&path, &text).ok());
        files.push(TrustedFile {
            path,
            state,
            sets: file.as_ref().map(needing_trust).unwrap_or_default(),
        });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Removes the trust in a file, which may no longer exist. Returns whether it was trusted.
///
/// # Errors
/// The record cannot be changed.
pub fn distrust(path: &Path, environment: &Environment) -> Result<bool, SettingsError> {
    let folder = folder(environment).ok_or(SettingsError::NoStateFolder)?;
    let path = fs::canonicalize(path).or_else(|_| former_path(path));
    let path = path.map_err(|source| SettingsError::Unreadable { path: folder.clone(), source })?;
    match fs::remove_file(entry_of(&folder, &path)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(source) => Err(SettingsError::TrustNotKept { folder, source }),
    }
}

/// Checks that a file that was found sets only plain values or is trusted.
pub(super) fn check(
    path: &Path,
    text: &str,
    file: &SettingsFile,
    environment: &Environment,
) -> Result<(), SettingsError> {
    let sets = needing_trust(file);
    if sets.is_empty() {
        return Ok(());
    }
    let full = fs::canonicalize(path);
    let full =
        full.map_err(|source| SettingsError::Unreadable { path: path.to_owned(), source })?;
    let known = folder(environment).and_then(|folder| read(&entry_of(&folder, &full)));
    match known {
        // The names of entries are hashes of paths. A collision would not have the same content.
        Some(known) if known.hash == hash(text) && known.path == full => Ok(()),
        known => {
            let has_changed = known.is_some();
            Err(SettingsError::Untrusted { path: path.to_owned(), sets, has_changed })
        }
    }
}

/// The settings in a file that need trust. They decide on endpoints and keys, programs, prices, and
/// limits for hostile documents. They also decide which runs, bases and files are used or deleted,
/// and who may request them.
fn needing_trust(file: &SettingsFile) -> Vec<String> {
    let mut names = of_chat("chat", &file.chat);
    for (role, table) in &file.roles {
        names.extend(of_chat(&format!("roles.{role}"), table));
    }
    for perspective in &file.perspectives {
        names.extend(of_chat("perspectives.chat", &perspective.chat));
    }
    let (embed, tools, runs) = (&file.embed, &file.tools, RunsTable::default());
    let rerank = &file.rerank;
    let rest = [
        ("base", file.base.as_deref().is_some_and(may_leave_folder)),
        (
            "methods.skr_examples",
            file.methods.skr_examples.as_deref().is_some_and(may_leave_folder),
        ),
        (
            "methods.demonstrations",
            file.methods.demonstrations.as_deref().is_some_and(may_leave_folder),
        ),
        // A program to start, and the memory that it may take.
        ("local", file.local != LocalTable::default()),
        ("embed.kind", embed.kind == EmbedKind::OpenAi),
        ("embed.base_url", embed.base_url.is_some()),
        ("embed.model", embed.model.is_some()),
        ("embed.api_key", embed.api_key.is_some()),
        ("embed.api_key_env", embed.api_key_env.is_some()),
        ("embed.azure_api_version", embed.azure_api_version.is_some()),
        ("embed.weights", embed.weights.is_some()),
        ("embed.extra", !embed.extra.is_empty()),
        ("rerank.base_url", rerank.base_url.is_some()),
        ("rerank.model", rerank.model.is_some()),
        ("rerank.api_key", rerank.api_key.is_some()),
        ("rerank.api_key_env", rerank.api_key_env.is_some()),
        ("rerank.weights", rerank.weights.is_some()),
        ("rerank.extra", !rerank.extra.is_empty()),
        // The variables decide which databases are read, and with which accounts.
        ("sources.database", !file.sources.database.is_empty()),
        ("tools.tesseract", tools.tesseract.is_some()),
        ("tools.languages", !tools.languages.is_empty()),
        ("tools.soffice", tools.soffice.is_some()),
        ("prices", !file.prices.is_empty()),
        ("limits", raises_limits(&file.limits)),
        ("server", file.server != ServerTable::default()),
        ("runs", file.runs.keep < runs.keep || file.runs.days < runs.days),
    ];
    names.extend(rest.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (*name).to_owned()));
    names
}

/// Whether a path may leave the folder that it is relative to, or names a database.
fn may_leave_folder(path: &Path) -> bool {
    Location::is_address(path)
        || path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Whether a document may use more than by default. Lower limits do no harm.
fn raises_limits(limits: &LimitsTable) -> bool {
    let usual = LimitsTable::default();
    usual.file_mib < limits.file_mib
        || usual.memory_mib < limits.memory_mib
        || usual.cpu_seconds < limits.cpu_seconds
        || usual.wall_seconds < limits.wall_seconds
        || usual.ocr_pictures < limits.ocr_pictures
        || usual.ocr_seconds < limits.ocr_seconds
        || usual.convert_seconds < limits.convert_seconds
        || limits.parsers.is_some_and(|parsers| MOST_PARSERS < parsers.get())
}

fn of_chat(name: &str, table: &ChatTable) -> Vec<String> {
    let settings = [
        ("base_url", table.base_url.is_some()),
        ("model", table.model.is_some()),
        ("api_key", table.api_key.is_some()),
        ("api_key_env", table.api_key_env.is_some()),
        ("azure_api_version", table.azure_api_version.is_some()),
        ("headers", !table.headers.is_empty()),
        ("extra", !table.extra.is_empty()),
    ];
    let set = settings.iter().filter(|(_, is_set)| *is_set);
    set.map(|(setting, _)| format!("{name}.{setting}")).collect()
}

/// The folder of trusted entries, in the user's own folder and never in a project; relative paths
/// are ignored, because they would lead there.
fn folder(environment: &Environment) -> Option<PathBuf> {
    Some(state(environment)?.join("trusted"))
}

/// The user's folder for pikerag's state.
pub(super) fn state(environment: &Environment) -> Option<PathBuf> {
    let absolute =
        |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME");
    let state = state.or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("pikerag"))
}

fn entry_of(folder: &Path, path: &Path) -> PathBuf {
    let name = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
    folder.join(format!("{name}.json"))
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// An entry that cannot be read trusts nothing.
fn read(entry: &Path) -> Option<Entry> {
    serde_json::from_slice(&fs::read(entry).ok()?).ok()
}

/// Writes an entry in one step, so that an incomplete one is never read.
fn keep(folder: &Path, entry: &Entry) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(entry)?)?;
    file.persist(entry_of(folder, &entry.path))?;
    Ok(())
}

/// The former path of a file that no longer exists, with the folder's links resolved as in its
/// entry.
fn former_path(path: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            Ok(fs::canonicalize(folder).map_or_else(|_| path.clone(), |folder| folder.join(name)))
        }
        _ => Ok(path),
    }
}
