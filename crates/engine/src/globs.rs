//! Parses the globs of files that users take or leave out, and matches them below a folder.

use std::path::Path;
use std::str::FromStr;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tracing::warn;

/// A glob as in `.gitignore`, relative to a folder: `*.js`, `drafts/`, `/build/**`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileGlob(String);

/// A text that is not a glob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{glob}` is not a glob: {reason}")]
pub struct BadGlob {
    /// The text.
    pub glob: String,
    /// The reason, in English.
    pub reason: String,
}

impl FromStr for FileGlob {
    type Err = BadGlob;

    fn from_str(glob: &str) -> Result<Self, BadGlob> {
        let bad = |reason: String| BadGlob { glob: glob.to_owned(), reason };
        if glob.trim().is_empty() {
            return Err(bad("it is empty".to_owned()));
        }
        // In `.gitignore`, these lines are comments and exceptions.
        if glob.starts_with(['#', '!']) {
            return Err(bad("it begins with `#` or `!`; put a backslash before it".to_owned()));
        }
        let mut builder = GitignoreBuilder::new("/");
        let added = builder.add_line(None, glob).map(|_| ());
        match added.and_then(|()| builder.build()) {
            Ok(_) => Ok(Self(glob.to_owned())),
            Err(ignore::Error::Glob { err, .. }) => Err(bad(err)),
            Err(error) => Err(bad(error.to_string())),
        }
    }
}

/// Matches paths below a folder with globs; a match is an `Ignore`.
pub(crate) fn matcher(folder: &Path, globs: &[FileGlob]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    for FileGlob(glob) in globs {
        if let Err(error) = builder.add_line(None, glob) {
            warn!(glob, %error, "the glob is not used");
        }
    }
    builder.build().unwrap_or_else(|error| {
        warn!(%error, "the globs are not used");
        Gitignore::empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_checked_when_they_are_parsed() {
        for glob in ["*.js", "drafts/", "/build/**", "[ab].md", "\\#notes"] {
            assert!(glob.parse::<FileGlob>().is_ok(), "{glob}");
        }
        for bad in ["", "  ", "#notes", "!x.md", "{a", "[z-a]"] {
            let error = bad.parse::<FileGlob>().unwrap_err();
            assert_eq!(error.glob, bad);
            assert!(!error.reason.is_empty(), "{bad}");
        }
    }

    #[test]
    fn globs_match_below_their_folder() {
        let globs = ["*.js", "/drafts/"].map(|glob| glob.parse::<FileGlob>().unwrap());
        let globs = matcher(Path::new("/docs"), &globs);
        let matches = |path: &str, is_folder| globs.matched(path, is_folder).is_ignore();
        assert!(matches("/docs/a.js", false) && matches("/docs/sub/b.js", false));
        assert!(matches("/docs/drafts", true) && !matches("/docs/sub/drafts", true));
        assert!(!matches("/docs/drafts", false) && !matches("/docs/a.md", false));
    }
}
