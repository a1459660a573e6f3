//! Finds the chunks that bear a name.

use std::collections::BTreeMap;

use pikerag_knowledge::{Bearer, BearerList, ChunkId, NameKey};

use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

/// A chunk may bear a name with several weights. More rows than these per chunk are read only if
/// needed.
const WEIGHTS: usize = 4;

/// The chunks that bear each name, in order of the names, with weights; no list is read beyond the
/// limit.
pub(super) async fn chunks_by_title(
    tx: &Tx,
    keys: &[NameKey],
    limit: usize,
) -> Sql<Vec<BearerList>> {
    let keys = rows::signed(keys.iter().map(|key| key.0));
    let most = limit.saturating_add(1).saturating_mul(WEIGHTS);
    let mut lists = vec![BTreeMap::new(); keys.len()];
    let mut lengths = vec![0_usize; keys.len()];
    // In the order of the index, so that a name of very many chunks costs no more than the limit.
    let sql = "SELECT w.nth, n.chunk, n.how
         FROM unnest($1::bigint[]) WITH ORDINALITY AS w(key, nth)
         CROSS JOIN LATERAL (
             SELECT chunk, how FROM names WHERE key = w.key AND 0 < how ORDER BY how, chunk LIMIT $2
         ) n";
    for row in tx.all(sql, &[&keys, &rows::number(most)]).await? {
        let place = rows::size(&row, 0)? - 1;
        if let (Some(weights), Some(length)) = (lists.get_mut(place), lengths.get_mut(place)) {
            add(weights, rows::id(&row, 1)?, rows::small(&row, 2)?);
            *length += 1;
        }
    }
    for ((weights, length), key) in lists.iter_mut().zip(lengths).zip(&keys) {
        // Further rows may name further chunks, or other weights of these.
        if length == most && weights.len() <= limit {
            *weights = all(tx, *key, limit).await?;
        }
    }
    Ok(lists.into_iter().map(|weights| up_to(limit, weights)).collect())
}

/// The chunks that bear a name, up to one more than the limit.
async fn all(tx: &Tx, key: i64, limit: usize) -> Sql<BTreeMap<u64, u8>> {
    let sql = "SELECT chunk, max(how) FROM names WHERE key = $1 AND 0 < how
         GROUP BY chunk ORDER BY chunk LIMIT $2";
    let mut weights = BTreeMap::new();
    for row in tx.all(sql, &[&key, &rows::number(limit.saturating_add(1))]).await? {
        add(&mut weights, rows::id(&row, 0)?, rows::small(&row, 1)?);
    }
    Ok(weights)
}

fn add(weights: &mut BTreeMap<u64, u8>, chunk: u64, weight: u8) {
    let heaviest = weights.entry(chunk).or_insert(weight);
    *heaviest = weight.max(*heaviest);
}

fn up_to(limit: usize, weights: BTreeMap<u64, u8>) -> BearerList {
    let count = weights.len().min(limit.saturating_add(1));
    let bearer = |(chunk, weight)| Bearer { chunk: ChunkId(chunk), weight };
    let bearers =
        if count <= limit { weights.into_iter().map(bearer).collect() } else { Vec::new() };
    BearerList { count, bearers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_beyond_the_limit_is_only_counted() {
        let mut weights = BTreeMap::new();
        for (chunk, weight) in [(5, 40), (3, 80), (5, 90), (5, 10)] {
            add(&mut weights, chunk, weight);
        }
        let bearers = [(3, 80), (5, 90)];
        let bearers = bearers.map(|(chunk, weight)| Bearer { chunk: ChunkId(chunk), weight });
        let whole = BearerList { count: 2, bearers: bearers.to_vec() };
        assert_eq!(up_to(2, weights.clone()), whole);
        assert_eq!(up_to(0, weights), BearerList { count: 1, bearers: Vec::new() });
    }
}
