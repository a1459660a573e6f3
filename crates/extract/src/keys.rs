//! Makes the keys of names and addresses.

use pikerag_knowledge::NameKey;
use pikerag_language::names::joined;

/// The key of a name with folded words.
pub(crate) fn key(name: &[String]) -> NameKey {
    NameKey::of_folded(&joined(name))
}

/// The key of an address. Addresses have keys of their own kind, because no text mentions one by
/// accident.
pub(crate) fn address(uri: &str) -> NameKey {
    NameKey::of_folded(&format!("<{uri}>"))
}
