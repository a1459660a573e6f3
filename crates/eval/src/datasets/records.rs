//! Splits a file into records: JSON Lines, one JSON list, one JSON object around a list, or
//! tab-separated values with a header.

use serde_json::{Map, Value};

use crate::place::Place;

/// The records of a file, in its order; blank lines are skipped.
pub(super) fn records(text: &str) -> Result<Vec<(Place, Value)>, (Place, serde_json::Error)> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    // PopQA is published as a table.
    if !first.starts_with(['{', '[']) && first.contains('\t') {
        return tab_separated(text);
    }
    if first.starts_with('[') {
        return list(text);
    }
    // TriviaQA is one object over many lines; in JSON Lines the first line is an object of its own.
    if serde_json::from_str::<Value>(first).is_err()
        && let Ok(Value::Object(mut whole)) = serde_json::from_str(text)
        && let Some(Value::Array(data)) = ["Data", "data"].iter().find_map(|key| whole.remove(*key))
    {
        return Ok(numbered(data));
    }
    let mut records = Vec::new();
    for (line, json) in (1..).zip(text.lines()) {
        if json.trim().is_empty() {
            continue;
        }
        let place = Place::Line(line);
        match serde_json::from_str(json).map_err(|source| (place, source))? {
            Value::Object(mut whole) if matches!(whole.get("Data"), Some(Value::Array(_))) => {
                let Some(Value::Array(data)) = whole.remove("Data") else { continue };
                records.extend(numbered(data));
            }
            record => records.push((place, record)),
        }
    }
    Ok(records)
}

fn list(text: &str) -> Result<Vec<(Place, Value)>, (Place, serde_json::Error)> {
    let data: Vec<Value> =
        serde_json::from_str(text).map_err(|source| (Place::Line(source.line()), source))?;
    Ok(numbered(data))
}

fn numbered(data: Vec<Value>) -> Vec<(Place, Value)> {
    (1..).map(Place::Record).zip(data).collect()
}

fn tab_separated(text: &str) -> Result<Vec<(Place, Value)>, (Place, serde_json::Error)> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(b'\t').flexible(true).from_reader(text.as_bytes());
    let wrong = |record, source: csv::Error| {
        (Place::Record(record), <serde_json::Error as serde::de::Error>::custom(source))
    };
    let head = reader.headers().map_err(|source| wrong(0, source))?.clone();
    let mut records = Vec::new();
    for (number, row) in (1..).zip(reader.records()) {
        let row = row.map_err(|source| wrong(number, source))?;
        let cells = head.iter().zip(row.iter());
        let record: Map<String, Value> =
            cells.map(|(key, cell)| (key.to_owned(), Value::from(cell))).collect();
        records.push((Place::Record(number), Value::Object(record)));
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::records;

    fn places(text: &str) -> String {
        match records(text) {
            Ok(found) => {
                let shown: Vec<String> =
                    found.iter().map(|(place, record)| format!("{place}: {record}")).collect();
                shown.join("; ")
            }
            Err((place, error)) => format!("{place}: {error}"),
        }
    }

    #[test]
    fn four_shapes_of_a_file() {
        assert_eq!(
            places("\u{FEFF}{\"a\":1}\n\n{\"a\":2}\n"),
            r#"line 1: {"a":1}; line 3: {"a":2}"#
        );
        assert_eq!(places("[\n{\"a\":1},\n{\"a\":2}]"), r#"record 1: {"a":1}; record 2: {"a":2}"#);
        assert_eq!(places("{\n\"Data\": [{\"a\":1}]\n}"), r#"record 1: {"a":1}"#);
        assert_eq!(places("{\"Data\": [{\"a\":1}]}"), r#"record 1: {"a":1}"#);
        assert_eq!(places("a\tb\n1\t\"[\"\"x\"\"]\"\n"), r#"record 1: {"a":"1","b":"[\"x\"]"}"#);
        assert_eq!(places(""), "");
    }

    #[test]
    fn names_the_place_of_invalid_json() {
        assert!(places("[{\"a\":1},\n{]").starts_with("line 2: "), "{}", places("[{\"a\":1},\n{]"));
        assert!(places("{\"a\":1}\n{").starts_with("line 2: EOF"));
    }
}
