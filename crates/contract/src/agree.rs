//! Compares a store with the oracle after random histories, whole and through filters.

pub(crate) mod happen;
mod reads;

use std::collections::BTreeSet;
use std::sync::Arc;

use pikerag_knowledge::{Filter, KnowledgeBase, Snapshots as _};

use self::happen::{begin, happen};
use self::reads::{Words, same_chunks, same_progress, same_reads};
use crate::history::{Operation, changes_for_filters};
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
/// filters. Two filters, which differ between histories, are tried after each operation, too: a
/// store must show nothing of what they admitted before it.
pub async fn agree(store: &impl Store, history: &[Operation]) {
    let oracle = Oracle::default();
    begin(store).await;
    begin(&oracle).await;
    // Until something is deleted, word scores match the definition exactly.
    let (mut held, mut words) = (BTreeSet::new(), Words::Exact);
    let everything = Filter::default();
    // The same ones whenever this history is tried.
    let sum: usize = format!("{history:?}").bytes().map(usize::from).sum();
    let first = sum % FILTERS.len();
    let tried: Vec<Filter> = filters().cycle().skip(first).take(2).collect();
    for operation in history {
        happen(store, operation).await;
        happen(&oracle, operation).await;
        same_through(store, &oracle, &tried).await;
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

/// Tries all filters after each change of what they read.
pub(crate) async fn filters_agree(store: &impl Store) {
    let oracle = Oracle::default();
    begin(store).await;
    begin(&oracle).await;
    let tried: Vec<Filter> = filters().collect();
    for operation in changes_for_filters() {
        happen(store, &operation).await;
        happen(&oracle, &operation).await;
        same_through(store, &oracle, &tried).await;
    }
}

fn filters() -> impl Iterator<Item = Filter> + Clone {
    FILTERS.iter().map(|conditions| Filter {
        conditions: conditions.iter().map(|condition| condition.parse().unwrap()).collect(),
    })
}

/// Compares the chunks that each filter admits.
async fn same_through(store: &impl Store, oracle: &Oracle, tried: &[Filter]) {
    for filter in tried {
        if let Some((one, other)) = seen(store, oracle, &Filter::default(), filter).await {
            same_chunks(one.as_ref(), other.as_ref()).await;
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
