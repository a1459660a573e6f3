//! GraphRAG (Edge et al., 2024): answers from the entity graph, from around the entities that a question
//! is about (`local`), or from the reports on all communities (`global`).
//!
//! Differs from GraphRAG: citations lead to chunks, so the global answer too is written beside chunks
//! that its communities speak of; reports are batched by rating, not shuffled.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::stream::{self, StreamExt};
use pikerag_knowledge::{
    Answer, Chunk, ChunkId, Community, Consulted, Context, Criterion, Entity, EntityId, Event,
    JudgedBy, NodeKind, Question, Relation, Role, Schema, Spent, Structure, Via,
};
use pikerag_language::estimate_tokens;
use pikerag_language::names::{joined, names_in};
use pikerag_prompt::{Prompt, Reply, Unreadable, ask, object, one_line, quiet_headings, text};
use pikerag_retrieve::{Hit, hybrid};
use serde_json::json;
use tracing::instrument;

use crate::conclude::{conclude, conclude_with};
use crate::gather::{Gather, gather};
use crate::ingest::{entity_line, relation_line};
use crate::kit::{Kit, Run, SolveError};
use crate::methods::kar3::{chunk_candidates, fetch};

/// What the local search looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Local {
    /// Entities that the question is about.
    pub entities: usize,
    /// Tokens of all that the answer is written from.
    pub budget: u64,
    /// Parts of the budget: chunks, reports; entities and relations have the rest.
    pub chunks: f64,
    /// See `chunks`.
    pub reports: f64,
}

impl Default for Local {
    /// Ten entities, half of the budget for chunks, as in GraphRAG.
    fn default() -> Self {
        Self { entities: 10, budget: 8000, chunks: 0.5, reports: 0.25 }
    }
}

/// What the global search looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    /// The level whose communities are read; those above that have no parts there are read too.
    pub level: u8,
    /// Tokens of reports in one call.
    pub batch: u64,
    /// Tokens of partial answers that the final one is written from.
    pub budget: u64,
    /// Tokens of chunks that it may cite.
    pub evidence: u64,
    /// Calls under way at a time.
    pub at_once: usize,
}

impl Default for Global {
    /// Level 2 and 8000 tokens, as in GraphRAG.
    fn default() -> Self {
        Self { level: 2, batch: 8000, budget: 8000, evidence: 2000, at_once: 8 }
    }
}

/// Answers `question` from what surrounds the entities that it is about: one chat call.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "graphrag_local", skip_all, fields(question = %question.id))]
pub async fn local(kit: &Kit, question: &Question, params: Local) -> Result<Answer, SolveError> {
    let mut run = Run::begin("graphrag-local", question);
    let found = entities_about(kit, &question.text, params.entities).await?;
    if found.is_empty() {
        return plainly(kit, question, Structure::Graph, run).await;
    }
    let seen = found.iter().map(|(entity, score)| Consulted {
        kind: NodeKind::Entity,
        id: entity.id.to_string(),
        title: entity.name.clone(),
        score: f64::from(*score),
    });
    run.trace.push(Event::Consulted { nodes: seen.collect() });
    let entities: Vec<Entity> = found.into_iter().map(|(entity, _)| entity).collect();
    let share = |part: f64| (params.budget as f64 * part) as u64;
    let chunks = chunks_about(kit, &entities, share(params.chunks)).await?;
    let reports = reports_about(kit, &entities, share(params.reports), &mut run).await?;
    let rest = share(1.0 - params.chunks - params.reports);
    let facts = facts_about(kit, &entities, rest).await?;
    let candidates = chunk_candidates(kit, &chunks, Via::Graph, &question.text).await?;
    let mut context = Context::default();
    for chunk in fetch(kit, &candidates).await? {
        context.add(1, chunk);
    }
    run.trace.push(Event::Gathered { candidates });
    let notes = [facts, reports].join("\n");
    conclude_with(kit, question, context, notes.trim(), run).await
}

