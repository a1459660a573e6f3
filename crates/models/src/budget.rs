//! Meters calls and makes each one only if its highest possible cost fits under the cap.

use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{
    CallRef, ChatModel, ChatReply, ChatRequest, CountedVectors, Embedder, ModelError, Relevance,
    Reranker, Usage, Vector,
};

use crate::estimate::{
    estimate_embedding, estimate_reranking, worst_case, worst_case_embedding, worst_case_reranking,
};
use crate::meter::{Due, Meter, Reservation, Usd};
use crate::openai::{Extra, Trouble};
use crate::payer::{ChargeOutcome, Charged, Payer};

/// A model whose calls are metered, and made only if the highest possible cost fits under the cap.
///
/// It goes below the ledger (a replayed call costs nothing), below the retries (each attempt may be
/// billed) and below the limit (a queued call has cost nothing).
///
/// # Cancel safety
/// Dropping the future of a running call books its highest possible cost: it may have been billed.
pub struct Budget<M> {
    inner: M,
    meter: Arc<Meter>,
    extra: Extra,
    payer: Option<Arc<dyn Payer>>,
    /// The base whose ledger records the calls.
    base: Option<String>,
}

/// The reservations of a call until its cost is known.
struct Reserved {
    meter: Reservation,
    charged: Option<Charged>,
}

impl<M> Budget<M> {
    /// Meters the calls of `inner` under its name; models that share a cap share the meter.
    pub fn new(inner: M, meter: Arc<Meter>) -> Self {
        Self { inner, meter, extra: Extra::default(), payer: None, base: None }
    }

    /// As [`Budget::new`], with a payer for calls that the ledger of this base records.
    pub(crate) fn paid_by(self, payer: Option<Arc<dyn Payer>>, base: Option<String>) -> Self {
        Self { payer, base, ..self }
    }

    /// Reserves the highest possible cost of a call, with its payer and in the process.
    async fn reserve(
        &self,
        role: &'static str,
        model: &str,
        worst: impl Into<Due>,
    ) -> Result<Reserved, ModelError> {
        let worst = worst.into();
        let charged = match &self.payer {
            None => None,
            Some(payer) => {
                let most = match self.meter.price_of(model, worst) {
                    Some(most) => most,
                    // Embedders and rerankers without a price are free.
                    None if ["embed", "rerank"].contains(&role) || payer.left()?.is_none() => {
                        Usd::default()
                    }
                    None => return Err(Meter::needs_price(model)),
                };
                Some(Charged::reserve(payer, most, self.base.as_deref()).await?)
            }
        };
        let meter = self.meter.reserve(role, model, worst).await?;
        Ok(Reserved { meter, charged: charged.map(Charged::sent) })
    }

    /// Takes account of further fields, which can raise the cost of a call.
    pub(crate) fn with_extra(self, extra: Extra) -> Self {
        Self { extra, ..self }
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Budget<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.inner.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let role = request.role.as_str();
        let worst = self.extra.on(worst_case(request));
        let reserved = self.reserve(role, self.inner.name(), worst).await?;
        let reply = self.inner.complete(request).await;
        reserved.close(reply, |reply| reply.usage).await
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Budget<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        Ok(self.embed_counted(texts).await?.vectors)
    }

    async fn embed_counted(&self, texts: &[String]) -> Result<CountedVectors, ModelError> {
        let worst = worst_case_embedding(texts);
        let reserved = self.reserve("embed", self.inner.name(), worst).await?;
        let reply = self.inner.embed_counted(texts).await;
        let due = |reply: &CountedVectors| match reply.prompt_tokens {
            Some(prompt_tokens) => Usage { prompt_tokens, completion_tokens: 0 },
            None => estimate_embedding(texts),
        };
        reserved.close(reply, due).await
    }
}

