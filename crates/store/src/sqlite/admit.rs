//! Finds the chunks that a filter admits, once for each state of the documents.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use pikerag_knowledge::filter::document_date;
use pikerag_knowledge::{
    Condition, Filter, FilterField, NameKey, RecordField, RecordOrigin, StoreError,
};
use pikerag_language::names::tag_words;
use rusqlite::{Connection, OptionalExtension, params};

use super::counters::{FILTERABLE, counter};
use super::rows;
use super::scope::Scope;
use crate::error::Context;
use crate::scopes::{Filters, Scopes};

const DOING: &str = "reading what a filter admits";

/// Matches of one condition: whole documents, and single chunks of others.
#[derive(Default)]
struct Fitting {
    sources: HashSet<u64>,
    chunks: HashSet<u64>,
}

/// From now on shows in this transaction only what the caller may see (`visible`) and `filter`
/// admits. Returns this. At least one of the two filters has a condition. Only fields of the visible
/// part can be filtered by, and an error lists only those.
pub(super) fn admit(
    connection: &Connection,
    scopes: &Scopes<Scope>,
    visible: &Filter,
    filter: &Filter,
) -> Result<Arc<Scope>, StoreError> {
    let at = counter(connection, FILTERABLE).context(DOING)?;
    let scope = kept_or_found(connection, scopes, at, visible, filter)?;
    scope.show(connection).context(DOING)?;
    Ok(scope)
}

/// What the filters admit, kept for the next question. What they admit without `filter` is kept, too.
fn kept_or_found(
    connection: &Connection,
    scopes: &Scopes<Scope>,
    at: i64,
    visible: &Filter,
    filter: &Filter,
) -> Result<Arc<Scope>, StoreError> {
    let filters = Filters::of(visible, filter);
    if let Some(kept) = scopes.get(&filters, at) {
        return Ok(kept);
    }
    let found = if filter.is_empty() {
        seen_through(connection, visible)?
    } else if visible.is_empty() {
        chosen(connection, filter)?
    } else {
        let seen = kept_or_found(connection, scopes, at, visible, &Filter::default())?;
        connection.execute_batch("SAVEPOINT seen").context(DOING)?;
        seen.show(connection).context(DOING)?;
        let found = chosen(connection, filter);
        connection.execute_batch("ROLLBACK TO seen; RELEASE seen").context(DOING)?;
        found?
    };
    scopes.put(filters, at, &found, found.chunks.len());
    Ok(found)
}

/// What the caller may see. An unknown field admits nothing, so the caller does not learn which
/// fields exist.
fn seen_through(connection: &Connection, visible: &Filter) -> Result<Arc<Scope>, StoreError> {
    let fits = |condition| Ok(fits(connection, condition)?.unwrap_or_default());
    let fitting: rusqlite::Result<Vec<Fitting>> = visible.conditions.iter().map(fits).collect();
    fitting.and_then(|fitting| scope(connection, &fitting)).context(DOING)
}

/// What `filter` admits of what is shown.
fn chosen(connection: &Connection, filter: &Filter) -> Result<Arc<Scope>, StoreError> {
    let mut fitting = Vec::with_capacity(filter.conditions.len());
    for condition in &filter.conditions {
        let Some(found) = fits(connection, condition).context(DOING)? else {
            let known = fields(connection).context(DOING)?.into_iter().collect();
            return Err(StoreError::NoField { field: condition.field.clone(), known });
        };
        fitting.push(found);
    }
    scope(connection, &fitting).context(DOING)
}

/// The chunks that match all conditions, their documents, and the sections that contain them.
fn scope(connection: &Connection, fitting: &[Fitting]) -> rusqlite::Result<Arc<Scope>> {
    let (mut chunks, mut sources, mut within) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut statement = connection.prepare("SELECT id, source, section FROM chunks")?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let (chunk, source) = (rows::id(row, 0)?, rows::id(row, 1)?);
        if fitting.iter().all(|it| it.sources.contains(&source) || it.chunks.contains(&chunk)) {
            chunks.insert(chunk);
            sources.insert(source);
            within.extend(row.get::<_, Option<i64>>(2)?);
        }
    }
    let mut sections = HashSet::new();
    let mut parent = connection.prepare("SELECT parent FROM main.sections WHERE id = ?1")?;
    for section in within {
        let mut above = Some(section);
        while let Some(section) = above
            && sections.insert(section.cast_unsigned())
        {
            above = parent.query_row([section], |row| row.get(0)).optional()?.flatten();
        }
    }
    Ok(Scope::new(chunks, sections, sources))
}

/// The matches of a condition; `None` if the base does not have its field.
fn fits(connection: &Connection, condition: &Condition) -> rusqlite::Result<Option<Fitting>> {
    match &condition.field {
        FilterField::Source | FilterField::Folder => by_uri(connection, condition).map(Some),
        FilterField::Date => {
            let date = |metadata: &BTreeMap<String, String>| {
                let date = document_date(metadata);
                Some(date.is_some_and(|date| condition.fits_date(&date)))
            };
            by_metadata(connection, date).map(|(_, found)| Some(found))
        }
        FilterField::Meta(name) => {
            let meta = |metadata: &BTreeMap<String, String>| {
                Some(condition.fits_text(metadata.get(name)?))
            };
            let (is_known, found) = by_metadata(connection, meta)?;
            Ok(is_known.then_some(found))
        }
        FilterField::Tag(class) => by_tags(connection, condition, class),
        FilterField::Record { schema, field } => by_records(connection, condition, schema, field),
    }
}

