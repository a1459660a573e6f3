//! Is what models say of documents exact, traceable, paid once, and gone with its document?
//! (PIKE-RAG §5.2; SPEC §2, §3)

mod chunks;
mod estimates;
mod fixture;
mod repeating;
mod tags;
