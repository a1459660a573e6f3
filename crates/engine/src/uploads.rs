//! Keeps what comes over the wire in a folder beside the base, below names that lead nowhere else: a file takes the place of
//! its older version when it is whole, and what was cut off goes on.

mod part;

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use tokio::fs::File;

pub use self::part::{Part, PartLine, UploadId};

/// The folder of what is not whole yet; hidden, so that indexing passes it over.
const PARTS: &str = ".parts";
/// The extension of what says which file a part belongs to.
const NAME: &str = "name";
/// Bytes of a part of a name, and parts.
const LONGEST: usize = 200;
const DEEPEST: usize = 16;

/// Why something was not taken.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum UploadError {
    /// The name would lead elsewhere, or nowhere.
    #[error("`{name}` is no name for a file here: {reason}")]
    BadName { name: String, reason: &'static str },
    /// The identifier of an upload has another shape.
    #[error("`{id}` is no identifier of an upload: 1 to 64 letters, digits, `-` and `_` are")]
    BadId { id: String },
    /// A piece that does not begin a file says nothing of the upload that it belongs to.
    #[error("a piece that goes on names its upload: `?upload=ID`")]
    NoId,
    /// No byte more can be written. Pieces that nobody was sending are removed.
    #[error("the disk is full; incomplete uploads were removed")]
    DiskFull,
    /// There are no random numbers to make an identifier of.
    #[error("there are no random numbers to make an identifier of")]
    NoRandom,
    /// What came does not go on where the earlier part ended.
    #[error("{held} bytes of it are there: it goes on at {held}")]
    OutOfOrder { held: u64 },
    /// It is larger than is read.
    #[error("it is larger than {most} bytes")]
    TooLarge { most: u64 },
    /// Somebody else is sending it.
    #[error("another request is sending this file")]
    UnderWay,
    /// Its end has not come.
    #[error("{held} of {whole} bytes are there")]
    NotWhole { held: u64, whole: u64 },
    /// A folder has its name, or a file the name of a folder that it would lie in.
    #[error("its name, or that of a folder above it, is taken by something else")]
    NameTaken,
    /// It cannot be written.
    #[error("{path} cannot be written")]
    Io { path: PathBuf, source: io::Error },
    /// What is there cannot be listed.
    #[error("what was sent cannot be listed")]
    NotListed(#[source] io::Error),
}

/// What came over the wire for one base.
#[derive(Clone, Debug)]
pub struct Uploads {
    folder: PathBuf,
    /// The same without links on the way, as the base knows its files.
    real: PathBuf,
}

impl Uploads {
    /// Those of a base: `law.uploads` beside `law`, `pikerag.uploads` beside `.pikerag`.
    pub fn beside(base: &Path) -> Self {
        let name = base.file_name().and_then(|name| name.to_str()).unwrap_or("base");
        let folder = base.with_file_name(format!("{}.uploads", name.trim_start_matches('.')));
        let real = fs::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        Self { folder, real }
    }

    /// The folder that they lie in; it may not be there yet.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where a file of that name lies.
    ///
    /// # Errors
    /// [`UploadError::BadName`].
    pub fn place(&self, name: &str) -> Result<PathBuf, UploadError> {
        let bad = |reason| UploadError::BadName { name: name.to_owned(), reason };
        let mut place = self.folder.clone();
        let parts: Vec<&str> = name.split('/').collect();
        if DEEPEST < parts.len() {
            return Err(bad("too many folders"));
        }
        for part in parts {
            let is_one = Path::new(part).components().collect::<Vec<_>>();
            match is_one.as_slice() {
                [Component::Normal(own)] if own.as_encoded_bytes() == part.as_bytes() => {}
                _ => return Err(bad("each part must be the name of a file or a folder")),
            }
            if part.starts_with('.') {
                return Err(bad("hidden files are not read"));
            }
            if LONGEST < part.len() {
                return Err(bad("a part of it is too long"));
            }
            if part.chars().any(|c| c.is_control() || c == '\\' || c == '#') {
                return Err(bad("it has a character that no name should have"));
            }
            place.push(part);
        }
        Ok(place)
    }

    /// How much of an upload is there that has not come whole.
    ///
    /// # Errors
    /// [`UploadError::BadName`], or it cannot be looked at.
    pub fn held(&self, name: &str, id: &UploadId) -> Result<u64, UploadError> {
        self.place(name)?;
        let path = self.part(name, id);
        match fs::metadata(&path) {
            Ok(part) => Ok(part.len()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(source) => Err(UploadError::Io { path, source }),
        }
    }

    /// Begins to take a file, or goes on at `from`. From 0 on, what came earlier of this upload is thrown away. Pieces of two
    /// identifiers are never joined.
    ///
    /// # Errors
    /// See [`UploadError`].
    pub fn begin(
        &self,
        name: &str,
        id: &UploadId,
        from: u64,
        most: u64,
    ) -> Result<Part, UploadError> {
        let place = self.place(name)?;
        let path = self.part(name, id);
        let io = |source| self.io(&path, source);
        fs::create_dir_all(self.folder.join(PARTS)).map_err(io)?;
        fs::write(path.with_extension(NAME), name).map_err(io)?;
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).open(&path).map_err(io)?;
        // Until it is dropped.
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
        Ok(Part::new(File::from_std(file), path, place, held, most, self.clone()))
    }

    /// What a file was called when it was sent, by where it lies; none for one that was not sent.
    pub fn name_of(&self, at: &Path) -> Option<String> {
        let parts: Option<Vec<&str>> = self.below(at)?.iter().map(|part| part.to_str()).collect();
        let name = parts?.join("/");
        self.place(&name).ok().map(|_| name)
    }

    /// The way from the folder to a file in it, whoever put it there.
    fn below<'a>(&self, at: &'a Path) -> Option<&'a Path> {
        let way = at.strip_prefix(&self.real).or_else(|_| at.strip_prefix(&self.folder)).ok()?;
        let leads_on = |part| matches!(part, Component::Normal(_));
        (way.components().next().is_some() && way.components().all(leads_on)).then_some(way)
    }

    /// The whole files that were sent, by name: what each is called, where it lies, its bytes. One that goes meanwhile is not
    /// among them.
    ///
    /// # Errors
    /// [`UploadError::NotListed`].
    pub fn all(&self) -> Result<Vec<(String, PathBuf, u64)>, UploadError> {
        let is_gone = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        let mut all = Vec::new();
        let entries = walkdir::WalkDir::new(&self.real).sort_by_file_name().into_iter();
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

    /// Removes a file that came over the wire, where `at` is one, and the folders that are empty then; whether it was.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self, at: &Path) -> Result<bool, UploadError> {
        let Some(way) = self.below(at) else { return Ok(false) };
        match fs::remove_file(at) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(UploadError::Io { path: at.to_owned(), source }),
        }
        // The name of a folder that holds nothing would be taken for good. One that holds something stays.
        for above in way.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
            if fs::remove_dir(self.real.join(above)).is_err() {
                break;
            }
        }
        // Else it could be back after a loss of power.
        let above = at.ancestors().skip(1).find(|above| above.is_dir());
        above.map_or(Ok(()), sync).map_err(|source| self.io(at, source))?;
        Ok(true)
    }

    /// Removes a file as [`Uploads::remove`] does, and what came of it in uploads that were cut off: no text of it is left here.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn forget(&self, at: &Path) -> Result<bool, UploadError> {
        let was_sent = self.remove(at)?;
        if let Some(name) = self.name_of(at) {
            self.drop_parts_of(&name).map_err(UploadError::NotListed)?;
        }
        Ok(was_sent)
    }

    fn part(&self, name: &str, id: &UploadId) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        hasher.update(name.as_bytes()).update(b"\0").update(id.as_str().as_bytes());
        self.folder.join(PARTS).join(hasher.finalize().to_hex().as_str())
    }

    /// What a failure to write means. On a full disk, pieces that nobody is sending make room.
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

