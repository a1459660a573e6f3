//! Groups the readers of data: tables, records, databases, and XML of any kind.

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod parquet;
pub(crate) mod sqlite;
pub(crate) mod xml;
