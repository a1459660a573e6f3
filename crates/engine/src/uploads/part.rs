//! Takes files piece by piece: each sender's pieces apart from those of others, none in its place before it is whole.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, UNIX_EPOCH};

use pikerag_knowledge::Millis;
use serde::Serialize;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use utoipa::ToSchema;

use super::{NAME, PARTS, UploadError, Uploads, sync};

/// The longest identifier of an upload, in characters, and the random bytes of one that we make.
const LONGEST: usize = 64;
const BYTES: usize = 16;

/// Tells the pieces of one sender from those of others under the same name: chosen by the sender, or drawn at random.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadId(String);

/// A file that has not come whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PartLine {
    /// As it was called.
    pub file: String,
    /// Bytes of it that are there.
    pub bytes: u64,
    /// When the last piece came, in milliseconds since 1970.
    #[schema(value_type = u64)]
    pub changed: Millis,
}

/// A file that is coming.
#[derive(Debug)]
pub struct Part {
    file: File,
    path: PathBuf,
    place: PathBuf,
    held: u64,
    most: u64,
    uploads: Uploads,
}

impl UploadId {
    /// One that nobody else has.
    ///
    /// # Errors
    /// [`UploadError::NoRandom`].
    pub fn random() -> Result<Self, UploadError> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|_| UploadError::NoRandom)?;
        let mut id = String::new();
        for byte in bytes {
            // Writing to a text never fails.
            let _ = write!(id, "{byte:02x}");
        }
        Ok(Self(id))
    }

    /// As it is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for UploadId {
    type Err = UploadError;

    fn from_str(id: &str) -> Result<Self, UploadError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match (1..=LONGEST).contains(&id.len()) && id.chars().all(is_plain) {
            true => Ok(Self(id.to_owned())),
            false => Err(UploadError::BadId { id: id.to_owned() }),
        }
    }
}

impl Part {
    pub(super) fn new(
        file: File,
        path: PathBuf,
        place: PathBuf,
        held: u64,
        most: u64,
        uploads: Uploads,
    ) -> Self {
        Self { file, path, place, held, most, uploads }
    }

    /// How many bytes are there.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Takes what comes next.
    ///
    /// # Errors
    /// It cannot be written, or is too large; then what came of it is gone.
    pub async fn take(&mut self, bytes: &[u8]) -> Result<(), UploadError> {
        if self.most < self.held.saturating_add(bytes.len() as u64) {
            self.remove();
            return Err(UploadError::TooLarge { most: self.most });
        }
        let written = self.file.write_all(bytes).await;
        written.map_err(|source| self.failed(source))?;
        self.held += bytes.len() as u64;
        Ok(())
    }

    /// Keeps what has come so far, to go on another time.
    ///
    /// # Errors
    /// It cannot be written.
    pub async fn keep(mut self) -> Result<u64, UploadError> {
        let written = self.file.flush().await;
        written.map_err(|source| self.failed(source))?;
        Ok(self.held)
    }

    /// Puts the file in its place, once it is whole: whoever looks sees the old one or the new one.
    ///
    /// # Errors
    /// It is not whole, or cannot be written.
    pub async fn finish(mut self, whole: Option<u64>) -> Result<PathBuf, UploadError> {
        self.complete(whole).await?;
        let io = |source: io::Error| match source.kind() {
            ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::AlreadyExists
            | ErrorKind::DirectoryNotEmpty => UploadError::NameTaken,
            _ => self.uploads.io(&self.place, source),
        };
        if let Some(folder) = self.place.parent() {
            fs::create_dir_all(folder).map_err(io)?;
        }
        fs::rename(&self.path, &self.place).map_err(io)?;
        // The new name, and those of folders that may be new, survive a loss of power.
        let within = self.place.ancestors().skip(1);
        for folder in within.take_while(|above| above.starts_with(&self.uploads.folder)) {
            sync(folder).map_err(io)?;
        }
        self.uploads.folder.parent().map_or(Ok(()), sync).map_err(io)?;
        self.remove();
        Ok(self.place)
    }

