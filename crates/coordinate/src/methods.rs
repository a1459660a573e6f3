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
pub mod skr;
pub mod think_then_act;
pub mod tree_of_thought;

mod catalogue;
mod overrides;

use futures::future::BoxFuture;
use pikerag_knowledge::{Answer, Question};

pub use self::catalogue::UnknownMethod;
pub use self::overrides::Overrides;
use crate::ports::{Ports, SolveError};
use crate::retrieval::RetrievalParams;

/// A method with its parameters. The names carry the papers' parameters as defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// KAR³, Algorithm 1.
    Kar3(kar3::Params),
    /// Hop retrieval, then one answering call.
    HopRag(hop_rag::Params),
    /// One retrieval, one answer.
    NaiveRag(RetrievalParams),
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
    /// The nearest labelled questions decide whether to retrieve.
    Skr(skr::Params),
}

/// Answers a question by a method.
///
/// # Errors
/// See [`SolveError`]. A question is answered whole or not at all.
///
/// # Cancel safety
/// Reads only; dropping the future gives up at most the call in flight.
pub async fn solve(
    ports: &Ports,
    question: &Question,
    method: Method,
) -> Result<Answer, SolveError> {
    let solving: BoxFuture<'_, Result<Answer, SolveError>> = match method {
        Method::Kar3(params) => Box::pin(kar3::solve(ports, question, params)),
        Method::HopRag(params) => Box::pin(hop_rag::solve(ports, question, params)),
        Method::NaiveRag(params) => Box::pin(naive_rag::solve(ports, question, params)),
        Method::RaIsf(params) => Box::pin(ra_isf::solve(ports, question, params)),
        Method::CrpRag(params) => Box::pin(crp_rag::solve(ports, question, params)),
        Method::ClosedBook(params) => Box::pin(closed_book::solve(ports, question, params)),
        Method::SelfAsk(params) => Box::pin(self_ask::solve(ports, question, params)),
        Method::Ircot(params) => Box::pin(ircot::solve(ports, question, params)),
        Method::IterRetgen(params) => Box::pin(iter_retgen::solve(ports, question, params)),
        Method::LeastToMost(params) => Box::pin(least_to_most::solve(ports, question, params)),
        Method::ThinkThenAct(params) => Box::pin(think_then_act::solve(ports, question, params)),
        Method::TreeOfThought(params) => Box::pin(tree_of_thought::solve(ports, question, params)),
        Method::SearChain(params) => Box::pin(searchain::solve(ports, question, params)),
        Method::ProbTree(params) => Box::pin(probtree::solve(ports, question, params)),
        Method::Replug(params) => Box::pin(replug::solve(ports, question, params)),
        Method::SelfRag(params) => Box::pin(self_rag::solve(ports, question, params)),
        Method::GraphRagLocal(params) => Box::pin(graphrag::local(ports, question, params)),
        Method::GraphRagGlobal(params) => Box::pin(graphrag::global(ports, question, params)),
        Method::Raptor(params) => Box::pin(raptor::solve(ports, question, params)),
        Method::Skr(params) => Box::pin(skr::solve(ports, question, params)),
    };
    solving.await
}
