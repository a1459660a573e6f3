//! Joins the causes of an error into one line.

use std::error::Error;

/// The whole chain of causes in one line.
pub fn error_chain(error: &dyn Error) -> String {
    let mut chain = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        chain = format!("{chain}: {inner}");
        cause = inner.source();
    }
    chain
}
