//! Stores uploaded files in a folder beside the base. A complete file replaces its older version, and
//! an interrupted upload can continue.

mod part;

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio::fs::File;

use self::part::FolderPart;
use super::places::UploadPlaces;
use super::{PartLine, PartStore, UploadError, UploadId, UploadStore};

/// The folder of incomplete files; it is hidden, so that indexing skips it.
const PARTS: &str = ".parts";
/// The extension of the file that holds the name of an incomplete file.
const NAME: &str = "name";

/// The uploaded files of a base in a folder.
#[derive(Clone, Debug)]
pub(crate) struct FolderUploads(UploadPlaces);

impl Deref for FolderUploads {
    type Target = UploadPlaces;

    fn deref(&self) -> &UploadPlaces {
        &self.0
    }
}

impl FolderUploads {
    /// The uploads of a base: see [`UploadPlaces::beside`].
    pub(crate) fn beside(base: &Path) -> Self {
        Self(UploadPlaces::beside(base))
    }

    /// The bytes of an incomplete upload that have arrived.
    ///
    /// # Errors
    /// [`UploadError::BadName`], or the file cannot be examined.
    pub(super) fn held(&self, name: &str, id: &UploadId) -> Result<u64, UploadError> {
        self.place(name)?;
        let path = self.part(name, id);
        match fs::metadata(&path) {
            Ok(part) => Ok(part.len()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(source) => Err(UploadError::Io { path, source }),
        }
    }

    /// Begins to receive a file, or continues at `from`. If `from` is 0, earlier bytes of this
    /// upload are discarded. Pieces of two identifiers are never joined.
    ///
    /// # Errors
    /// See [`UploadError`].
    pub(super) fn begin(
        &self,
        name: &str,
        id: &UploadId,
        from: u64,
        most: u64,
    ) -> Result<FolderPart, UploadError> {
        let place = self.place(name)?;
        let path = self.part(name, id);
        let io = |source| self.io(&path, source);
        fs::create_dir_all(self.folder().join(PARTS)).map_err(io)?;
        fs::write(path.with_extension(NAME), name).map_err(io)?;
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).open(&path).map_err(io)?;
        // The lock is held until the file is dropped.
        file.try_lock().map_err(|_| UploadError::UnderWay)?;
        let mut held = file.metadata().map_err(io)?.len();
        if from == 0 && 0 < held {
            file.set_len(0).map_err(io)?;
            held = 0;
        }
        if from != held {
            if held == 0 {
                part::remove(&path);
            }
            return Err(UploadError::OutOfOrder { held });
        }
        Ok(FolderPart::new(File::from_std(file), path, place, held, most, self.clone()))
    }

    /// The complete uploads, sorted by name: name, place and bytes of each. Files that are deleted
    /// meanwhile are omitted.
    ///
    /// # Errors
    /// [`UploadError::NotListed`].
    pub(super) fn all(&self) -> Result<Vec<(String, PathBuf, u64)>, UploadError> {
        let is_gone = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        let mut all = Vec::new();
        let entries = walkdir::WalkDir::new(self.real()).sort_by_file_name().into_iter();
        let is_part = |entry: &walkdir::DirEntry| entry.file_name() == PARTS;
        for entry in entries.filter_entry(|entry| !is_part(entry)) {
            let entry = match entry.map_err(io::Error::from) {
                Ok(entry) => entry,
                Err(error) if is_gone(&error) => continue,
                Err(error) => return Err(UploadError::NotListed(error)),
            };
            let Some(name) = self.name_of(entry.path()).filter(|_| entry.file_type().is_file())
            else {
                continue;
            };
            match entry.metadata().map_err(io::Error::from) {
                Ok(metadata) => all.push((name, entry.path().to_owned(), metadata.len())),
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(UploadError::NotListed(error)),
            }
        }
        Ok(all)
    }

