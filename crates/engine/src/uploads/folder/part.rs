//! Receives files piece by piece. It keeps the pieces of each sender apart, and puts a file in its
//! place only when it is complete.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use async_trait::async_trait;
use pikerag_knowledge::Millis;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use super::{FolderUploads, NAME, PARTS, sync};
use crate::uploads::{PartLine, PartStore, UploadError};

/// A file that is being received.
#[derive(Debug)]
pub(in crate::uploads) struct FolderPart {
    file: File,
    path: PathBuf,
    place: PathBuf,
    held: u64,
    most: u64,
    uploads: FolderUploads,
}

impl FolderPart {
    pub(super) fn new(
        file: File,
        path: PathBuf,
        place: PathBuf,
        held: u64,
        most: u64,
        uploads: FolderUploads,
    ) -> Self {
        Self { file, path, place, held, most, uploads }
    }

    /// The number of bytes that have arrived.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Appends the next bytes.
    ///
    /// # Errors
    /// The bytes cannot be written, or the file is too large; in that case the whole part is
    /// removed.
    pub(super) async fn take(&mut self, bytes: &[u8]) -> Result<(), UploadError> {
        if self.most < self.held.saturating_add(bytes.len() as u64) {
            self.remove();
            return Err(UploadError::TooLarge { most: self.most });
        }
        let written = self.file.write_all(bytes).await;
        written.map_err(|source| self.failed(source))?;
        self.held += bytes.len() as u64;
        Ok(())
    }

    /// Keeps the bytes that have arrived, so that the upload can continue later. Returns their
    /// number.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub(super) async fn keep(mut self) -> Result<u64, UploadError> {
        let written = self.file.flush().await;
        written.map_err(|source| self.failed(source))?;
        Ok(self.held)
    }

    /// Checks that [`FolderPart::finish`] can put the file in its place: no folder has its name, and no
    /// file has the name of a folder above it.
    ///
    /// # Errors
    /// [`UploadError::NameTaken`].
    pub(super) fn check_place(&self) -> Result<(), UploadError> {
        let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
        let within = self.place.ancestors().skip(1);
        let mut above = within.take_while(|above| above.starts_with(self.uploads.folder()));
        let is_taken = is_folder(&self.place) || above.any(Path::is_file);
        if is_taken { Err(UploadError::NameTaken) } else { Ok(()) }
    }

    /// Puts the complete file in its place, in one step: readers see the old file or the new one.
    ///
    /// # Errors
    /// The file is incomplete or cannot be written.
    pub(super) async fn finish(mut self, whole: Option<u64>) -> Result<PathBuf, UploadError> {
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
        // The new name, and those of folders that may be new, must survive a power failure.
        let within = self.place.ancestors().skip(1);
        for folder in within.take_while(|above| above.starts_with(self.uploads.folder())) {
            sync(folder).map_err(io)?;
        }
        self.uploads.folder().parent().map_or(Ok(()), sync).map_err(io)?;
        self.remove();
        Ok(self.place)
    }

    /// Completes the file but leaves it apart, where it is not indexed, because it contains other
    /// files. [`FolderPart::discard`] deletes it.
    ///
    /// # Errors
    /// The file is incomplete or cannot be written.
    pub(super) async fn complete(&mut self, whole: Option<u64>) -> Result<&Path, UploadError> {
        let written = self.file.flush().await;
        written.map_err(|source| self.failed(source))?;
        if let Some(whole) = whole.filter(|whole| *whole != self.held) {
            return Err(UploadError::NotWhole { held: self.held, whole });
        }
        let synced = self.file.sync_all().await;
        synced.map_err(|source| self.failed(source))?;
        Ok(&self.path)
    }

    /// Deletes the bytes that have arrived.
    pub(super) fn discard(self) {
        self.remove();
    }

    fn remove(&self) {
        remove(&self.path);
    }

    /// The error for a failed write. On a full disk it removes this part too, because the number of
    /// written bytes is unknown.
    fn failed(&self, source: io::Error) -> UploadError {
        let error = self.uploads.io(&self.path, source);
        if matches!(error, UploadError::DiskFull) {
            self.remove();
        }
        error
    }
}

