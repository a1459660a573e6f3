//! Stores the words of chunks in the transaction that stores the chunks, so that full text is never
//! behind them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use futures::StreamExt;
use pikerag_knowledge::ChunkId;
use pikerag_language::terms;
use pikerag_store::shared::searchable;

use crate::fault::{Fault, Sql};
use crate::meta::{fact, set_fact};
use crate::rows;
use crate::tx::Tx;

/// Increased when terms change; the words of another version are computed again.
const VERSION: &str = "1";
/// The key in `meta` of the version of all words of a base.
pub(crate) const WORDS_VERSION: &str = "words_version";
/// The most bytes of a term; a longer one is shortened, because an index has a limit for its keys.
const LONGEST: usize = 512;
/// Bytes of a shortened term before its hash.
const KEPT: usize = 480;
/// Chunks whose words are computed and inserted at a time.
const AT_ONCE: usize = 200;

/// A term as the table has it, without U+0000.
pub(crate) fn stored(term: &str) -> Cow<'_, str> {
    let term = rows::escaped(term);
    if term.len() <= LONGEST {
        return term;
    }
    let mut end = KEPT;
    while !term.is_char_boundary(end) {
        end -= 1;
    }
    let hash: String = blake3::hash(term.as_bytes()).to_hex().chars().take(16).collect();
    Cow::Owned(format!("{}#{hash}", term.get(..end).unwrap_or_default()))
}

/// Stores the words of chunks by their searched text. Chunks whose text has not changed stay as they
/// are; an empty text removes the words of its chunk. Chunks that do not exist are left out.
pub(crate) async fn write(tx: &Tx, texts: &[(ChunkId, String)]) -> Sql<()> {
    let texts: BTreeMap<i64, &str> =
        texts.iter().map(|(chunk, text)| (chunk.0.cast_signed(), text.as_str())).collect();
    let chunks: Vec<i64> = texts.keys().copied().collect();
    let sql = "SELECT chunk, digest FROM chunk_words WHERE chunk = ANY($1)";
    let mut held: HashMap<i64, i64> = HashMap::new();
    for row in tx.all(sql, &[&chunks]).await? {
        held.insert(row.try_get(0)?, row.try_get(1)?);
    }
    let (mut gone, mut changed) = (Vec::new(), Vec::new());
    for (chunk, text) in texts {
        let known = held.get(&chunk).copied();
        let digest = digest(text);
        if !text.is_empty() && known == Some(digest) {
            continue;
        }
        if known.is_some() {
            gone.push(chunk);
        }
        if !text.is_empty() {
            changed.push((chunk, digest, text.to_owned()));
        }
    }
    if !gone.is_empty() {
        // The words go with this row.
        tx.run("DELETE FROM chunk_words WHERE chunk = ANY($1)", &[&gone]).await?;
    }
    while !changed.is_empty() {
        let batch = changed.split_off(changed.len().saturating_sub(AT_ONCE));
        // Cutting texts into words takes long.
        let words = tokio::task::spawn_blocking(move || Words::of(&batch)).await;
        insert(tx, &words.map_err(Fault::content)?).await?;
    }
    Ok(())
}

/// A number that differs for texts that differ, and for versions of terms.
fn digest(text: &str) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(VERSION.as_bytes());
    hasher.update(text.as_bytes());
    hasher.finalize().as_bytes().first_chunk::<8>().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

/// The words of some chunks, in columns.
#[derive(Default)]
struct Words {
    chunks: Vec<i64>,
    /// The number of all words of each chunk.
    lengths: Vec<i64>,
    digests: Vec<i64>,
    /// The words themselves, in the order of the index.
    terms: Vec<String>,
    of: Vec<i64>,
    times: Vec<i32>,
}

impl Words {
    fn of(texts: &[(i64, i64, String)]) -> Self {
        let mut words = Self::default();
        let mut times: BTreeMap<(String, i64), i32> = BTreeMap::new();
        for (chunk, digest, text) in texts {
            let terms = terms(text);
            words.chunks.push(*chunk);
            words.lengths.push(rows::number(terms.len()));
            words.digests.push(*digest);
            for term in terms {
                let count = times.entry((stored(&term).into_owned(), *chunk)).or_default();
                *count = count.saturating_add(1);
            }
        }
        for ((term, chunk), count) in times {
            words.terms.push(term);
            words.of.push(chunk);
            words.times.push(count);
        }
        words
    }
}

