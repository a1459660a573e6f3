//! Tests that a base in a folder keeps the contract of the ports, and so does the oracle it is
//! compared with.
#![cfg(test)]

use std::future::{Ready, ready};

use pikerag_contract::{Oracle, Shelf, agree, histories};
use pikerag_extract::{ChunkParams, document_graph};
use pikerag_knowledge::DocumentGraph;
use pikerag_parse::{Limits, NoTools, parse};
use pikerag_store::Base;
use proptest::prelude::*;
use tempfile::TempDir;

mod sqlite {
    pikerag_contract::contract!(super::in_a_folder);
}

mod oracle {
    pikerag_contract::contract!(super::in_memory);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// After any history, every read gives what the definition says, with filters and without.
    #[test]
    fn every_read_equals_the_oracle(history in histories()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (_folder, shelf) = made();
        runtime.block_on(agree(&shelf.store, &history));
    }
}

fn in_a_folder() -> Ready<Option<(TempDir, Shelf<Base>)>> {
    ready(Some(made()))
}

fn made() -> (TempDir, Shelf<Base>) {
    let folder = tempfile::tempdir().unwrap();
    let store = Base::open_or_create(folder.path()).unwrap();
    (folder, Shelf { store, documents })
}

fn in_memory() -> Ready<Option<((), Shelf<Oracle>)>> {
    ready(Some(((), Shelf { store: Oracle::default(), documents })))
}

fn documents(path: &str, text: &str) -> Vec<DocumentGraph> {
    let parsed = parse(path, text.as_bytes(), &Limits::default(), &NoTools).unwrap();
    let graph = |document| document_graph(path, document, ChunkParams::default());
    parsed.documents.into_iter().map(graph).collect()
}
