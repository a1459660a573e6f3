//! Chooses tables of a database by patterns.

use std::fmt;

use crate::catalog::Relation;

/// The tables to read and how to follow their changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Patterns of the tables; if there are none, all tables that the account can read. Views,
    /// materialized views and foreign tables must be named by a pattern.
    pub tables: Vec<TablePattern>,
    /// The columns that identify a row in tables without a primary key.
    pub key: Vec<String>,
    /// The column whose value changes with every change of a row. Tables without it are compared row
    /// by row.
    pub changed: Option<String>,
}

impl Choice {
    /// Whether these patterns choose a table. A pattern that begins with `!` leaves tables out.
    pub(crate) fn takes(&self, relation: &Relation) -> bool {
        let fits = |pattern: &&TablePattern| pattern.fits(&relation.schema, &relation.table);
        let (without, with): (Vec<_>, Vec<_>) =
            self.tables.iter().partition(|pattern| pattern.excludes);
        if without.iter().any(fits) {
            return false;
        }
        match with.is_empty() {
            true => relation.is_plain,
            false => with.iter().any(fits),
        }
    }

    /// The patterns that fit none of these tables. A pattern that leaves tables out may fit none.
    pub(crate) fn unused<'a>(&'a self, relations: &[Relation]) -> Vec<&'a TablePattern> {
        let is_unused = |pattern: &&TablePattern| {
            let fits = |relation: &Relation| pattern.fits(&relation.schema, &relation.table);
            !pattern.excludes && !relations.iter().any(fits)
        };
        self.tables.iter().filter(is_unused).collect()
    }
}

/// A pattern of tables: `schema.table` or `table`, with `*` for any characters and `?` for one. With
/// `!` before it, it leaves tables out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePattern {
    excludes: bool,
    /// `None` for every schema.
    schema: Option<String>,
    table: String,
}

/// The reason why a text is no pattern of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPattern;

impl std::str::FromStr for TablePattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let text = text.trim();
        let (excludes, text) = match text.strip_prefix('!') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, text),
        };
        let (schema, table) = match text.split_once('.') {
            Some((schema, table)) => (Some(schema), table),
            None => (None, text),
        };
        if table.is_empty() || schema.is_some_and(str::is_empty) {
            return Err(BadPattern);
        }
        Ok(Self { excludes, schema: schema.map(str::to_owned), table: table.to_owned() })
    }
}

impl fmt::Display for TablePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.excludes {
            f.write_str("!")?;
        }
        if let Some(schema) = &self.schema {
            write!(f, "{schema}.")?;
        }
        f.write_str(&self.table)
    }
}

impl TablePattern {
    fn fits(&self, schema: &str, table: &str) -> bool {
        self.schema.as_deref().is_none_or(|pattern| matches(pattern, schema))
            && matches(&self.table, table)
    }
}

/// Whether a text fits a pattern. The time grows with the product of their lengths.
fn matches(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // Whether the pattern so far fits the first n characters, for each n.
    let mut fits = vec![false; text.len() + 1];
    if let Some(first) = fits.first_mut() {
        *first = true;
    }
    for sign in pattern.chars() {
        let mut next = Vec::with_capacity(fits.len());
        for at in 0..fits.len() {
            let before = at.checked_sub(1);
            let is_here = fits.get(at).copied().unwrap_or_default();
            let was_before = before.and_then(|at| fits.get(at)).copied().unwrap_or_default();
            next.push(match sign {
                '*' => is_here || before.and_then(|at| next.get(at)).copied().unwrap_or_default(),
                '?' => was_before,
                sign => was_before && before.and_then(|at| text.get(at)) == Some(&sign),
            });
        }
        fits = next;
    }
    fits.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(name: &str, is_plain: bool) -> Relation {
        let (schema, table) = name.split_once('.').unwrap();
        Relation { is_plain, ..Relation::sample(schema, table) }
    }

    fn chosen(patterns: &[&str]) -> Vec<String> {
        let tables = patterns.iter().map(|pattern| pattern.parse().unwrap()).collect();
        let choice = Choice { tables, ..Choice::default() };
        let all = [
            ("public.orders", true),
            ("public.orders_old", true),
            ("hr.staff", true),
            ("hr.员工", true),
            ("public.orders_view", false),
        ];
        let all = all.map(|(name, is_plain)| relation(name, is_plain));
        let taken = all.iter().filter(|relation| choice.takes(relation));
        taken.map(|relation| format!("{}.{}", relation.schema, relation.table)).collect()
    }

    #[test]
    fn patterns_choose_tables() {
        assert_eq!(chosen(&[]), ["public.orders", "public.orders_old", "hr.staff", "hr.员工"]);
        assert_eq!(chosen(&["orders"]), ["public.orders"]);
        assert_eq!(chosen(&["hr.*"]), ["hr.staff", "hr.员工"]);
        assert_eq!(chosen(&["员?"]), ["hr.员工"]);
        assert_eq!(chosen(&["!*_old", "!hr.*"]), ["public.orders"]);
        // Views are taken only by name.
        assert_eq!(chosen(&["public.*", "!orders"]), ["public.orders_old", "public.orders_view"]);
    }

    #[test]
    fn patterns_are_read_and_shown() {
        for text in ["orders", "hr.*", "!public.a?", "a.b.c"] {
            assert_eq!(text.parse::<TablePattern>().unwrap().to_string(), text);
        }
        for text in ["", " ", "!", ".a", "a.", "!a."] {
            assert_eq!(text.parse::<TablePattern>(), Err(BadPattern), "{text:?}");
        }
        let choice = Choice {
            tables: ["orders", "none*", "!nothing"].map(|text| text.parse().unwrap()).to_vec(),
            ..Choice::default()
        };
        let unused = choice.unused(&[relation("public.orders", true)]);
        assert_eq!(unused.iter().map(ToString::to_string).collect::<Vec<_>>(), ["none*"]);
    }

    #[test]
    fn stars_and_question_marks_fit_any_characters() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abb", false),
            ("**b?", "abb", true),
            ("?", "", false),
            ("订*", "订单", true),
            ("A", "a", false),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }
}
