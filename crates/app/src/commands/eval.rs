//! `eval`: methods on a set of questions. All that is known of a run lies in its folder, so that it
//! can go on where it was left.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;

use anyhow::{Context, bail};
use pikerag_coordinate::Method;
use pikerag_coordinate::ingest::ingest;
use pikerag_eval::datasets::{self, Item};
use pikerag_eval::report::{self, Row};
use pikerag_eval::runner::{RunError, run};
use pikerag_knowledge::Answer;
use pikerag_store::Base;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cli::Eval;
use crate::commands::index::watch;
use crate::exit;
use crate::files;
use crate::output::{Bar, note, say, say_json};
use crate::wiring::Wiring;

/// What a folder's rows were made with: other settings need another folder.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    questions: String,
    corpus: Vec<String>,
    models: String,
    embedder: Option<String>,
    parameters: String,
}

pub(crate) async fn eval(wiring: &Wiring, arguments: &Eval) -> anyhow::Result<u8> {
    let mut methods: Vec<(String, Method)> = Vec::new();
    for name in &arguments.methods {
        methods.push((name.trim().to_owned(), wiring.method(name)?));
    }
    let all = datasets::read(&arguments.questions, None)?.items;
    let items = match arguments.limit {
        Some(limit) => datasets::sample(all, limit, arguments.seed),
        None => all,
    };
    fs::create_dir_all(&arguments.out)
        .with_context(|| format!("{} is not made", arguments.out.display()))?;
    let base = the_base(wiring, arguments).await?;
    let kit = wiring.kit(&base).await?;
    let header = Header {
        questions: blake3::hash(&fs::read(&arguments.questions)?).to_hex().to_string(),
        corpus: arguments.corpus.iter().map(|path| path.display().to_string()).collect(),
        models: wiring.models_line(),
        embedder: kit.embedder.as_ref().map(|embedder| embedder.name().to_owned()),
        parameters: wiring.parameters_line(),
    };
    let mut rows = Rows::open(&arguments.out, &header, arguments.fresh)?;
    // What failed is tried again.
    rows.all.retain(|row| row.failed.is_none());
    let done: HashSet<(String, String)> =
        rows.all.iter().map(|row| (row.method.clone(), row.item.clone())).collect();
    let total = items.len() * methods.len();
    let bar = Bar::new(wiring.json);
    let mut asked = 0;
    let result = run(&kit, &items, &methods, &done, arguments.concurrency, |row, answer| {
        asked += 1;
        bar.at("asking", done.len() + asked, total);
        rows.keep(row, answer.as_ref())
    })
    .await;
    bar.end();
    let stopped = match result {
        Ok(()) => None,
        Err(RunError::Keep(error)) => return Err(error.into()),
        Err(RunError::Solve(error)) => Some(anyhow::Error::from(error)),
    };
    rows.all.retain(|row| is_asked(row, &items, &methods));
    let order = |row: &Row| methods.iter().position(|(name, _)| *name == row.method);
    rows.all.sort_by_key(order);
    conclude(wiring, arguments, &rows.all, stopped)
}

fn is_asked(row: &Row, items: &[Item], methods: &[(String, Method)]) -> bool {
    items.iter().any(|item| item.id == row.item)
        && methods.iter().any(|(name, _)| *name == row.method)
}

fn conclude(
    wiring: &Wiring,
    arguments: &Eval,
    rows: &[Row],
    stopped: Option<anyhow::Error>,
) -> anyhow::Result<u8> {
    let report = report::summarize(rows, arguments.seed);
    let text = report::text(&report);
    fs::write(arguments.out.join("report.json"), report::json(&report)?)?;
    fs::write(arguments.out.join("report.md"), report::markdown(&report))?;
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
        note(&format!("rows, answers and reports are in {}", arguments.out.display()));
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

/// The base of the run: its own, made from the corpus, or the one that is configured.
async fn the_base(wiring: &Wiring, arguments: &Eval) -> anyhow::Result<Base> {
    if arguments.corpus.is_empty() {
        return wiring.base();
    }
    let base = Base::open_or_create(&arguments.out.join("base"))?;
    let found = files::find(&arguments.corpus);
    if let Some((file, reason)) = found.left_out.first() {
        bail!("{file}: {reason}");
    }
    let tools = wiring.tools(&base)?;
    let bar = Bar::new(wiring.json);
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
    Ok(base)
}

/// The rows of a run, on disk and in memory.
struct Rows {
    all: Vec<Row>,
    file: fs::File,
    answers: fs::File,
}

impl Rows {
    fn open(folder: &Path, header: &Header, fresh: bool) -> anyhow::Result<Self> {
        let (path, answers) = (folder.join("rows.jsonl"), folder.join("answers.jsonl"));
        if fresh {
            for file in [&path, &answers] {
                if file.exists() {
                    fs::remove_file(file)?;
                }
            }
        }
        let mut all = Vec::new();
        let mut whole = 0u64;
        if let Ok(file) = fs::File::open(&path) {
            let mut lines = std::io::BufReader::new(file);
            let mut line = String::new();
            while 0 < lines.read_line(&mut line)? {
                if !line.ends_with('\n') {
                    break; // The last line of a run that was killed while writing it.
                }
                if whole == 0 {
                    let known: Header =
                        serde_json::from_str(&line).context("rows.jsonl has no header")?;
                    if known != *header {
                        bail!(
                            "{} holds a run with other questions, corpus or models; give another --out, or --fresh",
                            folder.display()
                        );
                    }
                } else {
                    let row: Row =
                        serde_json::from_str(&line).context("rows.jsonl cannot be read")?;
                    // A later row is a second try.
                    all.retain(|other: &Row| other.method != row.method || other.item != row.item);
                    all.push(row);
                }
                whole += line.len() as u64;
                line.clear();
            }
        }
        let append = |path: &Path| fs::OpenOptions::new().create(true).append(true).open(path);
        let mut rows = append(&path)?;
        rows.set_len(whole)?;
        if whole == 0 {
            writeln!(rows, "{}", serde_json::to_string(header)?)?;
        }
        Ok(Self { all, file: rows, answers: append(&answers)? })
    }

    /// The answer first: a row says that its question is done.
    fn keep(&mut self, row: Row, answer: Option<&Answer>) -> std::io::Result<()> {
        let answer = json!({ "method": row.method, "item": row.item, "answer": answer });
        self.answers.write_all(format!("{answer}\n").as_bytes())?;
        let line = serde_json::to_string(&row)?;
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.all.push(row);
        Ok(())
    }
}
