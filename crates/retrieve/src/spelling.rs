//! Finds the documents' words for mistyped words of a question.

use pikerag_knowledge::Respelling;
use pikerag_language::fold::{Token, tokens};
use pikerag_language::{is_chinese, is_mistyped, is_stop_word, most_errors, stem, typing_errors};

use crate::finder::{Finder, RetrieveError};
use crate::synonyms::declared;

/// The fewest letters of a word that is corrected.
const SHORTEST: usize = 4;
/// Words of one question that are looked up, at most: each look-up reads all terms of the base.
const LOOKED_UP: usize = 6;
/// A question keeps its words unless more than one in this number is mistyped: the others find the
/// passages, and everyday words that no document has (*stuff*) resemble other ones (*staff*).
const FEW: usize = 3;
/// Similar terms of which a word of the documents is looked for, at most.
const TRIED: usize = 4;
/// Words that ask or say what to do. Documents rarely have them, and they are no typing errors.
const ASKING: [&str; 34] = [
    "advise",
    "answer",
    "approximately",
    "calculate",
    "compare",
    "comparison",
    "compute",
    "conclude",
    "define",
    "describe",
    "difference",
    "discuss",
    "estimate",
    "explain",
    "find",
    "forecast",
    "give",
    "identify",
    "likely",
    "list",
    "many",
    "mention",
    "much",
    "outline",
    "overview",
    "please",
    "predict",
    "propose",
    "show",
    "suggest",
    "summarise",
    "summarize",
    "tell",
    "wonder",
];

/// The words of a question that no chunk has, with the most similar words of the documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// Mistyped words; empty if at most a third of the question's words are.
    pub corrected: Vec<Respelling>,
    /// Names, which may be right: the documents' name is only suggested.
    pub suggested: Vec<Respelling>,
}

