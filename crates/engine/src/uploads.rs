//! Stores uploaded files under names that cannot lead elsewhere: in a folder beside the base, or in the
//! database of the base, for all servers that use it.

mod database;
mod folder;
mod id;
mod places;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::StoreError;
use pikerag_store::StoredUploads;

use self::database::DatabaseUploads;
pub(crate) use self::database::{hash_of_upload, read_upload};
pub(crate) use self::folder::FolderUploads;
pub use self::id::{PartLine, UploadId};
pub(crate) use self::places::UploadPlaces;

/// The end of the name of the folder of uploads.
pub(crate) const FOLDER_ENDING: &str = ".uploads";

/// The reason why an upload was refused.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum UploadError {
    /// The name would lead elsewhere or nowhere.
    #[error("`{name}` cannot be the name of an upload: {reason}")]
    BadName { name: String, reason: &'static str },
    /// The identifier of an upload is malformed.
    #[error(
        "`{id}` is not an identifier of an upload: it needs 1 to 64 letters, digits, `-` or `_`"
    )]
    BadId { id: String },
    /// A later piece of a file does not name its upload.
    #[error("a later piece of a file must name its upload: `?upload=ID`")]
    NoId,
    /// The disk is full. Pieces that nobody was sending are removed.
    #[error("the disk is full; incomplete uploads were removed")]
    DiskFull,
    /// The system provides no random numbers.
    #[error("the system provides no random numbers for an identifier")]
    NoRandom,
    /// The piece does not begin where the earlier one ended.
    #[error("{held} bytes of the file have arrived: the next piece must begin at {held}")]
    OutOfOrder { held: u64 },
    /// The file is larger than pikerag reads.
    #[error("the file is larger than {most} bytes")]
    TooLarge { most: u64 },
    /// Another request is sending the file.
    #[error("another request is sending this file")]
    UnderWay,
    /// The end of the file has not arrived.
    #[error("{held} of {whole} bytes have arrived")]
    NotWhole { held: u64, whole: u64 },
    /// A folder has the file's name, or a file has the name of a folder above it.
    #[error("the file's name, or that of a folder above it, is taken")]
    NameTaken,
    /// The file cannot be written.
    #[error("{path} cannot be written")]
    Io { path: PathBuf, source: io::Error },
    /// The uploads cannot be listed.
    #[error("the uploads cannot be listed")]
    NotListed(#[source] io::Error),
    /// The database of the base cannot be read or written.
    #[error("the database cannot be used for the upload")]
    Store(#[from] StoreError),
}

/// Keeps the uploads of one base. Names are checked by [`Uploads`] first.
///
/// # Errors
/// See [`UploadError`].
#[async_trait]
pub(crate) trait UploadStore: Send + Sync {
    /// Whether a complete file of the name exists.
    async fn has(&self, name: &str) -> Result<bool, UploadError>;

    /// The bytes of an incomplete upload that have arrived; 0 if there is none.
    async fn held(&self, name: &str, id: &UploadId) -> Result<u64, UploadError>;

    /// Begins to receive a file of at most `most` bytes, or continues at `from`.
    async fn begin(
        &self,
        name: &str,
        id: &UploadId,
        from: u64,
        most: u64,
    ) -> Result<Box<dyn PartStore>, UploadError>;

    /// The complete uploads, by name: name, place and bytes of each.
    async fn all(&self) -> Result<Vec<(String, PathBuf, u64)>, UploadError>;

    /// Removes the file at a place. Returns whether there was one.
    async fn remove(&self, at: &Path) -> Result<bool, UploadError>;

    /// The same, with the pieces of its interrupted uploads.
    async fn forget(&self, at: &Path) -> Result<bool, UploadError>;

    /// The incomplete uploads, in no order.
    async fn parts(&self) -> Result<Vec<PartLine>, UploadError>;

    /// Deletes incomplete uploads that nobody is sending and that did not grow for this time. Returns
    /// their number.
    async fn drop_parts(&self, older: Duration) -> Result<usize, UploadError>;
}

/// A file that is being received. Dropping it keeps the bytes that have arrived, as far as possible.
///
/// # Errors
/// See [`UploadError`].
#[async_trait]
pub(crate) trait PartStore: Send + Sync + fmt::Debug {
    /// The number of bytes that have arrived.
    fn held(&self) -> u64;

    /// Appends the next bytes.
    async fn take(&mut self, bytes: &[u8]) -> Result<(), UploadError>;

    /// Stores the bytes that are still in memory; more may come.
    async fn store_arrived(&mut self) -> Result<(), UploadError>;

    /// Keeps the bytes that have arrived. Returns their number.
    async fn keep(self: Box<Self>) -> Result<u64, UploadError>;

    /// Checks that [`PartStore::finish`] can give the file its name.
    async fn check_place(&self) -> Result<(), UploadError>;

    /// Puts the complete file in its place, in one step. Returns the place.
    async fn finish(self: Box<Self>, whole: Option<u64>) -> Result<PathBuf, UploadError>;

    /// Completes the file, but leaves it apart.
    async fn complete(&mut self, whole: Option<u64>) -> Result<(), UploadError>;

    /// The bytes of a file that was completed.
    async fn read(&self) -> Result<Vec<u8>, UploadError>;

    /// Deletes the bytes that have arrived.
    async fn discard(self: Box<Self>);
}

/// The uploaded files of one base. A clone is the same.
#[derive(Clone)]
pub struct Uploads {
    places: UploadPlaces,
    store: Arc<dyn UploadStore>,
}

/// A file that is being received.
#[derive(Debug)]
pub struct Part(Box<dyn PartStore>);

impl Uploads {
    pub(crate) fn in_folder(folder: FolderUploads) -> Self {
        Self { places: UploadPlaces::clone(&folder), store: Arc::new(folder) }
    }

    /// The uploads that a database stores, with places below the root of the base; none without a base.
    pub(crate) fn below(root: &Path, base: &Path, store: Option<Arc<dyn StoredUploads>>) -> Self {
        let places = UploadPlaces::below(root, base);
        let store = Arc::new(DatabaseUploads { places: places.clone(), store });
        Self { places, store }
    }

    /// The place of a file of that name. It is a path on disk only if uploads are in a folder.
    ///
    /// # Errors
    /// [`UploadError::BadName`].
    pub fn place(&self, name: &str) -> Result<PathBuf, UploadError> {
        self.places.place(name)
    }

    /// The name of an uploaded file, by its place; `None` for other files.
    pub fn name_of(&self, at: &Path) -> Option<String> {
        self.places.name_of(at)
    }

    /// Whether a complete file of the name exists.
    ///
    /// # Errors
    /// [`UploadError::BadName`], or the uploads cannot be read.
    pub async fn has(&self, name: &str) -> Result<bool, UploadError> {
        self.place(name)?;
        self.store.has(name).await
    }

    /// The bytes of an incomplete upload that have arrived.
    ///
    /// # Errors
    /// [`UploadError::BadName`], or the uploads cannot be read.
    pub async fn held(&self, name: &str, id: &UploadId) -> Result<u64, UploadError> {
        self.place(name)?;
        self.store.held(name, id).await
    }

    /// Begins to receive a file, or continues at `from`. If `from` is 0, earlier bytes of this
    /// upload are discarded. Pieces of two identifiers are never joined.
    ///
    /// # Errors
    /// See [`UploadError`].
    pub async fn begin(
        &self,
        name: &str,
        id: &UploadId,
        from: u64,
        most: u64,
    ) -> Result<Part, UploadError> {
        self.place(name)?;
        self.store.begin(name, id, from, most).await.map(Part)
    }

    /// The complete uploads, sorted by name: name, place and bytes of each. Files that are deleted
    /// meanwhile are omitted.
    ///
    /// # Errors
    /// The uploads cannot be listed.
    pub async fn all(&self) -> Result<Vec<(String, PathBuf, u64)>, UploadError> {
        self.store.all().await
    }

    /// Removes the uploaded file at `at`, if there is one. Returns whether it removed a file.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub async fn remove(&self, at: &Path) -> Result<bool, UploadError> {
        self.store.remove(at).await
    }

    /// Removes a file as [`Uploads::remove`] does, and the pieces of its interrupted uploads, so
    /// that no text of it stays here.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub async fn forget(&self, at: &Path) -> Result<bool, UploadError> {
        self.store.forget(at).await
    }

    /// The incomplete files, in no order.
    ///
    /// # Errors
    /// The uploads cannot be listed.
    pub async fn parts(&self) -> Result<Vec<PartLine>, UploadError> {
        self.store.parts().await
    }

    /// Deletes incomplete files that nobody is sending and that did not grow for this time. Returns
    /// their number.
    ///
    /// # Errors
    /// The uploads cannot be listed.
    pub async fn drop_parts(&self, older: Duration) -> Result<usize, UploadError> {
        self.store.drop_parts(older).await
    }
}

