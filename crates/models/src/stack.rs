//! Puts the wrappers around a model in their order (the crate's page explains it).

use std::sync::Arc;

use pikerag_knowledge::{ChatModel, Embedder, Ledger, ModelError, Reranker};

use crate::batch::Batch;
use crate::budget::Budget;
use crate::hosted::{HostedChat, ModelServer};
use crate::ledger::{Mode, Pins, Recorded, RecordedEmbedder, RecordedReranker, canonical};
use crate::limit::Limit;
use crate::meter::Meter;
use crate::open_calls::{Observed, OpenCalls};
use crate::openai::{
    EmbeddingParams, Endpoint, EndpointReranker, Extra, OpenAiChat, OpenAiEmbedder, Transport,
};
use crate::payer::{OnAccount, Payer};
use crate::retry::{Retry, RetryParams};
use crate::single_flight::{Flights, SingleFlight};
use crate::together::Together;
use crate::upstream::Upstream;

/// The state that all models of one use share.
#[derive(Clone)]
pub struct CallContext {
    /// The record of every call.
    pub ledger: Arc<dyn Ledger>,
    /// The treatment of a call that is not in it.
    pub mode: Mode,
    /// The replies that requests have used already.
    pub pins: Pins,
    /// The bill, and its cap.
    pub meter: Arc<Meter>,
    /// The connections, shared by all endpoints.
    pub transport: Transport,
    /// Pays for the calls; none if no caller is charged.
    pub payer: Option<Arc<dyn Payer>>,
    /// Names the base: identical requests under one name share a call, whichever caller makes them.
    /// None: they share one only within a stack.
    pub scope: Option<String>,
    /// Whether its calls let others pass first, as indexing lets questions.
    pub in_background: bool,
    /// Shows the chat calls that have no reply yet; `None` if nobody watches.
    pub open_calls: Option<Arc<OpenCalls>>,
}

/// The parameters that differ between endpoints.
#[derive(Clone, Debug, Default)]
pub struct StackParams {
    /// The state that all calls to the endpoint's model share.
    pub upstream: Upstream,
    /// The patience with it.
    pub retry: RetryParams,
    /// The server that pikerag starts for the model; `None` for an endpoint that others run.
    pub server: Option<Arc<dyn ModelServer>>,
}

/// Identifies an endpoint among those that use one model name: by the address, without user,
/// password and query, and by the extra fields. A new key does not change it.
pub fn endpoint_identity(endpoint: &Endpoint) -> String {
    let address = endpoint.address();
    let identity = canonical(&(address.trim_end_matches('/'), &endpoint.extra)).unwrap_or_default();
    blake3::hash(identity.as_bytes()).to_hex().chars().take(16).collect()
}

/// A chat model behind an endpoint, in all its wrappers. Build it once per model, and share it
/// between roles.
///
/// # Errors
/// [`ModelError::Unsupported`], naming the setting that is wrong. Nothing is sent.
pub fn chat_stack(
    calls: &CallContext,
    endpoint: &Endpoint,
    params: &StackParams,
) -> Result<Arc<dyn ChatModel>, ModelError> {
    let quirks = Arc::clone(&params.upstream.quirks);
    Ok(match &params.server {
        Some(server) => {
            let (own, server) = (endpoint.clone(), Arc::clone(server));
            let model = HostedChat::new(own, &calls.transport, server, quirks);
            wrapped(calls, endpoint, model, params)
        }
        None => {
            let model = OpenAiChat::new(endpoint.clone(), &calls.transport)?.with_quirks(quirks);
            wrapped(calls, endpoint, model, params)
        }
    })
}

/// A chat model of an endpoint in all its wrappers.
fn wrapped<M: ChatModel + 'static>(
    calls: &CallContext,
    endpoint: &Endpoint,
    model: M,
    params: &StackParams,
) -> Arc<dyn ChatModel> {
    let identity = endpoint_identity(endpoint);
    let model = metered(model, calls).with_extra(Extra::new(&endpoint.extra));
    let model = within(calls, model, params).served_by(identity.clone());
    let (flights, scope) = flights(calls, params, &identity);
    let model = SingleFlight::among(model, flights, scope).shown_in(calls.open_calls.clone());
    let model: Arc<dyn ChatModel> = Arc::new(model);
    match &calls.payer {
        Some(payer) => Arc::new(OnAccount::new(model, Arc::clone(payer))),
        None => model,
    }
}

/// A model whose calls count in this context.
fn metered<M>(model: M, calls: &CallContext) -> Budget<M> {
    Budget::new(model, calls.meter.clone()).paid_by(calls.payer.clone(), calls.scope.clone())
}

/// The calls that requests of this context may join, and the scope in which they compare. A replay
/// joins none: its replies are those of its run.
fn flights(calls: &CallContext, params: &StackParams, identity: &str) -> (Arc<Flights>, String) {
    match &calls.scope {
        Some(scope) if calls.mode == Mode::Record => {
            (Arc::clone(&params.upstream.flights), format!("{scope}\n{identity}"))
        }
        _ => <(Arc<Flights>, String)>::default(),
    }
}

/// A model that is called within the limits of this process and of others, and again while it is busy.
type Patient<M> = Retry<Limit<Together<Budget<M>>>>;

/// All wrappers but the outermost.
fn within<M: ChatModel>(
    calls: &CallContext,
    model: Budget<M>,
    params: &StackParams,
) -> Recorded<Observed<Patient<M>>> {
    let model = retried(limited(calls, model, params), params);
    let model = Observed::new(model, calls.open_calls.clone());
    Recorded::pinned(model, calls.ledger.clone(), calls.mode, calls.pins.clone())
}

