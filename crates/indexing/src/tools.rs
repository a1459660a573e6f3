//! Defines the tools of indexing: the base, the file reader and the models.

use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{ChatModels, Embedder, KnowledgeWriter, Role};
use pikerag_parse::Parsed;

use super::error::FileError;
use super::outcome::Progress;
use super::plan::Available;

/// Opens files for indexing, by their names in the base. The product uses a limited child process, tests
/// a table.
#[async_trait]
pub trait FileReader: Send + Sync {
    /// BLAKE3 of the file's bytes, in hexadecimal.
    ///
    /// # Errors
    /// The file cannot be read, or is larger than allowed.
    async fn hash(&self, path: &str) -> Result<String, FileError>;

    /// The file's documents, and the hash of the bytes that they were read from. The file may have
    /// changed since [`Self::hash`].
    ///
    /// # Errors
    /// Nothing can be read from the file.
    async fn parse(&self, path: &str) -> Result<ReadFile, FileError>;

    /// Ends connections to databases. Indexing calls it once no further table is read, perhaps
    /// several times; files are still read afterwards. An open transaction burdens its server, and
    /// the rest of indexing may take hours.
    async fn finish(&self) {}
}

/// The content of a file at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadFile {
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
    /// Its documents.
    pub parsed: Parsed,
}

/// The tools of indexing.
#[derive(Clone)]
pub struct Tools {
    /// The base to read and write; each write is one transaction.
    pub base: Arc<dyn KnowledgeWriter>,
    /// Hashes and parses files.
    pub reader: Arc<dyn FileReader>,
    /// Chat models by role. A stage whose role has no model runs by rules or is left out.
    pub models: ChatModels,
    /// Makes vectors. Without it, search compares words alone and no tree is built.
    pub embedder: Option<Arc<dyn Embedder>>,
}

impl Tools {
    /// The roles that these models serve, and whether there is an embedder.
    pub fn available(&self) -> Available {
        let has = |role: &Role| self.models.of(*role).is_some();
        Available {
            chat: Role::ALL.iter().copied().filter(has).collect(),
            embedder: self.embedder.is_some(),
        }
    }
}

/// Receives progress between calls in flight, so it must be fast.
pub type Watch<'a> = &'a (dyn Fn(Progress) + Send + Sync);
