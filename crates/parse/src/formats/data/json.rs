//! Reads JSON files as a list of records or as one document, and JSON Lines files as records.

use pikerag_knowledge::{BlockKind, Document, ProblemFact, Span};
use serde_json::{Map, Value};

use crate::ParseError;
use crate::document::blocks::add_block;
use crate::document::file::TextFile;
use crate::document::record::{Records, flatten};
use pikerag_unpack::Problems;

/// Reads JSON Lines: one record per line. Invalid lines become problems.
pub(crate) fn read_lines(
    file: &TextFile,
    problems: &mut Problems,
) -> Result<Vec<Document>, ParseError> {
    let mut records = Records::new(file);
    let mut first_fault = None;
    let mut any_good = false;
    for (at, line) in file.text.split('\n').enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        if records.is_full() {
            let reason = ProblemFact::RecordsRead { most: file.limits.max_records };
            problems.add(format!("line {}", at + 1), reason);
            break;
        }
        match serde_json::from_str(line.trim()) {
            Ok(value) => {
                any_good = true;
                records.add(at + 1, "line", value, problems);
            }
            Err(fault) => {
                let reason = fault_in(&fault);
                first_fault.get_or_insert_with(|| format!("line {}: {reason}", at + 1));
                problems.add(
                    format!("line {}", at + 1),
                    ProblemFact::InvalidJson {
                        reason,
                        column: fault.column(),
                        is_cut_off: fault.is_eof(),
                    },
                );
            }
        }
    }
    match first_fault {
        Some(reason) if !any_good => Err(malformed(file, "JSON Lines", reason)),
        _ => Ok(records.finish()),
    }
}

/// Reads one JSON value.
///
/// A list of objects or texts is a list of records. So is an object with exactly one list of
/// objects; the rest of that object becomes a separate document. Everything else is one document of
/// lines `path.to.key: value`.
pub(crate) fn read(file: &TextFile, problems: &mut Problems) -> Result<Vec<Document>, ParseError> {
    let value: Value = match serde_json::from_str(&file.text) {
        Ok(value) => value,
        // JSON Lines files often have this extension.
        Err(_) if starts_like_lines(&file.text) => return read_lines(file, problems),
        Err(fault) => {
            return Err(malformed(
                file,
                "JSON",
                format!("line {}: {}", fault.line(), fault_in(&fault)),
            ));
        }
    };
    let (rest, values) = match value {
        Value::Array(values) if are_records(&values) => (None, values),
        Value::Object(mut fields) => match take_records(&mut fields) {
            Some(values) => (Some(Value::Object(fields)), values),
            None => (Some(Value::Object(fields)), Vec::new()),
        },
        value => (Some(value), Vec::new()),
    };
    let mut documents = Vec::new();
    if let Some(rest) = rest {
        documents.extend(flat_document(file, rest, problems));
    }
    let mut records = Records::new(file);
    for (at, value) in values.into_iter().enumerate() {
        if records.is_full() {
            let reason = ProblemFact::RecordsRead { most: file.limits.max_records };
            problems.add(format!("record {}", at + 1), reason);
            break;
        }
        records.add(at + 1, "record", value, problems);
    }
    documents.append(&mut records.finish());
    Ok(documents)
}

fn starts_like_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let is_object = |line: &str| serde_json::from_str::<Map<String, Value>>(line).is_ok();
    lines.next().is_some_and(is_object) && lines.next().is_some()
}

fn are_records(values: &[Value]) -> bool {
    let objects = values.iter().filter(|value| value.is_object()).count();
    let texts = values.iter().filter(|value| value.is_string()).count();
    values.len() < 2 * objects || (0 < texts && texts == values.len())
}

/// Takes the list of objects out if there is exactly one.
fn take_records(fields: &mut Map<String, Value>) -> Option<Vec<Value>> {
    let is_list = |value: &Value| {
        value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_object))
    };
    let mut lists = fields.iter().filter(|(_, value)| is_list(value)).map(|(key, _)| key.clone());
    let (Some(key), None) = (lists.next(), lists.next()) else { return None };
    match fields.shift_remove(&key) {
        Some(Value::Array(values)) => Some(values),
        _ => None,
    }
}

