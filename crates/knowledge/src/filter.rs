//! Defines filters: conditions on sources, tags, records and metadata. All conditions must hold,
//! each for any of its values.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::records::Value;
use crate::uri::{file_part, file_uri};

mod date;
mod parse;

pub use self::date::{DATE_NAMES, date_in, document_date};
pub use self::parse::BadFilter;

/// The conditions on what a search may see; everything, if there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Filter {
    /// In the given order, which has no effect.
    pub conditions: Vec<Condition>,
}

impl Filter {
    /// Whether everything is admitted.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, condition) in self.conditions.iter().enumerate() {
            let between = if place == 0 { "" } else { ", " };
            write!(f, "{between}{condition}")?;
        }
        Ok(())
    }
}

/// A field, and values of which one must match. Written `folder=contracts|letters`, `date>=2020`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition {
    /// The compared field.
    pub field: FilterField,
    /// The comparison.
    pub is: Comparison,
    /// The values, of which one must match; never empty.
    pub any_of: Vec<String>,
}

/// A field that a condition compares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilterField {
    /// `source`: the document's URI, or that of its file.
    Source,
    /// `folder`: one or more consecutive folders of the path to its file.
    Folder,
    /// `date`: the document's date, see [`document_date`].
    Date,
    /// `meta:NAME`: the document's metadata.
    Meta(String),
    /// `tag:CLASS`: the tags of a chunk.
    Tag(String),
    /// `record:SCHEMA.FIELD`: the records in a chunk; a record from the document's own metadata
    /// applies to all of its chunks.
    Record {
        /// The name of the schema.
        schema: String,
        /// The name of the field in it.
        field: String,
    },
}

/// A comparison between a value and those of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// All comparisons; longer signs before their prefixes.
    const ALL: [Self; 5] = [Self::AtLeast, Self::AtMost, Self::Greater, Self::Less, Self::Equal];

    fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::Less => ordering.is_lt(),
            Self::AtMost => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::AtLeast => ordering.is_ge(),
        }
    }
}

impl Condition {
    /// Whether a document at this URI matches, for [`FilterField::Source`] and
    /// [`FilterField::Folder`]. Files and folders are named as people see them; a document within a
    /// file by its URI.
    pub fn fits_uri(&self, uri: &str) -> bool {
        let file = file_part(uri);
        self.any_of.iter().any(|value| match self.field {
            FilterField::Folder => leads_through(file, &file_uri(value)),
            _ => uri == value || file == file_uri(value),
        })
    }

    /// Whether a document's metadata matches: as a whole, or one item of a list. Numbers are
    /// compared as numbers, dates as dates, other text without regard to case.
    pub fn fits_text(&self, text: &str) -> bool {
        let items =
            text.split([',', ';', '，', '；', '、']).map(str::trim).filter(|item| !item.is_empty());
        let mut items = std::iter::once(text.trim()).chain(items);
        items.any(|item| self.any_of.iter().any(|value| compares(item, self.is, value)))
    }

    /// Whether an ISO 8601 date matches, at the precision of the less precise one: `2020` is
    /// neither before nor after `2020-05-17`.
    pub fn fits_date(&self, date: &str) -> bool {
        let fits = |value: &String| {
            date_in(value).is_some_and(|value| self.is.holds(date::compare(date, &value)))
        };
        self.any_of.iter().any(fits)
    }

    /// Whether a record's value matches: `raw` from the source, `value` as it was read.
    pub fn fits_value(&self, raw: &str, value: Option<&Value>) -> bool {
        match value {
            Some(Value::Date(date)) => self.fits_date(date),
            Some(Value::Number(quantity)) => self.any_of.iter().any(|value| {
                let ordering = number(value).and_then(|value| quantity.amount.partial_cmp(&value));
                ordering.is_some_and(|ordering| self.is.holds(ordering))
            }),
            Some(value @ (Value::Bool(_) | Value::Text(_))) => self.fits_text(&value.to_string()),
            None => self.fits_text(raw),
        }
    }
}

fn leads_through(file: &str, folder: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        let parts = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
        parts.map(str::to_owned).collect()
    };
    let (mut path, wanted) = (parts(file), parts(folder));
    path.pop();
    let is_rooted = folder.starts_with('/');
    match is_rooted {
        true => path.starts_with(&wanted),
        false => !wanted.is_empty() && path.windows(wanted.len()).any(|part| part == wanted),
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

fn compares(text: &str, is: Comparison, value: &str) -> bool {
    if let (Some(one), Some(other)) = (number(text), number(value)) {
        return one.partial_cmp(&other).is_some_and(|ordering| is.holds(ordering));
    }
    if let (Some(one), Some(other)) = (date_in(text), date_in(value)) {
        return is.holds(date::compare(&one, &other));
    }
    is.holds(text.to_lowercase().cmp(&value.trim().to_lowercase()))
}
