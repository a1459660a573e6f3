//! Reads the rows of a typed table from the chunks and documents that hold them.

use std::collections::{BTreeMap, BTreeSet};

use pikerag_knowledge::{DataTable, RowPlace, Span, Table, file_part};

use super::naming::{self, Named};

/// How the chunks of a shape hold its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowForm {
    /// The names of the columns.
    pub header: Vec<String>,
    /// Whether rows are the metadata of documents.
    pub is_of_records: bool,
    /// Whether the first column of such rows is the title of the document.
    has_title: bool,
}

/// A chunk as a store holds it.
pub struct StoredChunk<'a> {
    /// The chunk, as its number in the store.
    pub id: i64,
    /// Its document, as its number in the store.
    pub source: i64,
    /// The name of the document.
    pub uri: String,
    /// The title of the document.
    pub document: String,
    /// The headings above the chunk; none for a record.
    pub headings: Vec<String>,
    /// The cells, or the metadata of the document.
    pub json: &'a str,
    /// The text of the chunk; empty for a record.
    pub text: &'a str,
    /// Its place in the document's text.
    pub span: Span,
}

/// The rows of one chunk.
pub struct ChunkRows {
    /// The chunk, as its number in the store.
    pub id: i64,
    source: i64,
    uri: String,
    document: String,
    headings: Vec<String>,
    /// The text above the rows in this chunk.
    caption: String,
    /// The text above the table, which may begin in an earlier chunk.
    table_caption: String,
    /// Whether the table begins in this chunk.
    begins: bool,
    /// Each has as many cells as there are columns.
    pub rows: Vec<Vec<String>>,
    /// The place of each row in the document's text.
    pub spans: Vec<Span>,
}

/// The document of the last table that began, and the text above it. Its rows may continue in
/// further chunks.
#[derive(Default)]
pub struct Captions {
    above: (i64, String),
}

/// The titles that documents give their rows, by the number of the document in the store.
pub type NamedParts = BTreeMap<i64, Named>;

impl RowForm {
    /// The form of rows of tables, by the cells of the first chunk.
    ///
    /// # Errors
    /// The text is not cells.
    pub fn of_cells(cells: &str) -> serde_json::Result<Self> {
        let mut header = serde_json::from_str::<Table>(cells)?.header;
        header.truncate(DataTable::MOST_COLUMNS);
        Ok(Self { header, is_of_records: false, has_title: false })
    }

    /// The form of rows that are documents with these metadata fields. Records have a title of
    /// their own if [`has_own_title`] holds for one of them.
    pub fn of_records(fields: BTreeSet<String>, has_title: bool) -> Self {
        let mut header: Vec<String> =
            has_title.then(|| "title".to_owned()).into_iter().chain(fields).collect();
        header.truncate(DataTable::MOST_COLUMNS);
        Self { header, is_of_records: true, has_title }
    }

    /// The rows of a chunk.
    ///
    /// # Errors
    /// The chunk does not hold cells, or its document no metadata.
    pub fn read(&self, stored: StoredChunk<'_>) -> serde_json::Result<ChunkRows> {
        let StoredChunk { id, source, uri, document, headings, json, text, span } = stored;
        let (mut rows, mut spans, mut caption) = (Vec::new(), Vec::new(), String::new());
        let mut begins = true;
        if self.is_of_records {
            let metadata: BTreeMap<String, String> = serde_json::from_str(json)?;
            let value = |name: &String| metadata.get(name).cloned().unwrap_or_default();
            let title = self.has_title.then(|| document.clone());
            let values = self.header.iter().skip(usize::from(self.has_title)).map(value);
            rows.push(title.into_iter().chain(values).collect());
            spans.push(span);
        } else {
            let table: Table = serde_json::from_str(json)?;
            // Rows that were split from the header of their table have no line for it.
            let before = table.lines.len().saturating_sub(table.rows.len());
            begins = 0 < before;
            let first = table.lines.first().map_or(span.start, |line| line.start);
            let above = text.get(..first.saturating_sub(span.start)).unwrap_or_default();
            above.clone_into(&mut caption);
            for (place, mut cells) in table.rows.into_iter().enumerate() {
                cells.resize(self.header.len(), String::new());
                rows.push(cells);
                spans.push(table.lines.get(before + place).copied().unwrap_or(span));
            }
        }
        Ok(ChunkRows {
            id,
            source,
            uri,
            document,
            headings,
            table_caption: caption.clone(),
            caption,
            begins,
            rows,
            spans,
        })
    }
}

impl Captions {
    /// Gives a chunk the text above its table. Chunks come in the order of the documents.
    pub fn complete(&mut self, chunk: &mut ChunkRows) {
        match chunk.begins || self.above.0 != chunk.source {
            true => self.above = (chunk.source, chunk.caption.clone()),
            false => chunk.table_caption.clone_from(&self.above.1),
        }
    }
}

impl ChunkRows {
    /// The place of its rows, for a reader of values.
    pub fn place(&self) -> RowPlace<'_> {
        RowPlace {
            file: file_part(&self.uri),
            headings: &self.headings,
            caption: &self.table_caption,
        }
    }

    /// Records the titles that the document gives its rows. Records of a file take only the file's
    /// name.
    pub fn name(&self, named: &mut NamedParts) {
        if file_part(&self.uri) != self.uri {
            return;
        }
        let Named { title, about } =
            naming::of_rows(&self.uri, &self.document, &self.headings, &self.caption);
        let held = named
            .entry(self.source)
            .or_insert_with(|| Named { title: title.clone(), about: Vec::new() });
        // Sheets or captions of one file that have different titles share its name.
        if held.title != title {
            held.title = naming::stem(&self.uri);
        }
        for words in about {
            naming::add(&mut held.about, words);
        }
    }
}

/// Whether a record has a title of its own, by its metadata field `name`. The others are named by
/// their file and position (`earthquakes 17`) or by that field.
pub fn has_own_title(uri: &str, title: &str, name: Option<&str>) -> bool {
    name != Some(title) && !is_by_place(uri, title)
}

/// Whether a title is the name of a record's file with a number.
fn is_by_place(uri: &str, title: &str) -> bool {
    let file = file_part(uri);
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let letters = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    title.rsplit_once(' ').is_some_and(|(before, number)| {
        number.bytes().all(|byte| byte.is_ascii_digit()) && letters(before) == letters(stem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_are_named_by_their_place_have_no_title_of_their_own() {
        let own = |title: &str, name| has_own_title("data/quakes.json#17", title, name);
        assert!(!own("quakes 17", None));
        assert!(!own("Valdivia", Some("Valdivia")));
        assert!(own("Valdivia", Some("Chile")));
        assert!(own("Valdivia", None));
    }

    #[test]
    fn a_record_is_one_row_of_its_metadata() {
        let fields = ["place", "year"].map(str::to_owned).into();
        let form = RowForm::of_records(fields, true);
        assert_eq!(form.header, ["title", "place", "year"]);
        let stored = StoredChunk {
            id: 1,
            source: 2,
            uri: "a.json#1".to_owned(),
            document: "Valdivia".to_owned(),
            headings: Vec::new(),
            json: r#"{"year": "1960"}"#,
            text: "",
            span: Span { start: 0, end: 4 },
        };
        let read = form.read(stored).unwrap();
        assert_eq!(read.rows, [["Valdivia", "", "1960"]]);
        assert_eq!(read.spans, [Span { start: 0, end: 4 }]);
    }
}
