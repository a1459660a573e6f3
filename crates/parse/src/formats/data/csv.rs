//! Reads CSV files as one table with a line per row.

use csv::{ReaderBuilder, StringRecord};
use pikerag_knowledge::{Block, BlockKind, Document, ProblemFact, Span, Table};

use crate::ParseError;
use crate::document::cells::{named_row, names_columns, split_header};
use crate::document::file::TextFile;
use pikerag_unpack::Problems;

/// The separator between the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Sniffed,
    Tab,
}

/// The bytes and rows from which the delimiter is detected.
const SAMPLE: (usize, usize) = (64 << 10, 100);
/// The most title rows at the top, and the fewest columns below a title that empty cells follow.
const MOST_TITLES: usize = 5;
const LEAST_BELOW: usize = 3;
/// A cell with more line breaks is probably not a cell.
const MOST_BREAKS: usize = 50;

/// Reads a table. With a header, each row names its cells (`Name: Ada; Born: 1815`), so that it can
/// be found and read alone; without one, ` | ` separates cells.
pub(crate) fn read(
    file: &TextFile,
    delimiter: Delimiter,
    problems: &mut Problems,
) -> Result<Document, ParseError> {
    let (declared, content) = declared_delimiter(&file.text);
    let delimiter = match delimiter {
        Delimiter::Tab => b'\t',
        Delimiter::Sniffed => declared.unwrap_or_else(|| sniff(content)),
    };
    let mut rows = rows_of(file, content, delimiter, problems);
    if rows.is_empty() {
        return Err(ParseError::NothingInside { name: file.name.to_owned() });
    }
    let mut document = Writer::default();
    let n_titles = titles(&rows);
    for title in rows.drain(..n_titles) {
        document.caption(&title.cells.concat());
    }
    count_ragged(&rows, problems);
    let (header, rows) = split_header(rows.into_iter().map(|row| row.cells).collect());
    document.table(header, rows, file.text.len());
    Ok(file.document(None, document.text, document.blocks, Vec::new()))
}

/// A row and its first line in the file.
struct Row {
    line: u64,
    cells: Vec<String>,
}

/// The number of title rows at the top, as spreadsheets write them: one cell above the names of
/// several columns.
fn titles(rows: &[Row]) -> usize {
    let filled = |row: &Row| row.cells.iter().filter(|cell| !cell.is_empty()).count();
    let is_title =
        |row: &&Row| filled(row) == 1 && row.cells.first().is_some_and(|first| !first.is_empty());
    let found = rows.iter().take(MOST_TITLES).take_while(is_title).count();
    let is_bare = rows.iter().take(found).all(|title| title.cells.len() == 1);
    let Some([names, first, ..]) = rows.get(found..) else { return 0 };
    let cells: Vec<&str> = names.cells.iter().map(String::as_str).collect();
    let is_above = names_columns(&cells)
        && filled(names) == names.cells.len()
        && (is_bare || LEAST_BELOW <= filled(names))
        && 1 < filled(first);
    if is_above { found } else { 0 }
}

/// Counts the rows that are longer or shorter than the first, and reports the line of one.
fn count_ragged(rows: &[Row], problems: &mut Problems) {
    let Some(first) = rows.first() else { return };
    let is_ragged = |row: &&Row| row.cells.len() != first.cells.len();
    let mut ragged = rows.iter().filter(is_ragged);
    let Some(Row { line, .. }) = ragged.next() else { return };
    let rows = ragged.count() + 1;
    let reason = ProblemFact::UnevenRows { rows, cells: first.cells.len() };
    problems.add(format!("line {line}"), reason);
}

/// Excel's first line `sep=;`, and the text after it.
fn declared_delimiter(text: &str) -> (Option<u8>, &str) {
    let Some((first, rest)) = text.split_once('\n') else { return (None, text) };
    match first.trim_end().strip_prefix("sep=").map(str::as_bytes) {
        Some([delimiter]) => (Some(*delimiter), rest),
        _ => (None, text),
    }
}

