//! Finds files whose text repeats that of another file: copies, print versions, old editions.
//!
//! Each new file is compared with the files whose passages its own words find, so the cost depends
//! on the new files alone. Files of several documents are not compared.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::uri::file_path;
use pikerag_knowledge::{
    Chunk, ChunkId, KnowledgeWriter, Source, SourceId, StoreError, Which, document_uri,
};
use pikerag_language::content_words;
use pikerag_language::repeats::{Likeness, Wording};

use crate::outcome::{Outcome, Repeat, Report};
use crate::params::{Params, Repeats};
use crate::tools::Tools;

/// The chunks of a file among which the longest is sought.
const FIRST: usize = 16;
/// Words of a passage by which others are found.
const WORDS: usize = 16;
/// The most passages that are compared with that of a new file.
const FOUND: usize = 8;
/// Longer texts, in bytes, are not compared.
const LONGEST: usize = 8 << 20;
/// The most texts whose wording is kept for the next comparison.
const KEPT: usize = 64;

/// Lists the new files that repeat others, and the others that they repeat. Where each text is
/// indexed once, it deletes the data of the files that repeat. Runs before the stages, so that they
/// process nothing twice.
pub(super) async fn find_repeats(
    tools: &Tools,
    params: &Params,
    report: &mut Report,
) -> Result<(), StoreError> {
    let is_new = |outcome: &Outcome| matches!(outcome, Outcome::Stored { documents: 1, .. });
    let new: Vec<String> = report
        .files
        .iter()
        .filter(|(_, outcome)| is_new(outcome))
        .map(|(path, _)| path.clone())
        .collect();
    if new.is_empty() {
        return Ok(());
    }
    let base = tools.base.as_ref();
    base.refresh().await?;
    let mut texts = Texts { base, wordings: HashMap::new(), documents: None };
    let order: HashMap<&str, usize> =
        new.iter().enumerate().map(|(place, path)| (path.as_str(), place)).collect();
    let (mut compared, mut repeating) = (HashSet::new(), HashSet::new());
    for (at, path) in new.iter().enumerate() {
        for other in texts.similar_to(path).await? {
            let pair = if *path < other {
                (path.clone(), other.clone())
            } else {
                (other.clone(), path.clone())
            };
            if repeating.contains(path) || repeating.contains(&other) || !compared.insert(pair) {
                continue;
            }
            // The earlier file stays: one that was in the base before, then the first of this run.
            let is_later = order.get(other.as_str()).is_none_or(|place| *place < at);
            let (later, earlier) = if is_later { (path, &other) } else { (&other, path) };
            let Some((file, of, likeness)) = texts.relation(later, earlier).await? else {
                continue;
            };
            // A file that is gone from the disk is no reason to leave another out.
            if params.gone.contains(&of) {
                continue;
            }
            repeating.insert(file.clone());
            let is_left_out = params.repeats == Repeats::Once && likeness == Likeness::Repeated;
            if is_left_out {
                base.delete_file(&file).await?;
            }
            report.repeats.push(Repeat {
                file,
                of,
                is_whole: likeness == Likeness::Repeated,
                is_left_out,
            });
        }
    }
    Ok(())
}

/// The texts of the base in the form in which they are compared.
struct Texts<'a> {
    base: &'a dyn KnowledgeWriter,
    /// By file; `None` for texts that are too short or too long.
    wordings: HashMap<String, Option<Wording>>,
    /// The documents of each file, counted when first needed.
    documents: Option<HashMap<String, usize>>,
}

impl Texts<'_> {
    /// Files with a passage whose words resemble the longest of this file, the most similar first.
    async fn similar_to(&self, path: &str) -> Result<Vec<String>, StoreError> {
        let source = SourceId::of(&document_uri(path, ""));
        let own = self.base.first_chunks(source, FIRST).await?;
        let Some(longest) = own.iter().max_by_key(|chunk| chunk.text.len()) else {
            return Ok(Vec::new());
        };
        let mut words = content_words(&longest.text);
        words.truncate(WORDS);
        let found = self.base.matching_chunks(&words.join(" "), FOUND).await?;
        let ids: Vec<ChunkId> = found.into_iter().map(|found| found.item).collect();
        let mut similar: Vec<String> = Vec::new();
        for Chunk { uri, text, source: of, .. } in self.base.chunks(&ids).await? {
            let file = file_path(&uri);
            let is_alike =
                of != source && has_most_words(&words, &text) && !similar.contains(&file);
            if is_alike && file != path {
                similar.push(file);
            }
        }
        Ok(similar)
    }

    /// The file that repeats the other, that other, and how; the later file is preferred.
    async fn relation(
        &mut self,
        later: &str,
        earlier: &str,
    ) -> Result<Option<(String, String, Likeness)>, StoreError> {
        if KEPT < self.wordings.len() {
            self.wordings.clear();
        }
        for path in [later, earlier] {
            self.read(path).await?;
        }
        let wording = |path: &str| self.wordings.get(path).and_then(Option::as_ref);
        let (Some(one), Some(other)) = (wording(later), wording(earlier)) else { return Ok(None) };
        let (ahead, back) = (one.likeness_to(other), other.likeness_to(one));
        let found = match (ahead, back) {
            (Some(Likeness::Repeated), _) => (later, earlier, Likeness::Repeated),
            (_, Some(Likeness::Repeated)) => (earlier, later, Likeness::Repeated),
            (Some(likeness), _) => (later, earlier, likeness),
            (_, Some(likeness)) => (earlier, later, likeness),
            (None, None) => return Ok(None),
        };
        // Counted last, because it reads the list of all documents.
        for path in [later, earlier] {
            if self.documents_of(path).await? != 1 {
                return Ok(None);
            }
        }
        let (file, of, likeness) = found;
        Ok(Some((file.to_owned(), of.to_owned(), likeness)))
    }

    async fn read(&mut self, path: &str) -> Result<(), StoreError> {
        if self.wordings.contains_key(path) {
            return Ok(());
        }
        let source = SourceId::of(&document_uri(path, ""));
        let wording = match self.base.sources(Which::Of(&[source])).await?.is_empty() {
            true => None,
            false => {
                let text = self.base.source_text(source).await?;
                if text.len() <= LONGEST { Wording::of(&text) } else { None }
            }
        };
        self.wordings.insert(path.to_owned(), wording);
        Ok(())
    }

    async fn documents_of(&mut self, path: &str) -> Result<usize, StoreError> {
        if self.documents.is_none() {
            let mut documents: HashMap<String, usize> = HashMap::new();
            for Source { uri, .. } in self.base.sources(Which::All).await? {
                *documents.entry(file_path(&uri)).or_default() += 1;
            }
            self.documents = Some(documents);
        }
        let documents = self.documents.as_ref();
        Ok(documents.and_then(|documents| documents.get(path)).copied().unwrap_or_default())
    }
}

/// Whether a passage has most of these words.
fn has_most_words(words: &[String], passage: &str) -> bool {
    let theirs: HashSet<String> = content_words(passage).into_iter().collect();
    let common = words.iter().filter(|word| theirs.contains(*word)).count();
    words.len() * 3 <= common * 4
}