    /// Leaves the file apart once it is whole, where nobody indexes it: it holds others. [`Part::discard`] throws it away.
    ///
    /// # Errors
    /// It is not whole, or cannot be written.
    pub async fn complete(&mut self, whole: Option<u64>) -> Result<&Path, UploadError> {
        let written = self.file.flush().await;
        written.map_err(|source| self.failed(source))?;
        if let Some(whole) = whole.filter(|whole| *whole != self.held) {
            return Err(UploadError::NotWhole { held: self.held, whole });
        }
        let synced = self.file.sync_all().await;
        synced.map_err(|source| self.failed(source))?;
        Ok(&self.path)
    }

    /// Throws away what came.
    pub fn discard(self) {
        self.remove();
    }

    fn remove(&self) {
        remove(&self.path);
    }

    /// On a full disk this part goes as well: nobody knows how much of it is written.
    fn failed(&self, source: io::Error) -> UploadError {
        let error = self.uploads.io(&self.path, source);
        if matches!(error, UploadError::DiskFull) {
            self.remove();
        }
        error
    }
}

impl Uploads {
    /// What has not come whole, in no order.
    ///
    /// # Errors
    /// [`UploadError::NotListed`].
    pub fn parts(&self) -> Result<Vec<PartLine>, UploadError> {
        let listed = self.paths_of_parts().map_err(UploadError::NotListed)?.into_iter();
        // One that goes meanwhile is not among them.
        let line = |path: PathBuf| {
            let file = fs::read_to_string(path.with_extension(NAME)).ok()?;
            let held = fs::metadata(&path).ok()?;
            let changed = held.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            let changed = Millis::try_from(changed.as_millis()).ok()?;
            Some(PartLine { file, bytes: held.len(), changed })
        };
        Ok(listed.filter_map(line).collect())
    }

    /// Drops parts by the time since they last grew; not those that somebody is sending. How many went.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn drop_parts(&self, is_old: impl Fn(Duration) -> bool) -> io::Result<usize> {
        self.drop_idle(|path| {
            let held = fs::metadata(path).or_else(|_| fs::metadata(path.with_extension(NAME)));
            let changed = held.and_then(|held| held.modified());
            changed.is_ok_and(|changed| is_old(changed.elapsed().unwrap_or_default()))
        })
    }

    /// Drops the parts of a file, and those of which nobody knows the file any more, since a loss of power took its name.
    pub(super) fn drop_parts_of(&self, name: &str) -> io::Result<usize> {
        self.drop_idle(|path| {
            let file = fs::read_to_string(path.with_extension(NAME)).unwrap_or_default();
            file == name || file.is_empty()
        })
    }

    /// Drops some of the parts that nobody is sending. How many went.
    fn drop_idle(&self, goes: impl Fn(&Path) -> bool) -> io::Result<usize> {
        let is_idle = |path: &Path| match fs::File::open(path) {
            Ok(part) => part.try_lock().is_ok(),
            // Its name alone is left.
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        let mut dropped = 0;
        for path in self.paths_of_parts()? {
            if goes(&path) && is_idle(&path) {
                remove(&path);
                dropped += 1;
            }
        }
        Ok(dropped)
    }

    /// Where the parts lie, also those of which the name alone is left.
    fn paths_of_parts(&self) -> io::Result<BTreeSet<PathBuf>> {
        let entries = match fs::read_dir(self.folder.join(PARTS)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            Err(error) => return Err(error),
        };
        entries.map(|entry| entry.map(|entry| entry.path().with_extension(""))).collect()
    }
}

/// Removes a part, if it is still there, and what says which file it belongs to. Neither is back after a loss of power.
pub(super) fn remove(path: &Path) {
    let failed = |path: &Path, error: io::Error| {
        if error.kind() != ErrorKind::NotFound {
            tracing::warn!(path = %path.display(), %error, "a part of an upload is not removed");
        }
    };
    for path in [path, &path.with_extension(NAME)] {
        fs::remove_file(path).unwrap_or_else(|error| failed(path, error));
    }
    if let Some(folder) = path.parent() {
        sync(folder).unwrap_or_else(|error| failed(folder, error));
    }
}
