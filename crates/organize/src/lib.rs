//! What of the knowledge belongs together? Texts by meaning, entities by their relations (PIKE-RAG's
//! knowledge organization).

pub mod cluster;
pub mod leiden;