#[async_trait]
impl<R: Reranker> Reranker for Budget<R> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError> {
        let worst = worst_case_reranking(query, texts);
        let reserved = self.reserve("rerank", self.inner.name(), worst).await?;
        let reply = self.inner.rerank(query, texts).await;
        let due = |reply: &Relevance| {
            let mut due = estimate_reranking(query, texts);
            if let Some(counted) = reply.prompt_tokens {
                due.usage.prompt_tokens = counted;
            }
            due.searches = reply.searches.unwrap_or(due.searches);
            due
        };
        reserved.close(reply, due).await
    }
}

/// A model with a part of the cap, for one of several users that work at once.
///
/// It goes above all other wrappers: a replayed call costs nothing here either. The inner meter
/// counts each real call again, under the whole cap.
pub struct Portion {
    inner: Arc<dyn ChatModel>,
    meter: Arc<Meter>,
}

impl Portion {
    /// The calls of `inner` under the part that `meter` counts; models of one part share the meter.
    pub fn new(inner: Arc<dyn ChatModel>, meter: Arc<Meter>) -> Self {
        Self { inner, meter }
    }
}

#[async_trait]
impl ChatModel for Portion {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.inner.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let role = request.role.as_str();
        let reserved = self.meter.reserve(role, self.inner.name(), worst_case(request)).await?;
        let reply = self.inner.complete(request).await;
        if let Ok(reply) = &reply
            && reply.call.as_ref().is_some_and(|call| call.replayed)
        {
            reserved.release();
            return Ok(reply.clone());
        }
        Reserved { meter: reserved, charged: None }.close(reply, |reply| reply.usage).await
    }

    async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
        self.inner.discard(calls).await
    }
}

impl Reserved {
    /// Books the cost of a call: nothing if it was refused, the highest possible cost if its
    /// outcome is unknown.
    async fn close<T, D: Into<Due>>(
        self,
        reply: Result<T, ModelError>,
        due: impl FnOnce(&T) -> D,
    ) -> Result<T, ModelError> {
        let Self { meter, charged } = self;
        let shared = meter.meter();
        let outcome = match &reply {
            Ok(reply) => {
                let due = due(reply).into();
                let cost = meter.price_of(due);
                meter.settle(due);
                ChargeOutcome::Cost(cost)
            }
            Err(error) if may_be_billed(error) => {
                drop(meter);
                ChargeOutcome::Unknown
            }
            Err(_) => {
                meter.release();
                ChargeOutcome::Nothing
            }
        };
        if let Some(charged) = charged {
            charged.close(outcome).await;
        }
        shared.report().await;
        reply
    }
}