/// The entities that a question is about, best first: by meaning; without an embedder those that it
/// names, then those of the chunks that fit its words.
async fn entities_about(
    kit: &Kit,
    question: &str,
    k: usize,
) -> Result<Vec<(Entity, f32)>, SolveError> {
    let finder = kit.finder();
    let mut scores: Vec<(EntityId, f32)> = Vec::new();
    if let Some(vectors) =
        finder.vectors(&[question.to_owned()]).await.map_err(SolveError::from_model)?
    {
        let set = pikerag_knowledge::VectorSet::Entities;
        let found = kit.base.nearest(set, &vectors, k, -1.0).await?;
        scores.extend(found.into_iter().flatten().map(|hit| (EntityId(hit.item), hit.score)));
    }
    if scores.is_empty() {
        let named = names_in(question).into_iter();
        scores.extend(named.map(|name| (EntityId::of_folded(&joined(&name)), 1.0)));
        let hits = kit.base.matching_chunks(question, k).await?;
        let chunks: Vec<ChunkId> = hits.iter().map(|hit| hit.item).collect();
        for held in kit.base.entities_in(&chunks).await? {
            scores.extend(held.into_iter().map(|entity| (entity, 0.5)));
        }
    }
    let ids: Vec<EntityId> = scores.iter().map(|(id, _)| *id).collect();
    let mut found: Vec<(Entity, f32)> = Vec::new();
    for entity in kit.base.entities(&ids).await? {
        let score = scores.iter().find(|(id, _)| *id == entity.id).map_or(0.0, |(_, score)| *score);
        if found.len() < k && !found.iter().any(|(held, _)| held.id == entity.id) {
            found.push((entity, score));
        }
    }
    Ok(found)
}

/// The chunks that mention most of these entities, the best entity's first among equals.
async fn chunks_about(kit: &Kit, entities: &[Entity], budget: u64) -> Result<Vec<Hit>, SolveError> {
    let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id).collect();
    // Chunk → entities in it, and the place where it was met first.
    let mut counts: HashMap<ChunkId, (usize, usize)> = HashMap::new();
    let mut place = 0;
    for chunks in kit.base.chunks_mentioning(&ids).await? {
        for chunk in chunks {
            counts.entry(chunk).or_insert((0, place)).0 += 1;
            place += 1;
        }
    }
    let mut ranked: Vec<(ChunkId, (usize, usize))> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, (count, place))| (std::cmp::Reverse(*count), *place));
    let ranked: Vec<(ChunkId, f32)> =
        ranked.into_iter().map(|(chunk, (count, _))| (chunk, count as f32)).collect();
    Ok(within(kit, ranked, "entities", budget).await?.into_iter().map(|(hit, _)| hit).collect())
}

/// The first chunks that fit into a budget, with their texts; one at least.
async fn within(
    kit: &Kit,
    ranked: Vec<(ChunkId, f32)>,
    part: &str,
    budget: u64,
) -> Result<Vec<(Hit, Chunk)>, SolveError> {
    let (mut kept, mut left) = (Vec::new(), budget);
    for (id, score) in ranked {
        let Some(chunk) = kit.base.chunks(&[id]).await?.pop() else { continue };
        let tokens = estimate_tokens(&chunk.reading_text());
        if left < tokens && !kept.is_empty() {
            break;
        }
        left = left.saturating_sub(tokens);
        let parts = BTreeMap::from([(part.to_owned(), score)]);
        kept.push((Hit { chunk: id, score, parts }, chunk));
    }
    Ok(kept)
}