/// Has what a folder holds survive a loss of power: names that came and went.
fn sync(folder: &Path) -> io::Result<()> {
    // The folder that a bare name is in.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn id(id: &str) -> UploadId {
        id.parse().unwrap()
    }

    fn uploads() -> (tempfile::TempDir, Uploads) {
        let folder = tempfile::tempdir().unwrap();
        let uploads = Uploads::beside(&folder.path().join(".pikerag"));
        (folder, uploads)
    }

    #[test]
    fn no_name_leads_elsewhere() {
        let (_folder, uploads) = uploads();
        assert!(uploads.folder().ends_with("pikerag.uploads"));
        let long = "a".repeat(300);
        let deep = ["a"; 40].join("/");
        for name in [
            "",
            ".",
            "..",
            "../x",
            "a/../b",
            "/etc/passwd",
            "a//b",
            "a/",
            ".hidden",
            "a/.b",
            "a\\b",
            "a\0b",
            "a\nb",
            "a#b",
            &long,
            &deep,
        ] {
            assert!(matches!(uploads.place(name), Err(UploadError::BadName { .. })), "{name:?}");
        }
        let place = uploads.place("law/中文 合同.pdf").unwrap();
        assert!(place.starts_with(uploads.folder()));
        assert_eq!(uploads.name_of(&place).as_deref(), Some("law/中文 合同.pdf"));
        for other in [uploads.folder().join("../x"), uploads.folder().to_owned(), "/etc".into()] {
            assert_eq!(uploads.name_of(&other), None, "{other:?}");
        }
    }

    #[tokio::test]
    async fn what_was_cut_off_at_any_byte_goes_on_and_takes_the_place_when_whole() {
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
        assert_eq!(uploads.parts().unwrap().len(), 1, "nothing is kept of it");
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
        // Somebody is sending that one.
        let under_way = uploads.begin("b.md", &id("one"), 0, 9).unwrap();
        let full = || io::Error::from(ErrorKind::StorageFull);
        assert!(matches!(uploads.io(Path::new("x"), full()), UploadError::DiskFull));
        let left: Vec<String> =
            uploads.parts().unwrap().into_iter().map(|part| part.file).collect();
        assert_eq!(left, ["b.md"]);
        drop(under_way);
        assert_eq!(uploads.drop_parts(|_| true).unwrap(), 1);
        let folder = uploads.folder().join(PARTS);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "nothing is left of them");
    }

    #[tokio::test]
    async fn a_file_is_forgotten_with_what_was_cut_off_of_it() {
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
        // As a loss of power leaves them: a part whose name is lost, a name whose part is.
        fs::write(uploads.part("c.md", &id("two")).with_extension(NAME), "").unwrap();
        fs::remove_file(uploads.part("b.md", &id("two"))).unwrap();
        let under_way = send("a.md", "three").await;
        assert!(uploads.forget(&place).unwrap());
        let left: Vec<String> =
            uploads.parts().unwrap().into_iter().map(|part| part.file).collect();
        assert_eq!(left, ["a.md"], "what is being sent now");
        under_way.discard();
        assert_eq!(uploads.drop_parts(|_| true).unwrap(), 1);
        assert_eq!(fs::read_dir(uploads.folder().join(PARTS)).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn what_is_too_large_or_not_whole_is_not_taken() {
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
    async fn a_name_is_a_files_or_a_folders_until_nothing_is_left_of_it() {
        let (folder, uploads) = uploads();
        let send = async |name: &str| {
            let mut part = uploads.begin(name, &id("one"), 0, 9).unwrap();
            part.take(b"abc").await.unwrap();
            part.finish(Some(3)).await
        };
        let held = |uploads: &Uploads| -> Vec<String> {
            uploads.all().unwrap().into_iter().map(|(name, ..)| name).collect()
        };
        assert_eq!(held(&uploads), [""; 0]);
        let deep = send("law/old/a.md").await.unwrap();
        assert!(matches!(send("law").await, Err(UploadError::NameTaken)));
        assert!(matches!(send("law/old/a.md/b").await, Err(UploadError::NameTaken)));
        // Put there by hand, under a name that nobody may send.
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
