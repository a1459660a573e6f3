//! Reads records from tables and texts, unifies them, turns questions into typed queries over them, and
//! forecasts series (PIKE-RAG §5.4, knowledge structuring).

pub mod forecast;
pub mod inquiry;
mod read;
pub mod series;
pub mod unify;

pub use read::{
    ModelRecords, asks_model, collected_records, model_records, plain_records, propose_by_model,
    propose_from_columns, records_prompt, schema_of,
};
