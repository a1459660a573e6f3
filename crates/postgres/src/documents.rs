//! Stores and reads documents, files, chunks and records, and the progress of indexing.
