//! Defines what a typed reply is: its schema, and how it is read.

use pikerag_knowledge::Schema;

use crate::read::Unreadable;

/// The type of a prompt's reply, and how to read it.
pub trait Reply: Sized {
    /// The schema that an endpoint may enforce; `None` for free text.
    fn schema() -> Option<Schema>;

    /// The schemas that earlier versions of pikerag sent, the latest first: their recorded replies serve replays.
    fn former_schemas() -> Vec<Option<Schema>> {
        Vec::new()
    }

    /// Reads a reply.
    ///
    /// # Errors
    /// The requested values are missing; the repeated request shows the reason to the model.
    fn read(reply: &str) -> Result<Self, Unreadable>;

    /// Whether a truncated reply can be usable, as a verdict at its beginning is.
    fn tolerates_truncation() -> bool {
        false
    }

    /// Whether every prefix of a reply looks like a whole reply: true for prose, false for JSON.
    fn hides_truncation() -> bool {
        false
    }
}
