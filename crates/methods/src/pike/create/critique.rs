//! Lets an agent judge the ideas of the others beside the evidence that they name.

use pikerag_knowledge::worked::IdeaScores;
use pikerag_knowledge::{ChunkId, Question, Role, Schema};
use pikerag_language::estimate_tokens;
use pikerag_prompt::{
    Prompt, Reply, Unreadable, ask_sample, closed, object, one_line, quiet_headings, quiet_words,
    shape, shown_text,
};
use serde_json::{Value as Json, json};

use super::agent::{Agent, Material, Thought};
use super::think::number;
use super::{Params, own_words};
use crate::ports::SolveError;
use crate::run::Run;

const JUDGE: Prompt = Prompt::new(Role::Grade, include_str!("../../prompts/critique.md"), 900)
    .with_earlier("methods/critique", &[include_str!("../../prompts/earlier/critique.1.md")]);

/// An agent's judgement on another agent's idea.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    /// The idea, by its place.
    pub(super) thought: usize,
    pub(super) scores: IdeaScores,
    /// The objection to it; may be empty.
    pub(super) against: String,
    /// The perspective of the judging agent, by its place.
    pub(super) perspective: usize,
}

/// The means of all judgements on these ideas.
pub(super) fn scores_of(judged: &[Judgement], thoughts: &[usize]) -> Option<IdeaScores> {
    let own = judged.iter().filter(|one| thoughts.contains(&one.thought));
    IdeaScores::mean(&own.map(|one| one.scores).collect::<Vec<_>>())
}

/// The ideas that an agent judges, as its prompt shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    ideas: String,
    evidence: String,
    /// The places of the ideas.
    places: Vec<usize>,
}

impl View {
    /// The others' ideas with the passages and findings that they name, of `agent_tokens` at most. Each idea's first
    /// evidence comes before the second one of another idea.
    pub(super) fn of(
        agent: &Agent<'_>,
        params: Params,
        materials: &[Material],
        thoughts: &[Thought],
    ) -> Self {
        let others =
            thoughts.iter().enumerate().filter(|(_, thought)| thought.perspective != agent.at);
        let (places, others): (Vec<usize>, Vec<&Thought>) = others.unzip();
        let named: Vec<Vec<Source>> =
            others.iter().map(|thought| sources(thought, materials)).collect();
        let (evidence, numbers) = within(&named, params.agent_tokens.get().into());
        let mut lines = Vec::new();
        for (at, ((thought, named), numbers)) in others.iter().zip(&named).zip(&numbers).enumerate()
        {
            let (title, text) = (one_line(&thought.title), one_line(&thought.text));
            let rests_on: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let evidence = match (named.is_empty(), rests_on.is_empty()) {
                (true, _) => " [names no evidence]".to_owned(),
                (false, true) => String::new(),
                (false, false) => format!(" [rests on {}]", rests_on.join(", ")),
            };
            let defence = match thought.defence.as_str() {
                "" => String::new(),
                defence => format!(" [its author replies: {}]", one_line(defence)),
            };
            lines.push(format!("{}. {title}: {text}{evidence}{defence}", at + 1));
        }
        Self { ideas: quiet_headings(&lines.join("\n")), evidence, places }
    }
}

