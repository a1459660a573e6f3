//! Reads `OpenDocument` spreadsheets (ODF 1.3 part 3, §9).

use std::collections::HashSet;

use pikerag_knowledge::{BlockKind, Document, ProblemFact};

use super::numbers::plain;
use super::{Cell, CellBudget, LAST, Sheet};
use crate::ParseError;
use crate::document::file::Input;
use crate::document::writing::Writing;
use crate::formats::office::odf;
use pikerag_unpack::Problems;
use pikerag_unpack::archive::Archive;
use pikerag_unpack::xml::{Event, Events, Tag};

/// The most declared repetitions of a cell or row with content.
const MOST_REPEATS: u32 = 1_000;

/// Reads an `OpenDocument` spreadsheet, a page per sheet.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Document, ParseError> {
    let mut archive = Archive::open(input.name, input.bytes, problems)?;
    let text = odf::content(input, &mut archive, problems)?;
    let mut reader = Reader {
        archive: &mut archive,
        problems,
        images_left: odf::LARGEST_IMAGES,
        embedded: Vec::new(),
        events: Events::new(&text),
        hidden_styles: HashSet::new(),
        budget: CellBudget::new(input.limits.max_cells),
        writing: Writing::new(usize::MAX),
        n_sheets: 0,
        remarks: Vec::new(),
    };
    reader.body();
    let Reader { events, budget, writing, .. } = reader;
    events.report("content.xml", problems);
    if let Some(sheet) = budget.short {
        problems.add(sheet, ProblemFact::WorkbookCells);
    }
    if let Some(sheet) = budget.far {
        problems.add(sheet, ProblemFact::FarCells { last: LAST });
    }
    let metadata = odf::metadata(&mut archive, problems);
    let mut document = input.document(metadata.get("title").cloned(), writing);
    document.metadata = metadata;
    Ok(document)
}

struct Reader<'t, 'a, 'p> {
    archive: &'a mut Archive<'p>,
    problems: &'a mut Problems,
    images_left: usize,
    /// Embedded objects, written after the sheet.
    embedded: Vec<String>,
    events: Events<'t>,
    /// Styles of hidden tables.
    hidden_styles: HashSet<String>,
    budget: CellBudget,
    writing: Writing,
    n_sheets: usize,
    /// Comments on cells and texts over the sheet, written after it.
    remarks: Vec<String>,
}

