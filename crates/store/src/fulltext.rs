//! Which chunks hold these words? A tantivy index derived from the database. Its commit carries
//! the generation it stands at, so that a crash can only leave it behind, never out of step.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikerag_knowledge::StoreError;
use pikerag_language::query_terms;
use tantivy::collector::{Collector, Count, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery, Weight};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{
    DocId, Index, IndexReader, IndexWriter, ReloadPolicy, Score, Searcher, SegmentOrdinal,
    SegmentReader, TantivyDocument, Term,
};

use crate::error::Context;
use crate::scan::{Best, Near};
use crate::tokens::Words;

/// Bumped when tokens or fields change: an index of another version is built anew.
const VERSION: u32 = 3;
const WRITER_BYTES: usize = 64 << 20;

/// The index, opened for reading; writers take turns by `lock`.
pub(crate) struct FullText {
    index: Index,
    reader: IndexReader,
    id: Field,
    body: Field,
    lock: PathBuf,
}

/// The right to write the index, which one thread of one process has at a time. Who has it reads
/// the stamp, finds what is missing and applies it: between these nobody else may commit.
pub(crate) struct Turn(#[expect(dead_code, reason = "held, and released with the file")] File);

/// What changed since the index was last committed.
pub(crate) struct Changes {
    /// Where the index stands after the changes.
    pub(crate) stamp: String,
    /// Chunks to forget; all of them, if `None`.
    pub(crate) gone: Option<Vec<u64>>,
    /// Chunks to add: identifier, and title, headings and text in one.
    pub(crate) added: Vec<(u64, String)>,
}

impl FullText {
    /// Opens or creates the index in `folder`; one that cannot be read is made anew.
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        let lock = folder.join(format!("fulltext-v{VERSION}.lock"));
        let folder = folder.join(format!("fulltext-v{VERSION}"));
        let mut schema = Schema::builder();
        let id = schema.add_u64_field("id", FAST | INDEXED);
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("words")
            .set_index_option(IndexRecordOption::WithFreqs);
        let body =
            schema.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
        let schema = schema.build();
        let existing = || Index::open_in_dir(&folder).ok().filter(|index| index.schema() == schema);
        let index = match existing() {
            Some(index) => index,
            None => {
                let _turn = turn(&lock)?;
                match existing() {
                    Some(made_meanwhile) => made_meanwhile,
                    None => create(&folder, &schema)?,
                }
            }
        };
        index.tokenizers().register("words", Words::default());
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(0)
            .try_into()
            .context("opening the full-text index")?;
        Ok(Self { index, reader, id, body, lock })
    }

    /// The generation that the last commit stands at; empty for a new index.
    pub(crate) fn stamp(&self) -> String {
        self.index.load_metas().ok().and_then(|metas| metas.payload).unwrap_or_default()
    }

    /// Waits until no other thread or process writes.
    pub(crate) fn turn(&self) -> Result<Turn, StoreError> {
        turn(&self.lock)
    }

    /// Applies changes in one commit.
    pub(crate) fn apply(&self, _turn: &Turn, changes: Changes) -> Result<(), StoreError> {
        let mut writer: IndexWriter<TantivyDocument> = self
            .index
            .writer_with_num_threads(1, WRITER_BYTES)
            .context("opening the full-text index to write")?;
        match changes.gone {
            None => {
                writer.delete_all_documents().context("clearing the full-text index")?;
            }
            Some(gone) => {
                for id in gone {
                    writer.delete_term(Term::from_field_u64(self.id, id));
                }
            }
        }
        for (id, text) in changes.added {
            let mut document = TantivyDocument::new();
            document.add_u64(self.id, id);
            document.add_text(self.body, text);
            writer.add_document(document).context("adding to the full-text index")?;
        }
        let mut commit = writer.prepare_commit().context("committing the full-text index")?;
        commit.set_payload(&changes.stamp);
        commit.commit().context("committing the full-text index")?;
        writer.wait_merging_threads().context("merging the full-text index")?;
        self.reader.reload().context("reloading the full-text index")
    }

    /// Sees what another process committed.
    pub(crate) fn reload(&self) -> Result<(), StoreError> {
        self.reader.reload().context("reloading the full-text index")
    }

    /// The index as this process sees it now, whatever is committed later.
    pub(crate) fn snapshot(&self) -> TextSnapshot {
        TextSnapshot { searcher: self.reader.searcher(), body: self.body }
    }
}

/// One state of the index.
#[derive(Clone)]
pub(crate) struct TextSnapshot {
    searcher: Searcher,
    body: Field,
}

/// The chunks that a search may find; all of them, where it does not say.
pub(crate) type Seen = Option<Arc<HashSet<u64>>>;

impl TextSnapshot {
    /// The `k` best chunks for these words by BM25, best first, ties by id. What a word weighs is told from
    /// all chunks, seen or not.
    pub(crate) fn search(
        &self,
        query: &str,
        k: usize,
        seen: Seen,
    ) -> Result<Vec<(u64, f32)>, StoreError> {
        let terms = query_terms(query);
        if terms.is_empty() || k == 0 {
            return Ok(Vec::new());
        }
        let clauses: Vec<(Occur, Box<dyn Query>)> = terms
            .iter()
            .map(|word| {
                let term = Term::from_field_text(self.body, word);
                let query: Box<dyn Query> =
                    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
                (Occur::Should, query)
            })
            .collect();
        self.searcher
            .search(&BooleanQuery::new(clauses), &BestChunks { k, seen })
            .context("searching the full-text index")
    }

