//! Finds the documents' words for mistyped and everyday words of a question.

use pikerag_knowledge::{ChunkId, Respelling};
use pikerag_language::fold::{Token, apart, tokens};
use pikerag_language::{is_chinese, is_mistyped, is_stop_word, most_errors, stem, typing_errors};

use crate::everyday::formal;
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
/// The fewest characters of a code or compound that documents may write apart.
const SHORTEST_CODE: usize = 3;
/// The passages with the best matching parts that are searched for it.
const SEARCHED: usize = 16;
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

/// The words of a question that no chunk has, with the documents' words for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// Mistyped words, none if at most a third of the question's words are; and codes and compounds
    /// that the documents write apart (`KX-40` for `KX40`); and everyday words for which the
    /// documents have a formal one (*bicycle* for *bike*).
    pub corrected: Vec<Respelling>,
    /// Names, which may be right: the documents' name is only suggested.
    pub suggested: Vec<Respelling>,
}

/// Compares words of Latin letters that no chunk has with the base's own words: words of the same
/// meaning in a formal text, then words of similar spelling. A word that the base knows, or that a
/// person declared as a synonym, stays as it is. Costs no model call.
///
/// # Errors
/// The base cannot be read.
pub async fn respelled(finder: Finder<'_>, query: &str) -> Result<Spelling, RetrieveError> {
    let tokens = tokens(query);
    let formal = formal(finder, query, &tokens).await?;
    let mut spelling = mistyped(finder, query, &tokens, &formal).await?;
    spelling.corrected.extend(formal);
    for found in other_notations(finder, &tokens).await? {
        spelling.suggested.retain(|held| held.word != found.word);
        spelling.corrected.retain(|held| held.word != found.word);
        spelling.corrected.push(found);
    }
    Ok(spelling)
}

async fn mistyped(
    finder: Finder<'_>,
    query: &str,
    tokens: &[Token<'_>],
    formal: &[Respelling],
) -> Result<Spelling, RetrieveError> {
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
    unknown.retain(|(_, token)| !formal.iter().any(|held| held.word == token.raw));
    if unknown.is_empty() {
        return Ok(spelling);
    }
    let synonyms = declared(finder, query).await?;
    unknown.retain(|(_, token)| !synonyms.iter().any(|tag| tag.tag.contains(token.raw)));
    let is_in_chinese = query.chars().any(is_chinese);
    for (place, token) in unknown.into_iter().take(LOOKED_UP) {
        let Some(meant) = nearest(finder, &token.folded).await? else { continue };
        // *Per* is no other spelling of *Peru*.
        if is_capital(token.raw) && meant.len() < SHORTEST && !is_capital(&meant) {
            continue;
        }
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

/// The codes and compounds of a question that no chunk has and that the documents write apart, each
/// as a document writes it.
async fn other_notations(
    finder: Finder<'_>,
    tokens: &[Token<'_>],
) -> Result<Vec<Respelling>, RetrieveError> {
    let is_long = |token: &&Token<'_>| SHORTEST_CODE <= token.folded.chars().count();
    let compounds: Vec<(&Token<'_>, String)> = tokens
        .iter()
        .filter(is_long)
        .map(|token| (token, apart(token.raw)))
        .filter(|(_, apart)| apart.contains(' '))
        .take(LOOKED_UP)
        .collect();
    let mut found: Vec<Respelling> = Vec::new();
    if compounds.is_empty() {
        return Ok(found);
    }
    let stems: Vec<String> = compounds.iter().map(|(token, _)| stem(&token.folded)).collect();
    let counts = finder.base.term_counts(&stems).await?;
    for ((token, parts), count) in compounds.into_iter().zip(counts) {
        if 0 < count || found.iter().any(|held| held.word == token.raw) {
            continue;
        }
        let hits = finder.base.matching_chunks(&parts, SEARCHED).await?;
        let ids: Vec<ChunkId> = hits.into_iter().map(|hit| hit.item).collect();
        let chunks = finder.base.chunks(&ids).await?;
        let written = chunks.iter().find_map(|chunk| {
            let text = format!("{}\n{}", chunk.full_title(), chunk.searched_text());
            written_apart(&text, &token.folded)
        });
        if let Some(to) = written {
            found.push(Respelling { word: token.raw.to_owned(), to });
        }
    }
    Ok(found)
}

/// The first place of a text that has these letters in several words, one sign between each two:
/// `KX-40` for `kx40`. Grammar is no part of a code: *a 10* is not `A10`.
fn written_apart(text: &str, folded: &str) -> Option<String> {
    let tokens = tokens(text);
    for (at, first) in tokens.iter().enumerate() {
        let mut rest = folded;
        let mut end = first.start;
        for token in tokens.get(at..).unwrap_or_default() {
            let gap = text.get(end..token.start).unwrap_or_default();
            let Some(after) = rest.strip_prefix(token.folded.as_str()) else { break };
            if !matches!(gap, "" | " " | "-" | "_" | "/" | ".")
                || (is_stop_word(&token.folded) && !is_capital(token.raw))
            {
                break;
            }
            (rest, end) = (after, token.end());
            if rest.is_empty() {
                return text.get(first.start..end).map(str::to_owned);
            }
        }
    }
    None
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
    let root = stem(typed);
    let mut similar = finder.base.similar_terms(&root, most_errors(typed)).await?;
    similar.truncate(TRIED);
    // The stemmer adds an *e* (*cheked*, *cheke*), and leaves *ion* behind a short beginning (*probtion*).
    let added = || root.strip_suffix('e').filter(|_| !typed.ends_with('e'));
    let shorter = root.strip_suffix("ion").or_else(added);
    if let Some(shorter) = shorter.filter(|shorter| SHORTEST <= shorter.len()) {
        let further = finder.base.similar_terms(shorter, most_errors(typed)).await?;
        similar.extend(further.into_iter().take(TRIED));
    }
    let mut other_form = None;
    for similar in similar {
        let Some(chunk) = finder.base.chunks(&[similar.first]).await?.pop() else { continue };
        let text = format!("{}\n{}", chunk.full_title(), chunk.searched_text());
        let Some(word) = word_with(&text, &similar.term, typed) else { continue };
        if is_mistyped(typed, &word.to_lowercase()) {
            return Ok(Some(word));
        }
        // *Meels* and *meal* differ in their ending, too; *reefer* and *reference* have like stems
        // alone, and short stems resemble many (*linning*, *lints*).
        let is_other_form = SHORTEST <= root.len() && typed.len().abs_diff(word.len()) <= 2;
        if other_form.is_none() && is_other_form && is_mistyped(&root, &similar.term) {
            other_form = Some(word);
        }
    }
    Ok(other_form)
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
    fn codes_are_found_in_the_notation_of_the_documents() {
        for (text, code, found) in [
            ("The KX-40 is a crane.", "kx40", Some("KX-40")),
            ("合同编号：QY-2023-017；", "qy2023017", Some("QY-2023-017")),
            ("Loom V2 manual", "loomv2", Some("Loom V2")),
            ("It lifts a 10 kg load", "a10", None),
            ("KX, 40 wheels", "kx40", None),
            ("KX-400", "kx40", None),
        ] {
            assert_eq!(written_apart(text, code).as_deref(), found, "{code} in {text}");
        }
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
