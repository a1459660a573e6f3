//! Measures methods on sets of questions (`eval`). The folder of a run contains all its data, so
//! that it can continue after an interruption.

mod corpus;
mod dry_run;
mod header;
pub(super) mod plan;
mod rows;
mod searches;
mod served;

pub use self::dry_run::eval_dry_run;
pub use self::searches::eval_searches;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use pikerag_baselines::Method;
use pikerag_eval::cost_model::Asked;
use pikerag_eval::presets::Preset;
use pikerag_eval::report::{self, Report, Row};
use pikerag_eval::runner::{Judges, Params, RunError, run};
use pikerag_knowledge::{Role, error_chain};
use pikerag_methods::{Ports, SolveError};
use serde::{Serialize, Serializer};

pub use self::dry_run::{DryRunResponse, Forecast, IndexingForecast};
use self::header::header;
use self::plan::{Plan, Set, plan};
use self::rows::Rows;
pub use self::searches::SearchesResponse;
use super::progress::{OnProgress, Progress};
use crate::base::Base;
use crate::engine::{Cost, Session};
use crate::error::{EngineError, Needed, Result};
use crate::verbs::eval::corpus::base_of;

/// The methods or searches to measure, and the questions.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent switch")]
pub struct EvalRequest<'a> {
    /// Files of questions with their answers.
    pub questions: Vec<PathBuf>,
    /// Files to index first: one corpus for all questions, or one for each (`-` for none). Without
    /// files, the questions' own paragraphs if they have any; otherwise the base of the settings.
    pub corpus: Vec<PathBuf>,
    /// Format of the questions; `None` detects it from their first record.
    pub format: Option<String>,
    /// Methods, optionally with parameters (`kar3:n=3:k=2`).
    pub methods: Vec<String>,
    /// Searches to compare, optionally with weights.
    pub searches: Vec<String>,
    /// The preset of a table in the papers to reproduce.
    pub preset: Option<String>,
    /// The folder of the preset's data sets.
    pub data: Option<PathBuf>,
    /// Whether a model judges which answers are right.
    pub judge: bool,
    /// Whether a model judges which answers follow from the retrieved passages.
    pub consistency: bool,
    /// Whether to measure the perplexity of the answering model.
    pub perplexity: bool,
    /// The number of questions drawn from each data set with the seed.
    pub limit: Option<usize>,
    /// Seed of the draw, the confidence intervals and the tests.
    pub seed: u64,
    /// Questions asked at a time.
    pub concurrency: usize,
    /// Folder of the run; `runs/PRESET` for a preset.
    pub out: Option<PathBuf>,
    /// Whether earlier rows in this folder are discarded.
    pub fresh: bool,
    /// Receives the progress.
    pub progress: OnProgress<'a>,
}

/// The results, the folder with their files, and their cost.
#[derive(Debug, Serialize)]
pub struct EvalResponse {
    /// A row for each method or search on each data set.
    pub report: Report,
    /// The cost of this run; rows of an earlier run in the folder cost nothing again.
    pub spent: Cost,
    /// Questions that were not answered; the next run tries them again.
    pub failed: usize,
    /// The reason why the run ended early, if it did. The next run continues from there.
    #[serde(serialize_with = "as_chain")]
    pub stopped: Option<EngineError>,
    /// Folder of the run: rows, answers and reports.
    #[serde(skip)]
    pub out: PathBuf,
}

#[expect(clippy::ref_option, reason = "as serde calls it")]
pub(super) fn as_chain<S: Serializer>(
    stopped: &Option<EngineError>,
    to: S,
) -> Result<S::Ok, S::Error> {
    stopped.as_ref().map(|error| error_chain(error)).serialize(to)
}

/// The presets: tables of the papers that can be reproduced.
///
/// # Errors
/// The built-in list is broken.
///
/// # Examples
/// ```no_run
/// # fn f() -> pikerag_engine::Result<()> {
/// for preset in pikerag_engine::presets()? {
///     println!("{}: {} questions of each of {:?}", preset.name, preset.sample, preset.data_sets);
/// }
/// # Ok(())
/// # }
/// ```
pub fn presets() -> Result<Vec<Preset>> {
    Ok(pikerag_eval::presets::presets()?)
}

