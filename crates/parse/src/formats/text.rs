//! Groups the readers of text for people: plain, or with light markup.

pub(crate) mod asciidoc;
pub(crate) mod markdown;
mod markup;
pub(crate) mod org;
pub(crate) mod plain;
pub(crate) mod rst;
pub(crate) mod subtitles;
