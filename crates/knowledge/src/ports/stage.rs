//! Which stages work piece by piece, and under which names is their progress kept?

use crate::graph::{AtomKind, ChunkKind};
use crate::id::TagClassId;
use crate::records::RecordSchema;

/// How the stages of embedders begin.
const EMBED: &str = "embed:";

/// A stage that works piece by piece, mostly chunk by chunk, and whose progress is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage(pub String);

impl Stage {
    /// Atomizing into one kind of atom.
    pub fn atomize(kind: AtomKind) -> Self {
        Self(format!("atomize:{}", kind.as_str()))
    }

    /// Reading records under a schema: what stands there plainly, or what a model reads in texts.
    pub fn records(schema: &RecordSchema, by: RecordsBy) -> Self {
        let by = match by {
            RecordsBy::Rules => "rules",
            RecordsBy::Model => "model",
        };
        Self(format!("records:{}:{:016x}:{by}", schema.name, schema.hash().0))
    }

    /// Finding the typed table that rows belong to.
    pub fn tables() -> Self {
        Self("tables".to_owned())
    }

    /// Saying what chunks of a kind hold: tables, figures.
    pub fn describe(kind: ChunkKind) -> Self {
        Self(format!("describe:{}", kind.as_str()))
    }

    /// Saying what documents are about.
    pub fn summarize_sources() -> Self {
        Self("describe:source".to_owned())
    }

    /// Putting together what many chunks say of an entity or relation.
    pub fn describe_entities() -> Self {
        Self("describe:entity".to_owned())
    }

    /// Reporting on communities.
    pub fn report() -> Self {
        Self("report:community".to_owned())
    }

    /// Summing up clusters of the tree.
    pub fn summarize_clusters() -> Self {
        Self("summarize:cluster".to_owned())
    }

    /// Making vectors by an embedder, of texts of every set. Vectors leave no marks: only refusals are kept so.
    pub fn embed(embedder: &str) -> Self {
        Self(format!("{EMBED}{embedder}"))
    }

    /// Whether it makes vectors, by whichever embedder.
    pub fn is_of_vectors(&self) -> bool {
        self.0.starts_with(EMBED)
    }

    /// Whether its nodes are chunks, each with a mark once it is done.
    pub fn is_of_chunks(&self) -> bool {
        let others = [
            Self::summarize_sources(),
            Self::describe_entities(),
            Self::report(),
            Self::summarize_clusters(),
        ];
        !others.contains(self) && !self.is_of_vectors()
    }

    /// Looking for tags of a class.
    pub fn tag(class: TagClassId) -> Self {
        Self(format!("tag:{class}"))
    }

    /// Finding entities and relations: by a model, or by names alone.
    pub fn extract(by: ExtractBy) -> Self {
        Self(match by {
            ExtractBy::Model => "extract:model".to_owned(),
            ExtractBy::Names => "extract:names".to_owned(),
        })
    }
}

/// Who reads records out of chunks; each is pending for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordsBy {
    /// Nobody: they stand in tables, lines and metadata.
    Rules,
    /// A language model, asked chunk by chunk.
    Model,
}

/// Who finds entities and relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractBy {
    /// A language model, asked chunk by chunk.
    Model,
    /// The finder of proper names.
    Names,
}
