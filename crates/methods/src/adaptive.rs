//! Answers a question in reading rounds (`adaptive`, ours). In each round one call reads a few passages and
//! reports their facts, what is missing, and the answer. A search for what is missing gives the passages of
//! the next round.

pub mod excerpt;
mod findings;
mod lookup;
mod params;
mod plausible;
mod round;
mod shown;
mod trained;
mod trial;

use std::borrow::Cow;
use std::collections::HashSet;

use pikerag_knowledge::{Answer, Criterion, Event, Question, Role, StopReason};
use pikerag_reason::Reading;
use pikerag_retrieve::SearchParams;
use tracing::field::Empty;
use tracing::{Span, instrument};

use self::findings::Findings;
use self::lookup::look_up;
pub use self::params::{Decomposer, Ends, Params, Reader, Reads};
use self::plausible::is_plausible;
use self::round::{Asking, read_round};
use self::shown::{Shown, ShownBefore};
use self::trained::Trained;
pub use self::trial::{Trial, try_out};
use crate::conclude::{conclude, conclude_read};
use crate::editions::with_marked_titles_among;
use crate::fitting::fitted;
use crate::naive_rag;
use crate::organizing::gathered;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{CONTEXT_TOKENS, Path, RetrievalParams, retrieve};
use crate::run::Run;
use crate::tagging::trace_declared;

/// Answers `question` in one reading round or more: at most `looks` calls, and one more where the model does
/// not answer along with its facts. Each call is asked at most twice. It answers from one retrieval, as `auto-rag`
/// does, without a model of the roles `look` and `answer`, and for a model with little time that is not known to collect
/// facts and answer at once: its rounds would take two calls each.
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
    let has_no_model =
        [Role::Look, Role::Answer].iter().any(|role| ports.models.of(*role).is_none());
    let takes_one_call = run.has_little_time()
        && params.reader != Reader::AtOnce
        && params.decomposer == Decomposer::Reader;
    if has_no_model || takes_one_call {
        return solve_at_once(ports, run, question, params.weights).await;
    }
    let mut solving = Solving {
        ports,
        question,
        params,
        findings: Findings::of(params.reads),
        shown_before: ShownBefore::default(),
        trained: Trained::default(),
    };
    let shown = solving.gather(run).await?;
    let result = solving.read_in_rounds(run, shown).await?;
    solving.conclude(run, result).await
}

/// Answers from one retrieval, with one call if there is a model (`auto-rag`).
pub(crate) async fn solve_at_once(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    weights: SearchParams,
) -> Result<Answer, SolveError> {
    let once = RetrievalParams { path: Path::Auto(weights), ..RetrievalParams::auto() };
    naive_rag::solve(ports, run, question, once).await
}

/// One question with the state of its rounds.
struct Solving<'a> {
    ports: &'a Ports,
    question: &'a Question,
    params: Params,
    findings: Findings,
    shown_before: ShownBefore,
    trained: Trained,
}

/// Rounds in a row without a new fact and another answer that end the reading.
const WITHOUT_NEWS: usize = 2;

/// Sub-questions, with the numbers of the passages that were found for them.
struct Search {
    questions: Vec<String>,
    found: Vec<usize>,
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
    /// Whether the last round gave an answer.
    is_answered: bool,
    /// What was still missing after the last round.
    missing: Vec<String>,
    /// Whether the last reply stayed unreadable.
    is_unreadable: bool,
}

