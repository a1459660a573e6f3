//! Changes classes of tags and pairs of words.

use std::collections::BTreeMap;

use pikerag_knowledge::{
    KeyedClass, KeyedPair, NameKey, Origin, Stage, TagClassId, TagEdit, TagPair,
};

use super::DROPPED;
use crate::fault::Sql;
use crate::rows::Text;
use crate::tx::Tx;

/// Returns whether the renamed or dropped item existed; adding always succeeds.
pub(super) async fn apply(tx: &Tx, edit: &TagEdit) -> Sql<bool> {
    match edit {
        TagEdit::AddClasses(classes) => {
            for class in classes {
                put_class(tx, class).await?;
            }
            Ok(true)
        }
        TagEdit::RenameClass { from, key, name } => rename_class(tx, *from, *key, name).await,
        TagEdit::DropClass(key) => drop_class(tx, *key).await,
        TagEdit::AddPairs(pairs) => put_pairs(tx, pairs).await.map(|()| true),
        TagEdit::DropPair { colloquial, professional } => {
            let (one, other) = (colloquial.0.cast_signed(), professional.0.cast_signed());
            let sql = "DELETE FROM tag_pairs WHERE colloquial_key = $1 AND professional_key = $2";
            Ok(0 < tx.run(sql, &[&one, &other]).await?)
        }
    }
}

/// The class under a key and its origin, a dropped one included.
async fn held(tx: &Tx, key: NameKey) -> Sql<Option<(i64, String)>> {
    let sql = "SELECT id, origin FROM tag_classes WHERE key = $1";
    let row = tx.optional(sql, &[&key.0.cast_signed()]).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}

/// There are few classes, so each has statements of its own.
async fn put_class(tx: &Tx, keyed: &KeyedClass) -> Sql<()> {
    let KeyedClass { key, class } = keyed;
    let id = class.id.0.cast_signed();
    let (name, covers, origin) = (Text(&class.name), Text(&class.covers), class.origin.as_str());
    let held = held(tx, *key).await?;
    if class.origin == Origin::Found {
        let known = "SELECT 1 FROM tag_classes WHERE id = $1";
        // A person has renamed the class since it was found, or declared another one of that name.
        if held.is_some() || tx.exists(known, &[&id]).await? {
            return Ok(());
        }
    }
    match held {
        // The same class again: its tags stay.
        Some((held, before)) if held == id && before != DROPPED => {
            let sql = "UPDATE tag_classes SET name = $2, covers = $3, origin = $4 WHERE id = $1";
            tx.run(sql, &[&id, &name, &covers, &origin]).await?;
        }
        other => {
            if let Some((held, _)) = other {
                forget_tags(tx, held).await?;
                tx.run("DELETE FROM tag_classes WHERE id = $1", &[&held]).await?;
            }
            let sql = "INSERT INTO tag_classes (id, key, name, covers, origin) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (base, id) DO UPDATE SET key = excluded.key, name = excluded.name, origin = excluded.origin";
            tx.run(sql, &[&id, &key.0.cast_signed(), &name, &covers, &origin]).await?;
        }
    }
    tx.run("DELETE FROM tag_examples WHERE class = $1", &[&id]).await?;
    let texts = Text::all(class.examples.iter().map(|example| &example.text));
    let chunks: Vec<Option<i64>> = class
        .examples
        .iter()
        .map(|example| example.chunk.map(|chunk| chunk.0.cast_signed()))
        .collect();
    let sql = "INSERT INTO tag_examples (class, ordinal, text, chunk)
         SELECT $1::bigint, w.nth - 1, w.text, w.chunk
         FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS w(text, chunk, nth)
         WHERE w.chunk IS NULL OR EXISTS (SELECT 1 FROM chunks c WHERE c.id = w.chunk)";
    tx.run(sql, &[&id, &texts, &chunks]).await.map(drop)
}

async fn rename_class(tx: &Tx, from: NameKey, key: NameKey, name: &str) -> Sql<bool> {
    let (from, key) = (from.0.cast_signed(), key.0.cast_signed());
    let sql = "SELECT 1 FROM tag_classes WHERE key = $1 AND origin <> $2";
    if !tx.exists(sql, &[&from, &DROPPED]).await? {
        return Ok(false);
    }
    // A dropped class of that name releases the name.
    let sql = "DELETE FROM tag_classes WHERE key = $1 AND origin = $2";
    tx.run(sql, &[&key, &DROPPED]).await?;
    let sql =
        "UPDATE tag_classes SET key = $2, name = $3, origin = $4 WHERE key = $1 AND origin <> $5";
    let declared = Origin::Declared.as_str();
    Ok(0 < tx.run(sql, &[&from, &key, &Text(name), &declared, &DROPPED]).await?)
}

