//! Provides the base for a data set's questions: its own, made from its corpus, or the one that is
//! set.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use pikerag_baselines::Method;
use pikerag_eval::datasets::Paragraph;
use pikerag_eval::report::Indexing;
use serde_json::json;

use super::plan::{Corpus, Plan, Set};
use super::served::indexing_for;
use super::{EvalRequest, keep, make_folder};
use crate::base::Base;
use crate::engine::{Cost, Session};
use crate::error::{EngineError, Result};
use crate::files;
use crate::verbs::index::fill;
use crate::verbs::progress::Progress;
use crate::verbs::progress::report_notices;

/// The base of a data set, and the identity of its corpus.
pub(super) async fn base_of(
    session: &Session,
    request: &EvalRequest<'_>,
    plan: &Plan,
    set: &Set,
    methods: &[(String, Method)],
) -> Result<(Base, Vec<String>)> {
    let (paths, names) = match &set.corpus {
        // A server may forget a document in this base meanwhile. In that case no reply that may
        // contain its text is kept.
        Corpus::Base => return Ok((session.base().await?.for_a_question().await?, Vec::new())),
        Corpus::Files(paths) => {
            (paths.clone(), paths.iter().map(|path| path.display().to_string()).collect())
        }
        Corpus::Pooled => {
            make_folder(&set.folder)?;
            let path = set.folder.join("corpus.jsonl");
            let lines = lines(&set.data.pool(&set.items));
            let hash = blake3::hash(lines.as_bytes()).to_hex().to_string();
            // Another draw of questions would change the base of the existing rows.
            let there = fs::read(&path).ok().filter(|_| !request.fresh);
            if there.is_some_and(|there| there != lines.as_bytes()) {
                let folder = set.folder.clone();
                return Err(EngineError::OtherRun { folder, what: "questions" });
            }
            keep(&path, lines.as_bytes())?;
            (vec![path], vec![format!("pooled {hash}")])
        }
    };
    let base = Base::new(pikerag_store::Base::open_or_create(&set.folder.join("base"))?);
    let names_of_files = session.settled_names(&base).await?;
    let found = files::find(&paths, &names_of_files, &session.settings().choice);
    if let Some((path, reason)) = found.left_out.into_iter().next() {
        return Err(EngineError::CorpusUnreadable { path, reason });
    }
    let mut tools = session.tools(&base).await?;
    tools.reader = Arc::new(session.reader_at(names_of_files.root()));
    report_notices(session, request.progress);
    let before = atomizing(&session.cost());
    let params = &indexing_for(&session.settings().ingest, methods);
    let report = fill(session, &base, tools, &found.files, params, request.progress).await?;
    (request.progress)(Progress::Ended);
    if !report.is_complete() {
        let first = report.failed.first().map(|(chunk, reason)| format!("{chunk}: {reason}"));
        let reason = report.stopped.or(first);
        let reason = reason.unwrap_or_else(|| "files were left out".to_owned());
        let over_budget = report.over_budget;
        return Err(EngineError::CorpusIncomplete { reason, over_budget });
    }
    if 0 < report.atomized {
        keep_indexing(plan, set, report.atomized, before, atomizing(&session.cost()))?;
    }
    Ok((base, names))
}

/// The corpus as lines of pikerag's JSON format.
fn lines(pool: &[&Paragraph]) -> String {
    let mut lines = String::new();
    for paragraph in pool {
        let line = json!({ "id": paragraph.id, "title": paragraph.title, "text": paragraph.text });
        lines += &line.to_string();
        lines.push('\n');
    }
    lines
}

/// Calls, prompt tokens and reply tokens paid for atomizing so far.
fn atomizing(cost: &Cost) -> [u64; 3] {
    let mut sums = [0; 3];
    for part in cost.parts.iter().filter(|part| part.role == "atomize") {
        let paid = [part.calls, part.prompt_tokens, part.completion_tokens];
        for (sum, paid) in sums.iter_mut().zip(paid) {
            *sum += paid;
        }
    }
    sums
}

/// The file with the cost of indexing, in a run's folder.
const INDEXING: &str = "indexing.json";

/// The cost of indexing by data set, from the runs that paid for it; none if the file does not read.
pub(super) fn indexing_costs(plan: &Plan) -> BTreeMap<String, Indexing> {
    let bytes = fs::read(plan.out.join(INDEXING)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Writes the cost of indexing to `indexing.json`, by data set (KAR³ Table 12), in the run that
/// pays for it.
fn keep_indexing(
    plan: &Plan,
    set: &Set,
    chunks: usize,
    before: [u64; 3],
    after: [u64; 3],
) -> Result<()> {
    let [calls, prompt, reply] = [0, 1, 2].map(|at: usize| {
        let paid = |sums: [u64; 3]| sums.get(at).copied().unwrap_or(0);
        paid(after).saturating_sub(paid(before))
    });
    if calls == 0 {
        return Ok(());
    }
    let mut all = indexing_costs(plan);
    let per_chunk = |tokens: u64| tokens as f64 / chunks.max(1) as f64;
    let cost = Indexing {
        chunks: chunks as u64,
        calls,
        prompt_tokens: prompt,
        completion_tokens: reply,
        prompt_tokens_per_chunk: per_chunk(prompt),
        completion_tokens_per_chunk: per_chunk(reply),
    };
    all.insert(set.name.clone(), cost);
    keep(&plan.out.join(INDEXING), &serde_json::to_vec_pretty(&all)?)
}
