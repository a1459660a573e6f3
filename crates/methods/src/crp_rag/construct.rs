//! Builds the graph of reasoning steps round by round: every open sink gets sampled next steps, and similar
//! ones become one (CRP-RAG §3.2).

use std::collections::BTreeSet;

use pikerag_knowledge::{Event, Note, Question, Role, Schema, Seeded, Vector};
use pikerag_language::content_words;
use pikerag_prompt::{
    Prompt, Prose, Reply, Unreadable, numbered, object, one_line, quiet_headings, shape, text,
};
use serde_json::{Value, json};

use super::graph::Graph;
use super::{Noise, Params, Structure};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// "We refrain from using greedy decoding" (§3.2); the value is ours.
const SAMPLING: f32 = 0.7;

const STEP: Prompt = Prompt::new(Role::Reason, include_str!("../prompts/crp_step.md"), 1024)
    .with_earlier("methods/crp_step", &[include_str!("../prompts/earlier/crp_step.1.md")])
    .at(SAMPLING);
const MERGE: Prompt = Prompt::new(Role::Summarize, include_str!("../prompts/crp_merge.md"), 1024)
    .with_earlier("methods/crp_merge", &[include_str!("../prompts/earlier/crp_merge.1.md")])
    .at(super::TEMPERATURE);
const REWRITE: Prompt = Prompt::new(Role::Rewrite, include_str!("../prompts/crp_rewrite.md"), 1024)
    .with_earlier("methods/crp_rewrite", &[include_str!("../prompts/earlier/crp_rewrite.1.md")])
    .at(super::TEMPERATURE);
const INTERFERE: Prompt =
    Prompt::new(Role::Reason, include_str!("../prompts/crp_interfere.md"), 1024).at(SAMPLING);

