//! Reads files from the disk, and uploads from the database that stores them. A worker on another
//! machine has no folder of uploads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_indexing::{FileError, FileReader, ReadFile};
use pikerag_knowledge::{StoreError, error_chain};
use pikerag_store::StoredUploads;

use crate::engine::Session;
use crate::names::Names;
use crate::raw_names::path_of;
use crate::sandbox::SandboxedReader;
use crate::uploads::{UploadPlaces, hash_of_upload, read_upload};

/// A reader of the files of a base by their names. The bytes of an upload go from the database to the
/// child process; they are never written to the disk.
pub(crate) struct UploadReader {
    files: SandboxedReader,
    stored: Option<StoredFiles>,
}

/// Uploads in a database, by the places that files of the base have.
pub(crate) struct StoredFiles {
    root: PathBuf,
    places: UploadPlaces,
    store: Arc<dyn StoredUploads>,
}

impl Session {
    /// The reader of the files that these names mean.
    pub(crate) fn reader_of(&self, names: &Names) -> UploadReader {
        UploadReader { files: self.reader_at(names.root()), stored: StoredFiles::of(names) }
    }
}

impl StoredFiles {
    /// The uploads that the base stores; `None` if they are in a folder.
    pub(crate) fn of(names: &Names) -> Option<Self> {
        let store = Arc::clone(names.stored_uploads()?);
        Some(Self { root: names.root().to_owned(), places: names.uploads().clone(), store })
    }

    /// The bytes of the upload that is the file of a name; `None` for other files. One byte more than
    /// `most` means that there are more.
    pub(crate) async fn read(&self, file: &str, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
        match self.upload_of(file) {
            Some(upload) => read_upload(self.store.as_ref(), &upload, most).await,
            None => Ok(None),
        }
    }

    async fn hash(&self, file: &str) -> Result<Option<(String, u64)>, StoreError> {
        match self.upload_of(file) {
            Some(upload) => hash_of_upload(self.store.as_ref(), &upload).await,
            None => Ok(None),
        }
    }

    /// The name of the upload at the place of a file.
    fn upload_of(&self, file: &str) -> Option<String> {
        self.places.name_of(&path_of(Path::new(&self.root), file))
    }
}

#[async_trait]
impl FileReader for UploadReader {
    async fn hash(&self, path: &str) -> Result<String, FileError> {
        let Some(stored) = &self.stored else { return self.files.hash(path).await };
        let most = self.files.limits.file_bytes;
        match stored.hash(path).await.map_err(|error| unreadable(&error))? {
            Some((_, bytes)) if most < bytes => Err(FileError::TooLarge { bytes, most }),
            Some((hash, _)) => Ok(hash),
            None => self.files.hash(path).await,
        }
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        let Some(stored) = &self.stored else { return self.files.parse(path).await };
        // The place is taken before the bytes are in memory.
        let place = self.files.place().await?;
        let most = self.files.limits.file_bytes;
        match stored.read(path, most).await.map_err(|error| unreadable(&error))? {
            Some(bytes) if most < bytes.len() as u64 => {
                Err(FileError::TooLarge { bytes: bytes.len() as u64, most })
            }
            Some(bytes) => self.files.parse_bytes(&place, path, bytes).await,
            None => {
                drop(place);
                self.files.parse(path).await
            }
        }
    }
}

fn unreadable(error: &StoreError) -> FileError {
    FileError::Unreadable { reason: error_chain(error) }
}
