//! Scores chunks by the words of a query: BM25 (Robertson and Zaragoza, 2009). Weights of words come
//! from the whole base, whether or not a filter admits its chunks.

use std::collections::{BTreeSet, HashMap};

use pikerag_knowledge::{ChunkId, Scored, SimilarTerm};
use pikerag_language::{query_terms, typing_errors};

use super::words::stored;
use crate::fault::Sql;
use crate::inner::{Inner, WordTotals, locked};
use crate::meta::{TEXT_GENERATION, counter};
use crate::rows;
use crate::tx::Tx;

/// BM25's saturation weight; [`SCORE`] has it too.
const K1: f64 = 1.2;
/// BM25's length weight; [`SCORE`] has it too.
const B: f64 = 0.75;
/// Similar terms that are returned, at most.
const RETURNED: usize = 32;

/// The terms $1 that any chunk has, with their places and weights. $2 is the number of chunks.
const ASKED: &str = "WITH asked AS MATERIALIZED (
         SELECT a.term, a.nth, ln(1 + ($2::double precision - d.chunks + 0.5) / (d.chunks + 0.5)) AS weight
         FROM unnest($1::text[]) WITH ORDINALITY AS a(term, nth)
         CROSS JOIN LATERAL (
             SELECT count(*)::double precision AS chunks FROM pikerag_base.words w WHERE w.term = a.term
         ) d
         WHERE 0 < d.chunks)";

/// The contribution of a term to the score of a chunk: `weight · times (k1 + 1) / (times + k1 (1 - b +
/// b · length / mean length))`. $3 is `k1 b / mean length`.
const SCORE: &str = "a.weight * w.times * 2.2::double precision
         / (w.times + (0.3::double precision + $3::double precision * w.length))";

/// The condition that a filter sets for `words w`.
fn admitted(tx: &Tx) -> &'static str {
    match tx.is_filtered() {
        true => " AND w.chunk IN (SELECT chunk FROM pg_temp.admitted)",
        false => "",
    }
}

/// The `k` best chunks for these words, best first, ties by identifier.
pub(super) async fn search(
    inner: &Inner,
    tx: &Tx,
    words: &str,
    k: usize,
) -> Sql<Vec<Scored<ChunkId>>> {
    let terms = all_stored(&query_terms(words));
    if terms.is_empty() || k == 0 {
        return Ok(Vec::new());
    }
    let Some((chunks, length_weight)) = weights(inner, tx).await? else { return Ok(Vec::new()) };
    // Rounded before they are compared, so that the order of a sum does not part equal scores.
    let sql = format!(
        "{ASKED}
         SELECT w.chunk, sum({SCORE})::real AS score
         FROM asked a JOIN pikerag_base.words w ON w.term = a.term{}
         GROUP BY w.chunk ORDER BY score DESC, w.chunk LIMIT $4",
        admitted(tx)
    );
    let mut hits = Vec::new();
    for row in tx.all(&sql, &[&terms, &chunks, &length_weight, &rows::number(k)]).await? {
        hits.push(Scored { item: ChunkId(rows::id(&row, 0)?), score: row.try_get(1)? });
    }
    Ok(hits)
}

/// One list per chunk, in order, with one score per term, in order. A score is 0 if a chunk does not
/// contain the term, is not admitted or does not exist.
pub(super) async fn scores(
    inner: &Inner,
    tx: &Tx,
    terms: &[String],
    chunks: &[ChunkId],
) -> Sql<Vec<Vec<f32>>> {
    let mut lists = vec![vec![0.0; terms.len()]; chunks.len()];
    if terms.is_empty() || chunks.is_empty() {
        return Ok(lists);
    }
    let Some((count, length_weight)) = weights(inner, tx).await? else { return Ok(lists) };
    let sql = format!(
        "{ASKED}
         SELECT a.nth, w.chunk, ({SCORE})::real
         FROM asked a JOIN pikerag_base.words w ON w.term = a.term AND w.chunk = ANY($4){}",
        admitted(tx)
    );
    let wanted = rows::signed(chunks.iter().map(|chunk| chunk.0));
    let mut found: HashMap<u64, Vec<(usize, f32)>> = HashMap::new();
    for row in tx.all(&sql, &[&all_stored(terms), &count, &length_weight, &wanted]).await? {
        let of_chunk = found.entry(rows::id(&row, 1)?).or_default();
        of_chunk.push((rows::size(&row, 0)?, row.try_get(2)?));
    }
    for (chunk, list) in chunks.iter().zip(&mut lists) {
        for (nth, score) in found.get(&chunk.0).into_iter().flatten() {
            if let Some(place) = list.get_mut(nth - 1) {
                *place = *score;
            }
        }
    }
    Ok(lists)
}