/// The delimiter that gives most rows the same number of cells; among equals, the one with more
/// cells.
fn sniff(content: &str) -> u8 {
    let end = content.char_indices().map(|(at, _)| at).take_while(|at| *at <= SAMPLE.0).last();
    let is_whole = content.len() <= SAMPLE.0;
    let sample =
        if is_whole { content } else { content.get(..end.unwrap_or(0)).unwrap_or(content) };
    let mut best = (0, 0, b',');
    for delimiter in *b",;\t|" {
        let mut reader = builder(delimiter).from_reader(sample.as_bytes());
        let mut widths: Vec<usize> =
            reader.records().take(SAMPLE.1).map_while(Result::ok).map(|row| row.len()).collect();
        if !is_whole && 1 < widths.len() {
            widths.pop(); // The last row is probably cut.
        }
        let most_common = widths
            .iter()
            .filter(|width| 1 < **width)
            .map(|width| (widths.iter().filter(|other| *other == width).count(), *width))
            .max();
        if let Some((agreeing, width)) = most_common {
            let tenths = agreeing * 10 / widths.len();
            if (best.0, best.1) < (tenths, width) {
                best = (tenths, width, delimiter);
            }
        }
    }
    best.2
}

fn builder(delimiter: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).has_headers(false).flexible(true);
    builder
}

fn rows_of(file: &TextFile, content: &str, delimiter: u8, problems: &mut Problems) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut n_cells = 0;
    let first_line = 1 + u64::from(content.len() < file.text.len());
    let mut reader = builder(delimiter).from_reader(content.as_bytes());
    let mut record = StringRecord::new();
    while matches!(reader.read_record(&mut record), Ok(true)) {
        let line = record.position().map_or(0, csv::Position::line) + first_line - 1;
        let row: Vec<String> = record.iter().map(|cell| cell.trim().to_owned()).collect();
        if row.iter().all(String::is_empty) {
            continue;
        }
        n_cells += row.len();
        if file.limits.max_cells < n_cells {
            let reason = ProblemFact::LaterRows { most: file.limits.max_cells };
            problems.add(format!("line {line}"), reason);
            break;
        }
        if row.iter().any(|cell| MOST_BREAKS < cell.matches('\n').count()) {
            problems.add(format!("line {line}"), ProblemFact::LongCell);
        }
        rows.push(Row { line, cells: row });
    }
    rows
}

/// The text of the document, and its blocks.
#[derive(Default)]
struct Writer {
    text: String,
    blocks: Vec<Block>,
}

impl Writer {
    fn caption(&mut self, title: &str) {
        let span = self.line(title);
        self.blocks.push(Block::new(BlockKind::Caption, span));
    }

    fn table(&mut self, header: Vec<String>, rows: Vec<Vec<String>>, size: usize) {
        let mut lines = Vec::new();
        if !header.is_empty() {
            lines.push(self.line(&header.join(" | ")));
        }
        // Each row repeats the names; this bounds the growth from long names over many short cells.
        let most = size.saturating_mul(16).saturating_add(1 << 16);
        for row in &rows {
            let named = !header.is_empty() && self.text.len() < most;
            let line = if named { named_row(&header, row) } else { row.join(" | ") };
            lines.push(self.line(&line));
        }
        let start = lines.first().map_or(self.text.len(), |first| first.start);
        let span = Span { start, end: self.text.len() };
        let table = Table { header, rows, lines, key: 0 };
        self.blocks.push(Block::new(BlockKind::Table(table), span));
    }

    /// Adds a line, with line breaks in cells as spaces.
    fn line(&mut self, line: &str) -> Span {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let start = self.text.len();
        let line = line.trim().chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c });
        self.text.extend(line);
        Span { start, end: self.text.len() }
    }
}

#[cfg(test)]
mod tests {
    use crate::Limits;
    use crate::test_support::{run, run_within};

