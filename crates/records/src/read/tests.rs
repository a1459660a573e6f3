//! Tests that tables, lines, metadata and texts are read under small schemas.

use pikerag_knowledge::{Chunk, DocumentGraph, Record, RecordSchema};
use pikerag_parse::{Limits, NoTools, parse};

use super::model::read;
use super::{asks_model, plain_records};
use pikerag_extract::{ChunkParams, document_graph};

const APPROVALS: &str = r#"{"name": "approval", "key": ["drug"], "fields": [
    {"name": "drug", "columns": ["brand name", "药品", "title"]},
    {"name": "approved", "type": "date", "columns": ["approval date", "批准日期"]},
    {"name": "dose", "type": "number"}]}"#;

fn schema(json: &str) -> RecordSchema {
    serde_json::from_str(json).unwrap()
}

fn graph(path: &str, text: &str) -> DocumentGraph {
    let mut parsed = parse(path, text.as_bytes(), &Limits::default(), &NoTools).unwrap();
    document_graph(path, parsed.documents.remove(0), ChunkParams::default())
}

/// A chunk of this text below a title.
pub(super) fn chunk_below(title: &str, text: &str) -> Chunk {
    graph("a.md", &format!("# {title}\n\nIt is written here. {text}")).chunks.remove(0)
}

fn shown(graph: &DocumentGraph, records: &[Record]) -> String {
    let mut lines = Vec::new();
    for record in records {
        let fields: Vec<String> = record
            .fields
            .iter()
            .map(|field| match &field.value {
                Some(value) => format!("{}={value}", field.name),
                None => format!("{}={:?}?", field.name, field.raw),
            })
            .collect();
        let place = record.span.of(&graph.text).unwrap();
        lines.push(format!("{} {} < {place:?}", record.origin.as_str(), fields.join(" ")));
    }
    lines.join("\n")
}

fn plain(path: &str, text: &str) -> String {
    let graph = graph(path, text);
    let of = |chunk: &Chunk| plain_records(&schema(APPROVALS), &graph.source, chunk);
    let records: Vec<Record> = graph.chunks.iter().flat_map(of).collect();
    shown(&graph, &records)
}