/// `G = GC(q)`, eq. 1. Where no step is proposed, the question is the only step.
pub(super) async fn construct(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Graph, SolveError> {
    let mut graph = Graph::default();
    if params.structure == Structure::TextChunk {
        // Steps are looked up: an instruction on how to answer has no place in them.
        let asked = quiet_headings(question.query());
        let rewritten = run.ask::<Prose>(ports, &REWRITE, &[("question", asked.as_str())]).await?;
        let text = rewritten
            .map_or_else(|| question.query().to_owned(), |rewritten| one_line(&rewritten.0));
        graph.add(text, BTreeSet::new(), true);
    } else {
        grow(ports, run, question, params, &mut graph).await?;
        if graph.len() == 0 {
            graph.add(question.query().to_owned(), BTreeSet::new(), true);
        }
    }
    if let Noise::Nodes(percent) = params.noise {
        let noisy_nodes = noisy_nodes(&graph, percent, seed_of(question));
        for (node, text) in
            noisy_nodes.iter().zip(interference(ports, run, noisy_nodes.len()).await?)
        {
            graph.replace(*node, text);
        }
    }
    Ok(graph)
}

async fn grow(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    graph: &mut Graph,
) -> Result<(), SolveError> {
    for round in 0..params.rounds {
        let sinks: Vec<Option<usize>> = match round {
            0 => vec![None],
            _ => graph.open_sinks().into_iter().map(Some).collect(),
        };
        if sinks.is_empty() {
            return Ok(()); // Every sink is a final step.
        }
        let new = next_steps(ports, run, question, params, round, graph, &sinks).await?;
        let new = match params.structure {
            Structure::Graph => merge(ports, run, question, params, new).await?,
            _ => new,
        };
        let most = params.nodes.saturating_sub(graph.len());
        let left_out = new.len().saturating_sub(most);
        for step in new.into_iter().take(most) {
            let after: Vec<usize> = step.after.iter().copied().collect();
            let node = graph.add(step.text.clone(), step.after, step.is_final);
            run.push(Event::Node { node, after, text: step.text });
        }
        if params.nodes <= graph.len() {
            let note = Note::GraphFull { steps: graph.len(), left_out };
            run.push(Event::Noted { note: note.into() });
            return Ok(());
        }
    }
    Ok(())
}

/// A step that has no number yet.
struct New {
    text: String,
    after: BTreeSet<usize>,
    is_final: bool,
}

/// `V_new`, eq. 4: the next steps of all sinks. A sink after which nothing can follow is final.
async fn next_steps(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    round: usize,
    graph: &mut Graph,
    sinks: &[Option<usize>],
) -> Result<Vec<New>, SolveError> {
    let asked = quiet_headings(&question.text);
    let mut conditions = Vec::with_capacity(sinks.len());
    let mut taken: Vec<Vec<usize>> = Vec::with_capacity(sinks.len());
    for sink in sinks {
        taken.push(sink.map(|sink| graph.leading_to(sink)).unwrap_or_default());
    }
    for known in &taken {
        conditions.push(match known.is_empty() {
            true => "(none yet)".to_owned(),
            false => numbered(known.iter().map(|node| graph.text(*node))),
        });
    }
    // Chains branch at the question alone.
    let samples =
        if params.structure == Structure::Chain && 0 < round { 1 } else { params.samples };
    let mut inputs = Vec::new();
    for known in &conditions {
        for sample in 0..samples {
            inputs
                .push((vec![("question", asked.as_str()), ("conditions", known.as_str())], sample));
        }
    }
    let mut replies = run.ask_each::<Step>(ports, &STEP, &inputs).await?.into_iter();
    let mut new: Vec<New> = Vec::new();
    for (sink, taken) in sinks.iter().zip(&taken) {
        let mut followed = false;
        for _ in 0..samples {
            let Some(Step { text: Some(text), is_final }) = replies.next().flatten() else {
                continue;
            };
            // A step of the same path is skipped: reasoning is not circular (§3.1).
            if taken.iter().any(|node| graph.text(*node) == text) {
                continue;
            }
            followed = true;
            let after: BTreeSet<usize> = sink.iter().copied().collect();
            // Steps in the same words become one without a call.
            match new.iter_mut().find(|other| other.text == text && other.after == after) {
                Some(other) => other.is_final |= is_final,
                None => new.push(New { text, after, is_final }),
            }
        }
        if let (Some(sink), false) = (sink, followed) {
            graph.finish(*sink);
        }
    }
    Ok(new)
}

/// Eq. 5 and 6: similar steps become one that follows the predecessors of each.
async fn merge(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    new: Vec<New>,
) -> Result<Vec<New>, SolveError> {
    let mut kept: Vec<(New, Code)> = Vec::new();
    for step in new {
        let code = encode(ports, &step.text).await?;
        let alike = kept.iter_mut().find(|(_, other)| params.merge < other.similarity(&code));
        let Some((other, other_code)) = alike else {
            kept.push((step, code));
            continue;
        };
        if other.text != step.text {
            let steps = numbered([other.text.as_str(), step.text.as_str()]);
            let asked = quiet_headings(&question.text);
            let inputs = [("question", asked.as_str()), ("steps", steps.as_str())];
            let both = vec![other.text.clone(), step.text.clone()];
            // Where the reply stays empty, the first step replaces both.
            if let Some(Prose(merged)) = run.ask(ports, &MERGE, &inputs).await? {
                other.text = one_line(&merged);
                *other_code = encode(ports, &other.text).await?;
            }
            run.push(Event::Merged { steps: both, into: other.text.clone() });
        }
        other.after.extend(step.after);
        other.is_final |= step.is_final;
    }
    Ok(kept.into_iter().map(|(step, _)| step).collect())
}

/// `enc(v)`: a vector, or, without an embedder, the words.
enum Code {
    Vector(Vector),
    Words(BTreeSet<String>),
}

impl Code {
    /// From 0 to 1: the inner product of unit vectors, or the share of words in common.
    fn similarity(&self, other: &Self) -> f32 {
        match (self, other) {
            (Self::Vector(one), Self::Vector(other)) => {
                one.iter().zip(other).map(|(a, b)| a * b).sum()
            }
            (Self::Words(one), Self::Words(other)) => {
                let all = one.union(other).count();
                if all == 0 { 1.0 } else { one.intersection(other).count() as f32 / all as f32 }
            }
            _ => 0.0,
        }
    }
}

async fn encode(ports: &Ports, text: &str) -> Result<Code, SolveError> {
    let Some(embedder) = &ports.embedder else {
        return Ok(Code::Words(content_words(text).into_iter().collect()));
    };
    let vectors = embedder
        .embed_queries(&[text.to_owned()])
        .await
        .map_err(pikerag_retrieve::RetrieveError::Model)?;
    Ok(Code::Vector(vectors.into_iter().next().unwrap_or_default()))
}

/// Draws `percent` of the nodes for noise, at most 50, at random and without sources (§5.2); returns them in
/// order. The same seed draws the same nodes of equal graphs, and a smaller share is a part of a larger one.
pub(super) fn noisy_nodes(graph: &Graph, percent: u8, seed: u64) -> Vec<usize> {
    let wanted = (graph.len() * usize::from(percent.min(50))).div_ceil(100);
    let mut nodes: Vec<usize> = (0..graph.len()).filter(|node| !graph.is_source(*node)).collect();
    let mut seeded = Seeded::new(seed);
    for at in 0..wanted.min(nodes.len()) {
        let other = at + seeded.below(nodes.len() - at);
        nodes.swap(at, other);
    }
    nodes.truncate(wanted);
    nodes.sort_unstable();
    nodes
}

/// The seed of a question, so that its draw does not depend on other questions.
pub(super) fn seed_of(question: &Question) -> u64 {
    // FNV-1a: the same on every machine.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    question.text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Text of another task, `count` times.
pub(super) async fn interference(
    ports: &Ports,
    run: &mut Run,
    count: usize,
) -> Result<Vec<String>, SolveError> {
    let inputs: Vec<_> =
        (0..count).map(|sample| (Vec::new(), u32::try_from(sample).unwrap_or(u32::MAX))).collect();
    let replies = run.ask_each::<Prose>(ports, &INTERFERE, &inputs).await?;
    Ok(replies
        .into_iter()
        .map(|reply| reply.map(|reply| one_line(&reply.0)).unwrap_or_default())
        .collect())
}

/// A next step; without text where nothing must follow.
struct Step {
    text: Option<String>,
    is_final: bool,
}

impl Reply for Step {
    fn schema() -> Option<Schema> {
        Some(shape(
            "next_step",
            json!({
                "next_rationale": {"type": ["string", "null"]},
                "final": {"type": "boolean"}
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["next_rationale"])?;
        let step = match object.get("next_rationale") {
            Some(Value::Null) => None,
            _ => Some(one_line(&text(&object, "next_rationale")?)).filter(|step| !step.is_empty()),
        };
        Ok(Self { text: step, is_final: object.get("final") == Some(&Value::Bool(true)) })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_step: Step }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_steps_in_many_shapes() {
        let read = |reply| Step::read(reply).map(|step| (step.text, step.is_final));
        let step = Some("Who?".to_owned());
        assert_eq!(read(r#"{"next_rationale": "Who?", "final": true}"#), Ok((step.clone(), true)));
        assert_eq!(read(r#"{"next_rationale": "Who?"}"#), Ok((step, false)));
        assert_eq!(read(r#"{"next_rationale": null, "final": false}"#), Ok((None, false)));
        assert!(read(r#"{"final": true}"#).is_err());
    }

    #[test]
    fn sources_get_no_noise() {
        let mut graph = Graph::default();
        let source = graph.add(String::new(), BTreeSet::new(), false);
        for _ in 0..3 {
            graph.add(String::new(), BTreeSet::from([source]), true);
        }
        assert_eq!(noisy_nodes(&graph, 0, 1), Vec::<usize>::new());
        for seed in 0..20 {
            let (few, more) = (noisy_nodes(&graph, 25, seed), noisy_nodes(&graph, 90, seed));
            assert_eq!((few.len(), more.len()), (1, 2));
            assert!(!more.contains(&source) && more.contains(&few[0]));
        }
        let drawn: BTreeSet<usize> =
            (0..20).flat_map(|seed| noisy_nodes(&graph, 25, seed)).collect();
        assert_eq!(drawn.len(), 3, "each of them is drawn by some seed");
    }
}
