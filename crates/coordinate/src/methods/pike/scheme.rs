//! What are the steps of a class? The scheme that is printed before it is followed (PIKE-RAG §4.1).

use pikerag_knowledge::{Role, TaskClass};

use super::classify::Evidence;
use crate::ports::Ports;

/// The scheme of a class: what to retrieve, how to reason.
pub(super) fn steps(ports: &Ports, class: TaskClass, evidence: &Evidence) -> Vec<String> {
    let schema = evidence.collection().map(|(collection, _)| collection.schema.name.clone());
    let records = schema.map_or_else(
        || "look for records: declared ones, then tables".to_owned(),
        |schema| format!("gather all records under `{schema}`, one thing for each key"),
    );
    let read =
        match ports.models.of(Role::Look).is_some() && ports.models.of(Role::Answer).is_some() {
            true => "read them, look up what is missing, and read again",
            false => "quote the sentences that fit best",
        };
    let steps: Vec<&str> = match class {
        TaskClass::Factual | TaskClass::Bridging => vec!["find the passages that fit best", read],
        TaskClass::Comparative => vec![
            "find what the documents tell of each thing",
            "align it by attribute, each cell with its source",
            "tell the verdict from the table",
        ],
        TaskClass::Quantitative => vec![
            &records,
            "work the figure out by the query engine",
            "cite each record that it rests on",
        ],
        TaskClass::Summarizing => vec![
            "take the documents that are named, or all passages that fit",
            "tell each part in few words, then all of them",
        ],
        TaskClass::Predictive => vec![
            &records,
            "put them in order of time",
            "try each model on the past, and carry the series on by the best",
        ],
        TaskClass::Creative => vec![
            "choose perspectives",
            "let an agent of each look things up and think, all at once",
            "let them judge each other's ideas",
            "put the ideas together, with their evidence and their gaps",
        ],
    };
    steps.into_iter().map(str::to_owned).collect()
}
