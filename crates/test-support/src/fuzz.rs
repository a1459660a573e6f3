//! Fuzzes targets: plain functions of bytes with a folder of files as corpus. Each target has two
//! tests: one replays the corpus, one runs mutants of it. `cargo xtask fuzz` repeats the second for
//! any length of time, each round with new mutants.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::random::Random;

/// The variable that sets the number of mutants for a target.
const CASES: &str = "PIKERAG_FUZZ_CASES";
/// The variable that sets the seed of the mutants.
const SEED: &str = "PIKERAG_FUZZ_SEED";
/// The default number of mutants.
const FEW: u64 = 32;

/// Byte sequences that have a meaning in some format.
const PIECES: [&[u8]; 36] = [
    b"\0",
    b"\xff",
    b"\n",
    b"\n\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\"",
    b"\\",
    b"\\u0000",
    b"{",
    b"}",
    b"[",
    b"]",
    b"<",
    b">",
    b"</",
    b"/>",
    b"&#0;",
    b"&lt;",
    b"```",
    b"# ",
    b"| ",
    b"0",
    b"-1",
    b"1e999",
    b"4294967296",
    b"null",
    b"true",
    b",",
    b": ",
    b"%s",
    b"\xef\xbb\xbf",
    "检索。".as_bytes(),
    "\u{202e}".as_bytes(),
    b"\xc3",
];

/// Makes two tests of each target, `NAME::replays` and `NAME::mutants`, from a function of bytes
/// and the folder of its corpus below the crate's. Each target begins a line, so that `cargo xtask
/// fuzz` finds it.
#[macro_export]
macro_rules! fuzz_targets {
    ($($name:ident in $corpus:expr => $target:expr;)+) => { $(
        mod $name {
            #[allow(unused_imports, reason = "a target may use items of its module")]
            use super::*;

            #[test]
            fn replays() {
                $crate::fuzz::replay(env!("CARGO_MANIFEST_DIR"), $corpus, $target);
            }

            #[test]
            fn mutants() {
                $crate::fuzz::mutants(env!("CARGO_MANIFEST_DIR"), $corpus, stringify!($name), $target);
            }
        }
    )+ };
}

/// Makes targets for readers of replies, which share one corpus.
#[macro_export]
macro_rules! fuzz_replies {
    ($($name:ident: $reply:ty),+ $(,)?) => {
        $crate::fuzz_targets! { $(
            $name in "../test-support/corpus/replies" => |bytes: &[u8]| {
                let text = String::from_utf8_lossy(bytes);
                if let Err(reason) = <$reply as ::pikerag_prompt::Reply>::read(&text) {
                    assert!(!reason.to_string().is_empty());
                }
            };
        )+ }
    };
}

/// Runs a target on every file of the corpus.
///
/// # Panics
/// The target fails, or there is no corpus.
pub fn replay(package: &str, corpus: &str, target: impl Fn(&[u8])) {
    for (path, bytes) in files(package, corpus) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&bytes))) {
            report(&path);
            resume_unwind(panic);
        }
    }
}

/// Runs a target on mutants of the corpus. A mutant on which the target fails is added to the
/// corpus, so that later runs replay it. A mutant that ends the process stays in the folder for
/// temporary files as `pikerag-fuzz-NAME-…`.
///
/// # Panics
/// The target fails, or there is no corpus.
pub fn mutants(package: &str, corpus: &str, name: &str, target: impl Fn(&[u8])) {
    let number = |name: &str| Some(std::env::var(name).ok()?.parse::<u64>().unwrap());
    let (cases, seed) = (number(CASES).unwrap_or(FEW), number(SEED).unwrap_or_default());
    let files = files(package, corpus);
    let inputs: Vec<&Vec<u8>> = files.iter().map(|(_, bytes)| bytes).collect();
    let mut random = Random::new(seed);
    // The only record of an input that ends the process.
    let running = std::env::temp_dir().join(format!("pikerag-fuzz-{name}-{}", std::process::id()));
    for _ in 0..cases {
        let mutant = mutated(&inputs, &mut random);
        fs::write(&running, &mutant).unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| target(&mutant)));
        fs::remove_file(&running).unwrap();
        if let Err(panic) = outcome {
            let hash = blake3::hash(&mutant).to_hex();
            let found =
                Path::new(package).join(corpus).join(format!("found-{name}-{}", &hash[..12]));
            fs::write(&found, &mutant).unwrap();
            report(&found);
            resume_unwind(panic);
        }
    }
}

#[expect(clippy::print_stderr, reason = "the person who runs the tests must see it")]
fn report(path: &Path) {
    eprintln!("the target fails on {}", path.display());
}

/// The corpus, sorted by name.
fn files(package: &str, corpus: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(package).join(corpus);
    let listed =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
    let files: Vec<_> = paths.into_iter().map(read).collect();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files
}

/// One of the inputs, changed in a few places; for an archive, sometimes changed inside an entry.
fn mutated(inputs: &[&Vec<u8>], random: &mut Random) -> Vec<u8> {
    let input = *random.one(inputs);
    if input.starts_with(b"PK\x03\x04")
        && random.below(4) != 0
        && let Some(archive) = repacked(input, random)
    {
        return archive;
    }
    let other = *random.one(inputs);
    changed(input, other, random)
}

fn changed(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        let end = at + random.below(bytes.len() - at + 1).min(1 << random.below(10));
        match random.below(7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = *random.one(&PIECES);
                bytes.splice(at..at, piece.iter().copied());
            }
            3 => {
                let again = bytes[at..end].repeat(1 + random.below(9));
                bytes.splice(at..at, again);
            }
            4 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            5 if !other.is_empty() => {
                let from = random.below(other.len());
                let to = from + random.below(other.len() - from + 1).min(200);
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            _ if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
    bytes
}

/// An archive with one of its entries changed; `None` if the input is no archive.
fn repacked(input: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(input)).ok()?;
    let chosen = random.below(archive.len().max(1));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for place in 0..archive.len() {
        let mut entry = archive.by_index(place).ok()?;
        let (name, mut bytes) = (entry.name().ok()?.into_owned(), Vec::new());
        entry.read_to_end(&mut bytes).ok()?;
        if place == chosen {
            bytes = changed(&bytes, &bytes, random);
        }
        writer.start_file(name, SimpleFileOptions::default()).ok()?;
        writer.write_all(&bytes).ok()?;
    }
    Some(writer.finish().ok()?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::panic::catch_unwind;

    use super::{mutants, replay};

    #[test]
    fn a_failing_input_is_kept_and_replayed() {
        let package = tempfile::tempdir().unwrap();
        let folder = package.path().join("corpus/one");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.txt"), "{\"a\": 1}").unwrap();
        let package = package.path().to_str().unwrap().to_owned();
        let target = |bytes: &[u8]| assert!(!bytes.ends_with(b"}") || bytes.starts_with(b"{"));
        replay(&package, "corpus/one", target);
        // Deterministic: some of these mutants lack the beginning.
        let found = catch_unwind(|| {
            for _ in 0..40 {
                mutants(&package, "corpus/one", "one", |bytes| assert!(bytes.starts_with(b"{")));
            }
        });
        assert!(found.is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        assert!(
            catch_unwind(|| replay(&package, "corpus/one", |bytes| assert!(
                bytes.starts_with(b"{")
            )))
            .is_err()
        );
    }
}