async fn insert(tx: &Tx, words: &Words) -> Sql<()> {
    let sql = "INSERT INTO chunk_words (chunk, length, digest)
         SELECT w.chunk, w.length, w.digest
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS w(chunk, length, digest)
         JOIN chunks c ON c.id = w.chunk";
    tx.run(sql, &[&words.chunks, &words.lengths, &words.digests]).await?;
    let sql = "INSERT INTO words (term, chunk, times, length)
         SELECT w.term, w.chunk, w.times, least(k.length, 2147483647)::integer
         FROM unnest($1::text[], $2::bigint[], $3::integer[]) AS w(term, chunk, times)
         JOIN chunk_words k ON k.chunk = w.chunk";
    tx.run(sql, &[&words.terms, &words.of, &words.times]).await.map(drop)
}

/// Compares the words with the chunks: the number of chunks that can be searched, how many of them
/// have no words or those of another text, and the number of other chunks with words.
pub(crate) async fn check(tx: &Tx) -> Sql<(usize, usize, usize)> {
    let sql = "SELECT k.chunk, k.digest,
         k.length = (SELECT coalesce(sum(w.times), 0) FROM words w WHERE w.chunk = k.chunk)
         FROM chunk_words k";
    let mut held: HashMap<u64, (i64, bool)> = HashMap::new();
    for row in tx.all(sql, &[]).await? {
        held.insert(rows::id(&row, 0)?, (row.try_get(1)?, row.try_get(2)?));
    }
    let sql = format!(
        "SELECT {} FROM chunks c JOIN sources s ON s.id = c.source WHERE c.searchable",
        rows::CHUNK_COLUMNS
    );
    let (mut chunks, mut missing) = (0, 0);
    let mut found = tx.stream(&sql, &[]).await?;
    while let Some(row) = found.next().await {
        let chunk = rows::chunk(&row?)?;
        chunks += 1;
        if held.remove(&chunk.id.0) != Some((digest(&searchable(&chunk)), true)) {
            missing += 1;
        }
    }
    Ok((chunks, missing, held.len()))
}

/// Computes the words of all chunks again.
pub(crate) async fn rebuild(tx: &Tx) -> Sql<()> {
    tx.run("DELETE FROM words", &[]).await?;
    tx.run("DELETE FROM chunk_words", &[]).await?;
    follow(tx).await
}

/// Whether another version computed the words of the base.
pub(super) async fn is_of_other_version(tx: &Tx) -> Sql<bool> {
    Ok(fact(tx, WORDS_VERSION).await?.as_deref() != Some(VERSION))
}

/// Computes the words of all chunks that have none, or those of another version or text.
pub(super) async fn follow(tx: &Tx) -> Sql<()> {
    let sql = format!(
        "SELECT {} FROM chunks c JOIN sources s ON s.id = c.source
         WHERE c.searchable AND $1 < c.id ORDER BY c.id LIMIT $2",
        rows::CHUNK_COLUMNS
    );
    let (mut after, limit) = (i64::MIN, rows::number(AT_ONCE));
    loop {
        let mut texts = Vec::new();
        for row in tx.all(&sql, &[&after, &limit]).await? {
            let chunk = rows::chunk(&row)?;
            after = chunk.id.0.cast_signed();
            texts.push((chunk.id, searchable(&chunk)));
        }
        if texts.is_empty() {
            break;
        }
        write(tx, &texts).await?;
    }
    set_fact(tx, WORDS_VERSION, VERSION).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_terms_are_shortened_and_stay_different() {
        assert_eq!(stored("crane"), "crane");
        assert_eq!(stored(&"x".repeat(LONGEST)), "x".repeat(LONGEST));
        // The 480th byte is within a character.
        let one = format!("y{}", "中".repeat(400));
        let other = format!("{one}z");
        assert_eq!(stored(&one).len(), 478 + 1 + 16);
        assert!(stored(&one).starts_with("y中"));
        assert_ne!(stored(&one), stored(&other));
        assert_eq!(stored("a\0b"), rows::escaped("a\0b"));
    }

    #[test]
    fn words_are_counted_by_chunk_in_the_order_of_terms() {
        let texts = [(7, 1, "crane quay crane".to_owned()), (3, 2, "crane".to_owned())];
        let words = Words::of(&texts);
        assert_eq!((words.chunks, words.lengths), (vec![7, 3], vec![3, 1]));
        assert_eq!(words.terms, ["crane", "crane", "quay"]);
        assert_eq!((words.of, words.times), (vec![3, 7, 7], vec![1, 2, 1]));
        assert_ne!(digest("crane"), digest("quay"));
    }
}
