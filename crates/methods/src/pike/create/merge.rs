//! What do all agents together say? A coordinator puts the same ideas together, ranks them and keeps what speaks against
//! them; where its reply cannot be read, or there is no room for it, the judgements alone rank.

use std::collections::BTreeSet;
use std::fmt::Write;

use pikerag_knowledge::{Event, Note, Question, Role, Schema};
use pikerag_language::query_terms;
use pikerag_narrate::Language;
use pikerag_prompt::{
    Prompt, Reply, Unreadable, at_most, closed, object, one_line, quiet_headings, shape, text,
};
use pikerag_reason::how_to_answer_alone;
use serde_json::{Value as Json, json};

use super::agent::{Judgement, Thought};
use super::said;
use crate::ports::{Perspective, Ports, SolveError};
use crate::run::Run;

const PROMPT: Prompt = Prompt::new(Role::Reason, include_str!("../../prompts/coordinate.md"), 2048);
/// Ideas of an answer.
const IDEAS: usize = 8;
/// The share of terms that two ideas have in common where they are one.
const ONE: f64 = 0.6;

/// Before the scores of an idea, in a prompt.
const JUDGED: &str = " [judged";

/// A model's words without the scores that it was shown.
fn unjudged(said: &str) -> String {
    let mut parts = said.split(JUDGED);
    let mut words = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        words.push_str(part.split_once(']').map_or("", |(_, rest)| rest));
    }
    words
}

/// What the coordinator came to.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) answer: String,
    pub(super) why: String,
    pub(super) ideas: Vec<MergedIdea>,
}

/// One idea, of one agent or several.
#[derive(Debug, Default)]
pub(super) struct MergedIdea {
    pub(super) title: String,
    pub(super) text: String,
    /// The thoughts that it was made of, by their places.
    pub(super) from: Vec<usize>,
    pub(super) dissent: Vec<String>,
}

/// Puts the thoughts together. Ideas that the coordinator leaves out come behind those that it ranks.
///
/// # Errors
/// The run was cancelled.
pub(super) async fn merge(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    perspectives: &[Perspective],
    thoughts: &[Thought],
    judged: &[Judgement],
) -> Result<Merged, SolveError> {
    let ranked = by_judgements(perspectives, thoughts, judged);
    if thoughts.is_empty() {
        return Ok(Merged::default());
    }
    let said = match asked(ports, run, question, perspectives, thoughts, judged).await {
        Ok(said) => said,
        Err(SolveError::Cancelled) => return Err(SolveError::Cancelled),
        Err(error) => {
            let note = Note::CoordinatorFailed { error: error.to_string() };
            run.push(Event::Noted { note: note.into() });
            None
        }
    };
    let Some(said) = said else { return Ok(plainly(question, ranked)) };
    let mut ideas: Vec<MergedIdea> = Vec::new();
    let mut used: BTreeSet<usize> = BTreeSet::new();
    for idea in said.ideas {
        let from: Vec<usize> = idea
            .from
            .iter()
            .filter_map(|number| number.checked_sub(1))
            .filter(|at| *at < thoughts.len() && used.insert(*at))
            .collect();
        if from.is_empty() {
            continue;
        }
        let dissent = dissent(perspectives, judged, &from);
        // Where the coordinator has no words of its own, those of the first idea stand.
        let first = from.first().and_then(|at| thoughts.get(*at));
        let own = |said: String, of: fn(&Thought) -> &String| match said.is_empty() {
            true => first.map(of).cloned().unwrap_or_default(),
            false => said,
        };
        let (title, text) = (own(idea.title, |of| &of.title), own(idea.text, |of| &of.text));
        ideas.push(MergedIdea { title, text, from, dissent });
    }
    // Nothing is dropped: what was not ranked comes last.
    for idea in ranked {
        if idea.from.iter().all(|at| !used.contains(at)) {
            used.extend(&idea.from);
            ideas.push(idea);
        }
    }
    ideas.truncate(IDEAS);
    if ideas.is_empty() {
        return Ok(Merged::default());
    }
    Ok(Merged { answer: said.answer, why: said.why, ideas })
}

async fn asked(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    perspectives: &[Perspective],
    thoughts: &[Thought],
    judged: &[Judgement],
) -> Result<Option<Said>, SolveError> {
    let mut lines = Vec::new();
    for (at, thought) in thoughts.iter().enumerate() {
        let name = perspectives
            .get(thought.perspective)
            .map_or("", |perspective| perspective.name.as_str());
        let mut line = format!(
            "{}. ({}) {}: {}",
            at + 1,
            one_line(name),
            one_line(&thought.title),
            one_line(&thought.text)
        );
        let scores: Vec<String> = judged
            .iter()
            .filter(|one| one.thought == at)
            .map(|one| format!("{}", one.score))
            .collect();
        if !scores.is_empty() {
            let _ = write!(line, "{JUDGED} {}]", scores.join(", "));
        }
        lines.push(line);
    }
    let (ideas, asked) = (quiet_headings(&lines.join("\n")), quiet_headings(&question.text));
    let form = how_to_answer_alone(question);
    let inputs = [("form", form.as_ref()), ("ideas", ideas.as_str()), ("question", asked.as_str())];
    run.ask::<Said>(ports, &PROMPT, &inputs).await
}

