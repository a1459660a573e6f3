//! Answers a question that combines classes by a plan: questions of its own over named results, each answered by the strategy of
//! its kind. After each step, a model makes the plan again from what was found (PIKE-RAG §4.1).

mod conclude;
mod rules;
mod scheme;

use pikerag_knowledge::{
    Answer, Event, PlanStep, Question, Reason, Role, Statement, StepKind, WrittenBy,
};
use pikerag_narrate::Language;

use self::conclude::conclude;
use self::scheme::{Known, ask, filled};
use super::classify::Evidence;
use super::limit::too_high;
use super::{Params, words};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// A step before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    name: String,
    kind: StepKind,
    /// The question, with the names of earlier steps in braces.
    question: String,
}

/// A step with its answer.
struct Done {
    step: Step,
    /// The question, with results filled in.
    asked: String,
    /// The result that later steps refer to; empty if there is none.
    result: String,
    answer: Answer,
}

/// Who made the plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Planner {
    /// Patterns of words. Each figure of such a plan must be computed, or the plan does not count.
    Rules,
    /// The model of the role `decompose`.
    Model,
}

/// Answers by a plan. `None` where the question needs one step only, or where the plan leads to nothing: the question is then
/// answered as a whole.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    evidence: &Evidence,
) -> Result<Option<Answer>, SolveError> {
    let is_free = params.class.is_none() && 1 < params.plan_steps && params.may_plan;
    if !is_free || !words::combines(question.query()) || is_settled(evidence, question) {
        return Ok(None);
    }
    let planner = match ports.models.of(Role::Decompose) {
        Some(_) => Planner::Model,
        None => Planner::Rules,
    };
    let offers = match planner {
        Planner::Model => {
            [evidence.offers_in_words(), evidence.tables.in_words(question)].join("\n")
        }
        Planner::Rules => String::new(),
    };
    let mut plan = match planner {
        Planner::Model => {
            ask(ports, run, question, &offers, &[], params.plan_steps).await?.unwrap_or_default()
        }
        Planner::Rules => rules::steps(question.query()),
    };
    plan.retain(|step| params.allows(step.kind));
    if plan.len() < 2 {
        return Ok(None);
    }
    let (mut done, mut round): (Vec<Done>, usize) = (Vec::new(), 1);
    show(run, round, Reason::CombinesSteps, &plan);
    while !plan.is_empty() && done.len() < params.plan_steps {
        let step = plan.remove(0);
        let last = step_done(ports, run, question, params, step, &done).await?;
        let is_computed = last.answer.written_by == WrittenBy::Computation && !last.answer.refused;
        let is_figure = matches!(last.step.kind, StepKind::Compute | StepKind::Forecast);
        if planner == Planner::Rules && is_figure && !is_computed {
            return Ok(None);
        }
        let why = match last.answer.refused {
            true => Reason::StepGaveNothing { name: last.step.name.clone() },
            false => Reason::StepGave { name: last.step.name.clone(), result: last.result.clone() },
        };
        let is_stuck = last.answer.refused && plan.iter().any(|step| step.uses(&last.step.name));
        done.push(last);
        let left = params.plan_steps.saturating_sub(done.len());
        if planner == Planner::Model && (is_stuck || !plan.is_empty()) && 0 < left {
            let known: Vec<Known<'_>> = done.iter().map(Done::known).collect();
            if let Some(again) = ask(ports, run, question, &offers, &known, left).await? {
                let again: Vec<Step> =
                    again.into_iter().filter(|step| params.allows(step.kind)).collect();
                if !is_same(&again, &plan) {
                    round += 1;
                    show(run, round, why, &again);
                    plan = again;
                }
            }
        }
        // A step without a result leaves nothing to ask about.
        let gone = |name: &str| done.iter().any(|it| it.result.is_empty() && it.step.name == name);
        plan.retain(|step| !step.names().any(|name| gone(&name)));
    }
    if done.iter().all(|step| step.answer.refused) {
        return Ok(None);
    }
    Ok(Some(conclude(ports, run, question, done).await?))
}

/// Whether rules account for every word of the question over records or tables.
fn is_settled(evidence: &Evidence, question: &Question) -> bool {
    evidence.understood().is_some() || evidence.tables.is_settled(question)
}

impl Params {
    /// Whether the level that the caller set includes such a step; an agent needs no ideas of other agents.
    fn allows(self, kind: StepKind) -> bool {
        let is_for_agent = self.by_agent && kind == StepKind::Think;
        !is_for_agent && too_high(self.level, kind.class()).is_none()
    }
}

/// Answers the question of a step by the strategy of its kind.
async fn step_done(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    step: Step,
    done: &[Done],
) -> Result<Done, SolveError> {
    let known: Vec<Known<'_>> = done.iter().map(Done::known).collect();
    let language = Language::of(question.query());
    let asked = run.asked(1, filled(&step.question, &known))?;
    let part = Question::new(question.id.clone(), asked.clone());
    let class = (step.kind != StepKind::Read).then(|| step.kind.class());
    let own = Params { class, may_plan: false, ..params };
    let ports = &ports.for_parts();
    let answer = Box::pin(super::solved(ports, run, &part, own)).await?;
    let mut result = String::new();
    if !answer.refused {
        result = run.resolved(1, &asked, short(&answer, language))?;
    }
    Ok(Done { step, asked, result, answer })
}

/// The result of a step, without the words around it.
fn short(answer: &Answer, language: Language) -> String {
    let values = answer.worked.iter().flat_map(|worked| &worked.values);
    let values: Vec<&str> = values.map(String::as_str).collect();
    match values.split_last() {
        None if answer.written_by == WrittenBy::Quotation => {
            answer.citations.first().map_or_else(String::new, |first| first.quote.clone())
        }
        None => answer.text.clone(),
        Some((only, [])) => (*only).to_owned(),
        Some((last, others)) => {
            let others = others.join(language.either(", ", "、"));
            format!("{others}{}{last}", language.either(" and ", "和"))
        }
    }
}

fn show(run: &mut Run, round: usize, because: Reason, plan: &[Step]) {
    let steps = plan.iter().map(|step| {
        let Step { name, kind, question } = step.clone();
        Statement::from(PlanStep::AnswerPart { name, kind, question })
    });
    run.push(Event::Planned { round, because: vec![because.into()], steps: steps.collect() });
}

/// Whether two plans ask the same questions.
fn is_same(one: &[Step], other: &[Step]) -> bool {
    let asks = |plan: &[Step]| -> Vec<(StepKind, String)> {
        plan.iter().map(|step| (step.kind, step.question.clone())).collect()
    };
    asks(one) == asks(other)
}

impl Step {
    /// The names of the steps that it uses.
    fn names(&self) -> impl Iterator<Item = String> {
        scheme::names(&self.question)
    }

    fn uses(&self, name: &str) -> bool {
        self.names().any(|used| used == name)
    }
}

impl Done {
    fn known(&self) -> Known<'_> {
        Known {
            name: &self.step.name,
            asked: &self.asked,
            result: &self.result,
            text: &self.answer.text,
        }
    }
}
