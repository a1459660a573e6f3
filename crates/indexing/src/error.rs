//! Why was a file not indexed?

use pikerag_parse::ParseError;
use serde::{Serialize, Serializer};

const MIB: f64 = 1_048_576.0;

/// Why a file cannot be read. As JSON it is its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum FileError {
    /// The system does not let us.
    #[error("it cannot be read: {reason}")]
    Unreadable { reason: String },
    /// It has no file.
    #[error("there is no such file")]
    Missing,
    /// A folder without any file that could be read.
    #[error("it is a folder that holds no file")]
    EmptyFolder,
    /// Its name is no text.
    #[error("its name is not UTF-8")]
    NotUtf8,
    /// A folder, a link, a pipe, a device.
    #[error("it is no file, but a link, a folder or a device")]
    NotRegular,
    /// Larger than is allowed; nothing of it was read.
    #[error("it has {:.1} MiB, and more than {} MiB are not read", *bytes as f64 / MIB, most >> 20)]
    TooLarge { bytes: u64, most: u64 },
    /// What it holds, unpacked, is larger than is allowed.
    #[error("what it holds unfolds to more than {most} MiB")]
    Unfolds { most: u64 },
    /// It was given up after this time.
    #[error("reading it took longer than {seconds} s")]
    TooSlow { seconds: u64 },
    /// It was given up after this processor time.
    #[error("reading it took more than {seconds} s of processor time")]
    TooMuchWork { seconds: u64 },
    /// It needs more memory than is allowed.
    #[error("reading it needs more than {mib} MiB of memory")]
    TooMuchMemory { mib: u64 },
    /// The parser ended without a result.
    #[error("the parser failed on it ({reason}); nothing of it was kept")]
    Crashed { reason: String },
    /// The parser could not be started, or not be heard.
    #[error("the parser cannot be used: {reason}")]
    NoParser { reason: String },
    /// The parser has read it, and found nothing to keep.
    #[error(transparent)]
    Refused(#[from] ParseError),
    /// Its documents hold no text.
    #[error("it holds no text")]
    NoText,
}

impl Serialize for FileError {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}
