//! Which method? A closed set, chosen by name; one file each.

pub mod hop_rag;
pub mod kar3;
pub mod naive_rag;
pub mod probtree;
pub mod replug;
pub mod searchain;
pub mod self_rag;
pub mod skr;

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use pikerag_knowledge::{Answer, AtomKind, Question};
use pikerag_retrieve::HopParams;
use serde::Deserialize;

use crate::decompose::{Proposer, Selector};
use crate::gather::Gather;
use crate::kit::{Certainty, Kit, SolveError};

/// A method with its parameters. The names carry the papers' parameters as defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// KAR³, Algorithm 1.
    Kar3(kar3::Params),
    /// Hop retrieval, then one answering call.
    HopRag(hop_rag::Params),
    /// One retrieval, one answer.
    NaiveRag(Gather),
    /// A chain of queries, verified node by node.
    SearChain(searchain::Params),
    /// A question tree, solved from its leaves.
    ProbTree(probtree::Params),
    /// One answer per passage, weighed together.
    Replug(replug::Params),
    /// Judgements steer what is retrieved and answered.
    SelfRag(self_rag::Params),
    /// The nearest labelled questions decide whether to retrieve.
    Skr(skr::Params),
}

/// A name that no method bears.
#[derive(Debug, thiserror::Error)]
#[error("there is no method `{0}`; choose from {known}", known = Method::names().join(", "))]
pub struct UnknownMethod(String);

impl Method {
    /// Every method by its name, in the order of the documentation.
    pub fn all() -> Vec<(&'static str, Self)> {
        let kar3 = kar3::Params::default();
        vec![
            ("kar3", Self::Kar3(kar3)),
            // The ablations of KAR³ Table 3.
            ("kar3-sentences", Self::Kar3(kar3::Params { atomizer: AtomKind::Sentence, ..kar3 })),
            ("kar3-one-proposal", Self::Kar3(kar3::Params { proposer: Proposer::One, ..kar3 })),
            (
                "kar3-chunk-retriever",
                Self::Kar3(kar3::Params { retriever: kar3::Retriever::Chunks, ..kar3 }),
            ),
            (
                "kar3-chunk-selector",
                Self::Kar3(kar3::Params { selector: Selector::ByChunk, ..kar3 }),
            ),
            // Ours: hop retrieval as a further source of candidates.
            ("kar3-hops", Self::Kar3(kar3::Params { hop_candidates: 4, ..kar3 })),
            ("hop-rag", Self::HopRag(hop_rag::Params::default())),
            ("naive-rag", Self::NaiveRag(Gather::chunks())),
            ("naive-rag-hr", Self::NaiveRag(Gather::hierarchical())),
            // Ours: naive RAG on hybrid retrieval.
            ("hybrid-rag", Self::NaiveRag(Gather::hybrid())),
            ("searchain", Self::SearChain(searchain::Params::default())),
            ("probtree", Self::ProbTree(probtree::Params::default())),
            ("replug", Self::Replug(replug::Params::default())),
            ("self-rag", Self::SelfRag(self_rag::Params::default())),
            ("skr", Self::Skr(skr::Params::default())),
        ]
    }

    /// Every name, in the order of the documentation.
    pub fn names() -> Vec<&'static str> {
        Self::all().into_iter().map(|(name, _)| name).collect()
    }
}

/// Parameters that a user sets for all methods that have them; what is not set stays as the papers
/// have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    /// The most rounds of KAR³, the most new plans of `SearChain` (N).
    pub n: Option<NonZeroUsize>,
    /// Candidates for each proposal; passages of REPLUG and Self-RAG; neighbours of SKR (k).
    pub k: Option<NonZeroUsize>,
    /// The least similarity of an atom (δ), from -1 to 1.
    pub delta: Option<f32>,
    /// Chunks that hop RAG gathers.
    pub hop_chunks: Option<NonZeroUsize>,
    /// How hops are weighed.
    pub hops: HopParams,
    /// By which measure a model's certainty is told.
    pub certainty: Certainty,
}

