//! Adaptive (ours): one call reads a few passages and says which facts they hold, what is missing, and the answer; what
//! is missing is looked up, and so on, as many looks as the question needs.

mod holds;
mod look;
mod lookup;
mod shelf;
mod trial;

use std::num::{NonZeroU32, NonZeroUsize};

use crate::context::Rules;
use pikerag_knowledge::{Answer, Criterion, Event, Question, Role, StopReason};
use pikerag_reason::Reading;
use pikerag_retrieve::SearchParams;
use serde::{Deserialize, Serialize};
use tracing::field::Empty;
use tracing::{Span, instrument};

use self::holds::holds;
use self::look::{Asking, look};
use self::lookup::look_up;
use self::shelf::Shelf;
pub use self::trial::{Trial, try_out};
use crate::conclude::{conclude, conclude_read};
use crate::naive_rag;
use crate::organizing::gathered;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{CONTEXT_TOKENS, Path, RetrievalParams, retrieve};
use crate::run::Run;
use crate::spec::{Cost, MethodParams, MethodSpec, Range, Variant, Weights, WithoutModel, field};
use crate::tagging::tell_declared;

/// Who writes the answer: the rung of the ladder that a model stands on.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Reader {
    /// As the model has shown: when it was tried (see [`try_out`] and `Method::reading`), else by
    /// each reply. One that is readable, short where the question wants
    /// it short, and rests on words that stand in the passages, is the answer; any other is read once more.
    #[default]
    AsShown,
    /// A look answers along with its facts.
    AtOnce,
    /// A look collects alone, and one more call reads the passages: for models that cannot do both at once.
    InTwo,
}

/// How many looks, and how much at each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Looks at most.
    pub looks: NonZeroUsize,
    /// Chunks gathered for the first look, at most.
    pub chunks: usize,
    /// Tokens of the passages at one look, at most.
    pub tokens: Option<NonZeroU32>,
    /// Sub-questions that are looked up after a look, at most.
    pub lookups: usize,
    /// Chunks found for each of them, at most.
    pub found: usize,
    /// Who writes the answer.
    pub reader: Reader,
    /// How searches are weighed.
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
            field!(looks, "looks, one call each, at most", Range::COUNT),
            field!(chunks as "look_chunks", "chunks gathered for the first look, at most", Range::COUNT),
            field!(tokens as "look_tokens", "tokens of the passages at one look, at most", Range::TOKENS),
            field!(lookups, "sub-questions that are looked up after a look, at most", Range::COUNT),
            field!(found as "lookup_chunks", "chunks found for each sub-question, at most", Range::COUNT),
            field!(
                reader,
                "who writes the answer: the look itself, one more call, or as the model has shown that it can",
                Range::of::<Reader>()
            ),
        ],
        roles: &[Role::Look, Role::Answer],
        without_model: WithoutModel::Quotes,
        needs: None,
        cost: |params| Cost {
            calls: 1.7,
            most_calls: params.looks.get() as u64 + 1,
            chunks: 6.0,
            most_chunks: params.chunks as u64
                + (params.looks.get() * params.lookups * params.found) as u64,
            // The last call may read what all looks have brought.
            most_chunk_tokens: params.tokens.max(CONTEXT_TOKENS),
            rounds: params.looks.get() as u64,
            fixed: 450,
            reply: 160,
            basis: "most questions end after one look, hard ones after two to four",
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

/// Answers `question` in one look or more: at most `looks` calls, and one more where the model does not answer along with
/// its facts; each asked at most twice. Without a model for looks one retrieval is answered from, as by `auto-rag`.
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
    let mut looking = Looking { ports, question, params, shelf: Shelf::default() };
    let shown = looking.gather(run).await?;
    let seen = looking.looks(run, shown).await?;
    looking.conclude(run, seen).await
}

/// One question on its way from look to look.
struct Looking<'a> {
    ports: &'a Ports,
    question: &'a Question,
    params: Params,
    shelf: Shelf,
}

/// How looking ended.
#[derive(Default)]
struct Seen {
    /// The last answer that a look gave; empty where none did.
    answer: String,
    /// The thinking that led to it.
    thinking: String,
    /// Whether the look that gave it found its facts sufficient.
    sufficient: bool,
    /// What the last look still missed.
    missing: Vec<String>,
    /// Whether the last reply stayed unreadable.
    is_unreadable: bool,
}

