//! Reads and writes conditions as text.

use super::{Comparison, Condition, FilterField, FromStr, date_in, fmt};

/// The prefix of a field with a name.
const META: &str = "meta:";
const TAG: &str = "tag:";
const RECORD: &str = "record:";

/// A condition that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum BadFilter {
    /// It contains no comparison.
    #[error(
        "`{text}` compares nothing: a filter is FIELD=VALUE, or FIELD with <, <=, > or >= and a value"
    )]
    NoComparison { text: String },
    /// The field does not exist.
    #[error(
        "there is no field `{field}` to filter by; there are source, folder, date, meta:NAME, tag:CLASS, record:SCHEMA.FIELD"
    )]
    NoField { field: String },
    /// It names no value.
    #[error("`{text}` names no value")]
    NoValue { text: String },
    /// The field has no order.
    #[error("`{field}` can only be compared with =")]
    Unordered { field: String },
    /// It compares a date with something else.
    #[error("`{value}` is no date: 2020-01-31, 2020-01 or 2020")]
    NoDate { value: String },
}

impl FromStr for Condition {
    type Err = BadFilter;

    fn from_str(text: &str) -> Result<Self, BadFilter> {
        let at = text.find(['=', '<', '>']);
        let (name, rest) = at.and_then(|at| text.split_at_checked(at)).unwrap_or((text, ""));
        let sign = Comparison::ALL.into_iter().find(|is| rest.starts_with(is.sign()));
        let Some((is, values)) = sign.and_then(|is| Some((is, rest.strip_prefix(is.sign())?)))
        else {
            return Err(BadFilter::NoComparison { text: text.to_owned() });
        };
        let field = name.trim().parse::<FilterField>()?;
        let any_of = alternatives(values);
        if any_of.iter().any(String::is_empty) {
            return Err(BadFilter::NoValue { text: text.to_owned() });
        }
        let is_ordered =
            !matches!(field, FilterField::Source | FilterField::Folder | FilterField::Tag(_));
        if !is_ordered && is != Comparison::Equal {
            return Err(BadFilter::Unordered { field: field.to_string() });
        }
        if field == FilterField::Date
            && let Some(value) = any_of.iter().find(|value| date_in(value).is_none())
        {
            return Err(BadFilter::NoDate { value: value.clone() });
        }
        Ok(Self { field, is, any_of })
    }
}

impl FromStr for FilterField {
    type Err = BadFilter;

    fn from_str(name: &str) -> Result<Self, BadFilter> {
        let unknown = || BadFilter::NoField { field: name.to_owned() };
        let named = |rest: &str| match rest.trim() {
            "" => Err(unknown()),
            name => Ok(name.to_owned()),
        };
        match name {
            "source" => Ok(Self::Source),
            "folder" => Ok(Self::Folder),
            "date" => Ok(Self::Date),
            _ => {
                if let Some(rest) = name.strip_prefix(META) {
                    return named(rest).map(Self::Meta);
                }
                if let Some(rest) = name.strip_prefix(TAG) {
                    return named(rest).map(Self::Tag);
                }
                let record = name.strip_prefix(RECORD).and_then(|rest| rest.split_once('.'));
                let (schema, field) = record.ok_or_else(unknown)?;
                Ok(Self::Record { schema: named(schema)?, field: named(field)? })
            }
        }
    }
}

/// The values between `|`; `\|` and `\\` are literal.
fn alternatives(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = match character {
            '|' => {
                all.push(String::new());
                continue;
            }
            '\\' => characters.next_if(|next| matches!(next, '|' | '\\')).unwrap_or('\\'),
            other => other,
        };
        if let Some(last) = all.last_mut() {
            last.push(next);
        }
    }
    all.iter().map(|value| value.trim().to_owned()).collect()
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = self.any_of.iter().map(|value| value.replace('\\', r"\\").replace('|', r"\|"));
        write!(f, "{}{}{}", self.field, self.is.sign(), quoted.collect::<Vec<_>>().join("|"))
    }
}

impl fmt::Display for FilterField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source => f.write_str("source"),
            Self::Folder => f.write_str("folder"),
            Self::Date => f.write_str("date"),
            Self::Meta(name) => write!(f, "{META}{name}"),
            Self::Tag(class) => write!(f, "{TAG}{class}"),
            Self::Record { schema, field } => write!(f, "{RECORD}{schema}.{field}"),
        }
    }
}

impl TryFrom<String> for Condition {
    type Error = BadFilter;

    fn try_from(text: String) -> Result<Self, BadFilter> {
        text.parse()
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Condition>().unwrap_err().to_string()
    }

    #[test]
    fn conditions_are_read_and_written() {
        let read = |text: &str| {
            let condition: Condition = text.parse().unwrap();
            assert_eq!(condition.to_string().parse(), Ok(condition.clone()));
            (condition.field, condition.is, condition.any_of)
        };
        let of = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        let equal = Comparison::Equal;
        assert_eq!(
            read("folder=contracts|letters"),
            (FilterField::Folder, equal, of(&["contracts", "letters"]))
        );
        let year = FilterField::Record { schema: "approval".to_owned(), field: "year".to_owned() };
        assert_eq!(read("record:approval.year>=2019"), (year, Comparison::AtLeast, of(&["2019"])));
        let author = FilterField::Meta("author".to_owned());
        assert_eq!(read(r"meta:author=A\|B|C\\"), (author, equal, of(&["A|B", r"C\"])));
        let drug = FilterField::Tag("Drug".to_owned());
        assert_eq!(read("tag:Drug = Aspirin"), (drug, equal, of(&["Aspirin"])));
        assert_eq!(read("date<2020-01"), (FilterField::Date, Comparison::Less, of(&["2020-01"])));
        for unknown in ["author=x", "meta:=x", "record:approval=x"] {
            assert!(error(unknown).starts_with("there is no field `"), "{unknown}");
        }
        assert!(error("folder").contains("compares nothing"));
        assert_eq!(error("folder=a|"), "`folder=a|` names no value");
        assert_eq!(error("tag:Drug>Aspirin"), "`tag:Drug` can only be compared with =");
        assert_eq!(error("date>=soon"), "`soon` is no date: 2020-01-31, 2020-01 or 2020");
    }

    fn fits(condition: &str, text: &str) -> bool {
        condition.parse::<Condition>().unwrap().fits_text(text)
    }

    #[test]
    fn numbers_dates_and_words_are_compared_by_type() {
        assert!(fits("meta:n>9", "10") && !fits("meta:n<9", "10"));
        assert!(fits("meta:n=brandt", "Ada, Brandt"));
        assert!(!fits("meta:n=brand", "Ada, Brandt"));
        assert!(fits("meta:n>=2020-02-01", "2020-02") && !fits("meta:n>2020-02-01", "2020-02"));
        assert!(
            fits("meta:n=2020-01-05", "2020年1月5日") && fits("meta:n=20200105", "2020/1/5 10:30")
        );
    }

    #[test]
    fn folders_lead_to_files() {
        let fits = |folder: &str, uri: &str| {
            let condition = format!("folder={folder}").parse::<Condition>().unwrap();
            condition.fits_uri(uri)
        };
        assert!(
            fits("b", "a/b/c.md") && fits("a/b/", "./a/b/c.jsonl#7") && fits("/a", "/a/b/c.md")
        );
        // As people see the path: in a URI the unencoded sign would end the file's part.
        assert!(fits("C#", "C%23/a.md#7") && !fits("C", "C%23/a.md"));
        assert!(
            !fits("c.md", "a/b/c.md") && !fits("/b", "/a/b/c.md") && !fits("a/c", "a/b/c/d.md")
        );
    }
}