impl Reader<'_, '_, '_> {
    fn body(&mut self) {
        let mut style = String::new();
        while let Some(event) = self.events.next() {
            let Event::Open(tag) = event else { continue };
            match tag.name() {
                "style" => style = tag.attr("name").unwrap_or_default().into_owned(),
                "table-properties" if tag.attr("display").as_deref() == Some("false") => {
                    self.hidden_styles.insert(style.clone());
                }
                "tracked-changes"
                | "database-ranges"
                | "named-expressions"
                | "content-validations" => {
                    self.events.pass_over();
                }
                "table" => self.sheet(&tag),
                _ => {}
            }
        }
    }

    fn sheet(&mut self, tag: &Tag) {
        let attr = |name| tag.attr(name).unwrap_or_default().into_owned();
        let mut sheet = Sheet { name: attr("name"), ..Sheet::default() };
        sheet.is_hidden = self.hidden_styles.contains(&attr("style-name"));
        let (mut row, mut column, mut first_column) = (1u32, 1u32, 1u32);
        let mut repeats = 1;
        let mut row_starts_at = 0;
        let mut row_kind = String::new();
        let mut open: Vec<bool> = vec![false]; // Whether each open element is a row.
        while let Some(event) = self.events.next() {
            match event {
                Event::Close => match open.pop() {
                    Some(true) => {
                        // Repeats a row with content as often as declared, up to the limit.
                        let copies: Vec<Cell> =
                            sheet.cells.get(row_starts_at..).unwrap_or_default().to_vec();
                        let times = if copies.is_empty() { 1 } else { repeats.min(MOST_REPEATS) };
                        for time in 1..times {
                            for cell in &copies {
                                sheet.add(
                                    Cell { row: row.saturating_add(time), ..cell.clone() },
                                    &mut self.budget,
                                );
                            }
                        }
                        if matches!(row_kind.as_str(), "collapse" | "filter") {
                            sheet.hidden_rows.push((row, row.saturating_add(repeats - 1)));
                        }
                        row = row.saturating_add(repeats);
                    }
                    Some(false) if open.is_empty() => break,
                    _ => {}
                },
                Event::Open(tag) => match tag.name() {
                    "table-column" => {
                        let number = tag.number("number-columns-repeated").unwrap_or(1).max(1);
                        if matches!(tag.attr("visibility").as_deref(), Some("collapse" | "filter"))
                        {
                            sheet
                                .hidden_columns
                                .push((first_column, first_column.saturating_add(number - 1)));
                        }
                        first_column = first_column.saturating_add(number);
                        open.push(false);
                    }
                    "table-row" => {
                        repeats = tag.number("number-rows-repeated").unwrap_or(1).max(1);
                        row_kind = tag.attr("visibility").unwrap_or_default().into_owned();
                        row_starts_at = sheet.cells.len();
                        column = 1;
                        open.push(true);
                    }
                    "table-cell" | "covered-table-cell" => {
                        column = self.cell(&tag, row, column, &mut sheet);
                    }
                    "annotation" | "shapes" => {
                        let text = odf::text_and_objects(&mut self.events, &mut self.embedded);
                        self.remarks.push(text);
                    }
                    _ => open.push(false),
                },
                Event::Text(_) => {}
            }
        }
        self.n_sheets += 1;
        sheet.write(self.n_sheets, &mut self.writing, &mut self.budget);
        for text in std::mem::take(&mut self.remarks) {
            self.writing.plain(BlockKind::Paragraph, &text);
        }
        let embedded = std::mem::take(&mut self.embedded);
        let (archive, left) = (&mut *self.archive, &mut self.images_left);
        odf::embedded(&embedded, archive, left, &mut self.writing, self.problems);
        self.writing.place.hidden = false;
    }

    /// Reads a cell; returns the column after it.
    fn cell(&mut self, tag: &Tag, row: u32, column: u32, sheet: &mut Sheet) -> u32 {
        let number = |name| tag.number::<u32>(name).unwrap_or(1).max(1);
        let attr = |name| tag.attr(name).unwrap_or_default().into_owned();
        let times = number("number-columns-repeated");
        let (columns, rows) = (number("number-columns-spanned"), number("number-rows-spanned"));
        let kind = attr("value-type");
        let value = match kind.as_str() {
            "float" | "currency" => attr("value").parse::<f64>().map(plain).unwrap_or_default(),
            "date" => attr("date-value").replace('T', " "),
            "boolean" => attr("boolean-value").to_uppercase(),
            _ => String::new(), // As it is shown.
        };
        let is_covered = tag.name() == "covered-table-cell";
        let (shown, link) = self.shown(row, column);
        let text = if value.is_empty() { shown } else { value };
        if is_covered {
            return column.saturating_add(times);
        }
        let cell = Cell { row, column, text, link: link.map(Into::into), ..Cell::default() };
        if 1 < columns || 1 < rows {
            let end = |from: u32, span: u32| from.saturating_add(span - 1);
            sheet.merged.push([row, column, end(row, rows), end(column, columns)]);
        }
        let copies = if cell.text.trim().is_empty() { 0 } else { times.min(MOST_REPEATS) };
        for time in 0..copies {
            let cell = Cell { column: column.saturating_add(time), ..cell.clone() };
            if !sheet.add(cell, &mut self.budget) {
                break;
            }
        }
        column.saturating_add(times)
    }

    /// The visible text of a cell and its link; comments on it go to `remarks`.
    fn shown(&mut self, row: u32, column: u32) -> (String, Option<String>) {
        let mut text = String::new();
        let mut link = None;
        let mut depth = 1;
        while depth > 0 {
            match self.events.next() {
                Some(Event::Close) => depth -= 1,
                Some(Event::Text(piece)) if 1 < depth => text.push_str(&piece),
                Some(Event::Text(_)) => {}
                Some(Event::Open(tag)) => match tag.name() {
                    "annotation" => {
                        let remark = odf::flat_text(&mut self.events);
                        if !remark.trim().is_empty() {
                            let place = format!("{}{row}", letters(column));
                            self.remarks.push(format!("Comment on {place}: {}", remark.trim()));
                        }
                    }
                    "frame" | "custom-shape" => {
                        let words = odf::text_and_objects(&mut self.events, &mut self.embedded);
                        self.remarks.push(words);
                    }
                    name => {
                        depth += 1;
                        match name {
                            "p" if !text.is_empty() => text.push('\n'),
                            "s" | "tab" | "line-break" => text.push(' '),
                            "a" => link = tag.attr("href").map(std::borrow::Cow::into_owned),
                            _ => {}
                        }
                    }
                },
                None => break,
            }
        }
        (text, link)
    }
}

