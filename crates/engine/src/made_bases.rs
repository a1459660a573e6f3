//! Makes, renames and removes bases in a folder of the server. Each base has a folder of its own,
//! with a file that holds its name.
//!
//! ```text
//! pikerag.bases/law-1f0c44a2/name           law
//! pikerag.bases/law-1f0c44a2/base/          the base
//! pikerag.bases/law-1f0c44a2/base.uploads/  its uploaded files
//! ```
//!
//! The folder keeps its path when the base gets another name, because the ledgers of keys, open
//! connections and running questions refer to the path. No folder is used twice.
//!
//! Several servers may share the folder. A change needs [`MadeBases::lock`], which one server at a
//! time has. A removal also needs that no server uses the base ([`Engine::hold`](crate::Engine::hold)).
//!
//! If the base of the settings is in a database, the bases are there, too (`database.rs`).

mod begin;
mod database;
mod lock;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use pikerag_knowledge::error_chain;
use pikerag_postgres::Location;
use tracing::warn;

pub use self::begin::begin_base;
use self::database::DatabaseBases;
use self::lock::FolderLock;
use crate::base::{folder_of, shown_base};
use crate::in_use::{IN_USE, Unused};
use crate::random::random_hex;
use crate::settings::{Settings, is_base_name};
use crate::uploads::UploadPlaces;

/// The file with the name of a base.
const NAME: &str = "name";
/// The folder of a base below its own folder.
const BASE: &str = "base";
/// The folder of its uploads, as [`UploadPlaces::beside`] names it.
const UPLOADS: &str = "base.uploads";
/// The end of the name of a folder that is not complete yet. Names of bases have no dot.
const NEW: &str = "new";
/// The end of the name of a folder whose files are being removed.
const REMOVED: &str = "removed";
/// The ignore file of a base's own folder: an indexing of a folder above must not read the
/// documents of this base.
const IGNORE: (&str, &str) = (".pikeragignore", "# The documents of another base.\n*\n");
/// Everything that the folder of a base contains. A folder with other entries is not ours.
const ENTRIES: [&str; 6] = [NAME, NEW_NAME, BASE, UPLOADS, IGNORE.0, IN_USE];
/// The file with a name that is being written.
const NEW_NAME: &str = "name.new";
/// The hexadecimal digits at the end of the name of a folder.
const DIGITS: usize = 8;

/// The bases that were made over REST or the page. A clone is the same folder.
#[derive(Clone)]
pub struct MadeBases {
    /// The folder; for bases in a database, the address with the base beside which they are.
    folder: PathBuf,
    /// `None` for bases in a folder.
    database: Option<DatabaseBases>,
}

/// The bases while no other server can make, rename or remove one. Dropping it unlocks the folder.
#[derive(Debug)]
pub struct LockedBases {
    bases: MadeBases,
    /// `None` for bases in a database, where each change is one transaction.
    lock: Option<FolderLock>,
}

impl fmt::Debug for MadeBases {
    /// An address holds a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MadeBases")
            .field("folder", &shown_base(&self.folder))
            .finish_non_exhaustive()
    }
}

impl MadeBases {
    /// The folder that the settings name; by default `law.bases` beside the base `law`, or
    /// `pikerag.bases` beside `.pikerag`. If the usual base is in a database, and the settings name no
    /// folder, they are in the database.
    pub fn of(settings: &Settings) -> Self {
        let beside = || {
            if Location::is_address(&settings.base) {
                return settings.base.clone();
            }
            let base = folder_of(&settings.base);
            let name = base.file_name().and_then(|name| name.to_str()).unwrap_or("base");
            base.with_file_name(format!("{}.bases", name.trim_start_matches('.')))
        };
        let folder = settings.server.bases_folder.clone().unwrap_or_else(beside);
        let database = Location::is_address(&folder).then(|| DatabaseBases::at(&folder));
        Self { folder, database }
    }

    /// The folders of the bases by name. Incomplete and removed bases are absent. If two have the
    /// same name, the first folder by name counts.
    pub fn all(&self) -> BTreeMap<String, PathBuf> {
        if let Some(database) = &self.database {
            return database.read().unwrap_or_else(|error| {
                warn!(error = error_chain(&error), "the made bases cannot be listed");
                BTreeMap::new()
            });
        }
        by_name(self.folders(is_own)).0
    }

