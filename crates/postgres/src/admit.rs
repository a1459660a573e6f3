//! Finds the chunks that a filter admits, once for each state of the documents.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use pikerag_knowledge::filter::document_date;
use pikerag_knowledge::{
    Condition, Filter, FilterField, NameKey, RecordField, RecordOrigin, StoreError,
};
use pikerag_language::names::tag_words;
use pikerag_store::shared::{Filters, Scopes, next_scope};

use crate::fault::{Fault, Sql};
use crate::meta::{FILTERABLE, counter};
use crate::rows;
use crate::tx::Tx;

/// Matches of one condition: whole documents, and single chunks of others.
#[derive(Default)]
struct Fitting {
    sources: HashSet<u64>,
    chunks: HashSet<u64>,
}

/// What a pair of filters admits in one state of the base.
#[derive(Debug)]
pub(crate) struct Scope {
    /// Differs from that of every other scope of this process.
    pub(crate) number: u64,
    /// The admitted chunks.
    pub(crate) chunks: Arc<HashSet<u64>>,
    /// The same, in order.
    pub(crate) sorted: Vec<i64>,
    /// The sections that contain them, at any depth.
    pub(crate) sections: Vec<i64>,
}

/// From now on shows in this transaction only what the caller may see (`visible`) and `filter`
/// admits. Returns this. At least one of the two filters has a condition. Only fields of the visible
/// part can be filtered by, and an error lists only those.
pub(crate) async fn admit(
    tx: &mut Tx,
    scopes: &Scopes<Scope>,
    visible: &Filter,
    filter: &Filter,
) -> Sql<Arc<Scope>> {
    let at = counter(tx, FILTERABLE).await?;
    let scope = kept_or_found(tx, scopes, at, visible, filter).await?;
    show(tx, &scope, &Filters::of(visible, filter), at).await?;
    Ok(scope)
}

/// What the filters admit, kept for the next question. What they admit without `filter` is kept, too.
async fn kept_or_found(
    tx: &mut Tx,
    scopes: &Scopes<Scope>,
    at: i64,
    visible: &Filter,
    filter: &Filter,
) -> Sql<Arc<Scope>> {
    let filters = Filters::of(visible, filter);
    if let Some(kept) = scopes.get(&filters, at) {
        return Ok(kept);
    }
    let found = if filter.is_empty() {
        seen_through(tx, visible).await?
    } else {
        if !visible.is_empty() {
            let all = Filter::default();
            let seen = Box::pin(kept_or_found(tx, scopes, at, visible, &all)).await?;
            show(tx, &seen, &Filters::of(visible, &all), at).await?;
        }
        chosen(tx, filter).await?
    };
    scopes.put(filters, at, &found, found.sorted.len());
    Ok(found)
}

async fn show(tx: &mut Tx, scope: &Scope, filters: &Filters, at: i64) -> Sql<()> {
    let label = format!("{} {at} {filters:?}", tx.base());
    tx.show_only(&scope.sorted, &scope.sections, &label).await
}

/// What the caller may see. An unknown field admits nothing, so the caller does not learn which
/// fields exist.
async fn seen_through(tx: &Tx, visible: &Filter) -> Sql<Arc<Scope>> {
    let mut fitting = Vec::with_capacity(visible.conditions.len());
    for condition in &visible.conditions {
        fitting.push(fits(tx, condition).await?.unwrap_or_default());
    }
    scope(tx, &fitting).await
}

/// What `filter` admits of what is shown.
async fn chosen(tx: &Tx, filter: &Filter) -> Sql<Arc<Scope>> {
    let mut fitting = Vec::with_capacity(filter.conditions.len());
    for condition in &filter.conditions {
        let Some(found) = fits(tx, condition).await? else {
            let known = fields(tx).await?.into_iter().collect();
            let field = condition.field.clone();
            return Err(Fault::Store(StoreError::NoField { field, known }));
        };
        fitting.push(found);
    }
    scope(tx, &fitting).await
}

/// The chunks that match all conditions, and the sections that contain them.
async fn scope(tx: &Tx, fitting: &[Fitting]) -> Sql<Arc<Scope>> {
    let (mut admitted, mut sections) = (HashSet::new(), BTreeSet::new());
    for row in tx.all("SELECT id, source, section FROM chunks", &[]).await? {
        let (chunk, source) = (rows::id(&row, 0)?, rows::id(&row, 1)?);
        if fitting.iter().all(|it| it.sources.contains(&source) || it.chunks.contains(&chunk)) {
            admitted.insert(chunk);
            sections.extend(row.try_get::<_, Option<i64>>(2)?);
        }
    }
    let sections: Vec<i64> = sections.into_iter().collect();
    let above = "WITH RECURSIVE above(id) AS (
             SELECT unnest($1::bigint[])
             UNION
             SELECT s.parent FROM pikerag_base.sections s JOIN above a ON s.id = a.id WHERE s.parent IS NOT NULL
         )
         SELECT id FROM above";
    let sections = rows::signed(rows::ids(&tx.all(above, &[&sections]).await?)?);
    let mut sorted = rows::signed(admitted.iter().copied());
    sorted.sort_unstable();
    Ok(Arc::new(Scope { number: next_scope(), chunks: Arc::new(admitted), sorted, sections }))
}

