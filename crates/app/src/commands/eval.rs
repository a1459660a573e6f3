//! `eval`: methods on sets of questions. All that is known of a run lies in its folder, so that it
//! can go on where it was left.

mod dry_run;
mod plan;
mod rows;
mod searches;

use std::collections::HashSet;
use std::fs;

use anyhow::{Context, bail};
use pikerag_coordinate::ingest::ingest;
use pikerag_coordinate::{Method, Ports};
use pikerag_eval::datasets::Paragraph;
use pikerag_eval::presets::presets;
use pikerag_eval::report::{self, Row};
use pikerag_eval::runner::{Judges, Params, RunError, run};
use pikerag_knowledge::Role;
use pikerag_store::Base;
use serde_json::{Value, json};

use crate::cli::Eval;
use crate::commands::index::watch;
use crate::exit;
use crate::files;
use crate::output::{Bar, note, say, say_json};
use crate::wiring::Wiring;
use plan::{Corpus, Plan, Set, plan};
use rows::{Header, Rows};

pub(crate) async fn eval(wiring: &Wiring, arguments: &Eval) -> anyhow::Result<u8> {
    if arguments.preset.as_deref() == Some("list") {
        return list_presets(wiring);
    }
    let plan = plan(arguments)?;
    if !arguments.searches.is_empty() {
        return searches::searches(wiring, arguments, &plan).await;
    }
    if arguments.dry_run {
        return dry_run::dry_run(wiring, &plan).await;
    }
    let mut methods: Vec<(String, Method)> = Vec::new();
    for named in &plan.methods {
        methods.push((named.label.clone(), plan::method(wiring, named)?));
    }
    fs::create_dir_all(&plan.out).with_context(|| format!("{} is not made", plan.out.display()))?;
    let mut kits = Vec::new();
    let mut corpora = Vec::new();
    for set in &plan.sets {
        let (base, corpus) = the_base(wiring, arguments, &plan, set).await?;
        corpora.extend(corpus);
        kits.push(wiring.ports(&base).await?);
    }
    if (plan.judge || plan.consistency)
        && kits.iter().any(|ports| ports.models.of(Role::Judge).is_none())
    {
        bail!("there is no model to judge with: set `chat.model` or `[roles.judge]`");
    }
    if plan.perplexity && kits.iter().any(|ports| ports.models.scorer.is_none()) {
        bail!("there is no model whose log-probabilities tell a perplexity: set `chat.model`");
    }
    let header = header(wiring, &plan, &kits, corpora);
    let only = plan.sets.first().map_or("", |set| set.name.as_str());
    let mut rows = Rows::open(&plan.out, &header, only, arguments.fresh)?;
    // What failed is tried again, and what nobody has judged; the ledger pays for what was answered.
    let is_judged = |row: &Row| {
        (!plan.judge || row.acc.is_some())
            && (!plan.consistency || row.consistent.is_some() || row.refused)
            && (!plan.perplexity || row.perplexity.is_some() || row.refused)
    };
    rows.all.retain(|row| row.failed.is_none() && is_judged(row));
    let mut stopped = None;
    for (set, ports) in plan.sets.iter().zip(&kits) {
        stopped = ask(wiring, arguments, &plan, set, ports, &methods, &mut rows).await?;
        if stopped.is_some() {
            break;
        }
    }
    rows.all.retain(|row| is_asked(row, &plan.sets, &methods));
    let order = |row: &Row| {
        let set = plan.sets.iter().position(|set| set.name == row.data_set);
        (set, methods.iter().position(|(name, _)| *name == row.method))
    };
    rows.all.sort_by_key(order);
    conclude(wiring, arguments, &plan, &rows.all, stopped)
}

fn list_presets(wiring: &Wiring) -> anyhow::Result<u8> {
    let presets = presets()?;
    if wiring.json {
        say_json(&presets)?;
        return Ok(0);
    }
    for preset in presets {
        say(&format!("{:<20} {}", preset.name, preset.about));
        if let Some(note) = preset.note {
            say(&format!("{:<20} {note}", ""));
        }
    }
    Ok(0)
}