/// One paragraph per field of the outermost value.
fn flat_document(file: &TextFile, value: Value, problems: &mut Problems) -> Option<Document> {
    let flat = flatten(value, file.limits.max_depth);
    if flat.cut {
        problems.add("", ProblemFact::ValuesTooDeep { depth: file.limits.max_depth });
    }
    let mut text = String::new();
    let mut blocks = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (path, value) in &flat.lines {
        let field = path.split(['.', '[']).next();
        if last.is_some_and(|last| last != field) {
            add_block(&mut blocks, &text, BlockKind::Paragraph, Span { start, end: text.len() });
            text.push_str("\n\n");
            start = text.len();
        } else if last.is_some() {
            text.push('\n');
        }
        last = Some(field);
        if !path.is_empty() {
            text.push_str(path);
            text.push_str(": ");
        }
        text.push_str(value);
    }
    add_block(&mut blocks, &text, BlockKind::Paragraph, Span { start, end: text.len() });
    (!blocks.is_empty()).then(|| file.document(None, text, blocks, Vec::new()))
}

/// The fault without the place that `serde_json` appends; messages give the place themselves.
fn fault_in(fault: &serde_json::Error) -> String {
    let words = fault.to_string();
    match words.rsplit_once(" at line ") {
        Some((words, _)) => format!("{words}, column {}", fault.column()),
        None => words,
    }
}

