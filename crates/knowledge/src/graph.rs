//! What is the knowledge base made of? Typed nodes in three layers and their edges
//! (PIKE-RAG §3.1, §5.1.2): sources `I`, corpus `C`, distilled knowledge `D`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::document::{Area, Image, Link, PageBox, Span, Table};
use crate::id::{AtomId, ChunkId, SectionId, SourceId};
use crate::names::{NameKey, NameUse};
use crate::references::ReferenceKind;

/// The layers of the heterogeneous graph (PIKE-RAG §3.1).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// `I`: documents.
    Source,
    /// `C`: sections and chunks.
    Corpus,
    /// `D`: what was distilled from chunks.
    Distilled,
}

/// Every kind of node. Those without a struct of their own are filled by later stages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// A document ([`Source`]).
    Source,
    /// A heading and its range ([`Section`]).
    Section,
    /// A passage ([`Chunk`]).
    Chunk,
    /// A question that a chunk answers, or a statement it makes ([`Atom`]).
    Atom(AtomKind),
    /// A person, place, product, …
    Entity,
    /// Subject, predicate, object.
    Relation,
    /// A row of tabular knowledge.
    Record,
    /// A label of a tag class.
    Tag,
    /// The report on a community of entities.
    CommunityReport,
    /// A summary of other nodes.
    Summary,
    /// An answer that a person or a judge accepted.
    VerifiedAnswer,
    /// A kind that the user's own extractor defines.
    Custom(String),
}

impl NodeKind {
    /// The layer a kind lives in.
    pub fn layer(&self) -> LayerKind {
        match self {
            Self::Source => LayerKind::Source,
            Self::Section | Self::Chunk => LayerKind::Corpus,
            _ => LayerKind::Distilled,
        }
    }
}

/// Every kind of edge, inside a layer and from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// Source → source: a link, citation or cross-reference found while parsing.
    RefersTo,
    /// Source → section → chunk.
    Contains,
    /// Chunk → chunk in reading order.
    Next,
    /// Atom → the chunk that answers it.
    Answers,
    /// Chunk → entity.
    Mentions,
    /// Entity → entity.
    Relates,
    /// Chunk → tag.
    Tagged,
    /// Distilled node → what it was made from.
    DerivedFrom,
    /// Entity → community.
    MemberOf,
}

/// A document in layer `I`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Source {
    /// Derived from `uri`.
    pub id: SourceId,
    /// Where it came from: the file's name (see [`crate::file_uri`]), and `#record` inside it.
    pub uri: String,
    /// Title, never empty.
    pub title: String,
    /// Media type, such as `text/html`.
    pub media_type: String,
    /// BLAKE3 of the document's text, in hexadecimal.
    pub hash: String,
    /// ISO 639-3 code, where it could be told.
    #[schema(required)]
    pub language: Option<String>,
    /// What the document says of itself.
    pub metadata: BTreeMap<String, String>,
    /// What a model says of it as a whole, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub summary: Option<String>,
}

/// A heading and its range in layer `C`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Derived from source and ordinal.
    pub id: SectionId,
    /// The document that it stands in.
    pub source: SourceId,
    /// The section around it, if any.
    pub parent: Option<SectionId>,
    /// Place in reading order, from 0.
    pub ordinal: u32,
    /// From 1, the highest, to 6; levels may be left out on the way down.
    pub level: u8,
    /// Text of the heading.
    pub heading: String,
}

/// What a chunk holds.
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
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ChunkKind {
    /// Running text.
    Text,
    /// Rows of a table, with its header.
    Table,
    /// Program text.
    Code,
    /// A figure with caption or description.
    Figure,
    /// A caption on its own.
    Caption,
}

