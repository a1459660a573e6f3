//! How are books and articles read?

pub(crate) mod epub;
pub(crate) mod jats;
