//! How is a question taken apart? By proposing sub-questions and selecting among what they find.

pub(crate) mod inquiry;
mod list;
mod propose;
mod select;

pub(crate) use list::SubQuestions;
pub use propose::{Proposals, Proposer, propose};
pub(crate) use propose::{propose_words, shown_context};
pub use select::{Choice, Selection, Selector, select};
