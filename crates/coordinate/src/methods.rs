//! Which method? A closed set, chosen by name; one file each.

pub mod closed_book;
pub mod crp_rag;
pub mod graphrag;
pub mod hop_rag;
pub mod ircot;
pub mod iter_retgen;
pub mod kar3;
pub mod least_to_most;
pub mod naive_rag;
pub mod probtree;
pub mod ra_isf;
pub mod raptor;
pub mod replug;
pub mod searchain;
pub mod self_ask;
pub mod self_rag;
pub mod think_then_act;
pub mod tree_of_thought;

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
    /// RA-ISF, Algorithm 1.
    RaIsf(ra_isf::Params),
    /// CRP-RAG.
    CrpRag(crp_rag::Params),
    /// No retrieval, one answer.
    ClosedBook(closed_book::Params),
    /// Follow-up questions, one at a time.
    SelfAsk(self_ask::Params),
    /// Reasoning and retrieval in turns.
    Ircot(ircot::Params),
    /// Retrieval by the last answer, round after round.
    IterRetgen(iter_retgen::Params),
    /// Sub-questions from simple to hard.
    LeastToMost(least_to_most::Params),
    /// Judge first, then rewrite and retrieve where that helps.
    ThinkThenAct(think_then_act::Params),
    /// Breadth-first search over thoughts.
    TreeOfThought(tree_of_thought::Params),
    /// A chain of queries, verified node by node.
    SearChain(searchain::Params),
    /// A question tree, solved from its leaves.
    ProbTree(probtree::Params),
    /// One answer per passage, weighed together.
    Replug(replug::Params),
    /// Judgements steer what is retrieved and answered.
    SelfRag(self_rag::Params),
    /// The entity graph around what a question is about.
    GraphRagLocal(graphrag::Local),
    /// The reports on all communities.
    GraphRagGlobal(graphrag::Global),
    /// Chunks and summaries in one search.
    Raptor(raptor::Params),
}

/// A name that no method bears.
#[derive(Debug, thiserror::Error)]
#[error("there is no method `{0}`; choose from {known}", known = Method::names().join(", "))]
pub struct UnknownMethod(String);

