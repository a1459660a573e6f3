//! What would a run cost? Nothing is asked and nothing is left behind.

use pikerag_coordinate::Method;
use pikerag_coordinate::estimate::estimate;
use pikerag_eval::cost_model::{
    Asked, Bill, Expected, Setting, examining, expected, judging, reranking,
};
use pikerag_knowledge::{Role, RunRecord, RunState, RunStore};
use serde::Serialize;

use super::plan::{Corpus, Plan, Set, method, plan};
use super::{EvalRequest, asked_before, rows};
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::files;
use crate::settings::Reranks;

/// Tokens of a chunk where the corpus is not at hand: a paragraph of the papers' data sets (KAR³
/// Table 12, less the prompt).
const USUAL_CHUNK: u64 = 110;

/// Runs of the base that are looked at, the latest.
const RUNS: usize = 1000;
/// As many questions those of other bases count for.
const ELSEWHERE: u64 = 5;

/// What stands for a method where hits are reranked.
const RERANKING: &str = "(rerank)";

/// What a run would cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DryRunResponse {
    /// Per data set and method.
    pub expected: Vec<Forecast>,
    /// What making the bases would cost, where the corpora are files.
    pub indexing: Vec<IndexingForecast>,
}

/// What a method would cost on a data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// The data set.
    pub data_set: String,
    /// The method; or the judge, the reranker.
    pub method: String,
    /// As it usually goes, and at most.
    pub forecast: Expected,
    /// The same in US dollars.
    pub usd: ForecastUsd,
}

/// US dollars, where prices are known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ForecastUsd {
    /// As it usually goes.
    pub typical: Option<f64>,
    /// The most it can be, where every loop goes to its end; none without a price.
    pub most: Option<f64>,
}

/// What making a base would cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexingForecast {
    /// The data set.
    pub data_set: String,
    /// Chunks that its corpus would become.
    pub chunks: usize,
    /// Calls to chat models while indexing.
    pub calls: usize,
    /// Tokens sent, estimated.
    pub prompt_tokens: u64,
    /// Tokens received, estimated.
    pub completion_tokens: u64,
    /// US dollars, where the prices are known.
    pub usd: Option<f64>,
}

impl Engine {
    /// Calls, tokens and money per data set and method. Nothing is asked, nothing is written; what is in a ledger
    /// already is not paid again.
    ///
    /// # Errors
    /// As [`Engine::eval`], as far as that reads only.
    pub async fn eval_dry_run(&self, request: &EvalRequest<'_>) -> Result<DryRunResponse> {
        let mut request = request.clone();
        request.out.get_or_insert_default();
        let plan = plan(&request)?;
        self.tell_notices(request.progress);
        let mut expected = Vec::new();
        for set in &plan.sets {
            for (method, forecast) in self.forecasts(&plan, set).await? {
                let usd = match method == RERANKING {
                    true => forecast_usd(&forecast, |bill| self.usd_of_reranking(bill)),
                    false => forecast_usd(&forecast, |bill| self.usd(bill)),
                };
                expected.push(Forecast { data_set: set.name.clone(), method, usd, forecast });
            }
        }
        let indexing = Box::pin(self.unless_cancelled(self.indexing(&plan))).await?;
        Ok(DryRunResponse { expected, indexing })
    }