/// The reports on the communities that hold most of these entities, the smallest first among equals.
async fn reports_about(
    kit: &Kit,
    entities: &[Entity],
    budget: u64,
    run: &mut Run,
) -> Result<String, SolveError> {
    let ids: BTreeSet<EntityId> = entities.iter().map(|entity| entity.id).collect();
    let mut ranked: Vec<(usize, Community)> = Vec::new();
    for community in kit.base.communities_of(&ids.iter().copied().collect::<Vec<_>>()).await? {
        let held = community.members.iter().filter(|member| ids.contains(member)).count();
        ranked.push((held, community));
    }
    ranked.sort_by_key(|(held, community)| {
        (std::cmp::Reverse(*held), community.members.len(), community.id)
    });
    let (mut shown, mut seen, mut left) = (Vec::new(), Vec::new(), budget);
    for (held, community) in ranked {
        let Some(report) = &community.report else { continue };
        let text = report.text();
        let tokens = estimate_tokens(&text);
        if left < tokens {
            continue;
        }
        left -= tokens;
        seen.push(consulted(&community, held as f64));
        shown.push(text);
    }
    if seen.is_empty() {
        return Ok(String::new());
    }
    run.trace.push(Event::Consulted { nodes: seen });
    Ok(format!("Reports:\n{}", shown.join("\n\n")))
}

fn consulted(community: &Community, score: f64) -> Consulted {
    let title = community.report.as_ref().map(|report| report.title.clone()).unwrap_or_default();
    Consulted { kind: NodeKind::CommunityReport, id: community.id.to_string(), title, score }
}

/// What is said of these entities and their relations: those among themselves first.
async fn facts_about(kit: &Kit, entities: &[Entity], budget: u64) -> Result<String, SolveError> {
    let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id).collect();
    let mut relations = kit.base.relations_of(&ids).await?;
    let ends = |relation: &Relation| [relation.subject, relation.object];
    // Stable: the heavier comes first, as the base lists them.
    relations.sort_by_key(|relation| !ends(relation).iter().all(|end| ids.contains(end)));
    let all: BTreeSet<EntityId> = relations.iter().flat_map(ends).collect();
    let names: HashMap<EntityId, String> = kit
        .base
        .entities(&all.into_iter().collect::<Vec<_>>())
        .await?
        .into_iter()
        .map(|entity| (entity.id, entity.name))
        .collect();
    let name = |id: EntityId| names.get(&id).map_or("", String::as_str);
    let mut lines = vec!["Entities:".to_owned()];
    let left = fill(&mut lines, entities.iter().map(entity_line), budget);
    lines.push("Relations:".to_owned());
    let said = relations.iter().map(|relation| {
        relation_line(name(relation.subject), name(relation.object), &relation.description)
    });
    fill(&mut lines, said, left);
    Ok(lines.join("\n"))
}

/// Adds the first lines that fit; returns what is left of the budget.
fn fill(lines: &mut Vec<String>, more: impl Iterator<Item = String>, budget: u64) -> u64 {
    let mut left = budget;
    for line in more {
        let tokens = estimate_tokens(&line);
        if left < tokens {
            break;
        }
        left -= tokens;
        lines.push(line);
    }
    left
}

/// Plain retrieval, where a structure knows nothing of the question; an error where there is none.
pub(super) async fn plainly(
    kit: &Kit,
    question: &Question,
    structure: Structure,
    mut run: Run,
) -> Result<Answer, SolveError> {
    let summary = kit.base.summary().await?;
    let built = match structure {
        Structure::Graph => summary.entities,
        Structure::Tree => summary.summaries,
    };
    if built == 0 {
        return Err(SolveError::NotBuilt { structure });
    }
    let note = format!("The {structure} does not help here: plain retrieval takes its place.");
    run.trace.push(Event::Noted { note });
    let candidates = gather(kit, &question.text, Gather::hybrid()).await?;
    let mut context = Context::default();
    for chunk in fetch(kit, &candidates).await? {
        context.add(0, chunk);
    }
    run.trace.push(Event::Gathered { candidates });
    conclude(kit, question, context, run).await
}

const MAP: Prompt = Prompt {
    role: Role::Answer,
    template: include_str!("prompts/map.md"),
    temperature: 0.0,
    max_tokens: 1024,
};

