//! Finds the things that a question names and no document mentions: codes, proper names, quoted terms.

use std::collections::BTreeSet;

use pikerag_knowledge::{Chunk, ChunkId, Context, Which};
use pikerag_language::fold::{Token, apart, folded, tokens};
use pikerag_language::{chinese_names_in, is_chinese, is_stop_word, month_named, narrow, stem};
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
/// Words beside a name that documents may leave out or replace: titles, legal forms. Languages name
/// the form of a document rather than a thing in it.
const BESIDE_NAMES: [&str; 25] = [
    "mrs",
    "miss",
    "prof",
    "professor",
    "doctor",
    "captain",
    "sir",
    "madam",
    "ltd",
    "limited",
    "inc",
    "corp",
    "gmbh",
    "llc",
    "chinese",
    "english",
    "french",
    "german",
    "italian",
    "japanese",
    "korean",
    "mandarin",
    "portuguese",
    "russian",
    "spanish",
];

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
    let is_declared = |thing: &Named| {
        synonyms.iter().any(|tag| tag.tag.contains(&thing.text) || thing.text.contains(&tag.tag))
    };
    things.retain(|thing| !is_declared(thing));
    let passages: Vec<Searched> =
        context.chunks.iter().map(|held| Searched::new(&text_of(&held.chunk))).collect();
    // Names of all documents, read once and only if no passage mentions a thing.
    let mut names: Option<Vec<String>> = None;
    let mut absent = Vec::new();
    for thing in things {
        if !is_mentioned(ports, &thing, &passages, &mut names).await? {
            absent.push(thing.text);
        }
    }
    Ok(absent)
}

/// Whether a document mentions a thing: one of these passages or one with its words, or the name,
/// the title or the metadata of a document. A code counts in any notation (`P107` for `P-107`), a
/// term with any endings; of a name, each part must occur somewhere.
async fn is_mentioned(
    ports: &Ports,
    thing: &Named,
    passages: &[Searched],
    names: &mut Option<Vec<String>>,
) -> Result<bool, SolveError> {
    let mut missing: Vec<Sought> = thing.parts.iter().map(|part| Sought::new(part)).collect();
    let mut strike_out = |text: &Searched| {
        missing.retain(|sought| !sought.is_in(text));
        missing.is_empty()
    };
    if passages.iter().any(&mut strike_out) {
        return Ok(true);
    }
    let mut queries = thing.parts.clone();
    queries.push(apart(&thing.text));
    if 1 < thing.parts.len() {
        queries.push(thing.parts.concat());
    }
    queries.dedup();
    let mut is_cut = false;
    for query in &queries {
        let found = ports.base.matching_chunks(query, SEARCHED).await?;
        is_cut |= found.len() == SEARCHED;
        let ids: Vec<ChunkId> = found.into_iter().map(|hit| hit.item).collect();
        let chunks = ports.base.chunks(&ids).await?;
        if chunks.iter().any(|chunk| strike_out(&Searched::new(&text_of(chunk)))) {
            return Ok(true);
        }
    }
    let names = match names {
        Some(names) => names,
        None => names.insert(names_of_documents(ports).await?),
    };
    if names.iter().any(|name| strike_out(&Searched::new(name))) {
        return Ok(true);
    }
    // A word may occur with another ending than in the question, and a term of frequent words in a
    // passage that was not searched.
    let mut stems = Vec::new();
    for sought in missing {
        let is_open = sought.is_word() || (is_cut && 1 < sought.stems.len());
        if !is_open {
            return Ok(false);
        }
        stems.extend(sought.stems);
    }
    let counts = ports.base.term_counts(&stems).await?;
    Ok(counts.iter().all(|count| 0 < *count))
}

/// The name, the title and the metadata of each document.
async fn names_of_documents(ports: &Ports) -> Result<Vec<String>, SolveError> {
    let sources = ports.base.sources(Which::All).await?;
    let names = sources.into_iter().map(|source| {
        let metadata: Vec<&str> = source.metadata.values().map(String::as_str).collect();
        // The fragment of a URI names a record, as in `incidents.jsonl#INC-205`.
        format!("{}\n{}\n{}", source.uri, source.title, metadata.join("\n"))
    });
    Ok(names.collect())
}

fn text_of(chunk: &Chunk) -> String {
    format!("{}\n{}\n{}", chunk.full_title(), chunk.uri, chunk.searched_text())
}

