//! Tests that a payer is charged for each attempt that is sent, and for nothing else.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pikerag_doubles::{HashEmbedder, ScriptedChat, ScriptedReranker, busy, request};
use pikerag_knowledge::{Embedder, Reranker};
use serde_json::json;
use tokio::task::yield_now;

use super::*;
use crate::budget::Budget;
use crate::ledger::{MemoryLedger, Mode, Pins, Recorded};
use crate::meter::{Cap, Meter, Price, Prices};
use crate::openai::{Extra, Transport};
use crate::retry::{Retry, RetryParams};
use crate::stack::CallContext;

/// A payer that logs its requests, and pays up to its cap.
#[derive(Default)]
struct LoggingPayer {
    cap: Option<Usd>,
    has_ended: bool,
    lines: Mutex<Vec<String>>,
}

impl LoggingPayer {
    fn log(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }
}

impl Payer for LoggingPayer {
    fn check(&self) -> Result<(), ModelError> {
        if self.has_ended { Err(ModelError::KeyEnded) } else { Ok(()) }
    }

    fn left(&self) -> Result<Option<Usd>, ModelError> {
        Ok(self.cap)
    }

    fn reserve(&self, charge: &Charge) -> Result<Hold, ModelError> {
        let mut lines = self.lines.lock().unwrap();
        lines.push(format!("{} in {}, {} records", charge.most, charge.base, charge.calls.len()));
        Ok(Hold::Held(i64::try_from(lines.len()).unwrap()))
    }

    fn close(&self, reservation: i64, outcome: ChargeOutcome) {
        let log = match outcome {
            ChargeOutcome::Cost(cost) => format!("{reservation}: {cost}"),
            ChargeOutcome::Nothing => format!("{reservation}: nothing"),
            ChargeOutcome::Unknown => format!("{reservation}: unknown"),
        };
        self.lines.lock().unwrap().push(log);
    }
}

fn context(payer: &Arc<LoggingPayer>) -> CallContext {
    let price = Price { prompt: 1.0, completion: 10.0, ..Price::default() };
    let prices = ["fake", "hash-4"].map(|model| (model.to_owned(), price));
    CallContext {
        ledger: Arc::new(MemoryLedger::default()),
        mode: Mode::Record,
        pins: Pins::default(),
        meter: Arc::new(Meter::new(Prices::from(prices), Cap::default())),
        transport: Transport::default(),
        payer: Some(payer.clone()),
        in_background: false,
        scope: Some("base".to_owned()),
        open_calls: None,
    }
}

fn metered<M>(model: M, calls: &CallContext) -> Budget<M> {
    Budget::new(model, calls.meter.clone()).paid_by(calls.payer.clone(), calls.scope.clone())
}

#[tokio::test]
async fn each_attempt_is_charged_and_a_recorded_reply_is_free() {
    let payer = Arc::new(LoggingPayer::default());
    let calls = context(&payer);
    let chat = ScriptedChat::by_turn(|turn, _| match turn {
        0 => Err(busy("fake")),
        1 => Err(ModelError::Broken { model: "fake".to_owned(), source: "cut".into() }),
        _ => Ok("four words are here".to_owned()),
    });
    let patience = RetryParams { first_wait: Duration::from_millis(1), ..RetryParams::default() };
    let chat = Retry::new(metered(chat, &calls), patience);
    let chat = Recorded::new(chat, calls.ledger.clone(), Mode::Record);
    chat.complete(&request("a question")).await.unwrap_err();
    for _ in 0..2 {
        chat.complete(&request("a question")).await.unwrap();
    }
    insta::assert_snapshot!(payer.log(), @r"
    $0.002634 in base, 1 records
    1: nothing
    $0.002634 in base, 1 records
    3: unknown
    $0.002634 in base, 1 records
    5: $0.000057
    ");
}

#[tokio::test]
async fn embedders_rerankers_and_further_fields_are_charged() {
    let payer = Arc::new(LoggingPayer::default());
    let calls = context(&payer);
    metered(HashEmbedder::new(4), &calls).embed(&["a text".to_owned()]).await.unwrap();
    let reranker = ScriptedReranker::shortest_first();
    metered(&reranker, &calls).rerank("query", &["a text".to_owned()]).await.unwrap();
    let extra = Extra::new(json!({"max_tokens": 4000}).as_object().unwrap());
    let chat = metered(ScriptedChat::in_order(["reply"]), &calls).with_extra(extra);
    chat.complete(&request("a")).await.unwrap();
    insta::assert_snapshot!(payer.log(), @r"
    $0.00007 in base, 0 records
    1: $0.000002
    $0.00 in base, 0 records
    3: $0.00
    $0.040079 in base, 0 records
    5: $0.000025
    ");
}

/// Never replies; records when it is called.
struct Silent(AtomicBool);

#[async_trait]
impl ChatModel for &Silent {
    fn name(&self) -> &'static str {
        "fake"
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.0.store(true, Ordering::Relaxed);
        std::future::pending().await
    }
}

/// A call that is dropped before it is sent costs nothing; afterwards it may have been billed.
#[tokio::test]
async fn a_dropped_call_counts_at_its_highest_cost() {
    let payer = Arc::new(LoggingPayer::default());
    let calls = context(&payer);
    let silent = Silent(AtomicBool::new(false));
    let chat = metered(&silent, &calls);
    let same = request("a");
    let is_asked = async {
        while !silent.0.load(Ordering::Relaxed) {
            yield_now().await;
        }
    };
    tokio::select! {
        _ = chat.complete(&same) => unreachable!("it never replies"),
        () = is_asked => {}
    }
    assert!(payer.log().ends_with("\n1: unknown"), "{}", payer.log());
    let meter = Meter::new(Prices::new(), Cap { calls: Some(0), ..Cap::default() });
    let chat = metered(&silent, &CallContext { meter: Arc::new(meter), ..calls });
    chat.complete(&same).await.unwrap_err();
    assert!(payer.log().ends_with("\n3: nothing"), "{}", payer.log());
}

#[tokio::test]
async fn a_capped_payer_needs_a_price_for_chat_and_not_for_embeddings() {
    let cap = Some(Usd::new(1.0));
    let payer = Arc::new(LoggingPayer { cap, ..LoggingPayer::default() });
    let calls = CallContext { meter: Arc::new(Meter::default()), ..context(&payer) };
    let chat = metered(ScriptedChat::in_order(["reply"]), &calls);
    let error = chat.complete(&request("a")).await.unwrap_err();
    assert!(matches!(error, ModelError::Unsupported { .. }), "{error}");
    metered(HashEmbedder::new(4), &calls).embed(&["a text".to_owned()]).await.unwrap();
}

#[tokio::test]
async fn no_call_is_made_for_a_key_that_has_ended() {
    let payer = Arc::new(LoggingPayer { has_ended: true, ..LoggingPayer::default() });
    let silent: &'static Silent = Box::leak(Box::new(Silent(AtomicBool::new(false))));
    let model = OnAccount::new(Arc::new(silent), payer);
    assert!(matches!(model.complete(&request("a")).await, Err(ModelError::KeyEnded)));
    assert!(!silent.0.load(Ordering::Relaxed));
}