/// Evidence that an idea names.
struct Source {
    of: SourceOf,
    text: String,
    /// The quoted words alone, where the passage holds them.
    excerpt: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SourceOf {
    Passage(ChunkId),
    /// An agent's finding, by the places of both.
    Finding(usize, usize),
}

/// The findings and passages that an idea names.
fn sources(thought: &Thought, materials: &[Material]) -> Vec<Source> {
    let Some(material) = materials.get(thought.perspective) else { return Vec::new() };
    let findings = thought.findings.iter().filter_map(|at| {
        let of = SourceOf::Finding(thought.perspective, *at);
        let text = format!("Finding: {}", material.findings.get(*at)?.line());
        Some(Source { of, text, excerpt: None })
    });
    let passages = thought.evidence.iter().filter_map(|claim| {
        let chunk = material.passages.iter().find(|chunk| chunk.id == claim.chunk)?;
        let title = quiet_words(&one_line(&chunk.full_title()));
        let quote = one_line(&claim.quote);
        let is_held = one_line(&chunk.text).contains(&quote);
        let excerpt = is_held.then(|| format!("{title}\n… {} …", quiet_words(&quote)));
        let of = SourceOf::Passage(chunk.id);
        Some(Source { of, text: format!("{title}\n{}", shown_text(chunk)), excerpt })
    });
    findings.chain(passages).collect()
}

/// Numbered evidence of `limit` tokens at most, and the numbers for each idea. Where a passage is too long, the quoted
/// words stand for it.
fn within(named: &[Vec<Source>], limit: u64) -> (String, Vec<Vec<usize>>) {
    let (mut held, mut blocks): (Vec<SourceOf>, Vec<String>) = (Vec::new(), Vec::new());
    let mut numbers = vec![Vec::new(); named.len()];
    let mut left = limit;
    for nth in 0..named.iter().map(Vec::len).max().unwrap_or(0) {
        for (own, numbers) in named.iter().zip(&mut numbers) {
            let Some(source) = own.get(nth) else { continue };
            let known = held.iter().position(|of| *of == source.of);
            if known.is_none() {
                let forms = [Some(&source.text), source.excerpt.as_ref()];
                let mut forms = forms.into_iter().flatten();
                let Some(text) = forms.find(|text| estimate_tokens(text) <= left) else { continue };
                left = left.saturating_sub(estimate_tokens(text));
                held.push(source.of);
                blocks.push(format!("[{}] {text}", held.len()));
            }
            let number = known.map_or(held.len(), |at| at + 1);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
    }
    (blocks.join("\n\n"), numbers)
}

/// Judges the ideas of the others; none where there are none, or no model judges.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn judge(
    run: &mut Run,
    question: &Question,
    params: Params,
    agent: &Agent<'_>,
    view: &View,
) -> Result<Vec<Judgement>, SolveError> {
    let Some(model) = agent.judges.as_deref().filter(|_| !view.places.is_empty()) else {
        return Ok(Vec::new());
    };
    let (name, about) = agent.shown();
    let asked = quiet_headings(&question.text);
    let inputs = [
        ("name", name.as_str()),
        ("about", about.as_str()),
        ("ideas", view.ideas.as_str()),
        ("evidence", view.evidence.as_str()),
        ("question", asked.as_str()),
    ];
    let sample = agent.sample(params);
    let reply = ask_sample::<Critique>(model, &JUDGE, &inputs, sample, &mut run.account).await;
    let reply = run.readable(Role::Grade, reply)?;
    let mut judged: Vec<Judgement> = Vec::new();
    for (idea, scores, against) in reply.map(|reply| reply.0).unwrap_or_default() {
        let Some(thought) = idea.checked_sub(1).and_then(|at| view.places.get(at)) else {
            continue;
        };
        // An idea that is judged twice counts once.
        if !judged.iter().any(|one| one.thought == *thought) {
            judged.push(Judgement { thought: *thought, scores, against, perspective: agent.at });
        }
    }
    Ok(judged)
}

/// The number of an idea from 1, its scores, and an objection.
struct Critique(Vec<(usize, IdeaScores, String)>);

impl Reply for Critique {
    fn schema() -> Option<Schema> {
        let score = json!({"type": "integer", "minimum": 1, "maximum": 5});
        let one = closed(json!({
            "idea": {"type": "integer"},
            "fit": score,
            "feasibility": score,
            "novelty": score,
            "against": {"type": "string", "maxLength": 240}
        }));
        Some(shape(
            "critique",
            json!({"judgements": {"type": "array", "items": one, "maxItems": 48}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["judgements"])?;
        let list = object.get("judgements").and_then(Json::as_array).cloned().unwrap_or_default();
        let one = |one: &Json| {
            // A model that gives one score gives it to all; one that gives none is undecided.
            let overall = one.get("score").and_then(score).unwrap_or(3.0);
            let of = |key: &str| one.get(key).and_then(score).unwrap_or(overall);
            let scores = IdeaScores {
                fit: of("fit"),
                feasibility: of("feasibility"),
                novelty: of("novelty"),
            };
            Some((
                one.get("idea").and_then(number)?,
                scores,
                own_words(one, "against").unwrap_or_default(),
            ))
        };
        Ok(Self(list.iter().filter_map(one).collect()))
    }
}

/// A score from 1 to 5, also one that is written as words.
fn score(value: &Json) -> Option<f64> {
    let written = || value.as_str()?.trim().parse().ok();
    let score: f64 = value.as_f64().or_else(written)?;
    score.is_finite().then(|| score.clamp(1.0, 5.0))
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_critique: Critique }
