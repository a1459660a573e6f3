//! Compares searches by the share of gold evidence among their first chunks, without any answer. It
//! reports both halves of each data set, so that tuning on one half shows.

use std::fmt::Write;

use pikerag_narrate::Language;
use serde::{Deserialize, Serialize};

use crate::datasets::Item;
use crate::runner::is_of;

/// The number of chunks that a search must bring; shares are reported up to this rank.
pub const DEPTH: usize = 10;

/// One question, looked up by one search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LookedUp {
    /// The data set, which distinguishes rows of several.
    pub data_set: String,
    /// The search, by the name in the command.
    pub search: String,
    /// The question's id, unique within its data set.
    pub item: String,
    /// Share of the gold evidence among the first 1, 2, … chunks, up to [`DEPTH`].
    pub recall: Vec<f64>,
    /// Wall time of the search, embedding the question included.
    pub seconds: f64,
    /// The found chunks, by URI, best first.
    pub found: Vec<String>,
}

impl LookedUp {
    /// The result for a question, given the URIs of the found chunks, best first; `None` if the
    /// data set names no gold evidence.
    pub fn of(
        item: &Item,
        data_set: &str,
        search: &str,
        uris: &[String],
        seconds: f64,
    ) -> Option<Self> {
        if item.supporting.is_empty() {
            return None;
        }
        let mut remaining: Vec<&String> = item.supporting.iter().collect();
        let mut recall = Vec::with_capacity(DEPTH);
        for place in 0..DEPTH {
            if let Some(uri) = uris.get(place) {
                remaining.retain(|gold| !is_of(uri, gold));
            }
            recall.push(1.0 - remaining.len() as f64 / item.supporting.len() as f64);
        }
        Some(Self {
            data_set: data_set.to_owned(),
            search: search.to_owned(),
            item: item.id.clone(),
            recall,
            seconds,
            found: uris.to_vec(),
        })
    }

    fn at(&self, k: usize) -> f64 {
        self.recall.get(k.saturating_sub(1)).copied().unwrap_or_default()
    }
}

/// The means of one search over the questions of one data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// By name, in the order of the run.
    pub data_set: String,
    /// The search by the name in the command, with its weights.
    pub search: String,
    /// Questions with gold evidence: only these are looked up.
    pub questions: usize,
    /// Mean share of the gold evidence among the first 2, 5 and 10 chunks.
    pub recall: [f64; 3],
    /// Share of the questions with some of it among the first 5 and 10.
    pub any: [f64; 2],
    /// Mean share among the first 5, for the questions at even places, and at odd ones.
    pub halves: [f64; 2],
    /// Mean wall time per question.
    pub milliseconds: f64,
}

/// Sums up by data set and search, in the order of first use.
pub fn lines(all: &[LookedUp]) -> Vec<Line> {
    let mut keys: Vec<(&str, &str)> = Vec::new();
    for one in all {
        let key = (one.data_set.as_str(), one.search.as_str());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut lines = Vec::with_capacity(keys.len());
    for (data_set, search) in keys {
        let of: Vec<&LookedUp> =
            all.iter().filter(|one| one.data_set == data_set && one.search == search).collect();
        let recall = |k| mean(of.iter().map(|one| one.at(k)));
        let any = |k| mean(of.iter().map(|one| f64::from(u8::from(0.0 < one.at(k)))));
        let half = |from: usize| mean(of.iter().skip(from).step_by(2).map(|one| one.at(5)));
        lines.push(Line {
            data_set: data_set.to_owned(),
            search: search.to_owned(),
            questions: of.len(),
            recall: [2, 5, 10].map(recall),
            any: [5, 10].map(any),
            halves: [0, 1].map(half),
            milliseconds: 1000.0 * mean(of.iter().map(|one| one.seconds)),
        });
    }
    lines
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    if 0.0 < count { sum / count } else { 0.0 }
}

/// The lines as a Markdown table.
pub fn table(lines: &[Line], language: Language) -> String {
    let head = language.either(
        "| data set | search | questions | recall@2 | @5 | @10 | any@5 | any@10 | even@5 | odd@5 | ms |",
        "| 数据集 | 检索 | 问题数 | 召回@2 | @5 | @10 | 任一@5 | 任一@10 | 偶数@5 | 奇数@5 | 毫秒 |",
    );
    let mut text = format!(
        "{head}\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    );
    for line in lines {
        let [at_2, at_5, at_10] = line.recall;
        let ([any_5, any_10], [even, odd]) = (line.any, line.halves);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {at_2:.3} | {at_5:.3} | {at_10:.3} | {any_5:.3} | {any_10:.3} | {even:.3} | {odd:.3} | {:.0} |",
            line.data_set, line.search, line.questions, line.milliseconds
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_counts_at_its_first_rank() {
        let item = |id: &str, gold: &[&str]| Item {
            id: id.to_owned(),
            supporting: gold.iter().map(|gold| (*gold).to_owned()).collect(),
            ..Item::default()
        };
        let uris =
            |ids: &[&str]| ids.iter().map(|id| format!("corpus.jsonl#{id}")).collect::<Vec<_>>();
        let all: Vec<LookedUp> = [
            (item("q1", &["a", "b"]), uris(&["a", "x", "a", "b"])),
            (item("q2", &["a"]), uris(&["xa", "y"])),
            (item("q3", &[]), uris(&["a"])),
        ]
        .iter()
        .filter_map(|(item, uris)| LookedUp::of(item, "set", "hops", uris, 0.002))
        .collect();
        let markdown = table(&lines(&all), Language::English);
        assert_eq!(
            markdown.lines().last(),
            Some("| set | hops | 2 | 0.250 | 0.500 | 0.500 | 0.500 | 0.500 | 1.000 | 0.000 | 2 |")
        );
    }
}
