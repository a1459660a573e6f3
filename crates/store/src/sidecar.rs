//! How do vector codes survive a restart? In a file beside the database, stamped with the
//! generation they were made from; any doubt means: build them again.

use std::fs;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use crate::scan::Codes;

const MAGIC: &[u8; 8] = b"pkvec\x00\x00\x01";

/// Writes codes so that a crash leaves either the old file or the new one.
pub(crate) fn save(path: &Path, stamp: &str, codes: &Codes) -> std::io::Result<()> {
    // Two processes may save at once: each its own draft, and the last rename wins.
    let draft = path.with_extension(format!("draft{}", std::process::id()));
    let mut file = BufWriter::new(fs::File::create(&draft)?);
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
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&draft, path)
}

/// Codes with their stamp; `None` where the file is absent or damaged, or its stamp is not accepted.
pub(crate) fn load(path: &Path, accept: impl FnOnce(&str) -> bool) -> Option<(String, Codes)> {
    let mut file = fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut magic = [0; 8];
    file.read_exact(&mut magic).ok()?;
    let mut head = [[0; 8]; 3];
    for number in &mut head {
        file.read_exact(number).ok()?;
    }
    let [stamp_length, dimensions, count] = head.map(u64::from_le_bytes);
    let expected = dimensions
        .checked_mul(count)?
        .checked_add(count.checked_mul(20)?)?
        .checked_add(32 + stamp_length)?;
    if &magic != MAGIC || expected != length {
        return None;
    }
    let stamp = String::from_utf8(read(&mut file, usize::try_from(stamp_length).ok()?)?).ok()?;
    if !accept(&stamp) {
        return None;
    }
    let count = usize::try_from(count).ok()?;
    let mut bytes = read(&mut file, count * 16)?;
    let mut ids = numbers(&bytes, u64::from_le_bytes);
    let owners = ids.split_off(count);
    bytes = read(&mut file, count * 4)?;
    let scales = numbers(&bytes, f32::from_le_bytes);
    let dimensions = usize::try_from(dimensions).ok()?;
    let codes = read(&mut file, count * dimensions)?;
    Some((stamp, Codes { dimensions, ids, owners, scales, codes, ..Codes::default() }))
}

fn read(file: &mut fs::File, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn numbers<const N: usize, T>(bytes: &[u8], decode: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|chunk| decode(*chunk)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_stamp_and_a_whole_file_are_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.codes");
        let mut codes = Codes::default();
        assert!(codes.push(7, 8, &[0.6, 0.8]) && codes.push(9, 9, &[1.0, 0.0]));
        let load = |stamp: &str| load(&path, |found| found == stamp).map(|(_, codes)| codes);
        save(&path, "base:3", &codes).unwrap();
        assert_eq!(load("base:3"), Some(codes));
        assert_eq!(load("base:4"), None);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(load("base:3"), None);
        fs::write(&path, b"").unwrap();
        assert_eq!(load("base:3"), None);
    }
}
