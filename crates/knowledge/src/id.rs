//! Derives identifiers from content, so that two runs over the same bytes agree.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Hashes labelled parts to 63 bits; lengths are hashed too, so the borders between parts count.
///
/// 63 bits keep an identifier positive in SQL. Two of a million nodes collide with a probability of
/// about 5 in 10⁸; the store refuses the second one instead of mixing them up.
pub fn content_id(label: &str, parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(label.as_bytes());
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h]) >> 1
}

/// An identifier that is not sixteen hexadecimal digits.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not an identifier: expected 16 hexadecimal digits")]
pub struct BadId(String);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ToSchema)]
        #[schema(value_type = String, pattern = "^[0-9a-f]{16}$")]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:016x}", self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                u64::from_str_radix(text, 16).map(Self).map_err(|_| BadId(text.to_owned()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id! {
    /// A document; derived from its URI, so that an updated document keeps its identity.
    SourceId
}
id! {
    /// A heading with its content; derived from its source and its position.
    SectionId
}
id! {
    /// A passage; derived from its source, headings and text, so that an update of a document keeps
    /// the unchanged chunks, and everything that was paid for them.
    ChunkId
}
id! {
    /// An atom; derived from its chunk, kind and text.
    AtomId
}
id! {
    /// An entity; derived from its folded name, so that all spellings are one.
    EntityId
}
id! {
    /// A relation; derived from both ends.
    RelationId
}
id! {
    /// A community of entities; derived from all inputs of its report.
    CommunityId
}
id! {
    /// A summary in the tree; derived from its children.
    SummaryId
}

id! {
    /// A record; derived from its schema, its chunk, and its key there.
    RecordId
}

id! {
    /// A class of tags; derived from the name and the cover it was made with.
    TagClassId
}

id! {
    /// A tag; derived from its class and the key of its folded text.
    TagId
}

id! {
    /// A person's judgment of an answer to a question; derived from these three.
    VerifiedId
}

id! {
    /// Any node with a vector or a description; the context determines its kind.
    NodeId
}

macro_rules! is_node {
    ($($id:ident),*) => {
        $(impl From<$id> for NodeId {
            fn from(id: $id) -> Self {
                Self(id.0)
            }
        })*
    };
}
is_node!(ChunkId, AtomId, EntityId, RelationId, CommunityId, SummaryId, SourceId, SectionId);

impl TagClassId {
    /// The class of this name and cover.
    pub fn of(name: &str, covers: &str) -> Self {
        Self(content_id("tag class", &[name.as_bytes(), covers.as_bytes()]))
    }
}

impl TagId {
    /// The tag of a class under the key of its folded text.
    pub fn of(class: TagClassId, key: u64) -> Self {
        Self(content_id("tag", &[&class.0.to_le_bytes(), &key.to_le_bytes()]))
    }
}

impl SourceId {
    /// The identity of the document at `uri`.
    pub fn of(uri: &str) -> Self {
        Self(content_id("source", &[uri.as_bytes()]))
    }
}

impl SectionId {
    /// The `ordinal`-th section of a source, in reading order from 0.
    pub fn of(source: SourceId, ordinal: u32) -> Self {
        Self(content_id("section", &[&source.0.to_le_bytes(), &ordinal.to_le_bytes()]))
    }
}

impl ChunkId {
    /// The `nth` (from 0) chunk of the source with this heading path and text.
    pub fn of(source: SourceId, headings: &str, text: &str, nth: u32) -> Self {
        let parts: [&[u8]; 4] =
            [&source.0.to_le_bytes(), headings.as_bytes(), text.as_bytes(), &nth.to_le_bytes()];
        Self(content_id("chunk", &parts))
    }
}

impl AtomId {
    /// The atom of this kind and text under a chunk.
    pub fn of(chunk: ChunkId, kind: &str, text: &str) -> Self {
        Self(content_id("atom", &[&chunk.0.to_le_bytes(), kind.as_bytes(), text.as_bytes()]))
    }
}

impl EntityId {
    /// The entity of a folded name (lower case, single spaces, no punctuation).
    pub fn of_folded(folded: &str) -> Self {
        Self(content_id("entity", &[folded.as_bytes()]))
    }
}

impl RelationId {
    /// The relation from one entity to another.
    pub fn of(subject: EntityId, object: EntityId) -> Self {
        Self(content_id("relation", &[&subject.0.to_le_bytes(), &object.0.to_le_bytes()]))
    }
}

impl RecordId {
    /// The `nth` (from 0) record of a schema in a chunk with this key (empty without one).
    pub fn of(schema: &str, chunk: ChunkId, key: &str, nth: u32) -> Self {
        let parts: [&[u8]; 4] =
            [schema.as_bytes(), &chunk.0.to_le_bytes(), key.as_bytes(), &nth.to_le_bytes()];
        Self(content_id("record", &parts))
    }
}

impl SummaryId {
    /// The summary of these nodes, in any order.
    pub fn of(children: &[u64]) -> Self {
        let mut sorted = children.to_vec();
        sorted.sort_unstable();
        let bytes: Vec<[u8; 8]> = sorted.into_iter().map(u64::to_le_bytes).collect();
        let parts: Vec<&[u8]> = bytes.iter().map(<[u8; 8]>::as_slice).collect();
        Self(content_id("summary", &parts))
    }
}

/// Identifies a run within its base: eight letters and digits, as [`RunId::from_bits`] makes them.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(transparent)]
pub struct RunId(pub String);

impl RunId {
    /// The lower forty bits in Crockford's alphabet, which has no similar letters.
    pub fn from_bits(mut bits: u64) -> Self {
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let mut name = [0_u8; 8];
        for letter in name.iter_mut().rev() {
            *letter = ALPHABET.get((bits & 31) as usize).copied().unwrap_or(b'0');
            bits >>= 5;
        }
        Self(String::from_utf8_lossy(&name).into_owned())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs_are_short_and_differ() {
        assert_eq!(RunId::from_bits(0).0, "00000000");
        assert_eq!(RunId::from_bits(33).0, "00000011");
        assert_eq!(RunId::from_bits(u64::MAX).0, "zzzzzzzz");
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(content_id("x", &[b"ab", b"c"]), content_id("x", &[b"a", b"bc"]));
        assert_ne!(content_id("x", &[b"ab"]), content_id("y", &[b"ab"]));
    }

    #[test]
    fn an_id_reads_back_what_it_prints() {
        let id = SourceId::of("a/b.md");
        assert_eq!(id.to_string().parse::<SourceId>().unwrap(), id);
        assert_eq!(id.to_string().len(), 16);
        assert!("no".parse::<SourceId>().is_err());
    }
}
