//! How does a tree of summaries grow above the chunks? Clusters by meaning, a summary of each, clusters of
//! these, until one is left (RAPTOR §3). A summary whose children did not change stays as it is.
//!
//! Differs from RAPTOR: clusters as `pikerag_extract::cluster` says; and ten nodes or fewer make one
//! cluster, where RAPTOR would leave them without a summary.

use std::collections::{HashMap, HashSet};

use futures::stream;
use pikerag_extract::cluster::{self, clusters};
use pikerag_knowledge::{
    Child, ChunkId, Role, Spent, Stage, StoreError, Structure, Summary, SummaryId, VectorSet,
};
use pikerag_language::estimate_tokens;
use pikerag_prompt::{Prompt, Prose, ask, quiet_headings};

use super::call_batch::{CallBatch, run_calls};
use super::stages::{PAGE, all_pending, embed_set, stopped_by};
use super::{Params, Report, Tools, Watch};

/// Levels above the chunks, at most.
const LEVELS: u8 = 5;
/// Seed of the clusters; part of what makes two bases alike.
const SEED: u64 = 224;
/// Characters of one child that a summary is made from; only a chunk that is a whole cluster has more.
const SHOWN: usize = 16_000;

const PROMPT: Prompt = Prompt {
    role: Role::Summarize,
    template: include_str!("prompts/summary.md"),
    temperature: 0.0,
    max_tokens: 512,
};

/// Something that a summary may be made from.
#[derive(Clone)]
struct Node {
    child: Child,
    text: String,
}

/// Brings the tree up to the chunks; whether it is whole now. Needs an embedder and a model.
pub(super) async fn build(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<bool, StoreError> {
    let (Some(embedder), Some(_)) = (&tools.embedder, tools.models.of(Role::Summarize)) else {
        let lacking = "the tree of summaries needs an embedder and a chat model";
        match params.with.contains(&Structure::Tree) {
            true => report.lacking.push(lacking.to_owned()),
            // Asked for by an earlier run, which had them.
            false => tracing::warn!("{lacking}: it stays as it is"),
        }
        return Ok(false);
    };
    let mut nodes = all_chunks(tools).await?;
    let mut level = 1;
    while level <= LEVELS && 1 < nodes.len() {
        let Some(groups) = grouped(tools, level, &nodes).await? else { return Ok(false) };
        if nodes.len() <= groups.len() {
            break; // Nothing belongs together.
        }
        let summaries = planned(level, &nodes, &groups);
        let ids: Vec<SummaryId> = summaries.iter().map(|summary| summary.id).collect();
        tools.base.keep_summaries(level, &ids).await?;
        write(tools, params, watch, &nodes, summaries, report).await?;
        let set = VectorSet::Summaries;
        if let Err(error) = embed_set(tools, embedder.as_ref(), set, params, watch, report).await? {
            stopped_by(&error, report);
            return Ok(false);
        }
        let made = tools.base.summaries(&ids).await?;
        if made.len() < ids.len() {
            return Ok(false); // Calls failed: the next run goes on from here.
        }
        let node = |made: Summary| Node { child: Child::Summary(made.id), text: made.text };
        nodes = made.into_iter().map(node).collect();
        level += 1;
    }
    for level in level..=LEVELS {
        tools.base.keep_summaries(level, &[]).await?;
    }
    Ok(true)
}

/// Every chunk in reading order.
async fn all_chunks(tools: &Tools) -> Result<Vec<Node>, StoreError> {
    // No chunk is ever marked with this stage: all of them wait for it.
    let ids = all_pending(tools, &Stage("tree".to_owned())).await?;
    let mut nodes = Vec::with_capacity(ids.len());
    for page in ids.chunks(PAGE) {
        for chunk in tools.base.chunks(page).await? {
            let text = format!("{}\n{}", chunk.full_title(), chunk.reading_text().trim());
            let place = (chunk.uri, chunk.ordinal, chunk.id);
            nodes.push((place, Node { child: Child::Chunk(chunk.id), text }));
        }
    }
    nodes.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(nodes.into_iter().map(|(_, node)| node).collect())
}

/// Which nodes belong together; `None` where some have no vector.
async fn grouped(
    tools: &Tools,
    level: u8,
    nodes: &[Node],
) -> Result<Option<Vec<Vec<usize>>>, StoreError> {
    let set = if level == 1 { VectorSet::Chunks } else { VectorSet::Summaries };
    let ids: Vec<u64> = nodes.iter().map(|node| id(node.child)).collect();
    let vectors: Option<Vec<_>> = tools.base.vectors(set, &ids).await?.into_iter().collect();
    let Some(vectors) = vectors else { return Ok(None) };
    let tokens: Vec<u64> = nodes.iter().map(|node| estimate_tokens(&node.text)).collect();
    Ok(Some(clusters(&vectors, &tokens, cluster::Params::default(), SEED)))
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

/// Writes the summaries that are missing, many at a time.
async fn write(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    nodes: &[Node],
    mut summaries: Vec<Summary>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Summarize) else { return Ok(()) };
    let ids: Vec<SummaryId> = summaries.iter().map(|summary| summary.id).collect();
    let known = tools.base.summaries(&ids).await?;
    let known: HashSet<SummaryId> = known.into_iter().map(|summary| summary.id).collect();
    summaries.retain(|summary| !known.contains(&summary.id));
    let texts: &HashMap<Child, &str> =
        &nodes.iter().map(|node| (node.child, node.text.as_str())).collect();
    let at_once = params.in_flight;
    let batch = CallBatch { name: "summarizing", total: summaries.len(), at_once, watch };
    let ask = |summary: Summary| async move {
        let content = content(texts, &summary.children);
        let inputs = [("content", content.as_str())];
        let result = ask::<Prose>(model, &PROMPT, &inputs, &mut Spent::default()).await;
        (summary, result)
    };
    let label = |summary: &Summary| format!("summary {}", summary.id);
    let items = stream::iter(summaries.into_iter().map(Ok));
    run_calls(batch, items, ask, label, report, async |came, report| {
        let mut made = Vec::with_capacity(came.len());
        for (summary, text) in came {
            report.summaries += 1;
            report.unextracted += usize::from(text.is_none());
            let beginning = || beginning(texts, &summary.children);
            let text = text.map_or_else(beginning, |Prose(text)| text);
            made.push(Summary { text, ..summary });
        }
        tools.base.put_summaries(made).await
    })
    .await
}

fn content(texts: &HashMap<Child, &str>, children: &[Child]) -> String {
    let mut blocks: Vec<String> = Vec::with_capacity(children.len());
    for child in children {
        let text = texts.get(child).copied().unwrap_or_default();
        blocks.push(quiet_headings(&text.chars().take(SHOWN).collect::<String>()));
    }
    blocks.join("\n\n")
}

/// What stands for a summary that the model did not give: the beginning of each child.
fn beginning(texts: &HashMap<Child, &str>, children: &[Child]) -> String {
    const CHARACTERS: usize = 200;
    let mut parts: Vec<String> = Vec::new();
    for child in children {
        let text = texts.get(child).copied().unwrap_or_default();
        parts.push(text.chars().take(CHARACTERS).collect());
    }
    parts.join("\n")
}
