//! Says what is wrong with a plan of a model, in words that the model can go by.

/// Why a plan cannot be worked out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum PlanFault {
    #[error("there is no table `{name}`; there are {}", known.join(", "))]
    NoTable { name: String, known: Vec<String> },
    #[error("no table of the plan has a column `{name}`; they have {}", listed(known))]
    NoColumn { name: String, known: Vec<String> },
    #[error("`{word}` is no value of `{key}`; it is one of {}", known.join(", "))]
    NoWord { key: &'static str, word: String, known: Vec<String> },
    /// The values that are alike, or some that there are.
    #[error("no row has the value `{value}` in `{column}`; it has values such as {}", near.join(" | "))]
    NoValue { column: String, value: String, near: Vec<String> },
    #[error("`{value}` cannot be compared with `{column}`, whose values are of the kind {kind}")]
    WrongValue { column: String, value: String, kind: &'static str },
    #[error("`{column}` cannot be joined to: several rows have the same value there")]
    ManyRows { column: String },
    #[error("`{from}` and `{to}` are not columns of two tables")]
    NoJoin { from: String, to: String },
    #[error("the plan has neither `measures` nor `show`")]
    Nothing,
}

/// Columns that a message lists.
const LISTED: usize = 40;

fn listed(known: &[String]) -> String {
    let shown = known.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if LISTED < known.len() { format!("{shown}, …") } else { shown }
}
