//! Defines the findings of a check: the parts of a base, their health, and the facts about them.

use serde::Serialize;

/// A part of a base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The database, which holds all content.
    Database,
    /// The texts of documents and chunks.
    Texts,
    /// The bytes of the indexed files.
    Originals,
    /// The full-text index, which is derived.
    FullText,
    /// The codes of a set of vectors, which are derived.
    Vectors(String),
    /// Files that earlier versions and dead processes left behind.
    Leftovers,
    /// Forgotten content that must be overwritten.
    Forgetting,
}

/// The health of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// The part is intact.
    Sound,
    /// A derived part is missing or outdated; the next search builds it.
    Behind,
    /// The part is damaged.
    Damaged,
}

/// The result of checking a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The part.
    pub part: Part,
    /// Its health, after the repair if there was one.
    pub health: Health,
    /// The content of the part, or its faults, in English.
    pub says: String,
    /// The same as a fact, for other languages.
    pub fact: CheckFact,
    /// Whether the part was damaged and is repaired.
    pub repaired: bool,
}

/// The content of a part, or its faults. `Display` gives the English words; the code, in JSON, is stable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum CheckFact {
    /// The content of the database.
    #[error("{chunks} chunks, {calls} calls on record, {runs} runs")]
    Counts { chunks: usize, calls: usize, runs: usize },
    /// Intact documents.
    #[error("{documents} documents")]
    Documents { documents: usize },
    /// Documents whose text does not match its hash.
    #[error("{damaged} of {documents} documents have changed since they were read")]
    ChangedDocuments { damaged: usize, documents: usize },
    /// Intact originals.
    #[error("{originals} kept")]
    Originals { originals: usize },
    /// Originals that do not match their hash.
    #[error("{damaged} of {originals} have changed since they were read")]
    ChangedOriginals { damaged: usize, originals: usize },
    /// The chunks of the full-text index.
    #[error("{chunks} chunks")]
    Chunks { chunks: usize },
    /// The vectors of a set.
    #[error("{vectors} vectors")]
    Vectors { vectors: usize },
    /// A derived part that does not exist yet.
    #[error("not built yet")]
    NotBuilt,
    /// A derived part of an earlier state.
    #[error("behind the database")]
    Behind,
    /// The full-text index cannot be opened.
    #[error("it cannot be opened")]
    NotOpened,
    /// The full-text index cannot be read.
    #[error("it cannot be read")]
    NotRead,
    /// Files do not match their checksums; the vectors of a set have no list.
    #[error("wrong checksum{}{}", if files.is_empty() { "" } else { ": " }, files.join(", "))]
    WrongChecksum { files: Vec<String> },
    /// The full-text index does not have the chunks of the database.
    #[error("{missing} chunks are missing, {more} are no longer in the database")]
    OtherChunks { missing: usize, more: usize },
    /// The codes of vectors are not those of the database.
    #[error("they differ from the database")]
    OtherVectors,
    /// There are no leftovers.
    #[error("none")]
    NoLeftovers,
    /// Files that earlier versions and dead processes left behind.
    #[error("{}", files.join(", "))]
    Leftovers { files: Vec<String> },
    /// All forgotten content is overwritten.
    #[error("nothing is left to overwrite")]
    NothingToOverwrite,
    /// Forgotten content is still on the disk.
    #[error("forgotten content is not overwritten yet")]
    NotOverwritten,
    /// Faults as the database reports them, in its own words.
    #[error("{}", faults.join("; "))]
    Faults { faults: Vec<String> },
}
