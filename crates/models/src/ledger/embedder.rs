//! Records every vector, so that no text is embedded twice.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::stream::{self, StreamExt};
use pikerag_knowledge::{
    CallOrigin, CallRecord, CountedVectors, Embedder, Ledger, ModelError, Usage, Vector,
};
use pikerag_language::estimate_tokens;
use tokio::sync::OwnedMutexGuard;

use super::claims::{PollDelay, claim};
use super::{Mode, failed, key, ledger_error, not_recorded, served};
use crate::batch::{Batch, batches};
use crate::openai::{from_base64, to_base64};
use crate::payer::recorded_as;

/// An embedding model that records every vector in the ledger, text by text, before it returns it.
///
/// Each missing text goes to the model once, in batches. A batch is recorded as soon as it arrives,
/// so that a failure in a later one does not make it cost twice.
pub struct RecordedEmbedder<E> {
    inner: E,
    ledger: Arc<dyn Ledger>,
    mode: Mode,
    batch: Batch,
    in_flight: InFlight,
    endpoint: Option<String>,
}

/// One lock per text that is being embedded: a second caller waits, and then finds the record.
#[derive(Default)]
struct InFlight(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

/// Holds the locks of some texts; dropping it, also by cancelling, frees them for others.
struct Locked<'a> {
    in_flight: &'a InFlight,
    held: Vec<(String, OwnedMutexGuard<()>)>,
}

impl InFlight {
    /// Waits until no other caller embeds any of these texts. All callers take locks in one order,
    /// so that no deadlock is possible.
    async fn take(&self, mut keys: Vec<String>) -> Locked<'_> {
        keys.sort_unstable();
        let mut locked = Locked { in_flight: self, held: Vec::with_capacity(keys.len()) };
        for key in keys {
            let lock = Arc::clone(self.locks().entry(key.clone()).or_default());
            locked.held.push((key, lock.lock_owned().await));
        }
        locked
    }

    fn locks(&self) -> MutexGuard<'_, HashMap<String, Arc<tokio::sync::Mutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let mut locks = self.in_flight.locks();
        for (key, guard) in self.held.drain(..) {
            drop(guard);
            // Ours and the map's are the only references: no other caller waits, and none can come
            // while the map is locked.
            if locks.get(&key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
                locks.remove(&key);
            }
        }
    }
}

impl<E: Embedder> RecordedEmbedder<E> {
    /// Records the vectors of a model.
    pub fn new(inner: E, ledger: Arc<dyn Ledger>, mode: Mode, batch: Batch) -> Self {
        Self { inner, ledger, mode, batch, in_flight: InFlight::default(), endpoint: None }
    }

    /// As [`Recorded::served_by`](super::Recorded::served_by).
    #[must_use]
    pub fn served_by(self, endpoint: String) -> Self {
        Self { endpoint: Some(endpoint), ..self }
    }

    fn key_of(&self, text: &str) -> String {
        key("embed", &served(self.name(), self.endpoint.as_deref()), &json(text))
    }

    /// Takes the recorded vectors; the remaining texts are missing.
    async fn found(
        &self,
        mut wanted: Vec<(String, String)>,
        vectors: &mut HashMap<String, Vector>,
    ) -> Result<Vec<(String, String)>, ModelError> {
        let keys: Vec<String> = wanted.iter().map(|(key, _)| key.clone()).collect();
        for call in self.ledger.find_all(&keys).await.map_err(ledger_error)?.iter().flatten() {
            vectors.insert(call.key.clone(), recorded_vector(call)?);
        }
        wanted.retain(|(key, _)| !vectors.contains_key(key));
        vectors.extend(self.inherited(&wanted).await?);
        wanted.retain(|(key, _)| !vectors.contains_key(key));
        Ok(wanted)
    }

    /// The vectors of these texts from before records were separated by endpoint, by current key,
    /// if they are ours.
    async fn inherited(
        &self,
        missing: &[(String, String)],
    ) -> Result<HashMap<String, Vector>, ModelError> {
        let Some(endpoint) = self.endpoint.as_deref().filter(|_| !missing.is_empty()) else {
            return Ok(HashMap::new());
        };
        let model = self.name();
        let keys: Vec<_> =
            missing.iter().map(|(_, text)| key("embed", model, &json(text))).collect();
        let found = self.ledger.find_all(&keys).await.map_err(ledger_error)?;
        let found: Vec<_> =
            missing.iter().zip(found).filter_map(|(it, call)| Some((&it.0, call?))).collect();
        if found.is_empty() || !self.ledger.inherits(model, endpoint).await.map_err(ledger_error)? {
            return Ok(HashMap::new());
        }
        found.iter().map(|(key, call)| Ok(((*key).clone(), recorded_vector(call)?))).collect()
    }

