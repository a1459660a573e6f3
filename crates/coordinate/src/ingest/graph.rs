//! How do chunks become an entity graph? Extraction chunk by chunk, then descriptions, communities and
//! reports over all of them (GraphRAG §3.1). What the graph's words did not change stays as it is.
//!
//! Without a model: proper names, related where they stand in one sentence, and in place of a report the
//! sentences of the community.

use std::collections::{BTreeMap, HashMap, HashSet};

use futures::stream;
use pikerag_extract::{extract, extract_names};
use pikerag_knowledge::id::content_id;
use pikerag_knowledge::{
    Chunk, Community, CommunityId, EntityId, ExtractBy, Extraction, LongDescription, Outline, Role,
    Spent, Stage, StoreError,
};
use pikerag_language::estimate_tokens;
use pikerag_organize::leiden::{Graph, hierarchy};
use pikerag_prompt::{Prompt, Prose, ask, quiet_headings};

use super::call_batch::{CallBatch, run_calls};
use super::report::{quoted, write};
use super::stages::{PAGE, all_pending, chunks};
use super::{Params, Progress, Report, Tools, Watch};

/// Larger communities are split (GraphRAG's `max_cluster_size`).
const LARGEST: usize = 10;
/// Seed of the communities; part of what makes two bases alike.
const SEED: u64 = 0xDEAD_BEEF;
/// More tokens are said of an entity or relation: they are put together by a model.
const LONG: u64 = 600;

const DESCRIBE: Prompt = Prompt {
    role: Role::Summarize,
    template: include_str!("prompts/describe.md"),
    temperature: 0.0,
    max_tokens: 512,
};

/// Brings the entity graph up to the chunks; whether it is whole now.
pub(super) async fn build(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<bool, StoreError> {
    let failures = report.failures;
    match tools.models.of(Role::Extract) {
        Some(_) => extract_all(tools, params, watch, report).await?,
        None => name_all(tools, watch, report).await?,
    }
    if report.stopped.is_none() {
        describe_all(tools, params, watch, report).await?;
    }
    // Communities of half a graph would be paid for twice.
    if report.stopped.is_some() {
        return Ok(false);
    }
    let outline = tools.base.outline().await?;
    let generation = outline.generation;
    let current = tools.base.put_communities(generation, communities(&outline)).await?;
    if !current {
        tracing::warn!("documents changed meanwhile; the next run finds the communities");
        return Ok(false);
    }
    write_reports(tools, params, watch, report).await?;
    Ok(report.stopped.is_none() && report.failures == failures)
}

async fn extract_all(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Extract) else { return Ok(()) };
    let pending = all_pending(tools, &Stage::extract(ExtractBy::Model)).await?;
    let at_once = params.in_flight;
    let batch = CallBatch { name: "extracting", total: pending.len(), at_once, watch };
    let ask = |chunk: Chunk| async move {
        let result = extract(model, &chunk, &mut Spent::default()).await;
        (chunk, result)
    };
    let uri = |chunk: &Chunk| chunk.uri.clone();
    run_calls(batch, chunks(tools, &pending), ask, uri, report, async |came, report| {
        let mut found = Vec::with_capacity(came.len());
        for (chunk, read) in came {
            report.extracted += 1;
            report.unextracted += usize::from(read.is_none());
            let names = || extract_names(&chunk);
            found.push((chunk.id, read.unwrap_or_else(names)));
        }
        tools.base.put_extractions(ExtractBy::Model, found).await
    })
    .await
}

async fn name_all(tools: &Tools, watch: Watch<'_>, report: &mut Report) -> Result<(), StoreError> {
    let pending = all_pending(tools, &Stage::extract(ExtractBy::Names)).await?;
    let mut done = 0;
    for page in pending.chunks(PAGE) {
        let chunks = tools.base.chunks(page).await?;
        let found: Vec<(_, Extraction)> =
            chunks.iter().map(|chunk| (chunk.id, extract_names(chunk))).collect();
        tools.base.put_extractions(ExtractBy::Names, found).await?;
        report.extracted += page.len();
        done += page.len();
        watch(Progress::Stage { name: "extracting", done, total: pending.len() });
    }
    Ok(())
}

/// Summarises what is said of entities and relations where that is long.
async fn describe_all(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Summarize) else { return Ok(()) };
    // No script has more than a token to a byte.
    let mut long = tools.base.long_descriptions(LONG as usize).await?;
    long.retain(|long| LONG < estimate_tokens(&long.said.join(" ")));
    let at_once = params.in_flight;
    let batch = CallBatch { name: "describing", total: long.len(), at_once, watch };
    let ask = |long: LongDescription| async move {
        let listed: Vec<String> = long.said.iter().map(|said| format!("- {said}")).collect();
        let (name, said) = (quiet_headings(&long.name), quiet_headings(&listed.join("\n")));
        let inputs = [("name", name.as_str()), ("descriptions", said.as_str())];
        let result = ask::<Prose>(model, &DESCRIBE, &inputs, &mut Spent::default()).await;
        (long, result)
    };
    let name = |long: &LongDescription| long.name.clone();
    run_calls(batch, stream::iter(long.into_iter().map(Ok)), ask, name, report, async |came, _| {
        let made = came.into_iter();
        let made = made.filter_map(|(long, text)| Some((long.node, long.key(), text?.0)));
        tools.base.put_descriptions(made.collect()).await
    })
    .await
}