    /// As [`MadeBases::all`], for a caller who must not take an unreadable base for a removed one.
    ///
    /// # Errors
    /// The folder, or the name of a base, cannot be read.
    pub fn read(&self) -> io::Result<BTreeMap<String, PathBuf>> {
        if let Some(database) = &self.database {
            return database.read();
        }
        match by_name(self.list(is_own)?) {
            (all, None) => Ok(all),
            (_, Some(error)) => Err(error),
        }
    }

    /// Digits that differ if a server made, renamed or removed a base meanwhile. To find its bases,
    /// read the digits first and [`MadeBases::all`] after them. It costs the reading of one small
    /// file.
    pub fn version(&self) -> String {
        if let Some(database) = &self.database {
            return database.version();
        }
        lock::version(&self.folder)
    }

    /// Locks the folder, which it makes if it is missing, against changes by other servers. Names
    /// that are free under the lock stay free. It blocks for 10 seconds at most.
    ///
    /// # Errors
    /// Another server holds the lock for longer, or the folder cannot be written.
    pub fn lock(&self) -> io::Result<LockedBases> {
        let lock = match &self.database {
            Some(_) => None,
            None => Some(FolderLock::of(&self.folder)?),
        };
        Ok(LockedBases { bases: self.clone(), lock })
    }

    /// Removes what earlier processes left: bases that were not complete or not begun, and files of
    /// deleted bases. A server calls it when it starts. A base that another server is making stays.
    pub fn finish_removals(&self) {
        if let Some(database) = &self.database {
            return database.finish_removals();
        }
        if self.left_behind().is_empty() {
            return;
        }
        let _locked = match self.lock() {
            Ok(locked) => locked,
            Err(error) => {
                let folder = self.folder.display();
                warn!(%folder, %error, "files of deleted bases remain until the next start");
                return;
            }
        };
        // Another server may have completed its base meanwhile.
        for left in self.left_behind() {
            if let Err(error) = remove_ours(&left) {
                warn!(folder = %left.display(), %error, "files of a deleted base cannot be removed");
            }
        }
    }

    /// The folders that no server needs, if none is making or removing a base now.
    fn left_behind(&self) -> Vec<PathBuf> {
        let is_left = |name: &str| {
            let parts = name.rsplit_once('.');
            parts.is_some_and(|(own, end)| is_own(own) && [NEW, REMOVED].contains(&end))
        };
        let not_begun = self.folders(is_own).into_iter().filter(|own| is_not_begun(own));
        let left = self.folders(is_left).into_iter().chain(not_begun);
        left.filter(|left| has_only_ours(left)).collect()
    }

    /// The folder of a base with its name and uploads. A base elsewhere is an error, so that nothing
    /// else can be removed.
    fn own(&self, base: &Path) -> io::Result<PathBuf> {
        let own = base.parent().filter(|own| own.parent() == Some(self.folder.as_path()));
        let elsewhere = || io::Error::new(ErrorKind::NotFound, "the base is in another folder");
        own.map(Path::to_owned).ok_or_else(elsewhere)
    }

    /// The folders whose names fit, in order; none if they cannot be listed.
    fn folders(&self, fits: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        self.list(fits).unwrap_or_else(|error| {
            warn!(folder = %self.folder.display(), %error, "its bases cannot be listed");
            Vec::new()
        })
    }

    fn list(&self, fits: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let is_ours = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            // A link is not followed: its target does not belong to this folder.
            let is_folder = fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
            is_folder && name.is_some_and(&fits)
        };
        let mut folders = Vec::new();
        for entry in entries {
            folders.extend(Some(entry?.path()).filter(&is_ours));
        }
        folders.sort();
        Ok(folders)
    }
}

impl LockedBases {
    /// Makes the folder of a new base, and returns the folder of the base in it. After a crash, the
    /// folder is complete or absent. [`MadeBases::finish_removals`] removes it if the crash came
    /// before [`begin_base`]. Keep the lock until [`begin_base`] has ended: it protects the base from
    /// other servers that start.
    ///
    /// # Errors
    /// A folder or a file cannot be written. [`ErrorKind::AlreadyExists`] if another server over the
    /// same database has made a base of this name.
    pub fn make(&self, name: &str) -> io::Result<PathBuf> {
        if let Some(database) = &self.bases.database {
            return database.make(name);
        }
        let folder = &self.bases.folder;
        let own = folder.join(format!("{name}-{}", random()?));
        let new = own.with_extension(NEW);
        let base = new.join(BASE);
        fs::create_dir_all(&base)?;
        fs::create_dir_all(UploadPlaces::beside(&base).folder())?;
        fs::write(new.join(IGNORE.0), IGNORE.1)?;
        write(&new, name)?;
        fs::rename(&new, &own)?;
        sync(folder)?;
        self.note_change();
        Ok(own.join(BASE))
    }

