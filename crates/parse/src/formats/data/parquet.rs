//! Reads a Parquet file as one table, row group by row group and column by column.

mod footer;
mod leaf;
mod shape;
mod value;

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use pikerag_knowledge::{Document, ProblemFact};

use crate::ParseError;
use crate::document::blocks::one_line;
use crate::document::file::Input;
use crate::document::writing::Writing;
use leaf::Leaf;
use pikerag_unpack::Problems;
use shape::Column;

/// Begins and ends each file.
const MAGIC: &[u8] = b"PAR1";
/// Bytes of text of all cells: a dictionary lets a small file hold a long text many times.
const MOST_TEXT: usize = 128 << 20;
/// Rows that are decoded at a time.
const BATCH: usize = 1024;

/// Reads the rows in the order of the file. Damage refuses the whole file: a sum over half of it would be wrong.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Document, ParseError> {
    let (max_cells, max_depth) = (input.limits.max_cells, input.limits.max_depth);
    let malformed = |reason: &str| input.malformed("Parquet", reason);
    if !input.bytes.ends_with(MAGIC) {
        return Err(malformed("its end is missing, so it was not saved or copied completely"));
    }
    footer::check(input.bytes, max_depth).map_err(malformed)?;
    // The crate still asserts some of what a file states.
    let read = catch_unwind(AssertUnwindSafe(|| rows(input.bytes, max_cells, MOST_TEXT)));
    let read = read.unwrap_or_else(|_| Err("its content contradicts itself".to_owned()));
    let rows = read.map_err(|reason| malformed(&one_line(&reason).unwrap_or_default()))?;
    for (name, n_unread) in rows.header.iter().zip(&rows.n_unread) {
        if 0 < *n_unread {
            problems.add(format!("column {name}"), ProblemFact::UnreadValues { values: *n_unread });
        }
    }
    if let Some(limit) = rows.cut {
        problems.add(String::new(), limit);
    }
    let mut writing = Writing::new(max_cells);
    writing.named_table(rows.header, rows.cells);
    Ok(input.document(None, writing))
}

/// The rows of the file as text.
#[derive(Default)]
struct Rows {
    header: Vec<String>,
    cells: Vec<Vec<String>>,
    /// By column.
    n_unread: Vec<usize>,
    /// The limit that the rows left out are beyond.
    cut: Option<ProblemFact>,
}

/// Why a row group is not read to its end.
#[derive(Debug)]
enum Stop {
    /// The text of its cells is more than the limit.
    TooMuchText,
    Damaged(String),
}

impl From<ParquetError> for Stop {
    fn from(error: ParquetError) -> Self {
        Self::Damaged(reason(error))
    }
}

fn damaged(reason: &str) -> Stop {
    Stop::Damaged(reason.to_owned())
}

/// The crate's words without its name before them.
fn reason(error: ParquetError) -> String {
    match error {
        ParquetError::General(reason) | ParquetError::NYI(reason) | ParquetError::EOF(reason) => {
            reason
        }
        other => other.to_string(),
    }
}

fn rows(bytes: &[u8], max_cells: usize, max_text: usize) -> Result<Rows, String> {
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(bytes)).map_err(reason)?;
    let columns = shape::columns(&reader.metadata().file_metadata().schema_descr_ptr())?;
    let mut found = Rows {
        header: columns.iter().map(|column| column.name.clone()).collect(),
        n_unread: vec![0; columns.len()],
        ..Rows::default()
    };
    if columns.is_empty() {
        return Ok(found);
    }
    let most_rows = max_cells / columns.len();
    let mut text_left = max_text;
    for number in 0..reader.num_row_groups() {
        let group = reader.get_row_group(number).map_err(reason)?;
        let n_rows = usize::try_from(group.metadata().num_rows())
            .map_err(|_| format!("row group {} has fewer rows than none", number + 1))?;
        let mut wanted = n_rows.min(most_rows - found.cells.len());
        if wanted < n_rows {
            found.cut = Some(ProblemFact::RowsAllowed { cells: max_cells });
        }
        let read = loop {
            match group_rows(&*group, &columns, wanted, text_left) {
                Ok(read) => break read,
                // How far the text reaches is known by reading it: half of the rows are tried, then half of these.
                Err(Stop::TooMuchText) => {
                    wanted /= 2;
                    found.cut = Some(ProblemFact::TextAllowed { bytes: max_text });
                }
                Err(Stop::Damaged(reason)) => {
                    return Err(format!("row group {}, {reason}", number + 1));
                }
            }
        };
        text_left = read.text_left;
        found.cells.extend(read.cells);
        for (sum, more) in found.n_unread.iter_mut().zip(read.n_unread) {
            *sum += more;
        }
        if found.cut.is_some() {
            break;
        }
    }
    Ok(found)
}

