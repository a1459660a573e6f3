//! Stores the tags of chunks, and pairs of readers' words and documents' words. Tags that were
//! found go with their chunks (`layouts/3.sql`); what a person declared stays.

use std::cmp::Reverse;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, ChunkTags, FoundTag, KeyedClass, KeyedPair, NameKey, Origin, Stage, StoreError, Tag,
    TagClass, TagClassId, TagClasses, TagCount, TagEdit, TagExample, TagId, TagPair, TagQuery,
    TagReader, TagWriter, Which,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::base::Base;
use super::rows;
use super::rows::limit_of;

/// The origin of a class that a person dropped. The class stays as a mark, so that it is not found
/// again.
const DROPPED: &str = "dropped";

#[async_trait]
impl TagReader for Base {
    async fn tag_classes(&self) -> Result<TagClasses, StoreError> {
        self.querying("reading tag classes", |connection| {
            let any_dropped = connection
                .prepare_cached("SELECT 1 FROM tag_classes WHERE origin = ?1")?
                .exists([DROPPED])?;
            Ok(TagClasses { classes: classes(connection)?, any_dropped })
        })
        .await
    }

    async fn tags(
        &self,
        query: TagQuery<'_>,
        limit: usize,
    ) -> Result<Vec<Vec<TagCount>>, StoreError> {
        let (sql, keys, by_chunks): (_, Vec<u64>, _) = match query {
            TagQuery::InClasses(ids) => (
                "SELECT class, key, count(*) FROM chunk_tags WHERE class = ?1
                 GROUP BY key ORDER BY 3 DESC, key LIMIT ?2",
                ids.iter().map(|id| id.0).collect(),
                true,
            ),
            TagQuery::Named(keys) => (
                "SELECT class, key, count(*) FROM chunk_tags WHERE key = ?1
                 GROUP BY class ORDER BY class LIMIT ?2",
                keys.iter().map(|key| key.0).collect(),
                false,
            ),
        };
        self.querying("reading tags", move |connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut lists = Vec::with_capacity(keys.len());
            for key in keys {
                let mut counts: Vec<TagCount> = statement
                    .query_map(params![key.cast_signed(), limit_of(limit)], |row| {
                        count(connection, row)
                    })?
                    .collect::<rusqlite::Result<_>>()?;
                counts.sort_by_key(|count| {
                    (Reverse(if by_chunks { count.chunks } else { 0 }), count.tag.id)
                });
                lists.push(counts);
            }
            Ok(lists)
        })
        .await
    }

    async fn tag_pairs(
        &self,
        which: Which<'_, NameKey>,
    ) -> Result<Vec<(NameKey, TagPair)>, StoreError> {
        let keys = rows::owned(which);
        self.querying("reading tag pairs", move |connection| {
            let Some(keys) = keys else {
                let sql = format!("{PAIR} ORDER BY colloquial, professional");
                return connection.prepare_cached(&sql)?.query_map([], pair)?.collect();
            };
            let sql = format!("{PAIR} WHERE colloquial_key = ?1 ORDER BY 5 DESC, professional");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut pairs = Vec::new();
            for key in keys {
                for found in statement.query_map([key.0.cast_signed()], pair)? {
                    pairs.push(found?);
                }
            }
            Ok(pairs)
        })
        .await
    }
}

#[async_trait]
impl TagWriter for Base {
    async fn edit_tags(&self, edit: TagEdit) -> Result<bool, StoreError> {
        self.writing("changing tags", move |tx| match &edit {
            TagEdit::AddClasses(classes) => {
                classes.iter().try_for_each(|class| put_class(tx, class))?;
                Ok(true)
            }
            TagEdit::RenameClass { from, key, name } => rename_class(tx, *from, *key, name),
            TagEdit::DropClass(key) => drop_class(tx, *key),
            TagEdit::AddPairs(pairs) => put_pairs(tx, pairs).map(|()| true),
            TagEdit::DropPair { colloquial, professional } => {
                let dropped = tx.execute(
                    "DELETE FROM tag_pairs WHERE colloquial_key = ?1 AND professional_key = ?2",
                    [colloquial.0.cast_signed(), professional.0.cast_signed()],
                )?;
                Ok(0 < dropped)
            }
        })
        .await
    }
}

