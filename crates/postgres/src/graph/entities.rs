//! Combines what chunks say about entities and relations. Names, kinds and descriptions come from
//! mentions in reading order.

use std::collections::{BTreeSet, HashMap};

use pikerag_knowledge::{Entity, EntityId, Relation, RelationId};
use pikerag_store::shared::{Votes, each_once};

use super::READING_ORDER;
use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

/// These entities, in the given order; unknown ones are left out.
pub(crate) async fn entities(tx: &Tx, ids: &[EntityId]) -> Sql<Vec<Entity>> {
    let keys: BTreeSet<EntityId> = ids.iter().copied().collect();
    let keys = rows::signed(keys.into_iter().map(|id| id.0));
    let known = entities_by_id(tx, &keys).await?;
    Ok(ids.iter().filter_map(|id| known.get(&id.0).cloned()).collect())
}

/// What the chunks say about an entity.
#[derive(Default)]
struct Mentions {
    names: Votes,
    kinds: Votes,
    descriptions: Vec<String>,
}

/// The entities with these identifiers.
pub(super) async fn entities_by_id(tx: &Tx, ids: &[i64]) -> Sql<HashMap<u64, Entity>> {
    let sql = format!(
        "SELECT m.entity, m.name, m.kind, m.description FROM entity_mentions m JOIN chunks c ON c.id = m.chunk
         JOIN sources s ON s.id = c.source WHERE m.entity = ANY($1) ORDER BY {READING_ORDER}"
    );
    let mut mentions: HashMap<u64, Mentions> = HashMap::new();
    for row in tx.all(&sql, &[&ids]).await? {
        let entity = mentions.entry(rows::id(&row, 0)?).or_default();
        entity.names.add(rows::text(&row, 1)?);
        entity.kinds.add(rows::text(&row, 2)?);
        entity.descriptions.push(rows::text(&row, 3)?);
    }
    let mut short = short_descriptions(tx, ids).await?;
    let mut found = HashMap::with_capacity(mentions.len());
    for (id, Mentions { names, kinds, descriptions }) in mentions {
        let Some(name) = names.winner() else { continue };
        let kind = kinds.winner().unwrap_or_default();
        let description = description(short.remove(&id), descriptions);
        found.insert(id, Entity { id: EntityId(id), name, kind, description });
    }
    Ok(found)
}

/// The summary of a long description if there is one, else all descriptions joined.
fn description(short: Option<String>, descriptions: Vec<String>) -> String {
    short.unwrap_or_else(|| each_once(descriptions).join(" "))
}

/// The summaries of long descriptions of these entities and relations.
async fn short_descriptions(tx: &Tx, nodes: &[i64]) -> Sql<HashMap<u64, String>> {
    let sql = "SELECT node, text FROM descriptions WHERE node = ANY($1)";
    let found = tx.all(sql, &[&nodes]).await?;
    found.iter().map(|row| Ok((rows::id(row, 0)?, rows::text(row, 1)?))).collect()
}

/// The relations with an end among these, heaviest first.
pub(super) async fn relations_of(tx: &Tx, entities: &[EntityId]) -> Sql<Vec<Relation>> {
    let entities = rows::signed(entities.iter().map(|id| id.0));
    let sql = "SELECT id FROM relations WHERE subject = ANY($1)
         UNION SELECT id FROM relations WHERE object = ANY($1)";
    let ids = rows::signed(rows::ids(&tx.all(sql, &[&entities]).await?)?);
    let mut found: Vec<Relation> = relations_by_id(tx, &ids).await?.into_values().collect();
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.id.cmp(&b.id)));
    Ok(found)
}

/// What the chunks say about a relation.
struct Stated {
    subject: EntityId,
    object: EntityId,
    descriptions: Vec<String>,
    weight: f64,
}

/// The relations with these identifiers. Weights are added in reading order.
pub(super) async fn relations_by_id(tx: &Tx, ids: &[i64]) -> Sql<HashMap<u64, Relation>> {
    let sql = format!(
        "SELECT r.id, r.subject, r.object, m.description, m.weight FROM relations r
         JOIN relation_mentions m ON m.relation = r.id JOIN chunks c ON c.id = m.chunk
         JOIN sources s ON s.id = c.source WHERE r.id = ANY($1) ORDER BY {READING_ORDER}"
    );
    let mut stated: HashMap<u64, Stated> = HashMap::new();
    for row in tx.all(&sql, &[&ids]).await? {
        let (subject, object) = (EntityId(rows::id(&row, 1)?), EntityId(rows::id(&row, 2)?));
        let relation = stated.entry(rows::id(&row, 0)?).or_insert_with(|| Stated {
            subject,
            object,
            descriptions: Vec::new(),
            weight: 0.0,
        });
        relation.descriptions.push(rows::text(&row, 3)?);
        relation.weight += row.try_get::<_, f64>(4)?;
    }
    let mut short = short_descriptions(tx, ids).await?;
    let mut found = HashMap::with_capacity(stated.len());
    for (id, Stated { subject, object, descriptions, weight }) in stated {
        let description = description(short.remove(&id), descriptions);
        let relation = Relation { id: RelationId(id), subject, object, description, weight };
        found.insert(id, relation);
    }
    Ok(found)
}

/// The other ends of the heaviest relations of these entities.
pub(super) async fn related_to(tx: &Tx, entities: &[EntityId], limit: usize) -> Sql<Vec<EntityId>> {
    let ids = rows::signed(entities.iter().map(|id| id.0));
    let sql = format!(
        "SELECT r.subject, r.object FROM relations r
         WHERE r.id = ANY(ARRAY(SELECT a.id FROM relations a WHERE a.subject = ANY($1)
             UNION SELECT b.id FROM relations b WHERE b.object = ANY($1)))
         ORDER BY coalesce((SELECT sum(m.weight ORDER BY {READING_ORDER}) FROM relation_mentions m
             JOIN chunks c ON c.id = m.chunk JOIN sources s ON s.id = c.source WHERE m.relation = r.id), 0) DESC, r.id
         LIMIT $2"
    );
    let mut seen: BTreeSet<EntityId> = entities.iter().copied().collect();
    let mut others = Vec::new();
    for row in tx.all(&sql, &[&ids, &rows::number(limit)]).await? {
        for end in [EntityId(rows::id(&row, 0)?), EntityId(rows::id(&row, 1)?)] {
            if seen.insert(end) {
                others.push(end);
            }
        }
    }
    Ok(others)
}
