//! Renders prompts and reads replies: a step renders a prompt, asks, and reads the reply
//! tolerantly.
//!
//! After an unreadable reply it asks once more with the error; then it reports an error. Templates
//! also fill in pages.

#[cfg(test)]
extern crate self as pikerag_prompt; // the macro of the tests uses this name

mod ask;
mod foreign;
mod graph;
mod json;
mod markup;
mod passages;
mod prose;
mod read;
mod reply;
mod schema;
mod versions;

pub use ask::{AskError, Prompt, ask, ask_about, ask_read, ask_rendered, ask_sample, ask_scored};
pub use foreign::{Shown, quiet_headings, quiet_prompt, quiet_words};
pub use graph::{entity_line, relation_line};
pub use json::{Found, find_json};
pub use markup::{Markup, MarkupError};
pub use passages::{
    numbered, numbered_passages, one_line, passages, seen_text, shown_text, titled,
};
pub use prose::{Prose, YesNo};
pub use read::{Unreadable, index, list_items, object, text, texts, without_thinking};
pub use reply::Reply;
pub use schema::{at_most, closed, or_null, shape};
pub use versions::has_version;
