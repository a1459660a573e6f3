//! Under which key does a name stand, and under which an address?

use pikerag_knowledge::NameKey;
use pikerag_language::names::joined;

/// The key of a name whose words are folded already.
pub(crate) fn key(name: &[String]) -> NameKey {
    NameKey::of_folded(&joined(name))
}

/// Addresses are names of their own kind: no text mentions one by accident.
pub(crate) fn address(uri: &str) -> NameKey {
    NameKey::of_folded(&format!("<{uri}>"))
}
