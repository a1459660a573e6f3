//! Merges the ideas of all agents: a coordinator joins equal ideas, ranks them and keeps the objections.
//! Without its reply, which may be unreadable or beyond the budget, the judgements alone rank.

use std::collections::BTreeSet;
use std::fmt::Write;

use pikerag_knowledge::worked::IdeaScores;
use pikerag_knowledge::{Event, Note, Question, Role, Schema};
use pikerag_language::query_terms;
use pikerag_narrate::Language;
use pikerag_prompt::{
    Prompt, Reply, Unreadable, at_most, closed, object, one_line, quiet_headings, shape, text,
};
use pikerag_reason::how_to_answer_alone;
use serde_json::{Value as Json, json};

use super::agent::Thought;
use super::critique::{Judgement, scores_of};
use super::own_words;
use super::rounds::ranked;
use crate::ports::{Perspective, Ports, SolveError};
use crate::run::Run;

const PROMPT: Prompt = Prompt::new(Role::Reason, include_str!("../../prompts/coordinate.md"), 2048)
    .with_earlier("methods/coordinate", &[include_str!("../../prompts/earlier/coordinate.1.md")])
    .answering_after("why");
/// Ideas of an answer, at most.
const IDEAS: usize = 8;
/// The share of common terms from which on two ideas are one.
const ONE: f64 = 0.6;

/// Before the scores of an idea, in a prompt.
const JUDGED: &str = " [judged";

/// A model's words without the scores that it was shown.
fn unjudged(reply: &str) -> String {
    let mut parts = reply.split(JUDGED);
    let mut words = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        words.push_str(part.split_once(']').map_or("", |(_, rest)| rest));
    }
    words
}

/// The coordinator's result.
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
    /// The means of all judgements on them.
    pub(super) scores: Option<IdeaScores>,
}

/// Merges the thoughts. Ideas that the coordinator leaves out come after those that it ranks.
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
    let reply = match asked(ports, run, question, perspectives, thoughts, judged).await {
        Ok(reply) => reply,
        Err(SolveError::Cancelled) => return Err(SolveError::Cancelled),
        Err(error) => {
            let note = Note::CoordinatorFailed { error: error.to_string() };
            run.push(Event::Noted { note: note.into() });
            None
        }
    };
    let Some(reply) = reply else { return Ok(plainly(question, ranked)) };
    let mut ideas: Vec<MergedIdea> = Vec::new();
    let mut used: BTreeSet<usize> = BTreeSet::new();
    for idea in reply.ideas {
        let from: Vec<usize> = idea
            .from
            .iter()
            .filter_map(|number| number.checked_sub(1))
            .filter(|at| *at < thoughts.len() && used.insert(*at))
            .collect();
        if from.is_empty() {
            continue;
        }
        let (dissent, scores) = (dissent(perspectives, judged, &from), scores_of(judged, &from));
        // Where the coordinator has no words of its own, those of the first thought are used.
        let first = from.first().and_then(|at| thoughts.get(*at));
        let own = |words: String, of: fn(&Thought) -> &String| match words.is_empty() {
            true => first.map(of).cloned().unwrap_or_default(),
            false => words,
        };
        let (title, text) = (own(idea.title, |of| &of.title), own(idea.text, |of| &of.text));
        ideas.push(MergedIdea { title, text, from, dissent, scores });
    }
    // Ideas that were not ranked come last.
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
    Ok(Merged { answer: reply.answer, why: reply.why, ideas })
}

