//! Plans a chain of queries with its answers, and verifies, corrects or completes them node by node
//! through retrieval (`SearChain`: Xu et al., 2024; KAR³ §A.2).

use std::num::NonZeroUsize;

use pikerag_knowledge::{
    Answer, Context, Criterion, Event, Note, Question, Role, Schema, StopReason,
};
use pikerag_prompt::{
    Prompt, Reply, Unreadable, closed, object, passages, quiet_headings, shape, text,
};
use pikerag_reason::{combine, transcript};
use serde_json::{Value, json};
use tracing::instrument;

use pikerag_methods::conclude::{conclude, conclude_as, conclude_with};
use pikerag_methods::retrieval::{RetrievalParams, answer_step, look_up, sub_question};
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Range, Variant, WithoutModel, field};
use pikerag_methods::verdict::{bare, is_unknown, yes_or_no};
use pikerag_methods::{Ports, Run, SolveError};

const PLAN: Prompt = Prompt::new(Role::Decompose, include_str!("prompts/searchain.md"), 1024)
    .with_earlier("baselines/searchain", &[include_str!("prompts/earlier/searchain.1.md")]);
const CONSISTENT: Prompt =
    Prompt::new(Role::Relevant, include_str!("prompts/searchain_consistent.md"), 1024)
        .with_earlier(
            "baselines/searchain_consistent",
            &[include_str!("prompts/earlier/searchain_consistent.1.md")],
        );

/// The parameters of the loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// How often the chain may be planned again (N).
    pub n: NonZeroUsize,
    /// The retrieval of a node.
    pub retrieval: RetrievalParams,
    /// The most nodes of one chain; ours, against endless chains.
    pub nodes: NonZeroUsize,
}

impl Default for Params {
    /// N = 5 rounds (KAR³ §4.1), 4 chunks, score ≥ 0.2 (§A.3).
    fn default() -> Self {
        Self {
            n: const { NonZeroUsize::new(5).unwrap() },
            retrieval: RetrievalParams::step(),
            nodes: const { NonZeroUsize::new(8).unwrap() },
        }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "searchain",
            "a chain of queries, verified and completed by retrieval, planned again from the first that fails",
            "Xu et al. 2024; KAR³ §A.2",
            |_| {},
        )],
        parameters: &[field!(n, "how often the chain may be planned again (N)", Range::COUNT)],
        roles: &[Role::Decompose, Role::Relevant, Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: params.n.get() as f64 + 2.0,
            most_calls: (2 * params.nodes.get() as u64 + 1) * (params.n.get() as u64 + 1) + 2,
            chunks: params.retrieval.chunks as f64,
            most_chunks: (params.retrieval.chunks * params.nodes.get() * (params.n.get() + 1))
                as u64,
            most_chunk_tokens: None,
            rounds: params.n.get() as u64,
            fixed: 900,
            reply: 150,
            basis: "N + 1 plans of at most 8 nodes, each with an answer and a comparison (KAR³ §A.2)",
        },
    };
}

/// Answers `question` along a chain of queries that retrieval agrees with.
///
/// After a correction or a completion the planner writes the rest of the chain again: a branch in
/// the tree of reasoning. The planner sees the settled pairs and the passages of the last one; the
/// answer is combined from the pairs (KAR³ Table 5).
///
/// Differs from the paper: the reader has no confidence to compare with a threshold, so each answer
/// that it finds counts; a model compares answers that differ in their words; and a chain that
/// settles nothing is answered from plain retrieval.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "searchain", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let mut tree = Tree::default();
    for round in 1..=params.n.get() + 1 {
        let planned = plan(ports, question, &tree, run).await?;
        let Some(mut chain) = planned else {
            run.push(Event::Stopped { hop: round, reason: StopReason::Unreadable });
            break;
        };
        // Models repeat settled queries although the prompt forbids it.
        chain.retain(|node| !tree.holds(&node.query));
        chain.truncate(params.nodes.get());
        if chain.is_empty() {
            run.push(Event::Stopped { hop: round, reason: StopReason::NothingProposed });
            break;
        }
        let numbers = tree.branch(&chain, run);
        if settle(ports, run, &mut tree, round, &chain, &numbers, params).await? {
            break; // All nodes agree with the retrieved passages.
        }
        if round == params.n.get() + 1 {
            run.push(Event::Stopped { hop: round, reason: StopReason::HopLimit });
        }
    }
    finish(ports, question, tree, run, params).await
}

