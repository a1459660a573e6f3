//! Defines the time unit of all records.

/// Milliseconds since 1970 in universal time.
pub type Millis = u64;
