//! Defines the input and output of reasoning: question, context, answer, citations.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::document::{PageBox, Span};
use crate::graph::Chunk;
use crate::id::ChunkId;
use crate::verified::Ground;
use crate::worked::Worked;

/// A question as the user asked it. It carries no gold answer: methods must not see one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Question {
    /// Names the question in traces and reports.
    pub id: String,
    /// The text that the method receives; it includes any instruction on how to answer.
    pub text: String,
    /// The part to search for, if the text also contains an instruction on how to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub lookup: Option<String>,
    /// The form of the wanted answer.
    #[serde(default, skip_serializing_if = "AnswerForm::is_fitting")]
    pub form: AnswerForm,
}

impl Question {
    /// A question without instructions.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), ..Self::default() }
    }

    /// The same question in other words, which are also the words to search for.
    #[must_use]
    pub fn reworded(&self, text: impl Into<String>) -> Self {
        Self { text: text.into(), lookup: None, ..self.clone() }
    }

    /// The same question with another query. An instruction on how to answer stays where it is.
    #[must_use]
    pub fn with_query(&self, query: String) -> Self {
        let Some(old) = &self.lookup else { return self.reworded(query) };
        let text = match self.text.contains(old.as_str()) {
            true => self.text.replacen(old.as_str(), &query, 1),
            false => format!("{}\n{query}", self.text),
        };
        Self { text, lookup: Some(query), ..self.clone() }
    }

    /// The words to search for: the question without instructions on how to answer.
    pub fn query(&self) -> &str {
        self.lookup.as_deref().unwrap_or(&self.text)
    }
}

/// The form of answer that a question wants; prompts state it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// As the question's own words ask: short for a name or a number, longer for an explanation.
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
    /// Whether no form was set.
    pub fn is_fitting(&self) -> bool {
        *self == Self::Fitting
    }
}

/// A chunk that a method chose, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ContextChunk {
    /// In full: prompts show its text, citations its place.
    pub chunk: Chunk,
    /// The hop that chose it, from 1; 0 for chunks that were added afterwards.
    pub hop: usize,
}

/// `C` in Algorithm 1: the chunks gathered so far, in the order they were chosen, each once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Context {
    /// In the order they were chosen, each once; empty if nothing was found or searched.
    pub chunks: Vec<ContextChunk>,
}

impl Context {
    /// A context of chunks from one round.
    pub fn of(hop: usize, chunks: impl IntoIterator<Item = Chunk>) -> Self {
        let mut context = Self::default();
        context.extend(hop, chunks);
        context
    }

    /// Adds each chunk that is not in the context yet.
    pub fn extend(&mut self, hop: usize, chunks: impl IntoIterator<Item = Chunk>) {
        chunks.into_iter().for_each(|chunk| self.add(hop, chunk));
    }

    /// `C ← C ∪ {c}`: adds a chunk that is not in the context yet.
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

/// The author of an answer.
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
    /// No language model: a program computed the answer from records.
    #[serde(rename = "reckoning")]
    Computation,
    /// A person, who verified it; the documents contain nothing new since then.
    Person {
        /// The person's name.
        name: String,
    },
}

/// Whether a quoted text really is where the citation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The source's text under the span equals the quote, byte for byte.
    Verified,
    /// The quote was not found in the cited chunk; the claim is unsupported.
    NotFound,
    /// The quote is in a model's description of the chunk (of a figure, for example), not in the
    /// source's own words.
    Described,
}

/// One numbered citation of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Citation {
    /// The number shown with the answer, from 1.
    pub number: usize,
    /// The chunk that contains the quote; if none does, the chunk that the claim names.
    pub chunk: ChunkId,
    /// The file as the user named it, and `#record` inside it.
    pub uri: String,
    /// Title of the document, then the headings above the chunk.
    pub title: String,
    /// The page on which the quote begins, from 1, if the format has pages.
    #[schema(required)]
    pub page: Option<u32>,
    /// The quote's span in the source's text; the whole chunk if the quote was not found.
    pub span: Span,
    /// The lines or other pieces of the quote, with their pages and places; those of the whole
    /// chunk if the quote was not found. Empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<PageBox>,
    /// The source's text under `span` if the quote was found, else the claimed text.
    pub quote: String,
    /// The names of the columns, if the quote is a row of a table that does not name them itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The sentence or row of the quote that fits the question best, in the source's text; only for
    /// an answer of quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub best: Option<Span>,
    /// The result of the check.
    pub check: Check,
    /// The newer version of the document, if the base has one that replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub replaced_by: Option<ReplacedBy>,
    /// Whether people corrected words of the chunk after it was read from its file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub corrected: bool,
}

/// The newer version of a document, which replaces it. A program recognised it by the names, titles
/// and texts of both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReplacedBy {
    /// The file of the newer version.
    pub uri: String,
    /// Its title, without headings.
    pub title: String,
    /// Its version number, such as `2.1`, if the older one has another or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub version: Option<String>,
    /// The day from which it is valid, else the date in its name or title: `2024-03-01`, `2024-03`
    /// or `2024`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub date: Option<String>,
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

/// How sure it is that quotes hold the answer. The thresholds are in `pikerag_reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The best quote has most of the question's words, or nearly its meaning.
    Found,
    /// The best quote has some of the question's words; it may not answer it.
    Possibly,
    /// No passage fits, or no document mentions a thing that the question names; the quotes are the
    /// nearest passages.
    NotFound,
}

/// How an answer of quotes relates to its question. The quotes are the citations, the best first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Quotes {
    /// How sure it is that they hold the answer.
    pub grade: Grade,
    /// The things that the question names and no document mentions, as the question writes them:
    /// codes, proper names, quoted terms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
}

/// The result of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Answer {
    /// The short answer, without its reasons; if `refused`, the missing information.
    pub text: String,
    /// The reasons in the model's words; empty without a model.
    pub rationale: String,
    /// Whether the method declined to answer; `text` then names the missing information, or holds
    /// the nearest passages.
    #[serde(default)]
    #[schema(required)]
    pub refused: bool,
    /// Facts that the answer needs and the passages do not contain, in the model's words. The
    /// answer is then the most likely one. Empty if the passages settle the question, or no model
    /// was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The author: a model, a quotation, a computation or a person.
    pub written_by: WrittenBy,
    /// The citations, in the order of first use.
    pub citations: Vec<Citation>,
    /// The chunks it was written from.
    pub context: Context,
    /// The grade of an answer of quotes to a question about facts; none for other answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub quotes: Option<Quotes>,
    /// The figures, tables and forecasts behind it; none for an answer that was read from passages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub worked: Option<Box<Worked>>,
}

impl Answer {
    /// Whether it quotes passages, and some document mentions each thing that the question names.
    pub fn is_plain_quotation(&self) -> bool {
        let names_known = |quotes: &Quotes| quotes.absent.is_empty();
        self.written_by == WrittenBy::Quotation && self.quotes.as_ref().is_none_or(names_known)
    }
}