/// The matches of a condition; `None` if the base does not have its field.
async fn fits(tx: &Tx, condition: &Condition) -> Sql<Option<Fitting>> {
    match &condition.field {
        FilterField::Source | FilterField::Folder => by_uri(tx, condition).await.map(Some),
        FilterField::Date => {
            let date = |metadata: &BTreeMap<String, String>| {
                let date = document_date(metadata);
                Some(date.is_some_and(|date| condition.fits_date(&date)))
            };
            by_metadata(tx, date).await.map(|(_, found)| Some(found))
        }
        FilterField::Meta(name) => {
            let meta = |metadata: &BTreeMap<String, String>| {
                Some(condition.fits_text(metadata.get(name)?))
            };
            let (is_known, found) = by_metadata(tx, meta).await?;
            Ok(is_known.then_some(found))
        }
        FilterField::Tag(class) => by_tags(tx, condition, class).await,
        FilterField::Record { schema, field } => by_records(tx, condition, schema, field).await,
    }
}

async fn by_uri(tx: &Tx, condition: &Condition) -> Sql<Fitting> {
    let mut found = Fitting::default();
    for row in tx.all("SELECT id, uri FROM sources", &[]).await? {
        if condition.fits_uri(&rows::text(&row, 1)?) {
            found.sources.insert(rows::id(&row, 0)?);
        }
    }
    Ok(found)
}

/// The documents whose metadata matches, and whether any document has the field (`Some`).
async fn by_metadata(
    tx: &Tx,
    fits: impl Fn(&BTreeMap<String, String>) -> Option<bool>,
) -> Sql<(bool, Fitting)> {
    let (mut is_known, mut found) = (false, Fitting::default());
    for row in tx.all("SELECT id, metadata FROM sources", &[]).await? {
        let metadata: BTreeMap<String, String> = rows::json(&row, 1)?;
        if let Some(fits) = fits(&metadata) {
            is_known = true;
            if fits {
                found.sources.insert(rows::id(&row, 0)?);
            }
        }
    }
    Ok((is_known, found))
}

async fn by_tags(tx: &Tx, condition: &Condition, class: &str) -> Sql<Option<Fitting>> {
    let key = |words: &str| NameKey::of_folded(&tag_words(words)).0.cast_signed();
    let sql = "SELECT id FROM tag_classes WHERE key = $1 AND origin <> 'dropped'";
    let Some(class) = tx.optional(sql, &[&key(class)]).await? else { return Ok(None) };
    let class: i64 = class.try_get(0)?;
    let keys: Vec<i64> = condition.any_of.iter().map(|tag| key(tag)).collect();
    let sql = "SELECT chunk FROM chunk_tags WHERE key = ANY($1) AND class = $2";
    let chunks = rows::ids(&tx.all(sql, &[&keys, &class]).await?)?;
    Ok(Some(Fitting { chunks: chunks.into_iter().collect(), ..Fitting::default() }))
}

/// A record of a document's metadata stands for the whole document; any other record stands for its
/// chunk. Records that were read for questions decide nothing: a user could admit a document by
/// them.
async fn by_records(
    tx: &Tx,
    condition: &Condition,
    schema: &str,
    field: &str,
) -> Sql<Option<Fitting>> {
    let (mut is_known, mut found) = (false, Fitting::default());
    let sql = "SELECT r.chunk, c.source, r.origin, r.fields
         FROM records r JOIN chunks c ON c.id = r.chunk
         WHERE r.schema = $1 AND r.declared NOT IN (SELECT hash FROM pikerag_base.structured)";
    for row in tx.all(sql, &[&rows::Text(schema)]).await? {
        let fields: Vec<RecordField> = rows::json(&row, 3)?;
        let Some(stated) = fields.iter().find(|it| it.name == field) else { continue };
        is_known = true;
        if condition.fits_value(&stated.raw, stated.value.as_ref()) {
            match row.try_get::<_, &str>(2)? == RecordOrigin::Metadata.as_str() {
                true => found.sources.insert(rows::id(&row, 1)?),
                false => found.chunks.insert(rows::id(&row, 0)?),
            };
        }
    }
    Ok(is_known.then_some(found))
}

/// Every field that a filter can name in this base.
async fn fields(tx: &Tx) -> Sql<BTreeSet<FilterField>> {
    let mut fields = BTreeSet::from([FilterField::Source, FilterField::Folder, FilterField::Date]);
    for row in tx.all("SELECT metadata FROM sources", &[]).await? {
        let metadata: BTreeMap<String, String> = rows::json(&row, 0)?;
        fields.extend(metadata.into_keys().map(FilterField::Meta));
    }
    for row in tx.all("SELECT name FROM tag_classes WHERE origin <> 'dropped'", &[]).await? {
        fields.insert(FilterField::Tag(rows::text(&row, 0)?));
    }
    let sql = "SELECT r.schema, r.fields FROM records r
         WHERE r.declared NOT IN (SELECT hash FROM pikerag_base.structured)";
    for row in tx.all(sql, &[]).await? {
        let schema = rows::text(&row, 0)?;
        for RecordField { name: field, .. } in rows::json::<Vec<RecordField>>(&row, 1)? {
            fields.insert(FilterField::Record { schema: schema.clone(), field });
        }
    }
    Ok(fields)
}