fn may_be_billed(error: &ModelError) -> bool {
    match error {
        ModelError::Broken { .. } => true,
        ModelError::Busy { source, .. } => {
            source.downcast_ref::<Trouble>().is_some_and(Trouble::may_be_billed)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::future::join_all;
    use futures::poll;
    use proptest::prelude::*;

    use super::*;
    use crate::meter::{Cap, Price, Prices};
    use pikerag_doubles::{HashEmbedder, ScriptedChat, busy, request};

    fn meter(cap: Cap) -> Arc<Meter> {
        let price = Price { prompt: 1.0, completion: 10.0, ..Price::default() };
        let prices = Prices::from([("fake".to_owned(), price), ("hash-4".to_owned(), price)]);
        Arc::new(Meter::new(prices, cap))
    }

    #[tokio::test]
    async fn meters_by_role_and_model() {
        let meter = meter(Cap::default());
        let chat = Budget::new(ScriptedChat::in_order(["four words are here"; 2]), meter.clone());
        chat.complete(&request("a question")).await.unwrap();
        chat.complete(&request("a question")).await.unwrap();
        let embedder = Budget::new(HashEmbedder::new(4), meter.clone());
        embedder.embed(&["a text".to_owned()]).await.unwrap();
        insta::assert_debug_snapshot!(meter.spending(), @r#"
        [
            Spending {
                role: "answer",
                model: "fake",
                calls: 2,
                unanswered: 0,
                usage: Usage {
                    prompt_tokens: 14,
                    completion_tokens: 10,
                },
                money: Usd(
                    114000000,
                ),
            },
            Spending {
                role: "embed",
                model: "hash-4",
                calls: 1,
                unanswered: 0,
                usage: Usage {
                    prompt_tokens: 2,
                    completion_tokens: 0,
                },
                money: Usd(
                    2000000,
                ),
            },
        ]
        "#);
        assert_eq!(meter.total().calls, 3);
    }

    /// Three users at once, each with its part: one that would use up everything stops at its own
    /// part. The whole is never exceeded, to the smallest unit, and replays are free.
    #[tokio::test]
    async fn parts_are_never_exceeded() {
        let whole = meter(Cap { money_usd: Some(0.03), ..Cap::default() });
        assert!(meter(Cap::default()).part(3, None).is_none());
        let chat = ScriptedChat::by_turn(|_, _| Ok("four words are here".to_owned()));
        let chat: Arc<dyn ChatModel> = Arc::new(Budget::new(chat, whole.clone()));
        let portions: Vec<(Portion, Arc<Meter>)> = (0..3)
            .map(|_| {
                let meter = Arc::new(whole.part(3, None).unwrap());
                (Portion::new(Arc::clone(&chat), meter.clone()), meter)
            })
            .collect();
        let made = join_all(portions.iter().map(|(portion, _)| async move {
            let mut made = 0;
            while portion.complete(&request("a question")).await.is_ok() {
                made += 1;
            }
            made
        }))
        .await;
        // A call can cost 2.6 thousandths of a dollar, and costs 57 millionths.
        assert_eq!(made, [130, 130, 130]);
        let parts: u128 = portions.iter().map(|(_, meter)| meter.total().money.0).sum();
        assert_eq!(parts, whole.total().money.0);
        assert!(whole.total().money <= Usd::new(0.03));
        assert!(portions.iter().all(|(_, meter)| meter.total().money <= Usd::new(0.01)));
    }

    #[tokio::test]
    async fn stops_at_each_cap() {
        let nothing = Cap::default();
        let caps = [
            Cap { money_usd: Some(0.002), ..nothing },
            Cap { tokens: Some(322), ..nothing },
            Cap { calls: Some(1), ..nothing },
            Cap { calls: Some(0), ..nothing },
        ];
        let mut lines = Vec::new();
        for cap in caps {
            let chat = Budget::new(ScriptedChat::in_order(["reply"; 2]), meter(cap));
            let first = chat.complete(&request("a")).await;
            let error = match first {
                Ok(_) => chat.complete(&request("a")).await.unwrap_err(),
                Err(error) => error,
            };
            lines.push(error.to_string());
        }
        insta::assert_snapshot!(lines.join("\n"), @r"
        the budget of $0.002 is spent (this call can cost $0.002625 on top of $0.00 so far)
        the budget of 322 tokens is spent (this call can cost 321 tokens on top of 7 tokens so far)
        the budget of 1 call is spent (this call can cost 1 call on top of 1 call so far)
        the budget of 0 calls is spent (this call can cost 1 call on top of 0 calls so far)
        ");
    }

    /// A field of the settings that allows a longer reply reserves its part of the budget.
    #[tokio::test]
    async fn further_fields_are_reserved_too() {
        let fields = serde_json::json!({"max_tokens": 4000});
        let extra = Extra::new(fields.as_object().unwrap());
        let cap = Cap { tokens: Some(4000), ..Cap::default() };
        let chat = Budget::new(ScriptedChat::in_order(["reply"]), meter(cap)).with_extra(extra);
        let error = chat.complete(&request("a")).await.unwrap_err();
        assert!(matches!(error, ModelError::OverBudget { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_cap_on_money_needs_a_price() {
        let meter =
            Arc::new(Meter::new(Prices::new(), Cap { money_usd: Some(1.0), ..Cap::default() }));
        let chat = Budget::new(ScriptedChat::in_order(["reply"]), meter);
        let error = chat.complete(&request("a")).await.unwrap_err();
        insta::assert_snapshot!(error, @"fake cannot do this: a cap on money needs its price per million tokens (0 if the model is free); name the price, or cap tokens or calls instead");
    }

    #[tokio::test]
    async fn waits_for_running_calls() {
        // The cap fits one worst case at a time, and many real ones.
        let meter = meter(Cap { tokens: Some(400), ..Cap::default() });
        let chat = ScriptedChat::by_turn(|_, _| Ok("x".to_owned()));
        let chat = chat.with_latency(Duration::from_millis(1));
        let budget = Budget::new(&chat, meter.clone());
        let same = request("a");
        for reply in join_all((0..10).map(|_| budget.complete(&same))).await {
            reply.unwrap();
        }
        assert_eq!((chat.peak(), meter.total().calls), (1, 10));
    }

    #[tokio::test]
    async fn books_calls_that_may_have_been_billed() {
        let meter = meter(Cap::default());
        let chat = ScriptedChat::by_turn(|turn, _| match turn {
            0 => Err(busy("fake")),
            1 => Err(ModelError::Broken { model: "fake".to_owned(), source: "html".into() }),
            2 => Err(ModelError::Busy {
                model: "fake".to_owned(),
                retry_after: None,
                source: Trouble::Cut { origin: String::new(), source: "cut".into() }.into(),
            }),
            _ => Ok("x".to_owned()),
        });
        let budget = Budget::new(chat.with_latency(Duration::from_millis(5)), meter.clone());
        let same = request("a");
        let mut booked = Vec::new();
        for _ in 0..3 {
            budget.complete(&same).await.unwrap_err();
            booked.push((meter.total().calls, meter.total().unanswered));
        }
        let mut given_up = budget.complete(&same);
        assert!(poll!(&mut given_up).is_pending());
        drop(given_up);
        booked.push((meter.total().calls, meter.total().unanswered));
        budget.complete(&same).await.unwrap();
        booked.push((meter.total().calls, meter.total().unanswered));
        assert_eq!(booked, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3)]);
        assert_eq!(meter.total().usage.completion_tokens, 3 * 256 + 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        /// For any calls, outcomes and numbers: the cap holds, and a call is refused only if it
        /// cannot fit.
        #[test]
        fn never_exceeds_the_cap(
            calls in prop::collection::vec((0_u32..600, 0_u64..4, 0_usize..400), 1..60),
            tokens in prop::option::of(0_u64..40_000),
            money_usd in prop::option::of(0.0..0.2),
            n_calls in prop::option::of(0_u64..50),
        ) {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(4)
                .enable_time()
                .build()
                .unwrap();
            let cap = Cap { money_usd, tokens, calls: n_calls };
            let meter = meter(cap);
            runtime.block_on(async {
                let chat = Arc::new(Budget::new(Spender, meter.clone()));
                let tasks = calls.into_iter().map(|(max_tokens, outcome, length)| {
                    let chat = chat.clone();
                    tokio::spawn(async move {
                        let mut asked = request(&"é".repeat(length));
                        asked.max_tokens = max_tokens;
                        asked.sample = outcome as u32;
                        let call = chat.complete(&asked);
                        if outcome == 3 {
                            let _ = tokio::time::timeout(Duration::from_micros(200), call).await;
                        } else {
                            let _ = call.await;
                        }
                    })
                });
                for task in tasks.collect::<Vec<_>>() {
                    task.await.unwrap();
                }
            });
            let total = meter.total();
            let used = total.usage.prompt_tokens + total.usage.completion_tokens;
            prop_assert!(cap.tokens.is_none_or(|cap| used <= cap));
            prop_assert!(cap.calls.is_none_or(|cap| total.calls <= cap));
            prop_assert!(cap.money_usd.is_none_or(|cap| total.money.dollars() <= cap + 1e-12));
        }
    }

    /// Costs as much as a call can, or half of it, or fails.
    struct Spender;

    #[async_trait]
    impl ChatModel for Spender {
        fn name(&self) -> &'static str {
            "fake"
        }

        async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
            let mut usage = worst_case(request);
            tokio::time::sleep(Duration::from_micros(u64::from(request.max_tokens))).await;
            match request.sample {
                0 => return Err(busy("fake")),
                1 => usage.completion_tokens /= 2,
                _ => {}
            }
            Ok(ChatReply::new("", usage))
        }
    }
}
