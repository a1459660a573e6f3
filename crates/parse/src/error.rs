//! Why was a file not read?

use serde::{Deserialize, Serialize};

/// Why a file gave nothing: one variant per advice to the user.
///
/// It crosses a process boundary as JSON, hence causes are told in words, not kept as errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "error")]
pub enum ParseError {
    /// The file has no bytes: it was never written, or not copied to the end.
    #[error("`{name}` is empty: check that it was saved or copied completely")]
    Empty {
        /// The file's name as the user gave it.
        name: String,
    },
    /// The file is larger than [`crate::Limits::max_bytes`]; nothing of it was read.
    #[error(
        "`{name}` has {bytes} bytes, more than the limit of {limit}: split it or raise the limit"
    )]
    TooLarge {
        /// The file's name as the user gave it.
        name: String,
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A format that is known, but not read.
    #[error("`{name}` is {seen}: {hint}")]
    Unsupported {
        /// The file's name as the user gave it.
        name: String,
        /// What it seems to be, such as `a PDF`.
        seen: String,
        /// What the user may do about it, as a request: `unpack it and …`.
        hint: String,
    },
    /// There is no such page.
    #[error("`{name}` has {pages} pages, and page {page} was asked for")]
    NoPage {
        /// The file's name as the user gave it.
        name: String,
        /// The page, from 1.
        page: u32,
        /// How many there are.
        pages: u32,
    },
    /// Binary data of no known format.
    #[error(
        "`{name}` is not text: it holds {found}; if it is a document, convert it to text first"
    )]
    NotText {
        /// The file's name as the user gave it.
        name: String,
        /// What it holds and text does not, such as `zero bytes`.
        found: String,
    },
    /// The file breaks the rules of its format from the start.
    #[error(
        "`{name}` is not readable as {format}: {reason}; open it in its program and save it again; if it is plain text, rename it to .txt"
    )]
    Malformed {
        /// The file's name as the user gave it.
        name: String,
        /// The format that it was read as.
        format: String,
        /// What breaks the rules, and where.
        reason: String,
    },
    /// Read without fault, but there is no text in it.
    #[error("`{name}` holds no text: check that it is the file you meant")]
    NothingInside {
        /// The file's name as the user gave it.
        name: String,
    },
}

impl ParseError {
    /// The file of this name breaks the rules of a format.
    pub(crate) fn malformed(name: &str, format: &str, reason: impl std::fmt::Display) -> Self {
        let (name, format, reason) = (name.to_owned(), format.to_owned(), reason.to_string());
        Self::Malformed { name, format, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::NAMES;
    use crate::{Limits, NoTools, parse};

    #[test]
    fn errors_cross_a_process_boundary() {
        let limits = Limits { max_bytes: 9, ..Limits::default() };
        for bytes in [&b""[..], b"%PDF", b"a\0", b"{", b" ", b"0123456789"] {
            for name in NAMES {
                let Err(error) = parse(name, bytes, &limits, &NoTools) else { continue };
                let json = serde_json::to_string(&error).unwrap();
                assert_eq!(serde_json::from_str::<ParseError>(&json).unwrap(), error);
            }
        }
    }
}
