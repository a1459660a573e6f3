//! Stores the results of extraction, each in place of the chunk's earlier results, and what is made
//! of them. Triggers (`migrations/1.sql`) delete what was derived from the changed mentions.

use std::collections::{BTreeMap, HashSet};

use pikerag_knowledge::distilled::descriptions_key;
use pikerag_knowledge::{
    Community, CommunityReport, EntityId, ExtractBy, Extraction, InChunk, ShortDescription, Stage,
};

use super::descriptions::descriptions_of;
use super::existing;
use crate::fault::Sql;
use crate::rows::{self, Text};
use crate::tx::Tx;

/// Stores the entities and relations of chunks, and marks the chunks as finished.
pub(crate) async fn put_extraction(
    tx: &Tx,
    by: ExtractBy,
    found: &[InChunk<Extraction>],
) -> Sql<()> {
    // The last result of a chunk counts.
    let mut by_chunk: BTreeMap<i64, &Extraction> =
        found.iter().map(|it| (it.chunk.0.cast_signed(), &it.found)).collect();
    let chunks: Vec<i64> = by_chunk.keys().copied().collect();
    let there = existing(tx, &chunks).await?;
    by_chunk.retain(|chunk, _| there.contains(&chunk.cast_unsigned()));
    let chunks: Vec<i64> = by_chunk.keys().copied().collect();
    tx.run("DELETE FROM relation_mentions WHERE chunk = ANY($1)", &[&chunks]).await?;
    tx.run("DELETE FROM entity_mentions WHERE chunk = ANY($1)", &[&chunks]).await?;
    put_entities(tx, &by_chunk).await?;
    put_relations(tx, &by_chunk).await?;
    let done: &[ExtractBy] = match by {
        ExtractBy::Model => &[ExtractBy::Model, ExtractBy::Names],
        ExtractBy::Names => &[ExtractBy::Names],
    };
    let stages: Vec<String> = done.iter().map(|by| Stage::extract(*by).0).collect();
    let sql = "INSERT INTO progress (stage, chunk)
         SELECT s.stage, c.chunk FROM unnest($1::text[]) AS s(stage), unnest($2::bigint[]) AS c(chunk)
         ON CONFLICT DO NOTHING";
    tx.run(sql, &[&stages, &chunks]).await.map(drop)
}

async fn put_entities(tx: &Tx, by_chunk: &BTreeMap<i64, &Extraction>) -> Sql<()> {
    let (mut ids, mut chunks) = (Vec::new(), Vec::new());
    let (mut names, mut kinds, mut descriptions) = (Vec::new(), Vec::new(), Vec::new());
    for (chunk, extraction) in by_chunk {
        for entity in &extraction.entities {
            ids.push(entity.id.0.cast_signed());
            chunks.push(*chunk);
            names.push(Text(&entity.name));
            kinds.push(Text(&entity.kind));
            descriptions.push(Text(&entity.description));
        }
    }
    let sql = "INSERT INTO entities (id) SELECT unnest($1::bigint[]) ON CONFLICT DO NOTHING";
    tx.run(sql, &[&ids]).await?;
    let sql = "INSERT INTO entity_mentions (entity, chunk, name, kind, description)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
         ON CONFLICT DO NOTHING";
    tx.run(sql, &[&ids, &chunks, &names, &kinds, &descriptions]).await.map(drop)
}

async fn put_relations(tx: &Tx, by_chunk: &BTreeMap<i64, &Extraction>) -> Sql<()> {
    let (mut ids, mut chunks) = (Vec::new(), Vec::new());
    let (mut subjects, mut objects) = (Vec::new(), Vec::new());
    let (mut descriptions, mut weights) = (Vec::new(), Vec::new());
    for (chunk, extraction) in by_chunk {
        let mentioned: HashSet<EntityId> =
            extraction.entities.iter().map(|entity| entity.id).collect();
        for stated in &extraction.relations {
            // Both ends are mentions of the same chunk, so they go together with the relation.
            if !mentioned.contains(&stated.subject) || !mentioned.contains(&stated.object) {
                continue;
            }
            ids.push(stated.id.0.cast_signed());
            chunks.push(*chunk);
            subjects.push(stated.subject.0.cast_signed());
            objects.push(stated.object.0.cast_signed());
            descriptions.push(Text(&stated.description));
            weights.push(stated.weight);
        }
    }
    let sql = "INSERT INTO relations (id, subject, object)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING";
    tx.run(sql, &[&ids, &subjects, &objects]).await?;
    let sql = "INSERT INTO relation_mentions (relation, chunk, description, weight)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::float8[])
         ON CONFLICT DO NOTHING";
    tx.run(sql, &[&ids, &chunks, &descriptions, &weights]).await.map(drop)
}

