//! Writes names and values of SQL for people.

use pikerag_knowledge::DataValue;

/// Words of SQL that need quotation marks as names.
const WORDS: &[&str] = &[
    "all",
    "and",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "commit",
    "constraint",
    "create",
    "cross",
    "current",
    "date",
    "default",
    "delete",
    "desc",
    "distinct",
    "drop",
    "else",
    "end",
    "escape",
    "except",
    "exists",
    "filter",
    "first",
    "following",
    "for",
    "foreign",
    "from",
    "full",
    "glob",
    "group",
    "groups",
    "having",
    "if",
    "in",
    "index",
    "inner",
    "insert",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "key",
    "last",
    "left",
    "like",
    "limit",
    "match",
    "natural",
    "not",
    "notnull",
    "null",
    "nulls",
    "of",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "over",
    "partition",
    "plan",
    "pragma",
    "primary",
    "query",
    "range",
    "references",
    "regexp",
    "replace",
    "right",
    "row",
    "rows",
    "select",
    "set",
    "table",
    "then",
    "to",
    "transaction",
    "trigger",
    "union",
    "unique",
    "update",
    "using",
    "values",
    "view",
    "when",
    "where",
    "window",
    "with",
];

/// A name, in quotation marks where SQL needs them.
pub(super) fn quoted(name: &str) -> String {
    let starts_plain = name.chars().next().is_some_and(|c| c.is_ascii_lowercase() || c == '_');
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    match starts_plain && is_plain && !WORDS.contains(&name) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// A value as SQL writes it.
pub(super) fn literal(value: &DataValue) -> String {
    match value {
        DataValue::Empty => "NULL".to_owned(),
        DataValue::Integer(number) => number.to_string(),
        DataValue::Real(number) => format!("{number:?}"),
        DataValue::Text(text) => format!("'{}'", text.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_quoted_if_needed() {
        let names = ["orders", "order", "2024", "price_eur", "地区", "a\"b"].map(quoted);
        insta::assert_snapshot!(names.join(" "), @r#"orders "order" "2024" price_eur "地区" "a""b""#);
        let text = DataValue::Text("it's".to_owned());
        let values = [DataValue::Empty, DataValue::Integer(-1), DataValue::Real(2.0), text];
        insta::assert_snapshot!(values.map(|value| literal(&value)).join(" "), @"NULL -1 2.0 'it''s'");
    }
}
