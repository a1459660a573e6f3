//! Builds a tree of summaries above the chunks: clusters by meaning, a summary of each, clusters of these,
//! until one is left (RAPTOR §3). A summary is kept while its children stay the same.
//!
//! Differs from RAPTOR in its clusters (`crate::cluster`). Ten nodes or fewer make one cluster; RAPTOR would
//! leave them without a summary.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use crate::cluster::{self, clusters};
use async_trait::async_trait;
use futures::stream::{self, StreamExt};
use pikerag_knowledge::{
    Child, Chunk, ChunkId, Derived, Kept, KnowledgeWriter, ModelTexts, NodeId, Role, Stage as Mark,
    StoreError, Summary, SummaryId, Usage, Vector, VectorSet,
};
use pikerag_language::estimate_tokens;
use pikerag_prompt::{Prompt, quiet_headings};

use crate::bill::Bill;
use crate::call_batch::{Named, Place, finish};
use crate::embed::{Embedding, embed_set, note_stop};
use crate::outcome::Report;
use crate::pending::{PAGE, all_chunks};
use crate::stage::{Done, Job, New, Ran, Row, Stage, ask_prose};

/// The most levels above the chunks.
const LEVELS: u8 = 5;
/// The seed of the clusters, fixed so that equal documents give equal bases.
const SEED: u64 = 224;
/// The most characters of one child in a prompt. Only a chunk that is a cluster by itself has more.
const SHOWN: usize = 16_000;
/// Characters of each child that are used if the model gives no summary.
const BEGINNING: usize = 200;
/// Tokens of chunks per summary, estimated over all levels.
const SUMMARIZED: f64 = 1800.0;
const SUMMARY: Usage = Usage { prompt_tokens: 1900, completion_tokens: 200 };

const PROMPT: Prompt = Prompt::new(Role::Summarize, include_str!("prompts/summary.md"), 512);

/// The tree of summaries.
pub(crate) struct Tree;

/// A chunk or summary from which a summary may be made.
#[derive(Clone)]
struct Node {
    child: Child,
    text: String,
}

