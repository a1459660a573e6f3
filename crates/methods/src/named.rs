//! Finds the things that a question names and no document mentions: codes, proper names, quoted terms.

use std::collections::BTreeSet;

use pikerag_knowledge::{Chunk, ChunkId, Context};
use pikerag_language::fold::{Token, folded, tokens};
use pikerag_language::{chinese_names_in, is_chinese, is_stop_word, month_named, stem};
use pikerag_retrieve::declared;

use crate::ports::{Ports, SolveError};

/// Things of one question that are looked for, at most.
const NAMED: usize = 6;
/// The passages with the best matching words that are searched for a thing.
const SEARCHED: usize = 64;
/// The least length of a code, in characters.
const CODE: usize = 3;
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A thing that a question names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    /// As the question writes it.
    text: String,
    /// The parts that passages must have to mention it, each in some passage: a code as a whole, the
    /// words of a name.
    parts: Vec<String>,
}

/// The things that a question names and no passage of the base mentions, as the question writes
/// them, in its order. A thing with a declared synonym counts as mentioned.
///
/// # Errors
/// The base cannot be read.
pub(crate) async fn absent_things(
    ports: &Ports,
    query: &str,
    context: &Context,
) -> Result<Vec<String>, SolveError> {
    let mut things = named_in(query);
    things.truncate(NAMED);
    if things.is_empty() {
        return Ok(Vec::new());
    }
    let synonyms = declared(ports.finder(), query).await?;
    let mut absent = Vec::new();
    for thing in things {
        let is_declared = |tag: &str| tag.contains(&thing.text) || thing.text.contains(tag);
        if synonyms.iter().any(|tag| is_declared(&tag.tag)) {
            continue;
        }
        if !is_mentioned(ports, &thing, context).await? {
            absent.push(thing.text);
        }
    }
    Ok(absent)
}

/// Whether a passage mentions a thing, among those of the context and those with its words. A code
/// counts in any notation (`P107` for `P-107`); of a name, each part must occur in some passage.
async fn is_mentioned(ports: &Ports, thing: &Named, context: &Context) -> Result<bool, SolveError> {
    let mut missing: Vec<String> = thing.parts.iter().map(|part| squeezed(part)).collect();
    let mut strike_out = |chunk: &Chunk| {
        let title = chunk.full_title();
        let text = squeezed(&format!("{title}\n{}\n{}", chunk.uri, chunk.searched_text()));
        missing.retain(|part| !text.contains(part.as_str()));
        missing.is_empty()
    };
    if context.chunks.iter().any(|held| strike_out(&held.chunk)) {
        return Ok(true);
    }
    for part in &thing.parts {
        let found = ports.base.matching_chunks(part, SEARCHED).await?;
        let ids: Vec<ChunkId> = found.into_iter().map(|hit| hit.item).collect();
        let chunks = ports.base.chunks(&ids).await?;
        if chunks.iter().any(&mut strike_out) {
            return Ok(true);
        }
    }
    // A word may occur with another ending than in the question.
    let is_name = |part: &String| part.chars().all(char::is_alphabetic);
    if missing.iter().any(|part| !is_name(part) || part.chars().any(is_chinese)) {
        return Ok(false);
    }
    let stems: Vec<String> = missing.iter().map(|part| stem(part)).collect();
    let counts = ports.base.term_counts(&stems).await?;
    Ok(counts.iter().all(|count| 0 < *count))
}

/// A text in lower case, letters and digits alone.
fn squeezed(text: &str) -> String {
    folded(text).replace(' ', "")
}

/// The things that a question names, each once, in the order of their kinds: quoted terms, codes,
/// proper names.
fn named_in(question: &str) -> Vec<Named> {
    let mut things = quoted_terms(question);
    things.extend(codes(question).into_iter().map(|code| whole(&code)));
    things.extend(latin_names(question));
    things.extend(chinese_names_in(question).iter().map(|name| whole(name)));
    let mut kept: Vec<Named> = Vec::new();
    for thing in things {
        // A code within a quoted term is named once.
        if !kept.iter().any(|held| held.text.contains(&thing.text)) {
            kept.push(thing);
        }
    }
    kept
}

fn whole(text: &str) -> Named {
    Named { text: text.to_owned(), parts: vec![text.to_owned()] }
}

fn quoted_terms(question: &str) -> Vec<Named> {
    const MARKS: [(char, char); 5] =
        [('“', '”'), ('「', '」'), ('『', '』'), ('《', '》'), ('"', '"')];
    let mut terms = Vec::new();
    for (open, close) in MARKS {
        let mut rest = question;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inside, behind)) = after.split_once(close) else { break };
            let inside = inside.trim();
            if inside.chars().any(char::is_alphanumeric) {
                terms.push(whole(inside));
            }
            rest = behind;
        }
    }
    terms
}

