//! Tests that gates over one store keep its limits together, as processes do. Time is simulated.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use pikerag_doubles::{ScriptedChat, request};
use pikerag_knowledge::{CapReply, CapRequest, SharedLimits, StoreError, TakeRequest, Taken};
use proptest::prelude::*;
use tokio::time::{Instant, sleep};

use super::*;
use crate::budget::Budget;
use crate::limit::Limits;
use crate::meter::{Cap, Meter, Prices};
use crate::retry::{Retry, RetryParams};
use crate::shared_cap::SharedCap;

const FREE: Limits = Limits {
    in_flight: NonZeroUsize::new(1000).unwrap(),
    requests_per_minute: None,
    tokens_per_minute: None,
};

/// A store that counts requests, and can be out of reach.
#[derive(Default)]
struct Store {
    limits: MemoryLimits,
    requests: AtomicUsize,
    is_away: AtomicBool,
}

impl Store {
    fn ask(&self) -> Result<(), StoreError> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        match self.is_away.load(Ordering::SeqCst) {
            true => Err(StoreError::Failed { what: "asking".to_owned(), source: "away".into() }),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl SharedLimits for Store {
    async fn take(&self, request: &TakeRequest) -> Result<Taken, StoreError> {
        self.ask()?;
        self.limits.take(request).await
    }

    async fn pause(&self, model: &str, wait: Duration) -> Result<(), StoreError> {
        self.ask()?;
        self.limits.pause(model, wait).await
    }

    async fn reserve(&self, request: &CapRequest) -> Result<CapReply, StoreError> {
        self.ask()?;
        self.limits.reserve(request).await
    }
}

/// The gates of `n` processes.
fn gates(store: &Arc<Store>, limits: Limits, n: usize) -> Vec<Arc<SharedGate>> {
    let gate = || SharedGate::new(Arc::clone(store) as _, "model".to_owned(), limits);
    (0..n).map(|_| Arc::new(gate())).collect()
}

fn behind<M>(model: M, gate: &Arc<SharedGate>) -> Together<M> {
    Together::new(model, Some(Arc::clone(gate)), Arc::default(), false)
}

#[tokio::test(start_paused = true)]
async fn calls_without_a_store_pass() {
    let chat = ScriptedChat::in_order(["reply"]);
    let chat = Together::new(chat, None, Arc::default(), false);
    assert_eq!(chat.complete(&request("a")).await.unwrap().text, "reply");
}

/// Four processes share 600 calls per minute: a burst of 60, then ten a second.
#[tokio::test(start_paused = true)]
async fn processes_keep_to_one_rate_together() {
    let store = Arc::new(Store::default());
    let limits = Limits { requests_per_minute: NonZeroU32::new(600), ..FREE };
    let started = Instant::now();
    let tasks = gates(&store, limits, 4).into_iter().map(|gate| async move {
        join_all((0..40).map(|_| async { drop(gate.pass(10, false).await.unwrap()) })).await;
    });
    join_all(tasks).await;
    let took = started.elapsed();
    // The other 100 calls take 10 seconds; amounts that ran out may take some of them again.
    assert!(Duration::from_secs(9) < took && took < Duration::from_secs(14), "{took:?}");
}

/// A process that calls steadily below the rate asks less often than it calls.
#[tokio::test(start_paused = true)]
async fn calls_below_the_rate_seldom_wait_for_the_store() {
    let store = Arc::new(Store::default());
    let limits = Limits {
        requests_per_minute: NonZeroU32::new(6_000),
        tokens_per_minute: NonZeroU32::new(6_000_000),
        ..FREE
    };
    let gates = gates(&store, limits, 1);
    for _ in 0..500 {
        drop(gates[0].pass(500, false).await.unwrap());
        sleep(Duration::from_millis(20)).await;
    }
    let asked = store.requests.load(Ordering::SeqCst);
    assert!(asked < 60, "{asked} requests for 500 calls in 10 seconds");
}

/// A call that exceeds the burst is taken in pieces.
#[tokio::test(start_paused = true)]
async fn calls_larger_than_the_burst_take_their_time() {
    let store = Arc::new(Store::default());
    let limits = Limits { tokens_per_minute: NonZeroU32::new(6_000), ..FREE };
    let gates = gates(&store, limits, 2);
    let started = Instant::now();
    drop(gates[0].pass(1_600, false).await.unwrap());
    // The burst is 600, and 100 tokens come each second.
    let took = started.elapsed();
    assert!(Duration::from_secs(10) <= took && took < Duration::from_secs(11), "{took:?}");
    drop(gates[1].pass(600, false).await.unwrap());
    assert!(Duration::from_secs(16) <= started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn calls_at_one_time_stay_under_the_limit_of_all_processes() {
    let store = Arc::new(Store::default());
    let limits = Limits { in_flight: NonZeroUsize::new(5).unwrap(), ..FREE };
    let chat = ScriptedChat::by_turn(|_, _| Ok(String::new()));
    let chat = chat.with_latency(Duration::from_secs(3));
    let models: Vec<_> = gates(&store, limits, 3).iter().map(|gate| behind(&chat, gate)).collect();
    let same = request("a");
    let calls = (0..30).map(|n| models[n % 3].complete(&same));
    assert!(join_all(calls).await.into_iter().all(|reply| reply.is_ok()));
    assert_eq!(chat.peak(), 5);
}

/// A process that always has calls gives up a part of the seats as soon as another one waits.
#[tokio::test(start_paused = true)]
async fn a_busy_process_lets_others_have_an_equal_share() {
    let store = Arc::new(Store::default());
    let limits = Limits { in_flight: NonZeroUsize::new(4).unwrap(), ..FREE };
    let gates = gates(&store, limits, 2);
    let chat = ScriptedChat::by_turn(|_, _| Ok(String::new()));
    let chat = chat.with_latency(Duration::from_secs(1));
    let busy = behind(&chat, &gates[0]);
    let same = request("a");
    let greedy = async {
        let one_after_another = (0..12).map(|_| async {
            for _ in 0..20 {
                busy.complete(&same).await.unwrap();
            }
        });
        join_all(one_after_another).await;
    };
    let other = async {
        sleep(Duration::from_secs(5)).await;
        let began = Instant::now();
        behind(&chat, &gates[1]).complete(&same).await.unwrap();
        began.elapsed()
    };
    let ((), waited) = futures::future::join(greedy, other).await;
    assert!(waited < Duration::from_secs(5), "{waited:?}");
}

/// Its seat is renewed while a long call runs, and comes back after the process is gone.
#[tokio::test(start_paused = true)]
async fn seats_of_a_killed_process_come_back_and_those_of_a_running_one_stay() {
    let store = Arc::new(Store::default());
    let limits = Limits { in_flight: NonZeroUsize::MIN, ..FREE };
    let gates = gates(&store, limits, 2);
    let long = async {
        let _seat = gates[0].pass(0, false).await.unwrap();
        gates[0].while_running(sleep(Duration::from_mins(1))).await;
    };
    let other = async {
        sleep(Duration::from_secs(1)).await;
        let began = Instant::now();
        drop(gates[1].pass(0, false).await.unwrap());
        began.elapsed()
    };
    let ((), waited) = futures::future::join(long, other).await;
    assert!(Duration::from_secs(59) <= waited, "{waited:?}");

    // Nothing renews the seat of a process that was killed.
    let killed = gates[1].pass(0, false).await.unwrap();
    std::mem::forget(killed);
    let began = Instant::now();
    drop(gates[0].pass(0, false).await.unwrap());
    let waited = began.elapsed();
    assert!(Duration::from_secs(4) < waited && waited < Duration::from_secs(7), "{waited:?}");
}

/// The endpoint asks one process for a pause, and no process calls it meanwhile.
#[tokio::test(start_paused = true)]
async fn all_processes_keep_to_a_pause() {
    let store = Arc::new(Store::default());
    let gates = gates(&store, FREE, 2);
    let began = Instant::now();
    let times = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&times);
    let wait = Duration::from_secs(20);
    let chat = ScriptedChat::by_turn(move |turn, _| {
        seen.lock().unwrap().push(began.elapsed().as_secs());
        match turn {
            0 => Err(ModelError::Busy {
                model: "fake".to_owned(),
                retry_after: Some(wait),
                source: "later, please".into(),
            }),
            _ => Ok(String::new()),
        }
    });
    let params = RetryParams { jitter_seed: None, ..RetryParams::default() };
    let model = |gate: &Arc<SharedGate>| {
        let circuit = Arc::<Circuit>::default();
        let model = Together::new(&chat, Some(Arc::clone(gate)), Arc::clone(&circuit), false);
        Retry::new(model, params).sharing(circuit)
    };
    let (first, other) = (model(&gates[0]), model(&gates[1]));
    let same = request("a");
    let later = async {
        sleep(Duration::from_secs(2)).await;
        other.complete(&same).await
    };
    let (one, other) = futures::future::join(first.complete(&same), later).await;
    assert!(one.is_ok() && other.is_ok());
    let times = times.lock().unwrap();
    assert_eq!(times.first(), Some(&0));
    assert_eq!(times.len(), 3);
    assert!(times.iter().skip(1).all(|time| 20 <= *time), "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn no_call_passes_while_the_store_is_away() {
    let store = Arc::new(Store::default());
    let gates = gates(&store, FREE, 1);
    let chat = ScriptedChat::by_turn(|_, _| Ok(String::new()));
    let model = behind(&chat, &gates[0]);
    let same = request("a");
    store.is_away.store(true, Ordering::SeqCst);
    let back = async {
        sleep(Duration::from_secs(5)).await;
        store.is_away.store(false, Ordering::SeqCst);
    };
    let began = Instant::now();
    let (reply, ()) = futures::future::join(model.complete(&same), back).await;
    reply.unwrap();
    assert!(Duration::from_secs(5) <= began.elapsed());

    sleep(Duration::from_secs(2)).await;
    store.is_away.store(true, Ordering::SeqCst);
    let began = Instant::now();
    let failed = join_all((0..20).map(|_| model.complete(&same))).await;
    assert!(failed.iter().all(|reply| matches!(reply, Err(ModelError::Ledger { .. }))));
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    assert_eq!(chat.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_leaves_the_line_and_frees_its_seat() {
    let store = Arc::new(Store::default());
    let limits = Limits { in_flight: NonZeroUsize::MIN, ..FREE };
    let gates = gates(&store, limits, 1);
    let seat = gates[0].pass(0, false).await.unwrap();
    let waits = tokio::time::timeout(Duration::from_secs(3), gates[0].pass(0, false)).await;
    assert!(waits.is_err());
    drop(seat);
    drop(gates[0].pass(0, false).await.unwrap());
}

/// A meter of one of several processes that share a cap of calls.
fn meter(store: &Arc<Store>, cap: Cap) -> Arc<Meter> {
    let meter = Meter::new(Prices::new(), cap);
    meter.share(Some(Arc::new(SharedCap::new(Arc::clone(store) as _, "job"))));
    Arc::new(meter)
}

#[tokio::test(start_paused = true)]
async fn processes_share_a_cap() {
    let store = Arc::new(Store::default());
    let cap = Cap { calls: Some(10), ..Cap::default() };
    let chat = ScriptedChat::by_turn(|_, _| Ok("x".to_owned()));
    let chat = chat.with_latency(Duration::from_secs(1));
    let models: Vec<_> = (0..4).map(|_| Budget::new(&chat, meter(&store, cap))).collect();
    let same = request("a");
    let replies = join_all((0..20).map(|n| models[n % 4].complete(&same))).await;
    assert_eq!(replies.iter().filter(|reply| reply.is_ok()).count(), 10);
    assert_eq!(chat.requests().len(), 10);
    let error = models[0].complete(&same).await.unwrap_err();
    let expected =
        "the budget of 10 calls is spent (this call can cost 1 call on top of 10 calls so far)";
    assert_eq!(error.to_string(), expected);
}

/// What a call does not spend is free for all processes; a dropped call counts in full.
#[tokio::test(start_paused = true)]
async fn real_costs_are_reported_and_dropped_calls_count_in_full() {
    let store = Arc::new(Store::default());
    // A call can use 321 tokens, and uses about 6.
    let cap = Cap { tokens: Some(645), ..Cap::default() };
    let chat = ScriptedChat::by_turn(|_, _| Ok("x".to_owned()));
    let chat = chat.with_latency(Duration::from_secs(1));
    let models: Vec<_> = (0..2).map(|_| Budget::new(&chat, meter(&store, cap))).collect();
    let same = request("a");
    for _ in 0..3 {
        for model in &models {
            model.complete(&same).await.unwrap();
        }
    }
    let dropped = tokio::time::timeout(Duration::from_millis(500), models[0].complete(&same));
    assert!(dropped.await.is_err());
    let error = models[1].complete(&same).await.unwrap_err();
    assert!(matches!(error, ModelError::OverBudget { .. }), "{error}");
}

/// The reservations of a process that was killed count as spent when its lease is over.
#[tokio::test(start_paused = true)]
async fn reservations_of_the_dead_count_in_full() {
    let store = Arc::new(Store::default());
    let cap = Cap { calls: Some(3), ..Cap::default() };
    let chat = ScriptedChat::by_turn(|_, _| Ok("x".to_owned()));
    let killed = meter(&store, cap);
    std::mem::forget(killed.reserve("answer", "fake", pikerag_knowledge::Usage::default()).await);
    drop(killed);
    sleep(Duration::from_mins(20)).await;
    let model = Budget::new(&chat, meter(&store, cap));
    let same = request("a");
    let began = Instant::now();
    let outcomes = [(); 3].map(|()| model.complete(&same));
    let outcomes: Vec<bool> =
        join_all(outcomes).await.into_iter().map(|reply| reply.is_ok()).collect();
    assert_eq!(outcomes.iter().filter(|is_ok| **is_ok).count(), 2);
    assert!(began.elapsed() < Duration::from_secs(1), "nobody waits for the dead");
}

#[tokio::test(start_paused = true)]
async fn a_cap_that_cannot_be_read_lets_no_call_pass() {
    let store = Arc::new(Store::default());
    store.is_away.store(true, Ordering::SeqCst);
    let chat = ScriptedChat::by_turn(|_, _| Ok("x".to_owned()));
    let meter = meter(&store, Cap { calls: Some(10), ..Cap::default() });
    let model = Budget::new(&chat, Arc::clone(&meter));
    let error = model.complete(&request("a")).await.unwrap_err();
    assert!(matches!(error, ModelError::Ledger { .. }), "{error}");
    assert_eq!((chat.requests().len(), meter.total().calls), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// For any calls of several processes, some of which are dropped: between any two calls, the
    /// tokens stay below the rate times the time and a second, plus the burst. All seats come back.
    #[test]
    fn calls_in_any_span_keep_to_the_rate(
        n_gates in 1_usize..5,
        calls in prop::collection::vec((0_u64..4_000, 0_u64..100, 1_u64..6_000), 1..80),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (passed, took_part) = runtime.block_on(async {
            let store = Arc::new(Store::default());
            let limits = Limits { tokens_per_minute: NonZeroU32::new(6_000), ..FREE };
            let gates = gates(&store, limits, n_gates);
            let (began, passed) = (Instant::now(), Mutex::new(Vec::new()));
            let calls = calls.iter().enumerate().map(|(n, (at, tokens, patience))| {
                let (gate, passed) = (&gates[n % n_gates], &passed);
                async move {
                    sleep(Duration::from_millis(*at)).await;
                    let pass = gate.pass(*tokens, false);
                    if let Ok(seat) = tokio::time::timeout(Duration::from_millis(*patience), pass).await {
                        passed.lock().unwrap().push((began.elapsed(), *tokens));
                        drop(seat.unwrap());
                    }
                }
            });
            join_all(calls).await;
            let asked = store.requests.load(Ordering::SeqCst);
            (passed.into_inner().unwrap(), asked)
        });
        prop_assert!(0 < took_part);
        for (first, (from, _)) in passed.iter().enumerate() {
            let mut sum = 0;
            for (to, tokens) in passed.iter().skip(first) {
                sum += tokens;
                let span = to.saturating_sub(*from).as_secs_f64() + 1.0;
                prop_assert!(sum as f64 <= 600.0 + 100.0 * span + 1.0, "{sum} in {span} s");
            }
        }
    }
}
