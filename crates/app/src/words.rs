//! What do people read in place of keys? Names of score parts, paths and kinds, as the terminal shows
//! them; `--json` keeps the keys.

use std::collections::BTreeMap;

use pikerag_engine::called;
use pikerag_engine::knowledge::worked::ForecastModel;
use pikerag_engine::knowledge::{ClassifiedBy, Criterion, JudgedBy, StopReason, Via};

/// Parts of scores, in the order in which they are shown: what the searches call them, and what people
/// read. A part whose rank is known is shown with it.
const PARTS: [(&str, &str); 24] = [
    ("rerank", "reranker"),
    ("search", "search"),
    ("bm25", "words"),
    ("words", "words"),
    ("cosine", "meaning"),
    ("meaning", "meaning"),
    ("hybrid", "words and meaning"),
    ("hops", "hops"),
    ("layers", "all layers"),
    ("atom", "closest atom"),
    ("chunk", "the chunk itself"),
    ("section", "its section"),
    ("source", "its document"),
    ("summary", "its summary"),
    ("distilled", "its atoms"),
    ("named_in_question", "named in the question"),
    ("title_links", "links with chosen chunks"),
    ("links_ahead", "links of promising chunks"),
    ("refers_to", "links"),
    ("shared_names", "rare names shared"),
    ("entities", "entities shared"),
    ("next", "chunk before or after"),
    ("tags", "tags"),
    ("tag_words", "words of the tags"),
];

/// The parts of a score: `words rank 1 (12.94), meaning rank 3 (0.43)`, or `words 1.50, meaning 1.00`.
pub(crate) fn parts(parts: &BTreeMap<String, f32>) -> String {
    let mut shown: Vec<(usize, String)> = Vec::new();
    for (key, value) in parts {
        if key.strip_suffix("_rank").is_some_and(|of| parts.contains_key(of)) {
            continue;
        }
        let place = PARTS.iter().position(|(known, _)| known == key);
        let name = match place.and_then(|place| PARTS.get(place)) {
            Some((_, name)) => (*name).to_owned(),
            None => plain(key),
        };
        let said = match parts.get(&format!("{key}_rank")) {
            Some(rank) => format!("{name} rank {rank:.0} ({value:.2})"),
            None => format!("{name} {value:.2}"),
        };
        shown.push((place.unwrap_or(PARTS.len()), said));
    }
    shown.sort();
    let shown: Vec<String> = shown.into_iter().map(|(_, said)| said).collect();
    shown.join(", ")
}

/// How a candidate was found.
pub(crate) fn via(via: Via) -> &'static str {
    match via {
        Via::Atoms => "atoms",
        Via::Chunks => "chunks",
        Via::Hops => "links and names",
        Via::Graph => "entities",
        Via::Tree => "summaries",
        Via::Tags => "tags",
        Via::Verified => "verified answers",
        Via::BackupAtoms => "the question itself, by atoms",
        Via::BackupChunks => "the question itself, by chunks",
    }
}

/// Why a loop ended.
pub(crate) fn why(reason: StopReason) -> &'static str {
    match reason {
        StopReason::NothingProposed => "nothing is missing",
        StopReason::NothingFound => "nothing new was found",
        StopReason::NothingSelected => "nothing more is needed",
        StopReason::NoneHelps => "no candidate would help",
        StopReason::HopLimit => "the limit of hops is reached",
        StopReason::Unreadable => "the reply stayed unreadable",
    }
}

/// What is asked of what is judged.
pub(crate) fn asked(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Known => "known without looking it up",
        Criterion::Clear => "clear",
        Criterion::NeedsRetrieval => "needs retrieval",
        Criterion::Relevant => "relevant",
        Criterion::Supported => "supported",
        Criterion::Useful => "useful",
        Criterion::Sufficient => "sufficient",
        Criterion::Confident => "confident",
        Criterion::Promising => "promising",
        Criterion::Consistent => "consistent",
    }
}

/// Who judged.
pub(crate) fn classified_by(by: ClassifiedBy) -> &'static str {
    match by {
        ClassifiedBy::Rules => "rules",
        ClassifiedBy::Model => "a model",
        ClassifiedBy::Asker => "whoever asked",
        ClassifiedBy::Verified => "a verified answer",
    }
}

pub(crate) fn forecast_model(model: ForecastModel) -> &'static str {
    match model {
        ForecastModel::Combination => "mean of all models",
        ForecastModel::Naive => "naive",
        ForecastModel::SeasonalNaive => "seasonal naive",
        ForecastModel::Mean => "mean",
        ForecastModel::Drift => "drift",
        ForecastModel::Smoothing => "exponential smoothing",
        ForecastModel::Seasonal => "seasons and smoothing",
    }
}

pub(crate) fn judged_by(by: JudgedBy) -> &'static str {
    match by {
        JudgedBy::LogProbabilities => "by log-probabilities",
        JudgedBy::SelfAssessment => "by the model's own grade, for want of log-probabilities",
        JudgedBy::Verdict => "the model says",
        JudgedBy::Neighbours => "by the nearest labelled questions",
    }
}

/// So many nodes of a kind, as the export calls it; `atom (question)` is an atomic question.
pub(crate) fn nodes(kind: &str, n: usize) -> String {
    let (kind, sort) = match kind.strip_suffix(')').and_then(|kind| kind.split_once(" (")) {
        Some(("atom", sort)) => (format!("atomic {sort}"), String::new()),
        Some((kind, sort)) => (called(kind), format!(" ({sort})")),
        None => (called(kind), String::new()),
    };
    format!("{}{sort}", plural(n, &kind))
}

/// How often something is mentioned.
pub(crate) fn times(n: usize) -> String {
    match n {
        0 => "nowhere".to_owned(),
        1 => "once".to_owned(),
        n => format!("{n} times"),
    }
}

/// The plural of a noun, unless it is one.
pub(crate) fn plural(n: usize, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

fn plain(key: &str) -> String {
    key.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(said: &[(&str, f32)]) -> String {
        parts(&said.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect())
    }

    #[test]
    fn parts_of_scores() {
        let hybrid = [("bm25", 12.941), ("bm25_rank", 1.0), ("cosine", 0.4), ("cosine_rank", 12.0)];
        assert_eq!(said(&hybrid), "words rank 1 (12.94), meaning rank 12 (0.40)");
        let hops = [("links_ahead", 0.1), ("meaning", 1.0), ("words", 1.2), ("own_part", 0.1)];
        assert_eq!(
            said(&hops),
            "words 1.20, meaning 1.00, links of promising chunks 0.10, own part 0.10"
        );
        assert_eq!(said(&[]), "");
    }

    #[test]
    fn kinds_and_counts() {
        let shown = [("source", 1), ("entity", 2), ("atom (question)", 3), ("record (load)", 0)]
            .map(|(kind, n)| nodes(kind, n));
        assert_eq!(shown, ["document", "entities", "atomic questions", "records (load)"]);
        assert_eq!(called("refers_to"), "refers to");
        assert_eq!([0, 1, 2].map(times), ["nowhere", "once", "2 times"]);
    }
}