    async fn forecasts(&self, plan: &Plan, set: &Set) -> Result<Vec<(String, Expected)>> {
        let most_chunk_tokens = self.settings().ingest.chunks.max_tokens;
        let setting = Setting {
            questions: set.items.len() as u64,
            chunk_tokens: chunk_tokens(set).min(most_chunk_tokens),
            most_chunk_tokens,
            tag_calls: self.settings().methods.weights.tags.calls(),
        };
        let mut all = Vec::new();
        let runs = match self.base() {
            Ok(base) => base.runs(RUNS).await?,
            Err(_) => Vec::new(),
        };
        let rerank = &self.settings().rerank;
        let mut reranked: Option<Expected> = None;
        for named in &plan.methods {
            let method = method(self, named)?;
            let foretold = expected(&method, &setting);
            let learned = self.learned(plan, set, (&named.label, &method), foretold, &runs);
            all.push((named.label.clone(), learned));
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

    /// What was foretold, put right by what is known: what questions cost this user with this model elsewhere, then those asked of
    /// this base, then those of this very run that were answered already.
    fn learned(
        &self,
        plan: &Plan,
        set: &Set,
        (label, method): (&str, &Method),
        foretold: Expected,
        runs: &[RunRecord],
    ) -> Expected {
        let questions = set.items.len() as u64;
        let mut here = Asked::default();
        for run in runs {
            let same = run.method == method.name() && run.parameters == method.parameters();
            if same && run.state == RunState::Answered {
                let usage = run.cost.spent.usage();
                let calls = run.cost.spent.calls() as u64;
                here.add(calls, usage.prompt_tokens, usage.completion_tokens);
            }
        }
        let rows = rows::kept(&plan.out);
        here.merge(asked_before(&rows, &set.name, |name| name == label));
        let elsewhere = self.costs().known(self.answering_model(), label).unwrap_or_default();
        // Other bases have chunks of other lengths: their questions count as much as five of this one's.
        foretold.learned(questions, elsewhere.at_most(ELSEWHERE)).learned(questions, here)
    }

    /// By the dearest of the models that answer questions; none where no price is known.
    fn usd(&self, bill: &Bill) -> Option<f64> {
        let prices = self.settings().prices_by_role();
        let roles = [Role::Propose, Role::Select, Role::Answer, Role::Judge];
        let costs = roles.iter().filter_map(|role| prices.get(role)).map(|(prompt, reply)| {
            (bill.prompt_tokens as f64 * prompt + bill.completion_tokens as f64 * reply) / 1e6
        });
        costs.reduce(f64::max)
    }

    /// A search is billed by the hundred documents, where it is billed so.
    fn usd_of_reranking(&self, bill: &Bill) -> Option<f64> {
        let rerank = &self.settings().rerank;
        let Reranks::Endpoint { endpoint, .. } = &rerank.by else { return None };
        let price = self.settings().prices.get(&endpoint.model)?;
        let searches = bill.calls.saturating_mul(rerank.first.div_ceil(100) as u64);
        Some(bill.prompt_tokens as f64 * price.prompt / 1e6 + searches as f64 * price.search / 1e3)
    }

    async fn indexing(&self, plan: &Plan) -> Result<Vec<IndexingForecast>> {
        let mut bills = Vec::new();
        let mut counted: Vec<&Corpus> = Vec::new();
        for set in &plan.sets {
            let Corpus::Files(paths) = &set.corpus else { continue };
            if counted.contains(&&set.corpus) {
                continue;
            }
            counted.push(&set.corpus);
            let names = self.names_to_be()?;
            let found = files::find(paths, &names);
            // A corpus that is not read is not free of cost: nobody knows.
            if let Some((path, reason)) = found.left_out.into_iter().next() {
                return Err(EngineError::CorpusUnreadable { path, reason });
            }
            let params = &self.settings().ingest;
            let bill = estimate(
                None,
                &self.reader_at(names.root()),
                &found.files,
                params,
                &self.available(),
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
                usd: self.price_of_estimate(&bill),
            });
        }
        Ok(bills)
    }
}

fn forecast_usd(of: &Expected, usd: impl Fn(&Bill) -> Option<f64>) -> ForecastUsd {
    ForecastUsd { typical: usd(&of.typical), most: usd(&of.most) }
}

/// Of the paragraphs that come with the questions, by four letters a token.
fn chunk_tokens(set: &Set) -> u64 {
    let pool = set.data.pool(&set.items);
    let letters: usize = pool.iter().map(|paragraph| paragraph.text.chars().count()).sum();
    match pool.len() {
        0 => USUAL_CHUNK,
        paragraphs => (letters / paragraphs / 4) as u64,
    }
}
