//! Takes a question apart: proposes sub-questions and selects among the candidates that they find.

mod demonstrate;
mod inquire;
mod list;
mod next;
mod propose;
mod select;

pub use demonstrate::shown_demonstrations;
pub(crate) use inquire::inquire;
pub use list::SubQuestions;
pub use next::{Answered, Next, next_prompt, propose_next};
pub use propose::{Proposals, Proposer, propose};
pub use propose::{propose_words, shown_context};
pub use select::{Choice, Selection, Selector, select};
