//! Contains the reader of web pages.

pub(crate) mod html;