impl Method {
    /// Every method by its name, in the order of the documentation.
    pub fn all() -> Vec<(&'static str, Self)> {
        let kar3 = kar3::Params::default();
        let (ra_isf, crp) = (ra_isf::Params::default(), crp_rag::Params::default());
        let structured = |structure| Self::CrpRag(crp_rag::Params { structure, ..crp });
        let self_ask = self_ask::Params::default();
        let self_ask_r = self_ask::Params { gather: Some(Gather::step()), ..self_ask };
        let ircot = ircot::Params::default();
        let least_to_most = least_to_most::Params::default();
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
            ("ra-isf", Self::RaIsf(ra_isf)),
            // The ablations of RA-ISF Table 2.
            ("ra-isf-no-know", Self::RaIsf(ra_isf::Params { knows: false, ..ra_isf })),
            ("ra-isf-no-relevant", Self::RaIsf(ra_isf::Params { retrieves: false, ..ra_isf })),
            ("ra-isf-no-decompose", Self::RaIsf(ra_isf::Params { decomposes: false, ..ra_isf })),
            ("crp-rag", Self::CrpRag(crp)),
            // The ablations of CRP-RAG Table 2, and the structures of Table 5.
            ("crp-rag-no-aggregation", Self::CrpRag(crp_rag::Params { aggregates: false, ..crp })),
            ("crp-rag-no-evaluation", Self::CrpRag(crp_rag::Params { evaluates: false, ..crp })),
            ("crp-rag-no-iteration", Self::CrpRag(crp_rag::Params { iterates: false, ..crp })),
            ("crp-rag-tree", structured(crp_rag::Structure::Tree)),
            ("crp-rag-chain", structured(crp_rag::Structure::Chain)),
            ("crp-rag-text", structured(crp_rag::Structure::TextChunk)),
            ("direct", Self::ClosedBook(closed_book::Params::default())),
            (
                "zero-shot-cot",
                Self::ClosedBook(closed_book::Params {
                    reasoning: closed_book::Reasoning::StepByStep,
                }),
            ),
            ("self-ask", Self::SelfAsk(self_ask)),
            ("self-ask-r", Self::SelfAsk(self_ask_r)),
            (
                "self-ask-hr",
                Self::SelfAsk(self_ask::Params {
                    gather: Some(Gather::hierarchical()),
                    ..self_ask
                }),
            ),
            // The zero-shot variants of KAR³ Table 14.
            (
                "self-ask-zero-shot",
                Self::SelfAsk(self_ask::Params { shots: self_ask::Shots::Zero, ..self_ask_r }),
            ),
            ("ircot", Self::Ircot(ircot)),
            (
                "ircot-zero-shot",
                Self::Ircot(ircot::Params { shots: self_ask::Shots::Zero, ..ircot }),
            ),
            ("iter-retgen", Self::IterRetgen(iter_retgen::Params::default())),
            ("least-to-most", Self::LeastToMost(least_to_most)),
            // Ours: with 4 chunks for each sub-question.
            (
                "least-to-most-r",
                Self::LeastToMost(least_to_most::Params {
                    gather: Some(Gather::step()),
                    ..least_to_most
                }),
            ),
            ("think-then-act", Self::ThinkThenAct(think_then_act::Params::default())),
            ("tree-of-thought", Self::TreeOfThought(tree_of_thought::Params::default())),
            ("searchain", Self::SearChain(searchain::Params::default())),
            ("probtree", Self::ProbTree(probtree::Params::default())),
            ("replug", Self::Replug(replug::Params::default())),
            ("self-rag", Self::SelfRag(self_rag::Params::default())),
            ("graphrag-local", Self::GraphRagLocal(graphrag::Local::default())),
            ("graphrag-global", Self::GraphRagGlobal(graphrag::Global::default())),
            ("raptor", Self::Raptor(raptor::Params::default())),
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
    /// The most rounds, sub-questions or sentences (N).
    pub n: Option<NonZeroUsize>,
    /// Candidates for each proposal; atoms for each follow-up question; chunks of the one retrieval
    /// of Think-then-Act (k).
    pub k: Option<NonZeroUsize>,
    /// The least similarity of an atom (δ), from -1 to 1; calibrated on the base where it is not set.
    pub delta: Option<f32>,
    /// What fills up KAR³'s context where its loop ended with too little.
    pub net: Option<kar3::Net>,
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
                delta: set.delta.or(params.delta),
                net: set.net.unwrap_or(params.net),
                hops: set.hops,
                ..params
            }),
            Self::HopRag(params) => {
                let k = set.hop_chunks.map_or(params.k, NonZeroUsize::get);
                Self::HopRag(hop_rag::Params { k, hops: set.hops })
            }
            Self::NaiveRag(params) => Self::NaiveRag(params),
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
                gather: params.gather.map(|gather| atoms_with(gather, set)),
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
        }
    }
}

