//! Joins words into lines, and lines into paragraphs.

pub(crate) mod bidi;
pub(crate) mod lines;
mod linked;
pub(crate) mod markers;
pub(crate) mod paragraphs;
mod radicals;
pub(crate) mod script;

pub use lines::Line;
pub use linked::LinkedText;