impl Looking<'_> {
    /// What the first look sees: found without a model.
    async fn gather(&mut self, run: &mut Run) -> Result<Vec<usize>, SolveError> {
        let query = self.question.query();
        tell_declared(self.ports, run, query).await?;
        let retrieval = RetrievalParams {
            path: Path::Auto(self.params.weights),
            chunks: self.params.chunks,
            ..RetrievalParams::chunks()
        };
        let found = retrieve(self.ports, query, retrieval).await?;
        let rules = Rules::within(self.params.tokens);
        let (candidates, chunks) = gathered(self.ports, run, found, rules).await?;
        run.push(Event::Gathered { candidates });
        Ok(self.shelf.take(1, chunks))
    }

    async fn looks(&mut self, run: &mut Run, mut shown: Vec<usize>) -> Result<Seen, SolveError> {
        let (mut seen, most) = (Seen::default(), self.params.looks.get());
        for number in 1..=most {
            Span::current().record("looks", number);
            let asking = Asking {
                answers: self.params.reader != Reader::InTwo,
                is_last: number == most,
                lookups: self.params.lookups,
            };
            let said = look(self.ports, run, self.question, &self.shelf, &shown, asking).await?;
            let Some(said) = said else {
                // A look that cannot be read ends the looking; what is there is read plainly.
                run.push(Event::Stopped { hop: number, reason: StopReason::Unreadable });
                seen.is_unreadable = true;
                break;
            };
            self.shelf.keep(&shown, said.facts);
            run.push(Event::Looked {
                look: number,
                thinking: said.thinking.clone(),
                facts: self.shelf.told(),
                answer: said.answer.clone(),
            });
            let sufficient =
                run.judged(Criterion::Sufficient, &self.question.text, said.sufficient)?;
            if !said.answer.is_empty() {
                (seen.answer, seen.thinking) = (said.answer, said.thinking);
                seen.sufficient = sufficient;
            }
            seen.missing = if sufficient { Vec::new() } else { said.missing };
            if sufficient {
                break;
            }
            if number == most {
                run.push(Event::Stopped { hop: number, reason: StopReason::HopLimit });
                break;
            }
            let Some(new) = self.look_further(run, number, &seen.missing, &shown).await? else {
                break;
            };
            let mut next = self.shelf.bearing();
            next.extend(new);
            let room = self.params.tokens.map_or(u64::MAX, |tokens| tokens.get().into());
            shown = self.shelf.within(&next, room);
            shown.sort_unstable();
        }
        Ok(seen)
    }

    /// Looks up what is missing; the numbers of the passages found, `None` where none of them is other than those just `shown`.
    async fn look_further(
        &mut self,
        run: &mut Run,
        number: usize,
        missing: &[String],
        shown: &[usize],
    ) -> Result<Option<Vec<usize>>, SolveError> {
        let wanted = missing.iter().filter(|question| !self.shelf.has_tried(question));
        let wanted: Vec<String> = wanted.take(self.params.lookups).cloned().collect();
        let wanted = run.proposed(number, String::new(), wanted)?;
        if wanted.is_empty() {
            run.push(Event::Stopped { hop: number, reason: StopReason::NothingProposed });
            return Ok(None);
        }
        let new = look_up(self.ports, run, number, &wanted, &mut self.shelf, &self.params).await?;
        if new.iter().all(|number| shown.contains(number)) {
            run.push(Event::Stopped { hop: number, reason: StopReason::NothingFound });
            return Ok(None);
        }
        Ok(Some(new))
    }

    /// The answer of the looks, or one more reading of what they brought.
    async fn conclude(self, run: &mut Run, seen: Seen) -> Result<Answer, SolveError> {
        let stands = match self.params.reader {
            Reader::AtOnce => !seen.answer.is_empty(),
            Reader::InTwo => false,
            Reader::AsShown => {
                seen.sufficient
                    && !seen.is_unreadable
                    && holds(self.question, &self.shelf, &seen.answer)
            }
        };
        if stands {
            let reading = Reading {
                answer: seen.answer,
                rationale: seen.thinking,
                missing: seen.missing,
                claims: self.shelf.claims(),
            };
            let context = self.shelf.context(&self.shelf.all());
            return conclude_read(self.ports, context, reading, run).await;
        }
        // What the first passages answer is not lost by what later ones bring.
        let mut numbers = self.shelf.first();
        let bearing = self.shelf.bearing();
        let later = |number: &usize| !numbers.contains(number);
        let borne: Vec<usize> = bearing.iter().copied().filter(later).collect();
        numbers.extend(borne);
        let rest = self.shelf.all().into_iter().filter(|number| !numbers.contains(number));
        let rest: Vec<usize> = rest.collect();
        // Those that carry facts have their place even where there is little room.
        let mut order = bearing;
        order.extend(numbers.iter().chain(&rest).copied());
        let mut once = std::collections::HashSet::new();
        order.retain(|number| once.insert(*number));
        let room = CONTEXT_TOKENS.map_or(u64::MAX, |tokens| tokens.get().into());
        let mut held = self.shelf.within(&order, room);
        held.sort_unstable();
        conclude(self.ports, self.question, self.shelf.context(&held), run).await
    }
}
