//! Defines why a plan or a statement does not fit the tables.

use super::ColumnKind;

/// Why a plan or a statement over typed tables has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum DataError {
    #[error("there is no table `{table}`; {}", listed("tables", known))]
    NoTable { table: String, known: Vec<String> },
    #[error("`{table}` has no column `{column}`; {}", listed("columns", known))]
    NoColumn { table: String, column: String, known: Vec<String> },
    /// A test, group, measure or order that the kind of a column does not have.
    #[error("`{column}` is of the kind {}, which cannot be {wanted}", kind.as_str())]
    WrongKind { column: String, kind: ColumnKind, wanted: &'static str },
    #[error("`{table}` is in the plan twice")]
    TwiceJoined { table: String },
    #[error("the plan orders by a measure and has none")]
    NoMeasure,
    /// Groups can only be ordered by their keys or their measures.
    #[error("the plan orders groups by `{column}`, which does not tell them apart")]
    NoGroup { column: String },
    #[error("the statement was stopped after {seconds} s; narrow it down or aggregate")]
    TooLong { seconds: u64 },
    #[error("{reason}; {}", listed("tables", known))]
    BadStatement { reason: String, known: Vec<String> },
    #[error(
        "the statement is refused ({reason}): one SELECT over the tables is allowed; {}",
        listed("tables", known)
    )]
    NotAllowed { reason: String, known: Vec<String> },
}

/// The largest number of names that an error lists.
const LISTED: usize = 20;

fn listed(what: &str, known: &[String]) -> String {
    let shown = known.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match known.len() {
        0 => format!("there are no {what}"),
        n if LISTED < n => format!("{what}: {shown}, … ({n} in all)"),
        _ => format!("{what}: {shown}"),
    }
}
