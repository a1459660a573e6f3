//! Records every score, so that no texts are ranked twice for the same query.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures::stream::{self, StreamExt};
use pikerag_knowledge::{CallOrigin, CallRecord, Ledger, ModelError, Relevance, Reranker, Usage};
use serde_json::json;

use super::claims::{PollDelay, claim};
use super::{Mode, canonical, failed, key, ledger_error, not_recorded, served};
use crate::batch::{Batch, batches};
use crate::estimate::estimate_reranking;
use crate::payer::recorded_as;

/// A reranker that records every score in the ledger before it returns it.
///
/// A call is recorded as a whole, query and texts together: some models weigh the texts of a call
/// against each other. A batch is recorded as soon as it arrives, so that a failure in a later one
/// does not make it cost twice.
pub struct RecordedReranker<R> {
    inner: R,
    ledger: Arc<dyn Ledger>,
    mode: Mode,
    batch: Batch,
    endpoint: Option<String>,
}

impl<R: Reranker> RecordedReranker<R> {
    /// Records the scores of a model.
    pub fn new(inner: R, ledger: Arc<dyn Ledger>, mode: Mode, batch: Batch) -> Self {
        Self { inner, ledger, mode, batch, endpoint: None }
    }

    /// As [`Recorded::served_by`](super::Recorded::served_by).
    #[must_use]
    pub fn served_by(self, endpoint: String) -> Self {
        Self { endpoint: Some(endpoint), ..self }
    }

    /// The scores of one batch: from its record, or by a call that is recorded now.
    async fn scores(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, ModelError> {
        let wrong = |error| failed("encoding a request", error);
        let request = canonical(&json!({"query": query, "documents": texts})).map_err(wrong)?;
        let key = key("rerank", &served(self.name(), self.endpoint.as_deref()), &request);
        let mut patience = PollDelay::default();
        let held = loop {
            if let Some(call) = self.ledger.find(&key).await.map_err(ledger_error)? {
                return recorded(&call, texts.len());
            }
            if self.mode == Mode::ReplayOnly {
                return Err(not_recorded("rerank", self.name()));
            }
            // Another process, or another question, may be making this call.
            let wanted = std::slice::from_ref(&key);
            let (held, is_free) =
                claim(self.ledger.as_ref(), wanted).await.map_err(ledger_error)?;
            if !held.keys().is_empty() {
                break held;
            }
            if !is_free {
                patience.wait().await;
            }
        };
        let call = recorded_as(held.keys().to_vec(), self.inner.rerank(query, texts));
        let relevance = match held.during(call).await {
            Ok(relevance) => relevance,
            Err(error) => {
                held.give_up().await.map_err(ledger_error)?;
                return Err(error);
            }
        };
        let model = self.name().to_owned();
        if relevance.scores.len() != texts.len() {
            let what = format!("{} scores for {} texts", relevance.scores.len(), texts.len());
            return Err(ModelError::Broken { model, source: what.into() });
        }
        let estimated = || estimate_reranking(query, texts).usage.prompt_tokens;
        let prompt_tokens = relevance.prompt_tokens.unwrap_or_else(estimated);
        let reply = serde_json::to_string(&relevance.scores)
            .map_err(|error| failed("recording a reply", error))?;
        let usage = Usage { prompt_tokens, completion_tokens: 0 };
        let role = "rerank".to_owned();
        let call = CallRecord {
            key,
            role,
            model,
            request,
            reply,
            usage,
            unusable: false,
            origin: CallOrigin::default(),
        };
        self.ledger.keep_all(vec![call.clone()]).await.map_err(ledger_error)?;
        held.kept();
        // The first record wins: a replay cannot differ from the run.
        let kept = self.ledger.find(&call.key).await.map_err(ledger_error)?;
        recorded(&kept.unwrap_or(call), texts.len())
    }
}

#[async_trait]
impl<R: Reranker> Reranker for RecordedReranker<R> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError> {
        let has_failed = &AtomicBool::new(false);
        let mut in_flight = Vec::new();
        for batch in batches(texts, self.batch) {
            in_flight.push(async move {
                // After an error no further batch begins; the running ones are awaited, because
                // they are paid.
                if has_failed.load(Ordering::Relaxed) {
                    return Ok(Vec::new());
                }
                let done = self.scores(query, batch).await;
                has_failed.fetch_or(done.is_err(), Ordering::Relaxed);
                done
            });
        }
        let done = stream::iter(in_flight).buffered(self.batch.at_once.get());
        let done: Vec<Result<_, _>> = done.collect().await;
        let scores = done.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten();
        Ok(Relevance { scores: scores.collect(), ..Relevance::default() })
    }
}

