//! Answers a question in reading rounds (`adaptive`, ours). In each round one call reads a few passages and
//! reports their facts, what is missing, and the answer. A search for what is missing gives the passages of
//! the next round.

mod findings;
mod lookup;
mod plausible;
mod round;
mod trained;
mod trial;

use std::num::{NonZeroU32, NonZeroUsize};

use crate::context::Rules;
use pikerag_knowledge::{Answer, Criterion, Event, Question, Role, StopReason};
use pikerag_reason::Reading;
use pikerag_retrieve::SearchParams;
use serde::{Deserialize, Serialize};
use tracing::field::Empty;
use tracing::{Span, instrument};

use self::findings::Findings;
use self::lookup::look_up;
use self::plausible::is_plausible;
use self::round::{Asking, read_round};
use self::trained::Trained;
pub use self::trial::{Trial, try_out};
use crate::conclude::{conclude, conclude_read};
use crate::naive_rag;
use crate::organizing::gathered;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{CONTEXT_TOKENS, Path, RetrievalParams, retrieve};
use crate::run::Run;
use crate::spec::{Cost, MethodParams, MethodSpec, Range, Variant, Weights, WithoutModel, field};
use crate::tagging::trace_declared;

/// Which call writes the answer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Reader {
    /// As a test of the model showed (see [`try_out`] and `Method::reading`), else by each reply. A reply is
    /// the answer if it is readable, rests on words of the passages, and is short where the question asks for
    /// a short answer. Otherwise one more call reads the passages.
    #[default]
    AsShown,
    /// A reading round answers along with its facts.
    AtOnce,
    /// A reading round only collects facts, and one more call answers: for models that cannot do both at once.
    InTwo,
}

/// What names the sub-questions that are searched after a reading round.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Decomposer {
    /// The reading round itself.
    #[default]
    Reader,
    /// A trained proposer, the model of the role `propose`: a call for each sub-question, and one that answers it before
    /// the next. Where it has no further sub-question, those of the round are searched.
    Trained,
}

/// How many reading rounds there are, and how much each one reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Reading rounds, at most.
    pub looks: NonZeroUsize,
    /// Chunks gathered for the first round, at most.
    pub chunks: usize,
    /// Tokens of the passages in one round, at most.
    pub tokens: Option<NonZeroU32>,
    /// Sub-questions that are searched after a round, at most.
    pub lookups: usize,
    /// Chunks found for each of them, at most.
    pub found: usize,
    /// Which call writes the answer.
    pub reader: Reader,
    /// What names the sub-questions.
    pub decomposer: Decomposer,
    /// The weights of searches.
    pub weights: SearchParams,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            looks: const { NonZeroUsize::new(4).unwrap() },
            chunks: 8,
            tokens: NonZeroU32::new(1500),
            lookups: 3,
            found: 3,
            reader: Reader::AsShown,
            decomposer: Decomposer::Reader,
            weights: SearchParams::default(),
        }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "adaptive",
            "reads a few passages, says what is missing, looks that up and reads again, as often as the question needs",
            "ours",
            |_| {},
        )],
        parameters: &[
            field!(looks, "reading rounds, one call each, at most", Range::COUNT),
            field!(chunks as "look_chunks", "chunks gathered for the first reading round, at most", Range::COUNT),
            field!(tokens as "look_tokens", "tokens of the passages in one reading round, at most", Range::TOKENS),
            field!(
                lookups,
                "sub-questions that are searched after a reading round, at most",
                Range::COUNT
            ),
            field!(found as "lookup_chunks", "chunks found for each sub-question, at most", Range::COUNT),
            field!(
                reader,
                "which call writes the answer: the reading round itself, one more call, or as a test of the model showed",
                Range::of::<Reader>()
            ),
            field!(
                decomposer,
                "what names the sub-questions after a reading round: the round itself, or a trained model of the role `propose`",
                Range::of::<Decomposer>()
            ),
        ],
        roles: &[Role::Look, Role::Answer],
        without_model: WithoutModel::Quotes,
        needs: None,
        cost: |params| Cost {
            calls: 1.7,
            most_calls: match params.decomposer {
                Decomposer::Reader => params.looks.get() as u64 + 1,
                // After each round but the last: proposals, and an answer to each of them but the last.
                Decomposer::Trained => {
                    let (looks, lookups) = (params.looks.get() as u64, params.lookups as u64);
                    looks + 1 + 2 * lookups * (looks - 1)
                }
            },
            chunks: 6.0,
            most_chunks: params.chunks as u64
                + (params.looks.get() * params.lookups * params.found) as u64,
            // The last call may read the passages of all rounds.
            most_chunk_tokens: params.tokens.max(CONTEXT_TOKENS),
            rounds: params.looks.get() as u64,
            fixed: 450,
            reply: 160,
            basis: "most questions end after one reading round, hard ones after two to four",
        },
    };

    fn weigh(&mut self, weights: &Weights) {
        self.weights = weights.searches();
    }

    fn weights(&self) -> Weights {
        let SearchParams { auto, hops, layers } = self.weights;
        Weights { auto, hops, layers, ..Weights::default() }
    }
}

