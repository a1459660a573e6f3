//! What may a user set? Parameters by the papers' names, for all methods that have them.

use std::num::NonZeroUsize;

use pikerag_retrieve::{HopParams, LayerParams};
use serde::Deserialize;

use super::{
    Method, crp_rag, hop_rag, ircot, iter_retgen, kar3, least_to_most, ra_isf, replug, searchain,
    self_ask, self_rag, skr, think_then_act,
};
use crate::ports::Certainty;
use crate::retrieval::RetrievalParams;
use crate::tagging::TagUse;

/// Parameters that a user sets for all methods that have them; what is not set stays as the papers
/// have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    /// The most rounds, sub-questions, sentences or new plans (N).
    pub n: Option<NonZeroUsize>,
    /// Candidates for each proposal; atoms for each follow-up question; chunks of the one retrieval of
    /// Think-then-Act, passages of REPLUG, Self-RAG, RA-ISF and CRP-RAG; neighbours of SKR (k).
    pub k: Option<NonZeroUsize>,
    /// The least similarity of an atom (δ), from -1 to 1; calibrated on the base where it is not set.
    pub delta: Option<f32>,
    /// What fills up KAR³'s context where its loop ended with too little.
    #[serde(alias = "net")]
    pub fallback: Option<kar3::Fallback>,
    /// How often RA-ISF splits a question (`D_th`).
    pub depth: Option<usize>,
    /// The perplexity below which CRP-RAG takes knowledge for sufficient.
    pub perplexity: Option<f64>,
    /// The similarity above which CRP-RAG merges steps.
    pub merge: Option<f32>,
    /// Share of CRP-RAG's nodes that are spoilt, in hundredths up to 50 (Figure 3).
    pub noisy_nodes: Option<u8>,
    /// Share of its nodes whose knowledge is spoilt, in hundredths up to 50 (Figure 3).
    pub noisy_knowledge: Option<u8>,
    /// Chunks that hop RAG gathers.
    pub hop_chunks: Option<NonZeroUsize>,
    /// How hops are weighed.
    pub hops: HopParams,
    /// How layers are weighed; a setting of retrieval, not of methods.
    #[serde(skip)]
    pub layers: LayerParams,
    /// By which measure a model's certainty is told.
    pub certainty: Certainty,
    /// What naive RAG and its kin use a question's tags for; a setting of its own place.
    #[serde(skip)]
    pub tags: TagUse,
}