async fn drop_class(tx: &Tx, key: NameKey) -> Sql<bool> {
    let sql = "UPDATE tag_classes SET origin = $2 WHERE key = $1 AND origin <> $2";
    let dropped = tx.run(sql, &[&key.0.cast_signed(), &DROPPED]).await?;
    if let Some((class, _)) = held(tx, key).await? {
        forget_tags(tx, class).await?;
    }
    Ok(0 < dropped)
}

/// Deletes the tags of a class, and the mark that it was searched for.
async fn forget_tags(tx: &Tx, class: i64) -> Sql<()> {
    tx.run("DELETE FROM tag_examples WHERE class = $1", &[&class]).await?;
    tx.run("DELETE FROM chunk_tags WHERE class = $1", &[&class]).await?;
    let stage = Stage::tag(TagClassId(class.cast_unsigned())).0;
    tx.run("DELETE FROM progress WHERE stage = $1", &[&stage]).await.map(drop)
}

async fn put_pairs(tx: &Tx, pairs: &[KeyedPair]) -> Sql<()> {
    let (mut colloquial_keys, mut professional_keys) = (Vec::new(), Vec::new());
    let (mut colloquial, mut professional) = (Vec::new(), Vec::new());
    let (mut classes, mut origins) = (Vec::new(), Vec::new());
    let merged = merged(pairs);
    for ((one, other), pair) in &merged {
        colloquial_keys.push(*one);
        professional_keys.push(*other);
        colloquial.push(Text(&pair.colloquial));
        professional.push(Text(&pair.professional));
        classes.push(Text(&pair.class));
        origins.push(pair.origin.as_str());
    }
    let sql = "INSERT INTO tag_pairs AS p (colloquial_key, professional_key, colloquial, professional, class, origin)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
         ON CONFLICT (base, colloquial_key, professional_key) DO UPDATE SET
           class = CASE WHEN excluded.class = '' THEN p.class ELSE excluded.class END,
           origin = CASE WHEN excluded.origin = 'declared' THEN 'declared' ELSE p.origin END";
    tx.run(
        sql,
        &[&colloquial_keys, &professional_keys, &colloquial, &professional, &classes, &origins],
    )
    .await?;
    let (mut ones, mut others, mut samples) = (Vec::new(), Vec::new(), Vec::new());
    for KeyedPair { colloquial, professional, sample, .. } in pairs {
        if let Some(sample) = sample {
            ones.push(colloquial.0.cast_signed());
            others.push(professional.0.cast_signed());
            samples.push(sample.0.cast_signed());
        }
    }
    let sql = "INSERT INTO tag_samples (colloquial_key, professional_key, sample)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING";
    tx.run(sql, &[&ones, &others, &samples]).await.map(drop)
}

/// Each pair once, as if they were stored one after another: a later class replaces an earlier one,
/// and a person's pair stays a person's.
fn merged(pairs: &[KeyedPair]) -> BTreeMap<(i64, i64), TagPair> {
    let mut merged: BTreeMap<(i64, i64), TagPair> = BTreeMap::new();
    for KeyedPair { colloquial, professional, pair, .. } in pairs {
        let keys = (colloquial.0.cast_signed(), professional.0.cast_signed());
        let held = merged.entry(keys).or_insert_with(|| pair.clone());
        if !pair.class.is_empty() {
            held.class.clone_from(&pair.class);
        }
        if pair.origin == Origin::Declared {
            held.origin = Origin::Declared;
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_one_call_count_as_if_stored_one_by_one() {
        let keyed = |one: u64, word: &str, class: &str, origin: Origin| KeyedPair {
            colloquial: NameKey(one),
            professional: NameKey(9),
            sample: None,
            pair: TagPair {
                colloquial: word.to_owned(),
                professional: "hypertension".to_owned(),
                class: class.to_owned(),
                origin,
                samples: 0,
            },
        };
        let pairs = [
            keyed(1, "first", "illness", Origin::Found),
            keyed(2, "other", "", Origin::Found),
            keyed(1, "second", "", Origin::Declared),
            keyed(1, "third", "symptom", Origin::Found),
        ];
        let merged = merged(&pairs);
        assert_eq!(merged.len(), 2);
        let first = merged.get(&(1, 9)).unwrap();
        assert_eq!((first.colloquial.as_str(), first.class.as_str()), ("first", "symptom"));
        assert_eq!(first.origin, Origin::Declared);
        assert_eq!(merged.get(&(2, 9)).unwrap().class, "");
    }
}
