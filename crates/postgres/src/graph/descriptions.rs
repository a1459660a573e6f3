//! Reads the descriptions of entities and relations, and finds those that are too long for a prompt.

use std::collections::{BTreeSet, HashMap};

use pikerag_knowledge::{EntityId, LongDescription, NodeId};
use pikerag_store::shared::each_once;

use super::READING_ORDER;
use super::entities::{entities_by_id, relations_by_id};
use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

/// The column of a node, and the table of its mentions.
const MENTIONS: [(&str, &str); 2] =
    [("entity", "entity_mentions"), ("relation", "relation_mentions")];
/// Nodes whose descriptions are read by one statement.
const BATCH: usize = 1000;

/// Entities and relations with more than `bytes` of descriptions and no summary yet.
pub(super) async fn long_descriptions(tx: &Tx, bytes: usize) -> Sql<Vec<LongDescription>> {
    let mut long = Vec::new();
    for (node, table) in MENTIONS {
        // Escapes make a text longer, so this finds too many nodes at most.
        let sql = format!(
            "SELECT m.{node} FROM {table} m
             WHERE NOT EXISTS (SELECT 1 FROM descriptions d WHERE d.node = m.{node})
             GROUP BY m.{node} HAVING $1 < sum(octet_length(m.description)) ORDER BY m.{node}"
        );
        let ids = rows::signed(rows::ids(&tx.all(&sql, &[&rows::number(bytes)]).await?)?);
        for ids in ids.chunks(BATCH) {
            let mut descriptions = descriptions_of(tx, ids).await?;
            descriptions.retain(|_, texts| bytes < texts.iter().map(String::len).sum::<usize>());
            let nodes: Vec<i64> = ids
                .iter()
                .copied()
                .filter(|id| descriptions.contains_key(&id.cast_unsigned()))
                .collect();
            let mut names = names_of(tx, &nodes).await?;
            for id in nodes.into_iter().map(i64::cast_unsigned) {
                let name = names.remove(&id).unwrap_or_default();
                let descriptions = descriptions.remove(&id).unwrap_or_default();
                long.push(LongDescription { node: NodeId(id), name, descriptions });
            }
        }
    }
    Ok(long)
}

/// All descriptions of entities and relations in reading order, each once.
pub(super) async fn descriptions_of(tx: &Tx, nodes: &[i64]) -> Sql<HashMap<u64, Vec<String>>> {
    let mut found: HashMap<u64, Vec<String>> = HashMap::new();
    for (node, table) in MENTIONS {
        let sql = format!(
            "SELECT m.{node}, m.description FROM {table} m JOIN chunks c ON c.id = m.chunk
             JOIN sources s ON s.id = c.source WHERE m.{node} = ANY($1) ORDER BY {READING_ORDER}"
        );
        for row in tx.all(&sql, &[&nodes]).await? {
            found.entry(rows::id(&row, 0)?).or_default().push(rows::text(&row, 1)?);
        }
    }
    Ok(found.into_iter().map(|(id, texts)| (id, each_once(texts))).collect())
}

/// The names of entities and relations; both ends name a relation.
async fn names_of(tx: &Tx, nodes: &[i64]) -> Sql<HashMap<u64, String>> {
    let relations = relations_by_id(tx, nodes).await?;
    let mut ids: BTreeSet<i64> = nodes.iter().copied().collect();
    for relation in relations.values() {
        ids.extend([relation.subject, relation.object].map(|end| end.0.cast_signed()));
    }
    let ids: Vec<i64> = ids.into_iter().collect();
    let entities = entities_by_id(tx, &ids).await?;
    let name = |id: EntityId| entities.get(&id.0).map_or("", |entity| entity.name.as_str());
    let mut names = HashMap::with_capacity(nodes.len());
    for id in nodes.iter().map(|id| id.cast_unsigned()) {
        let of_node = match relations.get(&id) {
            Some(relation) => format!("{} → {}", name(relation.subject), name(relation.object)),
            None => name(EntityId(id)).to_owned(),
        };
        names.insert(id, of_node);
    }
    Ok(names)
}
