//! Finds the nodes that fit a query and explains each score: the two paths of PIKE-RAG Fig. 11,
//! hybrid fusion, hop retrieval and the layers of Fig. 8. A reranker may reorder the hits.

mod atoms;
mod auto;
mod chunks;
mod entities;
mod everyday;
mod finder;
mod hops;
mod known;
mod layers;
mod links;
mod names;
mod question;
mod rarity;
mod rerank;
mod search;
mod similarity;
mod spelling;
mod synonyms;
mod tags;
mod titles;

pub use atoms::{AtomHit, atoms, atoms_compared, closest_atoms};
pub use auto::AutoParams;
pub use chunks::{RANK_OFFSET, hybrid, nearest};
pub use finder::{Finder, Hit, RetrieveError};
pub use hops::{HopParams, Walk, hops};
pub use known::{Known, KnownState, Memory};
pub use layers::{Aggregate, LayerParams, Spread, layers};
pub use rerank::Reranking;
pub use search::{Search, SearchParams, UnknownSearch, search};
pub use similarity::{Similarities, SimilarityBy, similarities};
pub use spelling::{Spelling, respelled, with_spelling};
pub use synonyms::{Phrase, declared, phrases, with_words};
pub use tags::tagged;
