//! Forecasts the cost of one question (`forecast`).

use pikerag_baselines::Method;
use pikerag_eval::cost_model::{Asked, Bill, Expected, Setting, expected};
use pikerag_knowledge::{Role, RunQuery, RunRecord, RunState, Usage};
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::{DEFAULT_METHOD, Session};
use crate::error::Result;

/// Tokens of a chunk if the corpus is unknown: a paragraph of the papers' data sets (KAR³ Table 12,
/// less the prompt).
pub(super) const USUAL_CHUNK: u64 = 110;
/// The number of latest runs that a forecast uses.
pub(super) const RUNS: usize = 1000;
/// The most questions that those of other bases count for.
pub(super) const ELSEWHERE: u64 = 5;

/// The forecast cost of one question.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct QuestionForecast {
    /// The method.
    pub method: String,
    /// Typical and highest calls and tokens; zero if no model is set.
    pub forecast: Expected,
    /// The same in US dollars.
    pub usd: ForecastUsd,
}

/// US dollars, if prices are known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct ForecastUsd {
    /// The typical cost.
    #[schema(required)]
    pub typical: Option<f64>,
    /// The highest cost, if every loop runs to its end; none without a price.
    #[schema(required)]
    pub most: Option<f64>,
}

/// The cost of one question with a method, or the default one if empty: by the cost model,
/// corrected with the costs of earlier questions. It makes no calls.
///
/// # Errors
/// There is no such method; there is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let cost = pikerag_engine::forecast(session, "kar3").await?;
/// println!("usually {} calls, at most {}", cost.forecast.typical.calls, cost.forecast.most.calls);
/// if let Some(usd) = cost.usd.most {
///     println!("at most {usd:.2} US dollars");
/// }
/// # Ok(())
/// # }
/// ```
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
        with_known_costs(session, name, 1, expected(&method, &setting), asked_here(&method, &runs));
    if !session.has_chat(Role::Answer) {
        forecast = Expected { typical: Bill::default(), most: Bill::default(), ..forecast };
    }
    let usd = ForecastUsd {
        typical: usd_of_asking(session, &forecast.typical),
        most: usd_of_asking(session, &forecast.most),
    };
    Ok(QuestionForecast { method: name.to_owned(), forecast, usd })
}

/// The forecast of the cost model, corrected with known costs: first those of this user's questions
/// with this model on other bases, then those on this base.
pub(super) fn with_known_costs(
    session: &Session,
    label: &str,
    questions: u64,
    prior: Expected,
    here: Asked,
) -> Expected {
    let elsewhere = session.costs().known(session.answering_model(), label).unwrap_or_default();
    // Other bases have chunks of other lengths, so their questions count as at most five of this
    // one's.
    prior.learned(questions, elsewhere.at_most(ELSEWHERE)).learned(questions, here)
}

/// The price at the most expensive of the models that answer questions; none if no price is known.
pub(super) fn usd_of_asking(session: &Session, bill: &Bill) -> Option<f64> {
    let prices = session.settings().prices_by_role();
    let roles = [Role::Propose, Role::Select, Role::Answer, Role::Judge];
    let (prompt_tokens, completion_tokens) = (bill.prompt_tokens, bill.completion_tokens);
    let usage = Usage { prompt_tokens, completion_tokens };
    let costs = roles.iter().filter_map(|role| prices.get(role));
    costs.map(|price| usage.priced(*price)).reduce(f64::max)
}

/// The cost of the questions answered with the same method and the same parameters. A run that
/// called no model is left out: most of such runs were made without one, and tell nothing about the
/// cost with one.
pub(super) fn asked_here(method: &Method, runs: &[RunRecord]) -> Asked {
    let mut here = Asked::default();
    for run in runs {
        let same = run.method == method.name() && run.parameters == method.parameters();
        let (calls, usage) = (run.cost.spent.calls() as u64, run.cost.spent.usage());
        if same && run.state == RunState::Answered && 0 < calls {
            here.add(calls, usage.prompt_tokens, usage.completion_tokens);
        }
    }
    here
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::Cost;

    use super::*;

    #[test]
    fn runs_without_a_model_call_do_not_lower_the_forecast() {
        let method: Method = "naive-rag".parse().unwrap();
        let run = |calls: u64| {
            let mut cost = Cost::default();
            for _ in 0..calls {
                cost.spent.add(Role::Answer, Usage { prompt_tokens: 900, completion_tokens: 100 });
            }
            RunRecord {
                method: method.name().to_owned(),
                parameters: method.parameters(),
                state: RunState::Answered,
                cost,
                ..RunRecord::default()
            }
        };
        let failed = RunRecord { state: RunState::Failed, ..run(5) };
        let runs = [run(0), run(2), run(0), run(1), run(0), failed];
        let bill = Bill { calls: 3, prompt_tokens: 2700, completion_tokens: 300 };
        assert_eq!(asked_here(&method, &runs), Asked { questions: 2, bill });
    }
}