    /// Embeds one batch and records it.
    async fn embed_batch(&self, texts: &[String]) -> Result<Vec<(String, Vector)>, ModelError> {
        let keys = texts.iter().map(|text| self.key_of(text)).collect();
        let CountedVectors { vectors, prompt_tokens } =
            recorded_as(keys, self.inner.embed_counted(texts)).await?;
        if vectors.len() != texts.len() {
            let what = format!("{} vectors for {} texts", vectors.len(), texts.len());
            return Err(ModelError::Broken { model: self.name().to_owned(), source: what.into() });
        }
        let tokens = tokens_of(texts, prompt_tokens);
        let counted = texts.iter().zip(&vectors).zip(tokens);
        let record = |((text, vector), tokens): ((&String, &Vector), u64)| {
            record(self.key_of(text), self.name(), (text, tokens), vector)
        };
        let calls: Vec<_> = counted.map(record).collect();
        let keys: Vec<String> = calls.iter().map(|call| call.key.clone()).collect();
        self.ledger.keep_all(calls).await.map_err(ledger_error)?;
        Ok(keys.into_iter().zip(vectors).collect())
    }

    /// Embeds all batches, some side by side. After an error no further batch begins; the running
    /// ones are awaited and recorded, because they are paid.
    async fn embed_all(&self, texts: &[String]) -> Result<Vec<(String, Vector)>, ModelError> {
        let failed = &AtomicBool::new(false);
        let mut in_flight = Vec::new();
        for batch in batches(texts, self.batch) {
            in_flight.push(async move {
                if failed.load(Ordering::Relaxed) {
                    return Ok(Vec::new());
                }
                let done = self.embed_batch(batch).await;
                failed.fetch_or(done.is_err(), Ordering::Relaxed);
                done
            });
        }
        let done = stream::iter(in_flight).buffered(self.batch.at_once.get());
        let done: Vec<Result<_, _>> = done.collect().await;
        Ok(done.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}

#[async_trait]
impl<E: Embedder> Embedder for RecordedEmbedder<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        let keys: Vec<String> = texts.iter().map(|text| self.key_of(text)).collect();
        // Each text once, in the order of the request, so that equal runs send equal batches.
        let mut seen = HashSet::new();
        let mut unique: Vec<(&String, &String)> = keys.iter().zip(texts).collect();
        unique.retain(|(key, _)| seen.insert(*key));
        // Another caller may be embedding some of them now: wait, and find them recorded.
        let wanted: Vec<String> = unique.iter().map(|(key, _)| (*key).clone()).collect();
        let locked = self.in_flight.take(wanted.clone()).await;
        let mut vectors = HashMap::new();
        let mut missing: Vec<(String, String)> =
            unique.into_iter().map(|(key, text)| (key.clone(), text.clone())).collect();
        let mut patience = PollDelay::default();
        loop {
            missing = self.found(missing, &mut vectors).await?;
            if missing.is_empty() {
                break;
            }
            if self.mode == Mode::ReplayOnly {
                return Err(not_recorded("embed", self.name()));
            }
            // Another process may be embedding them.
            let wanted: Vec<String> = missing.iter().map(|(key, _)| key.clone()).collect();
            let ledger = self.ledger.as_ref();
            let (held, is_free) = claim(ledger, &wanted).await.map_err(ledger_error)?;
            let ours: HashSet<&String> = held.keys().iter().collect();
            let ours = missing.iter().filter(|(key, _)| ours.contains(key));
            let texts: Vec<String> = ours.map(|(_, text)| text.clone()).collect();
            if !texts.is_empty() {
                let made = held.during(self.embed_all(&texts)).await;
                match made {
                    Ok(made) => vectors.extend(made),
                    Err(error) => {
                        held.give_up().await.map_err(ledger_error)?;
                        return Err(error);
                    }
                }
                held.kept();
            } else if !is_free {
                patience.wait().await;
            }
            missing.retain(|(key, _)| !vectors.contains_key(key));
        }
        drop(locked);
        Ok(keys.iter().filter_map(|key| vectors.get(key).cloned()).collect())
    }
}

