//! Stores replies, claims, runs, jobs and access keys, and forgets documents.
