//! Reads the cells of Excel workbooks, sheet by sheet and event by event (ECMA-376 part 1,
//! `SpreadsheetML`).

use std::collections::HashMap;

use pikerag_knowledge::{BlockKind, Document, ProblemFact};

use super::numbers::{Shown, built_in, of_code, plain, show};
use super::{Cell, CellBudget, Sheet};
use crate::ParseError;
use crate::document::file::Input;
use crate::document::writing::Writing;
use crate::formats::office::drawing;
use crate::formats::office::ooxml::{Package, Picture, Relations};
use pikerag_unpack::Problems;
use pikerag_unpack::xml::{Event, Events, Tag, Tree};

struct Workbook {
    strings: Vec<String>,
    /// By cell style: the number format, and whether it is bold.
    styles: Vec<(Shown, bool)>,
    from_1904: bool,
}

/// Reads an Excel workbook, a page per sheet.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Document, ParseError> {
    let mut package = Package::open(input, problems)?;
    let main = package.main("xl/workbook.xml", problems);
    let Some(text) = package.part(&main, problems) else {
        let reason = format!("`{main}` is missing or damaged");
        return Err(input.malformed("an Excel workbook", reason));
    };
    let tree = Tree::read(&text, &main, problems);
    let relations = package.relations(&main, problems);
    let workbook = Workbook {
        strings: strings(&mut package, &relations, problems),
        styles: styles(&mut package, &relations, problems),
        from_1904: tree
            .root()
            .and_then(|root| root.child("workbookPr"))
            .is_some_and(|properties| properties.is_on("date1904")),
    };
    let mut writing = Writing::new(usize::MAX);
    let mut budget = CellBudget::new(input.limits.max_cells);
    let sheets = tree.root().and_then(|root| root.child("sheets"));
    for (number, element) in sheets.into_iter().flat_map(|sheets| sheets.all("sheet")).enumerate() {
        let name = element.attr("name").unwrap_or_default().into_owned();
        let is_hidden = matches!(element.attr("state").as_deref(), Some("hidden" | "veryHidden"));
        let part = element.attr("r:id").and_then(|id| relations.part(&id));
        let Some(part) = part else { continue };
        let Some(text) = package.part(part, problems) else {
            problems.add(name, ProblemFact::SheetMissing);
            continue;
        };
        let mut sheet = Sheet { name, is_hidden, ..Sheet::default() };
        let leads_to = package.relations(part, problems);
        sheet.headers = table_headers(&mut package, &leads_to, problems);
        sheet.read(&text, &workbook, &leads_to, &mut budget, problems);
        drop(text);
        sheet.write(number + 1, &mut writing, &mut budget);
        comments(&mut package, &leads_to, &mut writing, problems);
        for drawing in leads_to.of_kind("drawing") {
            pictures(&mut package, &drawing, &mut writing, problems);
        }
        writing.place.hidden = false;
    }
    if let Some(sheet) = budget.short {
        problems.add(sheet, ProblemFact::WorkbookCells);
    }
    let metadata = package.metadata(problems);
    let mut document = input.document(metadata.get("title").cloned(), writing);
    document.metadata = metadata;
    Ok(document)
}

/// Texts that cells refer to.
fn strings(package: &mut Package, relations: &Relations, problems: &mut Problems) -> Vec<String> {
    let mut strings = Vec::new();
    let Some(part) = relations.of_kind("sharedStrings").into_iter().next() else { return strings };
    let Some(text) = package.part(&part, problems) else { return strings };
    let mut events = Events::new(&text);
    while let Some(event) = events.next() {
        match event {
            Event::Open(tag) if tag.name() == "si" => strings.push(rich_text(&mut events)),
            _ => {}
        }
    }
    events.report(&part, problems);
    strings
}

/// The text of the element that was opened last: of all its runs, without phonetic hints.
fn rich_text(events: &mut Events) -> String {
    let mut text = String::new();
    let mut depth = 1;
    let mut in_text = false;
    while depth > 0 {
        match events.next() {
            Some(Event::Open(tag)) if tag.name() == "rPh" => events.pass_over(),
            Some(Event::Open(tag)) => {
                depth += 1;
                in_text = tag.name() == "t";
            }
            Some(Event::Close) => {
                depth -= 1;
                in_text = false;
            }
            Some(Event::Text(piece)) if in_text => text.push_str(&piece),
            Some(Event::Text(_)) => {}
            None => break,
        }
    }
    text.replace("_x000D_", "") // Excel's form of a carriage return.
}

