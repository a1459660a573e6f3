//! Stores uploaded files in the database of the base. Bytes are collected to pieces, so that few rows
//! are written and memory stays bounded.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use pikerag_knowledge::StoreError;
use pikerag_store::{
    BegunUpload, DroppedParts, FinishedUpload, SENDER_KEPT, StoredUploads, UPLOAD_PIECE,
};
use tokio::runtime::Handle;
use tracing::warn;

use super::places::UploadPlaces;
use super::{PartLine, PartStore, UploadError, UploadId, UploadStore};

/// After this time, a slow sender's bytes are stored although they are few.
const STORED_AFTER: Duration = Duration::from_secs(SENDER_KEPT.as_secs() / 3);

/// The uploads of a base in a database.
pub(super) struct DatabaseUploads {
    pub(super) places: UploadPlaces,
    /// `None` if there is no base yet.
    pub(super) store: Option<Arc<dyn StoredUploads>>,
}

#[async_trait]
impl UploadStore for DatabaseUploads {
    async fn has(&self, name: &str) -> Result<bool, UploadError> {
        let Some(store) = &self.store else { return Ok(false) };
        Ok(store.upload(name).await?.is_some())
    }

    async fn held(&self, name: &str, id: &UploadId) -> Result<u64, UploadError> {
        let Some(store) = &self.store else { return Ok(0) };
        Ok(store.upload_held(name, id.as_str()).await?)
    }

    async fn begin(
        &self,
        name: &str,
        id: &UploadId,
        from: u64,
        most: u64,
    ) -> Result<Box<dyn PartStore>, UploadError> {
        let no_base = || StoreError::Missing { what: "the base of the upload".to_owned() };
        let store = Arc::clone(self.store.as_ref().ok_or_else(no_base)?);
        let place = self.places.place(name)?;
        let sender = UploadId::random()?.as_str().to_owned();
        match store.begin_upload(name, id.as_str(), from, &sender).await? {
            BegunUpload::UnderWay => Err(UploadError::UnderWay),
            BegunUpload::OutOfOrder { held } => Err(UploadError::OutOfOrder { held }),
            BegunUpload::Ours(number) => {
                let own = Own { store, number, sender };
                Ok(Box::new(DatabasePart {
                    own: Some(own),
                    is_broken: false,
                    name: name.to_owned(),
                    place,
                    stored: from,
                    pending: Vec::new(),
                    stored_at: Instant::now(),
                    most,
                }))
            }
        }
    }

    async fn all(&self) -> Result<Vec<(String, PathBuf, u64)>, UploadError> {
        let Some(store) = &self.store else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for upload in store.uploads().await? {
            // A name that a later version allows is none here.
            if let Ok(place) = self.places.place(&upload.name) {
                all.push((upload.name, place, upload.bytes));
            }
        }
        Ok(all)
    }

    async fn remove(&self, at: &Path) -> Result<bool, UploadError> {
        let (Some(store), Some(name)) = (&self.store, self.places.name_of(at)) else {
            return Ok(false);
        };
        Ok(store.remove_upload(&name).await?)
    }

    async fn forget(&self, at: &Path) -> Result<bool, UploadError> {
        let was_there = self.remove(at).await?;
        if let (Some(store), Some(name)) = (&self.store, self.places.name_of(at)) {
            store.drop_upload_parts(DroppedParts::Of(&name)).await?;
        }
        Ok(was_there)
    }

    async fn parts(&self) -> Result<Vec<PartLine>, UploadError> {
        let Some(store) = &self.store else { return Ok(Vec::new()) };
        let parts = store.upload_parts().await?.into_iter();
        let line = |part: pikerag_store::StoredPart| PartLine {
            file: part.name,
            bytes: part.bytes,
            changed: part.changed,
        };
        Ok(parts.map(line).collect())
    }

    async fn drop_parts(&self, older: Duration) -> Result<usize, UploadError> {
        let Some(store) = &self.store else { return Ok(0) };
        Ok(store.drop_upload_parts(DroppedParts::OlderThan(older)).await?)
    }
}

/// A file that is being received. Each server may continue it once it is dropped.
struct DatabasePart {
    /// `None` after the end.
    own: Option<Own>,
    /// Whether a piece was not stored: then no later one may follow the stored ones.
    is_broken: bool,
    name: String,
    place: PathBuf,
    /// The bytes in the database.
    stored: u64,
    /// The bytes that follow them, fewer than a piece.
    pending: Vec<u8>,
    stored_at: Instant,
    /// The most bytes of the file.
    most: u64,
}

/// The right to add pieces to an upload.
struct Own {
    store: Arc<dyn StoredUploads>,
    number: i64,
    sender: String,
}

impl Own {
    async fn store(&self, from: u64, piece: Vec<u8>) -> Result<(), UploadError> {
        match self.store.add_to_upload(self.number, &self.sender, from, piece).await? {
            true => Ok(()),
            // Another request has continued it after this one sent nothing for long.
            false => Err(UploadError::UnderWay),
        }
    }
}

