//! Measures how good answers are and what they cost, with data sets, metrics and the papers' tables
//! (PIKE-RAG §6, KAR³ §4 and Appendix A).
//!
//! A run loads [`datasets::Item`]s, asks every method every question, [`metrics::score`]s each
//! answer into a [`report::Row`], and sums the rows up with [`report::summarize`].

pub mod cost_model;
pub mod criteria;
pub mod datasets;
mod error;
pub mod faithful;
pub mod judge;
pub mod methods;
pub mod metrics;
pub mod normalize;
pub mod papers;
mod place;
pub mod plot;
pub mod presets;
pub mod recall;
pub mod report;
pub mod runner;

pub use error::EvalError;