/// Identifiers of letters and digits that begin with a letter: `P-107`, `QY-2023-017`; no names of
/// files.
fn codes(question: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut codes: Vec<String> = Vec::new();
    for run in question.split(|c: char| !is_part(c)) {
        let code = run.trim_matches(['-', '_', '.']);
        let ending = code.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_file = !ending.is_empty() && ending.chars().all(|c| c.is_ascii_alphabetic());
        let first = code.split(['-', '_', '.']).next().unwrap_or_default();
        let is_code = CODE <= code.len()
            && code.starts_with(|c: char| c.is_ascii_alphabetic())
            && code.contains(|c: char| c.is_ascii_digit())
            && month_named(first).is_none();
        if is_code && !is_file && !codes.iter().any(|held| held == code) {
            codes.push(code.to_owned());
        }
    }
    codes
}

/// Runs of words with a capital that are no acronyms, months or days. The first word of an English
/// sentence has a capital anyway, and a title has many.
fn latin_names(question: &str) -> Vec<Named> {
    let is_in_chinese = question.chars().any(is_chinese);
    let tokens: Vec<Token<'_>> =
        tokens(question).into_iter().filter(|token| !token.raw.chars().any(is_chinese)).collect();
    let opens = |token: &Token<'_>| {
        let before = question.get(..token.start).unwrap_or_default();
        let before = before.trim_end_matches(|c: char| !c.is_alphanumeric() && !".?!:".contains(c));
        !is_in_chinese && (before.is_empty() || before.ends_with(['.', '?', '!', ':']))
    };
    let has_capital = |token: &&Token<'_>| token.raw.starts_with(char::is_uppercase);
    let capitals = tokens.iter().skip(1).filter(has_capital).count();
    if !is_in_chinese && tokens.len() < 2 * capitals {
        return Vec::new();
    }
    let names: Vec<bool> =
        tokens.iter().map(|token| is_name_word(token) && !opens(token)).collect();
    let mut things: Vec<Named> = Vec::new();
    let mut run: Vec<(&Token<'_>, bool)> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut flush = |run: &mut Vec<(&Token<'_>, bool)>| {
        let parts: Vec<String> = run
            .iter()
            .filter(|(_, is_name)| *is_name)
            .map(|(token, _)| token.folded.clone())
            .collect();
        if let (Some((first, _)), Some((last, _))) = (run.first(), run.last())
            && !parts.is_empty()
            && seen.insert(parts.clone())
        {
            let text = question.get(first.start..last.end()).unwrap_or_default();
            let bare = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s"));
            things.push(Named { text: bare.unwrap_or(text).to_owned(), parts });
        }
        run.clear();
    };
    for (token, is_name) in tokens.iter().zip(names) {
        let gap = run.last().and_then(|(last, _)| question.get(last.end()..token.start));
        if gap.is_some_and(|gap| !matches!(gap, " " | "-")) {
            flush(&mut run);
        }
        match is_name || (is_acronym(token.raw) && !opens(token)) {
            true => run.push((token, is_name)),
            false => flush(&mut run),
        }
    }
    flush(&mut run);
    things
}

/// Whether a word has a capital as a name has: `Dunlin`, but not `CEO`, `May` or `Monday`.
fn is_name_word(token: &Token<'_>) -> bool {
    let word = token.folded.as_str();
    token.raw.starts_with(char::is_uppercase)
        && token.raw.chars().any(char::is_lowercase)
        && !token.raw.chars().any(|c| c.is_ascii_digit())
        && 2 < word.chars().count()
        && !is_stop_word(word)
        && month_named(word).is_none()
        && !WEEKDAYS.contains(&word)
}

fn is_acronym(word: &str) -> bool {
    1 < word.chars().count() && word.chars().all(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_names_and_quoted_terms_are_named() {
        for (question, named) in [
            ("When was pump P-107 last overhauled?", "P-107"),
            ("How many seats does the MV Dunlin have?", "MV Dunlin"),
            ("Who runs Fennel Bay's kiosk? Is Marit there?", "Fennel Bay, Marit"),
            ("What is a “dry dock”?", "dry dock"),
            ("Who is the CEO in May?", ""),
            ("What Is The Yearly Fee Of It?", ""),
            ("See minutes-2026-03.md of 2nd April", ""),
            ("P-207上次是什么时候保养的？", "P-207"),
            ("谁认识娄景衡和“谷雨餐饮”？", "谷雨餐饮, 娄景衡"),
            ("门禁卡丢了要赔多少钱？", ""),
        ] {
            let found: Vec<String> = named_in(question).into_iter().map(|it| it.text).collect();
            assert_eq!(found.join(", "), named, "{question}");
        }
    }

    #[test]
    fn a_name_is_looked_for_by_its_words() {
        let named = named_in("How many seats does the MV Dunlin have?");
        assert_eq!(
            named,
            [Named { text: "MV Dunlin".to_owned(), parts: vec!["dunlin".to_owned()] }]
        );
    }
}
