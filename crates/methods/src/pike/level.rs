//! Limits what is answered to the level that the caller set; each level includes the ones before it (PIKE-RAG Table 1).

use pikerag_knowledge::{Answer, ClassifiedBy, Level, Question, Reason, TaskClass};

use super::Params;
use super::classify::{Evidence, Verdict, classify};
use super::limit::too_high;
use crate::feedback::Recall;
use crate::naive_rag;
use crate::ports::{Models, Ports, SolveError};
use crate::retrieval::RetrievalParams;
use crate::run::Run;

/// The requested class, or the one that the classifier finds.
///
/// # Errors
/// A model call failed.
pub(super) async fn verdict(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    evidence: &Evidence,
    params: Params,
    recall: &Recall,
) -> Result<Verdict, SolveError> {
    let by_asker =
        |class, why: Reason| Verdict { class, by: ClassifiedBy::Asker, reasons: vec![why.into()] };
    if let Some(class) = params.class {
        return Ok(by_asker(class, Reason::ClassRequested));
    }
    // Within the level, the tables have answered such a question already.
    if let Some(class) = evidence.tables.class()
        && too_high(params.level, class).is_some()
    {
        let (by, reasons) = (ClassifiedBy::Rules, vec![Reason::AsksForFigure.into()]);
        return Ok(Verdict { class, by, reasons });
    }
    let found = classify(ports, run, question, evidence, params.classify, recall).await?;
    if params.by_agent && found.class == TaskClass::Creative {
        let reasons = found.reasons.into_iter().chain([Reason::AgentAsks.into()]).collect();
        return Ok(Verdict { class: TaskClass::Bridging, reasons, ..found });
    }
    // Words alone do not tell a chain from a fact: a system of L1 reads both once.
    Ok(match (params.level, found.class) {
        (Some(level @ Level::L1), TaskClass::Bridging) => {
            by_asker(TaskClass::Factual, Reason::LevelRequested { level })
        }
        _ => found,
    })
}

/// The passages that fit: a knowledge base without reasoning (PIKE-RAG §5.1).
///
/// # Errors
/// The base cannot be read.
pub(super) async fn passages(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
) -> Result<Answer, SolveError> {
    let without_models = Ports { models: Models::default(), ..ports.clone() };
    naive_rag::solve(&without_models, run, question, RetrievalParams::auto()).await
}