fn by_uri(connection: &Connection, condition: &Condition) -> rusqlite::Result<Fitting> {
    let mut found = Fitting::default();
    let mut statement = connection.prepare_cached("SELECT id, uri FROM sources")?;
    let mut sources = statement.query([])?;
    while let Some(row) = sources.next()? {
        if condition.fits_uri(row.get_ref(1)?.as_str()?) {
            found.sources.insert(rows::id(row, 0)?);
        }
    }
    Ok(found)
}

/// The documents whose metadata matches, and whether any document has the field (`Some`).
fn by_metadata(
    connection: &Connection,
    fits: impl Fn(&BTreeMap<String, String>) -> Option<bool>,
) -> rusqlite::Result<(bool, Fitting)> {
    let (mut is_known, mut found) = (false, Fitting::default());
    let mut statement = connection.prepare_cached("SELECT id, metadata FROM sources")?;
    let mut sources = statement.query([])?;
    while let Some(row) = sources.next()? {
        let metadata: BTreeMap<String, String> = rows::json(row, 1)?;
        if let Some(fits) = fits(&metadata) {
            is_known = true;
            if fits {
                found.sources.insert(rows::id(row, 0)?);
            }
        }
    }
    Ok((is_known, found))
}

fn by_tags(
    connection: &Connection,
    condition: &Condition,
    class: &str,
) -> rusqlite::Result<Option<Fitting>> {
    let key = |words: &str| NameKey::of_folded(&tag_words(words)).0.cast_signed();
    let class: Option<i64> = connection
        .prepare_cached("SELECT id FROM tag_classes WHERE key = ?1 AND origin <> 'dropped'")?
        .query_row([key(class)], |row| row.get(0))
        .optional()?;
    let Some(class) = class else { return Ok(None) };
    let mut found = Fitting::default();
    let mut bearing =
        connection.prepare_cached("SELECT chunk FROM chunk_tags WHERE key = ?1 AND class = ?2")?;
    for tag in &condition.any_of {
        for chunk in bearing.query_map([key(tag), class], |row| rows::id(row, 0))? {
            found.chunks.insert(chunk?);
        }
    }
    Ok(Some(found))
}

/// A record of a document's metadata stands for the whole document; any other record stands for its
/// chunk. Records that were read for questions decide nothing: a user could admit a document by them.
fn by_records(
    connection: &Connection,
    condition: &Condition,
    schema: &str,
    field: &str,
) -> rusqlite::Result<Option<Fitting>> {
    let (mut is_known, mut found) = (false, Fitting::default());
    let mut statement = connection.prepare_cached(
        "SELECT r.chunk, c.source, r.origin, r.fields
         FROM records r JOIN chunks c ON c.id = r.chunk
         WHERE r.schema = ?1 AND r.declared NOT IN (SELECT hash FROM main.structured)",
    )?;
    let mut records = statement.query(params![schema])?;
    while let Some(row) = records.next()? {
        let fields: Vec<RecordField> = rows::json(row, 3)?;
        let Some(stated) = fields.iter().find(|it| it.name == field) else { continue };
        is_known = true;
        if condition.fits_value(&stated.raw, stated.value.as_ref()) {
            match row.get_ref(2)?.as_str()? == RecordOrigin::Metadata.as_str() {
                true => found.sources.insert(rows::id(row, 1)?),
                false => found.chunks.insert(rows::id(row, 0)?),
            };
        }
    }
    Ok(is_known.then_some(found))
}

/// Every field that a filter can name in this base.
fn fields(connection: &Connection) -> rusqlite::Result<BTreeSet<FilterField>> {
    let mut fields = BTreeSet::from([FilterField::Source, FilterField::Folder, FilterField::Date]);
    let texts = |sql: &str| -> rusqlite::Result<Vec<String>> {
        connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
    };
    let names = texts("SELECT DISTINCT j.key FROM sources s, json_each(s.metadata) j")?;
    fields.extend(names.into_iter().map(FilterField::Meta));
    let classes = texts("SELECT name FROM tag_classes WHERE origin <> 'dropped'")?;
    fields.extend(classes.into_iter().map(FilterField::Tag));
    let sql = "SELECT DISTINCT r.schema, json_extract(j.value, '$.name') FROM records r, json_each(r.fields) j
               WHERE r.declared NOT IN (SELECT hash FROM main.structured)";
    let mut statement = connection.prepare(sql)?;
    let record = |row: &rusqlite::Row<'_>| {
        Ok(FilterField::Record { schema: row.get(0)?, field: row.get(1)? })
    };
    for field in statement.query_map([], record)? {
        fields.insert(field?);
    }
    Ok(fields)
}
