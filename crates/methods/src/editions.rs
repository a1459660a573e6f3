//! Recognises editions of one document among those of an answer: rules, manuals, price lists, of
//! which the newer replaces the older.
//!
//! Everything is computed from stored names, titles and texts when a question is answered. Only
//! documents whose names are equal without dates and version marks are read.

mod edition;
mod kinds;
mod listing;
mod marks;
mod order;
mod reading;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use pikerag_knowledge::uri::file_path;
use pikerag_knowledge::{
    Answer, Chunk, ChunkId, Context, CorpusReader, Question, ReplacedBy, SourceId, StoreError,
};
use pikerag_language::pattern;
use pikerag_narrate::{InWords, Language};
use pikerag_reason::{Claim, Reading};

use self::edition::{Edition, name_key, replaces_none, without_marks, words_of};
use self::kinds::{Kind, kind_of};
pub use self::listing::{ReplacedDocument, replaced_documents};
use self::marks::{dates, in_plain_form, versions, written};
use self::order::order;
pub use self::reading::ReadEditions;
use crate::ports::{Ports, SolveError};

/// Documents of one name that are compared, at most.
const COMPARED: usize = 8;
/// Cited documents whose other editions are sought, and passages that a search returns, at most.
const SOUGHT: usize = 8;
const FOUND: usize = 32;
/// The least share of the words of the shorter of two quotes on one subject that the other has.
const SAME_SUBJECT: f32 = 0.25;

pattern!(
    ASKS_FOR_EARLIER,
    r"\b(?:old|older|previous|former|earlier|prior)\s+(?:version|edition|polic|rule|manual|handbook|guide|price|instruction)|旧版|老版|旧的|以前的|此前的|原先的|修订前"
);

/// Puts the quotes of a newer edition before those of the edition that it replaces; the other way
/// round if the question names the older one, its date or its version. If the edition that comes
/// first is in the context and not quoted on the same subject, `quote_from` quotes it.
///
/// # Errors
/// The base cannot be read.
pub(crate) async fn newer_first(
    ports: &Ports,
    read: &ReadEditions,
    question: &Question,
    context: &Context,
    reading: &mut Reading,
    quote_from: impl Fn(&Context) -> Reading,
) -> Result<(), SolveError> {
    if reading.claims.is_empty() {
        return Ok(());
    }
    let found = replacements(&*ports.base, read, &of_chunks(in_context(context))).await?;
    if found.is_empty() {
        return Ok(());
    }
    let plain = in_plain_form(question.query());
    // By document, the one whose quotes come before its own.
    let ahead: HashMap<SourceId, SourceId> = found
        .iter()
        .map(|found| match found.is_asked_for(&plain) {
            true => (found.newer, found.older),
            false => (found.older, found.newer),
        })
        .collect();
    let sources: HashMap<ChunkId, SourceId> =
        in_context(context).map(|chunk| (chunk.id, chunk.source)).collect();
    let mut quotes = lines_of(reading);
    // The place behind the quote that is looked at. A quote that is put before it moves both on.
    let mut at = 0;
    while let Some((claim, _)) = quotes.get(at) {
        let own = claim.clone();
        at += 1;
        let Some(first) = sources.get(&own.chunk).and_then(|source| ahead.get(source)) else {
            continue;
        };
        let comes_first = |(claim, _): &(Claim, String)| {
            sources.get(&claim.chunk) == Some(first) && are_on_one_subject(claim, &own)
        };
        match quotes.iter().position(comes_first) {
            Some(place) if at <= place => {
                let moved = quotes.remove(place);
                quotes.insert(at - 1, moved);
                at += 1;
            }
            Some(_) => {}
            None => {
                let part = in_context(context).filter(|chunk| chunk.source == *first);
                let further = lines_of(&quote_from(&Context::of(1, part.cloned())));
                if let Some(quote) = further.into_iter().next().filter(comes_first) {
                    quotes.insert(at - 1, quote);
                    at += 1;
                }
            }
        }
    }
    let (claims, lines): (Vec<Claim>, Vec<String>) = quotes.into_iter().unzip();
    reading.answer = lines.join("\n");
    reading.claims = claims;
    Ok(())
}

