//! Names this process among those that share limits and caps.

use std::hash::{BuildHasher, RandomState};

/// A name that no other caller has, in this process or any other.
pub(crate) fn process_name() -> String {
    let random = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ() {
        assert_ne!(process_name(), process_name());
        assert_eq!(process_name().len(), 32);
    }
}
