//! Lists the names of a document, and the names of other documents in its text.
//!
//! They are the two ends of `refers_to` edges (PIKE-RAG §3.1); an edge connects equal names.

use std::collections::BTreeSet;

use pikerag_knowledge::uri::stem;
use pikerag_knowledge::{NameKey, ReferenceKind, Source};
use pikerag_language::is_chinese;
use pikerag_language::names::{LONGEST, Name, joined, names_in, title_names};
use pikerag_language::{content_words, fold};

use crate::identifiers::{articles, file_names, identifiers, law_of_title};
use crate::keys::{address, key};

/// Weaker names of a title, in hundredths, are no reference: `Paris` for `Paris, Texas`.
const SURE: u8 = 80;
/// Metadata with a document's address, and metadata with its number.
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

/// All names of a document, sorted. Names without a kind are parts of its own title; a mention of
/// them in its own text does not mean another document.
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
            add_numbers(stem(path), &mut known);
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

/// Whether the words are too specific to occur by accident: two words with meaning, or four Chinese
/// characters.
fn is_distinctive(name: &[String]) -> bool {
    let text = joined(name);
    let chinese = text.chars().filter(|c| is_chinese(*c)).count();
    4 <= chinese || (chinese == 0 && 2 <= content_words(&text).len())
}

/// The names in a text that may mean other documents, besides its proper names: document numbers,
/// file names, titles in quotation marks, and names without a first word that only begins the
/// sentence.
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

/// The texts between quotation marks, each on one line.
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
