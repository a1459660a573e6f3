//! Answers a question from the model's knowledge, else from relevant passages, else from the parts that it
//! splits into (`ra-isf`: RA-ISF §3.3, Algorithm 1).

pub mod modules;

use std::future::Future;
use std::pin::Pin;

use pikerag_knowledge::{Answer, Chunk, Context, Criterion, Event, Note, Question, Role};
use pikerag_reason::{Reading, combine};
use serde::{Deserialize, Serialize};
use tracing::instrument;

use self::modules::{passage_text, relevant_each, relevant_together};
use crate::conclude::conclude_read;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, answer_step, look_up, sub_question};
use crate::run::Run;
use crate::spec::{Cost, MethodParams, MethodSpec, Range, Variant, WithoutModel, field};
use crate::unaided::{Recalled, recall};
use crate::verdict::UNKNOWN;

/// How the relevance module receives passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Relevance {
    /// One call for each passage: is it related to the question (§3.3; Algorithm 1, lines 12 to 14)?
    OneByOne,
    /// One call for all of them: which are related, if together they suffice (the examples of Appendix E)?
    Together,
}

/// The parameters of Algorithm 1 and the ablations of Table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// `D_th`: how often a question is split into questions, at most (§4.5).
    pub depth: usize,
    /// `k`: passages that are retrieved (Appendix D).
    pub k: usize,
    /// How the relevance module receives passages.
    pub relevance: Relevance,
    /// The self-knowledge module; off in the ablation "No SKM".
    pub knows: bool,
    /// The passage-relevance module, retrieval with it; off in "No PRM".
    pub retrieves: bool,
    /// The question-decomposition module; off in "No QDM", which answers "unknown" in its place.
    pub decomposes: bool,
    /// Ours: sub-questions of the whole tree, at most, which limits its cost.
    pub questions: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            depth: 3,
            k: 5,
            relevance: Relevance::OneByOne,
            knows: true,
            retrieves: true,
            decomposes: true,
            questions: 40,
        }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[
            Variant::new(
                "ra-isf",
                "answers from the model's knowledge, else from relevant passages, else splits the question and answers each part likewise",
                "RA-ISF Algorithm 1",
                |_| {},
            ),
            Variant::new(
                "ra-isf-no-know",
                "an ablation: without the self-knowledge module",
                "RA-ISF Table 2",
                |params| params.knows = false,
            ),
            Variant::new(
                "ra-isf-no-relevant",
                "an ablation: without the passage-relevance module",
                "RA-ISF Table 2",
                |params| params.retrieves = false,
            ),
            Variant::new(
                "ra-isf-no-decompose",
                "an ablation: without the question-decomposition module",
                "RA-ISF Table 2",
                |params| params.decomposes = false,
            ),
        ],
        parameters: &[
            field!(depth, "how often a question is split, at most (D_th)", Range::Whole((0, 20))),
            field!(k, "passages that are retrieved (k)", Range::COUNT),
            field!(
                relevance,
                "whether passages are judged one by one, or together with a verdict on whether they suffice",
                Range::of::<Relevance>()
            ),
        ],
        roles: &[Role::Know, Role::Relevant, Role::Decompose, Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: 2.0 + params.k as f64,
            most_calls: (params.questions as u64 + 1) * (params.k as u64 + 3),
            chunks: 1.0,
            most_chunks: params.k as u64,
            most_chunk_tokens: None,
            rounds: 3,
            fixed: 300,
            reply: 40,
            basis: "Algorithm 1: know, each passage relevant or not, answer or divide; at most 40 sub-questions",
        },
    };
}

/// Answers `question` by Algorithm 1. The three modules have roles of their own (`know`, `relevant`,
/// `decompose`), so that each can have its own model.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "ra_isf", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let context = Context::default();
    let mut solving = Solving { ports, params, run, context, taken_up: 0, above: Vec::new() };
    let reading = solving.problem_solving(question.clone(), 0).await?; // Line 29.
    let Solving { context, run, .. } = solving;
    conclude_read(ports, context, reading, run).await
}

/// One question with the state of its tree.
struct Solving<'a> {
    ports: &'a Ports,
    params: Params,
    run: &'a mut Run,
    /// Every passage that was found relevant, for the citations.
    context: Context,
    taken_up: usize,
    /// The questions above the current one in the tree.
    above: Vec<String>,
}

type Solved<'s> = Pin<Box<dyn Future<Output = Result<Reading, SolveError>> + Send + 's>>;

