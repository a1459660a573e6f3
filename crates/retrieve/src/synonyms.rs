//! Adds the documents' own words to a query, by pairs that a person declared; every search uses
//! them (PIKE-RAG §5.2.2: colloquial and professional words).

use std::borrow::Cow;
use std::collections::HashSet;

use pikerag_knowledge::{MappedTag, NameKey, Origin, pairs_from};
use pikerag_language::fold::tokens;
use pikerag_language::names::tag_words;

use crate::finder::{Finder, RetrieveError};

/// The most words of a phrase that is looked for in a query.
const LONGEST: usize = 8;
/// The most words of a query that are examined.
const WORDS: usize = 1000;

/// A run of words of a text, unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase<'a> {
    /// The first of its words, counted from 0.
    pub start: usize,
    /// One past the last of its words.
    pub end: usize,
    /// Its characters in the text.
    pub text: &'a str,
    /// The key of its look-up.
    pub key: NameKey,
}

/// The runs of up to eight words of a text's first thousand words, by place, at each place the
/// longest first.
pub fn phrases(text: &str) -> Vec<Phrase<'_>> {
    let mut words = tokens(text);
    words.truncate(WORDS);
    let mut phrases = Vec::new();
    for (start, first) in words.iter().enumerate() {
        for (length, last) in words.iter().skip(start).take(LONGEST).enumerate().rev() {
            let shown = text.get(first.start..last.end()).unwrap_or_default();
            let words = tag_words(shown);
            if !words.is_empty() {
                let key = NameKey::of_folded(&words);
                phrases.push(Phrase { start, end: start + length + 1, text: shown, key });
            }
        }
    }
    phrases
}

/// The words of a query that a person declared synonyms of words in the documents (`tags pair`),
/// with those words; by place, the longest at each place.
///
/// # Errors
/// The base cannot be read.
pub async fn declared(finder: Finder<'_>, query: &str) -> Result<Vec<MappedTag>, RetrieveError> {
    let phrases = phrases(query);
    let keys: Vec<NameKey> = phrases.iter().map(|phrase| phrase.key).collect();
    let pairs = pairs_from(finder.base, &keys).await?;
    let (mut tags, mut reached) = (Vec::new(), 0);
    for (phrase, mut pairs) in phrases.into_iter().zip(pairs) {
        pairs.retain(|pair| pair.origin == Origin::Declared);
        let Some(first) = pairs.first().filter(|_| reached <= phrase.start) else { continue };
        reached = phrase.end;
        tags.push(MappedTag {
            tag: phrase.text.to_owned(),
            class: first.class.clone(),
            to: pairs.into_iter().map(|pair| pair.professional).collect(),
        });
    }
    Ok(tags)
}

/// A query, followed by these words of the documents unless it holds them already; the query itself
/// if none are left.
pub fn with_words<'q>(query: &'q str, tags: &[MappedTag]) -> Cow<'q, str> {
    let mut held: HashSet<NameKey> = phrases(query).into_iter().map(|phrase| phrase.key).collect();
    let words = tags.iter().flat_map(|tag| &tag.to);
    let new: Vec<&str> = words
        .filter(|word| held.insert(NameKey::of_folded(&tag_words(word))))
        .map(String::as_str)
        .collect();
    match new.is_empty() {
        true => Cow::Borrowed(query),
        false => Cow::Owned(format!("{query} ({})", new.join("; "))),
    }
}

/// A query in its own words and in their declared synonyms.
pub(crate) async fn in_documents_words<'q>(
    finder: Finder<'_>,
    query: &'q str,
) -> Result<Cow<'q, str>, RetrieveError> {
    let tags = declared(finder, query).await?;
    Ok(if tags.is_empty() { Cow::Borrowed(query) } else { with_words(query, &tags) })
}
