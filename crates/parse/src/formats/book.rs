//! Groups the readers of books and articles.

pub(crate) mod epub;
pub(crate) mod jats;
