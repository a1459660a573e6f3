//! Lists the formats and the refused files from the output of `formats` (docs/reference/formats.md).

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::help::output;
use super::row;

/// The fields of `pikerag --json formats` that the page shows.
#[derive(Deserialize)]
pub(super) struct Formats {
    formats: Vec<Group>,
    refused: Vec<Refused>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
    headings_and_tables: String,
    pages_and_boxes: String,
    also_read: String,
    needs: String,
    formats: Vec<Format>,
}

#[derive(Deserialize)]
struct Format {
    extensions: Vec<String>,
}

#[derive(Deserialize)]
struct Refused {
    files: String,
    advice: String,
}

/// Reads the formats from the program.
pub(super) fn read(program: &Path) -> Result<Formats> {
    parse(&output(program, &["--json", "formats"])?)
}

fn parse(json: &str) -> Result<Formats> {
    let formats: Formats = serde_json::from_str(json).context("cannot parse `formats --json`")?;
    ensure!(!formats.formats.is_empty(), "`formats --json` lists no formats");
    Ok(formats)
}

/// A row for each group of formats.
pub(super) fn table(formats: &Formats) -> String {
    let names =
        ["format", "extensions", "headings and tables", "pages and boxes", "also read", "needs"];
    let mut table = row(&names) + "| --- | --- | --- | --- | --- | --- |\n";
    for group in &formats.formats {
        let extensions = group.formats.iter().flat_map(|format| &format.extensions);
        let extensions: Vec<String> =
            extensions.map(|extension| format!("`.{extension}`")).collect();
        let extensions = match extensions.is_empty() {
            true => "any".to_owned(),
            false => extensions.join(", "),
        };
        table += &row(&[
            &group.name,
            &extensions,
            &group.headings_and_tables,
            &group.pages_and_boxes,
            &group.also_read,
            &group.needs,
        ]);
    }
    table
}

/// A row for each kind of refused files.
pub(super) fn refused(formats: &Formats) -> String {
    let mut table = row(&["refused", "next step"]) + "| --- | --- |\n";
    for Refused { files, advice } in &formats.refused {
        table += &row(&[files, advice]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{parse, refused, table};

    #[test]
    fn rows_show_extensions_and_advice() {
        let formats = parse(
            r#"{"formats": [
                {"name": "CSV, TSV", "headings_and_tables": "one table", "pages_and_boxes": "none", "also_read": "a|b", "needs": "",
                 "formats": [{"format": "csv", "extensions": ["csv"]}, {"format": "tsv", "extensions": ["tsv", "tab"]}]},
                {"name": "SQLite", "headings_and_tables": "each table", "pages_and_boxes": "none", "also_read": "", "needs": "X",
                 "formats": [{"format": "sqlite", "extensions": []}]}],
                "refused": [{"files": "programs", "advice": "it is not a document"}], "tools": []}"#,
        )
        .unwrap();
        let rows: Vec<String> = table(&formats).lines().skip(2).map(str::to_owned).collect();
        assert_eq!(
            rows,
            [
                r"| CSV, TSV | `.csv`, `.tsv`, `.tab` | one table | none | a\|b |  |",
                "| SQLite | any | each table | none |  | X |",
            ]
        );
        assert_eq!(refused(&formats).lines().last(), Some("| programs | it is not a document |"));
        assert!(parse(r#"{"formats": [], "refused": []}"#).is_err());
    }
}
