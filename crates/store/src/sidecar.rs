//! Keeps vector codes in a file beside the database, so that they survive a restart. The file's
//! stamp names the last entry of the vector log that the codes include. If anything is wrong with
//! the file, the codes are rebuilt.

use std::fs;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use blake3::Hasher;
use pikerag_scan::Codes;

use crate::error::is_refusal;

const MAGIC: &[u8; 8] = b"pkvec\x00\x00\x02";

/// Bytes of the hash of all preceding bytes.
const CHECKSUM: usize = blake3::OUT_LEN;

/// Writes codes so that a crash leaves either the old file or the new one.
pub(crate) fn save(path: &Path, stamp: &str, codes: &Codes) -> io::Result<()> {
    // One save at a time in this process, because the draft's name contains the process id.
    static SAVING: Mutex<()> = Mutex::new(());
    let _saving = SAVING.lock().unwrap_or_else(PoisonError::into_inner);
    // Two processes may save at once: each writes its own draft, and the last rename wins.
    let draft = path.with_extension(format!("draft{}", std::process::id()));
    let saved = write(&draft, stamp, codes).and_then(|()| fs::rename(&draft, path));
    if saved.is_err() {
        let _ = fs::remove_file(&draft);
    }
    saved
}

fn write(draft: &Path, stamp: &str, codes: &Codes) -> io::Result<()> {
    let mut file = Hashed { file: BufWriter::new(fs::File::create(draft)?), hash: Hasher::new() };
    file.write_all(MAGIC)?;
    for number in [stamp.len(), codes.dimensions, codes.ids.len()] {
        file.write_all(&(number as u64).to_le_bytes())?;
    }
    file.write_all(stamp.as_bytes())?;
    for id in codes.ids.iter().chain(&codes.owners) {
        file.write_all(&id.to_le_bytes())?;
    }
    for scale in &codes.scales {
        file.write_all(&scale.to_le_bytes())?;
    }
    file.write_all(&codes.codes)?;
    let Hashed { mut file, hash } = file;
    file.write_all(hash.finalize().as_bytes())?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// The state of a file of codes.
#[derive(Debug, PartialEq)]
pub(crate) enum Sidecar {
    /// There is no file.
    Absent,
    /// It was made from another state of the base, or by another version.
    Stale,
    /// Its bytes are not those that were written.
    Damaged,
    /// Codes, with a stamp that the caller accepts.
    Codes(String, Codes),
}

/// Codes with their stamp. `None` if the file is absent, from another version or damaged, or if
/// `accept` rejects its stamp.
///
/// # Errors
/// See [`inspect`].
pub(crate) fn load(
    path: &Path,
    accept: impl FnOnce(&str) -> bool,
) -> io::Result<Option<(String, Codes)>> {
    Ok(match inspect(path, accept)? {
        Sidecar::Codes(stamp, codes) => Some((stamp, codes)),
        Sidecar::Damaged => {
            tracing::warn!(path = %path.display(), "the vector codes are damaged; they are rebuilt");
            None
        }
        Sidecar::Absent | Sidecar::Stale => None,
    })
}

/// Determines the state of the file at `path`.
///
/// # Errors
/// The system cannot read the file now, which does not mean that it is damaged.
pub(crate) fn inspect(path: &Path, accept: impl FnOnce(&str) -> bool) -> io::Result<Sidecar> {
    match fs::File::open(path).and_then(|file| read_all(file, accept)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Sidecar::Absent),
        Err(error) if !is_refusal(&error) => Ok(Sidecar::Damaged),
        inspected => inspected,
    }
}

fn read_all(mut file: fs::File, accept: impl FnOnce(&str) -> bool) -> io::Result<Sidecar> {
    let length = file.metadata()?.len();
    let mut magic = [0; 8];
    file.read_exact(&mut magic)?;
    if &magic != MAGIC {
        let is_older = magic.starts_with(b"pkvec");
        return Ok(if is_older { Sidecar::Stale } else { Sidecar::Damaged });
    }
    let mut hash = Hasher::new();
    hash.update(&magic);
    let mut head = [[0; 8]; 3];
    for number in &mut head {
        file.read_exact(number)?;
        hash.update(number);
    }
    let Some([stamp_length, dimensions, count]) = lengths(head, length) else {
        return Ok(Sidecar::Damaged);
    };
    let Ok(stamp) = String::from_utf8(read(&mut file, &mut hash, stamp_length)?) else {
        return Ok(Sidecar::Damaged);
    };
    if !accept(&stamp) {
        return Ok(Sidecar::Stale);
    }
    let mut ids = numbers(&read(&mut file, &mut hash, count * 16)?, u64::from_le_bytes);
    let owners = ids.split_off(count);
    let scales = numbers(&read(&mut file, &mut hash, count * 4)?, f32::from_le_bytes);
    let codes = read(&mut file, &mut hash, count * dimensions)?;
    let mut checksum = [0; CHECKSUM];
    file.read_exact(&mut checksum)?;
    if hash.finalize() != checksum {
        return Ok(Sidecar::Damaged);
    }
    Ok(Sidecar::Codes(stamp, Codes { dimensions, ids, owners, scales, codes, ..Codes::default() }))
}

/// Bytes of the stamp, dimensions and number of vectors; `None` if they do not fit the file's
/// length.
fn lengths(head: [[u8; 8]; 3], length: u64) -> Option<[usize; 3]> {
    let [stamp, dimensions, count] = head.map(|it| usize::try_from(u64::from_le_bytes(it)));
    let (stamp, dimensions, count) = (stamp.ok()?, dimensions.ok()?, count.ok()?);
    let body = dimensions.checked_mul(count)?.checked_add(count.checked_mul(20)?)?;
    let expected = body.checked_add(stamp)?.checked_add(32 + CHECKSUM)?;
    (expected as u64 == length).then_some([stamp, dimensions, count])
}

fn read(file: &mut fs::File, hash: &mut Hasher, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    hash.update(&bytes);
    Ok(bytes)
}

/// A writer that hashes the bytes written.
struct Hashed<W> {
    file: W,
    hash: Hasher,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn numbers<const N: usize, T>(bytes: &[u8], decode: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|chunk| decode(*chunk)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes_of_two() -> Codes {
        let mut codes = Codes::default();
        assert!(codes.push(7, 8, &[0.6, 0.8]) && codes.push(9, 9, &[1.0, 0.0]));
        codes
    }

    #[test]
    fn loads_only_whole_files_with_an_accepted_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.codes");
        let codes = codes_of_two();
        let load =
            |stamp: &str| load(&path, |found| found == stamp).unwrap().map(|(_, codes)| codes);
        save(&path, "base:3", &codes).unwrap();
        assert_eq!(load("base:3"), Some(codes));
        assert_eq!(load("base:4"), None);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(load("base:3"), None);
        assert_eq!(inspect(&path, |found| found == "base:3").unwrap(), Sidecar::Damaged);
        fs::write(&path, b"").unwrap();
        assert_eq!(load("base:3"), None);
        // Any changed byte prevents loading; one in the stamp makes the file look stale.
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert_eq!(load("base:3"), None, "{at}");
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(inspect(&path, |found| found == "base:3").unwrap(), Sidecar::Absent);
        // A save that cannot rename its draft removes the draft.
        fs::create_dir(&path).unwrap();
        assert!(save(&path, "base:3", &codes_of_two()).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