fn header(wiring: &Wiring, plan: &Plan, kits: &[Ports], corpus: Vec<String>) -> Header {
    let embedder = kits.iter().find_map(|ports| ports.embedder.as_ref());
    Header {
        questions: plan.sets.iter().map(|set| set.hash.as_str()).collect::<Vec<_>>().join(","),
        corpus,
        models: wiring.models_line(),
        embedder: embedder.map(|embedder| embedder.name().to_owned()),
        parameters: wiring.parameters_line(),
    }
}

/// Asks what is left to ask of one data set. Why the run ended, if it did.
async fn ask(
    wiring: &Wiring,
    arguments: &Eval,
    plan: &Plan,
    set: &Set,
    ports: &Ports,
    methods: &[(String, Method)],
    rows: &mut Rows,
) -> anyhow::Result<Option<anyhow::Error>> {
    let of_set = rows.all.iter().filter(|row| row.data_set == set.name);
    let done: HashSet<(String, String)> =
        of_set.map(|row| (row.method.clone(), row.item.clone())).collect();
    let total = set.items.len() * methods.len();
    let bar = Bar::new(wiring.json);
    let mut asked = 0;
    let prices = wiring.prices_by_role();
    let params = Params {
        data_set: &set.name,
        in_flight: arguments.concurrency,
        judges: Judges {
            right: ports.models.of(Role::Judge).filter(|_| plan.judge),
            consistent: ports.models.of(Role::Judge).filter(|_| plan.consistency),
            perplexity: ports.models.scorer.as_deref().filter(|_| plan.perplexity),
        },
        prices: &prices,
    };
    let result = run(ports, &set.items, methods, &done, params, |row, answer| {
        asked += 1;
        bar.at(&format!("asking {}", set.name), done.len() + asked, total);
        rows.keep(row, answer.as_ref())
    })
    .await;
    bar.end();
    match result {
        Ok(()) => Ok(None),
        Err(RunError::Keep(error)) => Err(error.into()),
        Err(RunError::Solve(error)) => Ok(Some(anyhow::Error::from(error))),
    }
}

fn is_asked(row: &Row, sets: &[Set], methods: &[(String, Method)]) -> bool {
    let of_set = |set: &&Set| set.name == row.data_set;
    let set = sets.iter().find(of_set);
    set.is_some_and(|set| set.items.iter().any(|item| item.id == row.item))
        && methods.iter().any(|(name, _)| *name == row.method)
}

fn conclude(
    wiring: &Wiring,
    arguments: &Eval,
    plan: &Plan,
    rows: &[Row],
    stopped: Option<anyhow::Error>,
) -> anyhow::Result<u8> {
    let report = report::summarize(rows, arguments.seed, &plan.papers);
    let text = report::text(&report);
    fs::write(plan.out.join("report.json"), report::json(&report)?)?;
    fs::write(plan.out.join("report.md"), report::markdown(&report))?;
    fs::write(plan.out.join("report.html"), report::html(&report, rows, &plan.title)?)?;
    let failed = rows.iter().filter(|row| row.failed.is_some()).count();
    if wiring.json {
        say_json(&json!({
            "report": report, "spent": wiring.spent_json(), "failed": failed,
            "stopped": stopped.as_ref().map(|error| format!("{error:#}")),
        }))?;
    } else {
        say(text.trim_end());
        if let Some(line) = wiring.spent_line() {
            say(&line);
        }
        note(&format!("rows, answers and reports are in {}", plan.out.display()));
        if 0 < failed {
            note(&format!(
                "{failed} questions failed; rows.jsonl says why; run again to try them again"
            ));
        }
    }
    match stopped {
        Some(error) => {
            note("run the same command again to go on; what is done is not paid twice");
            Err(error)
        }
        None if 0 < failed => Ok(exit::INCOMPLETE),
        None => Ok(0),
    }
}

