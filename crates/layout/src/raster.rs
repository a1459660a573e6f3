//! Finds and removes the rules in the pixels of a picture.

pub mod clean;
mod grey;
pub mod strokes;

pub use grey::Grey;
