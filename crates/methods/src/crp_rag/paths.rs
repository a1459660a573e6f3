//! Reasons along a path whose knowledge suffices, step by step from its source to its sink, and merges the
//! answers of all paths (CRP-RAG §3.4, eq. 11 to 13).

use pikerag_knowledge::{Event, Question, Role, Schema};
use pikerag_prompt::{
    Prompt, Prose, Reply, Unreadable, numbered, object, quiet_headings, shape, text,
};
use pikerag_reason::{Reading, answer_in, how_to_answer, how_to_answer_alone, missing_in};
use serde_json::json;

use super::graph::Graph;
use super::{Knowledge, TEMPERATURE};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

const REASON: Prompt = Prompt::new(Role::Reason, include_str!("../prompts/crp_reason.md"), 1024)
    .with_earlier("methods/crp_reason", &[include_str!("../prompts/earlier/crp_reason.1.md")])
    .at(TEMPERATURE);
const CONCLUDE: Prompt =
    Prompt::new(Role::Answer, include_str!("../prompts/crp_conclude.md"), 1024)
        .with_earlier(
            "methods/crp_conclude",
            &[include_str!("../prompts/earlier/crp_conclude.1.md")],
        )
        .at(TEMPERATURE);
const ABSTRACT: Prompt =
    Prompt::new(Role::Answer, include_str!("../prompts/crp_abstract.md"), 1024)
        .with_earlier(
            "methods/crp_abstract",
            &[include_str!("../prompts/earlier/crp_abstract.1.md")],
        )
        .at(TEMPERATURE);

/// A path with the knowledge of its nodes.
pub(super) struct Steps<'a> {
    pub(super) ports: &'a Ports,
    pub(super) question: &'a Question,
    pub(super) graph: &'a Graph,
    pub(super) knowledge: &'a [Knowledge],
    pub(super) path: &'a [usize],
}

impl Steps<'_> {
    /// Eq. 11 and 12: each step from the results before it; the last gives the answer.
    pub(super) async fn one_by_one(&self, run: &mut Run) -> Result<Option<Reading>, SolveError> {
        let mut condition: Vec<String> = Vec::new();
        let Some((last, before)) = self.path.split_last() else { return Ok(None) };
        for node in before {
            let (step, known) = (self.graph.text(*node), self.known(*node));
            let conditions = listed(&condition);
            let asked = quiet_headings(&self.question.text);
            let quiet_step = quiet_headings(step);
            let inputs = [
                ("question", asked.as_str()),
                ("conditions", conditions.as_str()),
                ("knowledge", known),
                ("step", quiet_step.as_str()),
            ];
            let Some(Prose(result)) = run.ask(self.ports, &REASON, &inputs).await? else {
                continue;
            };
            run.push(Event::Thought { step: *node + 1, text: result.clone() });
            condition.push(format!("{step} {result}"));
        }
        self.conclude(run, &condition, self.graph.text(*last), self.known(*last)).await
    }

    /// The ablation: all steps and all knowledge in one prompt.
    pub(super) async fn at_once(&self, run: &mut Run) -> Result<Option<Reading>, SolveError> {
        let steps: Vec<&str> = self.path.iter().map(|node| self.graph.text(*node)).collect();
        let known: Vec<&str> = self.path.iter().map(|node| self.known(*node)).collect();
        self.conclude(run, &[], &steps.join("\n"), &known.join("\n\n")).await
    }

    async fn conclude(
        &self,
        run: &mut Run,
        condition: &[String],
        step: &str,
        known: &str,
    ) -> Result<Option<Reading>, SolveError> {
        let conditions = listed(condition);
        let asked = quiet_headings(&self.question.text);
        let (step, form) = (quiet_headings(step), how_to_answer(self.question));
        let inputs = [
            ("form", form.as_ref()),
            ("question", asked.as_str()),
            ("conditions", conditions.as_str()),
            ("knowledge", known),
            ("step", step.as_str()),
        ];
        Ok(run.ask::<Concluded>(self.ports, &CONCLUDE, &inputs).await?.map(|reply| reply.0))
    }

    fn known(&self, node: usize) -> &str {
        self.knowledge.get(node).map(|known| known.text.as_str()).unwrap_or_default()
    }
}

/// Eq. 13: one answer from those of all paths. Paths that agree need no call.
pub(super) async fn merged(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    answers: Vec<Reading>,
) -> Result<Option<Reading>, SolveError> {
    let Some(first) = answers.first() else { return Ok(None) };
    if answers.iter().all(|answer| answer.answer == first.answer) {
        return Ok(Some(first.clone()));
    }
    let shown: Vec<String> =
        answers.iter().map(|one| format!("{} ({})", one.answer, one.rationale)).collect();
    let shown = numbered(shown.iter().map(String::as_str));
    let asked = quiet_headings(&question.text);
    let form = how_to_answer_alone(question);
    let inputs =
        [("form", form.as_ref()), ("question", asked.as_str()), ("answers", shown.as_str())];
    let reply = run.ask::<Concluded>(ports, &ABSTRACT, &inputs).await?;
    Ok(Some(reply.map_or_else(|| first.clone(), |reply| reply.0)))
}

fn listed(condition: &[String]) -> String {
    if condition.is_empty() {
        return "(none yet)".to_owned();
    }
    numbered(condition.iter().map(String::as_str))
}

/// An answer with its reasons, no quotes.
struct Concluded(Reading);

impl Reply for Concluded {
    fn schema() -> Option<Schema> {
        Some(shape(
            "answer",
            json!({
                "rationale": {"type": "string"},
                "answer": {"type": "string"},
                "lacking": {"type": ["string", "null"]}
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["answer"])?;
        Ok(Self(Reading {
            answer: answer_in(&object)?,
            rationale: text(&object, "rationale").unwrap_or_default(),
            missing: missing_in(&object).into_iter().collect(),
            ..Reading::default()
        }))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_concluded: Concluded }