/// The classes of tags, by name.
pub(super) fn classes(connection: &Connection) -> rusqlite::Result<Vec<TagClass>> {
    let mut examples = connection
        .prepare_cached("SELECT text, chunk FROM tag_examples WHERE class = ?1 ORDER BY ordinal")?;
    let mut classes = Vec::new();
    let mut statement = connection.prepare_cached(
        "SELECT id, name, covers, origin FROM tag_classes WHERE origin <> ?1 ORDER BY name",
    )?;
    let mut found = statement.query([DROPPED])?;
    while let Some(row) = found.next()? {
        let id = TagClassId(rows::id(row, 0)?);
        let of_class = examples
            .query_map([id.0.cast_signed()], |row| {
                let chunk: Option<i64> = row.get(1)?;
                let chunk = chunk.map(|chunk| ChunkId(chunk.cast_unsigned()));
                Ok(TagExample { text: row.get(0)?, chunk })
            })?
            .collect::<rusqlite::Result<_>>()?;
        let origin = origin(row, 3)?;
        let (name, covers) = (row.get(1)?, row.get(2)?);
        classes.push(TagClass { id, name, covers, examples: of_class, origin });
    }
    Ok(classes)
}

/// The tags of a chunk, by identifier.
pub(super) fn of_chunk(connection: &Connection, chunk: ChunkId) -> rusqlite::Result<Vec<Tag>> {
    let mut tags: Vec<Tag> = connection
        .prepare_cached("SELECT class, key, text FROM chunk_tags WHERE chunk = ?1")?
        .query_map([chunk.0.cast_signed()], |row| tag(row, row.get(2)?))?
        .collect::<rusqlite::Result<_>>()?;
    tags.sort_by_key(|tag| tag.id);
    Ok(tags)
}

/// Reads a row of `class, key, count(*)` as a tag in the spelling that most chunks use.
pub(super) fn count(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<TagCount> {
    let text = connection
        .prepare_cached(
            "SELECT text FROM chunk_tags WHERE class = ?1 AND key = ?2
             GROUP BY text ORDER BY count(*) DESC, text LIMIT 1",
        )?
        .query_row([row.get::<_, i64>(0)?, row.get(1)?], |row| row.get(0))?;
    Ok(TagCount { tag: tag(row, text)?, chunks: rows::size(row, 2)? })
}

/// Reads a row of `class, key`.
fn tag(row: &Row<'_>, text: String) -> rusqlite::Result<Tag> {
    let class = TagClassId(rows::id(row, 0)?);
    Ok(Tag { id: TagId::of(class, rows::id(row, 1)?), class, text })
}

const PAIR: &str = "SELECT colloquial, professional, class, origin, (SELECT count(*) FROM tag_samples s
     WHERE s.colloquial_key = p.colloquial_key AND s.professional_key = p.professional_key), colloquial_key FROM tag_pairs p";

fn pair(row: &Row<'_>) -> rusqlite::Result<(NameKey, TagPair)> {
    let pair = TagPair {
        colloquial: row.get(0)?,
        professional: row.get(1)?,
        class: row.get(2)?,
        origin: origin(row, 3)?,
        samples: rows::size(row, 4)?,
    };
    Ok((NameKey(rows::id(row, 5)?), pair))
}

fn origin(row: &Row<'_>, column: usize) -> rusqlite::Result<Origin> {
    let origin: String = row.get(column)?;
    Ok(if origin == Origin::Found.as_str() { Origin::Found } else { Origin::Declared })
}

