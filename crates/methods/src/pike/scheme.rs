//! Gives the steps of a class: the scheme that is shown before it is followed (PIKE-RAG §4.1).

use pikerag_knowledge::{PlanStep, Role, TaskClass};

use super::Params;
use super::classify::Evidence;
use crate::ports::Ports;
use crate::structure::can_structure;

/// The scheme of a class: what to retrieve, how to reason.
pub(super) fn steps(
    ports: &Ports,
    params: Params,
    class: TaskClass,
    evidence: &Evidence,
) -> Vec<PlanStep> {
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
        TaskClass::Quantitative => {
            let is_structured =
                evidence.collection().is_none() && 0 < params.structured && can_structure(ports);
            let structured = is_structured.then_some(PlanStep::StructurePassages);
            let computed = [PlanStep::ComputeFigure, PlanStep::CiteRecords];
            std::iter::once(records).chain(structured).chain(computed).collect()
        }
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
