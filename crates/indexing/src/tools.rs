//! What does indexing work with?

use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{ChatModels, Embedder, KnowledgeWriter, Role};
use pikerag_parse::Parsed;

use super::error::FileError;
use super::outcome::Progress;
use super::plan::Available;

/// Opens files for indexing, by the names that the base knows them by: in the product a limited child process, in
/// tests a table.
#[async_trait]
pub trait FileReader: Send + Sync {
    /// BLAKE3 of the file's bytes, in hexadecimal.
    ///
    /// # Errors
    /// The file cannot be read, or is larger than allowed.
    async fn hash(&self, path: &str) -> Result<String, FileError>;

    /// The file's documents, and the hash of the very bytes that they were read from: the file may be another by
    /// the time that it is looked at again.
    ///
    /// # Errors
    /// Nothing could be read from it.
    async fn parse(&self, path: &str) -> Result<ReadFile, FileError>;
}

/// What was read of a file at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadFile {
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
    /// Its documents.
    pub parsed: Parsed,
}

/// What indexing works with.
#[derive(Clone)]
pub struct Tools {
    /// Where all is read from and written to; each write is one transaction.
    pub base: Arc<dyn KnowledgeWriter>,
    /// Hashes and parses files.
    pub reader: Arc<dyn FileReader>,
    /// Chat models by role; where a role has none, rules serve or the stage is left out.
    pub models: ChatModels,
    /// Makes vectors; without it, search is by words alone, and no tree grows.
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

/// Is told of progress between calls in flight: it must be quick.
pub type Watch<'a> = &'a (dyn Fn(Progress) + Send + Sync);