impl Part {
    /// The number of bytes that have arrived.
    pub fn held(&self) -> u64 {
        self.0.held()
    }

    /// Appends the next bytes.
    ///
    /// # Errors
    /// The bytes cannot be written, or the file is too large; in that case the whole part is
    /// removed.
    pub async fn take(&mut self, bytes: &[u8]) -> Result<(), UploadError> {
        self.0.take(bytes).await
    }

    /// Stores the bytes that have arrived, so that a part that waits for others holds no memory.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub async fn store_arrived(&mut self) -> Result<(), UploadError> {
        self.0.store_arrived().await
    }

    /// Keeps the bytes that have arrived, so that the upload can continue later. Returns their
    /// number.
    ///
    /// # Errors
    /// The bytes cannot be written.
    pub async fn keep(self) -> Result<u64, UploadError> {
        self.0.keep().await
    }

    /// Checks that [`Part::finish`] can put the file in its place: no folder has its name, and no
    /// file has the name of a folder above it.
    ///
    /// # Errors
    /// [`UploadError::NameTaken`].
    pub async fn check_place(&self) -> Result<(), UploadError> {
        self.0.check_place().await
    }

    /// Puts the complete file in its place, in one step: readers see the old file or the new one.
    ///
    /// # Errors
    /// The file is incomplete or cannot be written.
    pub async fn finish(self, whole: Option<u64>) -> Result<PathBuf, UploadError> {
        self.0.finish(whole).await
    }

    /// Completes the file but leaves it apart, where it is not indexed, because it contains other
    /// files: see [`unpack`](crate::unpack). [`Part::discard`] deletes it.
    ///
    /// # Errors
    /// The file is incomplete or cannot be written.
    pub async fn complete(&mut self, whole: Option<u64>) -> Result<(), UploadError> {
        self.0.complete(whole).await
    }

    /// The bytes of a file that was completed.
    pub(crate) async fn read(&self) -> Result<Vec<u8>, UploadError> {
        self.0.read().await
    }

    /// Deletes the bytes that have arrived.
    pub async fn discard(self) {
        self.0.discard().await;
    }
}
