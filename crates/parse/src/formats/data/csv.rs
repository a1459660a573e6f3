//! What are the rows and columns of a CSV file? One table, one line per row.

use csv::{ReaderBuilder, StringRecord};
use pikerag_knowledge::{Block, BlockKind, Document, Span, Table};

use crate::ParseError;
use crate::document::cells::{named_row, split_header};
use crate::document::file::TextFile;
use crate::problems::Problems;

/// What parts the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Sniffed,
    Tab,
}

/// Bytes and rows that the delimiter is told from.
const SAMPLE: (usize, usize) = (64 << 10, 100);
/// A cell with more line breaks than this was most likely never meant to be one.
const MOST_BREAKS: usize = 50;

/// Reads a table. With a header each row says what its cells are, `Name: Ada; Born: 1815`, so that
/// it can be found and read alone; else its cells are parted by ` | `.
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
    let rows = rows_of(file, content, delimiter, problems);
    let (header, rows) = split_header(rows);
    let (text, table) = render(header, rows, file.text.len());
    if table.lines.is_empty() {
        return Err(ParseError::NothingInside { name: file.name.to_owned() });
    }
    let span = Span { start: 0, end: text.len() };
    let block = Block::new(BlockKind::Table(table), span);
    Ok(file.document(None, text, vec![block], Vec::new()))
}

/// Excel's first line `sep=;`, and what follows it.
fn declared_delimiter(text: &str) -> (Option<u8>, &str) {
    let Some((first, rest)) = text.split_once('\n') else { return (None, text) };
    match first.trim_end().strip_prefix("sep=").map(str::as_bytes) {
        Some([delimiter]) => (Some(*delimiter), rest),
        _ => (None, text),
    }
}

/// The delimiter that gives most rows the same number of cells; of several the one with more.
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
            widths.pop(); // Most likely cut in two.
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

fn rows_of(
    file: &TextFile,
    content: &str,
    delimiter: u8,
    problems: &mut Problems,
) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut n_cells = 0;
    let mut ragged = 0usize;
    let mut first_ragged = None;
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
            let reason = format!(
                "this and later rows are more than the {} cells allowed",
                file.limits.max_cells
            );
            problems.add(format!("line {line}"), reason);
            break;
        }
        if row.iter().any(|cell| MOST_BREAKS < cell.matches('\n').count()) {
            let reason =
                "a quoted cell goes on for many lines: is a closing quotation mark missing?";
            problems.add(format!("line {line}"), reason);
        }
        if rows.first().is_some_and(|first| first.len() != row.len()) {
            ragged += 1;
            first_ragged.get_or_insert(line);
        }
        rows.push(row);
    }
    if let (Some(line), Some(first)) = (first_ragged, rows.first()) {
        let reason = format!(
            "{ragged} rows have more or fewer than {} cells, as the first row has",
            first.len()
        );
        problems.add(format!("line {line}"), reason);
    }
    rows
}

fn render(header: Vec<String>, rows: Vec<Vec<String>>, size: usize) -> (String, Table) {
    let mut text = String::new();
    let mut lines = Vec::new();
    if !header.is_empty() {
        add_line(&mut text, &mut lines, &header.join(" | "));
    }
    // Names are repeated in every row; long names over many short cells must not multiply.
    let most = size.saturating_mul(16).saturating_add(1 << 16);
    for row in &rows {
        let named = !header.is_empty() && text.len() < most;
        let line = if named { named_row(&header, row) } else { row.join(" | ") };
        add_line(&mut text, &mut lines, &line);
    }
    (text, Table { header, rows, lines })
}

/// Adds a line, line breaks inside its cells as spaces.
fn add_line(text: &mut String, lines: &mut Vec<Span>, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    let start = text.len();
    text.extend(line.trim().chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
    lines.push(Span { start, end: text.len() });
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

    /// Spreadsheets leave empty columns at the end.
    #[test]
    fn a_header_may_end_in_nothing() {
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
    fn ragged_rows_are_kept_and_told() {
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
        ! line 3: this and later rows are more than the 4 cells allowed
        "#);
        insta::assert_snapshot!(run("a.csv", ",,\n,\n"), @r"`a.csv` holds no text: check that it is the file you meant");
    }

    #[test]
    fn long_names_do_not_multiply() {
        let file = format!("{},{}\n{}", "a".repeat(100), "b".repeat(100), "1,2\n".repeat(5_000));
        assert!(run("a.csv", &file).len() < 40 * file.len());
    }
}