    #[test]
    fn rows_name_their_cells() {
        insta::assert_snapshot!(run("my_staff.csv", "名称,Born,Note\r\nAda,1815,\"wrote, \"\"first\"\"\nprogram\"\r\nAlan,1912,\r\n"), @r#"
        == my staff
        table "名称 | Born | Note\n名称: Ada; Born: 1815; Note: wrote, \"first\" program\n名称: Alan; Born: 1912"
          header ["名称", "Born", "Note"]
          row ["Ada", "1815", "wrote, \"first\"\nprogram"]
          row ["Alan", "1912", ""]
        "#);
    }

    /// Spreadsheets put titles above tables; a table without a title looks similar if names are
    /// missing.
    #[test]
    fn titles_above_a_table_are_captions() {
        insta::assert_snapshot!(run("a.csv", "\"Votes, 2013\",,\n,,\nDistrict,Votes,Winner\nNorth,7,Ada\nSouth,9,Bob\n"), @r#"
        == a
        caption "Votes, 2013"
        table "District | Votes | Winner\nDistrict: North; Votes: 7; Winner: Ada\nDistrict: South; Votes: 9; Winner: Bob"
          header ["District", "Votes", "Winner"]
          row ["North", "7", "Ada"]
          row ["South", "9", "Bob"]
        "#);
        insta::assert_snapshot!(run("a.csv", "Votes by district\nDistrict,Votes\nNorth,7\n"), @r#"
        == a
        caption "Votes by district"
        table "District | Votes\nDistrict: North; Votes: 7"
          header ["District", "Votes"]
          row ["North", "7"]
        "#);
        insta::assert_snapshot!(run("a.csv", "name,,\nAda,1815,x\nBob,1912,y\n"), @r#"
        == a
        table "name\nname: Ada; 1815; x\nname: Bob; 1912; y"
          header ["name"]
          row ["Ada", "1815", "x"]
          row ["Bob", "1912", "y"]
        "#);
        insta::assert_snapshot!(run("a.csv", "name,\nAda,London\nBob,Paris\n"), @r#"
        == a
        table "name\nname: Ada; London\nname: Bob; Paris"
          header ["name"]
          row ["Ada", "London"]
          row ["Bob", "Paris"]
        "#);
    }

    /// Spreadsheets leave empty columns at the end.
    #[test]
    fn a_header_may_end_in_empty_cells() {
        insta::assert_snapshot!(run("a.csv", "name,born,,\nAda,1815,,\nAlan,1912,x,\n"), @r#"
        == a
        table "name | born\nname: Ada; born: 1815\nname: Alan; born: 1912; x"
          header ["name", "born"]
          row ["Ada", "1815", "", ""]
          row ["Alan", "1912", "x", ""]
        "#);
    }

    #[test]
    fn delimiters_are_sniffed() {
        insta::assert_snapshot!(run("a.csv", "a;b\n1,5;2\n3,5;4\n"), @r#"
        == a
        table "a | b\na: 1,5; b: 2\na: 3,5; b: 4"
          header ["a", "b"]
          row ["1,5", "2"]
          row ["3,5", "4"]
        "#);
        insta::assert_snapshot!(run("a.csv", "sep=|\na,b|c\n1|2\n"), @r#"
        == a
        table "a,b | c\na,b: 1; c: 2"
          header ["a,b", "c"]
          row ["1", "2"]
        "#);
        insta::assert_snapshot!(run("a.tsv", "a,b\tc\n1\t2\n"), @r#"
        == a
        table "a,b | c\na,b: 1; c: 2"
          header ["a,b", "c"]
          row ["1", "2"]
        "#);
        insta::assert_snapshot!(run("a.csv", "alone\nx\n"), @r#"
        == a
        table "alone\nalone: x"
          header ["alone"]
          row ["x"]
        "#);
    }

    #[test]
    fn numbers_are_no_header() {
        insta::assert_snapshot!(run("a.csv", "1,2\n3,4\n"), @r#"
        == a
        table "1 | 2\n3 | 4"
          header []
          row ["1", "2"]
          row ["3", "4"]
        "#);
        insta::assert_snapshot!(run("a.csv", "x,x\n3,4\n"), @r#"
        == a
        table "x | x\n3 | 4"
          header []
          row ["x", "x"]
          row ["3", "4"]
        "#);
    }

    #[test]
    fn ragged_rows_are_kept_and_reported() {
        insta::assert_snapshot!(run("a.csv", "name,v\n=HYPERLINK(\"http://x\"),1\nb,2,3\n\nc\n\"unterminated,2\n"), @r#"
        == a
        table "name | v\nname: =HYPERLINK(\"http://x\"); v: 1\nname: b; v: 2; 3\nname: c\nname: unterminated,2"
          header ["name", "v"]
          row ["=HYPERLINK(\"http://x\")", "1"]
          row ["b", "2", "3"]
          row ["c"]
          row ["unterminated,2"]
        ! line 3: 3 rows have more or fewer than 2 cells, as the first row has
        "#);
        let limits = Limits { max_cells: 4, ..Limits::default() };
        insta::assert_snapshot!(run_within("a.csv", "a,b\n1,2\n3,4\n", &limits), @r#"
        == a
        table "a | b\na: 1; b: 2"
          header ["a", "b"]
          row ["1", "2"]
        ! line 3: this and later rows were skipped: the limit is 4 cells
        "#);
        insta::assert_snapshot!(run("a.csv", ",,\n,\n"), @r"`a.csv` holds no text: check that it is the file you meant");
    }

    #[test]
    fn long_names_do_not_multiply() {
        let file = format!("{},{}\n{}", "a".repeat(100), "b".repeat(100), "1,2\n".repeat(5_000));
        assert!(run("a.csv", &file).len() < 40 * file.len());
    }
}
