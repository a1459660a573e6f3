//! What does a document go by, and what may a text call other documents? The two ends of `refers_to`
//! edges (PIKE-RAG §3.1): both are names, and an edge stands where they meet.

use std::collections::BTreeSet;

use pikerag_knowledge::{NameKey, ReferenceKind, Source};
use pikerag_language::is_chinese;
use pikerag_language::names::{LONGEST, Name, joined, names_in, title_names};
use pikerag_language::{content_words, fold};

use crate::identifiers::{articles, file_names, identifiers, law_of_title};
use crate::keys::{address, key};

/// Names of a title that are weaker than this are no reference (in hundredths): `Paris` for `Paris, Texas`.
const SURE: u8 = 80;
/// Metadata that give a document's address, and those that give its number.
const ADDRESSES: [&str; 5] = ["url", "uri", "link", "canonical", "source_url"];
const NUMBERS: [&str; 11] = [
    "id",
    "identifier",
    "number",
    "doi",
    "isbn",
    "document number",
    "doc_number",
    "standard",
    "文号",
    "标准号",
    "编号",
];

/// All names that a document goes by, sorted. Those without a kind are parts of its own title: where it
/// mentions them, it does not speak of others.
pub(crate) fn known_as(path: &str, source: &Source) -> Vec<(NameKey, Option<ReferenceKind>)> {
    let mut known = BTreeSet::new();
    known.insert((address(&source.uri), Some(ReferenceKind::Link)));
    for (name, value) in &source.metadata {
        let name = name.to_lowercase();
        if ADDRESSES.contains(&name.as_str()) && value.contains("://") {
            known.insert((address(value.trim()), Some(ReferenceKind::Link)));
        }
        if NUMBERS.contains(&name.as_str()) {
            add_numbers(value, &mut known);
        }
    }
    match source.uri.split_once('#') {
        Some((_, fragment)) => add_numbers(fragment, &mut known),
        None => {
            let file = path.rsplit('/').next().unwrap_or(path);
            let names = title_names(file);
            known.extend(names.iter().map(|(name, _)| (key(name), Some(ReferenceKind::File))));
            add_numbers(file.rsplit_once('.').map_or(file, |(stem, _)| stem), &mut known);
        }
    }
    add_numbers(&source.title, &mut known);
    if let Some((law, number)) = law_of_title(&source.title) {
        let name = NameKey::of_folded(&format!("{law} {number}"));
        known.insert((name, Some(ReferenceKind::Identifier)));
    }
    for (name, weight) in title_names(&source.title) {
        let kind = (SURE <= weight && is_distinctive(&name)).then_some(ReferenceKind::Title);
        known.insert((key(&name), kind));
    }
    known.extend(names_in(&source.title).iter().map(|name| (key(name), None)));
    known.into_iter().collect()
}

fn add_numbers(text: &str, known: &mut BTreeSet<(NameKey, Option<ReferenceKind>)>) {
    for number in identifiers(text, true) {
        known.insert((NameKey::of_folded(&number), Some(ReferenceKind::Identifier)));
    }
}

/// Whether nobody writes these words by accident: two that carry meaning, or four Chinese characters.
fn is_distinctive(name: &[String]) -> bool {
    let text = joined(name);
    let chinese = text.chars().filter(|c| is_chinese(*c)).count();
    4 <= chinese || (chinese == 0 && 2 <= content_words(&text).len())
}

/// What a text may call other documents, besides the proper names in it: their numbers, their files,
/// titles in quotation marks, and names whose first word only begins the sentence.
pub(crate) fn mentioned(text: &str, source: &Source, names: &BTreeSet<Name>) -> Vec<NameKey> {
    let mut found: Vec<NameKey> =
        identifiers(text, false).iter().map(|number| NameKey::of_folded(number)).collect();
    if text.contains('条') {
        let own = law_of_title(&source.title).map_or_else(|| source.title.clone(), |(law, _)| law);
        found.extend(articles(text, Some(&own)).iter().map(|name| NameKey::of_folded(name)));
    }
    found.extend(file_names(text).iter().map(|file| key(&folded(file))));
    for (open, close) in [('“', '”'), ('"', '"'), ('‘', '’'), ('«', '»')] {
        for quoted in quoted(text, open, close) {
            let name = folded(quoted);
            if (2..=LONGEST).contains(&name.len()) {
                found.push(key(&name));
            }
        }
    }
    let tails = names.iter().filter(|name| (3..=LONGEST).contains(&name.len()));
    found.extend(tails.filter_map(|name| name.get(1..)).map(key));
    found
}

fn folded(text: &str) -> Name {
    fold::tokens(text).into_iter().map(|token| token.folded).collect()
}

/// What stands between quotation marks, on one line.
fn quoted(text: &str, open: char, close: char) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inside, after)) = after.split_once(close) else { break };
            if inside.len() <= 200 {
                found.push(inside);
            }
            rest = after;
        }
    }
    found
}
