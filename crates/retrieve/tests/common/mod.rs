//! Builds a small library for tests of retrieval, indexed as the product does it without a model.

use std::path::Path;

use pikerag_doubles::HashEmbedder;
use pikerag_extract::{ChunkParams, document_graph, sentence_atoms};
use pikerag_knowledge::{
    AtomKind, ChunkResults, ChunkSet, CorpusReader, CorpusWriter, Embedder, FileRecord, InChunk,
    NodeVector, Progress, SearchWriter, Stage, VectorSet,
};
use pikerag_parse::{Limits, NoTools, parse};
use pikerag_retrieve::Finder;
use pikerag_store::Base;

#[derive(Clone, Copy)]
pub(crate) enum Embedding {
    None,
    Hashes,
}

pub(crate) struct Shelf {
    pub(crate) base: Base,
    embedder: Option<HashEmbedder>,
    _folder: tempfile::TempDir,
}

impl Shelf {
    pub(crate) async fn of(library: &[(&str, &str)], embedding: Embedding) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = base(folder.path(), library).await;
        let embedder = match embedding {
            Embedding::None => None,
            Embedding::Hashes => Some(HashEmbedder::new(4096)),
        };
        if let Some(embedder) = &embedder {
            let sets = [
                VectorSet::Chunks,
                VectorSet::Sources,
                VectorSet::Sections,
                VectorSet::Atoms(AtomKind::Sentence),
            ];
            for set in sets {
                let texts = base.without_vector(set, "hash", None, 99).await.unwrap();
                let (nodes, texts): (Vec<_>, Vec<String>) =
                    texts.into_iter().map(|waiting| (waiting.node, waiting.text)).unzip();
                let vectors = nodes.into_iter().zip(embedder.vectors(&texts));
                let vectors = vectors.map(|(node, vector)| NodeVector { node, vector }).collect();
                base.put_vectors(set, "hash", vectors).await.unwrap();
            }
        }
        base.refresh().await.unwrap();
        Self { base, embedder, _folder: folder }
    }

    pub(crate) fn finder(&self) -> Finder<'_> {
        let embedder = self.embedder.as_ref().map(|embedder| embedder as &dyn Embedder);
        Finder { base: &self.base, embedder, memory: None }
    }
}

async fn base(folder: &Path, library: &[(&str, &str)]) -> Base {
    let base = Base::open_or_create(folder).unwrap();
    for (path, text) in library {
        let parsed = parse(path, text.as_bytes(), &Limits::default(), &NoTools).unwrap();
        let graph = |document| document_graph(path, document, ChunkParams::default());
        let file =
            FileRecord { path: (*path).to_owned(), hash: String::new(), recipe: String::new() };
        base.put_file(&file, parsed.documents.into_iter().map(graph).collect()).await.unwrap();
    }
    let stage = Stage::atomize(AtomKind::Sentence);
    let waiting = base.pending(&stage, ChunkSet::Searchable, None, 99).await.unwrap();
    let chunks = base.chunks(&waiting).await.unwrap();
    let atoms = chunks
        .iter()
        .map(|chunk| InChunk { chunk: chunk.id, found: sentence_atoms(chunk) })
        .collect();
    base.put_chunk_results(ChunkResults::Atoms(stage.clone(), atoms)).await.unwrap();
    base
}
