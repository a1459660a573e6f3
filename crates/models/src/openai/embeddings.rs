//! Turns texts into unit vectors over the network.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pikerag_knowledge::{CountedVectors, Embedder, ModelError, Vector};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use tracing::{Instrument, info};

use super::http::Wire;
use super::measured::counted;
use super::{Endpoint, Transport, Trouble, spans};
use crate::batch::{Batch, batches};
use crate::estimate::estimate_embedding;

/// The expected properties of an embedding model.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbeddingParams {
    /// The number of components of each vector, if known: other lengths are refused. If not, the
    /// first reply decides.
    pub dimension: Option<NonZeroUsize>,
    /// How a call is split into requests.
    pub batch: Batch,
}

/// An embedding model behind an OpenAI-compatible endpoint.
pub struct OpenAiEmbedder {
    endpoint: Endpoint,
    wire: Wire,
    batch: Batch,
    dimension: OnceLock<usize>,
    refuses_base64: AtomicBool,
}

impl OpenAiEmbedder {
    /// Checks the settings; sends nothing.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`], naming the setting that is wrong.
    pub fn new(
        endpoint: Endpoint,
        transport: &Transport,
        params: EmbeddingParams,
    ) -> Result<Self, ModelError> {
        let wire = Wire::open(transport, &endpoint, "embeddings")?;
        let dimension = OnceLock::new();
        if let Some(known) = params.dimension {
            dimension.get_or_init(|| known.get());
        }
        let refuses_base64 = AtomicBool::new(false);
        Ok(Self { endpoint, wire, batch: params.batch, dimension, refuses_base64 })
    }

    /// Base64 is a quarter of the bytes, and far less to parse; a server that does not know it
    /// sends floats.
    async fn ask(&self, texts: &[String]) -> Result<CountedVectors, Trouble> {
        loop {
            let plain = self.refuses_base64.load(Ordering::Relaxed);
            let body = serde_json::to_vec(&body(&self.endpoint, texts, plain));
            let body = body.map_err(|error| Trouble::wrong(error.to_string()))?;
            let error = match self.wire.post(body).await {
                Ok(reply) => return self.vectors(reply, texts.len()),
                Err(error) => error,
            };
            if plain || !error.refuses(|body| body.contains("encoding_format")) {
                return Err(error);
            }
            info!(model = self.endpoint.model, "the endpoint refuses base64; asking for floats");
            self.refuses_base64.store(true, Ordering::Relaxed);
        }
    }

    /// Exactly `n` unit vectors of one length, by index.
    fn vectors(&self, reply: Reply, n: usize) -> Result<CountedVectors, Trouble> {
        if let Some(error) = reply.error.filter(|error| !error.is_null()) {
            return Err(self.wire.reported(&error));
        }
        let prompt_tokens = counted(reply.usage.as_ref(), "prompt_tokens");
        let items = reply.data.unwrap_or_default();
        if items.len() != n {
            return Err(Trouble::wrong(format!("has {} vectors for {n} texts", items.len())));
        }
        let mut vectors = vec![None; n];
        for (position, item) in items.into_iter().enumerate() {
            let index = item.index.unwrap_or(position);
            match vectors.get_mut(index) {
                Some(place @ None) => *place = Some(self.checked(item.embedding.0)?),
                _ => return Err(Trouble::wrong(format!("has a wrong or second index {index}"))),
            }
        }
        Ok(CountedVectors { vectors: vectors.into_iter().flatten().collect(), prompt_tokens })
    }

    fn checked(&self, mut vector: Vector) -> Result<Vector, Trouble> {
        let dimension = *self.dimension.get_or_init(|| vector.len());
        if vector.len() != dimension {
            let n = vector.len();
            return Err(Trouble::wrong(format!("has a vector of {n} numbers, not {dimension}")));
        }
        let squares: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        // Also false if the sum is not a number.
        if !(0.0 < squares && squares.is_finite()) {
            return Err(Trouble::wrong(
                "has a vector without a direction (all zero or not a number)",
            ));
        }
        let length = squares.sqrt();
        // Unit vectors keep every bit.
        if 1e-6 < (length - 1.0).abs() {
            for x in &mut vector {
                *x = (f64::from(*x) / length) as f32;
            }
        }
        Ok(vector)
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        Ok(self.embed_counted(texts).await?.vectors)
    }

