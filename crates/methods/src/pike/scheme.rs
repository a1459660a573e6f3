//! Gives the steps of a class: the scheme that is shown before it is followed (PIKE-RAG §4.1).

use pikerag_knowledge::{PlanStep, Role, TaskClass};

use super::classify::Evidence;
use crate::ports::Ports;

/// The scheme of a class: what to retrieve, how to reason.
pub(super) fn steps(ports: &Ports, class: TaskClass, evidence: &Evidence) -> Vec<PlanStep> {
    let records = match evidence.collection() {
        Some((collection, _)) => PlanStep::GatherRecords { schema: collection.schema.name.clone() },
        None => PlanStep::FindRecords,
    };
    match class {
        TaskClass::Factual | TaskClass::Bridging => {
            let models = &ports.models;
            let reads = models.of(Role::Answer).is_some() && models.of(Role::Look).is_some();
            let read = if reads { PlanStep::ReadAndSearch } else { PlanStep::QuoteSentences };
            vec![PlanStep::FindPassages, read]
        }
        TaskClass::Comparative => {
            vec![PlanStep::FindEachThing, PlanStep::AlignByAttribute, PlanStep::ConcludeFromTable]
        }
        TaskClass::Quantitative => vec![records, PlanStep::ComputeFigure, PlanStep::CiteRecords],
        TaskClass::Summarizing => vec![PlanStep::TakeDocuments, PlanStep::SummarizeParts],
        TaskClass::Predictive => vec![records, PlanStep::SortByTime, PlanStep::ForecastSeries],
        TaskClass::Creative => vec![
            PlanStep::ChoosePerspectives,
            PlanStep::RunAgents,
            PlanStep::JudgeIdeas,
            PlanStep::MergeIdeas,
        ],
    }
}
