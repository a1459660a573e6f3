//! Lists every method by its name: a closed set, one file for each method.

mod around;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::str::FromStr;

use futures::future::{BoxFuture, Either, select};
use pikerag_knowledge::telemetry::TRACED;
use pikerag_knowledge::{Answer, AtomKind, Question, Structure};
use serde_json::Value;
use tracing::field::Empty;
use tracing::{Instrument, info, info_span};

use pikerag_methods::spec::{self, Cost, Description, MethodParams, Weights};
use pikerag_methods::{
    Finished, MethodLabel, Ports, RetrievalParams, Run, RunParams, SolveError, TagUse, adaptive,
    crp_rag, hop_rag, kar3, naive_rag, pike, ra_isf,
};

use around::solve_and_mark;

/// The enum of all methods, and the functions that list them: one line for each method.
macro_rules! methods {
    ($($(#[$about:meta])* $method:ident($params:ty) => $solve:path,)*) => {
        /// A method with its parameters. The names carry the papers' parameters as defaults.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Method {
            $($(#[$about])* $method($params),)*
        }

        /// Runs the method, on the caller's account.
        fn solve<'a>(
            ports: &'a Ports,
            run: &'a mut Run,
            question: &'a Question,
            method: Method,
        ) -> BoxFuture<'a, Result<Answer, SolveError>> {
            match method {
                $(Method::$method(params) => Box::pin($solve(ports, run, question, params)),)*
            }
        }

        impl Method {
            /// Every method with its description from its file, in the order of the documentation.
            fn described() -> Vec<(Description, Self)> {
                let mut all = Vec::new();
                $(all.extend(
                    spec::describe::<$params>().into_iter()
                        .map(|(description, params)| (description, Self::$method(params))),
                );)*
                all
            }

            /// Its parameters by name, as far as they have a value.
            pub fn parameters(&self) -> BTreeMap<String, Value> {
                let named = |(name, value): (&str, Value)| (name.to_owned(), value);
                match self {
                    $(Self::$method(params) => spec::values(params).map(named).collect(),)*
                }
            }

            /// The cost of one question with these parameters.
            pub fn cost(&self) -> Cost {
                match self {
                    $(Self::$method(params) => (<$params>::SPEC.cost)(params),)*
                }
            }

            /// The structure of the base that it works on, if any.
            pub fn needed_structure(&self) -> Option<Structure> {
                match self {
                    $(Self::$method(_) => <$params>::SPEC.needs,)*
                }
            }

            /// The kind of atoms without which it finds nothing, if any.
            pub fn needed_atoms(&self) -> Option<AtomKind> {
                match self {
                    $(Self::$method(params) => params.needed_atoms(),)*
                }
            }

            pub(crate) fn set(&mut self, name: &str, value: &Value) -> bool {
                match self {
                    $(Self::$method(params) => spec::set(params, name, value),)*
                }
            }

            fn weights(&self) -> Weights {
                match self {
                    $(Self::$method(params) => params.weights(),)*
                }
            }

            pub(crate) fn weigh(&mut self, weights: &Weights) {
                match self {
                    $(Self::$method(params) => params.weigh(weights),)*
                }
            }
        }
    };
}

methods! {
    /// Classifies the question, and answers each class by a strategy of its own.
    Pike(pike::Params) => pike::solve,
    /// As many reading rounds as the question needs.
    Adaptive(adaptive::Params) => adaptive::solve,
    /// KAR³, Algorithm 1.
    Kar3(kar3::Params) => kar3::solve,
    /// Hop retrieval, then one answering call.
    HopRag(hop_rag::Params) => hop_rag::solve,
    /// One retrieval, one answer.
    NaiveRag(RetrievalParams) => naive_rag::solve,
    /// RA-ISF, Algorithm 1.
    RaIsf(ra_isf::Params) => ra_isf::solve,
    /// CRP-RAG §3, its ablations and structures.
    CrpRag(crp_rag::Params) => crp_rag::solve,
    /// The entity graph around the entities of a question.
    GraphRagLocal(crate::graphrag::Local) => crate::graphrag::local,
    /// The reports on all communities.
    GraphRagGlobal(crate::graphrag::Global) => crate::graphrag::global,
    /// Chunks and summaries in one search.
    Raptor(crate::raptor::Params) => crate::raptor::solve,
    /// No retrieval, one answer.
    ClosedBook(crate::closed_book::Params) => crate::closed_book::solve,
    /// Follow-up questions, one at a time.
    SelfAsk(crate::self_ask::Params) => crate::self_ask::solve,
    /// Reasoning and retrieval in turns.
    Ircot(crate::ircot::Params) => crate::ircot::solve,
    /// Retrieval by the last answer, round after round.
    IterRetgen(crate::iter_retgen::Params) => crate::iter_retgen::solve,
    /// Sub-questions from simple to hard.
    LeastToMost(crate::least_to_most::Params) => crate::least_to_most::solve,
    /// A chain of queries, verified node by node.
    SearChain(crate::searchain::Params) => crate::searchain::solve,
    /// A question tree, solved from its leaves.
    ProbTree(crate::probtree::Params) => crate::probtree::solve,
    /// One answer per passage, weighed together.
    Replug(crate::replug::Params) => crate::replug::solve,
    /// Judgements decide what is retrieved and answered.
    SelfRag(crate::self_rag::Params) => crate::self_rag::solve,
    /// The nearest labelled questions decide whether to retrieve.
    Skr(crate::skr::Params) => crate::skr::solve,
    /// Judge first, then rewrite and retrieve if that helps.
    ThinkThenAct(crate::think_then_act::Params) => crate::think_then_act::solve,
    /// Breadth-first search over thoughts.
    TreeOfThought(crate::tree_of_thought::Params) => crate::tree_of_thought::solve,
}

/// Answers a question by a method. The run is recorded in every case: an answer, an error, or the
/// end of `cancelled`. After that no model call begins, and running calls are dropped.
///
/// # Cancel safety
/// Dropping the future abandons the run without a record of its end.
pub async fn answer(
    ports: &Ports,
    question: &Question,
    method: Method,
    params: RunParams,
    cancelled: impl Future<Output = ()> + Send,
) -> Finished {
    // Naive RAG and similar methods use tags themselves; methods without a search do not need them.
    let tags = match method {
        Method::NaiveRag(own) => own.tags,
        _ if method.cost().most_chunks == 0 => TagUse::Off,
        _ => params.tags,
    };
    let verified = params.verified;
    let label = MethodLabel {
        name: method.name().to_owned(),
        shown: method.to_string(),
        parameters: method.parameters(),
        weights: serde_json::to_value(Weights { tags, verified, ..method.weights() })
            .unwrap_or_default(),
    };
    let logged = info_span!("run", id = %params.id);
    let traced = info_span!(
        target: TRACED,
        "run",
        otel.name = format!("invoke_agent {}", label.name),
        otel.status_code = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.provider.name = "pikerag",
        gen_ai.agent.name = label.name,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        pikerag.run.id = %params.id,
        pikerag.run.state = Empty,
        pikerag.run.calls = Empty,
    );
    let name = method.name();
    let mut run = Run::begin(label, question, params);
    // Dropping the method's future cancels it; the run belongs to this function and stays.
    let solving = solve_and_mark(ports, &mut run, question, method, (tags, verified));
    let solving = solving.instrument(logged.clone()).instrument(traced.clone());
    let result = match select(pin!(cancelled), pin!(solving)).await {
        Either::Left(((), _)) => Err(SolveError::Cancelled),
        Either::Right((result, _)) => result,
    };
    let finished = run.end(result);
    let (state, spent) = (finished.record.state.as_str(), &finished.record.cost.spent);
    let (usage, calls) = (spent.usage(), spent.calls());
    traced.record("gen_ai.usage.input_tokens", usage.prompt_tokens.cast_signed());
    traced.record("gen_ai.usage.output_tokens", usage.completion_tokens.cast_signed());
    traced.record("pikerag.run.calls", calls.cast_signed() as i64);
    traced.record("pikerag.run.state", state);
    logged.in_scope(|| info!(state, calls, method = name, "the run is over"));
    if finished.result.is_err() {
        traced.record("otel.status_code", "ERROR");
    }
    finished
}

/// The name of an unknown method.
#[derive(Debug, thiserror::Error)]
#[error("there is no method `{0}`; choose from {known}", known = Method::names().join(", "))]
pub struct UnknownMethod(String);

impl Method {
    /// Every method by its name, in the order of the documentation.
    pub fn catalogue() -> Vec<Description> {
        Self::described().into_iter().map(|(description, _)| description).collect()
    }

    /// The description of a method.
    ///
    /// # Errors
    /// There is no method of this name.
    pub fn describe(name: &str) -> Result<Description, UnknownMethod> {
        let found = Self::catalogue().into_iter().find(|known| known.name == name);
        found.ok_or_else(|| UnknownMethod(name.to_owned()))
    }

    /// Every name, in the order of the documentation.
    pub fn names() -> Vec<&'static str> {
        Self::described().into_iter().map(|(description, _)| description.name).collect()
    }

    /// Its name; if its parameters match no variant, the first of its family.
    pub fn name(&self) -> &'static str {
        let described = Self::described();
        if let Some((description, _)) = described.iter().find(|(_, method)| method == self) {
            return description.name;
        }
        let mut first = None;
        for (description, method) in &described {
            if std::mem::discriminant(method) != std::mem::discriminant(self) {
                continue;
            }
            // Fixed parameters define a variant: if setting ours changes nothing, it is this
            // method.
            let mut same = *method;
            for (name, value) in self.parameters() {
                same.set(&name, &value);
            }
            same.weigh(&self.weights());
            if same == *self {
                return description.name;
            }
            first = first.or(Some(description.name));
        }
        first.unwrap_or_default()
    }

    /// Whether it decides by questions that are labelled as known or not.
    pub fn needs_labelled_questions(&self) -> bool {
        matches!(self, Self::Skr(_))
    }

    /// The method for a model that passed the reading test, failed it, or was not tested (`None`):
    /// whether it collects facts and answers at once. Settings of the user stay.
    #[must_use]
    pub fn reading(self, at_once: Option<bool>) -> Self {
        let with_reader = |params: adaptive::Params| match (params.reader, at_once) {
            (adaptive::Reader::AsShown, Some(true)) => {
                adaptive::Params { reader: adaptive::Reader::AtOnce, ..params }
            }
            (adaptive::Reader::AsShown, Some(false)) => {
                adaptive::Params { reader: adaptive::Reader::InTwo, ..params }
            }
            _ => params,
        };
        match self {
            Self::Adaptive(params) => Self::Adaptive(with_reader(params)),
            Self::Pike(params) => {
                // A model that cannot do two things at once classifies worse than rules.
                let classify = match (params.classify, at_once) {
                    (pike::Classifier::Auto, Some(false)) => pike::Classifier::Rules,
                    (own, _) => own,
                };
                Self::Pike(pike::Params {
                    reading: with_reader(params.reading),
                    classify,
                    ..params
                })
            }
            _ => self,
        }
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        let found = Self::described().into_iter().find(|(known, _)| known.name == name);
        found.map(|(_, method)| method).ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

impl fmt::Display for Method {
    /// The name, with a note if the user set parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        // The reading mode comes from a test of the model, not from the user.
        let is_default = |default: Self| {
            [None, Some(true), Some(false)]
                .into_iter()
                .any(|at_once| default.reading(at_once) == *self)
        };
        match name.parse::<Self>().is_ok_and(is_default) {
            true => f.write_str(name),
            false => write!(f, "{name} (own parameters)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        closed_book, ircot, iter_retgen, least_to_most, probtree, replug, searchain, self_ask,
        self_rag, skr, think_then_act, tree_of_thought,
    };

    /// KAR³ §4.1 and §A.3.
    #[test]
    fn the_defaults_are_the_papers() {
        let Ok(Method::Kar3(kar3)) = "kar3-paper".parse() else { panic!() };
        assert_eq!((kar3.n.get(), kar3.k.get(), kar3.chunk_min_score), (5, 4, 0.2));
        assert_eq!((kar3.mode, kar3.least_similarity()), (kar3::Mode::Paper, Some(0.5)));
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
        assert!(error.starts_with("there is no method `kar4`; choose from pike, "), "{error}");
    }
}