async fn asked(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    perspectives: &[Perspective],
    thoughts: &[Thought],
    judged: &[Judgement],
) -> Result<Option<MergeReply>, SolveError> {
    let (mut lines, mut objected) = (Vec::new(), Vec::new());
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
        let own: Vec<IdeaScores> =
            judged.iter().filter(|one| one.thought == at).map(|one| one.scores).collect();
        if !own.is_empty() {
            let each = |of: fn(&IdeaScores) -> f64| {
                own.iter().map(|scores| of(scores).to_string()).collect::<Vec<_>>().join(", ")
            };
            let (fit, feasibility, novelty) =
                (each(|one| one.fit), each(|one| one.feasibility), each(|one| one.novelty));
            let _ =
                write!(line, "{JUDGED} fit {fit}; feasibility {feasibility}; novelty {novelty}]");
        }
        objected.push(line.clone());
        let against =
            judged.iter().filter(|one| one.thought == at && !one.against.trim().is_empty());
        objected.extend(against.map(|one| format!("   - against it: {}", one_line(&one.against))));
        lines.push(line);
    }
    let (ideas, asked) = (quiet_headings(&lines.join("\n")), quiet_headings(&question.text));
    let (objected, form) = (quiet_headings(&objected.join("\n")), how_to_answer_alone(question));
    let inputs = [
        ("form", form.as_ref()),
        // Earlier texts of the prompt take the ideas without the objections.
        ("ideas", ideas.as_str()),
        ("objected", objected.as_str()),
        ("question", asked.as_str()),
    ];
    run.ask::<MergeReply>(ports, &PROMPT, &inputs).await
}

/// The objections to an idea, each with its perspective.
fn dissent(perspectives: &[Perspective], judged: &[Judgement], from: &[usize]) -> Vec<String> {
    let against =
        judged.iter().filter(|one| from.contains(&one.thought) && !one.against.trim().is_empty());
    let mut all: Vec<String> = Vec::new();
    for one in against {
        let name =
            perspectives.get(one.perspective).map_or("", |perspective| perspective.name.as_str());
        let objection = format!("{name}: {}", one_line(&one.against));
        if !all.contains(&objection) {
            all.push(objection);
        }
    }
    all
}

/// Ideas by their judgements alone; thoughts that share most of their terms are one idea.
fn by_judgements(
    perspectives: &[Perspective],
    thoughts: &[Thought],
    judged: &[Judgement],
) -> Vec<MergedIdea> {
    let terms: Vec<BTreeSet<String>> = thoughts
        .iter()
        .map(|thought| {
            query_terms(&format!("{} {}", thought.title, thought.text)).into_iter().collect()
        })
        .collect();
    let mut ideas: Vec<MergedIdea> = Vec::new();
    for at in ranked(thoughts.len(), judged) {
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
                ..MergedIdea::default()
            }),
        }
    }
    for idea in &mut ideas {
        idea.dissent = dissent(perspectives, judged, &idea.from);
        idea.scores = scores_of(judged, &idea.from);
    }
    ideas.truncate(IDEAS);
    ideas
}

fn plainly(question: &Question, ideas: Vec<MergedIdea>) -> Merged {
    let separator = Language::of(question.query()).separator();
    let titles: Vec<&str> = ideas.iter().map(|idea| idea.title.as_str()).collect();
    Merged { answer: titles.join(separator), why: String::new(), ideas }
}

struct MergeReply {
    answer: String,
    why: String,
    ideas: Vec<ReplyIdea>,
}

struct ReplyIdea {
    title: String,
    text: String,
    from: Vec<usize>,
}

impl Reply for MergeReply {
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
            let text_of =
                own_words(one, "idea").or_else(|| own_words(one, "text")).unwrap_or_default();
            let text_of = unjudged(&text_of);
            let from = one.get("from").and_then(Json::as_array).cloned().unwrap_or_default();
            let from = from.iter().filter_map(|at| usize::try_from(at.as_u64()?).ok());
            let from = from.collect();
            Some(ReplyIdea {
                title: own_words(one, "title").unwrap_or_default(),
                text: text_of,
                from,
            })
        };
        Ok(Self {
            answer: unjudged(&text(&object, "answer")?),
            why: own_words(&object, "why").unwrap_or_default(),
            ideas: list.iter().filter_map(idea).collect(),
        })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_coordinated: MergeReply }
