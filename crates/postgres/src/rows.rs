//! Converts nodes and values to parameters, and rows to nodes. PostgreSQL stores no character
//! U+0000, so texts that may contain it are escaped.

use std::borrow::Cow;
use std::error::Error;

use bytes::BytesMut;
use pgvector::Vector;
use pikerag_knowledge::{Atom, AtomId, Chunk, ChunkId, SectionId, Source, SourceId, Span, Which};
use pikerag_store::shared::unpacked;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::fault::{Fault, Sql};

/// The columns that [`chunk`] reads, from `chunks c JOIN sources s ON s.id = c.source`.
pub(crate) const CHUNK_COLUMNS: &str = "c.id, c.source, s.uri, s.title, c.section, c.headings, c.ordinal, \
     c.kind, c.text, c.span_start, c.span_end, c.page, c.cells, c.area, c.summary, c.hidden, c.boxes";

pub(crate) fn chunk(row: &Row) -> Sql<Chunk> {
    let kind: &str = row.try_get(7)?;
    let section: Option<i64> = row.try_get(4)?;
    let boxes: Option<&str> = row.try_get(16)?;
    Ok(Chunk {
        id: ChunkId(id(row, 0)?),
        source: SourceId(id(row, 1)?),
        uri: text(row, 2)?,
        title: text(row, 3)?,
        section: section.map(|id| SectionId(id.cast_unsigned())),
        headings: json(row, 5)?,
        ordinal: small(row, 6)?,
        kind: kind.parse().map_err(|_| unknown(kind))?,
        text: text(row, 8)?,
        span: span(row, 9)?,
        page: optional_small(row, 11)?,
        table: optional_json(row, 12)?,
        area: optional_json(row, 13)?,
        summary: optional_text(row, 14)?,
        hidden: row.try_get(15)?,
        boxes: match boxes {
            Some(boxes) => unpacked(boxes)?,
            None => Vec::new(),
        },
    })
}

/// Reads `id, chunk, kind, text`.
pub(crate) fn atom(row: &Row) -> Sql<Atom> {
    let kind: &str = row.try_get(2)?;
    Ok(Atom {
        id: AtomId(id(row, 0)?),
        chunk: ChunkId(id(row, 1)?),
        kind: kind.parse().map_err(|_| unknown(kind))?,
        text: text(row, 3)?,
    })
}

/// The columns that [`source`] reads.
pub(crate) const SOURCE_COLUMNS: &str =
    "id, uri, title, media_type, hash, language, metadata, summary";

pub(crate) fn source(row: &Row) -> Sql<Source> {
    Ok(Source {
        id: SourceId(id(row, 0)?),
        uri: text(row, 1)?,
        title: text(row, 2)?,
        media_type: text(row, 3)?,
        hash: text(row, 4)?,
        language: optional_text(row, 5)?,
        metadata: json(row, 6)?,
        summary: optional_text(row, 7)?,
    })
}

/// The identifier in a column.
pub(crate) fn id(row: &Row, column: usize) -> Sql<u64> {
    Ok(row.try_get::<_, i64>(column)?.cast_unsigned())
}

/// The identifiers in the first column.
pub(crate) fn ids(rows: &[Row]) -> Sql<Vec<u64>> {
    rows.iter().map(|row| id(row, 0)).collect()
}

/// The count or length in a column.
pub(crate) fn size(row: &Row, column: usize) -> Sql<usize> {
    count_of(row.try_get(column)?)
}

/// A number that was read, as a count.
pub(crate) fn count_of(number: i64) -> Sql<usize> {
    usize::try_from(number).map_err(Fault::content)
}

/// A number of a smaller type, such as an ordinal or a level.
pub(crate) fn small<T>(row: &Row, column: usize) -> Sql<T>
where
    T: TryFrom<i64>,
    T::Error: Error + Send + Sync + 'static,
{
    let number: i64 = row.try_get(column)?;
    T::try_from(number).map_err(Fault::content)
}

/// As [`small`], for a column that may be null.
pub(crate) fn optional_small<T>(row: &Row, column: usize) -> Sql<Option<T>>
where
    T: TryFrom<i64>,
    T::Error: Error + Send + Sync + 'static,
{
    let number: Option<i64> = row.try_get(column)?;
    number.map(T::try_from).transpose().map_err(Fault::content)
}

