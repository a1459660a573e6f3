//! Describes faults in a model's statement, in words that help the model to correct it.

/// The reason why a statement cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum PlanFault {
    #[error("there is no table `{name}`; there are {}", known.join(", "))]
    NoTable { name: String, known: Vec<String> },
    #[error("no table of the query has a column `{name}`; they have {}", listed(known))]
    NoColumn { name: String, known: Vec<String> },
    #[error("it is no SQL that SQLite reads: {0}")]
    NoSql(String),
    #[error("it has more than {most} words and signs")]
    TooLong { most: usize },
    #[error("`{part}`: {hint}")]
    Unsupported { part: String, hint: &'static str },
    /// Similar values, or else some existing values.
    #[error("no row has the value `{value}` in `{column}`; it has values such as {}", near.join(" | "))]
    NoValue { column: String, value: String, near: Vec<String> },
    #[error("`{value}` cannot be compared with `{column}`, whose values are of the kind {kind}")]
    WrongValue { column: String, value: String, kind: &'static str },
    #[error("`{column}` cannot be joined to: several rows have the same value there")]
    ManyRows { column: String },
    #[error("`{from}` and `{to}` are not columns of two tables")]
    NoJoin { from: String, to: String },
    #[error("it selects nothing")]
    Nothing,
}

/// The most characters of an expression in a message.
const SHOWN: usize = 120;
/// The most columns in a message.
const LISTED: usize = 40;

/// A fault that quotes a part of the statement and says what to write instead.
pub(super) fn unsupported(part: &(impl ToString + ?Sized), hint: &'static str) -> PlanFault {
    PlanFault::Unsupported { part: part.to_string().chars().take(SHOWN).collect(), hint }
}

fn listed(known: &[String]) -> String {
    let shown = known.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if LISTED < known.len() { format!("{shown}, …") } else { shown }
}
