//! Defines the nodes and edges of the knowledge base in three layers (PIKE-RAG §3.1, §5.1.2):
//! sources `I`, corpus `C`, distilled knowledge `D`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::document::{Area, Image, Link, PageBox, Span, Table};
use crate::id::{AtomId, ChunkId, SectionId, SourceId};
use crate::names::{NameKey, NameUse};
use crate::references::ReferenceKind;
use crate::uri::row_uri;

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
    /// `D`: knowledge that was distilled from chunks.
    Distilled,
}

/// Every kind of node. Later stages fill those without a struct of their own.
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
    /// The layer of a kind.
    pub fn layer(&self) -> LayerKind {
        match self {
            Self::Source => LayerKind::Source,
            Self::Section | Self::Chunk => LayerKind::Corpus,
            _ => LayerKind::Distilled,
        }
    }
}

/// Every kind of edge, within and between layers.
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
    /// Distilled node → its sources.
    DerivedFrom,
    /// Entity → community.
    MemberOf,
}

/// A document in layer `I`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Source {
    /// Derived from `uri`.
    pub id: SourceId,
    /// Its origin: the file's name (see [`crate::file_uri`]), and `#record` inside it.
    pub uri: String,
    /// Title, never empty.
    pub title: String,
    /// Media type, such as `text/html`.
    pub media_type: String,
    /// BLAKE3 of the document's text, in hexadecimal.
    pub hash: String,
    /// ISO 639-3 code, if the language was detected.
    #[schema(required)]
    pub language: Option<String>,
    /// The document's metadata.
    pub metadata: BTreeMap<String, String>,
    /// A model's summary of the whole document, if one was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub summary: Option<String>,
}

/// A heading and its range in layer `C`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Derived from source and ordinal.
    pub id: SectionId,
    /// The document that contains it.
    pub source: SourceId,
    /// The section around it, if any.
    pub parent: Option<SectionId>,
    /// Position in reading order, from 0.
    pub ordinal: u32,
    /// From 1, the highest, to 6; levels may be skipped.
    pub level: u8,
    /// Text of the heading.
    pub heading: String,
}

/// The kind of a chunk's content.
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

/// A passage in layer `C`, with everything needed to show its source.
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
    /// The section that contains it, if any.
    #[schema(required)]
    pub section: Option<SectionId>,
    /// Headings above it, outermost first; may be empty.
    pub headings: Vec<String>,
    /// Position in reading order within the source, from 0.
    pub ordinal: u32,
    /// The kind of its content apart from a caption; text for a document that came as one chunk.
    pub kind: ChunkKind,
    /// Its text: exactly the source's text under `span`.
    pub text: String,
    /// Its span in the source's text.
    pub span: Span,
    /// Page, from 1, if the format has pages.
    #[schema(required)]
    pub page: Option<u32>,
    /// Its place on its first page, if the format gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub area: Option<Area>,
    /// Its lines or other pieces with page and place, in reading order. Empty if the format has no
    /// places, or if an earlier version read the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<PageBox>,
    /// The cells of a table.
    #[schema(required)]
    pub table: Option<Table>,
    /// A model's description: the summary from enhanced chunking, the content of a table, or the
    /// content of a figure. Search uses it, and models see it labelled as a description; it is
    /// never cited as the source's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub summary: Option<String>,
    /// Readers of the document cannot see it (invisible, outside the page). It is stored and
    /// exported so that people can inspect it, but never searched, atomized or used for answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

impl Chunk {
    /// The text for readers and models: rows that were separated from the header of their table get
    /// it back.
    pub fn reading_text(&self) -> std::borrow::Cow<'_, str> {
        match &self.table {
            Some(table) if !table.header.is_empty() && table.lines.len() == table.rows.len() => {
                format!("{}\n{}", table.header.join(" | "), self.text).into()
            }
            _ => self.text.as_str().into(),
        }
    }

    /// The address of a part of the chunk's document: the URI of a row, if the part lies in one row
    /// whose key is known, else the URI of the document.
    pub fn address_of(&self, span: Span) -> String {
        self.row_address(span).unwrap_or_else(|| self.uri.clone())
    }

    fn row_address(&self, span: Span) -> Option<String> {
        let table = self.table.as_ref().filter(|table| 0 < table.key)?;
        let is_inside = |line: &Span| line.start <= span.start && span.end <= line.end;
        let line = table.lines.iter().position(is_inside)?;
        let header_lines = table.lines.len().saturating_sub(table.rows.len());
        let row = table.rows.get(line.checked_sub(header_lines)?)?;
        let cells = table.header.iter().zip(row).take(table.key);
        let key: Vec<(&str, &str)> =
            cells.map(|(name, cell)| (name.as_str(), cell.as_str())).collect();
        let is_whole = key.len() == table.key && key.iter().all(|(_, cell)| !cell.is_empty());
        is_whole.then(|| row_uri(&self.uri, key.into_iter()))
    }

    /// The text to search: [`Chunk::reading_text`] and the model's description, if there is one.
    pub fn searched_text(&self) -> std::borrow::Cow<'_, str> {
        match &self.summary {
            Some(summary) => format!("{}\n{summary}", self.reading_text()).into(),
            None => self.reading_text(),
        }
    }

    /// Whether search can find the chunk: not if it is hidden, nor if it is a figure without words
    /// (`[Figure 3]`) and without a description.
    pub fn is_searchable(&self) -> bool {
        let number = self.text.strip_prefix("[Figure ").and_then(|rest| rest.strip_suffix(']'));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_bare = self.kind == ChunkKind::Figure && number.is_some_and(is_number);
        !self.hidden && (self.summary.is_some() || !is_bare)
    }

    /// The headings above it in one line, outermost first; may be empty.
    pub fn heading_path(&self) -> String {
        self.headings.join(" › ")
    }

    /// The chunk's name for retrieval and prompts: title, and headings below it.
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

/// The kind of an atom: the paper's choice and its ablation (KAR³ §3.3, Table 13).
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
    /// A sentence of the chunk, unchanged; needs no model.
    Sentence,
    /// A statement the chunk makes, written by a model.
    Statement,
}

impl AtomKind {
    /// Its name in the store and in exports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The kinds to use if a base has none of this one, starting with this one: for a question,
    /// questions, then statements, then sentences.
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

/// Everything that extraction found in one document without a model, ready to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentGraph {
    /// The document's node.
    pub source: Source,
    /// Its text, which all spans refer to.
    pub text: String,
    /// Its sections in reading order.
    pub sections: Vec<Section>,
    /// Its chunks in reading order.
    pub chunks: Vec<Chunk>,
    /// The links in each chunk.
    pub links: Vec<(ChunkId, Link)>,
    /// The pictures of chunks that are figures.
    pub figures: Vec<(ChunkId, Image)>,
    /// The names that each chunk is about or mentions, which hop retrieval follows.
    pub names: Vec<(ChunkId, NameUse)>,
    /// The names of the document, with the way in which others refer to it by each. Names without
    /// that are parts of its own title: their mention in it does not refer to another document.
    pub known_as: Vec<(NameKey, Option<ReferenceKind>)>,
}