/// Answers `question` from the reports on all communities of a level: a call for each batch of reports,
/// and one that puts the helpful partial answers together.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "graphrag_global", skip_all, fields(question = %question.id))]
pub async fn global(kit: &Kit, question: &Question, params: Global) -> Result<Answer, SolveError> {
    let mut run = Run::begin("graphrag-global", question);
    let batches = batches(at_level(kit.base.communities().await?, params.level), params.batch);
    if batches.is_empty() {
        return plainly(kit, question, Structure::Graph, run).await;
    }
    let model = kit.models.need(Role::Answer)?;
    let asked = quiet_headings(&question.text);
    let mut calls = Vec::with_capacity(batches.len());
    for batch in &batches {
        let texts = batch.iter().filter_map(|community| Some(community.report.as_ref()?.text()));
        let reports = quiet_headings(&texts.collect::<Vec<_>>().join("\n\n"));
        let asked = asked.as_str();
        calls.push(async move {
            let mut spent = Spent::default();
            let inputs = [("reports", reports.as_str()), ("question", asked)];
            (ask::<Partial>(model, &MAP, &inputs, &mut spent).await, spent)
        });
    }
    let calls = stream::iter(calls).buffered(params.at_once.max(1));
    let replies: Vec<_> = calls.collect().await;
    let mut partial: Vec<(Partial, &[Community])> = Vec::new();
    for ((step, batch), (reply, spent)) in batches.iter().enumerate().zip(replies) {
        run.spent.merge(&spent);
        let Some(said) = run.readable(Role::Answer, reply)? else { continue };
        let nodes = batch.iter().map(|community| consulted(community, rating(community)));
        run.trace.push(Event::Consulted { nodes: nodes.collect() });
        run.trace.push(Event::Thought { step: step + 1, text: said.answer.clone() });
        run.trace.push(Event::Judged {
            criterion: Criterion::Useful,
            of: format!("partial answer {}", step + 1),
            holds: 0.0 < said.score,
            score: Some(said.score),
            by: JudgedBy::SelfAssessment,
        });
        if 0.0 < said.score {
            partial.push((said, batch));
        }
    }
    // Stable: of equals the batch with the better rating comes first.
    partial.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
    if partial.is_empty() {
        return plainly(kit, question, Structure::Graph, run).await;
    }
    let mut lines =
        vec!["What reports on parts of the documents say, the most helpful first:".to_owned()];
    let said = partial
        .iter()
        .map(|(said, _)| format!("- (helpfulness {}) {}", said.score, one_line(&said.answer)));
    fill(&mut lines, said, params.budget);
    let members = partial.iter().flat_map(|(_, batch)| *batch).flat_map(|one| one.members.clone());
    let members: BTreeSet<EntityId> = members.collect();
    let mut context = Context::default();
    let chunks = evidence(kit, &question.text, &members, params.evidence).await?;
    let hits: Vec<Hit> = chunks.iter().map(|(hit, _)| hit.clone()).collect();
    let candidates = chunk_candidates(kit, &hits, Via::Graph, &question.text).await?;
    run.trace.push(Event::Gathered { candidates });
    for (_, chunk) in chunks {
        context.add(1, chunk);
    }
    conclude_with(kit, question, context, &lines.join("\n"), run).await
}

fn rating(community: &Community) -> f64 {
    community.report.as_ref().map_or(0.0, |report| report.rating)
}

/// The communities of a level, and those above it that are not split further. Only with a report.
fn at_level(mut communities: Vec<Community>, level: u8) -> Vec<Community> {
    let split: BTreeSet<_> = communities.iter().filter_map(|community| community.parent).collect();
    communities.retain(|community| {
        let lowest = community.level < level && !split.contains(&community.id);
        community.report.is_some() && (community.level == level || lowest)
    });
    communities.sort_by(|a, b| rating(b).total_cmp(&rating(a)).then(a.id.cmp(&b.id)));
    communities
}