impl DatabasePart {
    fn own(&self) -> Result<&Own, UploadError> {
        self.own.as_ref().filter(|_| !self.is_broken).ok_or(UploadError::UnderWay)
    }

    /// Stores the pending bytes.
    async fn store(&mut self) -> Result<(), UploadError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let piece = std::mem::take(&mut self.pending);
        let length = piece.len() as u64;
        let stored = self.own()?.store(self.stored, piece).await;
        self.is_broken = stored.is_err();
        stored?;
        self.stored += length;
        self.stored_at = Instant::now();
        Ok(())
    }

    async fn remove(&mut self) {
        let Some(own) = self.own.take() else { return };
        if let Err(error) = own.store.discard_upload(own.number, &own.sender).await {
            warn!(name = self.name, %error, "an incomplete upload is not removed");
        }
    }
}

#[async_trait]
impl PartStore for DatabasePart {
    fn held(&self) -> u64 {
        self.stored.saturating_add(self.pending.len() as u64)
    }

    async fn take(&mut self, bytes: &[u8]) -> Result<(), UploadError> {
        if self.most < self.held().saturating_add(bytes.len() as u64) {
            self.remove().await;
            return Err(UploadError::TooLarge { most: self.most });
        }
        self.own()?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let fits = rest.len().min(UPLOAD_PIECE.saturating_sub(self.pending.len()));
            let (now, later) = rest.split_at(fits);
            self.pending.extend_from_slice(now);
            rest = later;
            if UPLOAD_PIECE <= self.pending.len() {
                self.store().await?;
            }
        }
        if STORED_AFTER <= self.stored_at.elapsed() {
            self.store().await?;
        }
        Ok(())
    }

    async fn store_arrived(&mut self) -> Result<(), UploadError> {
        self.store().await
    }

    async fn keep(mut self: Box<Self>) -> Result<u64, UploadError> {
        self.store().await?;
        if let Some(own) = self.own.take() {
            own.store.release_upload(own.number, &own.sender).await?;
        }
        Ok(self.stored)
    }

    async fn check_place(&self) -> Result<(), UploadError> {
        match self.own()?.store.is_upload_name_taken(&self.name).await? {
            true => Err(UploadError::NameTaken),
            false => Ok(()),
        }
    }

    async fn finish(mut self: Box<Self>, whole: Option<u64>) -> Result<PathBuf, UploadError> {
        self.complete(whole).await?;
        let own = self.own()?;
        match own.store.finish_upload(own.number, &own.sender).await? {
            FinishedUpload::Complete => {
                self.own = None;
                Ok(self.place.clone())
            }
            FinishedUpload::NameTaken => Err(UploadError::NameTaken),
            FinishedUpload::NotOurs => Err(UploadError::UnderWay),
        }
    }

    async fn complete(&mut self, whole: Option<u64>) -> Result<(), UploadError> {
        self.store().await?;
        match whole.filter(|whole| *whole != self.stored) {
            Some(whole) => Err(UploadError::NotWhole { held: self.stored, whole }),
            None => Ok(()),
        }
    }

    async fn read(&self) -> Result<Vec<u8>, UploadError> {
        let own = self.own()?;
        Ok(pieces(own.store.as_ref(), own.number, u64::MAX).await?.unwrap_or_default())
    }

    async fn discard(mut self: Box<Self>) {
        self.remove().await;
    }
}

impl fmt::Debug for DatabasePart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DatabasePart").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A connection that broke keeps the bytes that came, and lets the next request continue at once.
impl Drop for DatabasePart {
    fn drop(&mut self) {
        let (Some(own), Ok(runtime)) = (self.own.take(), Handle::try_current()) else { return };
        let (from, mut pending) = (self.stored, std::mem::take(&mut self.pending));
        if self.is_broken {
            pending.clear();
        }
        runtime.spawn(async move {
            if !pending.is_empty() && own.store(from, pending).await.is_err() {
                return;
            }
            // If it fails, the right ends by itself.
            let _ = own.store.release_upload(own.number, &own.sender).await;
        });
    }
}

