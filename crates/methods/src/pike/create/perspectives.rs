//! Chooses the perspectives on a creative question: configured ones, or those that a model chooses for it.

use pikerag_knowledge::{Event, Note, Question, Role, Schema};
use pikerag_prompt::{Prompt, Reply, Unreadable, at_most, closed, object, quiet_headings, shape};
use serde_json::{Value as Json, json};

use super::{Params, own_words};
use crate::ports::{Perspective, Ports, SolveError};
use crate::run::Run;

const PROMPT: Prompt =
    Prompt::new(Role::Reason, include_str!("../../prompts/perspectives.md"), 600).with_earlier(
        "methods/perspectives",
        &[include_str!("../../prompts/earlier/perspectives.1.md")],
    );
/// General perspectives, for the agents to which a model's reply gives none.
const USUAL: [(&str, &str); 8] = [
    ("people who do the work", "what they need, what hinders them, what they would do otherwise"),
    ("cost and time", "what it costs, what it saves, how long it takes"),
    ("risk and safety", "what can go wrong, how it is noticed and prevented"),
    ("technology", "which means there are, and what they can do"),
    ("customers", "what they notice of it, and what they would like better"),
    ("rules and contracts", "what is allowed, owed and promised"),
    ("suppliers and partners", "who else has a hand in it"),
    ("the long run", "what lasts, and what it leads to"),
];

/// Reads `name: what it considers`, as a model may write it.
fn read(line: &str) -> Perspective {
    let (name, about) = line.split_once([':', '：']).unwrap_or((line, ""));
    named(name.trim(), about.trim())
}

fn named(name: &str, about: &str) -> Perspective {
    Perspective { name: name.to_owned(), about: about.to_owned(), model: None }
}

/// As many perspectives as there are agents, fewer where fewer are configured. A model that chooses them sees what the
/// base offers.
///
/// # Errors
/// The call failed.
pub(super) async fn choose(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    offers: &str,
) -> Result<Vec<Perspective>, SolveError> {
    let count = params.agents.get();
    let mut chosen: Vec<Perspective> =
        ports.models.perspectives.iter().take(count).cloned().collect();
    if chosen.is_empty() {
        let (asked, number) = (quiet_headings(&question.text), count.to_string());
        let offers = quiet_headings(offers);
        let inputs = [
            ("number", number.as_str()),
            ("offers", offers.as_str()),
            ("question", asked.as_str()),
        ];
        let reply = run.ask::<PerspectivesReply>(ports, &PROMPT, &inputs).await?;
        chosen = reply.map(|reply| reply.0).unwrap_or_default();
        for (name, about) in USUAL {
            if chosen.len() < count {
                chosen.push(named(name, about));
            }
        }
        chosen.truncate(count);
    }
    let names = chosen.iter().map(|perspective| perspective.name.clone()).collect();
    run.push(Event::Noted { note: Note::Perspectives { names }.into() });
    Ok(chosen)
}

struct PerspectivesReply(Vec<Perspective>);

impl Reply for PerspectivesReply {
    fn schema() -> Option<Schema> {
        let one = closed(json!({"name": at_most(60), "about": at_most(200)}));
        Some(shape(
            "perspectives",
            json!({"perspectives": {"type": "array", "items": one, "maxItems": 16}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["perspectives"])?;
        let list = object.get("perspectives").and_then(Json::as_array).cloned().unwrap_or_default();
        let mut all: Vec<Perspective> = Vec::new();
        for one in &list {
            let read = match one.as_str() {
                Some(line) => read(line),
                None => named(
                    &own_words(one, "name").unwrap_or_default(),
                    &own_words(one, "about").unwrap_or_default(),
                ),
            };
            if !read.name.is_empty() && !all.iter().any(|held| held.name == read.name) {
                all.push(read);
            }
        }
        Ok(Self(all))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_perspectives: PerspectivesReply }
