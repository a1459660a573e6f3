//! How are the pages of the web read?

pub(crate) mod html;
