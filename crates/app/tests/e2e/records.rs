//! Tests from the command line that tables become typed records and that the graph can be
//! inspected.

use pikerag_test_support::optional;

use crate::common::Place;

const SETTINGS: &str = r#"
[embed]
kind = "none"

[[records]]
name = "drug_approval"
key = ["drug"]
fields = [
    { name = "drug", columns = ["brand_name", "title"] },
    { name = "approved", type = "date", columns = ["approval_date"] },
    { name = "company" },
]
"#;

const ROWS: &str = "brand_name,approval_date,company,\n\
                    Adalin,12/31/10,青砚 & Co,\nBealin,1-Feb-11,\"B <x>\",\nCealin,soon,C,\n";

/// The list of records as a table: rows by column name.
fn table(place: &Place, base: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let csv = place.run_to(0, &["--base", base, "records", "--csv"]).stdout;
    let cells = |line: &str| -> Vec<String> {
        // No cell of these holds a line break or a quotation mark.
        let mut cells = vec![String::new()];
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    };
    let mut lines = csv.lines().map(cells);
    let header = lines.next().unwrap_or_default();
    lines.map(|row| header.iter().cloned().zip(row).collect()).collect()
}

#[test]
fn a_table_becomes_records_with_their_positions() {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    place.write("drugs.csv", ROWS);
    let ran = place.run_to(0, &["index", "drugs.csv"]);
    assert!(ran.stdout.contains("3 records read; 1 value kept untyped"), "{}", ran.stdout);
    let list = place.run_to(0, &["records", "--schema", "drug_approval"]).stdout;
    insta::assert_snapshot!(list, @r#"
    drug_approval  drug: Adalin; approved: 2010-12-31; company: 青砚 & Co
        drugs.csv, bytes 37–102 of its text
    drug_approval  drug: Bealin; approved: 2011-02-01; company: B <x>
        drugs.csv, bytes 103–162 of its text
    drug_approval  drug: Cealin; approved: "soon" (untyped); company: C
        drugs.csv, bytes 163–214 of its text
    drug_approval: 3 records
    "#);
    assert_eq!(place.run_to(0, &["--json", "records"]).json().as_array().unwrap().len(), 3);
    let proposed = place.run_to(0, &["schema", "propose"]).stdout;
    insta::assert_snapshot!(proposed, @r#"
    [[records]]
    name = "drugs"
    key = ["brand_name"]
    fields = [
        { name = "brand_name", type = "text" },
        { name = "approval_date", type = "text" },
        { name = "company", type = "text" },
    ]
    "#);
    // The proposed schema can be used as settings without changes.
    place.write("proposed.toml", &proposed);
    let ran = place.run_to(0, &["--config", "proposed.toml", "index", "drugs.csv"]);
    assert!(ran.stdout.contains("3 records read"), "{}", ran.stdout);
    place.write(
        "wrong.toml",
        "[[records]]\nname = \"a\"\nfields = [{ name = \"x\" }]\nkey = [\"y\"]\n",
    );
    let ran = place.run_to(1, &["--config", "wrong.toml", "status"]);
    assert!(ran.stderr.contains("names `y`, which is none of its fields"), "{}", ran.stderr);
}

#[test]
fn the_graph_is_summarized_shown_and_exported() {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    place.write("drugs.csv", ROWS);
    place.write("guide.md", "# Approval Guide\n\nThe list is in drugs.csv. \u{4}\n");
    place.run_to(0, &["index", "drugs.csv", "guide.md"]);
    insta::assert_snapshot!(place.run_to(0, &["graph"]).stdout, @r"
    I  documents
              2  documents
    C  sections and chunks
              2  chunks
              1  section
    D  distilled from chunks
              3  atomic sentences
              3  records (drug_approval)
    edges
              3  answers
              3  contains
              3  derived from
              1  refers to (file)
    ");
    let tree = place.run_to(0, &["graph", "--of", "guide.md"]).stdout;
    assert!(tree.contains("- refers to -> document (text/csv)"), "{tree}");
    let ran = place.run_to(1, &["graph", "--of", "no such thing"]);
    assert!(ran.stderr.contains("there is no node `no such thing`"), "{}", ran.stderr);
    let lines = place.run_to(0, &["graph", "export"]).stdout;
    assert_eq!(lines, place.run_to(0, &["export"]).stdout);
    let edge = lines.lines().find(|line| line.contains("refers_to")).unwrap();
    let edge: serde_json::Value = serde_json::from_str(edge).unwrap();
    assert!(lines.contains(&format!("\"id\":{}", edge["chunk"])) && edge["how"] == "file");
    place.run_to(0, &["graph", "export", "--format", "graphml", "-o", "g.graphml"]);
    let xml = place.read("g.graphml");
    let count = |what: &str| xml.matches(what).count();
    assert_eq!(count("<node ") + count("<edge "), lines.lines().count());
    assert!(!xml.contains('\u{4}'));
    let page = place.run_to(0, &["graph", "export", "--format", "html", "--nodes", "5"]);
    assert!(page.stdout.contains("青砚 \\u0026 Co") && page.stdout.ends_with("</html>\n"));
    assert!(page.stderr.contains("5 of "), "{}", page.stderr);
}

/// The real table and its corpus file both give 367 records, with the listed number for each year.
#[test]
fn the_approvals_are_counted_by_year() {
    let (Some(csv), Some(corpus)) = (
        optional("data/tabular/fda_novel_drug_approvals_2010_2019.csv"),
        optional("data/tabular/fda_novel_drug_approvals_2010_2019.corpus.jsonl"),
    ) else {
        return;
    };
    // A plain count. The corpus file gives each date twice, as `23-Dec-19` and `12/23/19`.
    let mut expected = std::collections::BTreeMap::<String, usize>::new();
    for line in std::fs::read_to_string(&corpus).unwrap().lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let date = record["approval_date"].as_str().unwrap();
        *expected.entry(format!("20{}", &date[date.len() - 2..])).or_default() += 1;
    }
    // The table has an old encoding, but its dates are plain ASCII: each row has exactly one cell
    // of this shape.
    let bytes = std::fs::read(&csv).unwrap();
    let in_table = bytes.split(|byte| matches!(byte, b',' | b'\n')).filter(|cell| {
        let cell = String::from_utf8_lossy(cell);
        cell.split('/').count() == 3 && cell.chars().all(|c| c.is_ascii_digit() || c == '/')
    });
    let mut listed = std::collections::BTreeMap::<String, usize>::new();
    for cell in in_table {
        let cell = String::from_utf8_lossy(cell).into_owned();
        *listed.entry(format!("20{}", &cell[cell.len() - 2..])).or_default() += 1;
    }
    assert_eq!(listed, expected);
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    for (base, file) in [("table", &csv), ("corpus", &corpus)] {
        place.run_to(0, &["--base", base, "index", file.to_str().unwrap()]);
        let rows = table(&place, base);
        assert_eq!(rows.len(), 367);
        let mut years = std::collections::BTreeMap::<String, usize>::new();
        for row in &rows {
            *years.entry(row["approved"][..4].to_owned()).or_default() += 1;
            assert!(row["uri"].starts_with(file.to_str().unwrap()));
            assert!(row["start"].parse::<usize>().unwrap() < row["end"].parse::<usize>().unwrap());
        }
        assert_eq!(years, expected, "{base}");
    }
}