impl Method {
    /// The method with the user's parameters.
    #[must_use]
    pub fn with(self, set: &Overrides) -> Self {
        match self {
            Self::Kar3(params) => Self::Kar3(kar3::Params {
                n: set.n.unwrap_or(params.n),
                k: set.k.unwrap_or(params.k),
                delta: set.delta.unwrap_or(params.delta),
                hops: set.hops,
                ..params
            }),
            Self::HopRag(params) => {
                let k = set.hop_chunks.map_or(params.k, NonZeroUsize::get);
                Self::HopRag(hop_rag::Params { k, hops: set.hops })
            }
            Self::NaiveRag(params) => Self::NaiveRag(params),
            Self::SearChain(params) => {
                Self::SearChain(searchain::Params { n: set.n.unwrap_or(params.n), ..params })
            }
            Self::ProbTree(params) => Self::ProbTree(params),
            Self::Replug(params) => Self::Replug(replug::Params { k: set.k.unwrap_or(params.k) }),
            Self::SelfRag(params) => {
                Self::SelfRag(self_rag::Params { k: set.k.unwrap_or(params.k), ..params })
            }
            Self::Skr(params) => Self::Skr(skr::Params { k: set.k.unwrap_or(params.k), ..params }),
        }
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        let found = Self::all().into_iter().find(|(known, _)| *known == name);
        found.map(|(_, method)| method).ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

impl fmt::Display for Method {
    /// The name; where the parameters are the user's own, the name of the first method of its kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Self::all();
        if let Some((name, _)) = all.iter().find(|(_, method)| method == self) {
            return f.write_str(name);
        }
        let alike = |method: &Self| std::mem::discriminant(method) == std::mem::discriminant(self);
        let name =
            all.iter().find(|(_, method)| alike(method)).map_or("a method", |(name, _)| name);
        write!(f, "{name} (own parameters)")
    }
}

/// Answers a question by a method.
///
/// # Errors
/// See [`SolveError`]. A question is answered whole or not at all.
///
/// # Cancel safety
/// Reads only; dropping the future gives up at most the call in flight.
pub async fn solve(kit: &Kit, question: &Question, method: Method) -> Result<Answer, SolveError> {
    match method {
        Method::Kar3(params) => Box::pin(kar3::solve(kit, question, params)).await,
        Method::HopRag(params) => Box::pin(hop_rag::solve(kit, question, params)).await,
        Method::NaiveRag(params) => Box::pin(naive_rag::solve(kit, question, params)).await,
        Method::SearChain(params) => Box::pin(searchain::solve(kit, question, params)).await,
        Method::ProbTree(params) => Box::pin(probtree::solve(kit, question, params)).await,
        Method::Replug(params) => Box::pin(replug::solve(kit, question, params)).await,
        Method::SelfRag(params) => Box::pin(self_rag::solve(kit, question, params)).await,
        Method::Skr(params) => Box::pin(skr::solve(kit, question, params)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KAR³ §4.1 and §A.3.
    #[test]
    fn the_defaults_are_the_papers() {
        let kar3 = kar3::Params::default();
        assert_eq!((kar3.n.get(), kar3.k.get(), kar3.delta, kar3.chunk_floor), (5, 4, 0.5, 0.2));
        assert_eq!((kar3.atomizer, kar3.hop_candidates), (AtomKind::Question, 0));
        let (r, h_r) = (Gather::chunks(), Gather::hierarchical());
        assert_eq!((r.chunks, r.chunk_floor, r.atoms), (16, 0.2, 0));
        assert_eq!((h_r.chunks, h_r.chunk_floor, h_r.atoms, h_r.atom_floor), (8, 0.5, 4, 0.5));
        let searchain = searchain::Params::default();
        assert_eq!((searchain.n.get(), searchain.gather), (5, Gather::step()));
        let probtree = probtree::Params::default();
        assert_eq!((probtree.depth, probtree.nodes, probtree.gather), (3, 8, Gather::step()));
        assert_eq!(replug::Params::default().k.get(), 10);
        let self_rag = self_rag::Params::default();
        assert_eq!((self_rag.k.get(), self_rag.w_rel), (5, 1.0));
        assert_eq!((self_rag.w_sup, self_rag.w_use), (1.0, 0.5));
        let skr = skr::Params::default();
        assert_eq!((skr.k.get(), skr.gather), (5, Gather::top(5)));
    }

    #[test]
    fn names_read_back() {
        for name in Method::names() {
            assert_eq!(name.parse::<Method>().unwrap().to_string(), name);
        }
        let error = "kar4".parse::<Method>().unwrap_err().to_string();
        assert!(error.starts_with("there is no method `kar4`; choose from kar3, "), "{error}");
    }
}
