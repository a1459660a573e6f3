//! Finds communities of related entities, and communities within them, again after every change. A community
//! keeps its report while its content stays the same (GraphRAG §3.1.4).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use crate::leiden::{Graph, hierarchy};
use async_trait::async_trait;
use pikerag_knowledge::id::content_id;
use pikerag_knowledge::{Community, CommunityId, DescriptionsKey, EntityId, Outline};

use crate::outcome::Report;
use crate::stage::{Job, Ran, Row, Stage};

/// The most members of a community that is not split (GraphRAG's `max_cluster_size`).
const LARGEST: usize = 10;
/// The seed of the communities, fixed so that equal documents give equal bases.
const SEED: u64 = 0xDEAD_BEEF;

/// The communities of all related entities.
pub(crate) struct Communities;

#[async_trait]
impl Stage for Communities {
    async fn run(&self, _row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        // The reports on communities of a partial graph would be paid for twice.
        if report.stopped.is_some() {
            return Ok(ControlFlow::Break(()));
        }
        let outline = job.base().outline().await?;
        let found = communities(&outline);
        if !job.base().put_communities(outline.generation, found).await? {
            tracing::warn!("documents changed meanwhile; the next run finds the communities");
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The communities of a graph, parents before their parts, without entities that have no relation. A
/// community's identifier depends on its members, its relations and their descriptions.
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
    let descriptions: HashMap<EntityId, DescriptionsKey> =
        outline.entities.iter().map(|entity| (entity.id, entity.key)).collect();
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
            parts.extend([member.0, descriptions.get(member).copied().unwrap_or_default().0]);
            for at in related.get(member).into_iter().flatten() {
                if let Some(relation) = outline.relations.get(*at)
                    && within.contains(&relation.object)
                {
                    parts.extend([relation.id.0, relation.key.0, relation.weight.to_bits()]);
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
