//! Contains the reader of e-mail messages.

pub(crate) mod eml;
mod raw_lines;
