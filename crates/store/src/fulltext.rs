//! Which chunks hold these words? A tantivy index derived from the database. Its commit carries
//! the generation it stands at, so that a crash can only leave it behind, never out of step.

mod collect;
mod place;
mod scores;
mod sound;

use std::collections::{BTreeSet, HashSet};
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pikerag_knowledge::StoreError;
use pikerag_language::query_terms;
use tantivy::collector::Count;
use tantivy::directory::error::OpenWriteError;
use tantivy::query::{AllQuery, BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{
    Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, TantivyDocument,
    TantivyError, Term,
};

use self::collect::{AllScores, BestChunks};
use self::place::Place;
use crate::error::{BaseProblem, Context};
use crate::tokens::Words;

/// Bumped when tokens or fields change: an index of another version is built anew.
const VERSION: u32 = 4;
const WRITER_BYTES: usize = 64 << 20;

/// How long a search waits for another writer; then it searches the index as it is.
pub(crate) const SEARCHING: Duration = Duration::from_secs(3);
/// How long one who has to write waits.
pub(crate) const WRITING: Duration = Duration::from_mins(10);
/// How often an index that is in the way is removed before that counts as failed.
const CLEARINGS: usize = 50;

/// Whether the folder of the index can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    Read,
}

/// The index, opened for reading; writers take turns by `lock`.
pub(crate) struct FullText {
    index: Index,
    reader: IndexReader,
    id: Field,
    body: Field,
    folder: PathBuf,
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
    /// Opens or creates the index in a base's folder; one that is damaged is made anew.
    pub(crate) fn open(base: &Path, patience: Duration) -> Result<Self, StoreError> {
        match Self::existing(base, Access::Write)? {
            Some(index) => Ok(index),
            // Another process may be at it: looked at once more when nobody is.
            None => {
                let turn = turn(&lock_of(base), patience)?;
                match Self::existing(base, Access::Write)? {
                    Some(index) => Ok(index),
                    None => Self::create(base, &turn),
                }
            }
        }
    }

    /// The index in a base's folder as it is; `None` where there is none, or it is damaged.
    ///
    /// # Errors
    /// The system cannot read it now (no descriptor is free, a disk fails): that is no damage.
    pub(crate) fn existing(base: &Path, access: Access) -> Result<Option<Self>, StoreError> {
        let Some(index) = Self::opened(base, access)? else { return Ok(None) };
        let doing = "comparing checksums";
        let is_sound = || sound::is_sound(&index.index, &index.folder).context(doing);
        match unless_damaged(guarded(doing, is_sound))? {
            Some(true) => Ok(Some(index)),
            Some(false) | None => {
                tracing::warn!(folder = %index.folder.display(), "the full-text index is damaged");
                Ok(None)
            }
        }
    }

    /// The index whatever its checksums say; `None` where there is none, or its files are not of this form.
    ///
    /// # Errors
    /// As of [`FullText::existing`].
    pub(crate) fn opened(base: &Path, access: Access) -> Result<Option<Self>, StoreError> {
        let doing = "opening the full-text index";
        let open = || {
            let place = Place::open(&folder_of(base), access).map_err(TantivyError::from);
            place.and_then(Index::open).context(doing)
        };
        let Some(index) = unless_damaged(guarded(doing, open))? else { return Ok(None) };
        if index.schema() != fields().0 {
            return Ok(None);
        }
        unless_damaged(Self::on(index, base))
    }

    /// An empty index in place of what stands there.
    pub(crate) fn create(base: &Path, _turn: &Turn) -> Result<Self, StoreError> {
        let folder = folder_of(base);
        clear(&folder).context("clearing the full-text folder")?;
        std::fs::create_dir_all(&folder).context("creating the full-text folder")?;
        let place = Place::open(&folder, Access::Write).context("creating the full-text index")?;
        let index = Index::create(place, fields().0, IndexSettings::default())
            .context("creating the full-text index")?;
        Self::on(index, base)
    }

    /// An index that nobody keeps, for a base that cannot be written.
    pub(crate) fn in_memory(base: &Path, changes: Changes) -> Result<Self, StoreError> {
        let index = Self::on(Index::create_in_ram(fields().0), base)?;
        index.write(changes)?;
        Ok(index)
    }

    fn on(index: Index, base: &Path) -> Result<Self, StoreError> {
        index.tokenizers().register("words", Words::default());
        let reader = guarded("opening the full-text index", || {
            index
                .reader_builder()
                .reload_policy(ReloadPolicy::Manual)
                .doc_store_cache_num_blocks(0)
                .try_into()
                .context("opening the full-text index")
        })?;
        let (_, id, body) = fields();
        Ok(Self { index, reader, id, body, folder: folder_of(base), lock: lock_of(base) })
    }

