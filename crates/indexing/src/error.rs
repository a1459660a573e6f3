//! Defines the reasons why a file cannot be indexed.

use pikerag_parse::ParseError;
use serde::{Serialize, Serializer};

use crate::database_fault::DatabaseFault;

const MIB: f64 = 1_048_576.0;

/// Why a file cannot be read. Its JSON form is its message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant explains its fields")]
pub enum FileError {
    /// The operating system refuses access.
    #[error("it cannot be read: {reason}")]
    Unreadable { reason: String },
    /// No file has this path.
    #[error("there is no such file")]
    Missing,
    /// The folder contains no file that can be read.
    #[error("it is a folder without files")]
    EmptyFolder,
    /// Its name is valid in no encoding, or another file has the decoded name.
    #[error("its name is not UTF-8, and no other encoding gives a name of its own")]
    NotUtf8,
    /// It is a folder, a link, a pipe or a device.
    #[error("it is a link, a folder or a device, not a file")]
    NotRegular,
    /// It is larger than the limit; nothing was read.
    #[error("it has {:.1} MiB, over the limit of {} MiB", *bytes as f64 / MIB, most >> 20)]
    TooLarge { bytes: u64, most: u64 },
    /// Its unpacked content is larger than the limit.
    #[error("its content unpacks to more than {most} MiB")]
    Unfolds { most: u64 },
    /// Reading was stopped after this time.
    #[error("reading it took longer than {seconds} s")]
    TooSlow { seconds: u64 },
    /// Reading was stopped after this processor time.
    #[error("reading it took more than {seconds} s of processor time")]
    TooMuchWork { seconds: u64 },
    /// Reading needs more memory than the limit.
    #[error("reading it needs more than {mib} MiB of memory")]
    TooMuchMemory { mib: u64 },
    /// The parser ended without a result.
    #[error("the parser failed on it ({reason}); nothing was stored")]
    Crashed { reason: String },
    /// The parser could not be started, or its output could not be read.
    #[error("the parser cannot be used: {reason}")]
    NoParser { reason: String },
    /// The parser read it and found nothing to store.
    #[error(transparent)]
    Refused(#[from] ParseError),
    /// Its documents contain no text.
    #[error("it holds no text")]
    NoText,
    /// It is a database or a table of one.
    #[error(transparent)]
    Database(#[from] DatabaseFault),
}

impl FileError {
    /// Whether nothing is lost without the file, so that the run is complete.
    pub(crate) fn is_notice(&self) -> bool {
        matches!(self, Self::Refused(ParseError::Redirect { .. }))
    }

    /// A short name of the error for programs; it does not change between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "file-unreadable",
            Self::Missing => "file-missing",
            Self::EmptyFolder => "folder-empty",
            Self::NotUtf8 => "file-name-not-utf8",
            Self::NotRegular => "file-not-regular",
            Self::TooLarge { .. } => "file-too-large",
            Self::Unfolds { .. } => "file-unpacks-too-large",
            Self::TooSlow { .. } => "file-too-slow",
            Self::TooMuchWork { .. } => "file-too-much-work",
            Self::TooMuchMemory { .. } => "file-too-much-memory",
            Self::Crashed { .. } => "parser-crashed",
            Self::NoParser { .. } => "no-parser",
            Self::Refused(error) => error.code(),
            Self::NoText => "file-without-text",
            Self::Database(fault) => fault.code(),
        }
    }
}

impl Serialize for FileError {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}
