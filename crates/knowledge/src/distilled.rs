//! Defines the knowledge that is distilled from many chunks: entities and relations, communities of
//! entities with their reports, summaries of summaries (PIKE-RAG §5.1.2, layer `D`; GraphRAG,
//! RAPTOR). All of it is derived from single chunks, and refers to them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{ChunkId, CommunityId, EntityId, NodeId, RelationId, SummaryId, content_id};

/// The entities and relations of one chunk: the result of extraction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extraction {
    /// The entities that the chunk mentions, each once.
    pub entities: Vec<EntityMention>,
    /// The relations that it states, each once; both ends are among its entities.
    pub relations: Vec<RelationMention>,
}

/// A chunk's mention of an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityMention {
    /// Derived from the folded name.
    pub id: EntityId,
    /// The name as the chunk has it.
    pub name: String,
    /// Person, place, product, …; empty if unknown.
    pub kind: String,
    /// The chunk's description of it; may be empty.
    pub description: String,
}

/// A chunk's statement of a relation.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationMention {
    /// Derived from both ends.
    pub id: RelationId,
    /// The entity that the relation starts from.
    pub subject: EntityId,
    /// The entity that the relation leads to.
    pub object: EntityId,
    /// How they are related.
    pub description: String,
    /// How strongly: from 1 to 10 as extraction gives it; greater than 0.
    pub weight: f64,
}

/// A person, place, product, …, combined from all mentions of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// Derived from the folded name.
    pub id: EntityId,
    /// The spelling that most chunks use.
    pub name: String,
    /// The kind that most chunks name; may be empty.
    pub kind: String,
    /// The descriptions of its chunks: each once in reading order, or a summary of them.
    pub description: String,
}

/// A relation between two entities, combined from all its mentions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// Derived from both ends.
    pub id: RelationId,
    /// The entity that the relation starts from.
    pub subject: EntityId,
    /// The entity that the relation leads to.
    pub object: EntityId,
    /// How they are related; combined like an entity's description.
    pub description: String,
    /// Sum of the weights of its mentions.
    pub weight: f64,
}

/// Entities that are more closely related to each other than to the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Community {
    /// Derived from its members, the relations among them, and the descriptions of all these.
    pub id: CommunityId,
    /// 0 for the whole graph's communities, 1 for the parts that large ones are split into, …
    pub level: u8,
    /// The community that it is a part of.
    pub parent: Option<CommunityId>,
    /// Its entities, by identifier.
    pub members: Vec<EntityId>,
    /// Its report, once written.
    pub report: Option<Report>,
}

/// The report on a community.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// A short name for the community, on one line.
    pub title: String,
    /// The subject of the community.
    pub summary: String,
    /// How much it matters, from 0 to 10.
    pub rating: f64,
    /// Single insights, most important first.
    pub findings: Vec<String>,
    /// The model that wrote it; none if it quotes the community's own sentences.
    pub model: Option<String>,
}

impl Report {
    /// The report as models read it.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}", self.title, self.summary);
        for finding in &self.findings {
            text.push_str("\n- ");
            text.push_str(finding);
        }
        text
    }
}

/// A summary of chunks or of other summaries: a node of the tree (RAPTOR §3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Derived from its children.
    pub id: SummaryId,
    /// 1 above chunks, 2 above those, …
    pub level: u8,
    /// The content of its children, in the model's words.
    pub text: String,
    /// The summarized nodes, in the order that the model read.
    pub children: Vec<Child>,
}

/// A source of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Child {
    /// A chunk: below summaries of level 1.
    Chunk(ChunkId),
    /// A summary of the level below.
    Summary(SummaryId),
}

/// A state of the documents; it increases with every change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u64);

impl std::fmt::Display for Generation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A hash of all descriptions of something: any other set of descriptions has another hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DescriptionsKey(pub u64);

/// The entity graph without its words, for community detection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// Results from an older outline are refused.
    pub generation: Generation,
    /// Every entity, by identifier.
    pub entities: Vec<OutlineEntity>,
    /// Every relation, by identifier.
    pub relations: Vec<OutlineRelation>,
}

/// An entity without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineEntity {
    /// Derived from the folded name.
    pub id: EntityId,
    /// The hash of its names, kinds and descriptions.
    pub key: DescriptionsKey,
}

/// A relation without its words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlineRelation {
    /// Derived from both ends.
    pub id: RelationId,
    /// The entity that it starts from.
    pub subject: EntityId,
    /// The entity that it leads to.
    pub object: EntityId,
    /// Sum of the weights of its mentions.
    pub weight: f64,
    /// The hash of its descriptions.
    pub key: DescriptionsKey,
}

/// An entity or relation whose descriptions are too long for a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct LongDescription {
    /// The entity or relation.
    pub node: NodeId,
    /// The entity's name, or both ends' names.
    pub name: String,
    /// Each description once, in reading order.
    pub descriptions: Vec<String>,
}

impl LongDescription {
    /// The hash of the descriptions; a summary of other descriptions is refused.
    pub fn key(&self) -> DescriptionsKey {
        descriptions_key(self.descriptions.iter().map(String::as_str))
    }
}

/// The hash of descriptions in their order.
pub fn descriptions_key<'a>(descriptions: impl IntoIterator<Item = &'a str>) -> DescriptionsKey {
    let parts: Vec<&[u8]> = descriptions.into_iter().map(str::as_bytes).collect();
    DescriptionsKey(content_id("said", &parts))
}

/// A structure over all documents, built on chunks and atoms.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
    strum::Display,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Structure {
    /// Entities, relations, communities and their reports.
    ///
    /// GraphRAG.
    Graph,
    /// Summaries over clusters of chunks, level by level. Needs an embedder and a chat model.
    ///
    /// RAPTOR.
    Tree,
    /// Tags by class, which map a reader's words to the documents'. Needs a chat model.
    ///
    /// PIKE-RAG §5.2.2.
    Tags,
}

impl Structure {
    /// Its name in settings, in the store and in messages.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
