//! Answers from the results of all steps: the last one of a chain, else a model's wording of them, in which every figure must
//! come from a step.

use pikerag_knowledge::worked::WorkedStep;
use pikerag_knowledge::{
    Answer, Citation, Context, Event, Note, Question, Role, Schema, TaskClass, Worked, WrittenBy,
};
use pikerag_narrate::Language;
use pikerag_prompt::{Prompt, Reply, Unreadable, at_most, object, quiet_headings, shape, text};
use pikerag_reason::{answer_in, how_to_answer_alone, missing_in};
use serde_json::json;

use super::Done;
use super::scheme::{Known, in_words};
use crate::pike::words;
use crate::ports::{Ports, SolveError};
use crate::recall::numbers;
use crate::run::Run;

const PROMPT: Prompt =
    Prompt::new(Role::Answer, include_str!("../../prompts/plan_result.md"), 1200)
        .with_earlier(
            "methods/plan_result",
            &[include_str!("../../prompts/earlier/plan_result.1.md")],
        )
        .answering_after("rationale");

/// The answer of a plan whose steps are done; at least one has a result.
///
/// # Errors
/// The call failed.
pub(super) async fn conclude(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    done: Vec<Done>,
) -> Result<Answer, SolveError> {
    let language = Language::of(question.query());
    let asks_several = words::asks_several(question.query());
    let wording = match chain_end(&done).filter(|_| !asks_several) {
        Some(last) => Wording {
            text: last.answer.text.clone(),
            rationale: last.answer.rationale.clone(),
            written_by: last.answer.written_by.clone(),
            missing: Vec::new(),
        },
        None => match worded(ports, run, question, &done).await? {
            Some(wording) => wording,
            None => listed(&done, asks_several, language),
        },
    };
    let Wording { text, rationale, written_by, mut missing } = wording;
    let (context, citations, steps) = united(&done);
    if done.iter().any(|step| step.answer.refused) {
        // The steps say what is missing, and why.
        missing.clear();
    }
    for step in &done {
        let own = step.answer.missing.iter().filter(|_| !step.answer.refused);
        missing.extend(own.cloned());
        if step.answer.refused {
            missing.push(format!("{} {}", step.asked, step.answer.text).trim().to_owned());
        }
    }
    missing.dedup();
    run.push(Event::Answered { answer: text.clone() });
    Ok(Answer {
        text,
        rationale,
        refused: false,
        missing,
        written_by,
        citations,
        context,
        worked: Some(Box::new(Worked { steps, ..evidence(&done) })),
    })
}

/// An answer in words, before its citations.
struct Wording {
    text: String,
    rationale: String,
    written_by: WrittenBy,
    missing: Vec<String>,
}

/// The last step, if every other one leads to it and it has a result.
fn chain_end(done: &[Done]) -> Option<&Done> {
    let (last, before) = done.split_last()?;
    let is_used = |name: &str| done.iter().any(|other| other.step.uses(name));
    let is_chain = before.iter().all(|step| is_used(&step.step.name));
    (is_chain && !last.answer.refused).then_some(last)
}

/// The wording of a model. `None` without one, where its reply stays unreadable, and where it names a figure that no step gave.
async fn worded(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    done: &[Done],
) -> Result<Option<Wording>, SolveError> {
    let Some(model) = ports.models.of(Role::Answer) else { return Ok(None) };
    let written_by = WrittenBy::LanguageModel { model: model.name().to_owned() };
    let known: Vec<Known<'_>> = done.iter().map(Done::known).collect();
    let (found, asked) = (quiet_headings(&in_words(&known)), quiet_headings(&question.text));
    let form = how_to_answer_alone(question);
    let inputs = [("form", form.as_ref()), ("found", found.as_str()), ("question", asked.as_str())];
    let Some(reply) = run.ask::<ResultReply>(ports, &PROMPT, &inputs).await? else {
        return Ok(None);
    };
    if reply.answer.trim().is_empty() {
        // The results of the steps stay the answer.
        return Ok(None);
    }
    let given: Vec<&str> = done
        .iter()
        .flat_map(|step| [&step.asked, &step.result, &step.answer.text, &step.answer.rationale])
        .map(String::as_str)
        .chain([question.text.as_str()])
        .collect();
    let given = numbers(&given.join("\n"));
    let invented: Vec<String> = numbers(&reply.answer).difference(&given).cloned().collect();
    if !invented.is_empty() {
        run.push(Event::Noted { note: Note::WordingDropped { figures: invented }.into() });
        return Ok(None);
    }
    let missing = reply.missing.into_iter().collect();
    Ok(Some(Wording { text: reply.answer, rationale: reply.rationale, written_by, missing }))
}

