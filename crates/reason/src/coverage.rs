//! Measures how much of a question a sentence covers by its own terms and by those around it.

use std::collections::HashSet;
use std::rc::Rc;

/// The value of a term of the question that the sentence itself does not hold. The term may occur
/// above it, in the sentence before, elsewhere in its chunk, or in another chunk of its document.
const ABOVE: f32 = 0.6;
const BEFORE: f32 = 0.3;
const AROUND: f32 = 0.3;
const DOCUMENT: f32 = 0.2;

/// The terms of a sentence or row, and the terms that show its subject. A caller leaves the sets
/// empty that must not count.
#[derive(Clone, Debug, Default)]
pub struct SentenceTerms {
    /// Its own terms.
    pub own: HashSet<String>,
    /// Terms of title, headings and table header.
    pub above: Rc<HashSet<String>>,
    /// Terms of the sentence before.
    pub before: HashSet<String>,
    /// Terms of its chunk.
    pub around: Rc<HashSet<String>>,
    /// Terms of the known chunks of its document.
    pub document: Rc<HashSet<String>>,
}

impl SentenceTerms {
    /// How much of a term the sentence has, from 0 to 1.
    pub fn presence(&self, term: &str) -> f32 {
        if self.own.contains(term) {
            1.0
        } else if self.above.contains(term) {
            ABOVE
        } else if self.before.contains(term) {
            BEFORE
        } else if self.around.contains(term) {
            AROUND
        } else if self.document.contains(term) {
            DOCUMENT
        } else {
            0.0
        }
    }
}

/// The terms of a question with their weights, which sentences are compared with.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// Sums follow this order, so that equal sentences get equal floats.
    weights: Vec<(String, f32)>,
    all: f32,
}

impl Coverage {
    /// For terms with weights of 0 and more.
    pub fn new(weights: Vec<(String, f32)>) -> Self {
        let all = weights.iter().map(|(_, weight)| weight).sum::<f32>().max(1e-6);
        Self { weights, all }
    }

    /// The share of the terms, by weight, that the sentence has: from 0 to 1, 0 without terms.
    pub fn of(&self, sentence: &SentenceTerms) -> f32 {
        self.share(|term, weight| weight * sentence.presence(term))
    }

    /// The sum of `part` over the terms, out of the weight of all. `part` gets a term and its weight
    /// and returns the part of the weight that counts.
    pub fn share(&self, part: impl Fn(&str, f32) -> f32) -> f32 {
        self.weights.iter().map(|(term, weight)| part(term, *weight)).sum::<f32>() / self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(terms: &[&str]) -> HashSet<String> {
        terms.iter().map(|term| (*term).to_owned()).collect()
    }

    #[test]
    fn nearer_terms_count_more() {
        let sentence = SentenceTerms {
            own: set(&["fee"]),
            above: Rc::new(set(&["fee", "contract"])),
            before: set(&["contract", "norrick"]),
            around: Rc::new(set(&["plant"])),
            document: Rc::new(set(&["plant", "york"])),
        };
        let terms = ["fee", "contract", "norrick", "plant", "york", "crane"];
        let values: Vec<f32> = terms.iter().map(|term| sentence.presence(term)).collect();
        assert_eq!(values, [1.0, ABOVE, BEFORE, AROUND, DOCUMENT, 0.0]);
    }

    #[test]
    fn a_share_is_weighed_by_the_terms() {
        let of = |terms: &[(&str, f32)]| {
            Coverage::new(
                terms.iter().map(|(term, weight)| ((*term).to_owned(), *weight)).collect(),
            )
        };
        let sentence = SentenceTerms { own: set(&["fee"]), ..SentenceTerms::default() };
        let near = |one: f32, other: f32| (one - other).abs() < 1e-6;
        assert!(near(of(&[("fee", 3.0), ("crane", 1.0)]).of(&sentence), 0.75));
        assert!(near(of(&[("fee", 0.5)]).of(&sentence), 1.0));
        assert!(near(of(&[]).of(&sentence), 0.0));
        // A part of a term counts less, such as that of a term that an earlier quote has.
        let half = of(&[("fee", 2.0)]).share(|term, weight| weight * sentence.presence(term) / 2.0);
        assert!(near(half, 0.5));
    }
}