/// Asks questions with the methods, and scores the answers.
///
/// # Errors
/// Nothing could be measured. Failed questions and an early end are in the response.
///
/// # Cancel safety
/// Dropping the future loses at most the calls in flight. The next run continues.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::narrate::Language;
/// use pikerag_engine::parts::eval_text;
/// use pikerag_engine::{EvalRequest, eval};
///
/// let request = EvalRequest {
///     questions: vec!["hotpotqa.jsonl".into()],
///     corpus: Vec::new(),
///     format: None,
///     methods: vec!["naive-rag".to_owned(), "kar3:n=3:k=2".to_owned()],
///     searches: Vec::new(),
///     preset: None,
///     data: None,
///     judge: false,
///     consistency: false,
///     perplexity: false,
///     limit: Some(100),
///     seed: 1,
///     concurrency: 4,
///     out: Some("runs/hotpotqa".into()),
///     fresh: false,
///     progress: &|_| {},
/// };
/// let response = eval(session, &request).await?;
/// println!("{}", eval_text(&response.report, Language::English));
/// # Ok(())
/// # }
/// ```
pub async fn eval(session: &Session, request: &EvalRequest<'_>) -> Result<EvalResponse> {
    Box::pin(session.unless_cancelled(measure(session, request))).await
}

async fn measure(session: &Session, request: &EvalRequest<'_>) -> Result<EvalResponse> {
    let plan = plan(request)?;
    let mut methods: Vec<(String, Method)> = Vec::new();
    for named in &plan.methods {
        methods.push((named.label.clone(), plan::method(session, named)?));
    }
    make_folder(&plan.out)?;
    let (mut bases, mut ports, mut served) = (Vec::new(), Vec::new(), Vec::new());
    let mut corpora = Vec::new();
    for set in &plan.sets {
        let (base, corpus) = base_of(session, request, &plan, set, &methods).await?;
        corpora.extend(corpus);
        let mut read = ports_for_measuring(session, &base, request.progress).await?;
        if plan.perplexity {
            read.models = read.models.with_logprobs();
        }
        served.push(served::served(&set.name, &read, &methods, request.progress).await?);
        bases.push(base);
        ports.push(read);
    }
    if served.iter().all(Vec::is_empty) {
        return Err(EngineError::Needs(Needed::PartsOfBase));
    }
    check_judges(&plan, &ports)?;
    let header = header(session.settings(), &plan, &ports, corpora, session.reads_at_most());
    let only = plan.sets.first().map_or("", |set| set.name.as_str());
    let mut rows = Rows::open(&plan.out, &header, only, request.fresh)?;
    rows.all.retain(|row| row.failed.is_none() && is_judged(row, &plan));
    let mut stopped = None;
    for (((set, base), ports), served) in plan.sets.iter().zip(&bases).zip(&ports).zip(&served) {
        let of = (set, base, ports);
        stopped = ask_set(session, request, &plan, of, served, &mut rows).await?;
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
    let report = keep_reports(&plan, &rows.all, request.seed)?;
    let failed = rows.all.iter().filter(|row| row.failed.is_some()).count();
    let stopped = stopped.map(EngineError::from);
    Ok(EvalResponse { report, spent: session.cost(), failed, stopped, out: plan.out })
}

/// The ports for answering. It reports their notices as progress.
pub(super) async fn ports_for_measuring(
    session: &Session,
    base: &Base,
    progress: OnProgress<'_>,
) -> Result<Ports> {
    // Each question takes its own snapshot.
    let (mut ports, notices) = session.ports(base, base.arc()).await?;
    // Verified answers are excluded, because the methods are measured.
    ports.feedback_before = Some(0);
    for notice in notices {
        progress(Progress::Notice(notice));
    }
    Ok(ports)
}

/// Asks the remaining questions of one data set. Returns the error that ended the run, if any.
async fn ask_set(
    session: &Session,
    request: &EvalRequest<'_>,
    plan: &Plan,
    (set, base, ports): (&Set, &Base, &Ports),
    methods: &[(String, Method)],
    rows: &mut Rows,
) -> Result<Option<SolveError>> {
    // A folder may have rows of methods that are not asked now.
    let of_set = rows.all.iter().filter(|row| is_asked(row, slice::from_ref(set), methods));
    let done: HashSet<(String, String)> =
        of_set.map(|row| (row.method.clone(), row.item.clone())).collect();
    let total = set.items.len() * methods.len();
    let name = format!("asking {}", set.name);
    let mut asked = 0;
    let prices = session.settings().prices_by_role();
    let params = Params {
        data_set: &set.name,
        snapshots: &**base,
        in_flight: request.concurrency,
        tags: session.settings().methods.weights.tags,
        reads_at_most: rows.reads_at_most,
        judges: Judges {
            right: ports.models.of(Role::Judge).filter(|_| plan.judge),
            consistent: ports.models.of(Role::Judge).filter(|_| plan.consistency),
        },
        prices: &prices,
    };
    let at_once = session.reads_at_once(base).await;
    let methods: Vec<(String, Method)> =
        methods.iter().map(|(name, method)| (name.clone(), method.reading(at_once))).collect();
    let mut cost: BTreeMap<String, Asked> = BTreeMap::new();
    let result = run(ports, &set.items, &methods, &done, params, |row, run| {
        asked += 1;
        if row.failed.is_none() && 0 < row.calls {
            let of_method = cost.entry(row.method.clone()).or_default();
            of_method.add(row.calls, row.prompt_tokens, row.completion_tokens);
        }
        rows.keep(row, run)?;
        (request.progress)(to_go(&methods, set, rows));
        let done = done.len() + asked;
        (request.progress)(Progress::Stage { name: name.clone(), done, total });
        Ok(())
    })
    .await;
    if !session.settings().replay {
        for (label, asked) in cost {
            session.costs().add(session.answering_model(), &label, asked);
        }
    }
    (request.progress)(Progress::Ended);
    match result {
        Ok(()) => Ok(None),
        Err(RunError::Keep(source)) => {
            Err(EngineError::NotWritten { path: plan.out.join("rows.jsonl"), source })
        }
        Err(RunError::Solve(error)) => Ok(Some(error)),
    }
}

/// The remaining calls and tokens of a data set, from its answered questions: of the same method,
/// else of all methods.
fn to_go(methods: &[(String, Method)], set: &Set, rows: &Rows) -> Progress {
    let (mut calls, mut tokens) = (0.0, 0.0);
    for (name, _) in methods {
        let own = asked_before(&rows.all, &set.name, |method| method == name);
        let left = (set.items.len() as u64).saturating_sub(own.questions);
        let basis = match own.questions {
            0 => asked_before(&rows.all, &set.name, |_| true),
            _ => own,
        };
        let each = left as f64 / basis.questions.max(1) as f64;
        calls += each * basis.bill.calls as f64;
        tokens += each * (basis.bill.prompt_tokens + basis.bill.completion_tokens) as f64;
    }
    Progress::ToGo { calls: calls as u64, tokens: tokens as u64 }
}

/// The cost of the questions of a data set that these methods have answered.
fn asked_before(rows: &[Row], data_set: &str, of: impl Fn(&str) -> bool) -> Asked {
    let mut asked = Asked::default();
    for row in rows {
        if row.data_set == data_set && row.failed.is_none() && of(&row.method) {
            asked.add(row.calls, row.prompt_tokens, row.completion_tokens);
        }
    }
    asked
}

fn make_folder(folder: &Path) -> Result<()> {
    let not_made = |source| EngineError::NotWritten { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(not_made)
}

fn check_judges(plan: &Plan, all: &[Ports]) -> Result<()> {
    let has_no_judge = |ports: &Ports| ports.models.of(Role::Judge).is_none();
    if (plan.judge || plan.consistency) && all.iter().any(has_no_judge) {
        return Err(EngineError::Needs(Needed::Judge));
    }
    if plan.perplexity && all.iter().any(|ports| ports.models.scorer.is_none()) {
        return Err(EngineError::Needs(Needed::LogProbabilities));
    }
    Ok(())
}

/// Whether a row has all the judgments that the plan needs. Other rows are asked again; recorded
/// replies cost nothing.
fn is_judged(row: &Row, plan: &Plan) -> bool {
    (!plan.judge || row.acc.is_some() || row.criteria.is_some())
        && (!plan.consistency || row.consistent.is_some() || row.refused)
        && (!plan.perplexity || row.perplexity.is_some() || row.refused)
}

fn is_asked(row: &Row, sets: &[Set], methods: &[(String, Method)]) -> bool {
    let of_set = |set: &&Set| set.name == row.data_set;
    let set = sets.iter().find(of_set);
    set.is_some_and(|set| set.items.iter().any(|item| item.id == row.item))
        && methods.iter().any(|(name, _)| *name == row.method)
}

/// Summarizes the rows, and writes the reports to the run's folder.
fn keep_reports(plan: &Plan, rows: &[Row], seed: u64) -> Result<Report> {
    let mut report = report::summarize(rows, seed, &plan.papers);
    report::add_indexing(&mut report, &plan.papers, &corpus::indexing_costs(plan));
    keep(&plan.out.join("report.json"), report::json(&report)?.as_bytes())?;
    keep(&plan.out.join("report.md"), report::markdown(&report).as_bytes())?;
    keep(&plan.out.join("report.html"), report::html(&report, rows, &plan.title)?.as_bytes())?;
    Ok(report)
}

fn keep(path: &Path, bytes: &[u8]) -> Result<()> {
    let not_written = |source| EngineError::NotWritten { path: path.to_owned(), source };
    fs::write(path, bytes).map_err(not_written)
}
