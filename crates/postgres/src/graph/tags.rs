//! Stores the tags of chunks, and pairs of readers' words and documents' words. Tags that were
//! found go with their chunks (`migrations/1.sql`); what a person declared stays.

mod edit;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, ChunkTags, NameKey, Origin, Stage, StoreError, Tag, TagClass, TagClassId, TagClasses,
    TagCount, TagEdit, TagExample, TagId, TagPair, TagQuery, TagReader, TagWriter, Which,
};
use tokio_postgres::Row;

use super::existing;
use crate::base::Base;
use crate::fault::Sql;
use crate::rows::{self, Text};
use crate::tx::{Access, Tx};

/// The origin of a class that a person dropped. The class stays as a mark, so that it is not found
/// again.
const DROPPED: &str = "dropped";

#[async_trait]
impl TagReader for Base {
    async fn tag_classes(&self) -> Result<TagClasses, StoreError> {
        self.reading("reading tag classes", move |tx| async move {
            let sql = "SELECT 1 FROM tag_classes WHERE origin = $1 LIMIT 1";
            let any_dropped = tx.exists(sql, &[&DROPPED]).await?;
            Ok(TagClasses { classes: classes(&tx).await?, any_dropped })
        })
        .await
    }

    async fn tags(
        &self,
        query: TagQuery<'_>,
        limit: usize,
    ) -> Result<Vec<Vec<TagCount>>, StoreError> {
        self.reading("reading tags", move |tx| async move { counts(&tx, query, limit).await }).await
    }

    async fn tag_pairs(
        &self,
        which: Which<'_, NameKey>,
    ) -> Result<Vec<(NameKey, TagPair)>, StoreError> {
        let keys = rows::owned(which);
        self.reading("reading tag pairs", move |tx| async move { pairs(&tx, keys).await }).await
    }
}

#[async_trait]
impl TagWriter for Base {
    async fn edit_tags(&self, edit: TagEdit) -> Result<bool, StoreError> {
        self.writing("changing tags", Access::Documents, move |tx| async move {
            edit::apply(&tx, &edit).await
        })
        .await
    }
}

/// The classes of tags, by name.
async fn classes(tx: &Tx) -> Sql<Vec<TagClass>> {
    let mut examples: HashMap<u64, Vec<TagExample>> = HashMap::new();
    let sql = "SELECT class, text, chunk FROM tag_examples ORDER BY class, ordinal";
    for row in tx.all(sql, &[]).await? {
        let chunk: Option<i64> = row.try_get(2)?;
        let chunk = chunk.map(|chunk| ChunkId(chunk.cast_unsigned()));
        let example = TagExample { text: rows::text(&row, 1)?, chunk };
        examples.entry(rows::id(&row, 0)?).or_default().push(example);
    }
    let mut classes = Vec::new();
    let sql = "SELECT id, name, covers, origin FROM tag_classes WHERE origin <> $1 ORDER BY name";
    for row in tx.all(sql, &[&DROPPED]).await? {
        let id = TagClassId(rows::id(&row, 0)?);
        classes.push(TagClass {
            id,
            name: rows::text(&row, 1)?,
            covers: rows::text(&row, 2)?,
            examples: examples.remove(&id.0).unwrap_or_default(),
            origin: origin(&row, 3)?,
        });
    }
    Ok(classes)
}

/// The spelling that most chunks use of the tag `f`, as `x.text`.
pub(super) const SPELLING: &str = "CROSS JOIN LATERAL (
         SELECT o.text FROM chunk_tags o WHERE o.class = f.class AND o.key = f.key
         GROUP BY o.text ORDER BY count(*) DESC, o.text LIMIT 1) AS x";

async fn counts(tx: &Tx, query: TagQuery<'_>, limit: usize) -> Sql<Vec<Vec<TagCount>>> {
    let (of_node, nodes, by_chunks) = match query {
        TagQuery::InClasses(ids) => {
            let of_class = "WHERE t.class = w.id GROUP BY t.class, t.key ORDER BY 3 DESC, t.key";
            (of_class, rows::signed(ids.iter().map(|id| id.0)), true)
        }
        TagQuery::Named(keys) => {
            let of_key = "WHERE t.key = w.id GROUP BY t.class, t.key ORDER BY t.class";
            (of_key, rows::signed(keys.iter().map(|key| key.0)), false)
        }
    };
    let sql = format!(
        "SELECT f.class, f.key, f.chunks, x.text, w.nth - 1
         FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, nth) CROSS JOIN LATERAL (
             SELECT t.class, t.key, count(*) AS chunks FROM chunk_tags t {of_node} LIMIT $2) AS f {SPELLING}"
    );
    let mut lists: Vec<Vec<TagCount>> = nodes.iter().map(|_| Vec::new()).collect();
    for row in tx.all(&sql, &[&nodes, &rows::number(limit)]).await? {
        if let Some(list) = lists.get_mut(rows::size(&row, 4)?) {
            list.push(count(&row)?);
        }
    }
    for counts in &mut lists {
        counts
            .sort_by_key(|count| (Reverse(if by_chunks { count.chunks } else { 0 }), count.tag.id));
    }
    Ok(lists)
}