/// The first rows of a row group.
struct GroupRows {
    cells: Vec<Vec<String>>,
    n_unread: Vec<usize>,
    text_left: usize,
}

/// One column after the other, so that the pages of one are in memory at a time.
fn group_rows(
    group: &dyn RowGroupReader,
    columns: &[Column],
    wanted: usize,
    text_left: usize,
) -> Result<GroupRows, Stop> {
    let mut budget = Budget { text_left, n_unread: 0 };
    let mut cells: Vec<Vec<String>> = Vec::new();
    let mut n_unread = Vec::with_capacity(columns.len());
    for column in columns {
        column_cells(group, column, (wanted, &mut cells), &mut budget).map_err(
            |stop| match stop {
                Stop::Damaged(reason) => {
                    Stop::Damaged(format!("column `{}`: {reason}", column.name))
                }
                Stop::TooMuchText => stop,
            },
        )?;
        n_unread.push(std::mem::take(&mut budget.n_unread));
    }
    Ok(GroupRows { cells, n_unread, text_left: budget.text_left })
}

/// Adds a cell to each of the rows.
fn column_cells(
    group: &dyn RowGroupReader,
    column: &Column,
    (wanted, rows): (usize, &mut Vec<Vec<String>>),
    budget: &mut Budget,
) -> Result<(), Stop> {
    let leaves = column.leaves.clone();
    let mut leaves = leaves.map(|at| Leaf::open(group, at)).collect::<Result<Vec<_>, _>>()?;
    for at in 0..wanted {
        if at % BATCH == 0 {
            for leaf in &mut leaves {
                leaf.fill(BATCH.min(wanted - at), budget)?;
            }
        }
        let cell = column.shape.cell(&mut leaves, budget)?;
        match rows.get_mut(at) {
            Some(row) => row.push(cell),
            None => rows.push(vec![cell]),
        }
    }
    Ok(())
}

/// What may still be read, and what could not be.
struct Budget {
    /// Bytes.
    text_left: usize,
    /// Values.
    n_unread: usize,
}