/// 28 → `AB`.
fn letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column;
    while 0 < rest {
        letters.push(char::from(b'A' + u8::try_from((rest - 1) % 26).unwrap_or(0)));
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use crate::test_support::{packed, run};

    #[test]
    fn cells_and_their_repetitions() {
        let content = "<office:document-content><office:automatic-styles><style:style style:name='h'><style:table-properties table:display='false'/></style:style></office:automatic-styles>
            <office:body><office:spreadsheet>
            <table:table table:name='People'><table:table-column/><table:table-column table:visibility='collapse'/>
            <table:table-row><table:table-cell office:value-type='string'><text:p>Name</text:p></table:table-cell><table:table-cell><text:p>Key</text:p></table:table-cell>
              <table:table-cell table:number-columns-spanned='2'><text:p>Born</text:p></table:table-cell><table:covered-table-cell/><table:table-cell table:number-columns-repeated='16380'/></table:table-row>
            <table:table-row table:number-rows-repeated='2'><table:table-cell><office:annotation><dc:creator>Ada</dc:creator><text:p>Twice?</text:p></office:annotation><text:p>Ada <text:a xlink:href='https://x.example'>L.</text:a></text:p></table:table-cell><table:table-cell><text:p>secret</text:p></table:table-cell>
              <table:table-cell office:value-type='date' office:date-value='1815-12-10'><text:p>10/12/15</text:p></table:table-cell><table:table-cell office:value-type='float' office:value='1.5'><text:p>2</text:p></table:table-cell></table:table-row>
            <table:table-row table:number-rows-repeated='1048570'><table:table-cell table:number-columns-repeated='16384'/></table:table-row>
            </table:table><table:table table:name='Old' table:style-name='h'><table:table-row><table:table-cell office:value-type='percentage' office:value='0.5'><text:p>50 %</text:p></table:table-cell></table:table-row></table:table>
            </office:spreadsheet></office:body></office:document-content>";
        insta::assert_snapshot!(run("book.ods", packed(&[("content.xml", content)])), @r#"
        == book
        h1 p1 "People"
        table p1 "Name | Born | Born\nName: Ada L.; Born: 1815-12-10; Born: 1.5\nName: Ada L.; Born: 1815-12-10; Born: 1.5"
          header ["Name", "Born", "Born"]
          row ["Ada L.", "1815-12-10", "1.5"]
          row ["Ada L.", "1815-12-10", "1.5"]
        table p1 hidden "Key\nsecret\nsecret"
          header []
          row ["Key"]
          row ["secret"]
          row ["secret"]
        p p1 "Comment on A2: Twice?"
        h1 p2 hidden "Old"
        p p2 hidden "50 %"
        link "Ada L." -> https://x.example
        link "Ada L." -> https://x.example
        "#);
    }

    #[test]
    fn endless_rows_are_limited() {
        let cell =
            |words: &str| format!("<table:table-cell><text:p>{words}</text:p></table:table-cell>");
        let row = |repeats: u32, cells: &str| {
            format!(
                "<table:table-row table:number-rows-repeated='{repeats}'>{cells}</table:table-row>"
            )
        };
        let wide = "<table:table-cell table:number-columns-repeated='4294967295'/>";
        let rows = [
            row(1, &cell("a")),
            row(1, &format!("{wide}{}", cell("far to the right"))),
            row(u32::MAX - 3, ""),
            row(9, &cell("far below")),
        ];
        let content = format!(
            "<d><office:body><office:spreadsheet><table:table table:name='Far'>{}</table:table></office:spreadsheet></office:body></d>",
            rows.concat()
        );
        insta::assert_snapshot!(run("book.ods", packed(&[("content.xml", &content)])), @r#"
        == book
        h1 p1 "Far"
        p p1 "a"
        ! Far: cells after row or column 16777216 were skipped
        "#);
    }
}