    async fn embed_counted(&self, texts: &[String]) -> Result<CountedVectors, ModelError> {
        let (mut vectors, mut prompt_tokens) = (Vec::with_capacity(texts.len()), 0);
        for batch in batches(texts, self.batch) {
            let span = spans::call(&self.endpoint, "embeddings");
            let asked = self.ask(batch).instrument(span.clone()).await;
            let asked = asked.map_err(|trouble| trouble.into_error(&self.endpoint.model));
            let asked = asked.inspect_err(|error| spans::failed(&span, error))?;
            span.record("gen_ai.usage.input_tokens", asked.prompt_tokens.map(u64::cast_signed));
            vectors.extend(asked.vectors);
            let estimated = || estimate_embedding(batch).prompt_tokens;
            prompt_tokens += asked.prompt_tokens.unwrap_or_else(estimated);
        }
        Ok(CountedVectors { vectors, prompt_tokens: Some(prompt_tokens) })
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding_format: Option<&'static str>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

fn body<'a>(endpoint: &'a Endpoint, texts: &'a [String], plain: bool) -> Body<'a> {
    let base64 = !plain && !endpoint.extra.contains_key("encoding_format");
    // OpenAI refuses a whole batch for one empty text.
    let input = texts.iter().map(|text| if text.is_empty() { " " } else { text }).collect();
    Body {
        model: &endpoint.model,
        input,
        encoding_format: base64.then_some("base64"),
        extra: &endpoint.extra,
    }
}

#[derive(Deserialize)]
struct Reply {
    data: Option<Vec<Item>>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Floats,
}

/// Floats as a list, or as base64 of their little-endian bytes. A visitor and not an untagged enum,
/// which would buffer each number first.
struct Floats(Vector);

impl<'de> Deserialize<'de> for Floats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FloatsVisitor)
    }
}

struct FloatsVisitor;

impl<'de> Visitor<'de> for FloatsVisitor {
    type Value = Floats;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("floats, as a list or in base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Floats, E> {
        from_base64(text).map(Floats).ok_or_else(|| E::custom("not floats in base64"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Floats, A::Error> {
        let mut floats = Vec::new();
        while let Some(float) = list.next_element()? {
            floats.push(float);
        }
        Ok(Floats(floats))
    }
}

/// Floats to base64 of their little-endian bytes.
pub(crate) fn to_base64(vector: &[f32]) -> String {
    let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
    STANDARD.encode(bytes)
}

/// The reverse of [`to_base64`]; `None` if the text is not base64 of whole floats.
pub(crate) fn from_base64(text: &str) -> Option<Vector> {
    let bytes = STANDARD.decode(text).ok()?;
    let (floats, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| floats.iter().map(|x| f32::from_le_bytes(*x)).collect())
}

#[cfg(test)]
pikerag_test_support::fuzz_targets! {
    vectors_reply in "corpus/vectors" => |bytes: &[u8]| {
        let endpoint = Endpoint::new("http://127.0.0.1:9/v1", "m");
        let params = EmbeddingParams::default();
        let model = OpenAiEmbedder::new(endpoint, &Transport::default(), params).unwrap();
        let vectors = serde_json::from_slice(bytes).map(|reply| model.vectors(reply, 2));
        for vector in vectors.into_iter().flatten().flat_map(|counted| counted.vectors) {
            let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            assert!((length - 1.0).abs() < 1e-3, "{length}");
        }
    };
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::{Budget, Cap, Meter, Prices};
    use pikerag_test_support::canned::{Server, ok};

    /// The endpoint's count is booked, so that the cap holds; without a count, an estimate.
    #[tokio::test]
    async fn the_budget_books_what_the_endpoint_counts() {
        let vector = json!([{"embedding": [1.0, 0.0]}]);
        let server = Server::start(vec![
            ok(json!({"data": vector, "usage": {"prompt_tokens": 39}}).to_string()),
            ok(json!({"data": vector}).to_string()),
            ok(json!({"data": vector, "usage": {"prompt_tokens": 0}}).to_string()),
        ]);
        let text = ["crane".to_owned()];
        let estimate = estimate_embedding(&text).prompt_tokens;
        // A call can cost 69 tokens at most: one more fits after the second, and none after the
        // third.
        let cap = Cap { tokens: Some(39 + estimate + 69), ..Cap::default() };
        let meter = Arc::new(Meter::new(Prices::new(), cap));
        let endpoint = Endpoint::new(&server.base_url, "m");
        let params = EmbeddingParams::default();
        let model = OpenAiEmbedder::new(endpoint, &Transport::default(), params).unwrap();
        let model = Budget::new(model, meter.clone());
        let mut booked = Vec::new();
        for _ in 0..3 {
            model.embed(&text).await.unwrap();
            booked.push(meter.total().usage.prompt_tokens);
        }
        assert_eq!(booked, [39, 39 + estimate, 39 + 2 * estimate]);
        let error = model.embed(&text).await.unwrap_err();
        assert!(matches!(error, ModelError::OverBudget { .. }), "{error}");
    }

    #[test]
    fn base64_keeps_every_bit() {
        let vector = vec![0.1_f32, -1e-40, f32::MAX, -0.0];
        let back = from_base64(&to_base64(&vector)).unwrap();
        let bits = |vector: &[f32]| vector.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&vector));
        assert_eq!(from_base64("AAA="), None);
        assert_eq!(from_base64("***"), None);
    }
}