/// Answers `question` in one reading round or more: at most `looks` calls, and one more where the model does
/// not answer along with its facts. Each call is asked at most twice. Without a model of the roles `look` and
/// `answer`, it answers from one retrieval, as `auto-rag` does.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "adaptive", skip_all, fields(question = %question.id, looks = Empty))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    if [Role::Look, Role::Answer].iter().any(|role| ports.models.of(*role).is_none()) {
        let once = RetrievalParams { path: Path::Auto(params.weights), ..RetrievalParams::auto() };
        return naive_rag::solve(ports, run, question, once).await;
    }
    let (findings, trained) = (Findings::default(), Trained::default());
    let mut solving = Solving { ports, question, params, findings, trained };
    let shown = solving.gather(run).await?;
    let result = solving.read_in_rounds(run, shown).await?;
    solving.conclude(run, result).await
}

/// One question with the state of its rounds.
struct Solving<'a> {
    ports: &'a Ports,
    question: &'a Question,
    params: Params,
    findings: Findings,
    trained: Trained,
}

/// The result of all rounds.
#[derive(Default)]
struct RoundsResult {
    /// The last answer that a round gave; empty where none did.
    answer: String,
    /// The thinking that led to it.
    thinking: String,
    /// Whether the round that gave it found its facts sufficient.
    sufficient: bool,
    /// What was still missing after the last round.
    missing: Vec<String>,
    /// Whether the last reply stayed unreadable.
    is_unreadable: bool,
}