/// The results, each after its question; those that another step uses only if the question asks for several things.
fn listed(done: &[Done], with_used: bool, language: Language) -> Wording {
    let is_used = |name: &str| done.iter().any(|other| other.step.uses(name));
    let ends =
        done.iter().filter(|it| !it.answer.refused && (with_used || !is_used(&it.step.name)));
    let line = |step: &Done| {
        let gap = language.space();
        let text = match step.answer.written_by {
            WrittenBy::Quotation => &step.result,
            _ => &step.answer.text,
        };
        format!("{}{gap}{text}", step.asked)
    };
    let lines: Vec<String> = ends.map(line).collect();
    let authors = done.iter().filter(|it| !it.answer.refused).map(|it| &it.answer.written_by);
    let by_model = authors.clone().find(|by| matches!(by, WrittenBy::LanguageModel { .. }));
    let quoted = authors.clone().find(|by| **by == WrittenBy::Quotation);
    let written_by = by_model.or(quoted).cloned().unwrap_or(WrittenBy::Computation);
    Wording { text: lines.join("\n"), rationale: String::new(), written_by, missing: Vec::new() }
}

/// All passages and citations, each once, and the steps that name them.
fn united(done: &[Done]) -> (Context, Vec<Citation>, Vec<WorkedStep>) {
    let (mut context, mut citations) = (Context::default(), Vec::<Citation>::new());
    let mut steps = Vec::new();
    for (place, step) in done.iter().enumerate() {
        let held = step.answer.context.chunks.iter().filter(|_| !step.answer.refused);
        held.for_each(|held| context.add(place + 1, held.chunk.clone()));
        let mut own = Vec::new();
        for citation in step.answer.citations.iter().filter(|_| !step.answer.refused) {
            let is_same = |held: &&Citation| {
                (held.chunk, held.span, &held.quote)
                    == (citation.chunk, citation.span, &citation.quote)
            };
            let number = match citations.iter().find(is_same) {
                Some(held) => held.number,
                None => {
                    let number = citations.len() + 1;
                    citations.push(Citation { number, ..citation.clone() });
                    number
                }
            };
            if !own.contains(&number) {
                own.push(number);
            }
        }
        steps.push(WorkedStep {
            name: step.step.name.clone(),
            kind: step.step.kind,
            question: step.asked.clone(),
            answer: step.answer.text.clone(),
            refused: step.answer.refused,
            citations: own,
        });
    }
    (context, citations, steps)
}

/// The data of the steps: of each kind that of the first step that has it.
fn evidence(done: &[Done]) -> Worked {
    let class = done.iter().filter(|it| !it.answer.refused).map(|it| it.step.kind.class()).max();
    let mut all = Worked::of(class.unwrap_or(TaskClass::Bridging));
    for worked in done.iter().filter_map(|step| step.answer.worked.as_deref()) {
        all.figures = all.figures.take().or_else(|| worked.figures.clone());
        all.forecast = all.forecast.take().or_else(|| worked.forecast.clone());
        all.prospect = all.prospect.take().or_else(|| worked.prospect.clone());
        all.comparison = all.comparison.take().or_else(|| worked.comparison.clone());
        if all.forecasts.is_empty() {
            all.forecasts.clone_from(&worked.forecasts);
        }
        if all.outlook.is_empty() {
            all.outlook.clone_from(&worked.outlook);
        }
    }
    all
}

struct ResultReply {
    answer: String,
    rationale: String,
    missing: Option<String>,
}

impl Reply for ResultReply {
    fn schema() -> Option<Schema> {
        Some(shape(
            "plan_result",
            json!({
                "rationale": at_most(800),
                "answer": {"type": "string"},
                "lacking": {"type": ["string", "null"]}
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["answer"])?;
        Ok(Self {
            answer: answer_in(&object)?,
            rationale: text(&object, "rationale").unwrap_or_default(),
            missing: missing_in(&object),
        })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_plan_result: ResultReply }