impl Method {
    /// The method with the user's parameters.
    #[must_use]
    pub fn with(self, set: &Overrides) -> Self {
        match self {
            Self::Kar3(params) => Self::Kar3(kar3::Params {
                n: set.n.unwrap_or(params.n),
                k: set.k.unwrap_or(params.k),
                delta: set.delta.or(params.delta),
                fallback: set.fallback.unwrap_or(params.fallback),
                hops: set.hops,
                layers: set.layers,
                ..params
            }),
            Self::HopRag(params) => {
                let k = set.hop_chunks.map_or(params.k, NonZeroUsize::get);
                Self::HopRag(hop_rag::Params { k, hops: set.hops })
            }
            Self::NaiveRag(params) => {
                Self::NaiveRag(RetrievalParams { tags: set.tags, ..params.weighed(set.layers) })
            }
            Self::RaIsf(params) => Self::RaIsf(ra_isf::Params {
                depth: set.depth.unwrap_or(params.depth),
                k: set.k.map_or(params.k, NonZeroUsize::get),
                ..params
            }),
            Self::CrpRag(params) => Self::CrpRag(crp_rag::Params {
                k: set.k.map_or(params.k, NonZeroUsize::get),
                perplexity: set.perplexity.unwrap_or(params.perplexity),
                merge: set.merge.unwrap_or(params.merge),
                noise: match (set.noisy_nodes, set.noisy_knowledge) {
                    (Some(percent), _) => crp_rag::Noise::Nodes(percent),
                    (None, Some(percent)) => crp_rag::Noise::Knowledge(percent),
                    (None, None) => params.noise,
                },
                ..params
            }),
            Self::ClosedBook(params) => Self::ClosedBook(params),
            Self::SelfAsk(params) => Self::SelfAsk(self_ask::Params {
                n: set.n.unwrap_or(params.n),
                retrieval: params.retrieval.map(|retrieval| atoms_with(retrieval, set)),
                ..params
            }),
            Self::Ircot(params) => {
                Self::Ircot(ircot::Params { n: set.n.unwrap_or(params.n), ..params })
            }
            Self::IterRetgen(params) => {
                Self::IterRetgen(iter_retgen::Params { n: set.n.unwrap_or(params.n), ..params })
            }
            Self::LeastToMost(params) => {
                Self::LeastToMost(least_to_most::Params { n: set.n.unwrap_or(params.n), ..params })
            }
            Self::ThinkThenAct(params) => {
                Self::ThinkThenAct(think_then_act::Params { k: set.k.unwrap_or(params.k) })
            }
            Self::TreeOfThought(params) => Self::TreeOfThought(params),
            Self::SearChain(params) => {
                Self::SearChain(searchain::Params { n: set.n.unwrap_or(params.n), ..params })
            }
            Self::ProbTree(params) => Self::ProbTree(params),
            Self::Replug(params) => Self::Replug(replug::Params { k: set.k.unwrap_or(params.k) }),
            Self::SelfRag(params) => {
                Self::SelfRag(self_rag::Params { k: set.k.unwrap_or(params.k), ..params })
            }
            Self::GraphRagLocal(_) | Self::GraphRagGlobal(_) | Self::Raptor(_) => self,
            Self::Skr(params) => Self::Skr(skr::Params { k: set.k.unwrap_or(params.k), ..params }),
        }
    }
}

/// The atoms of `H-R` with the user's parameters; `R` has none.
fn atoms_with(retrieval: RetrievalParams, set: &Overrides) -> RetrievalParams {
    if retrieval.atoms == 0 {
        return retrieval;
    }
    RetrievalParams {
        atoms: set.k.map_or(retrieval.atoms, NonZeroUsize::get),
        atom_min_score: set.delta.unwrap_or(retrieval.atom_min_score),
        ..retrieval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_reach_the_methods_that_have_them() {
        let (n, k) = (NonZeroUsize::new(2), NonZeroUsize::new(7));
        let set = Overrides { n, k, delta: Some(0.25), ..Overrides::default() };
        let with = |name: &str| name.parse::<Method>().unwrap().with(&set);
        let Method::SelfAsk(params) = with("self-ask-hr") else { panic!() };
        let retrieval = params.retrieval.unwrap();
        assert_eq!((Some(params.n), retrieval.chunks, retrieval.atoms), (n, 8, 7));
        assert_eq!((retrieval.chunk_min_score, retrieval.atom_min_score), (0.5, 0.25));
        let Method::SelfAsk(params) = with("self-ask-r") else { panic!() };
        assert_eq!((Some(params.n), params.retrieval), (n, Some(RetrievalParams::step())));
        let Method::Ircot(params) = with("ircot-zero-shot") else { panic!() };
        assert_eq!((Some(params.n), params.shots), (n, self_ask::Shots::Zero));
        let Method::IterRetgen(params) = with("iter-retgen") else { panic!() };
        assert_eq!((Some(params.n), params.retrieval), (n, RetrievalParams::chunks()));
        let Method::LeastToMost(params) = with("least-to-most-r") else { panic!() };
        assert_eq!((Some(params.n), params.retrieval), (n, Some(RetrievalParams::step())));
        let Method::ThinkThenAct(params) = with("think-then-act") else { panic!() };
        assert_eq!(Some(params.k), k);
        for name in ["direct", "tree-of-thought", "naive-rag-hr"] {
            assert_eq!(with(name).to_string(), name);
        }
    }
}
