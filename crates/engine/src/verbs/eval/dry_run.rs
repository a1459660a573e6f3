//! Forecasts the cost of a run without calls or written files.

use pikerag_baselines::Method;
use pikerag_eval::cost_model::{Bill, Expected, Setting, examining, expected, judging, reranking};
use pikerag_indexing::estimate::estimate;
use pikerag_knowledge::{RunQuery, RunRecord};
use serde::Serialize;

use super::super::forecast::{ForecastUsd, RUNS, USUAL_CHUNK, asked_here};
use super::plan::{Corpus, Plan, Set, method, plan};
use super::served::{indexing_for, report_unbuilt};
use super::{EvalRequest, asked_before, rows};
use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::files;
use crate::settings::Reranks;
use crate::verbs::forecast::{usd_of_asking, with_known_costs};
use crate::verbs::progress::report_notices;

/// The name of the line for reranking, in place of a method.
const RERANKING: &str = "(rerank)";

/// The forecast cost of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DryRunResponse {
    /// A forecast for each data set and method.
    pub expected: Vec<Forecast>,
    /// The cost of indexing, for corpora that are files.
    pub indexing: Vec<IndexingForecast>,
}

/// The forecast cost of a method on a data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// The data set.
    pub data_set: String,
    /// The method, or the judge or the reranker.
    pub method: String,
    /// The typical and the highest cost.
    pub forecast: Expected,
    /// The same in US dollars.
    pub usd: ForecastUsd,
}

/// The forecast cost of indexing a corpus.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexingForecast {
    /// The data set.
    pub data_set: String,
    /// The chunks of its corpus.
    pub chunks: usize,
    /// Calls to chat models while indexing.
    pub calls: usize,
    /// Tokens sent, estimated.
    pub prompt_tokens: u64,
    /// Tokens received, estimated.
    pub completion_tokens: u64,
    /// US dollars, if the prices are known.
    pub usd: Option<f64>,
}

/// Calls, tokens and money per data set and method. It makes no calls and writes nothing. Calls in
/// a ledger are not paid again.
///
/// # Errors
/// The errors of [`eval`](super::eval) that occur while reading.
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::{EvalRequest, Result, Session};
/// # async fn f(session: &Session, request: &EvalRequest<'_>) -> Result<()> {
/// for line in pikerag_engine::eval_dry_run(session, request).await?.expected {
///     let (typical, most) = (line.forecast.typical, line.forecast.most);
///     println!("{} with {}", line.data_set, line.method);
///     println!("{} calls, at most {}", typical.calls, most.calls);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn eval_dry_run(session: &Session, request: &EvalRequest<'_>) -> Result<DryRunResponse> {
    let mut request = request.clone();
    request.out.get_or_insert_default();
    let plan = plan(&request)?;
    report_notices(session, request.progress);
    let mut expected = Vec::new();
    let mut methods = Vec::new();
    for named in &plan.methods {
        methods.push((named.label.clone(), method(session, named)?));
    }
    for set in &plan.sets {
        if set.corpus != Corpus::Base {
            report_unbuilt(&set.name, &session.settings().ingest, &methods, request.progress);
        }
        for (method, forecast) in forecasts(session, &plan, set).await? {
            let usd = match method == RERANKING {
                true => forecast_usd(&forecast, |bill| usd_of_reranking(session, bill)),
                false => forecast_usd(&forecast, |bill| usd_of_asking(session, bill)),
            };
            expected.push(Forecast { data_set: set.name.clone(), method, usd, forecast });
        }
    }
    let indexing = indexing(session, &plan, &methods);
    let indexing = Box::pin(session.unless_cancelled(indexing)).await?;
    Ok(DryRunResponse { expected, indexing })
}