/// The base of a data set: its own, made from the corpus, or the one that is configured; and what
/// tells its corpus from another.
async fn the_base(
    wiring: &Wiring,
    arguments: &Eval,
    plan: &Plan,
    set: &Set,
) -> anyhow::Result<(Base, Vec<String>)> {
    let (paths, names) = match &set.corpus {
        Corpus::Base => return Ok((wiring.base()?, Vec::new())),
        Corpus::Files(paths) => {
            (paths.clone(), paths.iter().map(|path| path.display().to_string()).collect())
        }
        Corpus::Pooled => {
            fs::create_dir_all(&set.folder)?;
            let path = set.folder.join("corpus.jsonl");
            let lines = lines(&set.data.pool(&set.items));
            let hash = blake3::hash(lines.as_bytes()).to_hex().to_string();
            // Another draw would change the base under the rows that are there.
            let there = fs::read(&path).ok().filter(|_| !arguments.fresh);
            if there.is_some_and(|there| there != lines.as_bytes()) {
                bail!(
                    "{} holds a run on other questions; give another --out, or --fresh",
                    set.folder.display()
                );
            }
            fs::write(&path, lines)?;
            (vec![path], vec![format!("pooled {hash}")])
        }
    };
    let base = Base::open_or_create(&set.folder.join("base"))?;
    let found = files::find(&paths);
    if let Some((file, reason)) = found.left_out.first() {
        bail!("{file}: {reason}");
    }
    let tools = wiring.tools(&base)?;
    let bar = Bar::new(wiring.json);
    let before = atomizing(wiring);
    let report = ingest(&tools, &found.files, &wiring.ingest_params(), &|progress| {
        watch(wiring, &bar, &progress);
    })
    .await?;
    bar.end();
    if !report.is_whole() {
        let first = report.failed.first().map(|(chunk, reason)| format!("{chunk}: {reason}"));
        let why = report.stopped.or(first).unwrap_or_else(|| "files were left out".to_owned());
        bail!(
            "the corpus is not wholly indexed, so nothing is measured ({why}); run the same command again to go on"
        );
    }
    if 0 < report.atomized {
        keep_indexing(plan, set, report.atomized, before, atomizing(wiring))?;
    }
    Ok((base, names))
}

/// The neutral format of a corpus.
fn lines(pool: &[&Paragraph]) -> String {
    let mut lines = String::new();
    for paragraph in pool {
        let line = json!({ "id": paragraph.id, "title": paragraph.title, "text": paragraph.text });
        lines += &line.to_string();
        lines.push('\n');
    }
    lines
}

/// Calls and tokens paid for atomizing so far.
fn atomizing(wiring: &Wiring) -> [u64; 3] {
    let spent = wiring.spent_json();
    let parts = spent.get("parts").and_then(Value::as_array).into_iter().flatten();
    let mut sums = [0; 3];
    for part in parts.filter(|part| part.get("role").is_some_and(|role| role == "atomize")) {
        for (sum, key) in sums.iter_mut().zip(["calls", "prompt_tokens", "completion_tokens"]) {
            *sum += part.get(key).and_then(Value::as_u64).unwrap_or(0);
        }
    }
    sums
}

/// What indexing cost goes into `indexing.json`, by data set (KAR³ Table 12): of the run that paid.
fn keep_indexing(
    plan: &Plan,
    set: &Set,
    chunks: usize,
    before: [u64; 3],
    after: [u64; 3],
) -> anyhow::Result<()> {
    let [calls, prompt, reply] = [0, 1, 2].map(|at: usize| {
        let paid = |sums: [u64; 3]| sums.get(at).copied().unwrap_or(0);
        paid(after).saturating_sub(paid(before))
    });
    if calls == 0 {
        return Ok(());
    }
    let path = plan.out.join("indexing.json");
    let mut all: Value = match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|_| json!({})),
        Err(_) => json!({}),
    };
    let per_chunk = |tokens: u64| tokens as f64 / chunks.max(1) as f64;
    if let Some(all) = all.as_object_mut() {
        let value = json!({
            "chunks": chunks, "calls": calls, "prompt_tokens": prompt, "completion_tokens": reply,
            "prompt_tokens_per_chunk": per_chunk(prompt),
            "completion_tokens_per_chunk": per_chunk(reply),
        });
        all.insert(set.name.clone(), value);
    }
    fs::write(&path, serde_json::to_vec_pretty(&all)?)?;
    Ok(())
}
