//! Answers a question along the sufficient paths of a graph of possible reasoning steps (`crp-rag`: CRP-RAG
//! §3; ablations and structures §5).

mod construct;
mod gate;
mod graph;
mod knowledge;
mod paths;

use std::collections::BTreeSet;

use futures::future::join_all;
use pikerag_knowledge::{Answer, Chunk, Context, Criterion, Event, Note, Question, Role};
use pikerag_narrate::{InWords, Language, Sentence};
use pikerag_prompt::{numbered, quiet_headings};
use pikerag_reason::Reading;
use serde_json::{Value, json};
use tracing::instrument;

use self::gate::{EVALUATE, says_nothing, threshold};
use self::graph::Graph;
use self::paths::{Steps, merged};
use crate::certainty::{ask_surely, need_certainty};
use crate::conclude::{conclude, conclude_read, refuse};
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use crate::spec::{
    Cost, MethodParams, MethodSpec, Parameter, Range, Variant, WithoutModel, field, read,
};

/// "Without sampling, with a temperature of 0.1" (§4.3).
const TEMPERATURE: f32 = 0.1;

/// Steps that a refusal names, at most.
const MISSING: usize = 5;

/// What guides the reasoning (§5.4, Table 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// The paper's: steps branch, and similar ones are merged.
    Graph,
    /// Steps branch and are never merged.
    Tree,
    /// Several chains side by side: steps branch at the question alone.
    Chain,
    /// No steps: the question, rewritten.
    TextChunk,
}

/// The percentage of nodes that noise replaces, to test how robust the method is (§5.2, Fig. 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// All nodes stay as they are.
    Off,
    /// These nodes are replaced by steps of another task.
    Nodes(u8),
    /// The knowledge of these nodes is replaced by text of another task.
    Knowledge(u8),
}

/// The parameters of §3 and the ablations of §5. The paper gives no value for the thresholds and no
/// bound for the graph: those are ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// What guides the reasoning.
    pub structure: Structure,
    /// Next steps that are sampled for each sink.
    pub samples: u32,
    /// Rounds after which the graph is final.
    pub rounds: usize,
    /// Nodes beyond which no round begins.
    pub nodes: usize,
    /// The least similarity of nodes that are merged (eq. 6), from 0 to 1.
    pub merge: f32,
    /// Passages retrieved for each node (§4.3).
    pub k: usize,
    /// The perplexity below which knowledge suffices (eq. 10), from 1; `None`: calibrated on the model.
    pub perplexity: Option<f64>,
    /// Paths that are followed, at most, shortest first.
    pub paths: usize,
    /// Knowledge is summarized (eq. 8); off in "w/o Knowledge Integration".
    pub aggregates: bool,
    /// Knowledge is evaluated (eq. 9, 10); off in "w/o Knowledge Evaluation", where the shortest and
    /// the longest path take the place of the sufficient ones.
    pub evaluates: bool,
    /// Reasoning goes step by step (eq. 11, 12); off in "w/o Iterative Reasoning".
    pub iterates: bool,
    /// The noise that is added on purpose, and how much of it; off by default.
    pub noise: Noise,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            structure: Structure::Graph,
            samples: 3,
            rounds: 4,
            nodes: 24,
            merge: 0.85,
            k: 5,
            perplexity: None,
            paths: 6,
            aggregates: true,
            evaluates: true,
            iterates: true,
            noise: Noise::Off,
        }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[
            Variant::new(
                "crp-rag",
                "a graph of possible steps; answers along the paths whose knowledge suffices, else refuses",
                "CRP-RAG §3",
                |_| {},
            ),
            Variant::new(
                "crp-rag-no-aggregation",
                "an ablation: without knowledge integration",
                "CRP-RAG Table 2",
                |params| params.aggregates = false,
            ),
            Variant::new(
                "crp-rag-no-evaluation",
                "an ablation: without knowledge evaluation",
                "CRP-RAG Table 2",
                |params| params.evaluates = false,
            ),
            Variant::new(
                "crp-rag-no-iteration",
                "an ablation: without iterative reasoning",
                "CRP-RAG Table 2",
                |params| params.iterates = false,
            ),
            Variant::new(
                "crp-rag-tree",
                "a tree in place of the graph",
                "CRP-RAG Table 5",
                |params| params.structure = Structure::Tree,
            ),
            Variant::new(
                "crp-rag-chain",
                "chains in place of the graph",
                "CRP-RAG Table 5",
                |params| params.structure = Structure::Chain,
            ),
            Variant::new(
                "crp-rag-text",
                "the rewritten question in place of the graph",
                "CRP-RAG Table 5",
                |params| params.structure = Structure::TextChunk,
            ),
        ],
        parameters: &[
            field!(k, "passages retrieved for each node (k)", Range::COUNT),
            field!(
                perplexity,
                "the perplexity below which knowledge suffices; if not set, calibrated on the model",
                Range::Number((1.0, f64::INFINITY))
            ),
            field!(
                merge,
                "the least similarity of steps that are merged",
                Range::Number((0.0, 1.0))
            ),
            Parameter {
                name: "noisy_nodes",
                meaning: "percentage of the nodes that noise replaces (Figure 3)",
                range: Range::Whole((0, 50)),
                get: |params| match params.noise {
                    Noise::Nodes(percent) => json!(percent),
                    Noise::Off | Noise::Knowledge(_) => Value::Null,
                },
                set: |params, value| {
                    params.noise = Noise::Nodes(read(value)?);
                    Some(())
                },
            },
            Parameter {
                name: "noisy_knowledge",
                meaning: "percentage of the nodes whose knowledge noise replaces (Figure 3)",
                range: Range::Whole((0, 50)),
                get: |params| match params.noise {
                    Noise::Knowledge(percent) => json!(percent),
                    Noise::Off | Noise::Nodes(_) => Value::Null,
                },
                set: |params, value| {
                    params.noise = Noise::Knowledge(read(value)?);
                    Some(())
                },
            },
        ],
        roles: &[Role::Reason, Role::Rewrite, Role::Summarize, Role::Grade, Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: 18.0,
            // Eight of them calibrate the gate, once for a base.
            most_calls: 556,
            chunks: params.k as f64 * 0.4,
            most_chunks: 24 * params.k as u64,
            most_chunk_tokens: None,
            rounds: 5,
            fixed: 450,
            reply: 130,
            basis: "four rounds of three samples, 24 nodes at most; per node merge, aggregate, evaluate (graded at most once); six paths of four steps",
        },
    };
}