/// The number formats of cell styles, and whether they are bold.
fn styles(
    package: &mut Package,
    relations: &Relations,
    problems: &mut Problems,
) -> Vec<(Shown, bool)> {
    let Some(part) = relations.of_kind("styles").into_iter().next() else { return Vec::new() };
    let Some(text) = package.part(&part, problems) else { return Vec::new() };
    let tree = Tree::read(&text, &part, problems);
    let Some(root) = tree.root() else { return Vec::new() };
    let codes: HashMap<u32, Shown> = root
        .child("numFmts")
        .into_iter()
        .flat_map(|formats| formats.all("numFmt"))
        .filter_map(|format| {
            Some((format.number("numFmtId")?, of_code(&format.attr("formatCode")?)))
        })
        .collect();
    let bold: Vec<bool> = root
        .child("fonts")
        .into_iter()
        .flat_map(|fonts| fonts.all("font"))
        .map(|font| {
            font.child("b").is_some_and(|bold| bold.attr("val").is_none() || bold.is_on("val"))
        })
        .collect();
    let styles = root.child("cellXfs").into_iter().flat_map(|styles| styles.all("xf"));
    styles
        .map(|style| {
            let format = style.number("numFmtId").unwrap_or(0);
            let shown = codes.get(&format).copied().unwrap_or_else(|| built_in(format));
            let font = style.number::<usize>("fontId").unwrap_or(0);
            (shown, bold.get(font).copied().unwrap_or(false))
        })
        .collect()
}

/// The header rows that the tables of a sheet declare.
fn table_headers(
    package: &mut Package,
    leads_to: &Relations,
    problems: &mut Problems,
) -> Vec<[u32; 3]> {
    let mut headers = Vec::new();
    for part in leads_to.of_kind("table") {
        let Some(text) = package.part(&part, problems) else { continue };
        let tree = Tree::read(&text, &part, problems);
        let Some(table) = tree.root() else { continue };
        if table.number("headerRowCount") == Some(0) {
            continue;
        }
        if let Some([top, left, _, right]) = table.attr("ref").and_then(|range| range_of(&range)) {
            headers.push([top, left, right]);
        }
    }
    headers
}

/// A cell during reading.
#[derive(Default)]
struct Raw {
    kind: String,
    style: usize,
    value: String,
    formula: String,
}

impl Sheet {
    fn read(
        &mut self,
        text: &str,
        workbook: &Workbook,
        leads_to: &Relations,
        budget: &mut CellBudget,
        problems: &mut Problems,
    ) {
        let mut events = Events::new(text);
        let (mut row, mut column) = (0u32, 0u32);
        let mut links: HashMap<(u32, u32), String> = HashMap::new();
        let mut n_unknown = 0usize;
        let mut is_full = false;
        while let Some(event) = events.next() {
            let Event::Open(tag) = event else { continue };
            match tag.name() {
                "row" => {
                    row = tag.number("r").unwrap_or(row + 1).clamp(1, 1 << 24);
                    column = 0;
                    if tag.is_on("hidden") {
                        self.hidden_rows.push((row, row));
                    }
                }
                "c" => {
                    let place = tag.attr("r").and_then(|place| place_of(&place));
                    let at = place.unwrap_or((row.max(1), column + 1));
                    column = at.1;
                    let raw = Raw::read(&tag, &mut events);
                    let (text, is_bold) = raw.show(workbook, &mut n_unknown);
                    let cell = Cell { row: at.0, column: at.1, text, is_bold, ..Cell::default() };
                    if !self.add(cell, budget) {
                        is_full = true;
                        break;
                    }
                }
                "col" if tag.is_on("hidden") => {
                    let ends = tag.number("min").zip(tag.number("max"));
                    self.hidden_columns.extend(ends.filter(|(from, to)| from <= to));
                }
                "mergeCell" => {
                    self.merged.extend(tag.attr("ref").and_then(|range| range_of(&range)));
                }
                "hyperlink" => {
                    let id = tag.attr("r:id").unwrap_or_default();
                    let range = tag.attr("ref").and_then(|range| range_of(&range));
                    if let (Some(target), Some([row, column, ..])) = (leads_to.address(&id), range)
                    {
                        links.insert((row, column), target.to_owned());
                    }
                }
                _ => {}
            }
        }
        for cell in self.cells.iter_mut().filter(|_| !links.is_empty()) {
            let link = links.get(&(cell.row, cell.column));
            cell.link = link.map(|target| target.as_str().into());
        }
        if !is_full {
            events.report(&self.name, problems);
        }
        if 0 < n_unknown {
            let reason = ProblemFact::NoStoredResults { formulas: n_unknown };
            problems.add(self.name.clone(), reason);
        }
    }
}

