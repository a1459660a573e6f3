//! Decides which columns of a table are read, in which order, and how their values become texts.

use crate::catalog::{Column, Relation};
use crate::choice::Choice;

/// The version of the conversion of values. A change reads all rows again.
const VERSION: &str = "1";

/// The columns of a table as they are read, and the statements that read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The columns that identify a row come first.
    pub(crate) columns: Vec<Column>,
    /// The number of those columns; 0 if no key is known.
    pub(crate) key: usize,
    /// Whether the database states that key, which then does not repeat.
    pub(crate) is_stated: bool,
    /// The place of the column that changes with every change of its row. It counts only with a key.
    pub(crate) changed: Option<usize>,
    /// Columns of bytes. Their values are counted, not read.
    pub(crate) binary: Vec<Column>,
    /// The names of columns that the account may not read.
    pub(crate) hidden: Vec<String>,
    /// The table as SQL writes it.
    from: String,
}

/// The cells of a row, as texts on one line; empty for NULL.
pub(crate) type Cells = Vec<String>;

impl Layout {
    /// The primary key comes before the columns that the settings name as key. A key that contains
    /// a column that is not read is no key.
    pub(crate) fn of(relation: &Relation, choice: &Choice) -> Self {
        let (readable, hidden): (Vec<&Column>, Vec<&Column>) =
            relation.columns.iter().partition(|column| column.is_readable);
        let (binary, read): (Vec<&Column>, Vec<&Column>) =
            readable.into_iter().partition(|column| column.type_name == "bytea");
        let place = |name: &String| read.iter().position(|column| column.name == *name);
        let places = |names: &[String]| -> Option<Vec<usize>> {
            let places: Option<Vec<usize>> = names.iter().map(place).collect();
            places.filter(|places| !places.is_empty())
        };
        let stated = places(&relation.primary_key);
        let is_stated = stated.is_some();
        let key = stated.or_else(|| places(&choice.key)).unwrap_or_default();
        let others = (0..read.len()).filter(|place| !key.contains(place));
        let order: Vec<usize> = key.iter().copied().chain(others).collect();
        let columns: Vec<Column> =
            order.iter().filter_map(|place| read.get(*place)).map(|it| (*it).clone()).collect();
        // Rows are found by the text of their key, which for an array is not that of the value.
        let is_usable = !key.is_empty() && !columns.iter().take(key.len()).any(|it| it.is_array);
        let changed = choice.changed.as_ref().filter(|_| is_usable);
        let changed =
            changed.and_then(|name| columns.iter().position(|column| column.name == *name));
        Self {
            key: key.len(),
            is_stated,
            changed,
            binary: binary.into_iter().cloned().collect(),
            hidden: hidden.into_iter().map(|column| column.name.clone()).collect(),
            from: format!("{}.{}", quoted(&relation.schema), quoted(&relation.table)),
            columns,
        }
    }

    /// The names of the columns.
    pub(crate) fn header(&self) -> Vec<String> {
        self.columns.iter().map(|column| one_line(&column.name)).collect()
    }

    /// Names the conversion of values: its version, and a digest of the columns' types. Values of
    /// another type may have another text, so rows with another format are read again.
    pub(crate) fn format(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for column in &self.columns {
            hasher.update(column.full_type.as_bytes());
            hasher.update(b"\n");
        }
        format!("{VERSION}-{}", hasher.finalize().to_hex().chars().take(16).collect::<String>())
    }

    /// The columns that show whether a row has changed: its key, and the column that changes with
    /// it. `None` if rows must be compared as a whole.
    pub(crate) fn marks(&self) -> Option<Vec<&Column>> {
        let changed = self.columns.get(self.changed?)?;
        let key = self.columns.iter().take(self.key);
        Some(key.chain([changed]).collect())
    }

    /// The marks among the cells of a whole row.
    pub(crate) fn marks_of(&self, row: &[String]) -> Option<Cells> {
        let changed = row.get(self.changed?)?.clone();
        Some(row.iter().take(self.key).cloned().chain([changed]).collect())
    }

    /// The statement that reads at most `most` rows. After the columns it gives, for each column of
    /// bytes, whether it has a value.
    pub(crate) fn select(&self, most: u64) -> String {
        format!("SELECT {} FROM {} LIMIT {most}", self.list(), self.from)
    }

