//! When did something happen?

/// Milliseconds since 1970 in universal time.
pub type Millis = u64;