impl ChunkKind {
    /// Its name in the store and in exports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A passage in layer `C`, with all that is needed to show where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Chunk {
    /// Derived from source, headings and text.
    pub id: ChunkId,
    /// The document that it was cut from.
    pub source: SourceId,
    /// The document's URI, repeated here because every reader shows it.
    pub uri: String,
    /// The document's title, without the headings; never empty.
    pub title: String,
    /// The section it stands in, if any.
    #[schema(required)]
    pub section: Option<SectionId>,
    /// Headings above it, outermost first; empty where there are none.
    pub headings: Vec<String>,
    /// Place in reading order within the source, from 0.
    pub ordinal: u32,
    /// What it holds besides a caption; text for a document that came as one chunk.
    pub kind: ChunkKind,
    /// Its text: exactly the source's text under `span`.
    pub text: String,
    /// Where it stands in the source's text.
    pub span: Span,
    /// Page, from 1, where the format has pages.
    #[schema(required)]
    pub page: Option<u32>,
    /// Where it stands on its first page, where the format says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub area: Option<Area>,
    /// Every line or other piece that it was made of, with its page and its place there, in reading order. Empty where
    /// the format has no places, and in a base of an earlier version until the file is read again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<PageBox>,
    /// Cells, for a table.
    #[schema(required)]
    pub table: Option<Table>,
    /// What a model says of it: its summary from enhanced chunking, of a table what it shows, of a figure
    /// what can be seen. Found by, and shown to models as what it is; never cited as the source's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub summary: Option<String>,
    /// No reader of the document sees it (invisible, outside the page). Stored and exported so that
    /// people can look at it; never searched, atomized or answered from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

impl Chunk {
    /// The text as readers and models should see it: rows that were cut off from the header of
    /// their table get it back.
    pub fn reading_text(&self) -> std::borrow::Cow<'_, str> {
        match &self.table {
            Some(table) if !table.header.is_empty() && table.lines.len() == table.rows.len() => {
                format!("{}\n{}", table.header.join(" | "), self.text).into()
            }
            _ => self.text.as_str().into(),
        }
    }

    /// [`Chunk::reading_text`], and what a model says of the chunk, if it was asked: what the chunk is
    /// found by.
    pub fn searched_text(&self) -> std::borrow::Cow<'_, str> {
        match &self.summary {
            Some(summary) => format!("{}\n{summary}", self.reading_text()).into(),
            None => self.reading_text(),
        }
    }

    /// Is there something to find the chunk by? Not where no reader sees it, nor on a figure without
    /// words (`[Figure 3]`) that nothing is said of.
    pub fn is_searchable(&self) -> bool {
        let number = self.text.strip_prefix("[Figure ").and_then(|rest| rest.strip_suffix(']'));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_bare = self.kind == ChunkKind::Figure && number.is_some_and(is_number);
        !self.hidden && (self.summary.is_some() || !is_bare)
    }

    /// The headings above it in one line, outermost first; empty where there are none.
    pub fn heading_path(&self) -> String {
        self.headings.join(" › ")
    }

    /// What retrieval and prompts see as the name of the chunk: title, and headings below it.
    pub fn full_title(&self) -> String {
        match self.heading_path().as_str() {
            "" => self.title.clone(),
            path if path == self.title => self.title.clone(),
            path => match path.strip_prefix(&format!("{} › ", self.title)) {
                Some(below) => format!("{} › {below}", self.title),
                None => format!("{} › {path}", self.title),
            },
        }
    }
}

/// What an atom is: the paper's choice and its ablation (KAR³ §3.3, Table 13).
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
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum AtomKind {
    /// A question the chunk answers, written by a model.
    Question,
    /// A sentence of the chunk as it stands; needs no model.
    Sentence,
    /// A statement the chunk makes, written by a model.
    Statement,
}

impl AtomKind {
    /// Its name in the store and in exports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The kinds that serve where a base has none of this one, this one first: a question is best met by
    /// questions, else by statements, else by sentences.
    pub fn or_else(self) -> &'static [Self] {
        match self {
            Self::Question => &[Self::Question, Self::Statement, Self::Sentence],
            Self::Statement => &[Self::Statement, Self::Sentence],
            Self::Sentence => &[Self::Sentence],
        }
    }
}

/// A piece of distilled knowledge that leads to its chunk (KAR³ eq. 3: `q_kl` of `d_k`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Atom {
    /// Derived from chunk, kind and text.
    pub id: AtomId,
    /// The chunk it was distilled from.
    pub chunk: ChunkId,
    /// Question, sentence or statement.
    pub kind: AtomKind,
    /// The question or sentence itself.
    pub text: String,
}

/// All of one document that extraction found without a model, ready to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentGraph {
    /// The node that stands for the document.
    pub source: Source,
    /// Its text, which all spans count in.
    pub text: String,
    /// Its sections in reading order.
    pub sections: Vec<Section>,
    /// Its chunks in reading order.
    pub chunks: Vec<Chunk>,
    /// The links that each chunk holds.
    pub links: Vec<(ChunkId, Link)>,
    /// The pictures of chunks that are figures.
    pub figures: Vec<(ChunkId, Image)>,
    /// The names that each chunk bears or mentions: what hop retrieval walks along.
    pub names: Vec<(ChunkId, NameUse)>,
    /// The names that the document goes by, with how another one refers to it by them; without that,
    /// parts of its own title: where it mentions them, it does not speak of others.
    pub known_as: Vec<(NameKey, Option<ReferenceKind>)>,
}
