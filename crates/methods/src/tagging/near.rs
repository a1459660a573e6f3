//! Finds known words that nearly are those of a question: in another order, with an article between, as one
//! word or two, or with a typo. A key of stems does not find these (ours; PIKE-RAG leaves open how tags are
//! matched).

use std::collections::HashMap;

use pikerag_extract::tag_key;
use pikerag_knowledge::{NameKey, StoreError, TagClassId, TagQuery, Which};
use pikerag_language::names::tag_words;
use strsim::sorensen_dice;

use crate::ports::Ports;

/// The least similarity of two words, by the pairs of letters that they share: 有期徒刑 and 无期徒刑, which are
/// different things, share two thirds of them.
const ALIKE: f64 = 0.8;
/// The least letters of a word that may have a typo: among short words, one letter makes another word.
const LETTERS: usize = 6;
/// Tags of a class that are compared, the most frequent first.
const TAGS: usize = 2000;
/// Words that are ignored in comparisons.
const PARTICLES: [&str; 9] = ["a", "an", "the", "of", "for", "in", "on", "at", "的"];

/// Words that the base knows: the readers' words of its pairs, and the tags of its chunks.
#[derive(Debug, Default)]
pub(super) struct Known {
    words: Vec<Word>,
    /// The places of words in [`Self::words`] by their sorted stems, and by their stems run together.
    by_stems: HashMap<String, usize>,
}

/// A word that the base knows.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) key: NameKey,
    /// The name of its class; may be empty.
    pub(super) class: String,
    letters: String,
}

impl Known {
    /// Reads all pairs, and the most frequent tags of each class.
    pub(super) async fn of(ports: &Ports) -> Result<Self, StoreError> {
        let mut known = Self::default();
        for (_, pair) in ports.base.tag_pairs(Which::All).await? {
            known.add(&pair.colloquial, &pair.class);
        }
        let classes = ports.base.tag_classes().await?.classes;
        let ids: Vec<TagClassId> = classes.iter().map(|class| class.id).collect();
        let tags = ports.base.tags(TagQuery::InClasses(&ids), TAGS).await?;
        for (class, tags) in classes.iter().zip(tags) {
            for count in tags {
                known.add(&count.tag.text, &class.name);
            }
        }
        Ok(known)
    }

    fn add(&mut self, text: &str, class: &str) {
        let Some(key) = tag_key(text) else { return };
        let place = self.words.len();
        for form in forms(text) {
            self.by_stems.entry(form).or_insert(place);
        }
        self.words.push(Word { key, class: class.to_owned(), letters: letters(text) });
    }

    /// The word with the same stems, in any order, with particles between them, or run together.
    pub(super) fn with_stems_of(&self, text: &str) -> Option<&Word> {
        forms(text).iter().find_map(|form| self.words.get(*self.by_stems.get(form)?))
    }

    /// The word with the same stems, else the most similar one of the class, if it is similar enough; of any
    /// class where none is named.
    pub(super) fn nearest(&self, text: &str, class: &str) -> Option<&Word> {
        if let Some(same) = self.with_stems_of(text) {
            return Some(same);
        }
        let wanted = letters(text);
        if wanted.chars().count() < LETTERS {
            return None;
        }
        let of_class = self.words.iter().filter(|word| class.is_empty() || word.class == class);
        let alike = of_class.map(|word| (sorensen_dice(&wanted, &word.letters), word));
        let alike = alike.filter(|(likeness, _)| ALIKE <= *likeness);
        // Of equally similar words the first: a pair, or the more frequent tag.
        let best = alike.reduce(|best, other| if best.0 < other.0 { other } else { best });
        best.map(|(_, word)| word)
    }
}

fn stems(text: &str) -> Vec<String> {
    let stems = tag_words(text);
    stems.split(' ').filter(|stem| !PARTICLES.contains(stem)).map(str::to_owned).collect()
}

fn letters(text: &str) -> String {
    stems(text).concat()
}

fn forms(text: &str) -> Vec<String> {
    let mut stems = stems(text);
    let together = stems.concat();
    stems.sort_unstable();
    let mut forms = vec![stems.join(" "), together];
    forms.retain(|form| !form.is_empty());
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(known: &[(&str, &str)], asked: &str, class: &str) -> Option<String> {
        let mut all = Known::default();
        for (text, class) in known {
            all.add(text, class);
        }
        let word = all.nearest(asked, class)?;
        known
            .iter()
            .map(|(text, _)| *text)
            .find(|text| tag_key(text) == Some(word.key))
            .map(str::to_owned)
    }

    #[test]
    fn near_matches_are_found_and_other_words_are_not() {
        let known = [
            ("leakage of the seal", "fault"),
            ("gearbox", "part"),
            ("hydraulic accumulator", "part"),
            ("有期徒刑", "penalty"),
            ("won't turn", "fault"),
        ];
        let near = |asked: &str, class: &str| found(&known, asked, class);
        assert_eq!(near("seal leakage", "").as_deref(), Some("leakage of the seal"));
        assert_eq!(near("gear box", "").as_deref(), Some("gearbox"));
        assert_eq!(near("hydraulic acumulator", "part").as_deref(), Some("hydraulic accumulator"));
        for another in ["无期徒刑", "turn", "gears", "hydraulic pump", ""] {
            assert_eq!(near(another, ""), None, "{another}");
        }
        // A typo is forgiven only within the class.
        assert_eq!(near("hydraulic acumulator", "fault"), None);
    }
}