    /// The statement that reads the marks of at most `most` rows.
    pub(crate) fn select_marks(&self, marks: &[&Column], most: u64) -> String {
        let list: Vec<String> = marks.iter().map(|column| expression(column)).collect();
        format!("SELECT {} FROM {} LIMIT {most}", list.join(", "), self.from)
    }

    /// The statement that reads the rows with some keys. Each parameter lists the values of one
    /// column of the key.
    ///
    /// Values are compared only in a key that the database states, whose types have an equality, and
    /// only if these types belong to PostgreSQL: the session does not see the operators of others.
    /// Other keys are compared as texts, without an index.
    pub(crate) fn select_by_key(&self) -> String {
        let key: Vec<&Column> = self.columns.iter().take(self.key).collect();
        let is_by_value = self.is_stated && key.iter().all(|it| !it.type_name.contains('.'));
        let name = |column: &&Column| match is_by_value {
            true => quoted(&column.name),
            false => expression(column),
        };
        let names: Vec<String> = key.iter().map(name).collect();
        // A text becomes a value of its type on the server, as it came from there.
        let list = |(n, column): (usize, &&Column)| match is_by_value {
            true => format!("${n}::text[]::{}[]", column.type_name),
            false => format!("${n}::text[]"),
        };
        let lists = (1..).zip(&key).map(list).collect::<Vec<_>>().join(", ");
        format!(
            "SELECT {} FROM {} WHERE ({}) IN (SELECT * FROM unnest({lists}))",
            self.list(),
            self.from,
            names.join(", ")
        )
    }

    fn list(&self) -> String {
        let texts = self.columns.iter().map(expression);
        let binary = self.binary.iter().map(|column| {
            format!("CASE WHEN {} IS NULL THEN NULL ELSE ''::text END", quoted(&column.name))
        });
        let list: Vec<String> = texts.chain(binary).collect();
        // A table may have no column at all.
        if list.is_empty() { "NULL::text".to_owned() } else { list.join(", ") }
    }
}

/// The value of a column as a text.
fn expression(column: &Column) -> String {
    let name = quoted(&column.name);
    match column.is_array {
        true => format!("array_to_string({name}, ', ')"),
        false => format!("{name}::text"),
    }
}

/// A name as SQL writes it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The cells of a row for the given columns; further texts are left out.
pub(crate) fn cells<'a>(
    columns: impl Iterator<Item = &'a Column>,
    texts: Vec<Option<String>>,
) -> Cells {
    columns.zip(texts).map(|(column, text)| cell(column, text)).collect()
}

/// The text of a value on one line. Times with a zone are in UTC, as the session asks for, and say
/// so in a word.
fn cell(column: &Column, text: Option<String>) -> String {
    let Some(text) = text else { return String::new() };
    let in_utc = text.strip_suffix("+00");
    match in_utc.filter(|_| column.type_name == "timestamp with time zone") {
        Some(moment) => format!("{moment} UTC"),
        None => one_line(&text),
    }
}

