//! Finds the chunks that contain given words, with a tantivy index derived from the database. Each
//! commit records the generation it includes, so a crash can only leave the index behind the
//! database.

mod collect;
mod place;
mod scores;
mod similar;
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

/// Increased when tokens or fields change; an index of another version is rebuilt.
const VERSION: u32 = 4;
const WRITER_BYTES: usize = 64 << 20;

/// How long a search waits for another writer before it uses the index as it is.
pub(crate) const SEARCHING: Duration = Duration::from_secs(3);
/// How long a writer waits for another writer.
pub(crate) const WRITING: Duration = Duration::from_mins(10);
/// How often the removal of an old index is tried before it fails.
const MAX_REMOVALS: usize = 50;

/// Whether the folder of the index can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    Read,
}

/// The index, opened for reading; writers take turns by the file `lock`.
pub(crate) struct FullText {
    index: Index,
    reader: IndexReader,
    id: Field,
    body: Field,
    folder: PathBuf,
    lock: PathBuf,
}

/// The right to write the index, held by one thread of one process at a time. Its holder reads the
/// stamp, finds the missing changes and applies them; nobody else may commit in between.
pub(crate) struct WriteLock(#[expect(dead_code, reason = "held, and released with the file")] File);

/// Changes since the index was last committed.
pub(crate) struct Changes {
    /// The stamp of the index after the changes.
    pub(crate) stamp: String,
    /// Chunks to remove; all of them if `None`.
    pub(crate) gone: Option<Vec<u64>>,
    /// Chunks to add: identifier, and title, headings and text in one.
    pub(crate) added: Vec<(u64, String)>,
}

impl FullText {
    /// Opens or creates the index in a base's folder; an empty one replaces a damaged one.
    pub(crate) fn open(base: &Path, max_wait: Duration) -> Result<Self, StoreError> {
        match Self::existing(base, Access::Write)? {
            Some(index) => Ok(index),
            // Another process may be changing it, so it is opened again under the lock.
            None => {
                let lock = wait_for_lock(&lock_of(base), max_wait)?;
                match Self::existing(base, Access::Write)? {
                    Some(index) => Ok(index),
                    None => Self::create(base, &lock),
                }
            }
        }
    }

    /// The index in a base's folder as it is; `None` if there is none or it is damaged.
    ///
    /// # Errors
    /// The system cannot read it now (no free descriptor, a failing disk), which does not mean
    /// damage.
    pub(crate) fn existing(base: &Path, access: Access) -> Result<Option<Self>, StoreError> {
        let Some(index) = Self::opened(base, access)? else { return Ok(None) };
        let doing = "comparing checksums";
        let is_sound = || sound::is_sound(&index.index, &index.folder).context(doing);
        match unless_damaged(without_panic(doing, is_sound))? {
            Some(true) => Ok(Some(index)),
            Some(false) | None => {
                tracing::warn!(folder = %index.folder.display(), "the full-text index is damaged");
                Ok(None)
            }
        }
    }

    /// Opens the index without comparing checksums; `None` if there is none or its format is
    /// unknown.
    ///
    /// # Errors
    /// See [`FullText::existing`].
    pub(crate) fn opened(base: &Path, access: Access) -> Result<Option<Self>, StoreError> {
        let doing = "opening the full-text index";
        let open = || {
            let place = Place::open(&folder_of(base), access).map_err(TantivyError::from);
            place.and_then(Index::open).context(doing)
        };
        let Some(index) = unless_damaged(without_panic(doing, open))? else { return Ok(None) };
        if index.schema() != fields().0 {
            return Ok(None);
        }
        unless_damaged(Self::on(index, base))
    }

    /// Creates an empty index in place of the present one.
    pub(crate) fn create(base: &Path, _lock: &WriteLock) -> Result<Self, StoreError> {
        let folder = folder_of(base);
        clear(&folder).context("clearing the full-text folder")?;
        std::fs::create_dir_all(&folder).context("creating the full-text folder")?;
        let place = Place::open(&folder, Access::Write).context("creating the full-text index")?;
        let index = Index::create(place, fields().0, IndexSettings::default())
            .context("creating the full-text index")?;
        Self::on(index, base)
    }

    /// An index in memory, for a base that cannot be written.
    pub(crate) fn in_memory(base: &Path, changes: Changes) -> Result<Self, StoreError> {
        let index = Self::on(Index::create_in_ram(fields().0), base)?;
        index.write(changes)?;
        Ok(index)
    }

    fn on(index: Index, base: &Path) -> Result<Self, StoreError> {
        index.tokenizers().register("words", Words::default());
        let reader = without_panic("opening the full-text index", || {
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

    /// The identifiers of all indexed chunks.
    pub(crate) fn chunks(&self) -> Result<BTreeSet<u64>, StoreError> {
        let found = without_panic("reading the full-text index", || {
            let all = self.reader.searcher().search(&AllQuery, &AllScores { admitted: None });
            all.context("reading the full-text index")
        })?;
        Ok(found.into_iter().map(|(id, _)| id).collect())
    }

    /// The stamp of the last commit, which names its generation; empty for a new index.
    pub(crate) fn stamp(&self) -> Result<String, StoreError> {
        let metas = self.index.load_metas().context("reading the stamp of full text");
        Ok(unless_damaged(metas)?.and_then(|metas| metas.payload).unwrap_or_default())
    }

    /// Waits until no other thread or process writes.
    ///
    /// # Errors
    /// [`BaseProblem::Busy`] after `max_wait`.
    pub(crate) fn lock_writes(&self, max_wait: Duration) -> Result<WriteLock, StoreError> {
        wait_for_lock(&self.lock, max_wait)
    }

    /// Applies changes in one commit.
    pub(crate) fn apply(&self, _lock: &WriteLock, changes: Changes) -> Result<(), StoreError> {
        without_panic("writing the full-text index", || self.write(changes))
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

    /// Loads the latest commit of any process.
    pub(crate) fn reload(&self) -> Result<(), StoreError> {
        self.reader.reload().context("reloading the full-text index")
    }

    /// The index as this process sees it now; later commits do not change it.
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

/// The chunks that a search may find; `None` allows all.
pub(crate) type Admitted = Option<Arc<HashSet<u64>>>;

impl TextSnapshot {
    /// The `k` best chunks for these words by BM25, best first, ties by id. Term weights come from
    /// all chunks, whether or not a filter admits them.
    pub(crate) fn search(
        &self,
        query: &str,
        k: usize,
        admitted: Admitted,
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
            .search(&BooleanQuery::new(clauses), &BestChunks { k, admitted })
            .context("searching the full-text index")
    }

    /// What each term adds to the score of each chunk: one list per chunk, in order, with 0 where a
    /// term adds nothing.
    pub(crate) fn scores(
        &self,
        terms: &[String],
        chunks: &[u64],
        admitted: &Admitted,
    ) -> Result<Vec<Vec<f32>>, StoreError> {
        scores::of(self, terms, chunks, admitted).context("searching the full-text index")
    }

    /// The number of chunks that contain a term.
    pub(crate) fn count(&self, term: &str, admitted: Admitted) -> Result<usize, StoreError> {
        let term = Term::from_field_text(self.body, term);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        // Not `doc_freq`: that counts deleted chunks until their segment is merged.
        let counted = match admitted {
            Some(_) => {
                self.searcher.search(&query, &AllScores { admitted }).map(|found| found.len())
            }
            None => self.searcher.search(&query, &Count),
        };
        counted.context("searching the full-text index")
    }
}

/// The schema of an indexed chunk: its identifier and its words.
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

/// Removes a folder. Readers of the index briefly create a file in it, so the removal may have to
/// be tried again.
fn clear(folder: &Path) -> std::io::Result<()> {
    let mut tries = 0..MAX_REMOVALS;
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

/// Whether the folder contains only files that somebody still reads. FUSE and NFS keep such files
/// under these names until they are closed.
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

/// Waits up to `max_wait` for the right to write the index of a base.
pub(crate) fn lock_in(base: &Path, max_wait: Duration) -> Result<WriteLock, StoreError> {
    wait_for_lock(&lock_of(base), max_wait)
}

fn wait_for_lock(path: &Path, max_wait: Duration) -> Result<WriteLock, StoreError> {
    let doing = "waiting to write full text";
    let file = File::options().create(true).append(true).open(path).context(doing)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(WriteLock(file)),
            Err(TryLockError::WouldBlock) if began.elapsed() < max_wait => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(BaseProblem::Busy { path: path.to_owned() }).context(doing);
            }
            Err(TryLockError::Error(error)) => return Err(error).context(doing),
        }
    }
}

/// Whether an interrupted write left a file where the next write wants to create one.
pub(crate) fn is_leftover_file(error: &StoreError) -> bool {
    let StoreError::Failed { source, .. } = error else { return false };
    matches!(
        source.downcast_ref(),
        Some(TantivyError::OpenWriteError(OpenWriteError::FileAlreadyExists(_)))
    )
}

/// `None` if an error says that files are missing or not as written.
///
/// # Errors
/// Any other error: it tells nothing about the files, so they stay.
pub(crate) fn unless_damaged<T>(done: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if sound::is_of_system(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Turns a panic into an error, because damaged files may make tantivy panic.
pub(crate) fn without_panic<T>(
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
    fn finds_words_in_two_languages_and_removes_chunks() {
        let folder = tempfile::tempdir().unwrap();
        let index = FullText::open(folder.path(), WRITING).unwrap();
        assert_eq!(index.stamp().unwrap(), "");
        let added =
            vec![text(1, "the harbour crane"), text(2, "港口起重机的维护"), text(3, "crane crane")];
        let apply = |changes| index.apply(&index.lock_writes(WRITING).unwrap(), changes).unwrap();
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

    /// The folder is as a killed process leaves it between making a file and committing to it.
    #[test]
    fn recognizes_a_leftover_file_that_blocks_a_commit() {
        let folder = tempfile::tempdir().unwrap();
        let index = FullText::open(folder.path(), SEARCHING).unwrap();
        let apply = |gone: Vec<u64>, added: Vec<(u64, String)>, stamp: &str| {
            let lock = index.lock_writes(SEARCHING).unwrap();
            let changes = Changes { gone: Some(gone), added, stamp: stamp.to_owned() };
            index.apply(&lock, changes)
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
        assert!(is_leftover_file(&error), "{error:?}");
    }

    /// The damage is one changed byte, or a missing file, for each kind of file.
    #[test]
    fn rebuilds_a_damaged_index() {
        let folder = tempfile::tempdir().unwrap();
        let made = || {
            let _ = std::fs::remove_dir_all(folder_of(folder.path()));
            let index = FullText::open(folder.path(), WRITING).unwrap();
            let added = (0..300).map(|id| text(id, &format!("crane {id} of harbour {}", id % 7)));
            let changes = Changes { stamp: "b:1".to_owned(), gone: None, added: added.collect() };
            index.apply(&index.lock_writes(WRITING).unwrap(), changes).unwrap();
            drop(index);
            assert_eq!(FullText::open(folder.path(), WRITING).unwrap().stamp().unwrap(), "b:1");
        };
        made();
        // Without the notes of tantivy and ours.
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
                // Positions are not kept, so nothing is missing without their file.
                let is_missed = !(whole && ending == "pos");
                assert_eq!(index.stamp().unwrap().is_empty(), is_missed, "{ending:?} {whole}");
            }
        }
    }

    #[test]
    fn waiting_for_the_write_lock_ends_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let index = FullText::open(folder.path(), WRITING).unwrap();
        let held = index.lock_writes(WRITING).unwrap();
        let busy = index.lock_writes(Duration::from_millis(20)).err().unwrap();
        let cause = std::error::Error::source(&busy).unwrap();
        assert!(matches!(cause.downcast_ref(), Some(BaseProblem::Busy { .. })), "{cause}");
        drop(held);
        index.lock_writes(Duration::ZERO).unwrap();
    }
}