#[async_trait]
impl PartStore for FolderPart {
    fn held(&self) -> u64 {
        Self::held(self)
    }

    async fn take(&mut self, bytes: &[u8]) -> Result<(), UploadError> {
        Self::take(self, bytes).await
    }

    async fn store_arrived(&mut self) -> Result<(), UploadError> {
        let written = self.file.flush().await;
        written.map_err(|source| self.failed(source))
    }

    async fn keep(self: Box<Self>) -> Result<u64, UploadError> {
        Self::keep(*self).await
    }

    async fn check_place(&self) -> Result<(), UploadError> {
        Self::check_place(self)
    }

    async fn finish(self: Box<Self>, whole: Option<u64>) -> Result<PathBuf, UploadError> {
        Self::finish(*self, whole).await
    }

    async fn complete(&mut self, whole: Option<u64>) -> Result<(), UploadError> {
        Self::complete(self, whole).await.map(drop)
    }

    async fn read(&self) -> Result<Vec<u8>, UploadError> {
        let read = tokio::fs::read(&self.path).await;
        read.map_err(|source| UploadError::Io { path: self.path.clone(), source })
    }

    async fn discard(self: Box<Self>) {
        Self::discard(*self);
    }
}

impl FolderUploads {
    /// The incomplete files, in no order.
    ///
    /// # Errors
    /// [`UploadError::NotListed`].
    pub(super) fn parts(&self) -> Result<Vec<PartLine>, UploadError> {
        let listed = self.paths_of_parts().map_err(UploadError::NotListed)?.into_iter();
        // Files that are deleted meanwhile are omitted.
        let line = |path: PathBuf| {
            let file = fs::read_to_string(path.with_extension(NAME)).ok()?;
            let held = fs::metadata(&path).ok()?;
            let changed = held.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            let changed = Millis::try_from(changed.as_millis()).ok()?;
            Some(PartLine { file, bytes: held.len(), changed })
        };
        Ok(listed.filter_map(line).collect())
    }

    /// Deletes parts by the time since they last grew, except those that are being sent. Returns
    /// their number.
    ///
    /// # Errors
    /// The parts cannot be listed.
    pub(super) fn drop_parts(&self, is_old: impl Fn(Duration) -> bool) -> io::Result<usize> {
        self.drop_idle(|path| {
            let held = fs::metadata(path).or_else(|_| fs::metadata(path.with_extension(NAME)));
            let changed = held.and_then(|held| held.modified());
            changed.is_ok_and(|changed| is_old(changed.elapsed().unwrap_or_default()))
        })
    }

    /// Deletes the parts of a file, and those whose file is unknown because a power failure took
    /// the name.
    pub(super) fn drop_parts_of(&self, name: &str) -> io::Result<usize> {
        self.drop_idle(|path| {
            let file = fs::read_to_string(path.with_extension(NAME)).unwrap_or_default();
            file == name || file.is_empty()
        })
    }

    /// Deletes the parts that satisfy `is_dropped` and that nobody is sending. Returns their
    /// number.
    fn drop_idle(&self, is_dropped: impl Fn(&Path) -> bool) -> io::Result<usize> {
        let is_idle = |path: &Path| match fs::File::open(path) {
            Ok(part) => part.try_lock().is_ok(),
            // Only its name is left.
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        let mut dropped = 0;
        for path in self.paths_of_parts()? {
            if is_dropped(&path) && is_idle(&path) {
                remove(&path);
                dropped += 1;
            }
        }
        Ok(dropped)
    }

    /// The paths of the parts, including those of which only the name is left.
    fn paths_of_parts(&self) -> io::Result<BTreeSet<PathBuf>> {
        let entries = match fs::read_dir(self.folder().join(PARTS)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            Err(error) => return Err(error),
        };
        entries.map(|entry| entry.map(|entry| entry.path().with_extension(""))).collect()
    }
}

/// Removes a part, if it still exists, and the file with its name. Neither is back after a power
/// failure.
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
