//! Reads nodes and values from rows.

use pikerag_knowledge::{
    Area, Atom, AtomId, Chunk, ChunkId, PageBox, SectionId, Source, SourceId, Span, Which,
};
use rusqlite::Row;
use rusqlite::types::Type;

/// The columns that [`chunk`] reads, from `chunks c JOIN sources s ON s.id = c.source`.
pub(super) const CHUNK_COLUMNS: &str = "c.id, c.source, s.uri, s.title, c.section, c.headings, c.ordinal, \
     c.kind, c.text, c.span_start, c.span_end, c.page, c.cells, c.area, c.summary, c.hidden, c.boxes";

/// [`Chunk::is_searchable`] of `chunks c`.
pub(super) const SEARCHABLE: &str = "NOT c.hidden AND (c.summary IS NOT NULL OR c.kind <> 'figure' \
     OR c.text NOT GLOB '[[]Figure [0-9]*]' OR c.text GLOB '[[]Figure *[^0-9]*]')";

pub(super) fn chunk(row: &Row<'_>) -> rusqlite::Result<Chunk> {
    let kind: String = row.get(7)?;
    let cells: Option<String> = row.get(12)?;
    let area: Option<String> = row.get(13)?;
    let headings: String = row.get(5)?;
    Ok(Chunk {
        id: ChunkId(id(row, 0)?),
        source: SourceId(id(row, 1)?),
        uri: row.get(2)?,
        title: row.get(3)?,
        section: row.get::<_, Option<i64>>(4)?.map(|id| SectionId(id.cast_unsigned())),
        headings: serde_json::from_str(&headings).map_err(|error| bad(5, error))?,
        ordinal: row.get(6)?,
        kind: kind.parse().map_err(|_| unknown(7, &kind))?,
        text: row.get(8)?,
        span: Span { start: size(row, 9)?, end: size(row, 10)? },
        page: row.get(11)?,
        table: match cells {
            Some(cells) => Some(serde_json::from_str(&cells).map_err(|error| bad(12, error))?),
            None => None,
        },
        area: match area {
            Some(area) => Some(serde_json::from_str(&area).map_err(|error| bad(13, error))?),
            None => None,
        },
        summary: row.get(14)?,
        hidden: row.get(15)?,
        boxes: match row.get_ref(16)?.as_str_or_null()? {
            Some(boxes) => unpacked(boxes).map_err(|error| bad(16, error))?,
            None => Vec::new(),
        },
    })
}

/// Span, page, left, top, right, bottom: a short form, because there are many boxes.
type Packed = (usize, usize, Option<u32>, f32, f32, f32, f32);

/// Boxes as they are stored; `None` if there are none.
///
/// # Errors
/// A number is not finite.
pub fn packed(boxes: &[PageBox]) -> serde_json::Result<Option<String>> {
    let pack = |PageBox { span, page, area }: &PageBox| -> Packed {
        (span.start, span.end, *page, area.left, area.top, area.right, area.bottom)
    };
    let packed: Vec<Packed> = boxes.iter().map(pack).collect();
    (!packed.is_empty()).then(|| serde_json::to_string(&packed)).transpose()
}

/// The boxes that [`packed`] was given.
///
/// # Errors
/// The text is not what [`packed`] gave.
pub fn unpacked(text: &str) -> serde_json::Result<Vec<PageBox>> {
    let packed: Vec<Packed> = serde_json::from_str(text)?;
    let unpack = |(start, end, page, left, top, right, bottom)| PageBox {
        span: Span { start, end },
        page,
        area: Area { left, top, right, bottom },
    };
    Ok(packed.into_iter().map(unpack).collect())
}

/// Reads `id, chunk, kind, text`.
pub(super) fn atom(row: &Row<'_>) -> rusqlite::Result<Atom> {
    let kind: String = row.get(2)?;
    Ok(Atom {
        id: AtomId(id(row, 0)?),
        chunk: ChunkId(id(row, 1)?),
        kind: kind.parse().map_err(|_| unknown(2, &kind))?,
        text: row.get(3)?,
    })
}

/// The columns that [`source`] reads.
pub(super) const SOURCE_COLUMNS: &str =
    "id, uri, title, media_type, hash, language, metadata, summary";

pub(super) fn source(row: &Row<'_>) -> rusqlite::Result<Source> {
    let metadata: String = row.get(6)?;
    Ok(Source {
        id: SourceId(id(row, 0)?),
        uri: row.get(1)?,
        title: row.get(2)?,
        media_type: row.get(3)?,
        hash: row.get(4)?,
        language: row.get(5)?,
        metadata: serde_json::from_str(&metadata).map_err(|error| bad(6, error))?,
        summary: row.get(7)?,
    })
}

pub(super) fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

pub(super) fn size(row: &Row<'_>, column: usize) -> rusqlite::Result<usize> {
    let size: i64 = row.get(column)?;
    usize::try_from(size).map_err(|error| bad(column, error))
}

/// A column that holds JSON.
pub(super) fn json<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| bad(column, error))
}

/// Little-endian floats, as vectors are stored.
pub(super) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

pub(super) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The requested identifiers, owned so that another thread can use them; `None` for all.
#[expect(clippy::needless_pass_by_value, reason = "it is a reference itself")]
pub(super) fn owned<T: Clone>(which: Which<'_, T>) -> Option<Vec<T>> {
    match which {
        Which::All => None,
        Which::Of(ids) => Some(ids.to_vec()),
    }
}

pub(super) fn unknown(column: usize, kind: &str) -> rusqlite::Error {
    bad(column, format!("`{kind}` is not a kind that this version knows"))
}

pub(super) fn bad(
    column: usize,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}

pub(super) fn limit_of(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