impl Solving<'_> {
    /// Gathers the passages of the first round, without a model.
    async fn gather(&mut self, run: &mut Run) -> Result<Vec<usize>, SolveError> {
        let query = self.question.query();
        trace_declared(self.ports, run, query).await?;
        let retrieval = RetrievalParams {
            path: Path::Auto(self.params.weights),
            chunks: self.params.chunks,
            ..RetrievalParams::chunks()
        };
        let found = retrieve(self.ports, query, retrieval).await?;
        let rules = Rules::within(self.params.tokens);
        let (candidates, chunks) = gathered(self.ports, run, found, rules).await?;
        run.push(Event::Gathered { candidates });
        Ok(self.findings.add(1, chunks))
    }

    async fn read_in_rounds(
        &mut self,
        run: &mut Run,
        mut shown: Vec<usize>,
    ) -> Result<RoundsResult, SolveError> {
        let (mut result, most) = (RoundsResult::default(), self.params.looks.get());
        for number in 1..=most {
            Span::current().record("looks", number);
            let asking = Asking {
                answers: self.params.reader != Reader::InTwo,
                is_last: number == most,
                lookups: self.params.lookups,
            };
            let reply =
                read_round(self.ports, run, self.question, &self.findings, &shown, asking).await?;
            let Some(reply) = reply else {
                // An unreadable reply ends the rounds; one more call reads the passages found so far.
                run.push(Event::Stopped { hop: number, reason: StopReason::Unreadable });
                result.is_unreadable = true;
                break;
            };
            self.findings.keep(&shown, reply.facts);
            run.push(Event::RoundRead {
                look: number,
                thinking: reply.thinking.clone(),
                facts: self.findings.facts_for_trace(),
                answer: reply.answer.clone(),
            });
            let sufficient =
                run.judged(Criterion::Sufficient, &self.question.text, reply.sufficient)?;
            if !reply.answer.is_empty() {
                (result.answer, result.thinking) = (reply.answer, reply.thinking);
                result.sufficient = sufficient;
            }
            result.missing = if sufficient { Vec::new() } else { reply.missing };
            if sufficient {
                break;
            }
            if number == most {
                run.push(Event::Stopped { hop: number, reason: StopReason::HopLimit });
                break;
            }
            let Some(new) = self.search_missing(run, number, &result.missing, &shown).await? else {
                break;
            };
            let mut next = self.findings.with_facts();
            next.extend(new);
            let budget = self.params.tokens.map_or(u64::MAX, |tokens| tokens.get().into());
            shown = self.findings.within(&next, budget);
            shown.sort_unstable();
        }
        Ok(result)
    }

    /// Searches for what is missing and returns the numbers of the passages found; `None` where all of them
    /// were just `shown`.
    async fn search_missing(
        &mut self,
        run: &mut Run,
        number: usize,
        missing: &[String],
        shown: &[usize],
    ) -> Result<Option<Vec<usize>>, SolveError> {
        if self.params.decomposer == Decomposer::Trained
            && let Some(new) = self.search_trained(run, number, shown).await?
        {
            return Ok(Some(new));
        }
        let wanted = missing.iter().filter(|question| !self.findings.has_tried(question));
        let wanted: Vec<String> = wanted.take(self.params.lookups).cloned().collect();
        let wanted = run.proposed(number, String::new(), wanted)?;
        if wanted.is_empty() {
            run.push(Event::Stopped { hop: number, reason: StopReason::NothingProposed });
            return Ok(None);
        }
        let new =
            look_up(self.ports, run, number, &wanted, &mut self.findings, &self.params).await?;
        if new.iter().all(|number| shown.contains(number)) {
            run.push(Event::Stopped { hop: number, reason: StopReason::NothingFound });
            return Ok(None);
        }
        Ok(Some(new))
    }

    /// Searches for the sub-questions of a trained proposer, until one finds passages that were not just `shown`: the
    /// others are answered from what was shown. `None` where it has no further sub-question.
    async fn search_trained(
        &mut self,
        run: &mut Run,
        number: usize,
        shown: &[usize],
    ) -> Result<Option<Vec<usize>>, SolveError> {
        for _ in 0..self.params.lookups {
            let next = self.trained.next(self.ports, run, self.question, &self.findings).await?;
            let next = next.filter(|next| !self.findings.has_tried(next));
            let Some(next) = next else { break };
            let wanted = run.proposed(number, String::new(), vec![next])?;
            let new =
                look_up(self.ports, run, number, &wanted, &mut self.findings, &self.params).await?;
            if let Some(asked) = wanted.into_iter().next() {
                self.trained.found(asked, &new);
            }
            if new.iter().any(|number| !shown.contains(number)) {
                return Ok(Some(new));
            }
        }
        Ok(None)
    }

    /// Ends with the answer of the rounds, or reads their passages once more.
    async fn conclude(self, run: &mut Run, result: RoundsResult) -> Result<Answer, SolveError> {
        let is_final = match self.params.reader {
            Reader::AtOnce => !result.answer.is_empty(),
            Reader::InTwo => false,
            Reader::AsShown => {
                result.sufficient
                    && !result.is_unreadable
                    && is_plausible(self.question, &self.findings, &result.answer)
            }
        };
        if is_final {
            let reading = Reading {
                answer: result.answer,
                rationale: result.thinking,
                missing: result.missing,
                claims: self.findings.claims(),
            };
            let context = self.findings.context(&self.findings.all());
            return conclude_read(self.ports, context, reading, run).await;
        }
        // Later passages must not displace the first ones, which may hold the answer.
        let mut numbers = self.findings.first();
        let with_facts = self.findings.with_facts();
        let later = |number: &usize| !numbers.contains(number);
        let later_with_facts: Vec<usize> = with_facts.iter().copied().filter(later).collect();
        numbers.extend(later_with_facts);
        let rest = self.findings.all().into_iter().filter(|number| !numbers.contains(number));
        let rest: Vec<usize> = rest.collect();
        // Passages with facts come first, so that they are read even where the limit is small.
        let mut order = with_facts;
        order.extend(numbers.iter().chain(&rest).copied());
        let mut once = std::collections::HashSet::new();
        order.retain(|number| once.insert(*number));
        let budget = CONTEXT_TOKENS.map_or(u64::MAX, |tokens| tokens.get().into());
        let mut held = self.findings.within(&order, budget);
        held.sort_unstable();
        conclude(self.ports, self.question, self.findings.context(&held), run).await
    }
}