    /// The files whose checksum is wrong.
    pub(crate) fn damaged(&self) -> Result<Vec<PathBuf>, StoreError> {
        sound::damaged(&self.index, &self.folder).context("comparing checksums")
    }

    /// All chunks that it holds.
    pub(crate) fn chunks(&self) -> Result<BTreeSet<u64>, StoreError> {
        let found = guarded("reading the full-text index", || {
            let all = self.reader.searcher().search(&AllQuery, &AllScores { seen: None });
            all.context("reading the full-text index")
        })?;
        Ok(found.into_iter().map(|(id, _)| id).collect())
    }

    /// The generation that the last commit stands at; empty for a new index.
    pub(crate) fn stamp(&self) -> Result<String, StoreError> {
        let metas = self.index.load_metas().context("reading the stamp of full text");
        Ok(unless_damaged(metas)?.and_then(|metas| metas.payload).unwrap_or_default())
    }

    /// Waits until no other thread or process writes.
    ///
    /// # Errors
    /// [`BaseProblem::Busy`] after so long.
    pub(crate) fn turn(&self, patience: Duration) -> Result<Turn, StoreError> {
        turn(&self.lock, patience)
    }

    /// Applies changes in one commit.
    pub(crate) fn apply(&self, _turn: &Turn, changes: Changes) -> Result<(), StoreError> {
        guarded("writing the full-text index", || self.write(changes))
    }

    fn write(&self, changes: Changes) -> Result<(), StoreError> {
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
        TextSnapshot { searcher: self.reader.searcher(), id: self.id, body: self.body }
    }
}

/// One state of the index.
#[derive(Clone)]
pub(crate) struct TextSnapshot {
    searcher: Searcher,
    id: Field,
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

    /// What each term adds to the score of each of these chunks: by chunk in order, 0 where there is nothing to add.
    pub(crate) fn scores(
        &self,
        terms: &[String],
        chunks: &[u64],
        seen: &Seen,
    ) -> Result<Vec<Vec<f32>>, StoreError> {
        scores::of(self, terms, chunks, seen).context("searching the full-text index")
    }

    /// In how many chunks a term occurs.
    pub(crate) fn count(&self, term: &str, seen: Seen) -> Result<usize, StoreError> {
        let term = Term::from_field_text(self.body, term);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        // Not `doc_freq`: that counts deleted chunks until their segment is merged.
        let counted = match seen {
            Some(_) => self.searcher.search(&query, &AllScores { seen }).map(|found| found.len()),
            None => self.searcher.search(&query, &Count),
        };
        counted.context("searching the full-text index")
    }
}

/// What is indexed of a chunk: its identifier, and its words.
fn fields() -> (Schema, Field, Field) {
    let mut schema = Schema::builder();
    let id = schema.add_u64_field("id", FAST | INDEXED);
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("words")
        .set_index_option(IndexRecordOption::WithFreqs);
    let body = schema.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
    (schema.build(), id, body)
}

/// The folder of the index in a base's folder.
pub(crate) fn folder_of(base: &Path) -> PathBuf {
    base.join(format!("fulltext-v{VERSION}"))
}

/// Removes a folder. Who reads the index makes a file in it for a moment, which may come between its last file and its end.
fn clear(folder: &Path) -> std::io::Result<()> {
    let mut tries = 0..CLEARINGS;
    loop {
        tries.next();
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() != ErrorKind::DirectoryNotEmpty => return Err(error),
            Err(_) if holds_open_files_alone(folder) => return Ok(()),
            Err(_) if !tries.is_empty() => std::thread::sleep(Duration::from_millis(5)),
            removed => return removed,
        }
    }
}

/// Whether all that is left in a folder are files that somebody still reads, under the names that FUSE and NFS keep them by
/// until they are closed.
fn holds_open_files_alone(folder: &Path) -> bool {
    let is_open = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.map(|entry| entry.file_name().to_string_lossy().into_owned());
        name.is_ok_and(|name| name.starts_with(".fuse_hidden") || name.starts_with(".nfs"))
    };
    std::fs::read_dir(folder).is_ok_and(|mut left| left.all(is_open))
}

fn lock_of(base: &Path) -> PathBuf {
    base.join(format!("fulltext-v{VERSION}.lock"))
}

/// Waits, so long at most, for the right to write the index of a base.
pub(crate) fn turn_in(base: &Path, patience: Duration) -> Result<Turn, StoreError> {
    turn(&lock_of(base), patience)
}

fn turn(path: &Path, patience: Duration) -> Result<Turn, StoreError> {
    let doing = "waiting to write full text";
    let file = File::options().create(true).append(true).open(path).context(doing)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Turn(file)),
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(BaseProblem::Busy { path: path.to_owned() }).context(doing);
            }
            Err(TryLockError::Error(error)) => return Err(error).context(doing),
        }
    }
}

