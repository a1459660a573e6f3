//! Gets scores of texts over the network by `POST …/rerank`, as Jina, Cohere, vLLM and llama.cpp
//! serve it. The dialect of Text Embeddings Inference is detected automatically.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pikerag_knowledge::{ModelError, Relevance, Reranker};
use serde_json::{Map, Value};
use tracing::{Instrument, info};

use super::http::Wire;
use super::measured::counted;
use super::{Endpoint, Transport, Trouble, spans};

/// Our own fields; the extra fields of an endpoint are added.
const OURS: [&str; 4] = ["query", "documents", "texts", "top_n"];

/// A reranker behind an endpoint.
pub struct EndpointReranker {
    endpoint: Endpoint,
    wire: Wire,
    /// Whether the endpoint names the documents `texts`.
    wants_texts: AtomicBool,
}

impl EndpointReranker {
    /// Checks the settings; sends nothing. `rerank` is appended to the base URL, which includes the
    /// version: `https://api.cohere.com/v2`, `https://api.jina.ai/v1`, `http://127.0.0.1:8080/v1`.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`], naming the setting that is wrong.
    pub fn new(endpoint: Endpoint, transport: &Transport) -> Result<Self, ModelError> {
        if let Some(name) = endpoint.extra.keys().find(|name| OURS.contains(&name.as_str())) {
            let hint = format!("`{name}` cannot be an extra field");
            return Err(ModelError::Unsupported { model: endpoint.model, hint });
        }
        let wire = Wire::open(transport, &endpoint, "rerank")?;
        Ok(Self { endpoint, wire, wants_texts: AtomicBool::new(false) })
    }

    async fn ask(&self, query: &str, texts: &[String]) -> Result<Relevance, Trouble> {
        loop {
            let wants_texts = self.wants_texts.load(Ordering::Relaxed);
            let body = Value::from(body(&self.endpoint, query, texts, wants_texts)).to_string();
            let error = match self.wire.post(body.into_bytes()).await {
                Ok(reply) => return self.relevance(&reply, texts.len()),
                Err(error) => error,
            };
            let is_missing = |body: &str| body.contains("missing field") && body.contains("texts");
            if wants_texts || !error.refuses(is_missing) {
                return Err(error);
            }
            info!(model = self.endpoint.model, "the endpoint names the documents `texts`");
            self.wants_texts.store(true, Ordering::Relaxed);
        }
    }

    /// One score for each of `n` texts, by index: replies are sorted by score.
    fn relevance(&self, reply: &Value, n: usize) -> Result<Relevance, Trouble> {
        if let Some(error) = reply.get("error").filter(|error| !error.is_null()) {
            return Err(self.wire.reported(error));
        }
        let results = reply.get("results").unwrap_or(reply).as_array();
        let results = results.ok_or_else(|| Trouble::wrong("has no list of results"))?;
        let mut scores = vec![None; n];
        for result in results {
            let index = result.get("index").and_then(Value::as_u64);
            let index = index.ok_or_else(|| Trouble::wrong("has a result without an index"))?;
            let place = usize::try_from(index).ok().and_then(|index| scores.get_mut(index));
            match place {
                Some(place @ None) => *place = Some(score(result, index)?),
                Some(Some(_)) => {
                    return Err(Trouble::wrong(format!("has two scores for document {index}")));
                }
                None => {
                    let what = format!("has a score for document {index}, and {n} were sent");
                    return Err(Trouble::wrong(what));
                }
            }
        }
        if let Some(index) = scores.iter().position(Option::is_none) {
            return Err(Trouble::wrong(format!("has no score for document {index} of {n}")));
        }
        Ok(Relevance {
            scores: scores.into_iter().flatten().collect(),
            prompt_tokens: prompt_tokens(reply),
            searches: searches(reply),
        })
    }
}

#[async_trait]
impl Reranker for EndpointReranker {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError> {
        if texts.is_empty() {
            return Ok(Relevance::default());
        }
        let span = spans::call(&self.endpoint, "rerank");
        let asked = self.ask(query, texts).instrument(span.clone()).await;
        let asked = asked.map_err(|trouble| trouble.into_error(&self.endpoint.model));
        asked.inspect_err(|error| spans::failed(&span, error))
    }
}

fn body(
    endpoint: &Endpoint,
    query: &str,
    texts: &[String],
    wants_texts: bool,
) -> Map<String, Value> {
    // Some servers refuse the whole request for one empty text.
    let texts: Vec<&str> =
        texts.iter().map(|text| if text.is_empty() { " " } else { text }).collect();
    let mut body = endpoint.extra.clone();
    body.insert("model".to_owned(), endpoint.model.clone().into());
    body.insert("query".to_owned(), query.into());
    if !wants_texts {
        // Ask for all of them: some servers send fewer by default.
        body.insert("top_n".to_owned(), texts.len().into());
    }
    body.insert(if wants_texts { "texts" } else { "documents" }.to_owned(), texts.into());
    body
}