/// The number of admitted chunks that contain each term, in order.
pub(super) async fn counts(tx: &Tx, terms: &[String]) -> Sql<Vec<usize>> {
    let sql = format!(
        "SELECT (SELECT count(*) FROM pikerag_base.words w WHERE w.term = a.term{})
         FROM unnest($1::text[]) WITH ORDINALITY AS a(term, nth) ORDER BY a.nth",
        admitted(tx)
    );
    let found = tx.all(&sql, &[&all_stored(terms)]).await?;
    found.iter().map(|row| rows::size(row, 0)).collect()
}

/// The terms of admitted chunks that at most `most` typing errors turn into `typed`, in the order of
/// [`SimilarTerm::order`].
pub(super) async fn similar(tx: &Tx, typed: &str, most: usize) -> Sql<Vec<SimilarTerm>> {
    let length = typed.chars().count();
    let (shortest, longest) =
        (rows::number(length.saturating_sub(most)), rows::number(length.saturating_add(most)));
    // Jumps from term to term in the index, instead of reading all entries of each.
    let sql = "WITH RECURSIVE held(term) AS (
             (SELECT term FROM pikerag_base.words ORDER BY term LIMIT 1)
             UNION ALL
             SELECT (SELECT w.term FROM pikerag_base.words w WHERE h.term < w.term ORDER BY w.term LIMIT 1)
             FROM held h WHERE h.term IS NOT NULL
         )
         SELECT term FROM held WHERE char_length(term) BETWEEN $1::bigint AND $2::bigint";
    // By errors, then by term.
    let mut near: BTreeSet<(usize, String)> = BTreeSet::new();
    for row in tx.all(sql, &[&shortest, &longest]).await? {
        let term = rows::text(&row, 0)?;
        if let Some(errors) = typing_errors(typed, &term, most) {
            near.insert((errors, term));
        }
    }
    if near.is_empty() {
        return Ok(Vec::new());
    }
    let terms: Vec<&String> = near.iter().map(|(_, term)| term).collect();
    let sql = format!(
        "SELECT a.nth, count(*), min(w.chunk)
         FROM unnest($1::text[]) WITH ORDINALITY AS a(term, nth)
         JOIN pikerag_base.words w ON w.term = a.term{}
         GROUP BY a.nth ORDER BY a.nth LIMIT $2",
        admitted(tx)
    );
    let rows = tx.all(&sql, &[&all_stored(terms), &rows::number(RETURNED)]).await?;
    let near: Vec<(usize, String)> = near.into_iter().collect();
    let mut similar = Vec::with_capacity(rows.len());
    for row in &rows {
        let (nth, chunks) = (rows::size(row, 0)?, rows::size(row, 1)?);
        if let Some((errors, term)) = near.get(nth - 1) {
            let (errors, term) = (*errors, term.clone());
            similar.push(SimilarTerm { term, errors, chunks, first: ChunkId(rows::id(row, 2)?) });
        }
    }
    similar.sort_by(SimilarTerm::order);
    Ok(similar)
}

fn all_stored<'a>(terms: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    terms.into_iter().map(|term| stored(term).into_owned()).collect()
}

/// The number of chunks that can be searched, and `k1 b / mean length`; `None` if nothing can be
/// searched.
async fn weights(inner: &Inner, tx: &Tx) -> Sql<Option<(f64, f64)>> {
    let WordTotals { chunks, length } = totals(inner, tx).await?;
    if chunks == 0 || length == 0 {
        return Ok(None);
    }
    let (chunks, length) = (chunks as f64, length as f64);
    Ok(Some((chunks, K1 * B * chunks / length)))
}

/// The totals of this state. They are computed once per generation of the documents.
async fn totals(inner: &Inner, tx: &Tx) -> Sql<WordTotals> {
    let generation = counter(tx, TEXT_GENERATION).await?;
    let held = *locked(&inner.word_totals);
    if let Some((_, totals)) = held.filter(|(known, _)| *known == generation) {
        return Ok(totals);
    }
    let sql = "SELECT count(*), coalesce(sum(length), 0)::bigint FROM pikerag_base.chunk_words";
    let row = tx.one(sql, &[]).await?;
    let totals = WordTotals { chunks: row.try_get(0)?, length: row.try_get(1)? };
    let mut held = locked(&inner.word_totals);
    // A question may read an older state.
    if held.is_none_or(|(known, _)| known < generation) {
        *held = Some((generation, totals));
    }
    Ok(totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statement_has_the_weights_of_the_constants() {
        assert!(SCORE.contains(&format!("{}::double precision", K1 + 1.0)));
        assert!(SCORE.contains(&format!("{:.1}::double precision", K1 * (1.0 - B))));
    }
}