#[async_trait]
impl Stage for Tree {
    async fn run(&self, row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        let base = job.base();
        let embedding = Embedding::of(job).await?;
        let mut nodes = leaves(base).await?;
        let mut level = 1;
        while level <= LEVELS && 1 < nodes.len() {
            let (with_vector, groups) = grouped(base, level, nodes).await?;
            nodes = with_vector;
            if nodes.len() <= groups.len() {
                break; // No nodes belong together.
            }
            let summaries = planned(level, &nodes, &groups);
            let ids: Vec<SummaryId> = summaries.iter().map(|summary| summary.id).collect();
            base.keep_only(Kept::Summaries(level, &ids)).await?;
            write(row, job, &nodes, summaries, report).await?;
            if let Some(embedding) = &embedding
                && let Err(error) = embed_set(job, embedding, VectorSet::Summaries, report).await?
            {
                note_stop(&error, report);
                return Ok(ControlFlow::Break(()));
            }
            let made = base.summaries(&ids).await?;
            if made.len() < ids.len() {
                return Ok(ControlFlow::Break(())); // Calls failed: the next run continues from here.
            }
            let node = |made: Summary| Node { child: Child::Summary(made.id), text: made.text };
            nodes = made.into_iter().map(node).collect();
            level += 1;
        }
        for level in level..=LEVELS {
            base.keep_only(Kept::Summaries(level, &[])).await?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Counts the whole tree if it was never begun. The rest of a begun tree is unknown until it is built.
    async fn count_pending(&self, base: Option<&dyn KnowledgeWriter>, bill: &mut Bill) -> Done {
        let Some(base) = base else { return Ok(()) };
        if base.has(Derived::Summaries).await? {
            return Ok(());
        }
        for page in all_chunks(base, usize::MAX).await?.chunks(PAGE) {
            for chunk in base.chunks(page).await? {
                bill.add_pending(Some(chunk.id));
                count(&chunk, bill);
            }
        }
        Ok(())
    }

    fn count_new(&self, new: &New<'_>, bill: &mut Bill) -> bool {
        let chunk = new.chunk();
        if let Some(chunk) = chunk {
            count(chunk, bill);
        }
        chunk.is_some()
    }

    fn count_rest(&self, bill: &mut Bill) {
        let summaries = (bill.tree_tokens as f64 / SUMMARIZED).ceil() as u64;
        let prompt_tokens = summaries * SUMMARY.prompt_tokens;
        let completion_tokens = summaries * SUMMARY.completion_tokens;
        let usage = Usage { prompt_tokens, completion_tokens };
        bill.calls(Role::Summarize, summaries as usize, usage);
        bill.embed(completion_tokens);
    }
}

fn count(chunk: &Chunk, bill: &mut Bill) {
    bill.tree_tokens += estimate_tokens(&chunk.reading_text());
}

/// Every chunk in reading order.
async fn leaves(base: &dyn KnowledgeWriter) -> Result<Vec<Node>, StoreError> {
    let ids = all_chunks(base, usize::MAX).await?;
    let mut nodes = Vec::with_capacity(ids.len());
    for page in ids.chunks(PAGE) {
        for chunk in base.chunks(page).await? {
            let text = format!("{}\n{}", chunk.full_title(), chunk.reading_text().trim());
            let place = (chunk.uri, chunk.ordinal, chunk.id);
            nodes.push((place, Node { child: Child::Chunk(chunk.id), text }));
        }
    }
    nodes.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(nodes.into_iter().map(|(_, node)| node).collect())
}

/// The nodes with a vector, and groups of them by position. Nodes that the embedder refused have no vector
/// and no summary.
async fn grouped(
    base: &dyn KnowledgeWriter,
    level: u8,
    nodes: Vec<Node>,
) -> Result<(Vec<Node>, Vec<Vec<usize>>), StoreError> {
    let set = if level == 1 { VectorSet::Chunks } else { VectorSet::Summaries };
    let ids: Vec<NodeId> = nodes.iter().map(|node| NodeId(id(node.child))).collect();
    let (before, vectors) = (nodes.len(), base.vectors(set, &ids).await?);
    let with_vector = nodes.into_iter().zip(vectors);
    let (nodes, vectors): (Vec<Node>, Vec<Vector>) =
        with_vector.filter_map(|(node, vector)| Some((node, vector?))).unzip();
    if nodes.len() < before {
        tracing::warn!(
            left_out = before - nodes.len(),
            level,
            "nodes without a vector have no summary"
        );
    }
    let tokens: Vec<u64> = nodes.iter().map(|node| estimate_tokens(&node.text)).collect();
    let groups = clusters(&vectors, &tokens, cluster::Params::default(), SEED);
    Ok((nodes, groups))
}

fn id(child: Child) -> u64 {
    match child {
        Child::Chunk(ChunkId(id)) | Child::Summary(SummaryId(id)) => id,
    }
}

/// The summaries of a level, each once, without their texts.
fn planned(level: u8, nodes: &[Node], groups: &[Vec<usize>]) -> Vec<Summary> {
    let mut seen = HashSet::new();
    let mut summaries = Vec::with_capacity(groups.len());
    for group in groups {
        let children: Vec<Child> =
            group.iter().filter_map(|place| Some(nodes.get(*place)?.child)).collect();
        let ids: Vec<u64> = children.iter().map(|child| id(*child)).collect();
        let id = SummaryId::of(&ids);
        if seen.insert(id) {
            summaries.push(Summary { id, level, text: String::new(), children });
        }
    }
    summaries
}

/// Writes the missing summaries, with several calls at a time.
async fn write(
    row: &Row,
    job: &Job<'_>,
    nodes: &[Node],
    mut summaries: Vec<Summary>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let (Some(model), base) = (job.model(row), job.base()) else { return Ok(()) };
    let ids: Vec<SummaryId> = summaries.iter().map(|summary| summary.id).collect();
    let known = base.summaries(&ids).await?;
    let known: HashSet<SummaryId> = known.into_iter().map(|summary| summary.id).collect();
    summaries.retain(|summary| !known.contains(&summary.id));
    let texts: &HashMap<Child, &str> =
        &nodes.iter().map(|node| (node.child, node.text.as_str())).collect();
    let calls = job.calls(row, summaries.len());
    let ask = |summary: Summary| async move {
        let inputs = [("content", content(texts, &summary.children))];
        let reply = ask_prose(model, &PROMPT, &inputs, &[]).await;
        (summary, reply)
    };
    let name = |summary: &Summary| Named {
        label: format!("summary {}", summary.id),
        place: Place::Marked(vec![(Mark::summarize_clusters(), summary.id.into())]),
    };
    let pieces = stream::iter(summaries.into_iter().map(Ok)).boxed();
    let (calling, mut results) = calls.begin(pieces, ask, name).await?;
    let storing = async {
        while let Some(answers) = results.next(report).await? {
            let mut made = Vec::with_capacity(answers.len());
            for (summary, reply) in answers {
                report.summaries += 1;
                report.unextracted += usize::from(reply.is_none());
                let text = reply.unwrap_or_else(|| beginning(texts, &summary.children));
                made.push(Summary { text, ..summary });
            }
            base.put_texts(ModelTexts::Clusters(made)).await?;
        }
        Ok(())
    };
    finish(calling, storing).await
}

fn content(texts: &HashMap<Child, &str>, children: &[Child]) -> String {
    let mut blocks: Vec<String> = Vec::with_capacity(children.len());
    for child in children {
        let text = texts.get(child).copied().unwrap_or_default();
        blocks.push(quiet_headings(&text.chars().take(SHOWN).collect::<String>()));
    }
    blocks.join("\n\n")
}

/// The beginning of each child, used if the model gives no summary.
fn beginning(texts: &HashMap<Child, &str>, children: &[Child]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for child in children {
        let text = texts.get(child).copied().unwrap_or_default();
        parts.push(text.chars().take(BEGINNING).collect());
    }
    parts.join("\n")
}