    /// Gives the base in a folder another name.
    ///
    /// # Errors
    /// The name cannot be written; the base then keeps its name.
    pub fn rename(&self, base: &Path, name: &str) -> io::Result<()> {
        if let Some(database) = &self.bases.database {
            return database.rename(base, name);
        }
        write(&self.bases.own(base)?, name)?;
        self.note_change();
        Ok(())
    }

    /// Removes the base in a folder with its uploads. From its first step on the base is gone: files
    /// that a crash or an error leaves are removed by [`MadeBases::finish_removals`]. Files of others
    /// in its own folder stay there. It blocks for 2 seconds at most while another server uses the
    /// base.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if a server uses the base for longer, or the first step failed; the
    /// base is unchanged.
    pub fn remove(&self, base: &Path) -> io::Result<()> {
        if let Some(database) = &self.bases.database {
            return database.remove(base);
        }
        let own = self.bases.own(base)?;
        let _unused = Unused::of(&own)?;
        let removed = own.with_extension(REMOVED);
        fs::rename(&own, &removed)?;
        // The base is gone already: an error here does not bring it back.
        let synced = sync(&self.bases.folder);
        self.note_change();
        if let Err(error) = remove_ours(&removed).and(synced) {
            let folder = removed.display();
            warn!(%folder, %error, "files of a deleted base remain");
        }
        Ok(())
    }
}

impl LockedBases {
    fn note_change(&self) {
        if let Some(lock) = &self.lock {
            lock.note_change();
        }
    }
}

/// The folders of bases by the names that their own folders hold, and the first name that cannot be
/// read.
fn by_name(folders: Vec<PathBuf>) -> (BTreeMap<String, PathBuf>, Option<io::Error>) {
    let (mut all, mut unread) = (BTreeMap::new(), None);
    for own in folders {
        let name = match fs::read_to_string(own.join(NAME)) {
            Ok(name) => name.trim().to_owned(),
            Err(error) => {
                warn!(folder = %own.display(), %error, "it holds no name of a base");
                // Another server may have removed it after it was listed.
                unread = unread.or(Some(error).filter(|error| error.kind() != ErrorKind::NotFound));
                continue;
            }
        };
        if !is_base_name(&name) || all.contains_key(&name) {
            warn!(folder = %own.display(), name, "the name of this base is bad or used twice");
            continue;
        }
        all.insert(name, own.join(BASE));
    }
    (all, unread)
}

/// Whether [`LockedBases::make`] could have given this name to a folder: `law-1f0c44a2`.
fn is_own(folder: &str) -> bool {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    folder.rsplit_once('-').is_some_and(|(name, digits)| {
        is_base_name(name) && digits.len() == DIGITS && digits.chars().all(is_digit)
    })
}

/// Whether a folder contains nothing but the parts of a base, so that it may be removed.
fn has_only_ours(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut entries = entries.map(|entry| entry.ok()?.file_name().into_string().ok());
    entries.all(|name| name.is_some_and(|name| ENTRIES.contains(&name.as_str())))
}

/// Whether a base has neither a database nor an upload, so that nobody has used it.
fn is_not_begun(own: &Path) -> bool {
    let is_empty =
        |part: &str| fs::read_dir(own.join(part)).is_ok_and(|mut entries| entries.next().is_none());
    [BASE, UPLOADS].into_iter().all(is_empty)
}

/// Removes the parts of a base, and its folder if it is then empty.
fn remove_ours(folder: &Path) -> io::Result<()> {
    for entry in ENTRIES {
        let path = folder.join(entry);
        let removed = match fs::symlink_metadata(&path) {
            // A link is removed, and its target stays.
            Ok(about) if about.is_dir() => fs::remove_dir_all(&path),
            Ok(_) => fs::remove_file(&path),
            Err(error) => Err(error),
        };
        if let Err(error) = removed
            && error.kind() != ErrorKind::NotFound
        {
            return Err(error);
        }
    }
    fs::remove_dir(folder)
}