/// Reads a row of class, key, number of chunks and spelling.
pub(super) fn count(row: &Row) -> Sql<TagCount> {
    Ok(TagCount { tag: tag(row, rows::text(row, 3)?)?, chunks: rows::size(row, 2)? })
}

/// Reads a row of class and key.
fn tag(row: &Row, text: String) -> Sql<Tag> {
    let class = TagClassId(rows::id(row, 0)?);
    Ok(Tag { id: TagId::of(class, rows::id(row, 1)?), class, text })
}

/// The tags of each chunk, by identifier.
pub(super) async fn of_chunks(tx: &Tx, chunks: &[i64]) -> Sql<Vec<Vec<Tag>>> {
    let sql = "SELECT t.class, t.key, t.text, w.nth - 1
         FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, nth) JOIN chunk_tags t ON t.chunk = w.id";
    let mut lists: Vec<Vec<Tag>> = chunks.iter().map(|_| Vec::new()).collect();
    for row in tx.all(sql, &[&chunks]).await? {
        if let Some(list) = lists.get_mut(rows::size(&row, 3)?) {
            list.push(tag(&row, rows::text(&row, 2)?)?);
        }
    }
    for tags in &mut lists {
        tags.sort_by_key(|tag| tag.id);
    }
    Ok(lists)
}

const PAIR: &str = "SELECT p.colloquial, p.professional, p.class, p.origin, (SELECT count(*) FROM tag_samples s
     WHERE s.colloquial_key = p.colloquial_key AND s.professional_key = p.professional_key), p.colloquial_key";

async fn pairs(tx: &Tx, keys: Option<Vec<NameKey>>) -> Sql<Vec<(NameKey, TagPair)>> {
    let found = match keys {
        None => {
            let sql = format!("{PAIR} FROM tag_pairs p ORDER BY p.colloquial, p.professional");
            tx.all(&sql, &[]).await?
        }
        Some(keys) => {
            let keys = rows::signed(keys.into_iter().map(|key| key.0));
            let sql = format!(
                "{PAIR} FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, nth)
                 JOIN tag_pairs p ON p.colloquial_key = w.id ORDER BY w.nth, 5 DESC, p.professional"
            );
            tx.all(&sql, &[&keys]).await?
        }
    };
    found.iter().map(pair).collect()
}

fn pair(row: &Row) -> Sql<(NameKey, TagPair)> {
    let pair = TagPair {
        colloquial: rows::text(row, 0)?,
        professional: rows::text(row, 1)?,
        class: rows::text(row, 2)?,
        origin: origin(row, 3)?,
        samples: rows::size(row, 4)?,
    };
    Ok((NameKey(rows::id(row, 5)?), pair))
}

fn origin(row: &Row, column: usize) -> Sql<Origin> {
    let origin: &str = row.try_get(column)?;
    Ok(if origin == Origin::Found.as_str() { Origin::Found } else { Origin::Declared })
}

/// Stores the tags of chunks that exist, and marks their classes as finished.
pub(crate) async fn put_tags(tx: &Tx, found: &[ChunkTags]) -> Sql<()> {
    let there = existing(tx, &rows::signed(found.iter().map(|it| it.chunk.0))).await?;
    let asked = found.iter().flat_map(|it| &it.classes).map(|class| class.0);
    let sql = "SELECT id FROM tag_classes WHERE id = ANY($1) AND origin <> $2";
    let alive = tx.all(sql, &[&rows::signed(asked), &DROPPED]).await?;
    let alive: HashSet<u64> = rows::ids(&alive)?.into_iter().collect();
    let (mut chunks, mut classes) = (Vec::new(), Vec::new());
    let (mut keys, mut texts) = (Vec::new(), Vec::new());
    let mut marks: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
    for ChunkTags { chunk, classes: finished, tags } in found {
        // Its document may have been deleted while the model ran.
        if !there.contains(&chunk.0) {
            continue;
        }
        for class in finished.iter().filter(|class| alive.contains(&class.0)) {
            for tag in tags.iter().filter(|tag| tag.class == *class) {
                chunks.push(chunk.0.cast_signed());
                classes.push(class.0.cast_signed());
                keys.push(tag.key.0.cast_signed());
                texts.push(Text(&tag.text));
            }
            marks.entry(class.0).or_default().push(chunk.0.cast_signed());
        }
    }
    let sql = "INSERT INTO chunk_tags (chunk, class, key, text)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[])
         ON CONFLICT DO NOTHING";
    tx.run(sql, &[&chunks, &classes, &keys, &texts]).await?;
    let (mut stages, mut chunks) = (Vec::new(), Vec::new());
    for (class, of_class) in marks {
        let stage = Stage::tag(TagClassId(class)).0;
        stages.extend(of_class.iter().map(|_| stage.clone()));
        chunks.extend(of_class);
    }
    let sql = "INSERT INTO progress (stage, chunk) SELECT * FROM unnest($1::text[], $2::bigint[])
         ON CONFLICT DO NOTHING";
    tx.run(sql, &[&stages, &chunks]).await.map(drop)
}