/// Whether a write that was cut off left a file where the next one wants to make it.
pub(crate) fn is_in_the_way(error: &StoreError) -> bool {
    let StoreError::Failed { source, .. } = error else { return false };
    matches!(
        source.downcast_ref(),
        Some(TantivyError::OpenWriteError(OpenWriteError::FileAlreadyExists(_)))
    )
}

/// `None` where an error says that files are missing, or are not what was written.
///
/// # Errors
/// All else: nothing is known of the files then, and they stay.
pub(crate) fn unless_damaged<T>(done: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if sound::is_of_system(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Damaged files may make tantivy panic: that is an error like any other.
pub(crate) fn guarded<T>(
    doing: &str,
    work: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done,
        Err(_) => Err("the full-text index cannot be read").context(doing),
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
        let index = FullText::open(folder.path(), WRITING).unwrap();
        assert_eq!(index.stamp().unwrap(), "");
        let added =
            vec![text(1, "the harbour crane"), text(2, "港口起重机的维护"), text(3, "crane crane")];
        let apply = |changes| index.apply(&index.turn(WRITING).unwrap(), changes).unwrap();
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
        assert_eq!(FullText::open(folder.path(), WRITING).unwrap().stamp().unwrap(), "b:2");
    }

    /// A byte of any file, and any file whole: what does not open, or has another checksum, is made anew.
    /// As a process leaves it that is killed between making a file and committing to it.
    #[test]
    fn a_file_in_the_way_of_a_commit_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let index = FullText::open(folder.path(), SEARCHING).unwrap();
        let apply = |gone: Vec<u64>, added: Vec<(u64, String)>, stamp: &str| {
            let turn = index.turn(SEARCHING).unwrap();
            let changes = Changes { gone: Some(gone), added, stamp: stamp.to_owned() };
            index.apply(&turn, changes)
        };
        apply(Vec::new(), vec![text(1, "A crane."), text(2, "A heron.")], "1").unwrap();
        let store = std::fs::read_dir(folder_of(folder.path())).unwrap();
        let store = store.map(|entry| entry.unwrap().path());
        let store = store.into_iter().find(|path| path.extension().is_some_and(|it| it == "store"));
        let store = store.unwrap();
        for opstamp in 0..32 {
            std::fs::write(store.with_extension(format!("{opstamp}.del")), "torn").unwrap();
        }
        let error = apply(vec![1], Vec::new(), "2").unwrap_err();
        assert!(is_in_the_way(&error), "{error:?}");
    }

    #[test]
    fn a_damaged_index_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let made = || {
            let _ = std::fs::remove_dir_all(folder_of(folder.path()));
            let index = FullText::open(folder.path(), WRITING).unwrap();
            let added = (0..300).map(|id| text(id, &format!("crane {id} of harbour {}", id % 7)));
            let changes = Changes { stamp: "b:1".to_owned(), gone: None, added: added.collect() };
            index.apply(&index.turn(WRITING).unwrap(), changes).unwrap();
            drop(index);
            assert_eq!(FullText::open(folder.path(), WRITING).unwrap().stamp().unwrap(), "b:1");
        };
        made();
        // Not what tantivy and we note besides.
        let files = || {
            let files = std::fs::read_dir(folder_of(folder.path())).unwrap();
            files.map(|file| file.unwrap().path()).filter(|file| {
                let name = file.file_name().unwrap().to_str().unwrap();
                !name.starts_with('.') && !name.starts_with("sound")
            })
        };
        let endings: BTreeSet<_> =
            files().map(|file| file.extension().unwrap().to_owned()).collect();
        assert!(5 < endings.len(), "{endings:?}");
        for ending in endings {
            for whole in [false, true] {
                made();
                let file = files().find(|file| file.extension() == Some(&ending)).unwrap();
                let mut bytes = std::fs::read(&file).unwrap();
                match whole {
                    true => std::fs::remove_file(&file).unwrap(),
                    false => {
                        bytes[0] ^= 0x55;
                        std::fs::write(&file, bytes).unwrap();
                    }
                }
                let index = FullText::open(folder.path(), WRITING).unwrap();
                // Positions are not kept: without their file nothing is missing.
                let is_missed = !(whole && ending == "pos");
                assert_eq!(index.stamp().unwrap().is_empty(), is_missed, "{ending:?} {whole}");
            }
        }
    }

    #[test]
    fn who_waits_for_a_turn_waits_so_long_and_no_longer() {
        let folder = tempfile::tempdir().unwrap();
        let index = FullText::open(folder.path(), WRITING).unwrap();
        let held = index.turn(WRITING).unwrap();
        let busy = index.turn(Duration::from_millis(20)).err().unwrap();
        let cause = std::error::Error::source(&busy).unwrap();
        assert!(matches!(cause.downcast_ref(), Some(BaseProblem::Busy { .. })), "{cause}");
        drop(held);
        index.turn(Duration::ZERO).unwrap();
    }
}