fn malformed(file: &TextFile, format: &str, reason: String) -> ParseError {
    ParseError::Malformed { name: file.name.to_owned(), format: format.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::Chunking;

    use crate::test_support::{check, run, run_within};
    use crate::{Limits, NoTools, parse};

    #[test]
    fn known_shapes_are_read_as_given() {
        let lines = r#"{"_id": "d1", "title": "Ada", "text": "Ada wrote it.", "metadata": {"year": 1843, "tags": ["x", "y"]}}
            {"chunk_id": 7, "title": "年报", "content": "营业收入增长。", "page": 3}
            {"idx": 0, "title": "No text", "text": ""}

            {"contents": "no title, no id", "empty": null}
            "a bare text""#;
        insta::assert_snapshot!(run("my_corpus.jsonl", lines), @r#"
        == Ada #d1 (given)
        p "Ada wrote it."
        metadata.tags = x, y
        metadata.year = 1843
        == 年报 #7 (given)
        p "营业收入增长。"
        page = 3
        == No text #0 (given)
        p "title: No text"
        idx = 0
        == my corpus 5 #5 (given)
        p "no title, no id"
        == my corpus 6 #6 (given)
        p "a bare text"
        "#);
    }

    #[test]
    fn bad_lines_are_reported_and_duplicates_renamed() {
        let lines = "{\"id\":1,\"text\":\"a\"}\n{\"id\":1,\"text\":\"b\"}\n{oops\n{\"id\":\"1~2\",\"text\":\"c\"}\n[1]\n{}\n";
        insta::assert_snapshot!(run("c.jsonl", lines), @r#"
        == c 1 #1 (given)
        p "a"
        == c 2 #1~2 (given)
        p "b"
        == c 4 #1~2~2 (given)
        p "c"
        ! line 2: `1` occurs again: renamed to `1~2`
        ! line 3: key must be a string, column 2
        ! line 4: `1~2` occurs again: renamed to `1~2~2`
        ! line 5: is neither an object nor a text
        ! line 6: holds no text
        "#);
        insta::assert_snapshot!(run("c.jsonl", "{oops\n\nworse"), @r"`c.jsonl` is not readable as JSON Lines: line 1: key must be a string, column 2; open it in its program and save it again; if it is plain text, rename it to .txt");
    }

    #[test]
    fn records_without_text_are_written_out() {
        insta::assert_snapshot!(run("staff.json", r#"[{"name": "Ada", "born": 1815, "langs": ["en", "fr"], "a": {"b": true}}, {"x": "y"}]"#), @r#"
        == Ada #1 (given)
        p "name: Ada\nborn: 1815\nlangs: en, fr\na.b: true"
        a.b = true
        born = 1815
        langs = en, fr
        name = Ada
        == staff 2 #2 (given)
        p "x: y"
        x = y
        "#);
    }

    #[test]
    fn lists_inside_objects_are_records_too() {
        insta::assert_snapshot!(run("d.json", r#"{"version": "1.0", "data": [{"id": 1, "text": "a"}]}"#), @r#"
        == d
        p "version: 1.0"
        == d 1 #1 (given)
        p "a"
        "#);
    }

    #[test]
    fn other_json_is_one_document() {
        insta::assert_snapshot!(run("config.json", r#"{"server": {"host": "x", "ports": [1, 2]}, "名称": "知识库", "l": [{"a": 1}, 2, null], "m": {}}"#), @r#"
        == config
        p "server.host: x\nserver.ports: 1, 2"
        p "名称: 知识库"
        p "l[0].a: 1\nl[1]: 2"
        "#);
        insta::assert_snapshot!(run("c.json", "\"text\""), @r#"
        == c
        p "text"
        "#);
        insta::assert_snapshot!(run("c.json", "[]"), @r"`c.json` holds no text: check that it is the file you meant");
        insta::assert_snapshot!(run("c.json", "{\"a\": 1,\n}"), @r"`c.json` is not readable as JSON: line 2: trailing comma, column 1; open it in its program and save it again; if it is plain text, rename it to .txt");
        insta::assert_snapshot!(run("lines.json", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n"), @r#"
        == lines 1 #1 (given)
        p "a"
        == lines 2 #2 (given)
        p "b"
        "#);
        insta::assert_snapshot!(run("dup_keys.json", "{\"a\":1,\"a\":2}"), @r#"
        == dup keys
        p "a: 2"
        "#);
    }

    #[test]
    fn limits_hold() {
        let limits = Limits { max_records: 1, max_depth: 2, max_bytes: 40, ..Limits::default() };
        insta::assert_snapshot!(run_within("c.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}", &limits), @r#"
        == c 1 #1 (given)
        p "a"
        ! line 2: only the first 1 records were read
        "#);
        insta::assert_snapshot!(run_within("c.json", "{\"a\":{\"b\":1,\"c\":{\"d\":2}}}", &limits), @r#"
        == c
        p "a.b: 1"
        ! : values nested deeper than 2 are left out
        "#);
        insta::assert_snapshot!(run_within("c.json", " ".repeat(41), &limits), @r"`c.json` has 41 bytes, more than the limit of 40: split it or raise the limit");
        insta::assert_snapshot!(run("deep.json", format!("{}{}", "[".repeat(200_000), "]".repeat(200_000))), @r"`deep.json` is not readable as JSON: line 1: recursion limit exceeded, column 128; open it in its program and save it again; if it is plain text, rename it to .txt");
    }

    #[test]
    fn a_long_path_does_not_multiply() {
        let file = format!("{{\"{}\":[{}[]]}}", "k".repeat(10_000), "{\"a\":1},".repeat(1_000));
        assert!(run("c.json", &file).len() < 30 * file.len());
    }

    #[test]
    fn a_real_corpus_is_read_whole() {
        let path = pikerag_test_support::optional("data/multihop/hotpotqa.corpus.jsonl");
        let Some(path) = path else { return };
        let bytes = std::fs::read(path).unwrap();
        let parsed = parse("hotpotqa.corpus.jsonl", &bytes, &Limits::default(), &NoTools).unwrap();
        check(&parsed);
        assert_eq!((parsed.documents.len(), parsed.problems.len()), (4_967, 0));
        assert!(parsed.documents.iter().all(|document| document.chunking == Chunking::Given));
        assert_eq!(parsed.documents[0].fragment, "hotpotqa-dev-p00000");
        assert_eq!(parsed.documents[0].title, "(I Can't Make It) Another Day");
    }
}