/// Stores summaries of long descriptions, if the descriptions are still those that they were made
/// from.
pub(crate) async fn put_descriptions(tx: &Tx, made: &[ShortDescription]) -> Sql<()> {
    let nodes = rows::signed(made.iter().map(|short| short.node.0));
    let descriptions = descriptions_of(tx, &nodes).await?;
    let (mut nodes, mut texts) = (Vec::new(), Vec::new());
    for ShortDescription { node, made_from, text } in made {
        let current = descriptions.get(&node.0).map_or(&[][..], Vec::as_slice);
        if descriptions_key(current.iter().map(String::as_str)) == *made_from {
            nodes.push(node.0.cast_signed());
            texts.push(Text(text));
        }
    }
    let sql = "INSERT INTO descriptions (node, text) SELECT * FROM unnest($1::bigint[], $2::text[])
         ON CONFLICT DO NOTHING";
    tx.run(sql, &[&nodes, &texts]).await.map(drop)
}

/// Replaces all communities with these; those that remain keep their reports.
pub(super) async fn put_communities(tx: &Tx, communities: &[Community]) -> Sql<()> {
    let kept = rows::signed(communities.iter().map(|community| community.id.0));
    let sql = "DELETE FROM communities WHERE id NOT IN (SELECT unnest($1::bigint[]))";
    tx.run(sql, &[&kept]).await?;
    let by_id: BTreeMap<i64, &Community> =
        communities.iter().map(|community| (community.id.0.cast_signed(), community)).collect();
    let (mut ids, mut levels, mut parents) = (Vec::new(), Vec::new(), Vec::new());
    for (id, community) in by_id {
        ids.push(id);
        levels.push(i64::from(community.level));
        parents.push(community.parent.map(|parent| parent.0.cast_signed()));
    }
    let sql = "INSERT INTO communities (id, level, parent)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
         ON CONFLICT (base, id) DO UPDATE SET level = excluded.level, parent = excluded.parent";
    tx.run(sql, &[&ids, &levels, &parents]).await?;
    let (mut ids, mut members) = (Vec::new(), Vec::new());
    for community in communities {
        for entity in &community.members {
            ids.push(community.id.0.cast_signed());
            members.push(entity.0.cast_signed());
        }
    }
    let sql = "INSERT INTO members (community, entity)
         SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING";
    tx.run(sql, &[&ids, &members]).await.map(drop)
}

/// Stores reports on communities that still exist; a report replaces the earlier one.
pub(crate) async fn put_reports(tx: &Tx, reports: &[CommunityReport]) -> Sql<()> {
    let by_id: BTreeMap<i64, &CommunityReport> =
        reports.iter().map(|report| (report.community.0.cast_signed(), report)).collect();
    let (mut ids, mut titles, mut summaries) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ratings, mut findings, mut models) = (Vec::new(), Vec::new(), Vec::new());
    for (id, CommunityReport { report, .. }) in by_id {
        ids.push(id);
        titles.push(Text(&report.title));
        summaries.push(Text(&report.summary));
        ratings.push(report.rating);
        findings.push(rows::to_json(&report.findings)?);
        models.push(Text::optional(report.model.as_ref()));
    }
    let sql = "INSERT INTO reports (community, title, summary, rating, findings, model)
         SELECT w.* FROM unnest($1::bigint[], $2::text[], $3::text[], $4::float8[], $5::text[], $6::text[])
             AS w(community, title, summary, rating, findings, model)
         WHERE EXISTS (SELECT 1 FROM communities c WHERE c.id = w.community)
         ON CONFLICT (base, community) DO UPDATE SET title = excluded.title, summary = excluded.summary,
             rating = excluded.rating, findings = excluded.findings, model = excluded.model";
    tx.run(sql, &[&ids, &titles, &summaries, &ratings, &findings, &models]).await.map(drop)
}