/// The bytes of the complete upload of a name; `None` if there is none. At most `most` bytes are read,
/// and one more if there are more.
pub(crate) async fn read_upload(
    store: &dyn StoredUploads,
    name: &str,
    most: u64,
) -> Result<Option<Vec<u8>>, StoreError> {
    // It may be replaced while it is read.
    while let Some(upload) = store.upload(name).await? {
        if let Some(bytes) = pieces(store, upload.number, most).await? {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// BLAKE3 of the bytes of the complete upload of a name, in hexadecimal, and their number; `None` if there
/// is none. It holds one piece at a time.
pub(crate) async fn hash_of_upload(
    store: &dyn StoredUploads,
    name: &str,
) -> Result<Option<(String, u64)>, StoreError> {
    'again: while let Some(upload) = store.upload(name).await? {
        let (mut hasher, mut from) = (blake3::Hasher::new(), 0);
        loop {
            let Some(piece) = store.upload_piece(upload.number, from).await? else {
                continue 'again;
            };
            if piece.is_empty() {
                return Ok(Some((hasher.finalize().to_hex().to_string(), from)));
            }
            hasher.update(&piece);
            from += piece.len() as u64;
        }
    }
    Ok(None)
}

/// The bytes of an upload, until there are more than `most`; `None` if it was removed meanwhile.
async fn pieces(
    store: &dyn StoredUploads,
    number: i64,
    most: u64,
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut bytes = Vec::new();
    while bytes.len() as u64 <= most {
        let Some(piece) = store.upload_piece(number, bytes.len() as u64).await? else {
            return Ok(None);
        };
        if piece.is_empty() {
            break;
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use pikerag_store::{StoredPart, StoredUpload};

    use super::*;

    /// A database with one incomplete upload, which can be out of reach.
    #[derive(Default)]
    struct Fake {
        bytes: Mutex<Vec<u8>>,
        is_away: AtomicBool,
        released: AtomicUsize,
    }

    #[async_trait]
    impl StoredUploads for Fake {
        async fn uploads(&self) -> Result<Vec<StoredUpload>, StoreError> {
            Ok(Vec::new())
        }

        async fn upload(&self, _: &str) -> Result<Option<StoredUpload>, StoreError> {
            Ok(None)
        }

        async fn upload_piece(&self, _: i64, _: u64) -> Result<Option<Vec<u8>>, StoreError> {
            Ok(None)
        }

        async fn upload_parts(&self) -> Result<Vec<StoredPart>, StoreError> {
            Ok(Vec::new())
        }

        async fn upload_held(&self, _: &str, _: &str) -> Result<u64, StoreError> {
            Ok(self.bytes.lock().unwrap().len() as u64)
        }

        async fn begin_upload(
            &self,
            _: &str,
            _: &str,
            _: u64,
            _: &str,
        ) -> Result<BegunUpload, StoreError> {
            Ok(BegunUpload::Ours(1))
        }

        async fn add_to_upload(
            &self,
            _: i64,
            _: &str,
            from: u64,
            bytes: Vec<u8>,
        ) -> Result<bool, StoreError> {
            if self.is_away.load(Ordering::Relaxed) {
                return Err(StoreError::Missing { what: "the database".to_owned() });
            }
            let mut held = self.bytes.lock().unwrap();
            assert_eq!(from, held.len() as u64);
            held.extend(bytes);
            Ok(true)
        }

        async fn release_upload(&self, _: i64, _: &str) -> Result<(), StoreError> {
            self.released.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        async fn is_upload_name_taken(&self, _: &str) -> Result<bool, StoreError> {
            Ok(false)
        }

        async fn finish_upload(&self, _: i64, _: &str) -> Result<FinishedUpload, StoreError> {
            Ok(FinishedUpload::Complete)
        }

        async fn discard_upload(&self, _: i64, _: &str) -> Result<(), StoreError> {
            Ok(())
        }

        async fn remove_upload(&self, _: &str) -> Result<bool, StoreError> {
            Ok(false)
        }

        async fn drop_upload_parts(&self, _: DroppedParts<'_>) -> Result<usize, StoreError> {
            Ok(0)
        }
    }

    async fn begun(fake: &Arc<Fake>) -> Box<dyn PartStore> {
        let store: Arc<dyn StoredUploads> = Arc::<Fake>::clone(fake);
        let places = UploadPlaces::below(Path::new("/srv"), Path::new("postgres://db/x"));
        let uploads = DatabaseUploads { places, store: Some(store) };
        uploads.begin("a.md", &UploadId::random().unwrap(), 0, u64::MAX).await.unwrap()
    }

    #[tokio::test]
    async fn bytes_are_stored_in_pieces_and_when_another_file_follows() {
        let fake = Arc::new(Fake::default());
        let mut part = begun(&fake).await;
        part.take(&vec![7; UPLOAD_PIECE + 5]).await.unwrap();
        let held = || fake.bytes.lock().unwrap().len();
        assert_eq!((held(), part.held()), (UPLOAD_PIECE, UPLOAD_PIECE as u64 + 5));
        part.store_arrived().await.unwrap();
        assert_eq!(held(), UPLOAD_PIECE + 5);
    }

    #[tokio::test]
    async fn no_byte_follows_a_lost_piece_and_the_next_request_may_continue() {
        let fake = Arc::new(Fake::default());
        let mut part = begun(&fake).await;
        part.take(b"first").await.unwrap();
        part.store_arrived().await.unwrap();
        fake.is_away.store(true, Ordering::Relaxed);
        part.take(b" lost").await.unwrap();
        assert!(matches!(part.store_arrived().await, Err(UploadError::Store(_))));
        fake.is_away.store(false, Ordering::Relaxed);
        assert!(part.take(b" later").await.is_err());
        drop(part);
        while fake.released.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(*fake.bytes.lock().unwrap(), b"first");
    }
}
