//! Reads the entries of ZIP files by name, with limits on all that a file may demand.

use pikerag_knowledge::ProblemFact;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Cursor, Read, Seek};

use encoding_rs::{Encoding, UTF_8};
use zip::ZipArchive;
use zip::read::ZipFileEntry;

use super::encoding::guess;
use crate::{ParseError, Problems};

/// The most entries of an archive; one with more is refused.
const MOST_ENTRIES: usize = 50_000;
/// Most bytes of one entry, unpacked.
const LARGEST_ENTRY: u64 = 128 << 20;
/// Most bytes of all entries, unpacked: as declared, and as really read.
const LARGEST_SUM: u64 = 512 << 20;
/// A larger entry that grows by more than this factor when unpacked is refused as hostile.
const MOST_GROWTH: (u64, u64) = (16 << 20, 300);
/// The start of each entry of the directory at the end of the file.
const ENTRY: &[u8] = b"PK\x01\x02";

/// An archive with its directory; entries are unpacked on request, within limits.
pub struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Names of files, as callers use them, in the order of the directory.
    names: Vec<String>,
    /// Index in the archive by name, and by name in lower case.
    places: HashMap<String, usize>,
    /// Bytes that may still be unpacked.
    left: u64,
}

impl<'a> Archive<'a> {
    /// Reads the directory; `file` is the name for messages. Skips names that lead out of the
    /// archive and names that occur twice, as problems.
    ///
    /// # Errors
    /// No directory, an encrypted entry, or a limit is exceeded.
    pub fn open(file: &str, bytes: &'a [u8], problems: &mut Problems) -> Result<Self, ParseError> {
        // Counts first, because reading the directory costs memory for each entry.
        let n_entries = bytes.windows(ENTRY.len()).filter(|window| *window == ENTRY).count();
        if MOST_ENTRIES < n_entries {
            return Err(refused(
                file,
                &format!(
                    "an archive of {n_entries} entries, more than the limit of {MOST_ENTRIES}"
                ),
            ));
        }
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| ParseError::malformed(file, "a ZIP archive", error))?;
        let encoding = encoding_of_names(&zip);
        let mut archive =
            Self { zip, names: Vec::new(), places: HashMap::new(), left: LARGEST_SUM };
        let (mut sum, mut outside, mut twice) = (0u64, 0usize, 0usize);
        for place in 0..archive.zip.len() {
            let Ok(entry) = archive.zip.by_index_data(place) else { continue };
            if entry.encrypted() {
                return Err(ParseError::Unsupported {
                    name: file.to_owned(),
                    seen: "encrypted".to_owned(),
                    hint: "open it with its password and save it without one".to_owned(),
                });
            }
            let raw = name_of(&entry, encoding);
            sum = sum.saturating_add(entry.size());
            if LARGEST_SUM < sum {
                return Err(refused(
                    file,
                    &format!("an archive that unpacks to more than {} MiB", LARGEST_SUM >> 20),
                ));
            }
            let steep = entry.compressed_size().max(1).saturating_mul(MOST_GROWTH.1);
            if MOST_GROWTH.0 < entry.size() && steep < entry.size() {
                let grows = entry.size() / entry.compressed_size().max(1);
                return Err(refused(
                    file,
                    &format!(
                        "an archive whose entry `{raw}` grows to {grows} times its size when unpacked"
                    ),
                ));
            }
            let Some(name) = inside(&raw) else {
                outside += 1;
                continue;
            };
            if name.ends_with('/') {
                continue;
            }
            if archive.places.contains_key(&name) {
                twice += 1;
                continue;
            }
            archive.places.entry(name.to_lowercase()).or_insert(place);
            archive.places.insert(name.clone(), place);
            archive.names.push(name);
        }
        if 0 < outside {
            problems.add("", ProblemFact::OutsidePaths { entries: outside });
        }
        if 0 < twice || archive.zip.has_duplicate_names() {
            problems.add("", ProblemFact::RepeatedNames);
        }
        Ok(archive)
    }

    /// Names of all files, in the order of the directory, with `/` between folders.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether an entry has this name.
    pub fn has(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// Unpacks one entry. `None` if no entry has this name or, as a problem, if it is damaged or
    /// too large. Case may differ.
    pub fn entry(&mut self, name: &str, problems: &mut Problems) -> Option<Vec<u8>> {
        let place = self.place(name)?;
        let limit = LARGEST_ENTRY.min(self.left);
        let mut file = match self.zip.by_index(place) {
            Ok(file) => file,
            Err(error) => {
                problems.add(name, ProblemFact::NotUnpacked { reason: error.to_string() });
                return None;
            }
        };
        let mut bytes = Vec::new(); // It grows while reading, because the declared size may be false.
        let read = (&mut file).take(limit + 1).read_to_end(&mut bytes);
        self.left -= limit.min(bytes.len() as u64);
        if limit < bytes.len() as u64 {
            problems.add(name, ProblemFact::UnpacksTooMuch { mib: limit >> 20 });
            return None;
        }
        if let Err(error) = read {
            // The checksum fails only at the end, so the bytes before the damage are unreliable
            // too.
            problems.add(name, ProblemFact::NotUnpacked { reason: error.to_string() });
            return None;
        }
        Some(bytes)
    }

    fn place(&self, name: &str) -> Option<usize> {
        let place = self.places.get(name).or_else(|| self.places.get(&name.to_lowercase()));
        place.copied()
    }
}