/// The communities of a graph, parents before their parts. Entities without any relation are in none.
fn communities(outline: &Outline) -> Vec<Community> {
    let mut ends: Vec<EntityId> =
        outline.relations.iter().flat_map(|relation| [relation.subject, relation.object]).collect();
    ends.sort_unstable();
    ends.dedup();
    let place: HashMap<EntityId, usize> =
        ends.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    let mut edges = Vec::with_capacity(outline.relations.len());
    for relation in &outline.relations {
        if let (Some(a), Some(b)) = (place.get(&relation.subject), place.get(&relation.object)) {
            edges.push((*a, *b, relation.weight));
        }
    }
    let said: HashMap<EntityId, u64> = outline.entities.iter().copied().collect();
    let mut related: BTreeMap<EntityId, Vec<usize>> = BTreeMap::new();
    for (at, relation) in outline.relations.iter().enumerate() {
        related.entry(relation.subject).or_default().push(at);
    }
    let mut found: Vec<Community> = Vec::new();
    for branch in hierarchy(&Graph::new(ends.len(), &edges), LARGEST, SEED) {
        let members: Vec<EntityId> =
            branch.nodes.iter().filter_map(|node| ends.get(*node).copied()).collect();
        let within: HashSet<EntityId> = members.iter().copied().collect();
        let mut parts: Vec<u64> = Vec::new();
        for member in &members {
            parts.extend([member.0, said.get(member).copied().unwrap_or_default()]);
            for at in related.get(member).into_iter().flatten() {
                if let Some(relation) = outline.relations.get(*at)
                    && within.contains(&relation.object)
                {
                    parts.extend([relation.id.0, relation.said, relation.weight.to_bits()]);
                }
            }
        }
        let bytes: Vec<u8> = parts.into_iter().flat_map(u64::to_le_bytes).collect();
        found.push(Community {
            id: CommunityId(content_id("community", &[&bytes])),
            level: branch.level,
            parent: branch.parent.and_then(|at| found.get(at)).map(|parent| parent.id),
            members,
            report: None,
        });
    }
    found
}

/// Writes the reports that are missing, parts before wholes: large communities are reported on by the
/// reports of their parts.
async fn write_reports(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let all = tools.base.communities().await?;
    let levels = all.iter().map(|community| community.level).max();
    let model = tools.models.of(Role::Summarize);
    let is_missing = |community: &Community| match &community.report {
        None => true,
        Some(report) => model.is_some() && report.model.is_none(),
    };
    let total = all.iter().filter(|community| is_missing(community)).count();
    for level in (0..=levels.unwrap_or(0)).rev() {
        let all = tools.base.communities().await?;
        let mut parts: HashMap<CommunityId, Vec<Community>> = HashMap::new();
        for community in &all {
            if let Some(parent) = community.parent {
                parts.entry(parent).or_default().push(community.clone());
            }
        }
        let missing: Vec<Community> = all
            .into_iter()
            .filter(|community| community.level == level && is_missing(community))
            .collect();
        let Some(model) = model else {
            let mut reports = Vec::with_capacity(missing.len());
            for community in &missing {
                reports.push((community.id, quoted(tools.base.as_ref(), community).await?));
            }
            report.reports += reports.len();
            tools.base.put_reports(reports).await?;
            continue;
        };
        let mut items = Vec::with_capacity(missing.len());
        for community in missing {
            let parts = parts.remove(&community.id).unwrap_or_default();
            // Half of the parts would make another report than all of them.
            if parts.iter().all(|part| part.report.is_some()) {
                items.push(Ok((community, parts)));
            }
        }
        let batch = CallBatch { name: "reporting", total, at_once: params.in_flight, watch };
        let ask = |(community, parts): (Community, Vec<Community>)| async move {
            let result = write(tools.base.as_ref(), model, &community, &parts).await;
            ((community, parts), result)
        };
        let label = |(community, _): &(Community, _)| format!("community {}", community.id);
        run_calls(batch, stream::iter(items), ask, label, report, async |came, report| {
            let mut reports = Vec::with_capacity(came.len());
            for ((community, _), written) in came {
                let written = match written {
                    Some(Ok(written)) => written,
                    // The base could not be read.
                    Some(Err(error)) => return Err(error),
                    None => {
                        report.unextracted += 1;
                        let quoted = quoted(tools.base.as_ref(), &community).await?;
                        // Asked for: it is not asked for again.
                        pikerag_knowledge::Report { model: Some(model.name().to_owned()), ..quoted }
                    }
                };
                report.reports += 1;
                reports.push((community.id, written));
            }
            tools.base.put_reports(reports).await
        })
        .await?;
        if report.stopped.is_some() {
            return Ok(());
        }
    }
    Ok(())
}
