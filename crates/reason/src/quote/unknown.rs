//! Finds the words of a question that no passage has, if its subject is among them.

use std::collections::HashSet;

use pikerag_knowledge::{Chunk, Context, Question};
use pikerag_language::fold::folded;
use pikerag_language::names::names_in;
use pikerag_language::{content_words, is_chinese, stem};

use super::Known;

/// The share of a question's words, weighed by their rarity, that are unknown at least if they are
/// its subject. Chinese questions have more words of everyday speech that documents avoid.
const SUBJECT: f32 = 0.5;
const SUBJECT_CHINESE: f32 = 0.8;
/// The fewest characters of a word that a passage may hold in several words. The ends of two words
/// often make a shorter one (*since one*, *CEO*).
const JOINED: usize = 4;
/// Words that are reported, at most.
const REPORTED: usize = 5;
/// Words that say what to do or ask for an amount; they are the subject of no question.
const ASKING: [&str; 10] =
    ["many", "much", "often", "explain", "describe", "tell", "list", "show", "summarize", "please"];

/// Titles before a name that documents may leave out.
const TITLES: [&str; 5] = ["mr", "mrs", "ms", "dr", "prof"];

/// The words that no passage of the base has, as the question writes them. Empty unless they are a
/// name or most of the question: a question in other words than the documents has some, too.
pub(super) fn unknown_words(question: &Question, context: &Context, known: &Known) -> Vec<String> {
    let text = question.text.as_str();
    let lower = text.to_lowercase();
    let passages: Vec<String> = context
        .chunks
        .iter()
        .map(|held| {
            let Chunk { uri, text, .. } = &held.chunk;
            format!("{}\n{uri}\n{text}", held.chunk.full_title())
        })
        .collect();
    let squeezed: Vec<String> =
        passages.iter().map(|passage| folded(passage).replace(' ', "")).collect();
    let passages: Vec<String> = passages.iter().map(|passage| passage.to_lowercase()).collect();
    // Words are counted by stems and cuts; a passage may hold the same letters in another cut, or
    // with a sign between them (`KX-40` for `KX40`).
    let is_unknown = |word: &str| {
        known.absent.contains(&stem(word))
            && 1 < word.chars().count()
            && !ASKING.contains(&word)
            && !TITLES.contains(&word)
            && lower.contains(word)
            && !passages.iter().any(|passage| passage.contains(word))
            && !(JOINED <= word.chars().count() && squeezed.iter().any(|text| text.contains(word)))
    };
    let weight = |word: &str| {
        let term = stem(word);
        known.rarity.iter().find(|(held, _)| *held == term).map_or(0.0, |(_, rarity)| *rarity)
    };
    let words = content_words(text);
    let mut unknown: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| is_unknown(word)).collect();
    let all: f32 = words.iter().map(|word| weight(word)).sum();
    let own: f32 = unknown.iter().map(|word| weight(word)).sum();
    let is_in_chinese = text.chars().any(is_chinese);
    let least = if is_in_chinese { SUBJECT_CHINESE } else { SUBJECT };
    if own < least * all {
        let names = names(text, is_in_chinese);
        unknown.retain(|word| names.contains(*word));
    }
    let longest = unknown.iter().filter(|word| {
        !unknown.iter().any(|other| other.len() > word.len() && other.contains(**word))
    });
    longest.take(REPORTED).map(|word| as_written(text, word)).collect()
}

/// The words of names in Latin letters. The first word of an English question has a capital anyway;
/// in a Chinese question every Latin word counts as a name.
fn names(text: &str, is_in_chinese: bool) -> HashSet<String> {
    let words: Vec<String> = match is_in_chinese {
        true => content_words(text),
        false => {
            let rest = text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest);
            names_in(rest).into_iter().flatten().collect()
        }
    };
    let is_latin = |word: &String| word.chars().any(|c| c.is_ascii_alphabetic());
    words.into_iter().filter(is_latin).collect()
}

/// The word with the capitals that the question gives it.
fn as_written(text: &str, word: &str) -> String {
    let mut parts = text.split(|c: char| !c.is_ascii_alphanumeric());
    parts.find(|part| part.to_lowercase() == word).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;
    use pikerag_language::{query_terms, terms};
    use proptest::prelude::*;

    use super::*;

    /// The words that are unknown to a base of one passage, whose terms are all common.
    fn unknown(question: &str, passage: &str) -> Vec<String> {
        let held: HashSet<String> = terms(passage).into_iter().collect();
        let terms = query_terms(question);
        let rare = |term: &String| if held.contains(term) { 0.4 } else { 1.0 };
        let absent = terms.iter().filter(|term| !held.contains(*term)).cloned().collect();
        let rarity = terms.iter().map(|term| (term.clone(), rare(term))).collect();
        let known = Known { rarity, absent, ..Known::default() };
        let mut context = Context::default();
        context.add(1, chunk(1, "Sites", passage));
        unknown_words(&Question::new("q", question), &context, &known)
    }

    #[test]
    fn an_unknown_subject_is_reported_as_it_is_written() {
        let english = "Vellmarsh keeps food cold. Its managing director founded the firm in 1971.";
        let chinese = "本制度自2025年起执行，由财务部解释。公司员工出差适用本制度。";
        for (question, passage, expected) in [
            ("Who is the CEO of Vellmarsh?", english, "CEO"),
            ("Who founded Vellmarsh?", english, ""),
            ("Did Mr Vellmarsh found it?", english, ""),
            ("How often does the KX40 stop?", "The KX-40 stops at night.", ""),
            ("Which firm keeps food warm?", english, ""),
            ("How many weeks off does a father get?", english, "weeks off father get"),
            ("Explain how Vellmarsh was founded", english, ""),
            ("谁是首席执行官？", chinese, "首席 执行官"),
            ("公司的CEO是谁？", chinese, "CEO"),
            ("公司员工出差适用哪个制度？", chinese, ""),
        ] {
            assert_eq!(unknown(question, passage).join(" "), expected, "{question}");
        }
    }

    proptest! {
        /// A word that a passage holds is never reported.
        #[test]
        fn reported_words_occur_in_no_passage(
            question in "([A-C][a-c]{0,2} |[a-c]{1,3} |协议|维保|CEO ){0,8}",
            passage in "([A-C][a-c]{0,2} |[a-c]{1,3} |协议|维保|\\. ){0,12}",
        ) {
            for word in unknown(&question, &passage) {
                prop_assert!(question.contains(&word), "{word}");
                prop_assert!(!passage.to_lowercase().contains(&word.to_lowercase()), "{word}");
            }
        }
    }
}