/// The tokens of each text: the model's count of all, shared out in proportion to the estimates.
/// The remainder of the division goes to the first texts, one token each.
fn tokens_of(texts: &[String], counted: Option<u64>) -> Vec<u64> {
    let mut tokens: Vec<u64> = texts.iter().map(|text| estimate_tokens(text)).collect();
    let (Some(counted), estimated) = (counted, tokens.iter().sum::<u64>()) else { return tokens };
    let weight = |estimate: u64| {
        if estimated == 0 { (1, texts.len() as u64) } else { (estimate, estimated) }
    };
    for estimate in &mut tokens {
        let (part, whole) = weight(*estimate);
        let share = u128::from(counted) * u128::from(part) / u128::from(whole);
        *estimate = u64::try_from(share).unwrap_or(u64::MAX);
    }
    let mut rest = counted.saturating_sub(tokens.iter().sum());
    for share in &mut tokens {
        let one = rest.min(1);
        *share += one;
        rest -= one;
    }
    tokens
}

fn record(
    key: String,
    model: &str,
    (text, prompt_tokens): (&str, u64),
    vector: &[f32],
) -> CallRecord {
    CallRecord {
        key,
        role: "embed".to_owned(),
        model: model.to_owned(),
        request: json(text),
        reply: json(&to_base64(vector)),
        usage: Usage { prompt_tokens, completion_tokens: 0 },
        unusable: false,
        origin: CallOrigin::default(),
    }
}

