//! How are messages read?

pub(crate) mod eml;
