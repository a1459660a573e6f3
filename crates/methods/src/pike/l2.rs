//! Chooses the method that reads chains of facts: `adaptive`, or one of the papers (PIKE-RAG §5.3.2).

use pikerag_knowledge::{Answer, Question};
use serde::{Deserialize, Serialize};

use crate::ports::{Ports, SolveError};
use crate::retrieval::RetrievalParams;
use crate::run::Run;
use crate::{adaptive, crp_rag, hop_rag, kar3, naive_rag, ra_isf};

/// The method that answers factual and bridging questions.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum L2 {
    /// `adaptive`; for a model with little time, one retrieval and one call (`auto-rag`).
    #[default]
    Auto,
    /// Reads, searches for what is missing, and reads again.
    Adaptive,
    /// Knowledge-aware decomposition (KAR³, PIKE-RAG §5.3.2), with its defaults.
    Kar3,
    /// Iterative self-feedback (RA-ISF), with its defaults.
    RaIsf,
    /// A graph of reasoning steps (CRP-RAG), with its defaults.
    CrpRag,
    /// One retrieval along links, one call.
    HopRag,
    /// One retrieval, one call.
    NaiveRag,
}

impl L2 {
    /// Answers a question by this method; `reading` is for `adaptive`.
    ///
    /// # Errors
    /// See [`SolveError`].
    pub(super) async fn solve(
        self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        reading: adaptive::Params,
    ) -> Result<Answer, SolveError> {
        match self {
            Self::Auto if run.has_little_time() => {
                adaptive::solve_at_once(ports, run, question, reading.weights).await
            }
            Self::Auto | Self::Adaptive => adaptive::solve(ports, run, question, reading).await,
            Self::Kar3 => kar3::solve(ports, run, question, kar3::Params::default()).await,
            Self::RaIsf => ra_isf::solve(ports, run, question, ra_isf::Params::default()).await,
            Self::CrpRag => crp_rag::solve(ports, run, question, crp_rag::Params::default()).await,
            Self::HopRag => hop_rag::solve(ports, run, question, hop_rag::Params::default()).await,
            Self::NaiveRag => {
                naive_rag::solve(ports, run, question, RetrievalParams::default()).await
            }
        }
    }
}
