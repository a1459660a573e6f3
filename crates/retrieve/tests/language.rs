//! Tests that an embedder without the question's language is left out of every search.
#![cfg(test)]

mod common;

use async_trait::async_trait;
use pikerag_doubles::HashEmbedder;
use pikerag_knowledge::{Embedder, ModelError, Vector};
use pikerag_language::is_chinese;
use pikerag_retrieve::{Finder, Search, SearchParams, search};

use common::{Embedding, Shelf};

/// An embedder that knows no Chinese.
struct English(HashEmbedder);

#[async_trait]
impl Embedder for English {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        self.0.embed(texts).await
    }

    async fn knows(&self, text: &str) -> Result<bool, ModelError> {
        Ok(!text.contains(is_chinese))
    }
}

#[tokio::test]
async fn unknown_languages_are_searched_by_words() {
    let library = [
        ("a.md", "# KX-40\n\nThe crane was put together here. 起重机在这里组装。"),
        ("b.md", "# 码头\n\n起重机由布兰特工厂制造。"),
        ("c.md", "# Tea\n\nTea comes from leaves."),
        ("d.md", "# 茶\n\n茶来自茶树的叶子。"),
    ];
    let shelf = Shelf::of(&library, Embedding::Hashes).await;
    let without_vectors = Shelf::of(&library, Embedding::None).await;
    let english = English(HashEmbedder::new(4096));
    let params = SearchParams::default();
    for (query, by_words_alone) in [("起重机是谁制造的？", true), ("Who made the crane?", false)]
    {
        for &by in Search::ALL {
            let ours = Finder { embedder: Some(&english), ..shelf.finder() };
            let found = search(ours, by, query, 4, params).await.unwrap();
            let other = match by_words_alone {
                true => without_vectors.finder(),
                false => shelf.finder(),
            };
            assert_eq!(found, search(other, by, query, 4, params).await.unwrap(), "{by}: {query}");
        }
    }
}
