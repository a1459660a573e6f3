//! Defines why a file gives no documents.

use serde::{Deserialize, Serialize};

/// Why a file gives no documents: one variant per advice to the user.
///
/// It crosses a process boundary as JSON, so causes are texts, not errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "error")]
pub enum ParseError {
    /// The file has no bytes: it was not written, or not copied to the end.
    #[error("`{name}` is empty: check that it was saved or copied completely")]
    Empty {
        /// The file's name from the user.
        name: String,
    },
    /// The file is larger than the limit of the reader; nothing of it was read.
    #[error(
        "`{name}` has {bytes} bytes, more than the limit of {limit}: split it or raise the limit"
    )]
    TooLarge {
        /// The file's name from the user.
        name: String,
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A known format that is not supported.
    #[error("`{name}` is {seen}: {hint}")]
    Unsupported {
        /// The file's name from the user.
        name: String,
        /// Its apparent kind, such as `a PDF`.
        seen: String,
        /// Advice to the user, as an imperative: `unpack it and …`.
        hint: String,
    },
    /// The file has no page with this number.
    #[error("`{name}` has {pages} pages, and page {page} was asked for")]
    NoPage {
        /// The file's name from the user.
        name: String,
        /// The page, from 1.
        page: u32,
        /// The number of pages.
        pages: u32,
    },
    /// Binary data of an unknown format.
    #[error(
        "`{name}` is not text: it holds {found}; if it is a document, convert it to text first"
    )]
    NotText {
        /// The file's name from the user.
        name: String,
        /// Its content that text never has, such as `zero bytes`.
        found: String,
    },
    /// The file breaks the rules of its format from the start.
    #[error(
        "`{name}` is not readable as {format}: {reason}; open it in its program and save it again; if it is plain text, rename it to .txt"
    )]
    Malformed {
        /// The file's name from the user.
        name: String,
        /// The format that it was read as.
        format: String,
        /// The broken rule, and its place.
        reason: String,
    },
    /// A page that only leads readers to another one.
    #[error("`{name}` only redirects to {to}: index that page instead")]
    Redirect {
        /// The file's name from the user.
        name: String,
        /// The address of the other page, as written.
        to: String,
    },
    /// The file is valid, but has no text.
    #[error("`{name}` holds no text: check that it is the file you meant")]
    NothingInside {
        /// The file's name from the user.
        name: String,
    },
}

impl ParseError {
    /// A short name of the error for programs; it does not change between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "file-empty",
            Self::TooLarge { .. } => "file-too-large",
            Self::Unsupported { .. } => "format-unsupported",
            Self::NoPage { .. } => "no-such-page",
            Self::NotText { .. } => "file-not-text",
            Self::Malformed { .. } => "file-malformed",
            Self::Redirect { .. } => "page-redirects",
            Self::NothingInside { .. } => "file-without-text",
        }
    }

    /// The file with this name breaks the rules of a format.
    pub fn malformed(name: &str, format: &str, reason: impl std::fmt::Display) -> Self {
        let (name, format, reason) = (name.to_owned(), format.to_owned(), reason.to_string());
        Self::Malformed { name, format, reason }
    }
}