/// Reports in batches that fit into one call each.
fn batches(communities: Vec<Community>, tokens: u64) -> Vec<Vec<Community>> {
    let mut batches: Vec<Vec<Community>> = Vec::new();
    let mut left = 0;
    for community in communities {
        let size = community.report.as_ref().map_or(0, |report| estimate_tokens(&report.text()));
        match batches.last_mut() {
            Some(batch) if size <= left => batch.push(community),
            _ => {
                left = tokens;
                batches.push(vec![community]);
            }
        }
        left = left.saturating_sub(size);
    }
    batches
}

/// The chunks that fit the question best among those that mention one of these entities.
async fn evidence(
    kit: &Kit,
    question: &str,
    members: &BTreeSet<EntityId>,
    budget: u64,
) -> Result<Vec<(Hit, Chunk)>, SolveError> {
    const LOOKED_AT: usize = 50;
    let hits = hybrid(kit.finder(), question, LOOKED_AT).await?;
    let ids: Vec<ChunkId> = hits.iter().map(|hit| hit.chunk).collect();
    let held = kit.base.entities_in(&ids).await?;
    let mut ranked = Vec::new();
    for (hit, entities) in hits.iter().zip(held) {
        if entities.iter().any(|entity| members.contains(entity)) {
            ranked.push((hit.chunk, hit.score));
        }
    }
    within(kit, ranked, "hybrid", budget).await
}

/// A partial answer, and how helpful it is, from 0 to 100.
struct Partial {
    answer: String,
    score: f64,
}

impl Reply for Partial {
    fn schema() -> Option<Schema> {
        let schema = json!({
            "type": "object",
            "properties": {"answer": {"type": "string"}, "score": {"type": "integer"}},
            "required": ["answer", "score"],
            "additionalProperties": false
        });
        Some(Schema { name: "partial_answer".to_owned(), schema })
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["score", "answer"])?;
        let said = text(&object, "score")?;
        let digits: String =
            said.trim().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let score = digits.parse::<f64>().map_err(|_| Unreadable::BadKey {
            key: "score".to_owned(),
            expected: "an integer from 0 to 100".to_owned(),
        })?;
        let answer = text(&object, "answer").unwrap_or_default();
        let score = if answer.is_empty() { 0.0 } else { score.clamp(0.0, 100.0) };
        Ok(Self { answer, score })
    }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::{CommunityId, Report};

    use super::*;

    fn community(id: u64, level: u8, parent: Option<u64>, rating: f64) -> Community {
        let report = Some(Report { summary: "word ".repeat(40), rating, ..Report::default() });
        let parent = parent.map(CommunityId);
        Community { id: CommunityId(id), level, parent, members: Vec::new(), report }
    }

    #[test]
    fn a_level_is_read_with_what_stands_alone_above_it() {
        let all = vec![
            community(1, 0, None, 5.0),
            community(2, 0, None, 7.0),
            community(3, 1, Some(1), 5.0),
            community(4, 1, Some(1), 6.0),
            Community { report: None, ..community(5, 1, Some(1), 6.0) },
        ];
        let ids = |level| -> Vec<u64> {
            at_level(all.clone(), level).iter().map(|community| community.id.0).collect()
        };
        assert_eq!(ids(0), [2, 1]);
        assert_eq!(ids(1), [2, 4, 3]);
        assert_eq!(ids(9), [2, 4, 3]);
        let sizes = |tokens| -> Vec<usize> {
            batches(at_level(all.clone(), 1), tokens).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(1000), [3]);
        assert_eq!(sizes(110), [2, 1]);
        assert_eq!(sizes(1), [1, 1, 1]);
    }

    #[test]
    fn scores_come_in_many_dresses() {
        let score = |reply| Partial::read(reply).map(|said| said.score);
        assert_eq!(score(r#"{"answer": "x", "score": "85/100"}"#), Ok(85.0));
        assert_eq!(score(r#"{"answer": "x", "score": 185}"#), Ok(100.0));
        assert_eq!(score(r#"{"answer": "", "score": 85}"#), Ok(0.0));
        assert!(score(r#"{"answer": "x"}"#).is_err());
        assert!(score(r#"{"answer": "x", "score": "high"}"#).is_err());
    }
}