/// Writes the name of a base, completely or not at all.
fn write(own: &Path, name: &str) -> io::Result<()> {
    let (place, beside) = (own.join(NAME), own.join(NEW_NAME));
    let mut file = File::create(&beside)?;
    writeln!(file, "{name}")?;
    file.sync_all()?;
    fs::rename(&beside, &place)?;
    sync(own)
}

/// Makes added and removed names of a folder survive a power failure.
fn sync(folder: &Path) -> io::Result<()> {
    // The folder of a name without a path.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

/// Random hexadecimal digits, so that no folder is used twice.
fn random() -> io::Result<String> {
    random_hex::<{ DIGITS / 2 }>().map_err(|error| io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_use::InUse;

    fn made() -> (tempfile::TempDir, MadeBases) {
        let place = tempfile::tempdir().unwrap();
        let bases = MadeBases { folder: place.path().join("pikerag.bases"), database: None };
        (place, bases)
    }

    fn make(bases: &MadeBases, name: &str) -> PathBuf {
        let locked = bases.lock().unwrap();
        locked.make(name).unwrap()
    }

    fn rename(bases: &MadeBases, base: &Path, name: &str) -> io::Result<()> {
        let locked = bases.lock().unwrap();
        locked.rename(base, name)
    }

    fn remove(bases: &MadeBases, base: &Path) -> io::Result<()> {
        let locked = bases.lock().unwrap();
        locked.remove(base)
    }

    /// What the folder contains beside the file of the lock.
    fn entries(bases: &MadeBases) -> Vec<PathBuf> {
        let entries = fs::read_dir(&bases.folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| !path.ends_with(".lock")).collect()
    }

    fn names(bases: &MadeBases) -> Vec<String> {
        bases.all().into_keys().collect()
    }

    #[test]
    fn bases_are_beside_the_usual_base_unless_a_folder_is_set() {
        let mut settings = Settings::defaults().unwrap();
        for (base, folder) in
            [(".pikerag", "pikerag.bases"), ("a/law", "a/law.bases"), ("law", "law.bases")]
        {
            settings.base = base.into();
            assert_eq!(MadeBases::of(&settings).folder, Path::new(folder), "{base}");
        }
        settings.server.bases_folder = Some("elsewhere".into());
        assert_eq!(MadeBases::of(&settings).folder, Path::new("elsewhere"));
    }

    #[test]
    fn a_renamed_base_keeps_its_folder_and_a_removed_one_leaves_nothing() {
        let (_place, bases) = made();
        assert_eq!(names(&bases), [""; 0]);
        let (law, tea) = (make(&bases, "law"), make(&bases, "tea"));
        fs::write(law.join("base.sqlite"), "x").unwrap();
        assert_eq!(names(&bases), ["law", "tea"]);
        rename(&bases, &law, "statutes").unwrap();
        assert_eq!(bases.all()["statutes"], law);
        let again = make(&bases, "law");
        assert_ne!(again, law, "no folder is used twice");
        remove(&bases, &law).unwrap();
        assert_eq!(names(&bases), ["law", "tea"]);
        assert!(!law.parent().unwrap().exists());
        remove(&bases, &tea).unwrap();
        remove(&bases, &again).unwrap();
        assert!(entries(&bases).is_empty(), "no file is left");
    }

    #[test]
    fn a_deletion_keeps_files_of_others() {
        let (place, bases) = made();
        let law = make(&bases, "law");
        let outside = place.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept.md"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, law.join("link")).unwrap();
        let own = law.parent().unwrap();
        fs::write(own.join("notes.md"), "x").unwrap();
        remove(&bases, &law).unwrap();
        assert_eq!(names(&bases), [""; 0]);
        let removed = own.with_extension(REMOVED);
        let left = fs::read_dir(&removed).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["notes.md"]);
        assert!(outside.join("kept.md").exists());
        bases.finish_removals();
        assert!(removed.join("notes.md").exists());
    }

    #[test]
    fn what_a_crash_leaves_is_no_base_and_is_removed_at_the_start() {
        let (_place, bases) = made();
        let law = make(&bases, "law");
        fs::write(law.join("base.sqlite"), "x").unwrap();
        let own = law.parent().unwrap().to_owned();
        for left in [own.with_extension(REMOVED), bases.folder.join("tea-00000000.new")] {
            fs::create_dir_all(left.join(BASE)).unwrap();
            write(&left, "tea").unwrap();
            assert_eq!(names(&bases), ["law"], "{}", left.display());
        }
        // A crash before the base was begun, and an upload into a base without a database.
        make(&bases, "oil");
        let gas = make(&bases, "gas");
        fs::write(UploadPlaces::beside(&gas).folder().join("a.md"), "x").unwrap();
        bases.finish_removals();
        assert_eq!(names(&bases), ["gas", "law"]);
        let left = entries(&bases);
        assert!(left.len() == 2 && left.contains(&own), "{left:?}");
    }

    #[test]
    fn folders_of_others_with_similar_names_are_left_alone() {
        let (_place, bases) = made();
        let others = ["law.new", "notes-12345678.removed", "tea-1.new", "oil-ABCDEF01.removed"];
        for name in others {
            let folder = bases.folder.join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("notes.md"), "x").unwrap();
        }
        bases.finish_removals();
        assert_eq!(entries(&bases).len(), others.len());
    }

    #[test]
    fn bases_elsewhere_and_bad_names_are_left_alone() {
        let (place, bases) = made();
        make(&bases, "law");
        let elsewhere = place.path().join("own");
        fs::create_dir_all(&elsewhere).unwrap();
        assert!(remove(&bases, &elsewhere).is_err() && elsewhere.exists());
        assert!(rename(&bases, &elsewhere, "x").is_err());
        let twice = bases.folder.join("zzz-00000001");
        fs::create_dir_all(&twice).unwrap();
        for name in ["law", "../x", "default", ""] {
            write(&twice, name).unwrap();
            assert_eq!(names(&bases), ["law"], "{name:?}");
        }
    }

    #[test]
    fn one_of_several_servers_makes_a_name() {
        let (_place, bases) = made();
        let try_make = || {
            let locked = bases.lock().unwrap();
            let is_free = !bases.all().contains_key("law");
            is_free && locked.make("law").is_ok()
        };
        let n_made: usize = std::thread::scope(|scope| {
            let servers: Vec<_> = (0..8).map(|_| scope.spawn(try_make)).collect();
            servers.into_iter().map(|one| usize::from(one.join().unwrap())).sum()
        });
        assert_eq!((n_made, entries(&bases).len()), (1, 1));
    }

    #[test]
    fn a_starting_server_spares_a_base_that_another_one_is_making() {
        let (_place, bases) = made();
        let locked = bases.lock().unwrap();
        let law = locked.make("law").unwrap();
        std::thread::scope(|scope| {
            let starting = scope.spawn(|| bases.finish_removals());
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(law.exists(), "the start waits for the lock");
            fs::write(law.join("base.sqlite"), "x").unwrap();
            drop(locked);
            starting.join().unwrap();
        });
        assert_eq!(names(&bases), ["law"]);
    }

    #[test]
    fn other_servers_see_that_a_base_was_made_renamed_or_removed() {
        let (_place, bases) = made();
        let mut versions = vec![bases.version()];
        let law = make(&bases, "law");
        versions.push(bases.version());
        rename(&bases, &law, "statutes").unwrap();
        versions.push(bases.version());
        remove(&bases, &law).unwrap();
        versions.push(bases.version());
        assert!(versions.windows(2).all(|pair| pair[0] != pair[1]), "{versions:?}");
    }

    #[test]
    fn a_base_that_a_server_uses_is_not_removed() {
        let (_place, bases) = made();
        let law = make(&bases, "law");
        let used = InUse::of(law.parent().unwrap()).unwrap();
        assert_eq!(remove(&bases, &law).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(names(&bases), ["law"]);
        rename(&bases, &law, "statutes").unwrap();
        drop(used);
        remove(&bases, &law).unwrap();
        assert!(entries(&bases).is_empty(), "no file is left");
    }

    #[test]
    fn an_unreadable_name_is_no_removed_base() {
        let (_place, bases) = made();
        let law = make(&bases, "law");
        make(&bases, "tea");
        let name = law.with_file_name(NAME);
        fs::remove_file(&name).unwrap();
        // A folder in place of the file cannot be read, not even by root.
        fs::create_dir(&name).unwrap();
        assert!(bases.read().is_err());
        assert_eq!(names(&bases), ["tea"]);
        fs::remove_dir(&name).unwrap();
        assert_eq!(bases.read().unwrap().into_keys().collect::<Vec<_>>(), ["tea"]);
    }
}
