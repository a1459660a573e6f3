//! Is what models say of documents exact, traceable, paid once, and gone with its document?
//! (PIKE-RAG §5.1.2, §5.2)

mod chunks;
mod estimates;
mod fixture;
mod hostile;
mod repeating;
mod tags;