/// What speaks against an idea, with who says so.
fn dissent(perspectives: &[Perspective], judged: &[Judgement], from: &[usize]) -> Vec<String> {
    let against =
        judged.iter().filter(|one| from.contains(&one.thought) && !one.against.trim().is_empty());
    let mut all: Vec<String> = Vec::new();
    for one in against {
        let name =
            perspectives.get(one.perspective).map_or("", |perspective| perspective.name.as_str());
        let told = format!("{name}: {}", one_line(&one.against));
        if !all.contains(&told) {
            all.push(told);
        }
    }
    all
}

/// Ideas by their mean score, those that share most of their terms as one; of equal ones the first.
fn by_judgements(
    perspectives: &[Perspective],
    thoughts: &[Thought],
    judged: &[Judgement],
) -> Vec<MergedIdea> {
    let score = |at: usize| {
        let own: Vec<f64> =
            judged.iter().filter(|one| one.thought == at).map(|one| one.score).collect();
        if own.is_empty() { 3.0 } else { own.iter().sum::<f64>() / own.len() as f64 }
    };
    let terms: Vec<BTreeSet<String>> = thoughts
        .iter()
        .map(|thought| {
            query_terms(&format!("{} {}", thought.title, thought.text)).into_iter().collect()
        })
        .collect();
    let mut order: Vec<usize> = (0..thoughts.len()).collect();
    order.sort_by(|a, b| score(*b).total_cmp(&score(*a)).then(a.cmp(b)));
    let mut ideas: Vec<MergedIdea> = Vec::new();
    for at in order {
        let Some(thought) = thoughts.get(at) else { continue };
        let alike = |idea: &&mut MergedIdea| {
            idea.from.iter().any(|held| {
                let (Some(a), Some(b)) = (terms.get(*held), terms.get(at)) else { return false };
                ONE <= 2.0 * a.intersection(b).count() as f64 / (a.len() + b.len()).max(1) as f64
            })
        };
        match ideas.iter_mut().find(alike) {
            Some(idea) => idea.from.push(at),
            None => ideas.push(MergedIdea {
                title: thought.title.clone(),
                text: thought.text.clone(),
                from: vec![at],
                dissent: Vec::new(),
            }),
        }
    }
    for idea in &mut ideas {
        idea.dissent = dissent(perspectives, judged, &idea.from);
    }
    ideas.truncate(IDEAS);
    ideas
}

fn plainly(question: &Question, ideas: Vec<MergedIdea>) -> Merged {
    let separator = Language::of(question.query()).separator();
    let titles: Vec<&str> = ideas.iter().map(|idea| idea.title.as_str()).collect();
    Merged { answer: titles.join(separator), why: String::new(), ideas }
}

struct Said {
    answer: String,
    why: String,
    ideas: Vec<SaidIdea>,
}

struct SaidIdea {
    title: String,
    text: String,
    from: Vec<usize>,
}

impl Reply for Said {
    fn schema() -> Option<Schema> {
        let idea = closed(json!({
            "title": at_most(100),
            "idea": at_most(800),
            "from": {"type": "array", "items": {"type": "integer"}, "maxItems": 16}
        }));
        Some(shape(
            "coordinated",
            json!({
                "ideas": {"type": "array", "items": idea, "maxItems": IDEAS},
                "why": at_most(600),
                "answer": {"type": "string"}
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["answer"])?;
        let list = object.get("ideas").and_then(Json::as_array).cloned().unwrap_or_default();
        let idea = |one: &Json| {
            let text_of = said(one, "idea").or_else(|| said(one, "text")).unwrap_or_default();
            let text_of = unjudged(&text_of);
            let from = one.get("from").and_then(Json::as_array).cloned().unwrap_or_default();
            let from = from.iter().filter_map(|at| usize::try_from(at.as_u64()?).ok());
            let from = from.collect();
            Some(SaidIdea { title: said(one, "title").unwrap_or_default(), text: text_of, from })
        };
        Ok(Self {
            answer: unjudged(&text(&object, "answer")?),
            why: said(&object, "why").unwrap_or_default(),
            ideas: list.iter().filter_map(idea).collect(),
        })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_coordinated: Said }
