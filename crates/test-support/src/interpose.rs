//! Makes a system call fail, or ends the process, at a chosen call, with a small library that `cc`
//! builds and the loader puts before the C library.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::absent;

const SOURCE: &str = include_str!("interpose.c");

/// The effect at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No effect: calls are only counted.
    None,
    /// The process is killed before the call.
    Kill,
    /// The process is killed after the call has written half.
    Tear,
    /// The disk is full from this write on. Only calls that need disk space are counted.
    Full,
}

/// The library, and its counter of calls.
pub struct Interposer {
    folder: TempDir,
}

impl Interposer {
    /// Builds the library; `None` on systems other than Linux, or without a compiler.
    ///
    /// # Panics
    /// The compiler rejects the source.
    #[must_use]
    pub fn build() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            absent("LD_PRELOAD", "is Linux's");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("interpose.c"), SOURCE).unwrap();
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-o", "interpose.so", "interpose.c"])
            .current_dir(folder.path())
            .output();
        match built {
            Ok(built) => {
                let errors = String::from_utf8_lossy(&built.stderr);
                assert!(built.status.success(), "cc refuses interpose.c: {errors}");
                Some(Self { folder })
            }
            Err(error) => {
                absent("cc", &format!("is not installed: {error}"));
                None
            }
        }
    }

    /// Loads the library into a program: `trouble` happens at the `at`th call, from 1, that changes
    /// a file under a folder.
    ///
    /// # Panics
    /// The counter cannot be written.
    pub fn put_before(&self, program: &mut Command, under: &Path, trouble: Trouble, at: u64) {
        let counter = self.folder.path().join("counter");
        File::create(&counter).unwrap().set_len(8).unwrap();
        let trouble = match trouble {
            Trouble::None => "none",
            Trouble::Kill => "kill",
            Trouble::Tear => "tear",
            Trouble::Full => "full",
        };
        program
            .env("LD_PRELOAD", self.folder.path().join("interpose.so"))
            .env("TROUBLE_UNDER", under)
            .env("TROUBLE_COUNT", counter)
            .env("TROUBLE_AT", at.to_string())
            .env("TROUBLE", trouble);
    }

    /// The calls counted since [`Self::put_before`].
    ///
    /// # Panics
    /// [`Self::put_before`] was not called.
    #[must_use]
    pub fn counted(&self) -> u64 {
        let bytes = fs::read(self.folder.path().join("counter")).unwrap();
        u64::from_ne_bytes(bytes.try_into().unwrap())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::{Interposer, Trouble};

    /// A shell writes three lines. Returns the lines that are left, whether it succeeded, and the
    /// counted calls.
    fn written(trouble: Trouble, at: u64) -> Option<(String, bool, u64)> {
        let interposer = Interposer::build()?;
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "for n in one two three; do echo $n >> file 2>> errors || exit 7; done"]);
        interposer.put_before(shell.current_dir(&place), &place, trouble, at);
        let succeeded = shell.stderr(std::process::Stdio::null()).status().unwrap().success();
        let left = fs::read_to_string(place.join("file")).unwrap_or_default();
        Some((left, succeeded, interposer.counted()))
    }

    #[test]
    fn trouble_happens_at_the_nth_call() {
        for (trouble, at, left, succeeds) in [
            (Trouble::None, 1, "one\ntwo\nthree\n", true),
            (Trouble::Kill, 2, "one\n", false),
            (Trouble::Tear, 2, "one\ntw", false),
            (Trouble::Kill, 9, "one\ntwo\nthree\n", true),
            (Trouble::Full, 3, "one\ntwo\n", false),
        ] {
            let Some((file, succeeded, counted)) = written(trouble, at) else { return };
            assert_eq!((file.as_str(), succeeded), (left, succeeds), "{trouble:?} at {at}");
            assert!(counted.min(at) == at || succeeded, "{counted}");
        }
    }
}