    /// Removes the uploaded file at `at`, if there is one, and the folders that are then empty.
    /// Returns whether it removed a file.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub(super) fn remove(&self, at: &Path) -> Result<bool, UploadError> {
        let Some(path) = self.within(at) else { return Ok(false) };
        match fs::remove_file(at) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(UploadError::Io { path: at.to_owned(), source }),
        }
        // An empty folder would occupy its name for good. A folder with files stays.
        for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
            if fs::remove_dir(self.real().join(above)).is_err() {
                break;
            }
        }
        // Without this, the file could be back after a power failure.
        let above = at.ancestors().skip(1).find(|above| above.is_dir());
        above.map_or(Ok(()), sync).map_err(|source| self.io(at, source))?;
        Ok(true)
    }

    /// Removes a file as [`Uploads::remove`] does, and the pieces of its interrupted uploads, so
    /// that no text of it stays here.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(super) fn forget(&self, at: &Path) -> Result<bool, UploadError> {
        let was_sent = self.remove(at)?;
        if let Some(name) = self.name_of(at) {
            self.drop_parts_of(&name).map_err(UploadError::NotListed)?;
        }
        Ok(was_sent)
    }

    fn part(&self, name: &str, id: &UploadId) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        hasher.update(name.as_bytes()).update(b"\0").update(id.as_str().as_bytes());
        self.folder().join(PARTS).join(hasher.finalize().to_hex().as_str())
    }

    /// The error for a failed write. On a full disk, it first removes the pieces that nobody is
    /// sending.
    fn io(&self, path: &Path, source: io::Error) -> UploadError {
        if source.kind() != ErrorKind::StorageFull {
            return UploadError::Io { path: path.to_owned(), source };
        }
        if let Err(error) = self.drop_parts(|_| true) {
            tracing::warn!(%error, "incomplete uploads are not removed");
        }
        UploadError::DiskFull
    }
}

/// Makes added and removed names of a folder survive a power failure.
fn sync(folder: &Path) -> io::Result<()> {
    // The folder of a name without a path.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs::File::open(folder)?.sync_all()
}

#[async_trait]
impl UploadStore for FolderUploads {
    async fn has(&self, name: &str) -> Result<bool, UploadError> {
        Ok(self.place(name)?.is_file())
    }

    async fn held(&self, name: &str, id: &UploadId) -> Result<u64, UploadError> {
        Self::held(self, name, id)
    }

    async fn begin(
        &self,
        name: &str,
        id: &UploadId,
        from: u64,
        most: u64,
    ) -> Result<Box<dyn PartStore>, UploadError> {
        Ok(Box::new(Self::begin(self, name, id, from, most)?))
    }

    async fn all(&self) -> Result<Vec<(String, PathBuf, u64)>, UploadError> {
        let uploads = self.clone();
        let all = tokio::task::spawn_blocking(move || Self::all(&uploads)).await;
        all.map_err(|error| UploadError::NotListed(io::Error::other(error)))?
    }

    async fn remove(&self, at: &Path) -> Result<bool, UploadError> {
        Self::remove(self, at)
    }

    async fn forget(&self, at: &Path) -> Result<bool, UploadError> {
        Self::forget(self, at)
    }

    async fn parts(&self) -> Result<Vec<PartLine>, UploadError> {
        Self::parts(self)
    }

