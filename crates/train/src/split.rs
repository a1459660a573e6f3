//! Splits trajectories or labels into parts for training, validation and test, by question and by document.

use std::collections::{BTreeMap, BTreeSet};

use pikerag_knowledge::Seeded;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// A part of the data.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Part {
    /// For training.
    Train,
    /// For the loss while training.
    Valid,
    /// For figures after training.
    Test,
}

impl Part {
    /// All parts, in order.
    pub const ALL: [Self; 3] = [Self::Train, Self::Valid, Self::Test];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What no two parts share.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Apart {
    /// Neither a question nor a document.
    #[default]
    Document,
    /// No question.
    Question,
}

/// Data of one question.
pub trait OfQuestion {
    /// The question's identifier.
    fn item(&self) -> &str;
    /// The question.
    fn question(&self) -> &str;
    /// Its known documents, each once.
    fn documents(&self) -> BTreeSet<&str>;
}

/// The part of each question by its identifier. `held_out` is the share of the questions, from 0 to 0.5, of each of
/// validation and test. Questions that share a document, directly or through others, stay together; the largest
/// groups go to training.
///
/// # Errors
/// [`TrainError::Connected`] if one group would leave validation or test empty, although `held_out` is above 0.
pub fn split<T: OfQuestion>(
    all: &[T],
    apart: Apart,
    held_out: f64,
    seed: u64,
) -> Result<BTreeMap<String, Part>, TrainError> {
    let mut groups = groups(all, apart);
    let questions: usize = groups.iter().map(BTreeSet::len).sum();
    let largest = groups.iter().map(BTreeSet::len).max().unwrap_or(0);
    let wanted = (held_out * questions as f64).ceil() as usize;
    let mut draws = Seeded::new(seed);
    let order = draws.shuffled(groups.len());
    let mut shuffled: Vec<BTreeSet<&str>> = Vec::with_capacity(groups.len());
    for place in order {
        shuffled.extend(groups.get_mut(place).map(std::mem::take));
    }
    // The sort is stable, so that equal groups keep the drawn order.
    shuffled.sort_by_key(BTreeSet::len);
    let mut sizes = BTreeMap::from([(Part::Test, 0), (Part::Valid, 0)]);
    let mut parts = BTreeMap::new();
    for group in shuffled {
        let fits = |size: usize| size < wanted && size + group.len() <= wanted.max(1);
        let part =
            sizes.iter().find(|(_, size)| fits(**size)).map_or(Part::Train, |(part, _)| *part);
        if let Some(size) = sizes.get_mut(&part) {
            *size += group.len();
        }
        parts.extend(group.into_iter().map(|item| (item.to_owned(), part)));
    }
    let is_short = 0.0 < held_out && 2 < questions && sizes.values().any(|size| *size == 0);
    if is_short { Err(TrainError::Connected { largest, questions }) } else { Ok(parts) }
}

/// The questions in groups that share no document.
fn groups<T: OfQuestion>(all: &[T], apart: Apart) -> Vec<BTreeSet<&str>> {
    let mut groups: Vec<(BTreeSet<&str>, BTreeSet<&str>)> = Vec::new();
    for one in all {
        let item = one.item();
        let documents = match apart {
            Apart::Document => one.documents(),
            Apart::Question => BTreeSet::new(),
        };
        let mut joined = (BTreeSet::from([item]), documents);
        let (touching, others): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| group.0.contains(item) || !group.1.is_disjoint(&joined.1));
        for (items, documents) in touching {
            joined.0.extend(items);
            joined.1.extend(documents);
        }
        groups = others;
        groups.push(joined);
    }
    groups.into_iter().map(|(items, _)| items).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trajectory::{Chosen, Round, Trajectory};

    fn trajectory(item: &str, documents: &[String]) -> Trajectory {
        let chosen = |document: &String| Chosen {
            question: "q".to_owned(),
            answer: String::new(),
            chunk: None,
            document: document.clone(),
            thinking: String::new(),
        };
        let round = |document| Round { chosen: Some(chosen(document)), ..Round::default() };
        let rounds = documents.iter().map(round).collect();
        Trajectory { item: item.to_owned(), rounds, ..Trajectory::default() }
    }

    proptest! {
        #[test]
        fn no_document_is_in_two_parts(pairs in prop::collection::vec((0..40u8, 0..60u8), 3..80), seed: u64) {
            let all: Vec<Trajectory> = pairs
                .iter()
                .map(|(item, document)| trajectory(&item.to_string(), &[document.to_string()]))
                .collect();
            if let Ok(parts) = split(&all, Apart::Document, 0.1, seed) {
                let mut of_document: BTreeMap<&str, Part> = BTreeMap::new();
                for trajectory in &all {
                    let part = parts[&trajectory.item];
                    for document in trajectory.documents() {
                        prop_assert_eq!(*of_document.entry(document).or_insert(part), part);
                    }
                }
            }
        }
    }

    #[test]
    fn shares_are_kept_and_drawn_by_seed() {
        let all: Vec<Trajectory> =
            (0..100).map(|n| trajectory(&n.to_string(), &[n.to_string()])).collect();
        let parts = split(&all, Apart::Document, 0.1, 1).unwrap();
        let count = |wanted| parts.values().filter(|part| **part == wanted).count();
        assert_eq!(Part::ALL.map(count), [80, 10, 10]);
        assert_ne!(parts, split(&all, Apart::Document, 0.1, 2).unwrap());
    }

    /// Questions are not connected by documents that their decompositions do not name.
    #[test]
    fn unknown_documents_connect_nothing() {
        let all: Vec<Trajectory> =
            (0..20).map(|n| trajectory(&n.to_string(), &[String::new()])).collect();
        assert!(split(&all, Apart::Document, 0.1, 1).is_ok());
    }

    #[test]
    fn connected_questions_are_refused() {
        let shared = "all.md".to_owned();
        let all: Vec<Trajectory> =
            (0..20).map(|n| trajectory(&n.to_string(), std::slice::from_ref(&shared))).collect();
        let refused = split(&all, Apart::Document, 0.1, 1);
        assert!(matches!(refused, Err(TrainError::Connected { largest: 20, questions: 20 })));
        assert!(split(&all, Apart::Question, 0.1, 1).is_ok());
    }
}