/// Marks the citations of documents that a newer edition replaces; the newer one needs no citation.
///
/// # Errors
/// The base cannot be read.
pub async fn mark_replaced(
    ports: &Ports,
    read: &ReadEditions,
    answer: &mut Answer,
) -> Result<(), SolveError> {
    if answer.citations.is_empty() {
        return Ok(());
    }
    let base = ports.base.as_ref();
    let mut ids: Vec<ChunkId> = answer.citations.iter().map(|citation| citation.chunk).collect();
    let mut seen = HashSet::new();
    ids.retain(|id| seen.insert(*id));
    let cited = base.chunks(&ids).await?;
    let mut documents = of_chunks(cited.iter().chain(in_context(&answer.context)));
    let cited_documents = of_chunks(&cited);
    let sought = cited_documents.iter().filter(|document| document.may_have_editions());
    let titles: Vec<String> =
        sought.take(SOUGHT).map(|document| without_marks(&document.title)).collect();
    for title in &titles {
        let found = base.matching_chunks(title, FOUND).await?;
        let found: Vec<ChunkId> = found.into_iter().map(|found| found.item).collect();
        for other in of_chunks(&base.chunks(&found).await?) {
            if !documents.iter().any(|known| known.source == other.source) {
                documents.push(other);
            }
        }
    }
    let found = replacements(base, read, &documents).await?;
    let sources: HashMap<ChunkId, SourceId> =
        cited.iter().map(|chunk| (chunk.id, chunk.source)).collect();
    for citation in &mut answer.citations {
        let source = sources.get(&citation.chunk);
        let by = found.iter().find(|found| source == Some(&found.older));
        citation.replaced_by = by.map(|found| found.by.clone());
    }
    Ok(())
}

/// The context with a mark in the titles of documents that another document of the context
/// replaces, for a prompt; `None` if there are none.
///
/// # Errors
/// The base cannot be read.
pub(crate) async fn with_marked_titles(
    ports: &Ports,
    read: &ReadEditions,
    question: &Question,
    context: &Context,
) -> Result<Option<Context>, SolveError> {
    with_marked_titles_among(ports, read, question, context, context).await
}

/// As [`with_marked_titles`], where the replacing documents may be among other known passages.
pub(crate) async fn with_marked_titles_among(
    ports: &Ports,
    read: &ReadEditions,
    question: &Question,
    known: &Context,
    context: &Context,
) -> Result<Option<Context>, SolveError> {
    let mut found = replacements(&*ports.base, read, &of_chunks(in_context(known))).await?;
    found.retain(|found| in_context(context).any(|chunk| chunk.source == found.older));
    if found.is_empty() {
        return Ok(None);
    }
    let language = Language::of(question.query());
    let mut marked = context.clone();
    for held in &mut marked.chunks {
        let chunk = &mut held.chunk;
        let Some(found) = found.iter().find(|found| found.older == chunk.source) else { continue };
        let title = format!("{} [{}]", chunk.title, found.by.in_words(language));
        // A full title omits a first heading that repeats the title.
        if let Some(first) = chunk.headings.first_mut().filter(|first| **first == chunk.title) {
            first.clone_from(&title);
        }
        chunk.title = title;
    }
    Ok(Some(marked))
}

/// A document that a chunk belongs to.
struct Document {
    source: SourceId,
    uri: String,
    title: String,
}

impl Document {
    /// Whether its name or title is that of a rule, or has a version or a date.
    fn may_have_editions(&self) -> bool {
        let has_mark = || {
            let plain = self.names().map(|name| in_plain_form(&name));
            plain.iter().any(|name| !versions(name).is_empty() || !dates(name).is_empty())
        };
        !self.is_record() && (self.kinds().contains(&Some(Kind::Rule)) || has_mark())
    }

    /// Whether its name or title is that of a document that replaces none.
    fn is_record(&self) -> bool {
        replaces_none(&self.uri) || self.kinds().contains(&Some(Kind::Record))
    }

    fn kinds(&self) -> [Option<Kind>; 2] {
        self.names().map(|name| kind_of(&without_marks(&name)))
    }

