//! Measures questions that may see a hundredth, a tenth, or all of a base.

use std::fmt;
use std::sync::Arc;

use divan::Bencher;
use pikerag_knowledge::{Condition, Filter, KnowledgeBase, Snapshots, nearest_chunks};

use crate::{FOUND, base, chunks, found, queries, questions, runtime};

/// The part of the files that is admitted, in percent; at 100, by a condition that all files meet.
#[derive(Clone, Copy)]
struct Part {
    chunks: usize,
    percent: Option<usize>,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.percent.map_or("no filter".to_owned(), |percent| format!("{percent} %"));
        write!(f, "{} chunks, {part}", self.chunks)
    }
}

fn parts() -> Vec<Part> {
    let percents = [None, Some(1), Some(10), Some(100)];
    let of = |chunks| percents.map(|percent| Part { chunks, percent });
    chunks().into_iter().flat_map(of).collect()
}

impl Part {
    /// Files hold a thousand chunks each, in the order of their numbers.
    fn filter(self) -> Filter {
        let Some(percent) = self.percent else { return Filter::default() };
        let files = (self.chunks * percent / 100).div_ceil(1_000);
        let named: Vec<String> = (0..files).map(|file| format!("file-{file:04}.jsonl")).collect();
        let condition: Condition = format!("source={}", named.join("|")).parse().expect("a filter");
        Filter { conditions: vec![condition] }
    }

    fn snapshot(self) -> Arc<dyn KnowledgeBase> {
        runtime()
            .block_on(base(self.chunks).snapshot(&Filter::default(), &self.filter()))
            .expect("a snapshot")
    }
}

/// The work before the first search: the state is fixed, and the admitted chunks are found.
#[divan::bench(args = parts(), max_time = 5)]
fn snapshot(bencher: Bencher<'_, '_>, part: Part) {
    bencher.bench_local(|| part.snapshot());
}

#[divan::bench(args = parts(), max_time = 5)]
fn nearest_in_part(bencher: Bencher<'_, '_>, part: Part) {
    let (view, runtime, queries) = (part.snapshot(), runtime(), queries(1));
    bencher.bench_local(|| runtime.block_on(nearest_chunks(view.as_ref(), &queries, 8, -1.0)));
}

#[divan::bench(args = parts(), max_time = 5)]
fn words_in_part(bencher: Bencher<'_, '_>, part: Part) {
    let (view, runtime, mut all) = (part.snapshot(), runtime(), questions());
    bencher.with_inputs(|| all.next().unwrap_or_default()).bench_local_values(|words| {
        runtime.block_on(view.matching_chunks(&words.join(" "), FOUND))
    });
}

#[divan::bench(args = parts(), max_time = 5)]
fn terms_in_part(bencher: Bencher<'_, '_>, part: Part) {
    let (view, runtime, mut all) = (part.snapshot(), runtime(), questions());
    let inputs = || {
        let words = all.next().unwrap_or_default();
        let best = found(&runtime, view.as_ref(), &words);
        (words, best)
    };
    bencher
        .with_inputs(inputs)
        .bench_local_values(|(words, best)| runtime.block_on(view.term_scores(&words, &best)));
}
