//! What goes into reasoning and what comes out? Question, context, answer, citations.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::document::{PageBox, Span};
use crate::graph::Chunk;
use crate::id::ChunkId;
use crate::verified::Ground;
use crate::worked::Worked;

/// A question as asked. Carries no gold answer: methods must not be able to see one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Question {
    /// Names the question in traces and reports.
    pub id: String,
    /// As the method is asked it; an instruction on how to answer is part of it.
    pub text: String,
    /// What of it is looked up, where an instruction on how to answer stands beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub lookup: Option<String>,
    /// What kind of answer is wanted.
    #[serde(default, skip_serializing_if = "AnswerForm::is_fitting")]
    pub form: AnswerForm,
}

impl Question {
    /// A question without instructions, to be answered as its words ask.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), ..Self::default() }
    }

    /// The same question in other words: nothing else of it is looked up.
    #[must_use]
    pub fn reworded(&self, text: impl Into<String>) -> Self {
        Self { text: text.into(), lookup: None, ..self.clone() }
    }

    /// What is looked up: the question without instructions on how to answer.
    pub fn query(&self) -> &str {
        self.lookup.as_deref().unwrap_or(&self.text)
    }
}

/// What kind of answer a question wants; prompts say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// As the question's own words ask: short where they ask for a name or a number, longer where they ask how.
    #[default]
    Fitting,
    /// A name, a date, a number, yes or no, a phrase.
    Short,
    /// Sentences.
    Long,
    /// The letters of the right options.
    Choice,
    /// Statutes, with the numbers of their articles.
    Articles,
    /// Names of crimes.
    Crimes,
}

impl AnswerForm {
    /// Whether nobody said.
    pub fn is_fitting(&self) -> bool {
        *self == Self::Fitting
    }
}

/// A chunk that a method chose, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ContextChunk {
    /// In full: prompts show its text, citations its place.
    pub chunk: Chunk,
    /// The hop that chose it, from 1; 0 for what was filled up afterwards.
    pub hop: usize,
}

/// `C` in Algorithm 1: the chunks gathered so far, in the order they were chosen, each once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Context {
    /// In the order they were chosen, each once; empty where nothing was found or looked up.
    pub chunks: Vec<ContextChunk>,
}

impl Context {
    /// Chunks that came in one round.
    pub fn of(hop: usize, chunks: impl IntoIterator<Item = Chunk>) -> Self {
        let mut context = Self::default();
        context.extend(hop, chunks);
        context
    }

    /// Adds each chunk unless it is in there already.
    pub fn extend(&mut self, hop: usize, chunks: impl IntoIterator<Item = Chunk>) {
        chunks.into_iter().for_each(|chunk| self.add(hop, chunk));
    }

    /// `C ← C ∪ {c}`: adds a chunk unless it is in there already.
    pub fn add(&mut self, hop: usize, chunk: Chunk) {
        if !self.holds(chunk.id) {
            self.chunks.push(ContextChunk { chunk, hop });
        }
    }

    /// Whether a chunk was chosen already.
    pub fn holds(&self, chunk: ChunkId) -> bool {
        self.chunks.iter().any(|held| held.chunk.id == chunk)
    }

    /// The chosen chunks' identifiers, in order.
    pub fn ids(&self) -> Vec<ChunkId> {
        self.chunks.iter().map(|held| held.chunk.id).collect()
    }
}

/// Who wrote an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum WrittenBy {
    /// A language model, by its configured name.
    LanguageModel {
        /// Such as `gpt-4.1-mini`.
        model: String,
    },
    /// No language model: the answer quotes its evidence.
    Quotation,
    /// No language model: a program worked the answer out of records.
    Reckoning,
    /// A person, who verified it; the documents have had nothing new to say since.
    Person {
        /// Who it was.
        name: String,
    },
}

/// Whether a quoted text really stands where the citation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The source's text under the span equals the quote, byte for byte.
    Verified,
    /// The quote was not found in the cited chunk; the claim stands unsupported.
    NotFound,
    /// The quote stands in what a model said of the chunk (of a figure, say), not in the source's own
    /// words.
    Described,
}

/// One numbered citation of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Citation {
    /// The number shown with the answer, from 1.
    pub number: usize,
    /// The chunk that holds the quote; where none does, the one that it was ascribed to.
    pub chunk: ChunkId,
    /// The file as the user named it, and `#record` inside it.
    pub uri: String,
    /// Title of the document, then the headings above the chunk.
    pub title: String,
    /// Page that the quote begins on, from 1, where the format has pages.
    #[schema(required)]
    pub page: Option<u32>,
    /// Where the quote stands in the source's text; the whole chunk where it was not found.
    pub span: Span,
    /// The lines or other pieces that the quote stands on, with their pages and places; of the whole chunk where it
    /// was not found. Empty where they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<PageBox>,
    /// As the source has it under `span` if it was found, else as it was claimed.
    pub quote: String,
    /// Whether they are there.
    pub check: Check,
}

impl From<&Citation> for Ground {
    fn from(citation: &Citation) -> Self {
        Self {
            chunk: citation.chunk,
            uri: citation.uri.clone(),
            title: citation.title.clone(),
            page: citation.page,
            span: citation.span,
            quote: citation.quote.clone(),
        }
    }
}

/// What a method returns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Answer {
    /// The short answer, without its reasons; what is missing, where `refused`.
    pub text: String,
    /// Why, in the model's words; empty without one.
    pub rationale: String,
    /// Whether the method declined to answer; `text` then says what is missing.
    #[serde(default)]
    #[schema(required)]
    pub refused: bool,
    /// What the passages do not tell though the answer needs it, in the model's words; empty where they settle the
    /// question, or nobody said. The answer then is what is most likely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Tells an answer in a model's words from one that only quotes.
    pub written_by: WrittenBy,
    /// Where it stands, in the order of first use.
    pub citations: Vec<Citation>,
    /// The chunks it was written from.
    pub context: Context,
    /// The figures, tables and forecasts that it rests on; none for an answer that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub worked: Option<Box<Worked>>,
}
