//! Answers from the surroundings of a question's entities: GraphRAG's local search.

use std::collections::{BTreeSet, HashMap};

use pikerag_knowledge::{
    Answer, ChunkId, ChunksOf, Community, Consulted, Context, Entity, EntityId, Event, LinkKind,
    NodeKind, Question, Relation, Role, Structure, VectorSet, Via, Which,
};
use pikerag_language::estimate_tokens;
use pikerag_language::names::{joined, names_in};
use pikerag_methods::context::Rules;
use pikerag_prompt::{entity_line, relation_line};
use pikerag_retrieve::Hit;
use tracing::instrument;

use super::{consulted, fill, plainly, within};
use pikerag_methods::candidates::chunk_candidates;
use pikerag_methods::conclude::conclude_with;
use pikerag_methods::organizing::gathered;
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Variant, WithoutModel};
use pikerag_methods::{Ports, Run, SolveError};

/// The size and the budgets of the local search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Local {
    /// Entities that the question is about.
    pub entities: usize,
    /// The budget of the answer's whole input, in tokens.
    pub budget: u64,
    /// The share of the budget for chunks, from 0 to 1; entities and relations get the rest after
    /// chunks and reports.
    pub chunks: f64,
    /// The share of the budget for reports, from 0 to 1.
    pub reports: f64,
}

impl Default for Local {
    /// Ten entities, half of the budget for chunks, as in GraphRAG.
    fn default() -> Self {
        Self { entities: 10, budget: 8000, chunks: 0.5, reports: 0.25 }
    }
}

impl MethodParams for Local {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "graphrag-local",
            "entities close to the question, their relations, reports and chunks, one answer",
            "GraphRAG",
            |_| {},
        )],
        parameters: &[],
        roles: &[Role::Answer],
        without_model: WithoutModel::Quotes,
        needs: Some(Structure::Graph),
        cost: |_| Cost {
            chunks: 32.0,
            most_chunks: 96,
            fixed: 900,
            reply: 250,
            ..Cost::of_one_call(
                "one call on entities, relations, reports and text; indexing is not counted here",
            )
        },
    };
}

/// Answers `question` from the surroundings of its entities: one chat call.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "graphrag_local", skip_all, fields(question = %question.id))]
pub async fn local(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Local,
) -> Result<Answer, SolveError> {
    let found = entities_about(ports, question.query(), params.entities).await?;
    if found.is_empty() {
        return plainly(ports, question, Structure::Graph, run).await;
    }
    let seen = found.iter().map(|(entity, score)| Consulted {
        kind: NodeKind::Entity,
        id: entity.id.to_string(),
        title: entity.name.clone(),
        score: f64::from(*score),
    });
    run.push(Event::Consulted { nodes: seen.collect() });
    let entities: Vec<Entity> = found.into_iter().map(|(entity, _)| entity).collect();
    let share = |part: f64| (params.budget as f64 * part) as u64;
    let chunks = chunks_about(ports, &entities, share(params.chunks)).await?;
    let reports = reports_about(ports, &entities, share(params.reports), run).await?;
    let rest = share(1.0 - params.chunks - params.reports);
    let facts = facts_about(ports, &entities, rest).await?;
    let candidates = chunk_candidates(ports, &chunks, Via::Graph, question.query()).await?;
    let (candidates, chunks) = gathered(ports, run, candidates, Rules::all()).await?;
    let context = Context::of(1, chunks);
    run.push(Event::Gathered { candidates });
    let notes = [facts, reports].join("\n");
    conclude_with(ports, question, context, notes.trim(), run).await
}

