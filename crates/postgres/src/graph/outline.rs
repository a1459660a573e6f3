//! Reads the entity graph without its texts, in one pass over the mentions.

use futures::TryStreamExt;
use pikerag_knowledge::distilled::descriptions_key;
use pikerag_knowledge::{
    DescriptionsKey, EntityId, Generation, Outline, OutlineEntity, OutlineRelation, RelationId,
};

use super::READING_ORDER;
use crate::fault::Sql;
use crate::meta::{TEXT_GENERATION, counter};
use crate::rows;
use crate::tx::Tx;

/// The generation of the documents.
pub(super) async fn generation(tx: &Tx) -> Sql<Generation> {
    Ok(Generation(counter(tx, TEXT_GENERATION).await?.cast_unsigned()))
}

/// The whole entity graph.
pub(super) async fn outline(tx: &Tx) -> Sql<Outline> {
    let generation = generation(tx).await?;
    let entities = entities(tx).await?;
    Ok(Outline { generation, entities, relations: relations(tx).await? })
}

async fn entities(tx: &Tx) -> Sql<Vec<OutlineEntity>> {
    let sql = format!(
        "SELECT m.entity, m.name, m.kind, m.description FROM entity_mentions m JOIN chunks c ON c.id = m.chunk
         JOIN sources s ON s.id = c.source ORDER BY m.entity, {READING_ORDER}"
    );
    let mut entities = Vec::new();
    let mut texts = Vec::new();
    let mut current: Option<EntityId> = None;
    let mut mentions = tx.stream(&sql, &[]).await?;
    while let Some(mention) = mentions.try_next().await? {
        let id = EntityId(rows::id(&mention, 0)?);
        if let Some(before) = current.replace(id)
            && before != id
        {
            entities.push(OutlineEntity { id: before, key: key_of(&mut texts) });
        }
        for column in 1..=3 {
            texts.push(rows::text(&mention, column)?);
        }
    }
    entities.extend(current.map(|last| OutlineEntity { id: last, key: key_of(&mut texts) }));
    Ok(entities)
}

async fn relations(tx: &Tx) -> Sql<Vec<OutlineRelation>> {
    let sql = format!(
        "SELECT r.id, r.subject, r.object, m.description, m.weight FROM relations r
         JOIN relation_mentions m ON m.relation = r.id JOIN chunks c ON c.id = m.chunk
         JOIN sources s ON s.id = c.source ORDER BY r.id, {READING_ORDER}"
    );
    let mut relations = Vec::new();
    let mut texts = Vec::new();
    let mut current: Option<OutlineRelation> = None;
    let mut mentions = tx.stream(&sql, &[]).await?;
    while let Some(mention) = mentions.try_next().await? {
        let id = RelationId(rows::id(&mention, 0)?);
        let weight: f64 = mention.try_get(4)?;
        match &mut current {
            Some(relation) if relation.id == id => relation.weight += weight,
            _ => {
                let next = OutlineRelation {
                    id,
                    subject: EntityId(rows::id(&mention, 1)?),
                    object: EntityId(rows::id(&mention, 2)?),
                    weight,
                    key: DescriptionsKey::default(),
                };
                if let Some(done) = current.replace(next) {
                    relations.push(OutlineRelation { key: key_of(&mut texts), ..done });
                }
            }
        }
        texts.push(rows::text(&mention, 3)?);
    }
    relations.extend(current.map(|done| OutlineRelation { key: key_of(&mut texts), ..done }));
    Ok(relations)
}

fn key_of(texts: &mut Vec<String>) -> DescriptionsKey {
    descriptions_key(std::mem::take(texts).iter().map(String::as_str))
}
