//! Chooses the sentences of passages that fit a question best, so that a reading round shows more passages for fewer
//! tokens.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use pikerag_knowledge::{Chunk, ChunkKind};
use pikerag_language::{estimate_tokens, query_terms, sentences, terms};
use pikerag_reason::{Coverage, SentenceTerms};

/// The mark of omitted text in a prompt.
const GAP: &str = "…";
/// The bonus of the first sentence, which names the subject; the second has half of it, the third a third.
const FIRST: f32 = 0.3;
/// The bonus of a sentence that names another passage of the round: such sentences connect facts.
const NAMES: f32 = 0.3;
/// A further passage with a term lowers its weight: `1 / (1 + COMMON · n)`.
const COMMON: f32 = 0.3;
/// A sentence of a passage that was read before is worth at least this much, out of 1, to be shown.
const NEAR: f32 = 0.3;

/// The places of sentences in a passage, from 0.
pub type Places = BTreeSet<usize>;

/// A passage of a later round.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The passage.
    pub chunk: &'a Chunk,
    /// The sentences that need not be shown again; `None` for a passage that no round showed.
    pub known: Option<Places>,
}

/// The sentences of the first round's passages, the best passage first: of each of the better half of `most` passages at
/// most `passage_tokens`, of the others a third of them, because most facts are in the first passages.
pub fn in_first_round(
    question: &str,
    chunks: &[&Chunk],
    most: usize,
    passage_tokens: u32,
) -> Vec<Places> {
    let chooser = Chooser::new([question], chunks);
    let better = most.div_ceil(2);
    let chosen = chunks.iter().enumerate().map(|(rank, chunk)| {
        let tokens = if rank < better { passage_tokens } else { passage_tokens / 3 };
        chooser.best(chunk, tokens.into())
    });
    chosen.collect()
}

/// The sentences of a later round's passages, half as many tokens as in the first: of new passages the best ones, of
/// those shown before the ones near the questions that are not known, so that there may be none.
pub fn in_later_round(
    questions: &[String],
    candidates: &[Candidate<'_>],
    passage_tokens: u32,
) -> Vec<Places> {
    let chunks: Vec<&Chunk> = candidates.iter().map(|candidate| candidate.chunk).collect();
    let chooser = Chooser::new(questions.iter().map(String::as_str), &chunks);
    let tokens = u64::from(passage_tokens.div_ceil(2));
    let chosen = candidates.iter().map(|Candidate { chunk, known }| match known {
        Some(known) => chooser.near(chunk, tokens, known),
        None => chooser.best(chunk, tokens),
    });
    chosen.collect()
}

/// The places among the parts of a passage that these quotes repeat: at least half of a part, so that a table is open for
/// its other rows.
pub fn quoted_parts(chunk: &Chunk, quotes: &[&str]) -> Places {
    let is_quoted = |part: &Range<usize>| {
        let text = chunk.text.get(part.clone()).unwrap_or_default();
        quotes.iter().any(|quote| {
            quote.contains(text) || (text.contains(*quote) && text.len() <= 2 * quote.len())
        })
    };
    let parts = parts(chunk);
    let places = parts.iter().enumerate().filter(|(_, part)| is_quoted(part));
    places.map(|(place, _)| place).collect()
}

/// A sentence, compared with the questions.
struct Rated {
    place: usize,
    /// From 0 to 1.
    fit: f32,
    /// The fit with the bonuses.
    worth: f32,
}

/// Questions, with the weights of their terms among the passages of a round.
struct Chooser {
    coverage: Coverage,
    /// The terms of each passage's title.
    titles: Vec<HashSet<String>>,
}

impl Chooser {
    /// For the words of these questions, among the passages that may be shown.
    fn new<'a>(questions: impl IntoIterator<Item = &'a str>, chunks: &[&Chunk]) -> Self {
        let titles: Vec<HashSet<String>> =
            chunks.iter().map(|chunk| terms(&chunk.full_title()).into_iter().collect()).collect();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for (chunk, title) in chunks.iter().zip(&titles) {
            let own: HashSet<String> = title.iter().cloned().chain(terms(&chunk.text)).collect();
            for term in own {
                *counts.entry(term).or_default() += 1;
            }
        }
        // Each term once, in the order of the questions.
        let mut weights: Vec<(String, f32)> = Vec::new();
        for term in questions.into_iter().flat_map(query_terms) {
            if weights.iter().all(|(held, _)| *held != term) {
                let count = counts.get(&term).copied().unwrap_or_default();
                weights.push((term, 1.0 / (1.0 + COMMON * count as f32)));
            }
        }
        Self { coverage: Coverage::new(weights), titles }
    }

    /// The best sentences within `tokens`, the best one whatever its length. All of a passage that fits, of a table,
    /// of code and of a figure: a part of these has another meaning than the whole.
    fn best(&self, chunk: &Chunk, tokens: u64) -> Places {
        let parts = parts(chunk);
        if estimate_tokens(&chunk.text) <= tokens {
            return (0..parts.len()).collect();
        }
        let rated = self.rated(chunk, &parts);
        if rated.is_empty() {
            return (0..parts.len()).collect();
        }
        fill(chunk, &parts, &rated, tokens)
    }

    /// The best sentences within `tokens` without those `left_out`; only sentences near the questions, so that there
    /// may be none.
    fn near(&self, chunk: &Chunk, tokens: u64, left_out: &Places) -> Places {
        let parts = parts(chunk);
        let mut rated = self.rated(chunk, &parts);
        rated.retain(|Rated { place, fit, .. }| NEAR <= *fit && !left_out.contains(place));
        fill(chunk, &parts, &rated, tokens)
    }

    /// The sentences in order, without headings, because the title has them.
    fn rated(&self, chunk: &Chunk, parts: &[Range<usize>]) -> Vec<Rated> {
        let title: Rc<HashSet<String>> = Rc::new(terms(&chunk.full_title()).into_iter().collect());
        let mut before: HashSet<String> = HashSet::new();
        let mut rated = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let text = chunk.text.get(part.clone()).unwrap_or_default();
            if text.starts_with('#') {
                continue;
            }
            let own: HashSet<String> = terms(text).into_iter().collect();
            let held = SentenceTerms {
                own,
                above: Rc::clone(&title),
                before: std::mem::take(&mut before),
                ..SentenceTerms::default()
            };
            let fit = self.coverage.of(&held);
            let own = held.own;
            let names_other = self.titles.iter().any(|other| {
                !other.is_empty() && other.is_subset(&own) && !other.is_subset(&title)
            });
            let first = FIRST / (rated.len() + 1) as f32;
            let bonus = if names_other { first + NAMES } else { first };
            rated.push(Rated { place, fit, worth: fit + bonus });
            before = own;
        }
        rated
    }
}

