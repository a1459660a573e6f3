//! Compares single Chinese characters of a question with sentences, beside its words.

use std::collections::HashSet;

use pikerag_knowledge::Chunk;
use pikerag_language::is_chinese;

/// The value of a character that only the title or a heading holds.
const ABOVE: f32 = 0.5;
/// The least weight of a character, where one of a single chunk weighs 1.
const COMMON: f32 = 0.1;

/// The Chinese characters of a question's terms, each with its rarity among the passages, from 0 to
/// 1; none if the question is in another script.
pub(super) struct Characters(Vec<(char, f32)>);

impl Characters {
    pub(super) fn new<'a>(terms: impl Iterator<Item = &'a str>, chunks: &[&Chunk]) -> Self {
        let mut asked: Vec<char> = Vec::new();
        for c in terms.flat_map(str::chars).filter(|c| is_chinese(*c)) {
            if !asked.contains(&c) {
                asked.push(c);
            }
        }
        if asked.is_empty() {
            return Self(Vec::new());
        }
        let texts: Vec<HashSet<char>> = chunks
            .iter()
            .map(|chunk| chunk.full_title().chars().chain(chunk.text.chars()).collect())
            .collect();
        let all = (texts.len().max(2) as f32).ln();
        let rarity = |c: char| {
            let count = texts.iter().filter(|text| text.contains(&c)).count();
            (1.0 - (count.max(1) as f32).ln() / all).clamp(COMMON, 1.0)
        };
        Self(asked.into_iter().map(|c| (c, rarity(c))).collect())
    }

    /// The share of the characters, weighed by their rarity, that a sentence of a chunk has, from 0
    /// to 1.
    pub(super) fn share(&self, text: &str, chunk: &Chunk) -> f32 {
        if self.0.is_empty() {
            return 0.0;
        }
        let title = chunk.full_title();
        let (mut held, mut all) = (0.0_f32, 0.0_f32);
        for &(c, rarity) in &self.0 {
            all += rarity;
            held += match (text.contains(c), title.contains(c)) {
                (true, _) => rarity,
                (false, true) => ABOVE * rarity,
                (false, false) => 0.0,
            };
        }
        held / all
    }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;

    use super::*;

    #[test]
    fn rare_characters_weigh_more() {
        let chunks = [
            chunk(1, "机", "烘干机由恒灶制造。"),
            chunk(2, "机", "色选机由明瞳制造。"),
            chunk(3, "人事", "年假七天。"),
        ];
        let [dryer, sorter, leave] = &chunks;
        let of = Characters::new(["烘", "机器", "烘机"].into_iter(), &[dryer, sorter, leave]);
        let characters: String = of.0.iter().map(|(c, _)| *c).collect();
        assert_eq!(characters, "烘机器");
        let share = |chunk: &Chunk| of.share(&chunk.text, chunk);
        assert!(share(sorter) < share(dryer) && share(leave) < 1e-6);
        let english = Characters::new(["pump"].into_iter(), &[dryer]);
        assert!(english.share("pump", dryer) < 1e-6);
    }
}