/// A part of a thing, in the forms in which a text may have it.
struct Sought {
    /// Its letters and digits in lower case.
    squeezed: String,
    /// The stems of its words; empty unless it is a name or a term of several words.
    stems: Vec<String>,
    /// Whether it is a number of a version: `1.5`.
    is_number: bool,
    part: String,
}

impl Sought {
    fn new(part: &str) -> Self {
        let is_name = part.chars().all(char::is_alphabetic) && !part.chars().any(is_chinese);
        let has_stems = is_name || part.trim().contains(' ');
        let stems = match has_stems {
            true => tokens(part).iter().map(|token| stem(&token.folded)).collect(),
            false => Vec::new(),
        };
        Self {
            squeezed: squeezed(part),
            stems,
            is_number: is_version_number(part),
            part: part.to_owned(),
        }
    }

    /// Whether it is one word of letters.
    fn is_word(&self) -> bool {
        self.stems.len() == 1
    }

    fn is_in(&self, text: &Searched) -> bool {
        if self.is_number {
            return holds_number(&text.plain, &self.part);
        }
        let count = self.stems.len();
        text.squeezed.contains(&self.squeezed)
            || (1 < count && text.stems.windows(count).any(|words| words == self.stems.as_slice()))
    }
}

/// A text in the forms in which parts are sought in it.
struct Searched {
    plain: String,
    squeezed: String,
    stems: Vec<String>,
}

impl Searched {
    fn new(text: &str) -> Self {
        let tokens = tokens(text);
        Self {
            plain: text.chars().map(narrow).collect(),
            squeezed: tokens.iter().map(|token| token.folded.as_str()).collect(),
            stems: tokens.iter().map(|token| stem(&token.folded)).collect(),
        }
    }
}

/// A text in lower case, letters and digits alone.
fn squeezed(text: &str) -> String {
    folded(text).replace(' ', "")
}

fn is_version_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Whether a text has a number that is not a part of a longer one; `1.5` is in `1.5.2`, but not in
/// `11.5` or `2.1.5`.
fn holds_number(text: &str, number: &str) -> bool {
    text.match_indices(number).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let before = before.strip_suffix('.').unwrap_or(before);
        let after = text.get(at + number.len()..).unwrap_or_default();
        let is_digit = |c: char| c.is_ascii_digit();
        !before.ends_with(is_digit) && !after.starts_with(is_digit)
    })
}

/// The things that a question names, each once, in the order of their kinds: quoted terms, codes,
/// proper names.
fn named_in(question: &str) -> Vec<Named> {
    let mut things = quoted_terms(question);
    things.extend(codes(question).into_iter().map(coded));
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

/// A code to look for; of a version its number alone, because documents write `v1.5` in many ways.
fn coded(code: String) -> Named {
    let number = code.strip_prefix(['v', 'V']).filter(|number| is_version_number(number));
    let parts = vec![number.unwrap_or(&code).to_owned()];
    Named { text: code, parts }
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
        // The plural of a code: `KX-40s`.
        let singular =
            code.strip_suffix('s').filter(|bare| bare.ends_with(|c: char| c.is_ascii_digit()));
        let code = singular.unwrap_or(code);
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
        && !BESIDE_NAMES.contains(&word)
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
            ("What discount did Mrs Cole get on KX-40s?", "KX-40, Cole"),
            ("Does the German guide of Olvera Textiles Ltd hold?", "Olvera Textiles"),
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

    #[test]
    fn other_notations_and_endings_are_mentions() {
        for (part, text) in [
            ("KX40", "The KX-40 is a crane."),
            ("QY-2023-017", "合同编号：ＱＹ－２０２３－０１７"),
            ("table cloths", "25 table cloth, linen"),
            ("dry dock", "Two Dry-Docks are closed."),
            ("1.5", "WeaveDraft 1.5 adds colours."),
            ("1.5", "in version v.1.5.2"),
            ("weave", "WeaveDraft"),
        ] {
            assert!(Sought::new(part).is_in(&Searched::new(text)), "{part} in {text}");
        }
        for (part, text) in [
            ("KX-50", "The KX-40 has 50 wheels."),
            ("1.5", "versions 11.5, 2.1.5 and 1.55"),
            ("dry dock", "The dock is dry."),
        ] {
            assert!(!Sought::new(part).is_in(&Searched::new(text)), "{part} in {text}");
        }
    }

    #[test]
    fn a_version_is_looked_for_by_its_number() {
        let parts = |code: &str| coded(code.to_owned()).parts;
        assert_eq!(parts("v2.12.0"), ["2.12.0"]);
        assert_eq!(parts("VT-12"), ["VT-12"]);
    }
}