/// A model that is called again while it is busy.
fn retried<M>(model: M, params: &StackParams) -> Retry<M> {
    let StackParams { upstream, retry, .. } = params;
    Retry::new(model, *retry).sharing(upstream.circuit.clone())
}

/// A model behind the gates that all its callers share, first in this process and then in all.
fn limited<M>(calls: &CallContext, model: M, params: &StackParams) -> Limit<Together<M>> {
    let StackParams { upstream, .. } = params;
    let (gate, circuit) = (upstream.gate.clone(), upstream.circuit.clone());
    let model = Together::new(model, gate, circuit, calls.in_background);
    let limit = Limit::new(model, upstream.limiter.clone()).sharing(upstream.circuit.clone());
    if calls.in_background { limit.in_background() } else { limit }
}

/// An embedding model behind an endpoint, in all its wrappers.
///
/// # Errors
/// As [`chat_stack`].
pub fn embed_stack(
    calls: &CallContext,
    endpoint: Endpoint,
    embedding: EmbeddingParams,
    params: &StackParams,
) -> Result<Arc<dyn Embedder>, ModelError> {
    let identity = endpoint_identity(&endpoint);
    let model = OpenAiEmbedder::new(endpoint, &calls.transport, embedding)?;
    let model = metered(model, calls);
    let model = retried(limited(calls, model, params), params);
    let model = RecordedEmbedder::new(model, calls.ledger.clone(), calls.mode, embedding.batch);
    Ok(Arc::new(model.served_by(identity)))
}

/// A reranker behind an endpoint, in all its wrappers.
///
/// # Errors
/// As [`chat_stack`].
pub fn rerank_stack(
    calls: &CallContext,
    endpoint: Endpoint,
    batch: Batch,
    params: &StackParams,
) -> Result<Arc<dyn Reranker>, ModelError> {
    let identity = endpoint_identity(&endpoint);
    let model = EndpointReranker::new(endpoint, &calls.transport)?;
    let model = metered(model, calls);
    let StackParams { upstream, .. } = params;
    let model = Together::new(model, upstream.gate.clone(), upstream.circuit.clone(), false);
    let model = Limit::new(model, upstream.limiter.clone()).sharing(upstream.circuit.clone());
    let model = retried(model, params);
    let model = RecordedReranker::new(model, calls.ledger.clone(), calls.mode, batch);
    Ok(Arc::new(model.served_by(identity)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::future::join_all;
    use pikerag_knowledge::ChatReply;

    use super::*;
    use crate::ledger::MemoryLedger;
    use crate::meter::{Cap, Prices};
    use pikerag_doubles::{ScriptedChat, busy, request};

    #[test]
    fn endpoints_are_identified_by_address_and_extra_fields() {
        let identity = |base_url: &str, extra: serde_json::Value| {
            let mut endpoint = Endpoint::new(base_url, "m");
            endpoint.extra = extra.as_object().cloned().unwrap_or_default();
            endpoint.api_key = Some(crate::Secret::new(base_url));
            endpoint_identity(&endpoint)
        };
        let none = serde_json::json!({});
        let one = identity("https://a.example/v1", none.clone());
        assert_eq!(identity("https://me:secret@a.example/v1/?key=secret", none.clone()), one);
        assert_ne!(identity("https://b.example/v1", none.clone()), one);
        assert_ne!(identity("https://a.example/v2", none), one);
        assert_ne!(identity("https://a.example/v1", serde_json::json!({"dimensions": 256})), one);
    }

    #[tokio::test]
    async fn the_wrappers_work_together() {
        let calls = CallContext {
            ledger: Arc::new(MemoryLedger::default()),
            mode: Mode::Record,
            pins: Pins::default(),
            meter: Arc::new(Meter::new(Prices::new(), Cap { calls: Some(2), ..Cap::default() })),
            transport: Transport::default(),
            payer: None,
            scope: None,
            in_background: false,
            open_calls: None,
        };
        let chat = ScriptedChat::by_turn(|turn, request| {
            if turn == 0 { Err(busy("fake")) } else { Ok(format!("reply {}", request.sample)) }
        });
        let mut params = StackParams::default();
        params.retry.first_wait = Duration::from_millis(1);
        let chat = Budget::new(chat.with_latency(Duration::from_millis(2)), calls.meter.clone());
        let chat = SingleFlight::new(within(&calls, chat, &params));

        let mut other = request("a");
        other.sample = 1;
        let ask = async |requests: [&_; 4]| -> Vec<ChatReply> {
            let replies = join_all(requests.map(|request| chat.complete(request))).await;
            let plain = |reply: ChatReply| ChatReply { call: None, ..reply };
            replies.into_iter().map(|reply| plain(reply.unwrap())).collect()
        };
        let same = request("a");
        let first = ask([&same, &same, &other, &same]).await;
        let texts = first.iter().map(|reply| reply.text.as_str()).collect::<Vec<_>>();
        assert_eq!(texts, ["reply 0", "reply 0", "reply 1", "reply 0"]);
        assert_eq!(ask([&same, &same, &other, &same]).await, first);
        assert_eq!(calls.meter.total().calls, 2);

        other.sample = 2;
        let error = chat.complete(&other).await.unwrap_err();
        assert!(matches!(error, ModelError::OverBudget { .. }));
    }
}