/// The best of these sentences within `tokens`: the best whatever its length, then each in order of worth that still
/// fits; of equals, the earlier.
fn fill(chunk: &Chunk, parts: &[Range<usize>], rated: &[Rated], tokens: u64) -> Places {
    let mut order: Vec<&Rated> = rated.iter().collect();
    order.sort_by(|one, other| other.worth.total_cmp(&one.worth).then(one.place.cmp(&other.place)));
    let (mut left, mut chosen) = (tokens, Places::new());
    for Rated { place, .. } in order {
        let Some(text) = parts.get(*place).and_then(|part| chunk.text.get(part.clone())) else {
            continue;
        };
        let size = estimate_tokens(text);
        if chosen.is_empty() || size <= left {
            left = left.saturating_sub(size);
            chosen.insert(*place);
        }
    }
    chosen
}

/// The parts of a passage that may be shown without the others: its sentences; one part of other kinds than text.
pub fn parts(chunk: &Chunk) -> Vec<Range<usize>> {
    match chunk.kind {
        ChunkKind::Text if chunk.table.is_none() => sentences(&chunk.text),
        _ => std::iter::once(0..chunk.text.len()).collect(),
    }
}

/// The passage with these sentences alone, as a prompt shows it; a mark replaces each gap.
pub fn cut(chunk: &Chunk, chosen: &Places) -> Chunk {
    let parts = parts(chunk);
    if parts.len() <= chosen.len() {
        return chunk.clone();
    }
    let mut text = String::new();
    let mut next = 0;
    for (place, part) in parts.iter().enumerate().filter(|(place, _)| chosen.contains(place)) {
        let start = match (place == next, place.checked_sub(1).and_then(|at| parts.get(at))) {
            // Neighbours keep what is between them.
            (true, Some(before)) => before.end,
            (true, None) => part.start,
            (false, _) => {
                text.push_str(if text.is_empty() { "" } else { " " });
                text.push_str(GAP);
                text.push(' ');
                part.start
            }
        };
        text.push_str(chunk.text.get(start..part.end).unwrap_or_default());
        next = place + 1;
    }
    if next < parts.len() {
        text.push(' ');
        text.push_str(GAP);
    }
    Chunk { text, ..chunk.clone() }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;
    use proptest::prelude::*;

    use super::*;

    const HALE: &str = "Jon Hale was a glass maker. He had two sisters. In 1931 he designed the Hollin Bridge. \
                        Later he kept bees. He was born in Pellworth and left it at nineteen.";

    fn shown(question: &str, text: &str, tokens: u64) -> String {
        let chunk = chunk(1, "Jon Hale", text);
        let chooser = Chooser::new([question], &[&chunk]);
        cut(&chunk, &chooser.best(&chunk, tokens)).text
    }

    #[test]
    fn the_sentences_near_the_question_are_shown_with_marks_for_gaps() {
        assert_eq!(shown("Where was Jon Hale born?", HALE, 1000), HALE);
        assert_eq!(
            shown("Where was Jon Hale born?", HALE, 22),
            "Jon Hale was a glass maker. … He was born in Pellworth and left it at nineteen."
        );
        assert_eq!(
            shown("Who designed the Hollin Bridge?", HALE, 12),
            "… In 1931 he designed the Hollin Bridge. …"
        );
        let chinese = "顾言舟是财务总监。他喜欢爬山。单笔采购超过五万元的由他批准。他住在东岭。";
        let chunk = chunk(1, "人员名单", chinese);
        let chooser = Chooser::new(["五万元以上的采购由谁批准？"], &[&chunk]);
        let text = cut(&chunk, &chooser.best(&chunk, 12)).text;
        assert!(text.contains("单笔采购超过五万元的由他批准。"), "{text}");
    }

    /// The bridge from one passage to the other shares no word with the question.
    #[test]
    fn a_sentence_that_names_another_passage_is_shown() {
        let bridge = chunk(
            1,
            "Hollin Bridge",
            "The bridge is old. It has four arches. It was drawn by Jon Hale. Boats pass.",
        );
        let person = chunk(2, "Jon Hale", HALE);
        let chooser = Chooser::new(["In which town was its maker born?"], &[&bridge, &person]);
        let chosen = chooser.best(&bridge, 7);
        assert!(chosen.contains(&2), "{chosen:?}");
    }

    #[test]
    fn a_second_reading_shows_near_sentences_alone() {
        let hale = chunk(1, "Jon Hale", HALE);
        let chooser = Chooser::new(["Where was he born?"], &[&hale]);
        assert_eq!(chooser.near(&hale, 100, &Places::new()), Places::from([4]));
        assert!(chooser.near(&hale, 100, &Places::from([4])).is_empty());
        let other = Chooser::new(["How deep is the Sarn?"], &[&hale]);
        assert!(other.near(&hale, 100, &Places::new()).is_empty());
    }

    #[test]
    fn a_heading_is_not_shown_twice() {
        let text = "# Jon Hale\n\nHe had two sisters. He was born in Pellworth.";
        assert_eq!(shown("Where was Jon Hale born?", text, 9), "… He was born in Pellworth.");
        assert_eq!(shown("Where was Jon Hale born?", "# Jon Hale", 1), "# Jon Hale");
    }

    #[test]
    fn tables_are_shown_whole() {
        let rows = "Name | Town. Hale | Pellworth. Renn | Hollin.";
        let table = Chunk { kind: ChunkKind::Table, ..chunk(1, "Names", rows) };
        let chooser = Chooser::new(["Where does Renn live?"], &[&table]);
        assert_eq!(cut(&table, &chooser.best(&table, 3)).text, rows);
    }

    proptest! {
        /// The same choice as by trying all sentences again after each that was taken.
        #[test]
        fn the_choice_is_that_of_brute_force(
            words in prop::collection::vec("[a-d]{1,3}( [a-d]{1,3}){0,5}", 1..7), tokens in 1..30_u64,
        ) {
            let sentences: Vec<String> =
                words.iter().map(|words| format!("The {words} is.")).collect();
            let chunk = chunk(1, "A", &sentences.join(" "));
            let chooser = Chooser::new(["the aa bb of cc"], &[&chunk]);
            let parts = parts(&chunk);
            let chosen = chooser.best(&chunk, tokens);
            prop_assert!(!chosen.is_empty());
            let size = |place: usize| estimate_tokens(&chunk.text[parts[place].clone()]);
            if estimate_tokens(&chunk.text) <= tokens {
                prop_assert_eq!(chosen.len(), parts.len());
            } else {
                let mut open = chooser.rated(&chunk, &parts);
                let (mut left, mut twin) = (tokens, Places::new());
                while !open.is_empty() {
                    let mut best = 0;
                    for (at, rated) in open.iter().enumerate() {
                        if open[best].worth < rated.worth {
                            best = at;
                        }
                    }
                    let Rated { place, .. } = open.remove(best);
                    if twin.is_empty() || size(place) <= left {
                        left = left.saturating_sub(size(place));
                        twin.insert(place);
                    }
                }
                prop_assert_eq!(&chosen, &twin);
            }
            // Each shown sentence is in the passage, so that it can be cited.
            let shown = cut(&chunk, &chosen).text;
            for piece in shown.split(GAP).map(str::trim).filter(|piece| !piece.is_empty()) {
                prop_assert!(chunk.text.contains(piece), "{piece:?} in {:?}", chunk.text);
            }
        }
    }
}