fn recorded_vector(call: &CallRecord) -> Result<Vector, ModelError> {
    let what = || format!("reading the recorded vector {}", call.key);
    let base64: String =
        serde_json::from_str(&call.reply).map_err(|error| failed(&what(), error))?;
    let invalid = || failed(&what(), io::Error::from(io::ErrorKind::InvalidData));
    from_base64(&base64).ok_or_else(invalid)
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::ledger::MemoryLedger;
    use pikerag_doubles::{HashEmbedder, ScriptedEmbedder};

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    /// A call rest unpaid by a kill is settled by its record: the shares are the paid tokens.
    #[test]
    fn the_tokens_of_texts_sum_to_the_models_count() {
        let all = texts(&["crane", "The crane lifts forty tons.", ""]);
        for counted in [0, 1, 7, 15, 1000] {
            let tokens = tokens_of(&all, Some(counted));
            assert_eq!(tokens.iter().sum::<u64>(), counted, "{tokens:?}");
            assert!(tokens[2] <= tokens[0] && tokens[0] <= tokens[1] + 1, "{tokens:?}");
        }
        assert_eq!(tokens_of(&texts(&["", ""]), Some(3)), [2, 1]);
        let estimates: Vec<u64> = all.iter().map(|text| estimate_tokens(text)).collect();
        assert_eq!(tokens_of(&all, None), estimates);
    }

    /// Yields to every other task first.
    struct Slow(ScriptedEmbedder);

    #[async_trait]
    impl Embedder for Slow {
        fn name(&self) -> &str {
            self.0.name()
        }
        async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            self.0.embed(texts).await
        }
    }

    #[tokio::test]
    async fn concurrent_calls_share_their_common_texts() {
        let model = Slow(ScriptedEmbedder::by(|texts| Ok(HashEmbedder::new(8).vectors(texts))));
        let ledger = Arc::new(MemoryLedger::default());
        let recorded = RecordedEmbedder::new(model, ledger, Mode::Record, Batch::default());
        // Each overlaps with the next, in different orders: a deadlock must be impossible.
        let asked = [["a", "b"], ["b", "c"], ["c", "a"]].map(|pair| texts(&pair));
        let replies =
            futures::future::join_all(asked.iter().map(|pair| recorded.embed(pair))).await;
        for (pair, vectors) in asked.iter().zip(replies) {
            assert_eq!(vectors.unwrap(), HashEmbedder::new(8).vectors(pair));
        }
        let mut sent = recorded.inner.0.requests().concat();
        sent.sort();
        assert_eq!(sent, ["a", "b", "c"]);
        assert!(recorded.in_flight.locks().is_empty());
    }

    #[tokio::test]
    async fn embeds_each_text_once() {
        let ledger = Arc::new(MemoryLedger::default());
        let hash = HashEmbedder::new(8);
        let model = ScriptedEmbedder::by(|texts| Ok(HashEmbedder::new(8).vectors(texts)));
        let recorded =
            RecordedEmbedder::new(&model, ledger.clone(), Mode::Record, Batch::default());
        let first = recorded.embed(&texts(&["a", "b", "a"])).await.unwrap();
        assert_eq!(first, hash.vectors(&texts(&["a", "b", "a"])));
        let second = recorded.embed(&texts(&["c", "b", "a"])).await.unwrap();
        assert_eq!(second, hash.vectors(&texts(&["c", "b", "a"])));
        assert_eq!(model.requests(), [texts(&["a", "b"]), texts(&["c"])]);
        assert!(recorded.embed(&[]).await.unwrap().is_empty());

        let replay =
            RecordedEmbedder::new(&model, ledger.clone(), Mode::ReplayOnly, Batch::default());
        assert_eq!(
            replay.embed(&texts(&["b", "c"])).await.unwrap(),
            hash.vectors(&texts(&["b", "c"]))
        );
        let error = replay.embed(&texts(&["b", "d"])).await.unwrap_err();
        insta::assert_snapshot!(error, @"replaying without network, and this `embed` request to fake-embedder was never recorded");
        assert_eq!(model.requests().len(), 2);

        let calls = ledger.calls();
        assert_eq!(calls.len(), 3);
        let call = calls.into_iter().find(|call| call.request == "\"a\"").unwrap();
        insta::assert_json_snapshot!(call, @r#"
        {
          "key": "d969f2ec34e2381665b6a35f5c9e7189bc30bc068f97745638fd3df6c9e671dc",
          "role": "embed",
          "model": "fake-embedder",
          "request": "\"a\"",
          "reply": "\"AAAAAAAAAAAAAAAAAACAvwAAAAAAAAAAAAAAAAAAAAA=\"",
          "usage": {
            "prompt_tokens": 1,
            "completion_tokens": 0
          }
        }
        "#);
    }

    /// As for chats.
    #[tokio::test]
    async fn endpoints_share_no_vector() {
        let ledger = Arc::new(MemoryLedger::default());
        let model = ScriptedEmbedder::by(|texts| Ok(HashEmbedder::new(8).vectors(texts)));
        let recorded =
            || RecordedEmbedder::new(&model, ledger.clone(), Mode::Record, Batch::default());
        recorded().embed(&texts(&["a"])).await.unwrap();
        for endpoint in ["1", "2", "1", "2"] {
            let vectors =
                recorded().served_by(endpoint.to_owned()).embed(&texts(&["a", "b"])).await;
            assert_eq!(vectors.unwrap(), HashEmbedder::new(8).vectors(&texts(&["a", "b"])));
        }
        assert_eq!(model.requests(), [texts(&["a"]), texts(&["b"]), texts(&["b"])]);
    }

    #[tokio::test]
    async fn keeps_batches_that_came_before_a_failure() {
        let ledger = Arc::new(MemoryLedger::default());
        let model = ScriptedEmbedder::by(|texts| {
            if texts.contains(&"bad".to_owned()) {
                let source = "bad text".into();
                return Err(ModelError::Refused { model: "hash".to_owned(), source });
            }
            Ok(HashEmbedder::new(8).vectors(texts))
        });
        let one = NonZeroUsize::MIN;
        let batch = Batch { texts: one, at_once: one, ..Batch::default() };
        let recorded = RecordedEmbedder::new(&model, ledger.clone(), Mode::Record, batch);
        assert!(recorded.embed(&texts(&["a", "bad", "b"])).await.is_err());
        assert_eq!(ledger.calls().len(), 1);
        assert_eq!(model.requests().len(), 2);
    }

    #[tokio::test]
    async fn too_few_vectors_are_an_error() {
        let model = ScriptedEmbedder::by(|_| Ok(vec![vec![1.0]]));
        let ledger = Arc::new(MemoryLedger::default());
        let recorded = RecordedEmbedder::new(&model, ledger, Mode::Record, Batch::default());
        let error = recorded.embed(&texts(&["a", "b"])).await.unwrap_err();
        assert!(matches!(error, ModelError::Broken { .. }));
    }
}
