//! Makes names of tables and columns that SQL reads without quotes.

use std::collections::{HashMap, HashSet};

use pikerag_language::fold::fold;
use pikerag_language::is_chinese;

/// The most characters of a name; longer ones are cut.
const LONGEST: usize = 60;
/// The name of the first column whose header has no letter.
const UNNAMED: &str = "column_1";

/// Names for SQL, in order: lower-case ASCII letters, digits, Chinese letters and `_`.
///
/// Each name is unique among these names and those of `taken`, and is added to `taken`. None is a keyword of SQLite, none
/// begins with a digit. Accents are dropped; letters of other scripts become `_`. A name without a letter or digit becomes
/// `column_1`, `column_2` and so on.
pub fn sql_names(names: &[String], taken: &mut HashSet<String>) -> Vec<String> {
    let mut made = Vec::with_capacity(names.len());
    // The last number of each base name: thousands of columns may share one.
    let mut numbers = HashMap::new();
    for name in names {
        let mut name = sql_name(name);
        if taken.contains(&name) {
            name = numbered(&name, taken, &mut numbers);
        }
        taken.insert(name.clone());
        made.push(name);
    }
    made
}

fn sql_name(name: &str) -> String {
    let mut made = String::new();
    for c in fold(name).chars() {
        if c.is_ascii_alphanumeric() || is_chinese(c) {
            made.push(c);
        } else if !made.ends_with('_') {
            made.push('_');
        }
    }
    let mut made: String = made.trim_matches('_').chars().take(LONGEST).collect();
    if made.is_empty() {
        UNNAMED.clone_into(&mut made);
    }
    if made.starts_with(|c: char| c.is_ascii_digit()) {
        made.insert(0, '_');
    }
    if KEYWORDS.binary_search(&made.as_str()).is_ok() {
        made.push('_');
    }
    made
}

fn numbered(name: &str, taken: &HashSet<String>, numbers: &mut HashMap<String, usize>) -> String {
    let base = if name == UNNAMED { name.trim_end_matches("_1") } else { name };
    let base = base.strip_suffix('_').unwrap_or(base);
    let number = numbers.entry(base.to_owned()).or_insert(1);
    loop {
        *number += 1;
        let numbered = format!("{base}_{number}");
        if !taken.contains(&numbered) {
            return numbered;
        }
    }
}

/// The keywords of SQLite 3.50, and its names of the row id; in order.
const KEYWORDS: [&str; 151] = [
    "abort",
    "action",
    "add",
    "after",
    "all",
    "alter",
    "always",
    "analyze",
    "and",
    "as",
    "asc",
    "attach",
    "autoincrement",
    "before",
    "begin",
    "between",
    "by",
    "cascade",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "commit",
    "conflict",
    "constraint",
    "create",
    "cross",
    "current",
    "current_date",
    "current_time",
    "current_timestamp",
    "database",
    "default",
    "deferrable",
    "deferred",
    "delete",
    "desc",
    "detach",
    "distinct",
    "do",
    "drop",
    "each",
    "else",
    "end",
    "escape",
    "except",
    "exclude",
    "exclusive",
    "exists",
    "explain",
    "fail",
    "false",
    "filter",
    "first",
    "following",
    "for",
    "foreign",
    "from",
    "full",
    "generated",
    "glob",
    "group",
    "groups",
    "having",
    "if",
    "ignore",
    "immediate",
    "in",
    "index",
    "indexed",
    "initially",
    "inner",
    "insert",
    "instead",
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
    "materialized",
    "natural",
    "no",
    "not",
    "nothing",
    "notnull",
    "null",
    "nulls",
    "of",
    "offset",
    "oid",
    "on",
    "or",
    "order",
    "others",
    "outer",
    "over",
    "partition",
    "plan",
    "pragma",
    "preceding",
    "primary",
    "query",
    "raise",
    "range",
    "recursive",
    "references",
    "regexp",
    "reindex",
    "release",
    "rename",
    "replace",
    "restrict",
    "returning",
    "right",
    "rollback",
    "row",
    "rowid",
    "rows",
    "savepoint",
    "select",
    "set",
    "table",
    "temp",
    "temporary",
    "then",
    "ties",
    "to",
    "transaction",
    "trigger",
    "true",
    "unbounded",
    "union",
    "unique",
    "update",
    "using",
    "vacuum",
    "values",
    "view",
    "virtual",
    "when",
    "where",
    "window",
    "with",
    "without",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        sql_names(&names, &mut HashSet::new())
    }

    #[test]
    fn names_are_plain_and_unique() {
        assert_eq!(
            made(&[
                "Body Mass (g)",
                "body mass g",
                "Größe",
                "Prix de l’été",
                "重量（公斤）",
                "2019",
                "order",
                "Order",
                "",
                "%",
                "выручка",
                "CustomerID",
                "_x_",
                "ＡＢＣ",
                "ORDER_",
                "rowid",
                "Owner's name",
                "m²",
            ]),
            [
                "body_mass_g",
                "body_mass_g_2",
                "grosse",
                "prix_de_lete",
                "重量_公斤",
                "_2019",
                "order_",
                "order_2",
                "column_1",
                "column_2",
                "column_3",
                "customerid",
                "x",
                "abc",
                "order_3",
                "rowid_",
                "owners_name",
                "m2",
            ]
        );
        assert_eq!(made(&["x".repeat(500).as_str()])[0].len(), 60);
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn names_that_are_taken_are_not_given_again() {
        let mut taken = HashSet::from(["year".to_owned(), "year_2".to_owned()]);
        assert_eq!(sql_names(&["Year".to_owned()], &mut taken), ["year_3"]);
        assert!(taken.contains("year_3"));
    }

    proptest! {
        #[test]
        fn any_header_becomes_a_name(
            headers in proptest::collection::vec("\\PC{0,12}|[a-c]{0,2}|[0-9]{1,2}|select|Order_?|column_[12]", 0..40)
        ) {
            let names = sql_names(&headers, &mut HashSet::new());
            let different: HashSet<&String> = names.iter().collect();
            prop_assert_eq!(different.len(), headers.len());
            for name in &names {
                let is_plain = |c: char| {
                    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || is_chinese(c)
                };
                prop_assert!(name.chars().all(is_plain), "{}", name);
                prop_assert!(!name.starts_with(|c: char| c.is_ascii_digit()), "{}", name);
                prop_assert!(!KEYWORDS.contains(&name.as_str()), "{}", name);
                prop_assert!(!name.is_empty());
            }
        }
    }
}