impl Solving<'_> {
    /// Gathers the passages of the first round, without a model.
    async fn gather(&mut self, run: &mut Run) -> Result<Shown, SolveError> {
        let query = self.question.query();
        trace_declared(self.ports, run, query).await?;
        let retrieval = RetrievalParams {
            path: Path::Auto(self.params.weights),
            chunks: self.params.chunks,
            ..RetrievalParams::chunks()
        };
        let found = retrieve(self.ports, query, retrieval).await?;
        let (candidates, chunks) = gathered(self.ports, run, found, self.params.rules()).await?;
        run.push(Event::Gathered { candidates });
        let numbers = self.findings.add(1, chunks);
        Ok(match self.params.reads {
            Reads::Passages => Shown::whole(&self.findings, &numbers),
            Reads::Sentences => {
                self.shown_before.first(&self.findings, &numbers, query, &self.params)
            }
        })
    }

    async fn read_in_rounds(
        &mut self,
        run: &mut Run,
        mut shown: Shown,
    ) -> Result<RoundsResult, SolveError> {
        let (mut result, most) = (RoundsResult::default(), self.params.looks.get());
        let mut without_news = 0;
        for number in 1..=most {
            Span::current().record("looks", number);
            let asking = Asking {
                answers: self.params.reader != Reader::InTwo,
                is_last: number == most,
                lookups: self.params.lookups,
            };
            shown = self.marked(run, shown).await?;
            shown = self.shortened(run, shown).await?;
            let reply =
                read_round(self.ports, run, self.question, &self.findings, &shown, asking).await?;
            let Some(reply) = reply else {
                // An unreadable reply ends the rounds; one more call reads the passages found so far.
                run.push(Event::Stopped { hop: number, reason: StopReason::Unreadable });
                result.is_unreadable = true;
                break;
            };
            let known = self.findings.facts_for_trace().len();
            self.findings.keep(&shown.numbers(), shown.renumbered(reply.facts));
            let facts = self.findings.facts_for_trace();
            let has_news =
                known < facts.len() || (!reply.answer.is_empty() && reply.answer != result.answer);
            without_news = if has_news || number == 1 { 0 } else { without_news + 1 };
            run.push(Event::RoundRead {
                look: number,
                thinking: reply.thinking.clone(),
                facts,
                answer: reply.answer.clone(),
            });
            let sufficient =
                run.judged(Criterion::Sufficient, &self.question.text, reply.sufficient)?;
            result.is_answered = !reply.answer.is_empty();
            if result.is_answered {
                (result.answer, result.thinking) = (reply.answer, reply.thinking);
                result.sufficient = sufficient;
            }
            if sufficient {
                result.missing.clear();
                break;
            }
            // A round that names nothing cannot find more; the sub-questions before it stayed open.
            let stays_open = self.params.reads == Reads::Sentences && reply.missing.is_empty();
            if !stays_open {
                result.missing.clone_from(&reply.missing);
            }
            if number == most {
                run.push(Event::Stopped { hop: number, reason: StopReason::HopLimit });
                break;
            }
            let is_settled = self.params.reads == Reads::Sentences && without_news == WITHOUT_NEWS;
            if is_settled {
                run.push(Event::Stopped { hop: number, reason: StopReason::NothingFound });
                break;
            }
            let Some(next) = self.next_round(run, number, &reply.missing, &shown).await? else {
                break;
            };
            shown = next;
        }
        Ok(result)
    }

    /// The passages of a round, with a mark in the titles of documents that another known document replaces.
    async fn marked(&self, run: &Run, shown: Shown) -> Result<Shown, SolveError> {
        let (known, context) = (self.findings.context(&self.findings.all()), shown.context());
        let read = run.editions();
        let marked =
            with_marked_titles_among(self.ports, read, self.question, &known, &context).await?;
        Ok(match marked {
            Some(marked) => shown.shortened(&marked).0,
            None => shown,
        })
    }

    /// The passages of a round as a slow model reads them in time: their best sentences and rows, under the same
    /// numbers.
    async fn shortened(&mut self, run: &mut Run, shown: Shown) -> Result<Shown, SolveError> {
        if run.reads_at_most().is_none() {
            return Ok(shown);
        }
        let notes = format!("{}\n{}", self.findings.facts_so_far(), self.findings.tried());
        let whole = shown.context();
        let read = fitted(self.ports, self.question, &whole, &notes, run).await?;
        let Cow::Owned(cut) = read else { return Ok(shown) };
        let (shown, left_out) = shown.shortened(&cut);
        self.shown_before.leave_out(&left_out);
        Ok(shown)
    }

    /// Searches for what is missing and returns the passages of the next round; `None` where it would read nothing
    /// new.
    async fn next_round(
        &mut self,
        run: &mut Run,
        number: usize,
        missing: &[String],
        shown: &Shown,
    ) -> Result<Option<Shown>, SolveError> {
        let shown = shown.numbers();
        let Some(search) = self.search_missing(run, number, missing, &shown).await? else {
            return Ok(None);
        };
        let next = match self.params.reads {
            Reads::Passages if search.found.iter().all(|number| shown.contains(number)) => {
                Shown::default()
            }
            Reads::Passages => {
                let mut next = self.findings.with_facts();
                next.extend(search.found);
                let budget = self.params.tokens.map_or(u64::MAX, |tokens| tokens.get().into());
                let mut next = self.findings.within(&next, budget);
                next.sort_unstable();
                Shown::whole(&self.findings, &next)
            }
            Reads::Sentences => {
                let Search { questions, found } = &search;
                self.shown_before.later(&self.findings, found, questions, &self.params)
            }
        };
        if next.is_empty() {
            run.push(Event::Stopped { hop: number, reason: StopReason::NothingFound });
            return Ok(None);
        }
        Ok(Some(next))
    }

    /// Searches for what is missing; `None` where nothing is left to search.
    async fn search_missing(
        &mut self,
        run: &mut Run,
        number: usize,
        missing: &[String],
        shown: &[usize],
    ) -> Result<Option<Search>, SolveError> {
        if self.params.decomposer == Decomposer::Trained
            && let Some(search) = self.search_trained(run, number, shown).await?
        {
            return Ok(Some(search));
        }
        let wanted = missing.iter().filter(|question| !self.findings.has_tried(question));
        let wanted: Vec<String> = wanted.take(self.params.lookups).cloned().collect();
        let questions = run.proposed(number, String::new(), wanted)?;
        if questions.is_empty() {
            run.push(Event::Stopped { hop: number, reason: StopReason::NothingProposed });
            return Ok(None);
        }
        let found =
            look_up(self.ports, run, number, &questions, &mut self.findings, &self.params).await?;
        Ok(Some(Search { questions, found }))
    }

    /// Searches for the sub-questions of a trained proposer, until one finds passages that were not just `shown`: the
    /// others are answered from what was shown. `None` where it has no further sub-question.
    async fn search_trained(
        &mut self,
        run: &mut Run,
        number: usize,
        shown: &[usize],
    ) -> Result<Option<Search>, SolveError> {
        for _ in 0..self.params.lookups {
            let next = self.trained.next(self.ports, run, self.question, &self.findings).await?;
            let next = next.filter(|next| !self.findings.has_tried(next));
            let Some(next) = next else { break };
            let questions = run.proposed(number, String::new(), vec![next])?;
            let found =
                look_up(self.ports, run, number, &questions, &mut self.findings, &self.params)
                    .await?;
            if let Some(asked) = questions.first() {
                self.trained.found(asked.clone(), &found);
            }
            if found.iter().any(|number| !shown.contains(number)) {
                return Ok(Some(Search { questions, found }));
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
                let is_held = self.params.ends == Ends::Answered
                    && result.is_answered
                    && !result.missing.is_empty()
                    && self.findings.hold(&result.answer);
                (result.sufficient || is_held)
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
                ..Reading::default()
            };
            let context = self.findings.context(&self.findings.all());
            return conclude_read(self.ports, context, reading, run).await;
        }
        // Passages with facts come first, so that they are read even where the limit is small. The others keep their
        // order: later ones must not displace those of the first round, which may hold the answer.
        let mut order = self.findings.with_facts();
        order.extend(self.findings.all());
        let mut once = HashSet::new();
        order.retain(|number| once.insert(*number));
        let budget = CONTEXT_TOKENS.map_or(u64::MAX, |tokens| tokens.get().into());
        let mut held = self.findings.within(&order, budget);
        held.sort_unstable();
        conclude(self.ports, self.question, self.findings.context(&held), run).await
    }
}