    /// What one term adds to the score of every chunk that has it, in no order.
    pub(crate) fn scores(&self, term: &str, seen: Seen) -> Result<Vec<(u64, f32)>, StoreError> {
        let term = Term::from_field_text(self.body, term);
        let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
        self.searcher.search(&query, &AllScores { seen }).context("searching the full-text index")
    }

    /// In how many chunks a term occurs.
    pub(crate) fn count(&self, term: &str, seen: Seen) -> Result<usize, StoreError> {
        if seen.is_some() {
            return Ok(self.scores(term, seen)?.len());
        }
        let term = Term::from_field_text(self.body, term);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        // Not `doc_freq`: that counts deleted chunks until their segment is merged.
        self.searcher.search(&query, &Count).context("searching the full-text index")
    }
}

fn create(folder: &Path, schema: &Schema) -> Result<Index, StoreError> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).context("clearing the full-text folder")?;
    }
    std::fs::create_dir_all(folder).context("creating the full-text folder")?;
    Index::create_in_dir(folder, schema.clone()).context("creating the full-text index")
}

fn turn(path: &Path) -> Result<Turn, StoreError> {
    let doing = "waiting to write full text";
    let file = File::options().create(true).append(true).open(path).context(doing)?;
    file.lock().context(doing)?;
    Ok(Turn(file))
}

/// Collects every match with its score.
struct AllScores {
    seen: Seen,
}

struct SegmentScores {
    ids: Column<u64>,
    seen: Seen,
    found: Vec<(u64, f32)>,
}

impl Collector for AllScores {
    type Fruit = Vec<(u64, f32)>;
    type Child = SegmentScores;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentScores> {
        let ids = segment.fast_fields().u64("id")?;
        Ok(SegmentScores { ids, seen: self.seen.clone(), found: Vec::new() })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, segments: Vec<Self::Fruit>) -> tantivy::Result<Self::Fruit> {
        Ok(segments.concat())
    }
}

impl SegmentCollector for SegmentScores {
    type Fruit = Vec<(u64, f32)>;

    fn collect(&mut self, document: DocId, score: Score) {
        if let Some(id) = self.ids.first(document)
            && self.seen.as_ref().is_none_or(|seen| seen.contains(&id))
        {
            self.found.push((id, score));
        }
    }

    fn harvest(self) -> Self::Fruit {
        self.found
    }
}

/// Collects the `k` best matches that are seen; of equal ones those with the lowest identifiers.
struct BestChunks {
    k: usize,
    seen: Seen,
}

impl Collector for BestChunks {
    type Fruit = Vec<(u64, f32)>;
    type Child = SegmentScores;

    fn for_segment(
        &self,
        ordinal: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentScores> {
        AllScores { seen: self.seen.clone() }.for_segment(ordinal, segment)
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, segments: Vec<Self::Fruit>) -> tantivy::Result<Self::Fruit> {
        let mut best = Best::new(self.k);
        for (id, score) in segments.into_iter().flatten() {
            best.offer(Near { id, owner: id, score });
        }
        Ok(best.sorted().into_iter().map(|near| (near.id, near.score)).collect())
    }

    fn collect_segment(
        &self,
        weight: &dyn Weight,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<Self::Fruit> {
        let (ids, alive) = (segment.fast_fields().u64("id")?, segment.alive_bitset());
        let mut best = Best::new(self.k);
        // Just below the worst that is held: one as good may have the lower identifier.
        let threshold = |best: &Best| best.worst().next_down().max(Score::MIN);
        weight.for_each_pruning(threshold(&best), segment, &mut |document, score| {
            if alive.is_none_or(|alive| alive.is_alive(document))
                && let Some(id) = ids.first(document)
                && self.seen.as_ref().is_none_or(|seen| seen.contains(&id))
            {
                best.offer(Near { id, owner: id, score });
            }
            threshold(&best)
        })?;
        Ok(best.sorted().into_iter().map(|near| (near.id, near.score)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(id: u64, text: &str) -> (u64, String) {
        (id, text.to_owned())
    }

    #[test]
    fn finds_in_two_languages_and_forgets() {
        let folder = tempfile::tempdir().unwrap();
        let index = FullText::open(folder.path()).unwrap();
        assert_eq!(index.stamp(), "");
        let added =
            vec![text(1, "the harbour crane"), text(2, "港口起重机的维护"), text(3, "crane crane")];
        let apply = |changes| index.apply(&index.turn().unwrap(), changes).unwrap();
        apply(Changes { stamp: "b:1".to_owned(), gone: None, added });
        let ids = |query: &str| {
            index
                .snapshot()
                .search(query, 9, None)
                .unwrap()
                .into_iter()
                .map(|hit| hit.0)
                .collect::<Vec<_>>()
        };
        assert_eq!(ids("Crane?"), [3, 1]);
        assert_eq!(ids("起重机"), [2]);
        assert_eq!(ids("?!"), Vec::<u64>::new());
        apply(Changes { stamp: "b:2".to_owned(), gone: Some(vec![3]), added: vec![] });
        assert_eq!(ids("crane"), [1]);
        drop(index);
        assert_eq!(FullText::open(folder.path()).unwrap().stamp(), "b:2");
    }

    #[test]
    fn a_damaged_index_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        drop(FullText::open(folder.path()).unwrap());
        let meta = folder.path().join(format!("fulltext-v{VERSION}/meta.json"));
        std::fs::write(&meta, "{").unwrap();
        assert_eq!(FullText::open(folder.path()).unwrap().stamp(), "");
    }
}
