//! Names the stages that work item by item, for the record of their progress.

use crate::graph::{AtomKind, ChunkKind};
use crate::id::TagClassId;
use crate::records::RecordSchema;

/// The prefix of the stages of embedders.
const EMBED: &str = "embed:";

/// A stage that works item by item, mostly chunk by chunk, and whose progress is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage(pub String);

impl Stage {
    /// Atomizing into one kind of atom.
    pub fn atomize(kind: AtomKind) -> Self {
        Self(format!("atomize:{}", kind.as_str()))
    }

    /// Atomizing what several chunks of a section or document say together.
    pub fn atomize_sections() -> Self {
        Self("atomize:section".to_owned())
    }

    /// Reading records under a schema: by rules, or by a model.
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

    /// Describing chunks of a kind: tables, figures.
    pub fn describe(kind: ChunkKind) -> Self {
        Self(format!("describe:{}", kind.as_str()))
    }

    /// Summarizing documents.
    pub fn summarize_sources() -> Self {
        Self("describe:source".to_owned())
    }

    /// Combining the descriptions of an entity or relation.
    pub fn describe_entities() -> Self {
        Self("describe:entity".to_owned())
    }

    /// Writing community reports.
    pub fn report() -> Self {
        Self("report:community".to_owned())
    }

    /// Summarizing clusters of the tree.
    pub fn summarize_clusters() -> Self {
        Self("summarize:cluster".to_owned())
    }

    /// Making vectors with an embedder, of texts of every set. Vectors leave no marks: only
    /// refusals use this stage.
    pub fn embed(embedder: &str) -> Self {
        Self(format!("{EMBED}{embedder}"))
    }

    /// Whether it makes vectors, with any embedder.
    pub fn is_of_vectors(&self) -> bool {
        self.0.starts_with(EMBED)
    }

    /// Whether its nodes are chunks, each with a mark once it is finished.
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

/// The reader of records in chunks; the progress of each is separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordsBy {
    /// Rules: records in tables, lines and metadata.
    Rules,
    /// A language model, asked chunk by chunk.
    Model,
}

/// The finder of entities and relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractBy {
    /// A language model, asked chunk by chunk.
    Model,
    /// The detector of proper names.
    Names,
}