/// The entities of a question, best first: by meaning. Without an embedder, the ones that it names,
/// then the ones in chunks that fit its words.
async fn entities_about(
    ports: &Ports,
    question: &str,
    k: usize,
) -> Result<Vec<(Entity, f32)>, SolveError> {
    let finder = ports.finder();
    let mut scores: Vec<(EntityId, f32)> = Vec::new();
    if let Some(vectors) =
        finder.vectors(&[question.to_owned()]).await.map_err(SolveError::from_model)?
    {
        let set = VectorSet::Entities;
        let found = ports.base.nearest(set, &vectors, k, -1.0, &[]).await?;
        scores.extend(found.into_iter().flatten().map(|hit| (EntityId(hit.item.0), hit.score)));
    }
    if scores.is_empty() {
        let named = names_in(question).into_iter();
        scores.extend(named.map(|name| (EntityId::of_folded(&joined(&name)), 1.0)));
        let hits = ports.base.matching_chunks(question, k).await?;
        let chunks: Vec<ChunkId> = hits.iter().map(|hit| hit.item).collect();
        for held in ports.base.links_of(&chunks, LinkKind::Entities).await? {
            scores.extend(held.entities.into_iter().map(|entity| (entity, 0.5)));
        }
    }
    let ids: Vec<EntityId> = scores.iter().map(|(id, _)| *id).collect();
    let mut found: Vec<(Entity, f32)> = Vec::new();
    for entity in ports.base.entities(&ids).await? {
        let score = scores.iter().find(|(id, _)| *id == entity.id).map_or(0.0, |(_, score)| *score);
        if found.len() < k && !found.iter().any(|(held, _)| held.id == entity.id) {
            found.push((entity, score));
        }
    }
    Ok(found)
}

/// The chunks that mention most of these entities, the best entity's first among equals.
async fn chunks_about(
    ports: &Ports,
    entities: &[Entity],
    budget: u64,
) -> Result<Vec<Hit>, SolveError> {
    let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id).collect();
    // Chunk → its number of these entities, and the first place in which it was found.
    let mut counts: HashMap<ChunkId, (usize, usize)> = HashMap::new();
    let mut place = 0;
    for list in ports.base.chunks_of(ChunksOf::EntitiesInOrder(&ids), usize::MAX).await? {
        for chunk in list.chunks {
            counts.entry(chunk).or_insert((0, place)).0 += 1;
            place += 1;
        }
    }
    let mut ranked: Vec<(ChunkId, (usize, usize))> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, (count, place))| (std::cmp::Reverse(*count), *place));
    let ranked: Vec<(ChunkId, f32)> =
        ranked.into_iter().map(|(chunk, (count, _))| (chunk, count as f32)).collect();
    Ok(within(ports, ranked, "entities", budget).await?.into_iter().map(|(hit, _)| hit).collect())
}

/// The reports on the communities that hold most of these entities, the smallest first among
/// equals.
async fn reports_about(
    ports: &Ports,
    entities: &[Entity],
    budget: u64,
    run: &mut Run,
) -> Result<String, SolveError> {
    let ids: BTreeSet<EntityId> = entities.iter().map(|entity| entity.id).collect();
    let mut ranked: Vec<(usize, Community)> = Vec::new();
    for community in
        ports.base.communities(Which::Of(&ids.iter().copied().collect::<Vec<_>>())).await?
    {
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
    run.push(Event::Consulted { nodes: seen });
    Ok(format!("Reports:\n{}", shown.join("\n\n")))
}

/// Lines about these entities and their relations; relations between them come first.
async fn facts_about(
    ports: &Ports,
    entities: &[Entity],
    budget: u64,
) -> Result<String, SolveError> {
    let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id).collect();
    let mut relations = ports.base.relations_of(&ids).await?;
    let ends = |relation: &Relation| [relation.subject, relation.object];
    // Stable: the heavier relation comes first, as the base lists them.
    relations.sort_by_key(|relation| !ends(relation).iter().all(|end| ids.contains(end)));
    let all: BTreeSet<EntityId> = relations.iter().flat_map(ends).collect();
    let names: HashMap<EntityId, String> = ports
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
    let described = relations.iter().map(|relation| {
        relation_line(name(relation.subject), name(relation.object), &relation.description)
    });
    fill(&mut lines, described, left);
    Ok(lines.join("\n"))
}