/// A query and the planner's answer; `None` if the planner knows none.
#[derive(Clone)]
struct Node {
    query: String,
    answer: Option<String>,
}

/// The tree of reasoning, and the settled path through it.
#[derive(Default)]
struct Tree {
    /// Nodes of all branches.
    size: usize,
    /// Numbers of the nodes along the settled path, in its order.
    path: Vec<usize>,
    /// Its queries and answers, without nodes that have no answer.
    pairs: Vec<(String, String)>,
    /// The passages of the last correction or completion.
    reference: Context,
    /// All chunks that were read.
    context: Context,
}

impl Tree {
    fn holds(&self, query: &str) -> bool {
        self.pairs.iter().any(|(settled, _)| bare(settled) == bare(query))
    }

    /// Appends a chain to the settled path; returns the numbers of its nodes.
    fn branch(&mut self, chain: &[Node], run: &mut Run) -> Vec<usize> {
        let mut tip = self.path.last().copied();
        let mut numbers = Vec::with_capacity(chain.len());
        for Node { query, answer } in chain {
            let text = format!("{query} -> {}", answer.as_deref().unwrap_or("?"));
            run.push(Event::Node { node: self.size, after: tip.into_iter().collect(), text });
            numbers.push(self.size);
            tip = Some(self.size);
            self.size += 1;
        }
        numbers
    }
}

/// The rest of the chain, as the planner now writes it.
async fn plan(
    ports: &Ports,
    question: &Question,
    tree: &Tree,
    run: &mut Run,
) -> Result<Option<Vec<Node>>, SolveError> {
    let asked = quiet_headings(&question.text);
    let settled = transcript(&tree.pairs);
    let context = passages(tree.reference.chunks.iter().map(|held| &held.chunk));
    let inputs = [
        ("settled", settled.as_str()),
        ("context", context.as_str()),
        ("question", asked.as_str()),
    ];
    Ok(run.ask::<Chain>(ports, &PLAN, &inputs).await?.map(|chain| chain.0))
}

/// Settles the nodes of a chain in order. Returns true at its end, and false if a node was
/// corrected or completed: the nodes after it no longer hold.
async fn settle(
    ports: &Ports,
    run: &mut Run,
    tree: &mut Tree,
    round: usize,
    chain: &[Node],
    numbers: &[usize],
    params: Params,
) -> Result<bool, SolveError> {
    for (node, number) in chain.iter().zip(numbers) {
        let query = run.asked(1, node.query.clone())?;
        let node = &Node { query, ..node.clone() };
        let mut read = Context::default();
        for chunk in look_up(ports, run, round, &node.query, params.retrieval).await? {
            tree.context.add(round, chunk.clone());
            read.add(round, chunk);
        }
        tree.path.push(*number);
        let found = retrieved_answer(ports, run, node, &read).await?;
        let answer = match (&node.answer, found) {
            (Some(own), Some(found)) if !agree(ports, run, &node.query, own, &found).await? => {
                tree.reference = read;
                resolve(run, tree, node, found)?; // Corrected.
                return Ok(false);
            }
            (None, Some(found)) => {
                tree.reference = read;
                resolve(run, tree, node, found)?; // Completed.
                return Ok(false);
            }
            (Some(own), found) => {
                if found.is_none() {
                    note(run, Note::NothingToVerify { query: node.query.clone() });
                }
                own.clone()
            }
            (None, None) => {
                note(run, Note::NothingToComplete { query: node.query.clone() });
                continue;
            }
        };
        resolve(run, tree, node, answer)?;
    }
    Ok(true)
}

fn resolve(run: &mut Run, tree: &mut Tree, node: &Node, answer: String) -> Result<(), SolveError> {
    let answer = run.resolved(1, &node.query, answer)?;
    tree.pairs.push((node.query.clone(), answer));
    Ok(())
}

fn note(run: &mut Run, note: Note) {
    run.push(Event::Noted { note: note.into() });
}

/// The answer from the chunks to a node's query; `None` without one.
async fn retrieved_answer(
    ports: &Ports,
    run: &mut Run,
    node: &Node,
    read: &Context,
) -> Result<Option<String>, SolveError> {
    if read.chunks.is_empty() {
        return Ok(None);
    }
    let reading = answer_step(ports, run, &sub_question(&node.query), read, "").await?;
    // Passages that do not answer the query correct nothing, even if the model guesses an answer.
    let complete = reading.filter(|reading| reading.missing.is_empty());
    Ok(complete.map(|reading| reading.answer).filter(|answer| !is_unknown(answer)))
}