/// The kind of document that an archive declares in its entry `mimetype` or else in the content
/// types of its parts; `None` if it declares none.
pub fn declared_type(bytes: &[u8]) -> Option<String> {
    if MOST_ENTRIES < bytes.windows(ENTRY.len()).filter(|window| *window == ENTRY).count() {
        return None;
    }
    let mut zip = ZipArchive::new(Cursor::new(bytes)).ok()?;
    for (name, limit) in [("mimetype", 200), ("[Content_Types].xml", 4 << 20)] {
        let Ok(entry) = zip.by_name(name) else { continue };
        let mut declared = Vec::new();
        if entry.take(limit).read_to_end(&mut declared).is_ok() {
            return Some(String::from_utf8_lossy(&declared).into_owned());
        }
    }
    None
}

/// Resolves a reference in the file `from`: `../media/a.png` in `ppt/slides/s1.xml` gives
/// `ppt/media/a.png`. A reference that begins with `/` starts at the root.
pub fn resolve(from: &str, reference: &str) -> String {
    let folder = if reference.starts_with('/') {
        ""
    } else {
        from.rsplit_once('/').map_or("", |(folder, _)| folder)
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(reference.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Refuses a file that is hostile or exceeds a limit.
fn refused(file: &str, seen: &str) -> ParseError {
    ParseError::Unsupported {
        name: file.to_owned(),
        seen: seen.to_owned(),
        hint: "it is not unpacked; if you trust it, open it in its program and save it in parts"
            .to_owned(),
    }
}

/// Guesses the encoding of names that are not UTF-8 from all of them together. Archives from
/// Windows do not declare it; archives from China use GBK.
fn encoding_of_names<R: Read + Seek>(zip: &ZipArchive<R>) -> &'static Encoding {
    let mut names = Vec::new();
    for place in 0..zip.len() {
        let Ok(entry) = zip.by_index_data(place) else { continue };
        if std::str::from_utf8(entry.name_raw()).is_err() {
            names.extend_from_slice(entry.name_raw());
            names.push(b'\n');
        }
    }
    match names.is_empty() {
        true => UTF_8,
        false => guess(&names, None),
    }
}

fn name_of(entry: &ZipFileEntry, encoding: &'static Encoding) -> String {
    let raw = entry.name_raw();
    let name = match std::str::from_utf8(raw) {
        Ok(name) => Cow::Borrowed(name),
        Err(_) => encoding.decode_without_bom_handling(raw).0,
    };
    name.replace('\\', "/")
}

/// The name, unless it leads out of the archive.
fn inside(name: &str) -> Option<String> {
    let leads_out = name.starts_with('/')
        || name.contains('\0')
        || name.split('/').any(|part| part == "..")
        || name.as_bytes().get(1) == Some(&b':');
    (!leads_out && !name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// A ZIP file with these entries.
    fn packed(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in entries {
            writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            std::io::Write::write_all(&mut writer, content.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    /// The names and contents of an archive, and its problems.
    fn list(bytes: &[u8]) -> String {
        let mut problems = Problems::default();
        let mut archive = match Archive::open("a.docx", bytes, &mut problems) {
            Ok(archive) => archive,
            Err(error) => return error.to_string(),
        };
        let names: Vec<String> = archive.names().map(str::to_owned).collect();
        let mut drawn = String::new();
        for name in names {
            let bytes = archive.entry(&name, &mut problems).unwrap_or_default();
            writeln!(drawn, "{name}: {}", String::from_utf8_lossy(&bytes)).unwrap();
        }
        for problem in problems.finish() {
            writeln!(drawn, "! {}: {}", problem.place, problem.reason).unwrap();
        }
        drawn
    }

    #[test]
    fn entries_by_name() {
        let bytes = packed(&[("a/B.xml", "x"), ("../out", "y"), ("/root", "z"), ("c\\d", "w")]);
        insta::assert_snapshot!(list(&bytes), @"
        a/B.xml: x
        c/d: w
        ! : 2 entries have paths outside the archive: they were skipped
        ");
        let resolved = [
            resolve("ppt/slides/s1.xml", "../media/a.png"),
            resolve("word/document.xml", "/word/./b.png"),
            resolve("", "../../etc/passwd"),
        ];
        assert_eq!(resolved, ["ppt/media/a.png", "word/b.png", "etc/passwd"]);
    }

    /// Windows in China writes names in GBK and does not declare it.
    #[test]
    fn names_in_gbk_are_decoded() {
        let mut bytes = packed(&[("XXXXXX.md", "x"), ("plain.md", "y")]);
        while let Some(at) = bytes.windows(6).position(|window| window == b"XXXXXX") {
            bytes[at..at + 6].copy_from_slice(b"\xb1\xa8\xbc\xdb\xb5\xa5");
        }
        insta::assert_snapshot!(list(&bytes), @"
        报价单.md: x
        plain.md: y
        ");
    }

    #[test]
    fn archives_above_a_limit_are_refused() {
        let bomb = packed(&[("word/document.xml", &" ".repeat(20 << 20))]);
        insta::assert_snapshot!(list(&bomb), @"`a.docx` is an archive whose entry `word/document.xml` grows to 1028 times its size when unpacked: it is not unpacked; if you trust it, open it in its program and save it in parts");
        let many = [b"PK\x03\x04".as_slice(), &ENTRY.repeat(MOST_ENTRIES + 1)].concat();
        insta::assert_snapshot!(list(&many), @"`a.docx` is an archive of 50001 entries, more than the limit of 50000: it is not unpacked; if you trust it, open it in its program and save it in parts");
    }

    #[test]
    fn damaged_and_encrypted_archives_are_reported() {
        let good = packed(&[("a", "some text"), ("b", "other text")]);
        let directory = good.windows(4).position(|window| window == ENTRY).unwrap();
        let mut encrypted = good.clone();
        encrypted[directory + 8] |= 1;
        insta::assert_snapshot!(list(&encrypted), @"`a.docx` is encrypted: open it with its password and save it without one");
        let mut lying = good.clone();
        lying[directory + 24..directory + 28].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
        insta::assert_snapshot!(list(&lying), @"`a.docx` is an archive that unpacks to more than 512 MiB: it is not unpacked; if you trust it, open it in its program and save it in parts");
        let mut damaged = good.clone();
        damaged[directory + 16] ^= 1; // The checksum of the entry.
        insta::assert_snapshot!(list(&damaged), @"
        a: 
        b: other text
        ! a: cannot be unpacked: Invalid checksum
        ");
        insta::assert_snapshot!(list(&good[..good.len() / 2]), @"`a.docx` is not readable as a ZIP archive: invalid Zip archive: Could not find EOCD; open it in its program and save it again; if it is plain text, rename it to .txt");
    }
}
