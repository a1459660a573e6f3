//! Records which documents calls and runs were made of, so that forgetting finds them.

use std::collections::{BTreeMap, BTreeSet};

use pikerag_knowledge::{CallRecord, RunEvent, RunId};
use pikerag_store::shared::collect_nodes;

use crate::fault::Sql;
use crate::rows::Text;
use crate::tx::Tx;

/// Records the templates and the documents of calls.
pub(super) async fn note_calls(tx: &Tx, calls: &[&CallRecord]) -> Sql<()> {
    let mut templates: BTreeMap<[u8; 32], &str> = BTreeMap::new();
    let (mut keys, mut chunks) = (Vec::new(), Vec::new());
    for call in calls {
        if let Some(template) = &call.origin.template {
            templates.insert(*blake3::hash(template.as_bytes()).as_bytes(), template);
        }
        for chunk in &call.origin.passages {
            keys.push(call.key.as_str());
            chunks.push(chunk.0.cast_signed());
        }
    }
    if !templates.is_empty() {
        let hashes: Vec<&[u8]> = templates.keys().map(<[u8; 32]>::as_slice).collect();
        let texts: Vec<Text<'_>> = templates.values().map(|text| Text(text)).collect();
        let sql = "INSERT INTO templates (hash, text) SELECT * FROM unnest($1::bytea[], $2::text[])
             ON CONFLICT DO NOTHING";
        tx.run(sql, &[&hashes, &texts]).await?;
    }
    if !keys.is_empty() {
        let sql = "INSERT INTO call_sources (call, source)
             SELECT DISTINCT n.call, c.source FROM unnest($1::text[], $2::bigint[]) AS n(call, chunk)
             JOIN chunks c ON c.id = n.chunk ORDER BY 1, 2 ON CONFLICT DO NOTHING";
        tx.run(sql, &[&keys, &chunks]).await?;
    }
    Ok(())
}

/// Records the calls that a run rests on, and the documents whose chunks and atoms it names in
/// `jsons`.
pub(super) async fn note_run(
    tx: &Tx,
    run: &RunId,
    events: &[RunEvent],
    jsons: &[String],
) -> Sql<()> {
    let calls: BTreeSet<&str> =
        events.iter().flat_map(|event| &event.calls).map(String::as_str).collect();
    if !calls.is_empty() {
        let calls: Vec<&str> = calls.into_iter().collect();
        let sql = "INSERT INTO run_calls (run, call) SELECT $1::text, unnest($2::text[])
             ON CONFLICT DO NOTHING";
        tx.run(sql, &[&run.0, &calls]).await?;
    }
    let mut nodes = BTreeSet::new();
    for json in jsons {
        // JSON that was just written can be read.
        collect_nodes(&serde_json::from_str(json).unwrap_or_default(), &mut nodes);
    }
    if !nodes.is_empty() {
        let nodes: Vec<i64> = nodes.into_iter().collect();
        let sql = "INSERT INTO run_sources (run, source)
             SELECT $1::text, found.source FROM (
                 SELECT source FROM chunks WHERE id = ANY($2::bigint[])
                 UNION
                 SELECT c.source FROM atoms a JOIN chunks c ON c.id = a.chunk WHERE a.id = ANY($2::bigint[])
             ) AS found
             ON CONFLICT DO NOTHING";
        tx.run(sql, &[&run.0, &nodes]).await?;
    }
    Ok(())
}
