//! Which name stands for which method? The names carry the papers' parameters.

use std::fmt;
use std::str::FromStr;

use pikerag_knowledge::AtomKind;

use super::{
    Method, closed_book, crp_rag, graphrag, hop_rag, ircot, iter_retgen, kar3, least_to_most,
    probtree, ra_isf, raptor, replug, searchain, self_ask, self_rag, skr, think_then_act,
    tree_of_thought,
};
use crate::decompose::{Proposer, Selector};
use crate::retrieval::RetrievalParams;

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
        let self_ask_r = self_ask::Params { retrieval: Some(RetrievalParams::step()), ..self_ask };
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
            ("naive-rag", Self::NaiveRag(RetrievalParams::chunks())),
            ("naive-rag-hr", Self::NaiveRag(RetrievalParams::hierarchical())),
            // Ours: naive RAG on hybrid retrieval.
            ("hybrid-rag", Self::NaiveRag(RetrievalParams::hybrid())),
            // Ours: naive RAG on all layers (PIKE-RAG §5.2.3).
            ("layers-rag", Self::NaiveRag(RetrievalParams::layers())),
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
                    retrieval: Some(RetrievalParams::hierarchical()),
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
                    retrieval: Some(RetrievalParams::step()),
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
            ("skr", Self::Skr(skr::Params::default())),
        ]
    }

    /// Every name, in the order of the documentation.
    pub fn names() -> Vec<&'static str> {
        Self::all().into_iter().map(|(name, _)| name).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// KAR³ §4.1 and §A.3.
    #[test]
    fn the_defaults_are_the_papers() {
        let kar3 = kar3::Params::default();
        assert_eq!(
            (kar3.n.get(), kar3.k.get(), kar3::DELTA, kar3.chunk_min_score),
            (5, 4, 0.5, 0.2)
        );
        assert_eq!((kar3.atomizer, kar3.hop_candidates), (AtomKind::Question, 0));
        let (r, h_r) = (RetrievalParams::chunks(), RetrievalParams::hierarchical());
        assert_eq!((r.chunks, r.chunk_min_score, r.atoms), (16, 0.2, 0));
        assert_eq!(
            (h_r.chunks, h_r.chunk_min_score, h_r.atoms, h_r.atom_min_score),
            (8, 0.5, 4, 0.5)
        );
        let step = RetrievalParams::step();
        assert_eq!((step.chunks, step.chunk_min_score, step.atoms), (4, 0.2, 0));
        let self_ask = self_ask::Params::default();
        assert_eq!((self_ask.n.get(), self_ask.retrieval), (5, None));
        assert_eq!(self_ask.shots, self_ask::Shots::Few);
        let ircot = ircot::Params::default();
        assert_eq!((ircot.n.get(), ircot.retrieval, ircot.shots), (5, step, self_ask::Shots::Few));
        let iter_retgen = iter_retgen::Params::default();
        assert_eq!((iter_retgen.n.get(), iter_retgen.retrieval), (5, r));
        let least_to_most = least_to_most::Params::default();
        assert_eq!((least_to_most.n.get(), least_to_most.retrieval), (5, None));
        // CRP-RAG §4.3.
        assert_eq!(think_then_act::Params::default().k.get(), 5);
        assert_eq!(closed_book::Params::default().reasoning, closed_book::Reasoning::None);
        let tree = tree_of_thought::Params::default();
        assert_eq!((tree.depth.get(), tree.thoughts.get(), tree.breadth.get()), (3, 3, 2));
        let searchain = searchain::Params::default();
        assert_eq!((searchain.n.get(), searchain.retrieval), (5, RetrievalParams::step()));
        let probtree = probtree::Params::default();
        assert_eq!(
            (probtree.depth, probtree.nodes, probtree.retrieval),
            (3, 8, RetrievalParams::step())
        );
        assert_eq!(replug::Params::default().k.get(), 10);
        let self_rag = self_rag::Params::default();
        assert_eq!((self_rag.k.get(), self_rag.w_rel), (5, 1.0));
        assert_eq!((self_rag.w_sup, self_rag.w_use), (1.0, 0.5));
        let skr = skr::Params::default();
        assert_eq!((skr.k.get(), skr.retrieval), (5, RetrievalParams::top(5)));
        let ra_isf = ra_isf::Params::default();
        assert_eq!((ra_isf.depth, ra_isf.k), (3, 5));
        let crp = crp_rag::Params::default();
        assert_eq!((crp.k, crp.aggregates, crp.evaluates, crp.iterates), (5, true, true, true));
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