/// The knowledge of a node.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    /// `k_i`: the summary, or the passages themselves, in a form for prompts.
    text: String,
    /// `d_i`: the passages themselves.
    chunks: Vec<Chunk>,
}

/// Answers `question` along the sufficient paths of a reasoning graph, or refuses and says what is
/// missing.
///
/// # Errors
/// See [`SolveError`]; [`SolveError::NoScorer`] where knowledge is evaluated and nothing measures how sure
/// the model is.
#[instrument(name = "crp_rag", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    ports.models.need(Role::Reason)?;
    if params.evaluates {
        need_certainty(ports)?;
    }
    let graph = construct::construct(ports, run, question, params).await?; // eq. 1
    let knowledge = knowledge::retrieve_and_aggregate(ports, run, question, &graph, params).await?; // eq. 2
    let (sufficient, paths) = match params.evaluates {
        true => {
            let sufficient = evaluate(ports, run, &graph, &knowledge, params).await?;
            let paths = graph.paths(&sufficient);
            (sufficient, paths)
        }
        false => (BTreeSet::new(), graph.shortest_and_longest()),
    };
    if paths.is_empty() {
        let missing = missing(question, &graph, &sufficient);
        return refuse(ports, Context::default(), missing, run).await;
    }
    if params.paths < paths.len() {
        let note = Note::PathsLimited { followed: params.paths, paths: paths.len() };
        run.push(Event::Noted { note: note.into() });
    }
    let mut context = Context::default();
    let reasoned = paths.iter().take(params.paths).map(|path| {
        let steps = Steps { ports, question, graph: &graph, knowledge: &knowledge, path };
        let mut part = run.part();
        async move {
            let answer = match params.iterates {
                true => steps.one_by_one(&mut part).await,
                false => steps.at_once(&mut part).await,
            };
            (path, answer, part)
        }
    });
    let reasoned: Vec<_> = reasoned.collect();
    let mut answers: Vec<Reading> = Vec::new();
    for (path, answer, part) in join_all(reasoned).await {
        run.absorb(part);
        for node in path {
            for chunk in
                knowledge.get(*node).map(|known| known.chunks.as_slice()).unwrap_or_default()
            {
                context.add(*node + 1, chunk.clone());
            }
        }
        let Some(answer) = answer? else { continue };
        run.push(Event::Path { nodes: path.clone(), answer: answer.answer.clone() });
        answers.push(answer);
    }
    let Some(answer) = merged(ports, run, question, answers).await? else {
        // No path gave a readable answer: one call reads the passages of all paths.
        return conclude(ports, question, context, run).await;
    };
    conclude_read(ports, context, answer, run).await
}

/// Eq. 9 and 10: the nodes whose knowledge the model reasons from with low perplexity.
async fn evaluate(
    ports: &Ports,
    run: &mut Run,
    graph: &Graph,
    knowledge: &[Knowledge],
    params: Params,
) -> Result<BTreeSet<usize>, SolveError> {
    let threshold = threshold(ports, run, params.perplexity).await?;
    let reasoned = knowledge.iter().enumerate().map(|(node, known)| {
        let mut part = run.part();
        async move {
            let step = quiet_headings(graph.text(node));
            let inputs = [("step", step.as_str()), ("knowledge", known.text.as_str())];
            (ask_surely(ports, &mut part, &EVALUATE, &inputs).await, part)
        }
    });
    let reasoned: Vec<_> = reasoned.collect();
    let mut sufficient = BTreeSet::new();
    for (node, (sure, part)) in join_all(reasoned).await.into_iter().enumerate() {
        run.absorb(part);
        // An empty reply is no reasoning.
        let Some(sure) = sure? else { continue };
        let (score, by) = (sure.perplexity(), sure.by);
        let holds = score < threshold && !says_nothing(&sure.text);
        let of = graph.text(node).to_owned();
        let criterion = Criterion::Sufficient;
        run.push(Event::Judged { criterion, of, holds, score: Some(score), by });
        if holds {
            sufficient.insert(node);
        }
    }
    Ok(sufficient)
}

/// The text of a refusal, in the language of the question.
fn missing(question: &Question, graph: &Graph, sufficient: &BTreeSet<usize>) -> String {
    let insufficient = (0..graph.len()).filter(|node| !sufficient.contains(node));
    let steps = numbered(insufficient.map(|node| graph.text(node)).take(MISSING));
    Sentence::MissingKnowledge(&steps).in_words(Language::of(&question.text))
}
