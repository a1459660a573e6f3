//! Asks a model for the steps of a plan, or for those that are left, and fills results into their questions.

use pikerag_knowledge::{Question, Role, Schema, StepKind};
use pikerag_language::pattern;
use pikerag_prompt::{
    Prompt, Reply, Unreadable, at_most, closed, object, one_line, quiet_headings, shape, text,
};
use serde_json::{Value as Json, json};
use strum::VariantNames;

use super::Step;
use crate::ports::{Ports, SolveError};
use crate::run::Run;

const PROMPT: Prompt = Prompt::new(Role::Decompose, include_str!("../../prompts/plan.md"), 1200)
    .with_earlier("methods/plan", &[include_str!("../../prompts/earlier/plan.1.md")]);
/// Characters of a question, and of a result in a prompt.
const LONGEST: usize = 600;

pattern!(NAME, r"\{\s*([a-z0-9_]{1,20})\s*\}");

/// A result as later steps see it.
pub(super) struct Known<'a> {
    pub(super) name: &'a str,
    pub(super) asked: &'a str,
    /// Empty if the step gave none.
    pub(super) result: &'a str,
    pub(super) text: &'a str,
}

/// The names in braces in a question.
pub(super) fn names(question: &str) -> impl Iterator<Item = String> {
    let names: Vec<String> =
        NAME.captures_iter(question).map(|found| found[1].to_owned()).collect();
    names.into_iter()
}

/// A question with results in place of names.
pub(super) fn filled(question: &str, known: &[Known<'_>]) -> String {
    let result = |found: &regex::Captures<'_>| {
        let known = known.iter().rev().find(|known| known.name == &found[1]);
        known.map_or_else(|| found[1].to_owned(), |known| one_line(known.result))
    };
    NAME.replace_all(question, result).into_owned()
}

/// The results in words for a prompt, one a paragraph.
pub(super) fn in_words(known: &[Known<'_>]) -> String {
    let cut = |text: &str| one_line(text).chars().take(LONGEST).collect::<String>();
    let lines = known.iter().map(|known| {
        let answer = match known.result {
            "" => format!("no answer ({})", cut(known.text)),
            result if result == known.text => cut(result),
            result => format!("{} ({})", cut(result), cut(known.text)),
        };
        format!("{{{}}}: {}\n{answer}", known.name, cut(known.asked))
    });
    lines.collect::<Vec<_>>().join("\n\n")
}

/// The steps of a plan, after the known results. `None` where the reply stays unreadable, or a step refers to a result that there
/// will not be.
///
/// # Errors
/// The call failed.
pub(super) async fn ask(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    offers: &str,
    known: &[Known<'_>],
    most: usize,
) -> Result<Option<Vec<Step>>, SolveError> {
    let (found, most) = (quiet_headings(&in_words(known)), most.to_string());
    let (offers, asked) = (quiet_headings(offers), quiet_headings(question.query()));
    let inputs = [
        ("most", most.as_str()),
        ("found", found.as_str()),
        ("offers", offers.as_str()),
        ("question", asked.as_str()),
    ];
    let reply = run.ask::<PlanReply>(ports, &PROMPT, &inputs).await?;
    let names: Vec<&str> =
        known.iter().filter(|it| !it.result.is_empty()).map(|it| it.name).collect();
    Ok(reply.and_then(|reply| checked(reply.0, &names)))
}

/// The steps, if each refers to results before it only, and no name is used twice.
fn checked(steps: Vec<Step>, known: &[&str]) -> Option<Vec<Step>> {
    let mut before: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
    for step in &steps {
        let is_known = step.names().all(|name| before.contains(&name));
        if !is_known || before.contains(&step.name) {
            return None;
        }
        before.push(step.name.clone());
    }
    Some(steps)
}

struct PlanReply(Vec<Step>);

impl Reply for PlanReply {
    fn schema() -> Option<Schema> {
        let step = closed(json!({
            "name": at_most(20),
            "kind": {"type": "string", "enum": StepKind::VARIANTS},
            "question": at_most(LONGEST)
        }));
        let steps = json!({"type": "array", "items": step, "maxItems": 12});
        Some(shape("plan", json!({"steps": steps})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["steps"])?;
        let list = object.get("steps").and_then(Json::as_array).cloned().unwrap_or_default();
        let mut steps = Vec::new();
        for one in &list {
            let kind = text(one, "kind")?.to_lowercase();
            let kind: StepKind = kind.parse().map_err(|_| {
                Unreadable::key("kind", "read, compute, compare, summarize, forecast or think")
            })?;
            let name = text(one, "name")?;
            let name = name.trim().trim_matches(['{', '}']).to_owned();
            let question: String = text(one, "question")?.trim().chars().take(LONGEST).collect();
            if !question.is_empty() && !name.is_empty() {
                steps.push(Step { name, kind, question });
            }
        }
        Ok(Self(steps))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_plan: PlanReply }

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str, question: &str) -> Step {
        Step { name: name.to_owned(), kind: StepKind::Read, question: question.to_owned() }
    }

    #[test]
    fn steps_refer_to_results_before_them() {
        let plan = vec![step("a", "Which part?"), step("b", "Who makes {a}?")];
        assert_eq!(checked(plan.clone(), &[]), Some(plan));
        assert_eq!(checked(vec![step("b", "Who makes {a}?")], &[]), None);
        assert_eq!(checked(vec![step("a", "Who makes { x }?")], &["a", "x"]), None);
        assert!(checked(vec![step("b", "Who makes { x }?")], &["a", "x"]).is_some());
    }

    #[test]
    fn results_take_the_place_of_names() {
        let known = [Known { name: "a", asked: "", result: "BR-21\n# x", text: "" }];
        let question = filled("Who makes {a}, or { a }, or {b}?", &known);
        assert_eq!(question, "Who makes BR-21 # x, or BR-21 # x, or b?");
    }
}
