//! Compares a store with the oracle after random histories, whole and through filters.

pub(crate) mod happen;
mod reads;

use std::collections::BTreeSet;
use std::sync::Arc;

use pikerag_knowledge::{Filter, KnowledgeBase, Snapshots as _};

use self::happen::{begin, happen};
use self::reads::{Words, same_chunks, same_progress, same_reads};
use crate::history::Operation;
use crate::{Oracle, Store};

/// Conditions of each kind, alone and combined.
const FILTERS: [&[&str]; 9] = [
    &[],
    &["folder=law"],
    &["date>=2020", "folder=law|tea"],
    &["meta:author=Ada"],
    &["source=law/0.md|tea/1.md"],
    &["tag:Drug=crane|quay"],
    &["record:approval.year>=2"],
    &["tag:Place=harbour", "meta:author=Eve"],
    &["date<2000"],
];

/// Applies a history to an empty store.
pub async fn apply(store: &impl Store, history: &[Operation]) {
    begin(store).await;
    for operation in history {
        happen(store, operation).await;
    }
}

/// Applies a history to a store and to the oracle, and compares all reads, whole and through
/// filters. Two filters are tried after each operation, too, so that a store shows nothing of what
/// they admitted before it.
pub async fn agree(store: &impl Store, history: &[Operation]) {
    let oracle = Oracle::default();
    begin(store).await;
    begin(&oracle).await;
    // Until something is deleted, word scores match the definition exactly.
    let (mut held, mut words) = (BTreeSet::new(), Words::Exact);
    let of = |conditions: &&[&str]| Filter {
        conditions: conditions.iter().map(|condition| condition.parse().unwrap()).collect(),
    };
    let filters = || FILTERS.iter().map(of);
    let everything = Filter::default();
    for (step, operation) in history.iter().enumerate() {
        happen(store, operation).await;
        happen(&oracle, operation).await;
        // Each is tried after two operations, one of which may change what it admits.
        for filter in filters().cycle().skip(step).take(2) {
            if let Some((one, other)) = seen(store, &oracle, &everything, &filter).await {
                same_chunks(one.as_ref(), other.as_ref()).await;
            }
        }
        let is_new = match operation {
            Operation::Put { file, .. } => held.insert(*file),
            Operation::Delete { file } => !held.contains(file),
            Operation::Summed { .. } => false,
            _ => true,
        };
        if !is_new {
            words = Words::Found;
        }
    }
    same_progress(store, &oracle).await;
    same_reads(store, &oracle, &oracle, words).await;
    let narrowed = filters().zip(filters().cycle().skip(1));
    for (visible, filter) in filters().map(|filter| (everything.clone(), filter)).chain(narrowed) {
        if let Some((one, other)) = seen(store, &oracle, &visible, &filter).await {
            same_reads(one.as_ref(), other.as_ref(), &oracle, words).await;
        }
    }
}

/// Both through the filters, or the same error.
async fn seen(
    store: &impl Store,
    oracle: &Oracle,
    visible: &Filter,
    filter: &Filter,
) -> Option<(Arc<dyn KnowledgeBase>, Arc<dyn KnowledgeBase>)> {
    match (store.snapshot(visible, filter).await, oracle.snapshot(visible, filter).await) {
        (Ok(one), Ok(other)) => Some((one, other)),
        (Err(one), Err(other)) => {
            assert_eq!(one.to_string(), other.to_string());
            None
        }
        (one, other) => panic!("{filter}: {:?}, {:?}", one.err(), other.err()),
    }
}
