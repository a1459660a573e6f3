//! What of the knowledge belongs together? Texts by meaning, entities by their relations, records by what they tell of
//! (PIKE-RAG's knowledge organization).

pub mod cluster;
pub mod context;
pub mod leiden;
pub mod series;
pub mod unify;
