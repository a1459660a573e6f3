//! Puts prefixes before embedded texts: models that are trained on pairs distinguish queries from
//! documents by them.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{Embedder, ModelError, Parted, PartedVectors, Vector};

/// The prefixes of queries and of documents; empty if the model makes no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefixes {
    /// Before questions, sub-questions and searches.
    pub query: String,
    /// Before all texts that a search finds.
    pub document: String,
}

/// The instruction for a web search on the cards of instructed models.
const TASK: &str =
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:";

/// The instructions of BGE's English and Chinese models; their documents have no prefix.
const BGE_EN: &str = "Represent this sentence for searching relevant passages: ";
const BGE_ZH: &str = "为这个句子生成表示以用于检索相关文章：";

impl Prefixes {
    /// The prefixes on the model's card, found by the model's name for any publisher or server;
    /// empty if the model is unknown.
    pub fn of_model(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let name = name.rsplit('/').next().unwrap_or_default();
        let made = |query: &str, document: &str| Self {
            query: query.to_owned(),
            document: document.to_owned(),
        };
        let is_e5 = name.starts_with("e5-") || name.starts_with("multilingual-e5-");
        match () {
            () if is_e5 && (name.contains("instruct") || name.contains("mistral")) => {
                made(&format!("{TASK} "), "")
            }
            () if is_e5 => made("query: ", "passage: "),
            () if name.starts_with("nomic-embed-text") => {
                made("search_query: ", "search_document: ")
            }
            () if name.starts_with("qwen3-embedding") => made(TASK, ""),
            () if name.starts_with("bge-") && name.contains("-en") => made(BGE_EN, ""),
            () if name.starts_with("bge-") && name.contains("-zh") => made(BGE_ZH, ""),
            () => Self::default(),
        }
    }

    /// Whether queries and documents have no prefix.
    pub fn is_empty(&self) -> bool {
        self.query.is_empty() && self.document.is_empty()
    }
}

/// An embedder under a name of its own, with prefixes before its texts. It goes outermost of all
/// wrappers, so that the sent texts are recorded, counted and paid.
pub struct Prefixed {
    inner: Arc<dyn Embedder>,
    name: String,
    prefixes: Prefixes,
}

impl Prefixed {
    /// The vectors of `inner` are stored under `name`.
    pub fn new(inner: Arc<dyn Embedder>, name: String, prefixes: Prefixes) -> Self {
        Self { inner, name, prefixes }
    }
}

#[async_trait]
impl Embedder for Prefixed {
    fn name(&self) -> &str {
        &self.name
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        self.inner.embed(&after(&self.prefixes.document, texts)).await
    }

    async fn embed_queries(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        self.inner.embed_queries(&after(&self.prefixes.query, texts)).await
    }

    async fn knows(&self, text: &str) -> Result<bool, ModelError> {
        self.inner.knows(text).await
    }

    fn known_dimensions(&self) -> Option<usize> {
        self.inner.known_dimensions()
    }

    fn reads_parts(&self) -> bool {
        self.inner.reads_parts()
    }

    async fn embed_parted(&self, texts: &[Parted]) -> Result<Vec<PartedVectors>, ModelError> {
        let prefix = &self.prefixes.document;
        let moved = |part: &Range<usize>| part.start + prefix.len()..part.end + prefix.len();
        let after = |text: &Parted| Parted {
            text: format!("{prefix}{}", text.text),
            parts: text.parts.iter().map(moved).collect(),
        };
        self.inner.embed_parted(&texts.iter().map(after).collect::<Vec<_>>()).await
    }
}

fn after(prefix: &str, texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| format!("{prefix}{text}")).collect()
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::{HashEmbedder, ScriptedEmbedder};

    use super::*;

    #[test]
    fn prefixes_follow_the_models_cards() {
        for (name, query, document) in [
            ("intfloat/multilingual-e5-large", "query: ", "passage: "),
            ("e5-base-v2", "query: ", "passage: "),
            ("multilingual-e5-small-q4", "query: ", "passage: "),
            ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
            ("Qwen/Qwen3-Embedding-0.6B", TASK, ""),
            ("qwen3-embedding:8b", TASK, ""),
            ("text-embedding-3-small", "", ""),
            ("all-MiniLM-L6-v2", "", ""),
            ("BAAI/bge-small-en-v1.5", BGE_EN, ""),
            ("bge-large-zh-v1.5", BGE_ZH, ""),
            ("bge-m3", "", ""),
            ("multilingual-e5-small", "query: ", "passage: "),
        ] {
            let prefixes = Prefixes::of_model(name);
            assert_eq!(
                (prefixes.query.as_str(), prefixes.document.as_str()),
                (query, document),
                "{name}"
            );
        }
        let instructed = Prefixes::of_model("intfloat/multilingual-e5-large-instruct");
        assert_eq!((instructed.query, instructed.document), (format!("{TASK} "), String::new()));
    }

    #[tokio::test]
    async fn queries_and_documents_get_their_own_prefixes() {
        let model = ScriptedEmbedder::by(|texts| Ok(HashEmbedder::new(4).vectors(texts)));
        let model: &'static ScriptedEmbedder = Box::leak(Box::new(model));
        let prefixes = Prefixes::of_model("e5-small");
        let embedder = Prefixed::new(Arc::new(model), "e5-small#1".to_owned(), prefixes);
        embedder.embed(&["a".to_owned()]).await.unwrap();
        embedder.embed_queries(&["a".to_owned()]).await.unwrap();
        assert_eq!(model.requests().concat(), ["passage: a", "query: a"]);
        let parted = Parted { text: "a b".to_owned(), parts: vec![2..3, 0..1] };
        let vectors = embedder.embed_parted(&[parted]).await.unwrap().remove(0);
        assert_eq!(model.requests().concat()[2..], ["passage: a b", "b", "a"]);
        let texts = ["passage: a b", "b", "a"].map(str::to_owned);
        let exact = HashEmbedder::new(4).vectors(&texts);
        assert_eq!((vectors.whole, vectors.parts), (exact[0].clone(), exact[1..].to_vec()));
        assert_eq!(embedder.name(), "e5-small#1");
    }
}
