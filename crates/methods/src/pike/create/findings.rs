//! Answers the questions that an agent asks before it thinks, each by the strategy of its class (PIKE-RAG §4.2: the
//! agents of L4 use the abilities of the levels below).

use pikerag_knowledge::{Event, ModelError, Note, Question, Role, Schema, error_chain};
use pikerag_prompt::{
    Prompt, Reply, Unreadable, ask_sample, object, one_line, quiet_headings, shape, texts,
};
use serde_json::json;

use super::Params;
use super::agent::{Agent, Finding, Material};
use crate::pike::answer_for_agent;
use crate::ports::SolveError;
use crate::run::Run;

const ASK: Prompt =
    Prompt::new(Role::Reason, include_str!("../../prompts/agent_questions.md"), 300).with_earlier(
        "methods/agent_questions",
        &[include_str!("../../prompts/earlier/agent_questions.1.md")],
    );
/// The depth of the questions: below that of the agent's own search.
const DEPTH: usize = 2;

/// Asks the agent for its questions, and answers them out of half of its share of the budget.
///
/// # Errors
/// The base cannot be read, the run was cancelled, or the model of the agent failed. A question without an answer is
/// noted in the trace, and the agent goes on without it.
pub(super) async fn find(
    run: &mut Run,
    question: &Question,
    params: Params,
    agent: &Agent<'_>,
    material: &Material,
) -> Result<Vec<Finding>, SolveError> {
    if params.agent_questions == 0 {
        return Ok(Vec::new());
    }
    let questions = match questions(run, question, params, agent, material).await {
        Ok(questions) => questions,
        Err(error) if is_unpaid(&error) => {
            let note = Note::QuestionsSkipped { name: agent.perspective.name.clone() };
            run.push(Event::Noted { note: note.into() });
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut findings = Vec::new();
    for (nth, text) in questions.into_iter().enumerate() {
        let text = run.asked(DEPTH, text)?;
        let id = format!("{}-{}-{}", question.id, agent.at + 1, nth + 1);
        let asked = Question::new(id, text);
        match answer_for_agent(&agent.asks, run, &asked, params).await {
            Ok(mut answer) => {
                answer.text = run.resolved(DEPTH, &asked.text, answer.text)?;
                if !answer.refused && !answer.text.trim().is_empty() {
                    findings.push(Finding { question: asked.text, answer });
                }
            }
            Err(error @ (SolveError::Cancelled | SolveError::Store(_))) => return Err(error),
            Err(error) => {
                let error = error_chain(&error);
                tracing::warn!(error, "a question of an agent got no answer; it goes on without");
                let note = Note::NotAnswered { question: asked.text.clone() };
                run.push(Event::Noted { note: note.into() });
                run.resolved(DEPTH, &asked.text, String::new())?;
            }
        }
    }
    Ok(findings)
}

/// Whether the budget refuses a call. A repeated run, whose budget is another one, has no record of that call.
fn is_unpaid(error: &SolveError) -> bool {
    matches!(error.model(), Some(ModelError::OverBudget { .. } | ModelError::NotRecorded { .. }))
}

async fn questions(
    run: &mut Run,
    question: &Question,
    params: Params,
    agent: &Agent<'_>,
    material: &Material,
) -> Result<Vec<String>, SolveError> {
    let model = agent.asks.models.need(Role::Reason)?;
    let (name, about) = agent.shown();
    let number = params.agent_questions.to_string();
    let (context, tables) = (material.context(), material.shown_tables());
    let asked = quiet_headings(&question.text);
    let inputs = [
        ("name", name.as_str()),
        ("about", about.as_str()),
        ("number", number.as_str()),
        ("tables", tables.as_str()),
        ("context", context.as_str()),
        ("question", asked.as_str()),
    ];
    let sample = agent.sample(params);
    let reply = ask_sample::<Questions>(model, &ASK, &inputs, sample, &mut run.account).await;
    let reply = run.readable(Role::Reason, reply)?;
    let mut questions = reply.map(|reply| reply.0).unwrap_or_default();
    questions.retain(|one| one.trim() != question.text.trim());
    questions.truncate(params.agent_questions);
    Ok(questions)
}

/// The questions, each once.
struct Questions(Vec<String>);

impl Reply for Questions {
    fn schema() -> Option<Schema> {
        let one = json!({"type": "string", "maxLength": 300});
        Some(shape(
            "questions",
            json!({"questions": {"type": "array", "items": one, "maxItems": 4}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["questions"])?;
        let mut all: Vec<String> = Vec::new();
        for one in texts(&object, "questions")? {
            let one = one_line(&one);
            // Dots are the form that the prompt shows.
            if one.chars().any(char::is_alphanumeric) && !all.contains(&one) {
                all.push(one);
            }
        }
        Ok(Self(all))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_agent_questions: Questions }