/// Compares words of Latin letters that no chunk has with the base's own words. A word that the
/// base knows, or that a person declared as a synonym, stays as it is. Costs no model call.
///
/// # Errors
/// The base cannot be read.
pub async fn respelled(finder: Finder<'_>, query: &str) -> Result<Spelling, RetrieveError> {
    let tokens = tokens(query);
    let typed: Vec<(usize, &Token<'_>)> =
        tokens.iter().enumerate().filter(|(_, token)| is_word(query, token)).collect();
    let mut spelling = Spelling::default();
    if typed.is_empty() {
        return Ok(spelling);
    }
    let words = typed.len();
    let stems: Vec<String> = typed.iter().map(|(_, token)| stem(&token.folded)).collect();
    let counts = finder.base.term_counts(&stems).await?;
    let mut unknown: Vec<(usize, &Token<'_>)> =
        typed.into_iter().zip(counts).filter(|(_, count)| *count == 0).map(|(it, _)| it).collect();
    if unknown.is_empty() {
        return Ok(spelling);
    }
    let synonyms = declared(finder, query).await?;
    unknown.retain(|(_, token)| !synonyms.iter().any(|tag| tag.tag.contains(token.raw)));
    let is_in_chinese = query.chars().any(is_chinese);
    for (place, token) in unknown.into_iter().take(LOOKED_UP) {
        let Some(meant) = nearest(finder, &token.folded).await? else { continue };
        // The first word of an English question has a capital anyway.
        let is_name = is_in_chinese
            || token.raw.chars().skip(1).any(char::is_uppercase)
            || (is_capital(token.raw) && (0 < place || is_capital(&meant)));
        let to = if is_name { meant } else { meant.to_lowercase() };
        let word = token.raw.to_owned();
        let list = if is_name { &mut spelling.suggested } else { &mut spelling.corrected };
        if !list.iter().any(|held| held.word == word) {
            list.push(Respelling { word, to });
        }
    }
    if spelling.corrected.len() * FEW <= words {
        spelling.corrected.clear();
    }
    Ok(spelling)
}

/// A text with each mistyped word replaced by the documents' word.
pub fn with_spelling(text: &str, words: &[Respelling]) -> String {
    let mut respelled = String::with_capacity(text.len());
    let mut end = 0;
    for token in tokens(text) {
        let Some(word) = words.iter().find(|word| word.word == token.raw) else { continue };
        respelled.push_str(text.get(end..token.start).unwrap_or_default());
        respelled.push_str(&word.to);
        end = token.end();
    }
    respelled.push_str(text.get(end..).unwrap_or_default());
    respelled
}

/// Whether a token is a word of letters, not part of an address, a file name or a number.
fn is_word(query: &str, token: &Token<'_>) -> bool {
    let before = query.get(..token.start).unwrap_or_default();
    let after = query.get(token.end()..).unwrap_or_default();
    let is_joint = |c: char| "@/\\._-:".contains(c);
    let mut following = after.chars();
    let is_joined = before.ends_with(is_joint)
        || (following.next().is_some_and(is_joint)
            && following.next().is_some_and(char::is_alphanumeric));
    let folded = token.folded.as_str();
    let letters = token.raw.strip_suffix("'s").or_else(|| token.raw.strip_suffix("’s"));
    SHORTEST <= folded.len()
        && folded.chars().all(|c| c.is_ascii_alphabetic())
        && letters.unwrap_or(token.raw).chars().all(char::is_alphabetic)
        && !is_joined
        && !is_stop_word(folded)
        && !ASKING.contains(&folded)
}

/// The word of the documents that the fewest typing errors turn into this one.
async fn nearest(finder: Finder<'_>, typed: &str) -> Result<Option<String>, RetrieveError> {
    let similar = finder.base.similar_terms(&stem(typed), most_errors(typed)).await?;
    for similar in similar.into_iter().take(TRIED) {
        let Some(chunk) = finder.base.chunks(&[similar.first]).await?.pop() else { continue };
        let text = format!("{}\n{}", chunk.full_title(), chunk.searched_text());
        let Some(word) = word_with(&text, &similar.term, typed) else { continue };
        // *Meels* and *meal* differ in their ending, too; *reefer* and *reference* have like stems alone.
        let is_other_form = typed.len().abs_diff(word.len()) <= 2;
        if is_mistyped(typed, &word.to_lowercase())
            || (is_other_form && is_mistyped(&stem(typed), &similar.term))
        {
            return Ok(Some(word));
        }
    }
    Ok(None)
}

/// The word of a text with this stem that is most similar to the typed word; without a capital
/// where the text has both.
fn word_with(text: &str, term: &str, typed: &str) -> Option<String> {
    let tokens = tokens(text);
    let words = tokens.iter().filter(|token| {
        let folded = token.folded.as_str();
        2 < folded.len()
            && folded.chars().all(|c| c.is_ascii_alphabetic())
            && !is_stop_word(folded)
            && stem(folded) == term
    });
    let far = typed.len() + text.len();
    let nearest = words.min_by_key(|token| {
        let errors = typing_errors(typed, &token.folded, typed.len()).unwrap_or(far);
        (errors, is_capital(token.raw))
    })?;
    let raw = nearest.raw;
    Some(raw.strip_suffix("'s").or_else(|| raw.strip_suffix("’s")).unwrap_or(raw).to_owned())
}

fn is_capital(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_words_are_replaced_in_place() {
        let words = [("daly", "daily"), ("meels", "meals")];
        let words = words.map(|(word, to)| Respelling { word: word.into(), to: to.into() });
        assert_eq!(
            with_spelling("daly allowence, meels? Daly", &words),
            "daily allowence, meals? Daly"
        );
        assert_eq!(with_spelling("起重机 daly", &words), "起重机 daily");
    }

    #[test]
    fn addresses_numbers_and_contractions_are_no_words() {
        let query = "Ask info@vellm.org about KX40, sub-zero rooms and don't use data.file, ever";
        let words = tokens(query);
        let words = words.iter().filter(|token| is_word(query, token)).map(|token| token.raw);
        assert_eq!(words.collect::<Vec<_>>(), ["rooms", "ever"]);
    }

    #[test]
    fn the_nearest_word_of_a_stem_is_shown() {
        let text = "Meal times. A meal, two meals, the Meals of the day.";
        assert_eq!(word_with(text, "meal", "meels").as_deref(), Some("meals"));
        assert_eq!(
            word_with("Whitcombe's office", "whitcomb", "whitcomb").as_deref(),
            Some("Whitcombe")
        );
        assert_eq!(word_with(text, "dinner", "diner"), None);
    }
}