/// The two columns of a span.
pub(crate) fn span(row: &Row, start: usize) -> Sql<Span> {
    Ok(Span { start: size(row, start)?, end: size(row, start + 1)? })
}

/// A text as it was before it was escaped.
pub(crate) fn text(row: &Row, column: usize) -> Sql<String> {
    Ok(plain(row.try_get(column)?).into_owned())
}

/// As [`text`], for a column that may be null.
pub(crate) fn optional_text(row: &Row, column: usize) -> Sql<Option<String>> {
    let text: Option<&str> = row.try_get(column)?;
    Ok(text.map(|text| plain(text).into_owned()))
}

/// A column that holds JSON.
pub(crate) fn json<T: DeserializeOwned>(row: &Row, column: usize) -> Sql<T> {
    Ok(serde_json::from_str(row.try_get(column)?)?)
}

/// As [`json`], for a column that may be null.
pub(crate) fn optional_json<T: DeserializeOwned>(row: &Row, column: usize) -> Sql<Option<T>> {
    let text: Option<&str> = row.try_get(column)?;
    Ok(text.map(serde_json::from_str).transpose()?)
}

/// A vector, bit for bit as it was stored.
pub(crate) fn floats(row: &Row, column: usize) -> Sql<Vec<f32>> {
    Ok(row.try_get::<_, Vector>(column)?.to_vec())
}

/// A value as JSON, which needs no escapes: JSON writes U+0000 as `\u0000`.
pub(crate) fn to_json(value: &impl Serialize) -> Sql<String> {
    Ok(serde_json::to_string(value)?)
}

/// Identifiers as a parameter: `= ANY($1)`, `unnest($1)`.
pub(crate) fn signed(ids: impl IntoIterator<Item = u64>) -> Vec<i64> {
    ids.into_iter().map(u64::cast_signed).collect()
}

/// A limit, count or position as a parameter; larger numbers become the largest.
pub(crate) fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The requested identifiers; `None` for all.
#[expect(clippy::needless_pass_by_value, reason = "it is a reference itself")]
pub(crate) fn owned<T: Clone>(which: Which<'_, T>) -> Option<Vec<T>> {
    match which {
        Which::All => None,
        Which::Of(ids) => Some(ids.to_vec()),
    }
}

/// A word in a row that this version does not know.
pub(crate) fn unknown(kind: &str) -> Fault {
    Fault::content(format!("`{kind}` is not a kind that this version knows"))
}

/// A text as a parameter, escaped. Every text of a document, a model or a person is passed like
/// this; [`text`] reads it back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a>(pub(crate) &'a str);

impl<'a> Text<'a> {
    /// The same for a text that may be absent.
    pub(crate) fn optional(text: Option<&'a String>) -> Option<Self> {
        text.map(|text| Self(text))
    }

    /// Several texts, for `unnest($1)` and `= ANY($1)`.
    pub(crate) fn all(texts: impl IntoIterator<Item = &'a String>) -> Vec<Self> {
        texts.into_iter().map(|text| Self(text)).collect()
    }
}

impl ToSql for Text<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        escaped(self.0).as_ref().to_sql(kind, out)
    }

    fn accepts(kind: &Type) -> bool {
        <&str as ToSql>::accepts(kind)
    }

    to_sql_checked!();
}

/// Begins an escape: a character of private use. It is escaped itself.
const ESCAPE: char = '\u{f8fe}';

/// A text without U+0000.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => safe.extend([ESCAPE, '0']),
            ESCAPE => safe.extend([ESCAPE, ESCAPE]),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// The text that [`escaped`] was given.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            ESCAPE => whole.push(rest.next().filter(|next| *next != '0').unwrap_or('\0')),
            c => whole.push(c),
        }
    }
    Cow::Owned(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_any_character_come_back() {
        for text in ["", "plain 中文", "a\0b", "\0", "\u{f8fe}0\0\u{f8fe}", "0\u{f8fe}"] {
            let safe = escaped(text);
            assert!(!safe.contains('\0'));
            assert_eq!(plain(&safe), text);
        }
        assert!(matches!(escaped("plain"), Cow::Borrowed(_)));
    }
}
