//! Shows the files that would cost most, and signs that they are no documents.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use pikerag_indexing::estimate::FileCost;
use serde::Serialize;
use utoipa::ToSchema;

use super::kinds::{OmittedKind, kind_of_content, kind_of_name};
use crate::settings::FileChoice;

/// The shortest line that looks wrong, in bytes.
const LONG_LINE: u64 = 500_000;

/// A file that would cost more than most others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct CostlyFile {
    /// Its name in the base.
    pub file: String,
    /// Its chunks.
    pub chunks: usize,
    /// Calls to chat models.
    pub calls: usize,
    /// Tokens of these calls, and tokens to embed.
    pub tokens: u64,
    /// The kind for which it would be left out if it were found in a folder.
    #[schema(required)]
    pub looks_like: Option<OmittedKind>,
    /// Bytes of its longest line, if that is too long for a line of text.
    #[schema(required)]
    pub longest_line: Option<u64>,
}

impl CostlyFile {
    /// Inspects a file at its place.
    pub(crate) fn inspected(cost: FileCost, at: &Path, choice: &FileChoice) -> Self {
        let FileCost { file, chunks, calls, tokens } = cost;
        let name = at.file_name().and_then(|name| name.to_str());
        let by_name = name.and_then(|name| kind_of_name(name, choice));
        let looks_like = by_name.or_else(|| kind_of_content(at));
        Self { file, chunks, calls, tokens, looks_like, longest_line: long_line(at) }
    }

    /// Whether something about the file looks wrong.
    pub fn looks_wrong(&self) -> bool {
        self.looks_like.is_some() || self.longest_line.is_some()
    }
}

/// The bytes of the longest line of a text, if it is too long.
fn long_line(at: &Path) -> Option<u64> {
    let mut reader = BufReader::new(File::open(at).ok()?);
    let (mut longest, mut line) = (0, 0);
    loop {
        let bytes = reader.fill_buf().ok()?;
        if bytes.is_empty() {
            break;
        }
        if bytes.contains(&0) {
            // It is not a text.
            return None;
        }
        for byte in bytes {
            line = if *byte == b'\n' { 0 } else { line + 1 };
            longest = longest.max(line);
        }
        let read = bytes.len();
        reader.consume(read);
    }
    (LONG_LINE <= longest).then_some(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_and_kinds_look_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let inspected = |name: &str, text: &str| {
            let at = folder.path().join(name);
            std::fs::write(&at, text).unwrap();
            let cost = FileCost { file: name.to_owned(), ..FileCost::default() };
            let file = CostlyFile::inspected(cost, &at, &FileChoice::default());
            assert_eq!(
                file.looks_wrong(),
                file.looks_like.is_some() || file.longest_line.is_some()
            );
            (file.looks_like, file.longest_line)
        };
        assert_eq!(inspected("a.md", "words\nand more words\n"), (None, None));
        assert_eq!(inspected("a.js", "words\n"), (Some(OmittedKind::Asset), None));
        let long = format!("words\n{}\nwords", "x".repeat(600_000));
        assert_eq!(inspected("a.txt", &long), (None, Some(600_000)));
        assert_eq!(inspected("a.pdf", &long.replace('w', "\0")), (None, None));
    }
}
