//! Records which documents calls and runs were made of, so that forgetting finds them.

use std::collections::BTreeSet;

use pikerag_knowledge::{CallRecord, RunEvent, RunId};
use rusqlite::{OptionalExtension, Transaction, params};
use serde_json::Value;

/// Digits of a node's name in JSON.
const DIGITS: usize = 16;

/// Records the template and the documents of a call.
pub(super) fn note_call(tx: &Transaction<'_>, call: &CallRecord) -> rusqlite::Result<()> {
    let origin = &call.origin;
    if let Some(template) = &origin.template {
        tx.prepare_cached("INSERT INTO templates(text) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([template])?;
    }
    let mut note = tx.prepare_cached(
        "INSERT INTO call_sources(call, source) SELECT ?1, source FROM chunks WHERE id = ?2
         ON CONFLICT DO NOTHING",
    )?;
    for chunk in &origin.passages {
        note.execute(params![call.key, chunk.0.cast_signed()])?;
    }
    Ok(())
}

/// Records the calls that a run rests on, and the documents whose chunks and atoms it names in
/// `jsons`.
pub(super) fn note_run(
    tx: &Transaction<'_>,
    run: &RunId,
    events: &[RunEvent],
    jsons: &[String],
) -> rusqlite::Result<()> {
    let calls: BTreeSet<&String> = events.iter().flat_map(|event| &event.calls).collect();
    let mut nodes = BTreeSet::new();
    for json in jsons {
        // JSON that was just written can be read.
        collect_nodes(&serde_json::from_str(json).unwrap_or_default(), &mut nodes);
    }
    let mut note =
        tx.prepare_cached("INSERT INTO run_calls VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
    for call in calls {
        note.execute([&run.0, call])?;
    }
    let mut find = tx.prepare_cached(
        "SELECT source FROM chunks WHERE id = ?1
         UNION ALL SELECT c.source FROM atoms a JOIN chunks c ON c.id = a.chunk WHERE a.id = ?1",
    )?;
    let mut sources: BTreeSet<i64> = BTreeSet::new();
    for node in nodes {
        sources.extend(find.query_row([node], |row| row.get::<_, i64>(0)).optional()?);
    }
    let mut note =
        tx.prepare_cached("INSERT INTO run_sources VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
    for source in sources {
        note.execute(params![run.0, source])?;
    }
    Ok(())
}

/// Adds all texts in a JSON value that look like the name of a node.
pub fn collect_nodes(value: &Value, nodes: &mut BTreeSet<i64>) {
    match value {
        Value::String(text) if text.len() == DIGITS => {
            nodes.extend(u64::from_str_radix(text, 16).ok().map(u64::cast_signed));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_nodes(value, nodes)),
        Value::Object(values) => values.values().for_each(|value| collect_nodes(value, nodes)),
        _ => {}
    }
}