/// Whether an answer from memory agrees with the retrieved one. If the words differ, a model
/// decides; if its verdict cannot be read, they disagree.
async fn agree(
    ports: &Ports,
    run: &mut Run,
    query: &str,
    own: &str,
    found: &str,
) -> Result<bool, SolveError> {
    if bare(own) == bare(found) {
        return Ok(true);
    }
    let [own, found, question] = [own, found, query].map(quiet_headings);
    let inputs =
        [("own", own.as_str()), ("found", found.as_str()), ("question", question.as_str())];
    let Some(Consistent(holds)) = run.ask(ports, &CONSISTENT, &inputs).await? else {
        return Ok(false);
    };
    run.judged(Criterion::Consistent, &format!("{own} = {found}"), holds)
}

/// The answer from the settled pairs.
async fn finish(
    ports: &Ports,
    question: &Question,
    mut tree: Tree,
    run: &mut Run,
    params: Params,
) -> Result<Answer, SolveError> {
    if tree.pairs.is_empty() {
        tree.context.extend(0, look_up(ports, run, 1, question.query(), params.retrieval).await?);
        return conclude(ports, question, tree.context, run).await;
    }
    let model = ports.models.need(Role::Answer)?;
    let combined = combine(model, question, &tree.pairs, &mut run.account).await;
    let notes = transcript(&tree.pairs);
    let Some(answer) = run.readable(Role::Answer, combined)? else {
        return conclude_with(ports, question, tree.context, &notes, run).await;
    };
    run.push(Event::Path { nodes: tree.path, answer: answer.clone() });
    conclude_as(ports, tree.context, answer, notes, run).await
}

struct Chain(Vec<Node>);

impl Reply for Chain {
    fn schema() -> Option<Schema> {
        let node =
            closed(json!({"query": {"type": "string"}, "answer": {"type": ["string", "null"]}}));
        Some(shape("chain", json!({"chain": {"type": "array", "items": node}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["chain"])?;
        let bad = || Unreadable::key("chain", "a list of objects with `query` and `answer`");
        let Some(Value::Array(items)) = object.get("chain") else { return Err(bad()) };
        let mut nodes = Vec::new();
        for item in items {
            let query = text(item, "query").or_else(|_| text(item, "question"));
            let query = query.ok().or_else(|| item.as_str().map(|query| query.trim().to_owned()));
            let Some(query) = query.filter(|query| !query.is_empty()) else { continue };
            let answer = text(item, "answer").ok().filter(|answer| !is_missing(answer));
            nodes.push(Node { query, answer });
        }
        if nodes.is_empty() && !items.is_empty() { Err(bad()) } else { Ok(Self(nodes)) }
    }
}

/// Whether the planner writes that it does not know, instead of the requested `null`.
fn is_missing(answer: &str) -> bool {
    is_unknown(answer) || matches!(answer.to_lowercase().as_str(), "null" | "none" | "n/a")
}

struct Consistent(bool);

impl Reply for Consistent {
    fn schema() -> Option<Schema> {
        Some(shape("consistent", json!({"consistent": {"type": "boolean"}})))
    }
    fn read(reply: &str) -> Result<Self, Unreadable> {
        yes_or_no(reply, "consistent").map(Self)
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_chain: Chain, reply_consistent: Consistent }

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> Option<Vec<(String, Option<String>)>> {
        let chain = Chain::read(reply).ok()?.0;
        Some(chain.into_iter().map(|node| (node.query, node.answer)).collect())
    }

    #[test]
    fn chains_are_read_in_many_forms() {
        let known = |query: &str, answer: &str| (query.to_owned(), Some(answer.to_owned()));
        let unknown = |query: &str| (query.to_owned(), None);
        assert_eq!(
            read(
                r#"{"chain": [{"query": "A?", "answer": 7}, {"query": "B?", "answer": null},
                    {"question": "C?"}, "D?", {"query": "E?", "answer": "N/A"}, {"x": 1}]}"#
            ),
            Some(vec![
                known("A?", "7"),
                unknown("B?"),
                unknown("C?"),
                unknown("D?"),
                unknown("E?")
            ])
        );
        assert_eq!(read(r#"{"chain": []}"#), Some(Vec::new()));
        assert_eq!(read(r#"{"chain": [{"x": 1}]}"#), None);
        assert_eq!(read(r#"{"chain": "A?"}"#), None);
        assert_eq!(read("A?"), None);
    }
}