impl Solving<'_> {
    /// `Problem-solving(q_t, iter)`, lines 2 to 27.
    fn problem_solving(&mut self, question: Question, iteration: usize) -> Solved<'_> {
        Box::pin(async move {
            if self.params.depth < iteration {
                let question = question.text.clone();
                let note = Note::SplitLimit { times: self.params.depth, question };
                self.run.push(Event::Noted { note: note.into() });
                return Ok(unknown()); // Lines 3 to 5.
            }
            if self.params.knows && self.knows(&question.text).await? {
                return self.recall(&question).await; // Lines 6 to 8.
            }
            if self.params.retrieves {
                let hop = iteration + 1;
                let k = RetrievalParams::top(self.params.k);
                let passages = look_up(self.ports, self.run, hop, question.query(), k).await?; // Line 10.
                let relevant = self.relevant(&question.text, passages, hop).await?; // Lines 11 to 14.
                if !relevant.chunks.is_empty() {
                    for held in &relevant.chunks {
                        self.context.add(hop, held.chunk.clone());
                    }
                    return self.answer(&question, &relevant).await; // Lines 17 to 19.
                }
            }
            if !self.params.decomposes {
                return Ok(unknown());
            }
            let mut pairs = Vec::new();
            self.above.push(question.text.clone());
            for part in self.decompose(&question.text, iteration).await? {
                let depth = iteration + 1;
                let part = self.run.asked(depth, part)?;
                let solved = self.problem_solving(sub_question(&part), depth).await?; // Line 23.
                let answer = self.run.resolved(depth, &part, solved.answer)?;
                pairs.push((part, answer)); // Line 24.
            }
            self.above.pop();
            self.combine(&question, &pairs).await // Lines 26, 27.
        })
    }

    /// `M_know(q_t) = know`. A verdict that stays unreadable is "no": the passages decide.
    async fn knows(&mut self, question: &str) -> Result<bool, SolveError> {
        let holds = modules::knows(self.ports, self.run, question).await?.unwrap_or(false);
        self.run.judged(Criterion::Known, question, holds)
    }

    /// `P_rel`: the passages that `M_rel` accepts. A reply that stays unreadable accepts none.
    async fn relevant(
        &mut self,
        question: &str,
        passages: Vec<Chunk>,
        hop: usize,
    ) -> Result<Context, SolveError> {
        let shown: Vec<String> = passages.iter().map(passage_text).collect();
        let accepted: Vec<bool> = match self.params.relevance {
            Relevance::OneByOne => {
                let replies = relevant_each(self.ports, self.run, question, &shown).await?;
                replies.into_iter().map(|reply| reply.unwrap_or(false)).collect()
            }
            Relevance::Together => {
                relevant_together(self.ports, self.run, question, &shown).await?
            }
        };
        let mut relevant = Context::default();
        for (chunk, holds) in passages.into_iter().zip(accepted) {
            if self.run.judged(Criterion::Relevant, &chunk.full_title(), holds)? {
                relevant.add(hop, chunk);
            }
        }
        Ok(relevant)
    }

    /// `Q_sub ← M_decom(q_t)`, line 21; no more of them than the limit leaves.
    async fn decompose(
        &mut self,
        question: &str,
        iteration: usize,
    ) -> Result<Vec<String>, SolveError> {
        let mut parts = modules::parts(self.ports, self.run, question).await?.unwrap_or_default();
        // A part that is a question above this one would be asked forever.
        parts.retain(|part| !self.above.contains(part));
        let left = self.params.questions.saturating_sub(self.taken_up);
        if left < parts.len() {
            let (left_out, limit) = (parts.len() - left, self.params.questions);
            let note = Note::SubQuestionsLeftOut { left_out, limit };
            self.run.push(Event::Noted { note: note.into() });
            parts.truncate(left);
        }
        self.taken_up += parts.len();
        self.run.proposed(iteration + 1, String::new(), parts)
    }

    /// `A ← M(q_t)`, line 7: from the model's knowledge, without passages.
    async fn recall(&mut self, question: &Question) -> Result<Reading, SolveError> {
        let recalled = recall(self.ports, self.run, question, "").await?;
        Ok(recalled.map_or_else(unknown, |Recalled { answer, rationale }| Reading {
            answer,
            rationale,
            ..Reading::default()
        }))
    }

    /// `A ← M(q_t, P)`, line 18.
    async fn answer(
        &mut self,
        question: &Question,
        context: &Context,
    ) -> Result<Reading, SolveError> {
        let reading = answer_step(self.ports, self.run, question, context, "").await?;
        Ok(reading.unwrap_or_else(unknown))
    }

    /// `A ← M(q_t, Q_sub, A_sub)`, line 26. Without parts the answer is unknown.
    async fn combine(
        &mut self,
        question: &Question,
        pairs: &[(String, String)],
    ) -> Result<Reading, SolveError> {
        if pairs.is_empty() {
            return Ok(unknown());
        }
        let model = self.ports.models.need(Role::Answer)?;
        let reply = combine(model, question, pairs, &mut self.run.account).await;
        let reply = self.run.readable(Role::Answer, reply)?;
        let steps: Vec<String> =
            pairs.iter().map(|(question, answer)| format!("{question} {answer}")).collect();
        Ok(reply.map_or_else(unknown, |answer| Reading {
            answer,
            rationale: steps.join("\n"),
            ..Reading::default()
        }))
    }
}

/// Algorithm 1, line 4.
fn unknown() -> Reading {
    Reading { answer: UNKNOWN.to_owned(), ..Reading::default() }
}
