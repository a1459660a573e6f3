//! `forecast`: what would one question cost?

use pikerag_baselines::Method;
use pikerag_eval::cost_model::{Asked, Bill, Expected, Setting, expected};
use pikerag_knowledge::{Role, RunQuery, RunRecord, RunState, RunStore, Usage};
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::{DEFAULT_METHOD, Session};
use crate::error::Result;

/// Tokens of a chunk where the corpus is not at hand: a paragraph of the papers' data sets (KAR³
/// Table 12, less the prompt).
pub(super) const USUAL_CHUNK: u64 = 110;
/// Runs of the base that are looked at, the latest.
pub(super) const RUNS: usize = 1000;
/// As many questions those of other bases count for.
pub(super) const ELSEWHERE: u64 = 5;

/// What one question would cost.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct QuestionForecast {
    /// The method.
    pub method: String,
    /// Calls and tokens as it usually goes, and at most; zero where no model is set.
    pub forecast: Expected,
    /// The same in US dollars.
    pub usd: ForecastUsd,
}

/// US dollars, where prices are known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct ForecastUsd {
    /// As it usually goes.
    #[schema(required)]
    pub typical: Option<f64>,
    /// The most it can be, where every loop goes to its end; none without a price.
    #[schema(required)]
    pub most: Option<f64>,
}

/// What one question would cost by a method, the usual one where none is named: by the cost model, put right by what questions
/// have cost. Nothing is asked.
///
/// # Errors
/// There is no such method; there is no base, or it cannot be read.
pub async fn forecast(session: &Session, method: &str) -> Result<QuestionForecast> {
    let name = match method.trim() {
        "" => DEFAULT_METHOD,
        named => named,
    };
    let method = session.method(name)?;
    let most_chunk_tokens = session.settings().ingest.chunks.max_tokens;
    let setting = Setting {
        questions: 1,
        chunk_tokens: USUAL_CHUNK.min(most_chunk_tokens),
        most_chunk_tokens,
        tag_calls: session.settings().methods.weights.tags.calls(),
    };
    let runs = session.base_in_part().await?.runs(RunQuery::Latest(RUNS)).await?;
    let runs: Vec<RunRecord> =
        runs.into_iter().filter(|run| session.may_see(&run.filter)).collect();
    let mut forecast =
        experienced(session, name, 1, expected(&method, &setting), asked_here(&method, &runs));
    if !session.has_chat(Role::Answer) {
        forecast = Expected { typical: Bill::default(), most: Bill::default(), ..forecast };
    }
    let usd = ForecastUsd {
        typical: usd_of_asking(session, &forecast.typical),
        most: usd_of_asking(session, &forecast.most),
    };
    Ok(QuestionForecast { method: name.to_owned(), forecast, usd })
}

/// What was foretold, put right by what is known: what questions cost this user with this model elsewhere, then those asked of
/// this base.
pub(super) fn experienced(
    session: &Session,
    label: &str,
    questions: u64,
    foretold: Expected,
    here: Asked,
) -> Expected {
    let elsewhere = session.costs().known(session.answering_model(), label).unwrap_or_default();
    // Other bases have chunks of other lengths: their questions count as much as five of this one's.
    foretold.learned(questions, elsewhere.at_most(ELSEWHERE)).learned(questions, here)
}

/// By the dearest of the models that answer questions; none where no price is known.
pub(super) fn usd_of_asking(session: &Session, bill: &Bill) -> Option<f64> {
    let prices = session.settings().prices_by_role();
    let roles = [Role::Propose, Role::Select, Role::Answer, Role::Judge];
    let (prompt_tokens, completion_tokens) = (bill.prompt_tokens, bill.completion_tokens);
    let usage = Usage { prompt_tokens, completion_tokens };
    let costs = roles.iter().filter_map(|role| prices.get(role));
    costs.map(|price| usage.priced(*price)).reduce(f64::max)
}

/// What questions have cost that were answered by the same method with the same parameters.
pub(super) fn asked_here(method: &Method, runs: &[RunRecord]) -> Asked {
    let mut here = Asked::default();
    for run in runs {
        let same = run.method == method.name() && run.parameters == method.parameters();
        if same && run.state == RunState::Answered {
            let usage = run.cost.spent.usage();
            let calls = run.cost.spent.calls() as u64;
            here.add(calls, usage.prompt_tokens, usage.completion_tokens);
        }
    }
    here
}
