//! How are files of data read: tables, records, and XML of any kind?

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod xml;