fn recorded(call: &CallRecord, n: usize) -> Result<Vec<f32>, ModelError> {
    let what = || format!("reading the recorded scores {}", call.key);
    let scores: Vec<f32> =
        serde_json::from_str(&call.reply).map_err(|error| failed(&what(), error))?;
    if scores.len() != n {
        return Err(failed(&what(), std::io::Error::from(std::io::ErrorKind::InvalidData)));
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::ledger::MemoryLedger;
    use pikerag_doubles::{ScriptedReranker, busy};

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    fn batch(texts: usize) -> Batch {
        let one = NonZeroUsize::MIN;
        Batch { texts: one.saturating_add(texts - 1), at_once: one, ..Batch::default() }
    }

    #[tokio::test]
    async fn the_same_query_and_texts_are_ranked_once() {
        let ledger = Arc::new(MemoryLedger::default());
        let model = ScriptedReranker::shortest_first();
        let run = |mode, endpoint: &str| {
            let recorded = RecordedReranker::new(&model, ledger.clone(), mode, batch(9));
            recorded.served_by(endpoint.to_owned())
        };
        let (both, other) = (texts(&["abc", "d"]), texts(&["d", "abc"]));
        for _ in 0..2 {
            let scores = run(Mode::Record, "1").rerank("q", &both).await.unwrap().scores;
            assert_eq!(scores, [-3.0, -1.0]);
        }
        assert_eq!(model.requests(), [("q".to_owned(), both.clone())]);
        let replayed = run(Mode::ReplayOnly, "1").rerank("q", &both).await.unwrap();
        assert_eq!(replayed.scores, [-3.0, -1.0]);
        for (endpoint, query, texts) in [("2", "q", &both), ("1", "r", &both), ("1", "q", &other)] {
            let error = run(Mode::ReplayOnly, endpoint).rerank(query, texts).await.unwrap_err();
            assert!(matches!(error, ModelError::NotRecorded { .. }), "{error}");
            run(Mode::Record, endpoint).rerank(query, texts).await.unwrap();
        }
        assert_eq!(model.requests().len(), 4);
        assert!(run(Mode::ReplayOnly, "1").rerank("q", &[]).await.unwrap().scores.is_empty());
        let call = ledger.calls().into_iter().find(|call| call.request.contains("\"r\"")).unwrap();
        insta::assert_json_snapshot!(call, @r#"
        {
          "key": "73cb792faf50f67a13157a2fd464c41881bae83a7838799861a26f84535a024f",
          "role": "rerank",
          "model": "fake-reranker",
          "request": "{\"documents\":[\"abc\",\"d\"],\"query\":\"r\"}",
          "reply": "[-3.0,-1.0]",
          "usage": {
            "prompt_tokens": 12,
            "completion_tokens": 0
          }
        }
        "#);
    }

    #[tokio::test]
    async fn concurrent_calls_share_one_request() {
        let ledger = Arc::new(MemoryLedger::default());
        let model = ScriptedReranker::shortest_first();
        let recorded = RecordedReranker::new(&model, ledger, Mode::Record, batch(9));
        let texts = texts(&["a", "bc"]);
        let all = futures::future::join_all((0..4).map(|_| recorded.rerank("q", &texts))).await;
        assert!(all.into_iter().all(|relevance| relevance.unwrap().scores == [-1.0, -2.0]));
        assert_eq!(model.requests().len(), 1);
    }

    #[tokio::test]
    async fn keeps_batches_that_came_before_a_failure() {
        let ledger = Arc::new(MemoryLedger::default());
        let model = ScriptedReranker::by_turn(|turn, _, texts| match turn {
            1 => Err(busy("fake")),
            _ => Ok(vec![turn as f32; texts.len()]),
        });
        let recorded = RecordedReranker::new(&model, ledger.clone(), Mode::Record, batch(2));
        let five = texts(&["a", "b", "c", "d", "e"]);
        assert!(recorded.rerank("q", &five).await.is_err());
        assert_eq!(ledger.calls().len(), 1);
        assert_eq!(recorded.rerank("q", &five).await.unwrap().scores, [0.0, 0.0, 2.0, 2.0, 3.0]);
        let sent: Vec<Vec<String>> = model.requests().into_iter().map(|(_, texts)| texts).collect();
        assert_eq!(sent, [&five[..2], &five[2..4], &five[2..4], &five[4..]]);
    }

    #[tokio::test]
    async fn too_few_scores_are_an_error_and_not_recorded() {
        let ledger = Arc::new(MemoryLedger::default());
        let model = ScriptedReranker::by_turn(|_, _, _| Ok(vec![1.0]));
        let recorded = RecordedReranker::new(&model, ledger.clone(), Mode::Record, batch(9));
        let error = recorded.rerank("q", &texts(&["a", "b"])).await.unwrap_err();
        assert!(matches!(error, ModelError::Broken { .. }), "{error}");
        assert!(ledger.calls().is_empty());
    }
}