    async fn drop_parts(&self, older: Duration) -> Result<usize, UploadError> {
        Self::drop_parts(self, |age| older < age).map_err(UploadError::NotListed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: &str) -> UploadId {
        id.parse().unwrap()
    }

    fn uploads() -> (tempfile::TempDir, FolderUploads) {
        let folder = tempfile::tempdir().unwrap();
        let uploads = FolderUploads::beside(&folder.path().join(".pikerag"));
        (folder, uploads)
    }

    #[tokio::test]
    async fn an_upload_cut_off_at_any_byte_continues_and_replaces_the_file() {
        let (_folder, uploads) = uploads();
        let (text, one) = (b"The sensor is calibrated by Ada.", id("one"));
        for cut in 0..=text.len() {
            let mut part = uploads.begin("a/b.md", &one, 0, 1000).unwrap();
            part.take(&text[..cut]).await.unwrap();
            assert!(matches!(uploads.begin("a/b.md", &one, 0, 1000), Err(UploadError::UnderWay)));
            assert_eq!(part.keep().await.unwrap(), cut as u64);
            assert_eq!(uploads.held("a/b.md", &one).unwrap(), cut as u64);
            if 0 < cut {
                let wrong = uploads.begin("a/b.md", &one, cut as u64 + 1, 1000);
                assert!(matches!(wrong, Err(UploadError::OutOfOrder { .. })));
            }
            let mut part = uploads.begin("a/b.md", &one, cut as u64, 1000).unwrap();
            part.take(&text[cut..]).await.unwrap();
            let place = part.finish(Some(text.len() as u64)).await.unwrap();
            assert_eq!(fs::read(&place).unwrap(), text);
            assert_eq!(uploads.held("a/b.md", &one).unwrap(), 0);
        }
    }

    #[tokio::test]
    async fn pieces_of_two_senders_are_never_joined() {
        let (_folder, uploads) = uploads();
        let (ada, eve) = (id("ada"), UploadId::random().unwrap());
        let send = async |by: &UploadId, from: u64, piece: &[u8], whole: Option<u64>| {
            let mut part = uploads.begin("a.md", by, from, 1000)?;
            part.take(piece).await?;
            match whole {
                Some(_) => part.finish(whole).await.map(Some),
                None => part.keep().await.map(|_| None),
            }
        };
        send(&ada, 0, b"Ada, ", None).await.unwrap();
        send(&eve, 0, b"Eve, ", None).await.unwrap();
        let mut listed: Vec<_> =
            uploads.parts().unwrap().into_iter().map(|part| (part.file, part.bytes)).collect();
        listed.sort();
        assert_eq!(listed, [("a.md".to_owned(), 5), ("a.md".to_owned(), 5)]);
        let place = send(&ada, 5, b"again", Some(10)).await.unwrap().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"Ada, again");
        assert_eq!(
            (uploads.held("a.md", &ada).unwrap(), uploads.held("a.md", &eve).unwrap()),
            (0, 5)
        );
        let wrong = send(&id("third"), 5, b"x", None).await;
        assert!(matches!(wrong, Err(UploadError::OutOfOrder { held: 0 })));
        assert_eq!(uploads.parts().unwrap().len(), 1, "no byte of it is stored");
        send(&eve, 5, b"again", Some(10)).await.unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"Eve, again");
        for bad in ["", "a/b", "a b", &"a".repeat(65)] {
            assert!(matches!(bad.parse::<UploadId>(), Err(UploadError::BadId { .. })), "{bad:?}");
        }
    }

    #[tokio::test]
    async fn parts_are_dropped_when_they_are_old_or_the_disk_is_full() {
        let (_folder, uploads) = uploads();
        let keep = async |name: &str| {
            let mut part = uploads.begin(name, &id("one"), 0, 9).unwrap();
            part.take(b"abc").await.unwrap();
            part.keep().await.unwrap();
        };
        keep("a.md").await;
        assert_eq!(uploads.drop_parts(|age| Duration::from_hours(1) < age).unwrap(), 0);
        assert_eq!(uploads.parts().unwrap().len(), 1);
        // This one is being sent.
        let under_way = uploads.begin("b.md", &id("one"), 0, 9).unwrap();
        let full = || io::Error::from(ErrorKind::StorageFull);
        assert!(matches!(uploads.io(Path::new("x"), full()), UploadError::DiskFull));
        let left: Vec<String> =
            uploads.parts().unwrap().into_iter().map(|part| part.file).collect();
        assert_eq!(left, ["b.md"]);
        drop(under_way);
        assert_eq!(uploads.drop_parts(|_| true).unwrap(), 1);
        let folder = uploads.folder().join(PARTS);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "no byte of them is left");
    }

    #[tokio::test]
    async fn a_forgotten_file_loses_its_interrupted_uploads() {
        let (_folder, uploads) = uploads();
        let send = async |name: &str, by: &str| {
            let mut part = uploads.begin(name, &id(by), 0, 9).unwrap();
            part.take(b"abc").await.unwrap();
            part
        };
        let place = send("a.md", "one").await.finish(None).await.unwrap();
        for (name, by) in [("a.md", "two"), ("b.md", "two"), ("c.md", "two")] {
            send(name, by).await.keep().await.unwrap();
        }
        // A power failure can leave a part without its name, or a name without its part.
        fs::write(uploads.part("c.md", &id("two")).with_extension(NAME), "").unwrap();
        fs::remove_file(uploads.part("b.md", &id("two"))).unwrap();
        let under_way = send("a.md", "three").await;
        assert!(uploads.forget(&place).unwrap());
        let left: Vec<String> =
            uploads.parts().unwrap().into_iter().map(|part| part.file).collect();
        assert_eq!(left, ["a.md"], "the upload that is being sent stays");
        under_way.discard();
        assert_eq!(uploads.drop_parts(|_| true).unwrap(), 1);
        assert_eq!(fs::read_dir(uploads.folder().join(PARTS)).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn too_large_and_incomplete_files_are_refused() {
        let (_folder, uploads) = uploads();
        let mut part = uploads.begin("a.md", &id("one"), 0, 4).unwrap();
        part.take(b"abc").await.unwrap();
        assert!(matches!(part.take(b"de").await, Err(UploadError::TooLarge { most: 4 })));
        drop(part);
        assert_eq!(uploads.held("a.md", &id("one")).unwrap(), 0);
        let mut part = uploads.begin("a.md", &id("one"), 0, 9).unwrap();
        part.take(b"abc").await.unwrap();
        let whole = part.finish(Some(5)).await;
        assert!(matches!(whole, Err(UploadError::NotWhole { held: 3, whole: 5 })));
        assert_eq!(uploads.held("a.md", &id("one")).unwrap(), 3);
    }

    #[tokio::test]
    async fn a_name_belongs_to_a_file_or_a_folder_until_removed() {
        let (folder, uploads) = uploads();
        let send = async |name: &str| {
            let mut part = uploads.begin(name, &id("one"), 0, 9).unwrap();
            part.take(b"abc").await.unwrap();
            part.finish(Some(3)).await
        };
        let held = |uploads: &FolderUploads| -> Vec<String> {
            uploads.all().unwrap().into_iter().map(|(name, ..)| name).collect()
        };
        assert_eq!(held(&uploads), [""; 0]);
        let deep = send("law/old/a.md").await.unwrap();
        for (name, is_free) in [
            ("law", false),
            ("law/old/a.md/b", false),
            ("law/old/a.md/b/c", false),
            ("law/old/a.md", true),
            ("law/new/a.md", true),
        ] {
            let part = uploads.begin(name, &id("two"), 0, 9).unwrap();
            assert_eq!(part.check_place().is_ok(), is_free, "{name}");
            part.discard();
        }
        assert!(matches!(send("law").await, Err(UploadError::NameTaken)));
        assert!(matches!(send("law/old/a.md/b").await, Err(UploadError::NameTaken)));
        // This file was put there by hand, under a name that uploads may not have.
        let by_hand = uploads.folder().join("a#b.md");
        fs::write(&by_hand, "x").unwrap();
        assert_eq!(
            (held(&uploads), uploads.name_of(&by_hand)),
            (vec!["law/old/a.md".into()], None)
        );
        let outside = folder.path().join("outside.md");
        fs::write(&outside, "x").unwrap();
        assert!(!uploads.remove(&outside).unwrap() && outside.exists());
        assert!(
            !uploads.remove(&uploads.folder().join("../outside.md")).unwrap() && outside.exists()
        );
        assert!(uploads.remove(&by_hand).unwrap() && uploads.remove(&deep).unwrap());
        assert!(!uploads.remove(&deep).unwrap());
        send("law").await.unwrap();
        assert_eq!(held(&uploads), ["law"]);
    }
}