impl Budget {
    fn take(&mut self, n_bytes: usize) -> Result<(), Stop> {
        self.text_left = self.text_left.checked_sub(n_bytes).ok_or(Stop::TooMuchText)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{run, run_within};
    use crate::{Limits, NoTools, parse};

    /// A file that `corpus/make_parquet.py` makes.
    fn file(name: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/parquet");
        std::fs::read(folder.join(name)).unwrap()
    }

    #[test]
    fn values_of_all_types_are_read() {
        insta::assert_snapshot!(run("types.parquet", file("types.parquet")), @r#"
        == types
        table "yes | i8 | u8 | i16 | u32 | i64 | u64 | f16 | f32 | f64 | dec9 | dec38 | dec76 | text | kind | day | time | milli | micro | nano | utc | uuid\nyes: true; i8: -128; u8: 0; i16: -5; u32: 0; i64: -9223372036854775808; u64: 0; f16: 1.5; f32: 0.1; f64: 120.5; dec9: 12.50; dec38: 12345678901234567890.000000000001; dec76: 1000000000000000000000000000000000000000000000000000000000000000000000000000; text: 阀门; kind: pump; day: 2024-02-29; time: 08:05:00; milli: 2024-05-01T12:30:00.25; micro: 2024-05-01; nano: 2024-05-01T12:30:00.000000001; utc: 2024-05-01T12:30:00.25Z; uuid: 80000000-0000-0000-0000-0000000000ff\nyes: false; i8: 127; u8: 255; i16: 5; u32: 4294967295; i64: 9223372036854775807; u64: 18446744073709551615; f16: -0.25; f32: -2; f64: NaN; dec9: -0.05; dec38: -1.000000000000; dec76: -1000000000000000000000000000000000000000000000000000000000000000000000000000; kind: valve; day: 1969-12-31; time: 23:59:59.000001; milli: 1969-12-31T23:59:59; micro: 2024-05-01T12:30:00.25; nano: 1970-01-01; utc: 2024-05-01T00:00:00Z"
          header ["yes", "i8", "u8", "i16", "u32", "i64", "u64", "f16", "f32", "f64", "dec9", "dec38", "dec76", "text", "kind", "day", "time", "milli", "micro", "nano", "utc", "uuid"]
          row ["true", "-128", "0", "-5", "0", "-9223372036854775808", "0", "1.5", "0.1", "120.5", "12.50", "12345678901234567890.000000000001", "1000000000000000000000000000000000000000000000000000000000000000000000000000", "阀门", "pump", "2024-02-29", "08:05:00", "2024-05-01T12:30:00.25", "2024-05-01", "2024-05-01T12:30:00.000000001", "2024-05-01T12:30:00.25Z", "80000000-0000-0000-0000-0000000000ff"]
          row ["false", "127", "255", "5", "4294967295", "9223372036854775807", "18446744073709551615", "-0.25", "-2", "NaN", "-0.05", "-1.000000000000", "-1000000000000000000000000000000000000000000000000000000000000000000000000000", "", "valve", "1969-12-31", "23:59:59.000001", "1969-12-31T23:59:59", "2024-05-01T12:30:00.25", "1970-01-01", "2024-05-01T00:00:00Z", ""]
        "#);
    }

    #[test]
    fn nested_columns_become_json() {
        insta::assert_snapshot!(run("nested.parquet", file("nested.parquet")), @r#"
        == nested
        table "id | tags | part | parts | by_day | grid | when\nid: 1; tags: [\"a\",null,\"b \\\"c\\\"\"]; part: {\"name\":\"Pump\",\"price\":1.50}; parts: [{\"name\":\"x\",\"price\":2.00},null]; by_day: {\"mon\":1,\"tue\":null}; grid: [[1,2],[],null,[3]]; when: [\"2024-01-02\"]\nid: 2; tags: []; part: {\"name\":null,\"price\":null}; parts: []; by_day: {}; grid: []\nid: 3; when: []\nid: 4; tags: [\"d\"]; part: {\"name\":\"Seal\",\"price\":null}; parts: [{\"name\":\"y\",\"price\":null}]; by_day: {\"wed\":3}; grid: [[null]]; when: [null]"
          header ["id", "tags", "part", "parts", "by_day", "grid", "when"]
          row ["1", "[\"a\",null,\"b \\\"c\\\"\"]", "{\"name\":\"Pump\",\"price\":1.50}", "[{\"name\":\"x\",\"price\":2.00},null]", "{\"mon\":1,\"tue\":null}", "[[1,2],[],null,[3]]", "[\"2024-01-02\"]"]
          row ["2", "[]", "{\"name\":null,\"price\":null}", "[]", "{}", "[]", ""]
          row ["3", "", "", "", "", "", "[]"]
          row ["4", "[\"d\"]", "{\"name\":\"Seal\",\"price\":null}", "[{\"name\":\"y\",\"price\":null}]", "{\"wed\":3}", "[[null]]", "[null]"]
        "#);
    }

    #[test]
    fn row_groups_are_read_in_order() {
        let orders = run("orders.parquet", file("orders.parquet"));
        let numbers: Vec<String> = (0..40).map(|at| format!("A-{at:03}")).collect();
        let rows: Vec<&str> = orders.lines().filter(|line| line.starts_with("  row")).collect();
        assert_eq!(rows.len(), 40);
        for (row, number) in rows.iter().zip(numbers) {
            assert!(row.starts_with(&format!("  row [\"{number}\"")), "{row}");
        }
        assert_eq!(rows[39], r#"  row ["A-039", "north", "2024-04-10", "2.95"]"#);
        // The same rows by other encodings, and under a name that says nothing.
        assert_eq!(orders, run("orders", file("orders_v2.parquet")));
    }

    #[test]
    fn old_files_and_other_codecs_are_read() {
        insta::assert_snapshot!(run("old.parquet", file("old.parquet")), @r#"
        == old
        table "at | gz | lz\nat: 2024-05-01T12:30:00; gz: one; lz: [\"three\"]\ngz: two; lz: [\"four\",\"five\"]"
          header ["at", "gz", "lz"]
          row ["2024-05-01T12:30:00", "one", "[\"three\"]"]
          row ["", "two", "[\"four\",\"five\"]"]
        "#);
        insta::assert_snapshot!(run("brotli.parquet", file("brotli.parquet")), @"`brotli.parquet` is not readable as Parquet: row group 1, column `a`: it is compressed by Brotli: write it by Snappy, gzip, LZ4 or Zstandard; open it in its program and save it again; if it is plain text, rename it to .txt");
    }

    #[test]
    fn a_file_without_rows_keeps_its_header() {
        insta::assert_snapshot!(run("empty.parquet", file("empty.parquet")), @r#"
        == empty
        table "order_no | region | ordered | amount"
          header ["order_no", "region", "ordered", "amount"]
        "#);
    }

    #[test]
    fn bytes_that_are_no_text_are_counted() {
        insta::assert_snapshot!(run("raw.parquet", file("raw.parquet")), @r#"
        == raw
        table "id | bytes | broken | list\nid: 1; bytes: café; broken: plain; list: [\"ok\",null]\nid: 2; list: []\nid: 3"
          header ["id", "bytes", "broken", "list"]
          row ["1", "café", "plain", "[\"ok\",null]"]
          row ["2", "", "", "[]"]
          row ["3", "", "", ""]
        ! column bytes: 2 values are left out (bytes that are no text, or dates that no calendar holds)
        ! column broken: 1 value is left out (bytes that are no text, or dates that no calendar holds)
        ! column list: 1 value is left out (bytes that are no text, or dates that no calendar holds)
        "#);
    }

    #[test]
    fn rows_beyond_a_limit_are_left_out() {
        let limits = Limits { max_cells: 55, ..Limits::default() };
        let read = run_within("orders.parquet", file("orders.parquet"), &limits);
        assert!(read.contains("A-012") && !read.contains("A-013"), "{read}");
        assert!(read.ends_with("! : further rows are more than the 55 cells allowed\n"), "{read}");
        // 22 bytes for each of the first rows: the second row group is cut in two.
        let read = rows(&file("orders.parquet"), 1000, 400).unwrap();
        assert_eq!(read.cut, Some(ProblemFact::TextAllowed { bytes: 400 }));
        assert_eq!(read.cells.len(), 16);
        assert_eq!(read.cells[15][0], "A-015");
    }

    #[test]
    fn damaged_files_say_so() {
        let whole = file("orders.parquet");
        let cut = &whole[..1000];
        let mut length = whole.clone();
        let at = length.len() - 8;
        length[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut footer = whole.clone();
        let footer_len = footer.len();
        footer[footer_len - 40..footer_len - 8].fill(0xff);
        let mut page = whole.clone();
        page[4..40].fill(0);
        let seen = [cut, &length, &footer, &page].map(|bytes| run("a.parquet", bytes));
        insta::assert_snapshot!(seen.join("\n"), @"
        `a.parquet` is not readable as Parquet: its end is missing, so it was not saved or copied completely; open it in its program and save it again; if it is plain text, rename it to .txt
        `a.parquet` is not readable as Parquet: the length that it gives of its footer is wrong; open it in its program and save it again; if it is plain text, rename it to .txt
        `a.parquet` is not readable as Parquet: its footer is damaged; open it in its program and save it again; if it is plain text, rename it to .txt
        `a.parquet` is not readable as Parquet: row group 1, column `order_no`: Required field type_ is missing; open it in its program and save it again; if it is plain text, rename it to .txt
        ");
    }

    #[test]
    fn names_and_bytes_tell_the_format() {
        let whole = file("empty.parquet");
        let encrypted = [b"PARE", &whole[4..whole.len() - 4], b"PARE"].concat();
        let seen = [
            run("a.csv", &whole),
            run("PAR1.txt", "PAR1 is four letters"),
            run("a.parquet", "name,age\nAda,36\n"),
            run("a.parquet", encrypted),
        ];
        insta::assert_snapshot!(seen.join("\n"), @r#"
        == a
        table "order_no | region | ordered | amount"
          header ["order_no", "region", "ordered", "amount"]

        == PAR1
        p "PAR1 is four letters"

        `a.parquet` is named like a Parquet file, but holds something else: open it and see whether the right file was saved; if it is text, rename it to .txt
        `a.parquet` is an encrypted Parquet file: save it without encryption
        "#);
    }

    fn survives(bytes: &[u8]) {
        if let Ok(parsed) = parse("a.parquet", bytes, &Limits::default(), &NoTools) {
            crate::test_support::check(&parsed);
        }
    }

    proptest! {
        #[test]
        fn any_damage_is_survived(
            name in prop::sample::select(&["types", "nested", "orders", "orders_v2", "old", "raw"][..]),
            damage in prop::collection::vec((0_usize..8192, any::<u8>()), 1..4),
            cut in prop::option::of(0_usize..8192),
        ) {
            let mut bytes = file(&format!("{name}.parquet"));
            let end = bytes.len() - MAGIC.len();
            for (at, byte) in damage {
                bytes[MAGIC.len() + at % (end - MAGIC.len())] = byte;
            }
            if let Some(cut) = cut {
                bytes.drain(cut % end..end);
            }
            survives(&bytes);
        }
    }
}
