//! Which spans are for a collector of traces? They name runs, retrievals and calls of models as the `OpenTelemetry`
//! conventions for generative AI have it; texts are in none of them. Numbers are recorded
//! as `i64` or `f64`: others reach a collector as text.

/// The target of these spans. The log leaves them out: it names runs by a span of its own.
pub const TRACED: &str = "pikerag::trace";