impl Raw {
    /// Reads a cell whose tag was opened just now.
    fn read(tag: &Tag, events: &mut Events) -> Self {
        let mut raw = Self {
            kind: tag.attr("t").unwrap_or_default().into_owned(),
            style: tag.number("s").unwrap_or(0),
            ..Self::default()
        };
        let mut inside = String::new();
        let mut depth = 1;
        while depth > 0 {
            match events.next() {
                Some(Event::Open(tag)) if tag.name() == "is" => raw.value = rich_text(events),
                Some(Event::Open(tag)) => {
                    depth += 1;
                    tag.name().clone_into(&mut inside);
                }
                Some(Event::Close) => {
                    depth -= 1;
                    inside.clear();
                }
                Some(Event::Text(text)) => match inside.as_str() {
                    "v" => raw.value.push_str(&text),
                    "f" => raw.formula.push_str(&text),
                    _ => {}
                },
                None => break,
            }
        }
        raw
    }

    fn show(self, workbook: &Workbook, n_unknown: &mut usize) -> (String, bool) {
        let (shown, is_bold) = workbook.styles.get(self.style).copied().unwrap_or_default();
        if self.value.is_empty() && !self.formula.is_empty() && self.kind != "str" {
            *n_unknown += 1;
            return (format!("={}", self.formula), is_bold);
        }
        let text = match self.kind.as_str() {
            "s" => {
                let string =
                    self.value.trim().parse().ok().and_then(|at: usize| workbook.strings.get(at));
                string.cloned().unwrap_or_default()
            }
            "b" => if self.value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "" | "n" => match self.value.trim().parse::<f64>() {
                Ok(number) if shown == Shown::Number => plain(number),
                Ok(number) => show(number, shown, workbook.from_1904),
                Err(_) => self.value,
            },
            "d" => self.value.strip_suffix("T00:00:00").map_or(self.value.clone(), str::to_owned),
            _ => self.value,
        };
        (text, is_bold)
    }
}

/// `B3` as row and column, from 1.
fn place_of(place: &str) -> Option<(u32, u32)> {
    let place = place.trim().trim_start_matches('$');
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) =
        place.split_at_checked(letters).filter(|(letters, _)| (1..=4).contains(&letters.len()))?;
    let column = letters
        .bytes()
        .fold(0u32, |sum, letter| sum * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    let row: u32 = digits.trim_start_matches('$').parse().ok()?;
    (1..1 << 24).contains(&row).then_some((row, column))
}

/// `A1:C2` as first row and column, last row and column.
fn range_of(range: &str) -> Option<[u32; 4]> {
    let (from, to) = range.split_once(':').unwrap_or((range, range));
    let ((top, left), (bottom, right)) = (place_of(from)?, place_of(to)?);
    (top <= bottom && left <= right).then_some([top, left, bottom, right])
}

/// Writes the comments on cells.
fn comments(
    package: &mut Package,
    leads_to: &Relations,
    writing: &mut Writing,
    problems: &mut Problems,
) {
    for part in leads_to.of_kind("comments") {
        let Some(text) = package.part(&part, problems) else { continue };
        let tree = Tree::read(&text, &part, problems);
        let list = tree.root().and_then(|root| root.child("commentList"));
        for comment in list.into_iter().flat_map(|list| list.all("comment")) {
            let place = comment.attr("ref").unwrap_or_default();
            let text =
                comment.child("text").map(pikerag_unpack::xml::Element::text).unwrap_or_default();
            // For old programs, Excel puts a notice in any language before the text of a thread.
            let thread = text.strip_prefix("[Threaded comment]");
            let text = thread
                .and_then(|it| Some(it.rsplit_once("\n\n")?.1.split_once(":\n")?.1))
                .unwrap_or(&text);
            if !text.trim().is_empty() {
                let text = format!("Comment on {place}: {}", text.trim());
                writing.plain(BlockKind::Paragraph, &text);
            }
        }
    }
}

/// Writes charts, pictures and texts over a sheet.
fn pictures(package: &mut Package, part: &str, writing: &mut Writing, problems: &mut Problems) {
    let Some(text) = package.part(part, problems) else { return };
    let relations = package.relations(part, problems);
    let tree = Tree::read(&text, part, problems);
    let Some(root) = tree.root() else { return };
    for element in root.descendants() {
        match element.name() {
            "chart" => {
                if let Some(chart) =
                    element.attr("r:id").and_then(|id| Some(relations.part(&id)?.to_owned()))
                {
                    drawing::graphic(package, &chart, writing, problems);
                }
            }
            "pic" => {
                let text =
                    element.find("cNvPr").and_then(|it| it.attr("descr")).unwrap_or_default();
                let id = element.find("blip").and_then(|blip| blip.attr("r:embed"));
                let Some(image) = id.and_then(|id| Some(relations.part(&id)?.to_owned())) else {
                    continue;
                };
                match package.image(&image, problems) {
                    Picture::Shown(image) => writing.figure(&text, Some(image)),
                    Picture::Unshown => writing.figure(&text, None),
                    Picture::Again => {}
                }
            }
            "txBody" => {
                for text in drawing::paragraphs(element) {
                    writing.plain(BlockKind::Paragraph, &text);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