#[test]
fn rows_are_records_with_their_spans() {
    let csv = "Brand name,company,Approval date,Dose\nAda,A,12/31/2010,\"1,200 mg\"\nBea,B,soon,\n,C,1/1/2011,5\n";
    insta::assert_snapshot!(plain("a.csv", csv), @r#"
    table drug=Ada approved=2010-12-31 dose=1200 mg < "Brand name: Ada; company: A; Approval date: 12/31/2010; Dose: 1,200 mg"
    table drug=Bea approved="soon"? < "Brand name: Bea; company: B; Approval date: soon"
    "#);
    insta::assert_snapshot!(plain("a.md", "# 清单\n\n| 药品 | 批准日期 |\n|---|---|\n| 甲 | 2010年12月31日 |\n"), @r#"table drug=甲 approved=2010-12-31 < "| 甲 | 2010年12月31日 |""#);
    // The unit of the header applies unless the cell has one; a remark in brackets is not a unit.
    insta::assert_snapshot!(plain("a.csv", "drug,Dose (mg)\nAda,1200\nBea,2 g\n"), @r#"
    table drug=Ada dose=1200 mg < "drug: Ada; Dose (mg): 1200"
    table drug=Bea dose=2 g < "drug: Bea; Dose (mg): 2 g"
    "#);
    insta::assert_snapshot!(plain("a.md", "| 药品 | dose（毫克） |\n|---|---|\n| 甲 | 5 |\n"), @r#"
    table drug=甲 dose=5 毫克 < "| 甲 | 5 |"
    "#);
    assert_eq!(plain("a.csv", "drug,dose (per day)\nA,5\n"), "");
    // The key column is missing, or there is no other column.
    assert_eq!(plain("a.csv", "company,dose\nA,5\n"), "");
    assert_eq!(plain("a.csv", "drug,company\nA,5\n"), "");
}

#[test]
fn lines_and_metadata_are_records_too() {
    let text = "Two drugs.\n\n**Drug:** Ada\n- Approval date: 31 December 2010\n\nDrug: Bea\nDose：5 mg\nDrug: Cis\n";
    insta::assert_snapshot!(plain("a.txt", text), @r#"
    lines drug=Ada approved=2010-12-31 < "**Drug:** Ada\n- Approval date: 31 December 2010"
    lines drug=Bea dose=5 mg < "Drug: Bea\nDose：5 mg"
    "#);
    let record = r#"{"title": "Ada", "text": "Ada is a drug.", "approval_date": "12/31/10"}"#;
    insta::assert_snapshot!(plain("a.jsonl", record), @r#"metadata drug=Ada approved=2010-12-31 < "Ada is a drug.""#);
    let front = "---\ntitle: Ada\napproved: 2010-12-31\n---\n# Ada\n\nA drug.\n\n# More\n\nOf it.";
    insta::assert_snapshot!(plain("a.md", front), @r##"metadata drug=Ada approved=2010-12-31 < "# Ada\n\nA drug.""##);
}

/// A model's value counts only if it is in the text, and in the spelling of the text.
#[test]
fn values_that_are_not_in_the_text_are_dropped() {
    let text = "# Ada\n\nAda was approved on 31 December\n2010. Bea (12 mg) came later.\n";
    let graph = graph("a.md", text);
    let reply = r#"{"records": [
        {"drug": "ADA", "Approval date": "31 December 2010", "dose": null},
        {"drug": "Bea", "dose": "12 mg", "approved": "1 January 2011"},
        {"drug": "Bea", "dose": "12 mg"},
        {"drug": "Dee", "approved": "2010"},
        {"approved": "31 December 2010", "dose": 12}, 7]}"#;
    let made = read(&schema(APPROVALS), &graph.chunks[0], reply).unwrap();
    insta::assert_snapshot!(shown(&graph, &made.records), @r#"
    model drug=Ada approved=2010-12-31 < "Ada was approved on 31 December\n2010"
    model drug=Bea dose=12 mg < "Bea (12 mg"
    "#);
    assert_eq!((made.invented, made.incomplete), (2, 2));
    assert!(read(&schema(APPROVALS), &graph.chunks[0], "There are none.").is_err());
    assert_eq!(
        read(&schema(APPROVALS), &graph.chunks[0], r#"{"records": null}"#).unwrap(),
        super::ModelRecords::default()
    );
}

/// A part of a number is not in the text.
#[test]
fn parts_of_numbers_are_dropped() {
    let graph = graph("a.md", "# Ada\n\nAda took 12.5 mg on day 117, then 3 mg.\n");
    let invented = |dose: &str| {
        let reply = format!(r#"{{"records": [{{"drug": "Ada", "dose": "{dose}"}}]}}"#);
        read(&schema(APPROVALS), &graph.chunks[0], &reply).unwrap().invented
    };
    assert_eq!(["12.5 mg", "3", "117"].map(invented), [0, 0, 0]);
    assert_eq!(["12", "2.5 mg", "17", "11"].map(invented), [1, 1, 1, 1]);
}

/// A ward that the passage names twice: the record lies at the day, which it names once.
#[test]
fn a_record_lies_at_its_rarest_value() {
    let schema = schema(
        r#"{"name": "failure", "key": ["day", "ward"], "fields": [
            {"name": "day"}, {"name": "ward"}, {"name": "part"}]}"#,
    );
    let text = "On Elm a lamp broke on 2 May. The pump on Elm stood still on 9 May: its pack.";
    let graph = graph("log.md", text);
    let reply = r#"{"records": [{"day": "9 May", "ward": "Elm", "part": "pack"}]}"#;
    let made = read(&schema, &graph.chunks[0], reply).unwrap();
    let span = made.records[0].span;
    assert_eq!(&graph.text[span.start..span.end], "Elm stood still on 9 May: its pack");
}

#[test]
fn a_model_reads_only_chunks_with_the_schemas_words() {
    let graph = graph("a.md", "It was Approved in 2010. 批准日期不明。");
    let asks = |words: &str| {
        let json = format!(r#"{{"name": "a", "fields": [{{"name": "x"}}], "words": {words}}}"#);
        asks_model(&schema(&json), &graph.chunks[0])
    };
    assert_eq!(
        [asks("[]"), asks(r#"["approv"]"#), asks(r#"["批准"]"#), asks(r#"["tax"]"#)],
        [true, true, true, false]
    );
}
