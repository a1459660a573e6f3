//! What a base says of the names in a chunk, as it is kept.

use std::collections::HashSet;

use pikerag_knowledge::{Bearer, NameKey};
use pikerag_language::names::Name;

/// A title that occurs in a text, and what the base says of it.
pub(crate) struct NamedTitle {
    /// The stems of its words.
    pub(crate) terms: Vec<String>,
    /// Whether its words are terms of the full-text index: Chinese characters are not.
    pub(crate) has_terms: bool,
    /// The number of chunks that mention it.
    pub(crate) mentions: usize,
    pub(crate) bearers: Vec<Bearer>,
}

impl NamedTitle {
    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let terms: usize = self.terms.iter().map(|term| size_of::<String>() + term.len()).sum();
        size_of::<Self>() + terms + size_of_val(self.bearers.as_slice())
    }
}

/// The names in a chunk: the same for every question that sees one state of a base.
#[derive(Default)]
pub(crate) struct StoredNames {
    /// The titles that its text names.
    pub(crate) titles: Vec<NamedTitle>,
    /// The bearers of each name that it links to explicitly.
    pub(crate) links: Vec<Vec<Bearer>>,
    /// Its title, in full or in part; how surely each part means it.
    pub(crate) by_title: Vec<(f32, NameKey)>,
    /// Its names.
    pub(crate) names: Vec<(Name, NameKey)>,
    /// The terms of its title and its text.
    pub(crate) terms: HashSet<String>,
}

impl StoredNames {
    /// About how many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        let text = |text: &String| size_of::<String>() + text.len();
        let titles: usize = self.titles.iter().map(NamedTitle::bytes).sum();
        let links: usize = self.links.iter().map(|all| size_of_val(all.as_slice())).sum();
        let words: usize = self.names.iter().flat_map(|(name, _)| name).map(text).sum();
        let names = size_of_val(self.names.as_slice()) + size_of_val(self.by_title.as_slice());
        let terms: usize = self.terms.iter().map(text).sum();
        size_of::<Self>() + titles + links + names + words + 2 * terms
    }
}
