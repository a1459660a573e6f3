//! Finds the names of the columns of quoted rows.

use pikerag_knowledge::{Chunk, Span};

/// The names of the columns of a quote, which is a span of the source. Empty outside of the rows of
/// a table, if the table has no header, and if the quote holds the header or names the columns
/// itself (`Port: Oslo; Year: 1998`).
pub fn columns_of(chunk: &Chunk, span: Span) -> Vec<String> {
    let Some(table) = chunk.table.as_ref().filter(|table| !table.header.is_empty()) else {
        return Vec::new();
    };
    let overlaps = |line: &Span| line.start < span.end && span.start < line.end;
    let has_header_line = table.rows.len() < table.lines.len();
    let is_header = has_header_line && table.lines.first().is_some_and(overlaps);
    if is_header || !table.lines.iter().any(overlaps) {
        return Vec::new();
    }
    let start = span.start.checked_sub(chunk.span.start);
    let end = span.end.checked_sub(chunk.span.start);
    let quote = start.zip(end).and_then(|(start, end)| chunk.text.get(start..end));
    let quote = quote.unwrap_or_default();
    let names = |name: &String| {
        !name.is_empty()
            && (quote.contains(&format!("{name}:")) || quote.contains(&format!("{name}：")))
    };
    match table.header.iter().any(names) {
        true => Vec::new(),
        false => table.header.clone(),
    }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;
    use pikerag_knowledge::Table;

    use super::*;

    #[test]
    fn only_rows_have_columns() {
        let text = "| Pump | Flow |\n| P-1 | 40 |\nPump: P-2";
        let line = |part: &str| {
            let start = text.find(part).unwrap();
            Span { start, end: start + part.len() }
        };
        let (header, row, named) =
            (line("| Pump | Flow |"), line("| P-1 | 40 |"), line("Pump: P-2"));
        let cells = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let table = Table {
            header: cells(["Pump", "Flow"]),
            rows: vec![cells(["P-1", "40"]), cells(["P-2", ""])],
            lines: vec![header, row, named],
            key: 0,
        };
        let span = Span { start: 0, end: text.len() };
        let chunk = Chunk { table: Some(table), span, ..chunk(1, "Pumps", text) };
        assert_eq!(columns_of(&chunk, row), ["Pump", "Flow"]);
        assert!(columns_of(&chunk, header).is_empty() && columns_of(&chunk, named).is_empty());
        assert_eq!(chunk.address_of(row), chunk.uri);
        let of_database = |key| {
            let table = chunk.table.clone().map(|table| Table { key, ..table });
            Chunk { table, uri: "postgres://h/db/public.pump".to_owned(), ..chunk.clone() }
        };
        assert_eq!(of_database(1).address_of(row), "postgres://h/db/public.pump?Pump=P-1");
        assert_eq!(of_database(2).address_of(row), "postgres://h/db/public.pump?Pump=P-1&Flow=40");
        // The header, several rows, and a row without a value of its key.
        for (key, part) in [(1, header), (1, span), (2, named)] {
            assert_eq!(of_database(key).address_of(part), "postgres://h/db/public.pump");
        }
        let prose = Chunk { table: None, ..chunk };
        assert!(columns_of(&prose, row).is_empty());
    }
}
