//! How is text read that people write as such: plain, or with light markup?

pub(crate) mod asciidoc;
pub(crate) mod markdown;
mod markup;
pub(crate) mod org;
pub(crate) mod plain;
pub(crate) mod rst;
pub(crate) mod subtitles;
