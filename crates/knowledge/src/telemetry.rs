//! Marks the spans for a collector of traces. They name runs, retrievals and model calls by the
//! `OpenTelemetry` conventions for generative AI, and contain no texts. Numbers are recorded as
//! `i64` or `f64`: other types reach a collector as text.

/// The target of these spans. The log excludes them: it has its own span for a run.
pub const TRACED: &str = "pikerag::trace";