    /// The name of its file, and its title.
    fn names(&self) -> [String; 2] {
        let path = file_path(&self.uri);
        let name = path.rsplit(['/', '\\']).next().unwrap_or(&path).to_owned();
        [name, self.title.clone()]
    }
}

/// A document, and the newest edition that replaces it.
struct Replacement {
    older: SourceId,
    newer: SourceId,
    by: ReplacedBy,
    editions: (Arc<Edition>, Arc<Edition>),
}

impl Replacement {
    /// Whether a question in plain form names the older edition.
    fn is_asked_for(&self, question: &str) -> bool {
        let (older, newer) = &self.editions;
        older.is_named_in(question, newer) || ASKS_FOR_EARLIER.is_match(question)
    }
}

fn in_context(context: &Context) -> impl Iterator<Item = &Chunk> {
    context.chunks.iter().map(|held| &held.chunk)
}

/// The documents of chunks, each once, in order.
fn of_chunks<'a>(chunks: impl IntoIterator<Item = &'a Chunk>) -> Vec<Document> {
    let mut seen = HashSet::new();
    let first = chunks.into_iter().filter(|chunk| seen.insert(chunk.source));
    let document = |chunk: &Chunk| Document {
        source: chunk.source,
        uri: chunk.uri.clone(),
        title: chunk.title.clone(),
    };
    first.map(document).collect()
}

/// The documents that others of the list replace. Documents inside a file, such as attachments and
/// records, are not compared.
async fn replacements(
    base: &dyn CorpusReader,
    read: &ReadEditions,
    documents: &[Document],
) -> Result<Vec<Replacement>, StoreError> {
    let mut by_name: BTreeMap<Vec<String>, Vec<&Document>> = BTreeMap::new();
    for document in documents {
        if !document.uri.contains('#') && !document.is_record() {
            by_name.entry(name_key(&file_path(&document.uri))).or_default().push(document);
        }
    }
    let mut found = Vec::new();
    for mut group in by_name.into_values() {
        if group.len() < 2 {
            continue;
        }
        group.truncate(COMPARED);
        let editions = read.editions(base, &group).await?;
        for (older, own) in &editions {
            let mut newest: Option<(&Document, &Arc<Edition>)> = None;
            for (newer, theirs) in &editions {
                let replaces = |held: &Edition| order(theirs, held) == Some(Ordering::Greater);
                if replaces(own) && newest.is_none_or(|(_, held)| replaces(held)) {
                    newest = Some((*newer, theirs));
                }
            }
            if let Some((newer, theirs)) = newest {
                found.push(Replacement {
                    older: older.source,
                    newer: newer.source,
                    by: replaced_by(newer, theirs, own),
                    editions: (Arc::clone(own), Arc::clone(theirs)),
                });
            }
        }
    }
    Ok(found)
}

fn replaced_by(newer: &Document, edition: &Edition, older: &Edition) -> ReplacedBy {
    let version = edition.version.as_ref().filter(|own| older.version.as_ref() != Some(*own));
    let date = edition.valid_from.or(edition.dated).or(edition.stated);
    ReplacedBy {
        uri: newer.uri.clone(),
        title: newer.title.clone(),
        version: version.map(|version| written(version)),
        date: date.map(|date| date.to_string()),
    }
}

/// The claims of a reading, each with its line of the answer.
fn lines_of(reading: &Reading) -> Vec<(Claim, String)> {
    let lines: Vec<&str> = reading.answer.lines().collect();
    let is_a_line_each = lines.len() == reading.claims.len();
    let line = |(at, claim): (usize, &Claim)| {
        let own = lines.get(at).filter(|_| is_a_line_each).map(|line| (*line).to_owned());
        let quote = || claim.quote.split_whitespace().collect::<Vec<_>>().join(" ");
        (claim.clone(), own.unwrap_or_else(quote))
    };
    reading.claims.iter().enumerate().map(line).collect()
}

fn are_on_one_subject(one: &Claim, other: &Claim) -> bool {
    let (one, other) = (words_of(&one.quote), words_of(&other.quote));
    let common = one.intersection(&other).count();
    0 < common && SAME_SUBJECT * one.len().min(other.len()) as f32 <= common as f32
}

#[cfg(test)]
mod tests;