/// The atoms of `H-R` with the user's parameters; `R` has none.
fn atoms_with(gather: Gather, set: &Overrides) -> Gather {
    if gather.atoms == 0 {
        return gather;
    }
    Gather {
        atoms: set.k.map_or(gather.atoms, NonZeroUsize::get),
        atom_floor: set.delta.unwrap_or(gather.atom_floor),
        ..gather
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
        Method::RaIsf(params) => Box::pin(ra_isf::solve(kit, question, params)).await,
        Method::CrpRag(params) => Box::pin(crp_rag::solve(kit, question, params)).await,
        Method::ClosedBook(params) => Box::pin(closed_book::solve(kit, question, params)).await,
        Method::SelfAsk(params) => Box::pin(self_ask::solve(kit, question, params)).await,
        Method::Ircot(params) => Box::pin(ircot::solve(kit, question, params)).await,
        Method::IterRetgen(params) => Box::pin(iter_retgen::solve(kit, question, params)).await,
        Method::LeastToMost(params) => Box::pin(least_to_most::solve(kit, question, params)).await,
        Method::ThinkThenAct(params) => {
            Box::pin(think_then_act::solve(kit, question, params)).await
        }
        Method::TreeOfThought(params) => {
            Box::pin(tree_of_thought::solve(kit, question, params)).await
        }
        Method::SearChain(params) => Box::pin(searchain::solve(kit, question, params)).await,
        Method::ProbTree(params) => Box::pin(probtree::solve(kit, question, params)).await,
        Method::Replug(params) => Box::pin(replug::solve(kit, question, params)).await,
        Method::SelfRag(params) => Box::pin(self_rag::solve(kit, question, params)).await,
        Method::GraphRagLocal(params) => Box::pin(graphrag::local(kit, question, params)).await,
        Method::GraphRagGlobal(params) => Box::pin(graphrag::global(kit, question, params)).await,
        Method::Raptor(params) => Box::pin(raptor::solve(kit, question, params)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KAR³ §4.1 and §A.3.
    #[test]
    fn the_defaults_are_the_papers() {
        let kar3 = kar3::Params::default();
        assert_eq!((kar3.n.get(), kar3.k.get(), kar3::DELTA, kar3.chunk_floor), (5, 4, 0.5, 0.2));
        assert_eq!((kar3.atomizer, kar3.hop_candidates), (AtomKind::Question, 0));
        let (r, h_r) = (Gather::chunks(), Gather::hierarchical());
        assert_eq!((r.chunks, r.chunk_floor, r.atoms), (16, 0.2, 0));
        assert_eq!((h_r.chunks, h_r.chunk_floor, h_r.atoms, h_r.atom_floor), (8, 0.5, 4, 0.5));
        let step = Gather::step();
        assert_eq!((step.chunks, step.chunk_floor, step.atoms), (4, 0.2, 0));
        let self_ask = self_ask::Params::default();
        assert_eq!((self_ask.n.get(), self_ask.gather), (5, None));
        assert_eq!(self_ask.shots, self_ask::Shots::Few);
        let ircot = ircot::Params::default();
        assert_eq!((ircot.n.get(), ircot.gather, ircot.shots), (5, step, self_ask::Shots::Few));
        let iter_retgen = iter_retgen::Params::default();
        assert_eq!((iter_retgen.n.get(), iter_retgen.gather), (5, r));
        let least_to_most = least_to_most::Params::default();
        assert_eq!((least_to_most.n.get(), least_to_most.gather), (5, None));
        // CRP-RAG §4.3.
        assert_eq!(think_then_act::Params::default().k.get(), 5);
        assert_eq!(closed_book::Params::default().reasoning, closed_book::Reasoning::None);
        let tree = tree_of_thought::Params::default();
        assert_eq!((tree.depth.get(), tree.thoughts.get(), tree.breadth.get()), (3, 3, 2));
    }

    #[test]
    fn overrides_reach_the_methods_that_have_them() {
        let (n, k) = (NonZeroUsize::new(2), NonZeroUsize::new(7));
        let set = Overrides { n, k, delta: Some(0.25), ..Overrides::default() };
        let with = |name: &str| name.parse::<Method>().unwrap().with(&set);
        let Method::SelfAsk(params) = with("self-ask-hr") else { panic!() };
        let gather = params.gather.unwrap();
        assert_eq!((Some(params.n), gather.chunks, gather.atoms), (n, 8, 7));
        assert_eq!((gather.chunk_floor, gather.atom_floor), (0.5, 0.25));
        let Method::SelfAsk(params) = with("self-ask-r") else { panic!() };
        assert_eq!((Some(params.n), params.gather), (n, Some(Gather::step())));
        let Method::Ircot(params) = with("ircot-zero-shot") else { panic!() };
        assert_eq!((Some(params.n), params.shots), (n, self_ask::Shots::Zero));
        let Method::IterRetgen(params) = with("iter-retgen") else { panic!() };
        assert_eq!((Some(params.n), params.gather), (n, Gather::chunks()));
        let Method::LeastToMost(params) = with("least-to-most-r") else { panic!() };
        assert_eq!((Some(params.n), params.gather), (n, Some(Gather::step())));
        let Method::ThinkThenAct(params) = with("think-then-act") else { panic!() };
        assert_eq!(Some(params.k), k);
        for name in ["direct", "tree-of-thought", "naive-rag-hr"] {
            assert_eq!(with(name).to_string(), name);
        }
        let searchain = searchain::Params::default();
        assert_eq!((searchain.n.get(), searchain.gather), (5, Gather::step()));
        let probtree = probtree::Params::default();
        assert_eq!((probtree.depth, probtree.nodes, probtree.gather), (3, 8, Gather::step()));
        assert_eq!(replug::Params::default().k.get(), 10);
        let self_rag = self_rag::Params::default();
        assert_eq!((self_rag.k.get(), self_rag.w_rel), (5, 1.0));
        assert_eq!((self_rag.w_sup, self_rag.w_use), (1.0, 0.5));
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
