//! Describes replies of the rerank routes and of Dify's.
#![expect(dead_code, reason = "the document describes these types, and nothing makes them")]

use serde_json::Value;
use utoipa::ToSchema;

/// A text to sort.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum RerankDocument {
    /// The text.
    Text(String),
    /// An object with the text.
    Object(RerankText),
}

/// A text within an object.
#[derive(ToSchema)]
pub(crate) struct RerankText {
    /// The text.
    text: String,
}

/// The texts in the order of their relevance, in the format that the request asks for.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum RerankAnswer {
    /// The format of Cohere and Jina.
    Results(RerankReply),
    /// The format of Text Embeddings Inference.
    Scores(Vec<RerankScore>),
}

/// The relevance of a text.
#[derive(ToSchema)]
pub(crate) struct RerankScore {
    /// The position of the text in the request, from 0.
    index: u64,
    /// From 0 to 1.
    score: f64,
    /// The text, if the request asks for it.
    #[schema(nullable = false)]
    text: Option<String>,
}

/// The texts in the order of their relevance, best first.
#[derive(ToSchema)]
pub(crate) struct RerankReply {
    /// The reranker.
    #[schema(nullable = false)]
    model: Option<String>,
    /// Best first.
    results: Vec<RerankResult>,
}

/// The relevance of a text.
#[derive(ToSchema)]
pub(crate) struct RerankResult {
    /// The position of the text in the request, from 0.
    index: u64,
    /// From 0 to 1.
    relevance_score: f64,
    /// The document, if the request asks for it.
    #[schema(value_type = Option<Object>, nullable = false)]
    document: Option<Value>,
}

/// The passages, as Dify reads them.
#[derive(ToSchema)]
pub(crate) struct DifyRecords {
    /// Best first.
    records: Vec<DifyRecord>,
}

/// A passage.
#[derive(ToSchema)]
pub(crate) struct DifyRecord {
    /// Its text.
    content: String,
    /// From 0 to 1.
    score: f64,
    /// The title of its document with its headings.
    title: String,
    /// Fields of its document, with its path, page and link.
    #[schema(value_type = Object)]
    metadata: Value,
}