async fn forecasts(session: &Session, plan: &Plan, set: &Set) -> Result<Vec<(String, Expected)>> {
    let most_chunk_tokens = session.settings().ingest.chunks.max_tokens;
    let setting = Setting {
        questions: set.items.len() as u64,
        chunk_tokens: chunk_tokens(set).min(most_chunk_tokens),
        most_chunk_tokens,
        tag_calls: session.settings().methods.weights.tags.calls(),
    };
    let mut all = Vec::new();
    let runs = match session.base().await {
        Ok(base) => base.runs(RunQuery::Latest(RUNS)).await?,
        Err(_) => Vec::new(),
    };
    let rerank = &session.settings().rerank;
    let mut reranked: Option<Expected> = None;
    for named in &plan.methods {
        let method = method(session, named)?;
        let prior = expected(&method, &setting);
        let corrected = corrected(session, plan, set, (&named.label, &method), prior, &runs);
        all.push((named.label.clone(), corrected));
        if 0 < rerank.first && matches!(rerank.by, Reranks::Endpoint { .. }) {
            let more = reranking(&method, &setting, rerank.first as u64);
            reranked = Some(match reranked {
                Some(held) => held.plus(&more),
                None => more,
            });
        }
    }
    all.extend(reranked.map(|forecast| (RERANKING.to_owned(), forecast)));
    let answers = (set.items.len() * plan.methods.len()) as u64;
    if plan.judge {
        all.push(("(judge)".to_owned(), judging(answers)));
    }
    if plan.consistency {
        all.push(("(consistency)".to_owned(), examining(answers, &setting)));
    }
    Ok(all)
}

/// The forecast of the cost model, corrected with the costs of earlier questions, including those
/// that this run has already answered.
fn corrected(
    session: &Session,
    plan: &Plan,
    set: &Set,
    (label, method): (&str, &Method),
    prior: Expected,
    runs: &[RunRecord],
) -> Expected {
    let mut here = asked_here(method, runs);
    let rows = rows::kept(&plan.out);
    here.merge(asked_before(&rows, &set.name, |name| name == label));
    with_known_costs(session, label, set.items.len() as u64, prior, here)
}

/// The price of reranking, by tokens and by searches. A search is billed per hundred documents.
fn usd_of_reranking(session: &Session, bill: &Bill) -> Option<f64> {
    let rerank = &session.settings().rerank;
    let Reranks::Endpoint { endpoint, .. } = &rerank.by else { return None };
    let price = session.settings().prices.get(&endpoint.model)?;
    let searches = bill.calls.saturating_mul(rerank.first.div_ceil(100) as u64);
    Some(bill.prompt_tokens as f64 * price.prompt / 1e6 + searches as f64 * price.search / 1e3)
}

async fn indexing(
    session: &Session,
    plan: &Plan,
    methods: &[(String, Method)],
) -> Result<Vec<IndexingForecast>> {
    let params = &indexing_for(&session.settings().ingest, methods);
    let mut bills = Vec::new();
    let mut counted: Vec<&Corpus> = Vec::new();
    for set in &plan.sets {
        let Corpus::Files(paths) = &set.corpus else { continue };
        if counted.contains(&&set.corpus) {
            continue;
        }
        counted.push(&set.corpus);
        let names = session.names_of_new_base()?;
        let found = files::find(paths, &names, &session.settings().choice);
        // The cost of an unreadable corpus is unknown, not zero.
        if let Some((path, reason)) = found.left_out.into_iter().next() {
            return Err(EngineError::CorpusUnreadable { path, reason });
        }
        let bill = estimate(
            None,
            &session.reader_at(names.root()),
            &found.files,
            params,
            &session.available(),
        )
        .await?;
        if let Some((path, reason)) = bill.unreadable.first().cloned() {
            return Err(EngineError::CorpusUnreadable { path, reason });
        }
        bills.push(IndexingForecast {
            data_set: set.name.clone(),
            chunks: bill.chunks,
            calls: bill.calls,
            prompt_tokens: bill.usage.prompt_tokens,
            completion_tokens: bill.usage.completion_tokens,
            usd: session.price_of_estimate(&bill),
        });
    }
    Ok(bills)
}

fn forecast_usd(of: &Expected, usd: impl Fn(&Bill) -> Option<f64>) -> ForecastUsd {
    ForecastUsd { typical: usd(&of.typical), most: usd(&of.most) }
}

/// The mean tokens of the questions' own paragraphs, at four letters per token.
fn chunk_tokens(set: &Set) -> u64 {
    let pool = set.data.pool(&set.items);
    let letters: usize = pool.iter().map(|paragraph| paragraph.text.chars().count()).sum();
    match pool.len() {
        0 => USUAL_CHUNK,
        paragraphs => (letters / paragraphs / 4) as u64,
    }
}
