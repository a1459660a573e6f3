//! Indexes a world with the oracle as the atomizer.

use std::sync::Arc;

use async_trait::async_trait;
use pikerag_doubles::{HashEmbedder, ScriptedChat};
use pikerag_eval::datasets::{self, Item};
use pikerag_indexing::{FileError, FileReader, Params, ReadFile, Tools, ingest};
use pikerag_knowledge::{AtomKind, ChatModel, ChatModels, ChatRequest, Embedder, Message};
use pikerag_methods::Ports;
use pikerag_parse::{Limits, NoTools, parse};
use pikerag_store::Base;
use pikerag_test_support::oracle;
use tempfile::TempDir;

/// A base, with its folder, and questions over it.
pub(crate) struct Shelf {
    base: Arc<Base>,
    pub(crate) items: Vec<Item>,
    _folder: TempDir,
}

struct OneFile(String);

#[async_trait]
impl FileReader for OneFile {
    async fn hash(&self, _: &str) -> Result<String, FileError> {
        Ok(blake3::hash(self.0.as_bytes()).to_hex().to_string())
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        let parsed = parse(path, self.0.as_bytes(), &Limits::default(), &NoTools)?;
        Ok(ReadFile { hash: self.hash(path).await?, parsed })
    }
}

pub(crate) fn prompt(request: &ChatRequest) -> &str {
    let Some(Message::User { text, .. }) = request.messages.first() else { panic!() };
    text
}

fn embedder() -> Arc<dyn Embedder> {
    Arc::new(HashEmbedder::new(4096))
}

impl Shelf {
    /// Indexes a corpus of chunks, and reads questions.
    pub(crate) async fn of(corpus: String, questions: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = Arc::new(Base::open_or_create(folder.path()).unwrap());
        let atomizer = ScriptedChat::by(|request| Ok(oracle(prompt(request)).text));
        let tools = Tools {
            base: base.clone(),
            reader: Arc::new(OneFile(corpus)),
            models: ChatModels::one(Arc::new(atomizer)),
            embedder: Some(embedder()),
        };
        let paths = ["world.jsonl".to_owned()];
        let params = Params { atoms: vec![AtomKind::Question], ..Params::default() };
        let report = ingest(&tools, &paths, &params, &|_| {}).await.unwrap();
        assert!(report.is_whole(), "{report:?}");
        let path = folder.path().join("questions.jsonl");
        std::fs::write(&path, questions).unwrap();
        let items = datasets::read(&path, None).unwrap().items;
        Self { base, items, _folder: folder }
    }

    pub(crate) fn ports(&self, model: Arc<dyn ChatModel>) -> Ports {
        Ports::new(self.base.clone(), Some(embedder()), ChatModels::one(model).into())
    }
}