/// The class under a key and its origin, a dropped one included.
fn held(tx: &Transaction<'_>, key: NameKey) -> rusqlite::Result<Option<(i64, String)>> {
    tx.prepare_cached("SELECT id, origin FROM tag_classes WHERE key = ?1")?
        .query_row([key.0.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

fn put_class(tx: &Transaction<'_>, keyed: &KeyedClass) -> rusqlite::Result<()> {
    let KeyedClass { key, class } = keyed;
    let id = class.id.0.cast_signed();
    let known = || tx.prepare_cached("SELECT 1 FROM tag_classes WHERE id = ?1")?.exists([id]);
    match held(tx, *key)? {
        Some(_) if class.origin == Origin::Found => return Ok(()),
        // A person has renamed the class since it was found.
        None if class.origin == Origin::Found && known()? => return Ok(()),
        // The same class again: its tags stay.
        Some((held, origin)) if held == id && origin != DROPPED => {
            tx.prepare_cached(
                "UPDATE tag_classes SET name = ?2, covers = ?3, origin = ?4 WHERE id = ?1",
            )?
            .execute(params![id, class.name, class.covers, class.origin.as_str()])?;
        }
        other => {
            if let Some((held, _)) = other {
                forget_tags(tx, held)?;
                tx.prepare_cached("DELETE FROM tag_classes WHERE id = ?1")?.execute([held])?;
            }
            tx.prepare_cached(
                "INSERT INTO tag_classes(id, key, name, covers, origin) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT(id) DO UPDATE SET key = excluded.key, name = excluded.name, origin = excluded.origin",
            )?
            .execute(params![
                id,
                key.0.cast_signed(),
                class.name,
                class.covers,
                class.origin.as_str()
            ])?;
        }
    }
    tx.prepare_cached("DELETE FROM tag_examples WHERE class = ?1")?.execute([id])?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO tag_examples(class, ordinal, text, chunk) SELECT ?1, ?2, ?3, ?4
         WHERE ?4 IS NULL OR EXISTS (SELECT 1 FROM chunks WHERE id = ?4)",
    )?;
    for (ordinal, example) in class.examples.iter().enumerate() {
        let chunk = example.chunk.map(|chunk| chunk.0.cast_signed());
        insert.execute(params![id, limit_of(ordinal), example.text, chunk])?;
    }
    Ok(())
}

fn rename_class(
    tx: &Transaction<'_>,
    from: NameKey,
    key: NameKey,
    name: &str,
) -> rusqlite::Result<bool> {
    let (from, key) = (from.0.cast_signed(), key.0.cast_signed());
    let known = tx
        .prepare_cached("SELECT 1 FROM tag_classes WHERE key = ?1 AND origin <> ?2")?
        .exists(params![from, DROPPED])?;
    if !known {
        return Ok(false);
    }
    // A dropped class of that name releases the name.
    tx.execute("DELETE FROM tag_classes WHERE key = ?1 AND origin = ?2", params![key, DROPPED])?;
    let renamed = tx.execute(
        "UPDATE tag_classes SET key = ?2, name = ?3, origin = ?4 WHERE key = ?1 AND origin <> ?5",
        params![from, key, name, Origin::Declared.as_str(), DROPPED],
    )?;
    Ok(0 < renamed)
}

fn drop_class(tx: &Transaction<'_>, key: NameKey) -> rusqlite::Result<bool> {
    let dropped = tx.execute(
        "UPDATE tag_classes SET origin = ?2 WHERE key = ?1 AND origin <> ?2",
        params![key.0.cast_signed(), DROPPED],
    )?;
    if let Some(class) = held(tx, key)?.map(|(class, _)| class) {
        forget_tags(tx, class)?;
    }
    Ok(0 < dropped)
}

fn put_pairs(tx: &Transaction<'_>, pairs: &[KeyedPair]) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO tag_pairs(colloquial_key, professional_key, colloquial, professional, class, origin)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT(colloquial_key, professional_key) DO UPDATE SET
           class = CASE WHEN excluded.class = '' THEN class ELSE excluded.class END,
           origin = CASE WHEN excluded.origin = 'declared' THEN 'declared' ELSE origin END",
    )?;
    let mut sample = tx.prepare_cached(
        "INSERT INTO tag_samples(colloquial_key, professional_key, sample) VALUES (?1, ?2, ?3)
         ON CONFLICT DO NOTHING",
    )?;
    for KeyedPair { colloquial, professional, sample: from, pair } in pairs {
        let (one, other) = (colloquial.0.cast_signed(), professional.0.cast_signed());
        insert.execute(params![
            one,
            other,
            pair.colloquial,
            pair.professional,
            pair.class,
            pair.origin.as_str()
        ])?;
        if let Some(from) = from {
            sample.execute([one, other, from.0.cast_signed()])?;
        }
    }
    Ok(())
}

/// Deletes the tags of a class, and the mark that it was searched for.
fn forget_tags(tx: &Transaction<'_>, class: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM tag_examples WHERE class = ?1")?.execute([class])?;
    tx.prepare_cached("DELETE FROM chunk_tags WHERE class = ?1")?.execute([class])?;
    tx.prepare_cached("DELETE FROM progress WHERE stage = ?1")?
        .execute([Stage::tag(TagClassId(class.cast_unsigned())).0])
        .map(drop)
}

pub(super) fn put_tags(tx: &Transaction<'_>, found: &ChunkTags) -> rusqlite::Result<()> {
    let chunk = found.chunk.0.cast_signed();
    // Its document may have been deleted while the model ran.
    if !tx.prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")?.exists([chunk])? {
        return Ok(());
    }
    let mut alive =
        tx.prepare_cached("SELECT 1 FROM tag_classes WHERE id = ?1 AND origin <> ?2")?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO chunk_tags(chunk, class, key, text) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
    )?;
    let mut mark = tx.prepare_cached(
        "INSERT INTO progress(stage, chunk) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?;
    for class in &found.classes {
        if !alive.exists(params![class.0.cast_signed(), DROPPED])? {
            continue;
        }
        for FoundTag { key, text, .. } in found.tags.iter().filter(|tag| tag.class == *class) {
            insert.execute(params![chunk, class.0.cast_signed(), key.0.cast_signed(), text])?;
        }
        mark.execute(params![Stage::tag(*class).0, chunk])?;
    }
    Ok(())
}