/// The score of one result; null, or a number too large for us, is an error.
fn score(result: &Value, index: u64) -> Result<f32, Trouble> {
    let score = result.get("relevance_score").or_else(|| result.get("score"));
    let score = score.and_then(Value::as_f64).map(|score| score as f32);
    let score = score.filter(|score| score.is_finite());
    score.ok_or_else(|| Trouble::wrong(format!("has no number as the score of document {index}")))
}

/// The count of vLLM, llama.cpp and Jina, or that of Cohere.
fn prompt_tokens(reply: &Value) -> Option<u64> {
    let places = [
        ("/usage", "prompt_tokens"),
        ("/usage", "total_tokens"),
        ("/meta/tokens", "input_tokens"),
        ("/meta/billed_units", "total_tokens"),
    ];
    places.iter().find_map(|(place, field)| counted(reply.pointer(place), field))
}

/// The count that Cohere bills: a query with up to a hundred documents is one search.
fn searches(reply: &Value) -> Option<u64> {
    let searches = reply.pointer("/meta/billed_units/search_units")?.as_f64()?;
    (0.0..1e6).contains(&searches).then(|| searches.ceil() as u64)
}

#[cfg(test)]
pikerag_test_support::fuzz_targets! {
    rerank_reply in "corpus/rerank" => |bytes: &[u8]| {
        let endpoint = Endpoint::new("http://127.0.0.1:9/v1", "m");
        let model = EndpointReranker::new(endpoint, &Transport::default()).unwrap();
        if let Ok(reply) = serde_json::from_slice(bytes)
            && let Ok(relevance) = model.relevance(&reply, 2)
        {
            assert!(relevance.scores.len() == 2 && relevance.scores.iter().all(|s| s.is_finite()));
        }
    };
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pikerag_knowledge::error_chain;
    use serde_json::json;

    use super::*;
    use crate::meter::{Cap, Meter, Price, Prices};
    use crate::secret::Secret;
    use crate::{Budget, estimate};
    use pikerag_test_support::canned::{Canned, Server, error, ok};

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    fn model(replies: Vec<Canned>) -> (Server, EndpointReranker) {
        let server = Server::start(replies);
        let mut endpoint = Endpoint::new(&server.base_url, "m");
        endpoint.api_key = Some(Secret::new("sk-123456789"));
        endpoint.extra.insert("truncate".to_owned(), true.into());
        (server, EndpointReranker::new(endpoint, &Transport::default()).unwrap())
    }

    /// The outcome of a reply about two documents.
    async fn check(reply: Canned) -> String {
        let (_server, model) = model(vec![reply]);
        match model.rerank("q", &texts(&["a", "b"])).await {
            Ok(Relevance { scores, prompt_tokens, searches }) => {
                format!("{scores:?}, {prompt_tokens:?} tokens, {searches:?} searches")
            }
            Err(error) => error_chain(&error),
        }
    }

    #[tokio::test]
    async fn reads_what_servers_send_and_refuses_what_breaks_the_protocol() {
        let result = |index: Value, score: Value| json!({"index": index, "relevance_score": score});
        let two = [result(1.into(), 0.75.into()), result(0.into(), (-2.5).into())];
        let of = |results: Value| ok(json!({ "results": results }).to_string());
        let lines = [
            check(ok(json!({"results": two, "usage": {"prompt_tokens": 7, "total_tokens": 7}})
                .to_string()))
            .await,
            check(ok(json!({"results": two, "meta": {"billed_units": {"search_units": 1.0}}})
                .to_string()))
            .await,
            check(ok(r#"[{"index": 1, "score": 0.5}, {"index": 0, "score": 0.25}]"#)).await,
            check(of(json!([two[0]]))).await,
            check(of(json!([]))).await,
            check(of(json!([two[0], two[0]]))).await,
            check(of(json!([two[0], result(2.into(), 1.into())]))).await,
            check(of(json!([two[0], result((-1).into(), 1.into())]))).await,
            check(of(json!([two[0], result(0.into(), Value::Null)]))).await,
            check(of(json!([two[0], result(0.into(), 1e300.into())]))).await,
            check(ok(r#"{"results": [{"index": 0, "relevance_score": NaN}]}"#)).await,
            check(of(json!("none"))).await,
            check(ok("{}")).await,
            check(ok("<html>Gateway</html>")).await,
            check(ok(r#"{"error": {"code": 400, "message": "too long"}}"#)).await,
            check(error(401, r#"{"detail": "no key sk-123456789"}"#)).await,
            check(error(404, "")).await,
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        [-2.5, 0.75], Some(7) tokens, None searches
        [-2.5, 0.75], None tokens, Some(1) searches
        [0.25, 0.5], None tokens, None searches
        m sent a reply that breaks the protocol: the reply has no score for document 0 of 2
        m sent a reply that breaks the protocol: the reply has no score for document 0 of 2
        m sent a reply that breaks the protocol: the reply has two scores for document 1
        m sent a reply that breaks the protocol: the reply has a score for document 2, and 2 were sent
        m sent a reply that breaks the protocol: the reply has a result without an index
        m sent a reply that breaks the protocol: the reply has no number as the score of document 0
        m sent a reply that breaks the protocol: the reply has no number as the score of document 0
        m sent a reply that breaks the protocol: the reply cannot be read (expected value at line 1 column 46), and begins with "{\"results\": [{\"index\": 0, \"relevance_score\": NaN}]}"
        m sent a reply that breaks the protocol: the reply has no list of results
        m sent a reply that breaks the protocol: the reply has no list of results
        m sent a reply that breaks the protocol: the reply cannot be read (expected value at line 1 column 1), and begins with "<html>Gateway</html>"
        m refused the request: HTTP 400: too long
        m refuses every request: HTTP 401: no key ***
        m refuses every request: HTTP 404: Not Found
        "#);
    }

    #[tokio::test]
    async fn asks_for_all_documents_and_sends_no_empty_request() {
        let reply = json!({"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 0}]});
        let (server, model) = model(vec![ok(reply.to_string())]);
        model.rerank("q", &texts(&["a", ""])).await.unwrap();
        assert_eq!(model.rerank("q", &[]).await.unwrap(), Relevance::default());
        let requests = server.requests();
        assert_eq!(requests.len(), 1);
        assert!(requests[0].starts_with("POST /v1/rerank HTTP/1.1"), "{requests:?}");
        assert!(requests[0].contains("authorization: Bearer sk-123456789"));
        insta::assert_snapshot!(server.bodies(), @r#"{"truncate":true,"model":"m","query":"q","top_n":2,"documents":["a"," "]}"#);
    }

    #[tokio::test]
    async fn learns_that_documents_are_named_texts() {
        let reply = r#"[{"index": 1, "score": 0.5}, {"index": 0, "score": 0.25}]"#;
        let missing = error(422, "missing field `texts` at line 1 column 50");
        let (server, model) = model(vec![missing, ok(reply)]);
        for _ in 0..2 {
            let relevance = model.rerank("q", &texts(&["a", "b"])).await.unwrap();
            assert_eq!(relevance.scores, [0.25, 0.5]);
        }
        let bodies = server.bodies();
        assert_eq!(bodies.lines().count(), 3, "{bodies}");
        assert!(bodies.lines().skip(1).all(|body| body.contains(r#""texts":["a","b"]"#)));
    }

    #[test]
    fn extra_fields_cannot_replace_ours() {
        let mut endpoint = Endpoint::new("http://127.0.0.1:9/v1", "m");
        endpoint.extra.insert("top_n".to_owned(), 3.into());
        let error = EndpointReranker::new(endpoint, &Transport::default()).err().unwrap();
        insta::assert_snapshot!(error, @"m cannot do this: `top_n` cannot be an extra field");
    }

    /// Booked by tokens as the endpoint counts them, or by searches as it bills them; without a
    /// count, by estimate.
    #[tokio::test]
    async fn the_budget_books_tokens_and_searches() {
        let results = json!([{"index": 0, "relevance_score": 1}]);
        let (_server, model) = model(vec![
            ok(json!({"results": results, "usage": {"total_tokens": 9}}).to_string()),
            ok(json!({"results": results, "meta": {"billed_units": {"search_units": 2}}})
                .to_string()),
            ok(json!({"results": results}).to_string()),
        ]);
        let price = Price { prompt: 1.0, search: 2.0, ..Price::default() };
        let prices = Prices::from([("m".to_owned(), price)]);
        let meter = Arc::new(Meter::new(prices, Cap::default()));
        let model = Budget::new(model, meter.clone());
        let text = texts(&["crane"]);
        let estimated = estimate::estimate_reranking("q", &text).usage.prompt_tokens;
        let (mut tokens, mut money) = (0, 0.0);
        for (more, searches) in [(9, 1), (estimated, 2), (estimated, 1)] {
            model.rerank("q", &text).await.unwrap();
            tokens += more;
            money += more as f64 / 1e6 + f64::from(searches) * 2.0 / 1e3;
            let total = meter.total();
            assert_eq!(total.usage.prompt_tokens, tokens);
            assert!((total.money.dollars() - money).abs() < 1e-9, "{total:?}");
        }
        assert_eq!(meter.spending()[0].role, "rerank");
    }
}