/// A text with single spaces in place of line breaks and other white space.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staff() -> Relation {
        Relation::sample("hr", "员\"工")
            .with_column("name", "text")
            .with_column("id", "bigint")
            .with_column("photo", "bytea")
            .with_column("updated", "timestamp with time zone")
            .with_column("tags", "text[]")
    }

    fn layout(primary_key: &[&str], key: &[&str], changed: Option<&str>) -> Layout {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let relation = Relation { primary_key: names(primary_key), ..staff() };
        let changed = changed.map(str::to_owned);
        Layout::of(&relation, &Choice { key: names(key), changed, ..Choice::default() })
    }

    #[test]
    fn the_key_comes_first_and_bytes_are_not_read() {
        let of_table = layout(&["id"], &["name"], Some("updated"));
        assert_eq!(of_table.header(), ["id", "name", "updated", "tags"]);
        assert_eq!((of_table.key, of_table.changed), (1, Some(2)));
        assert_eq!(of_table.binary.len(), 1);
        let of_settings = layout(&[], &["name", "id"], Some("none"));
        assert_eq!(of_settings.header(), ["name", "id", "updated", "tags"]);
        assert_eq!((of_settings.key, of_settings.changed), (2, None));
        assert_eq!(layout(&["tags"], &[], Some("updated")).changed, None);
        // Without a key, changes are found by whole rows.
        for layout in [layout(&[], &[], Some("updated")), layout(&["photo"], &["gone"], None)] {
            assert_eq!((layout.key, layout.changed), (0, None));
            assert_eq!(layout.header(), ["name", "id", "updated", "tags"]);
        }
    }

    #[test]
    fn columns_without_permission_are_left_out() {
        let mut relation = staff();
        relation.columns[0].is_readable = false;
        let layout = Layout::of(&relation, &Choice::default());
        assert_eq!((layout.header().len(), layout.hidden), (3, vec!["name".to_owned()]));
    }

    #[test]
    fn statements_quote_names_and_turn_values_into_texts() {
        let layout = layout(&["id", "name"], &[], Some("updated"));
        insta::assert_snapshot!(layout.select(11), @r#"SELECT "id"::text, "name"::text, "updated"::text, array_to_string("tags", ', '), CASE WHEN "photo" IS NULL THEN NULL ELSE ''::text END FROM "hr"."员""工" LIMIT 11"#);
        let marks = layout.marks().unwrap();
        insta::assert_snapshot!(layout.select_marks(&marks, 11), @r#"SELECT "id"::text, "name"::text, "updated"::text FROM "hr"."员""工" LIMIT 11"#);
        let by_key = layout.select_by_key();
        let (_, condition) = by_key.split_once(" WHERE ").unwrap();
        insta::assert_snapshot!(condition, @r#"("id", "name") IN (SELECT * FROM unnest($1::text[]::bigint[], $2::text[]::text[]))"#);
    }

    /// `json` has no equality, and that of an extension's type is not visible.
    #[test]
    fn keys_without_a_visible_equality_are_compared_as_texts() {
        let of_settings = layout(&[], &["name", "id"], Some("updated"));
        let relation = Relation::sample("a", "b").with_column("path", "public.ltree");
        let relation = Relation { primary_key: vec!["path".to_owned()], ..relation };
        let of_extension = Layout::of(&relation, &Choice::default());
        for (layout, expected) in [
            (
                of_settings,
                r#"("name"::text, "id"::text) IN (SELECT * FROM unnest($1::text[], $2::text[]))"#,
            ),
            (of_extension, r#"("path"::text) IN (SELECT * FROM unnest($1::text[]))"#),
        ] {
            let by_key = layout.select_by_key();
            assert_eq!(by_key.split_once(" WHERE ").unwrap().1, expected);
        }
    }

    #[test]
    fn another_type_is_another_format() {
        let of = |type_name: &str, full_type: &str| {
            let mut relation = Relation::sample("a", "b").with_column("price", type_name);
            relation.columns[0].full_type = full_type.to_owned();
            Layout::of(&relation, &Choice::default()).format()
        };
        let before = of("numeric", "numeric(10,1)");
        assert_eq!(of("numeric", "numeric(10,1)"), before);
        assert_ne!(of("numeric", "numeric(10,2)"), before);
        assert_ne!(of("text", "text"), before);
    }

    #[test]
    fn values_become_texts_on_one_line() {
        let shown = |type_name: &str, text: &str| {
            let relation = Relation::sample("a", "b").with_column("c", type_name);
            cells(relation.columns.iter(), vec![Some(text.to_owned())]).concat()
        };
        for (type_name, text, cell) in [
            ("timestamp with time zone", "2026-01-02 03:04:05.5+00", "2026-01-02 03:04:05.5 UTC"),
            ("timestamp with time zone", "infinity", "infinity"),
            ("timestamp without time zone", "2026-01-02 03:04:05", "2026-01-02 03:04:05"),
            // More digits than a floating-point number has.
            ("numeric", "12345678901234567890.12345", "12345678901234567890.12345"),
            ("numeric", "NaN", "NaN"),
            ("boolean", "true", "true"),
            ("jsonb", "{\"a\": [1, 2]}", "{\"a\": [1, 2]}"),
            ("text", " 第一行\n第二行\t完 ", "第一行 第二行 完"),
            ("text", "1+00", "1+00"),
            ("other.type", "(1,2)", "(1,2)"),
        ] {
            assert_eq!(shown(type_name, text), cell, "{type_name}");
        }
        let relation = Relation::sample("a", "b").with_column("c", "text");
        assert_eq!(cells(relation.columns.iter(), vec![None, Some(String::new())]), [""]);
    }

    #[test]
    fn marks_are_the_key_and_the_changed_column() {
        let layout = layout(&["id"], &[], Some("updated"));
        let row: Cells = ["7", "Ada", "2026-01-02", ""].map(str::to_owned).to_vec();
        assert_eq!(layout.marks_of(&row).unwrap(), ["7", "2026-01-02"]);
    }
}
