//! Which rules do the pixels of a picture show, and how does it look without them?

pub mod clean;
mod grey;
pub mod strokes;

pub use grey::Grey;
