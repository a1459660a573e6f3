//! Tests that a base keeps its data, refuses foreign files, and survives damage.
#![cfg(test)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use pikerag_extract::{ChunkParams, document_graph};
use pikerag_knowledge::{
    CallOrigin, CallRecord, CorpusReader, CorpusWriter, Event, FileRecord, Judgement, Ledger,
    NodeVector, Progress, RunEvent, RunId, RunQuery, RunRecord, RunState, RunStore, RunsToKeep,
    SearchIndex, SearchWriter, StoreError, TextToEmbed, Usage, VectorSet, Verified, VerifiedId,
    VerifiedWriter, nearest_chunks,
};
use pikerag_parse::{Limits, parse};
use pikerag_store::{
    Base, BaseProblem, DATABASE, Health, LAYOUT, Overwriting, Part, Remains, Repair,
};
use rusqlite::Connection;
use tempfile::TempDir;

// Creation at the same time.

/// Several callers create a base at the same time. All hold the same base, so that each finds the
/// calls that the others keep.
#[tokio::test]
async fn callers_at_the_same_time_create_one_base() {
    let keys = ["0", "1", "2", "3"].map(str::to_owned);
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let begin = std::sync::Barrier::new(keys.len());
        let bases: Vec<Base> = std::thread::scope(|scope| {
            let open = || {
                begin.wait();
                Base::open_or_create(folder.path())
            };
            let all: Vec<_> = keys.iter().map(|_| scope.spawn(open)).collect();
            all.into_iter().map(|one| one.join().unwrap().unwrap()).collect()
        });
        for (base, key) in bases.iter().zip(&keys) {
            base.keep_all(vec![call(key)]).await.unwrap();
        }
        for base in &bases {
            let found = base.find_all(&keys).await.unwrap();
            assert!(found.iter().all(Option::is_some), "{found:?}");
        }
    }
}

// Foreign files.

/// Every file of the folder stays unchanged, even beside a log that was not folded in. The file has
/// a newer layout, or a layout that was never released, or is another program's with our number by
/// chance.
#[tokio::test]
async fn refused_files_stay_unchanged_to_the_byte() {
    let newer = format!("PRAGMA user_version = {}", LAYOUT + 1);
    let foreign = |layout: i64| format!("CREATE TABLE meta (x); PRAGMA user_version = {layout}");
    for (ours, change, reason) in [
        (true, newer, "a newer version wrote it"),
        (true, "PRAGMA user_version = 2".to_owned(), "which was never released"),
        (false, foreign(0), "another program"),
        (false, foreign(3), "another program"),
        (false, foreign(4), "another program"),
        (false, foreign(LAYOUT), "another program"),
    ] {
        for with_log in [false, true] {
            let (folder, base) = fresh();
            put(&base, "a.txt", "A crane.").await;
            base.refresh().await.unwrap();
            drop(base);
            let path = folder.path().join(DATABASE);
            if !ours {
                fs::remove_file(&path).unwrap();
            }
            let connection = Connection::open(&path).unwrap();
            if with_log {
                connection.execute_batch("PRAGMA journal_mode = WAL").unwrap();
            }
            connection.execute_batch(&change).unwrap();
            // Copied while it is open, as a killed process leaves it; without a log, folded in.
            let open = Some(connection).filter(|_| with_log);
            let left = tempfile::tempdir().unwrap();
            for name in [DATABASE, "base.sqlite-wal"] {
                if with_log || name == DATABASE {
                    fs::copy(folder.path().join(name), left.path().join(name)).unwrap();
                }
            }
            drop(open);
            let before = files(left.path());
            assert_eq!(before.len(), 1 + usize::from(with_log));
            // If the log is foreign and contains our number, SQLite itself has to read it.
            let allowed = with_log && !ours && !change.contains("= 0");
            for open in [Base::open, Base::open_or_create] {
                let error = open(left.path()).err().unwrap();
                assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");
                assert!(error.to_string().contains(reason), "{error}: {change}");
                let mut after = files(left.path());
                if allowed {
                    after.remove(Path::new("base.sqlite-shm"));
                }
                assert!(before == after, "{change}, with a log: {with_log}: {:?}", after.keys());
            }
        }
    }
}

#[test]
fn a_file_that_is_not_a_database_stays_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in ["short", &"SQLite format 3, as somebody explains it. ".repeat(40)] {
        fs::write(folder.path().join(DATABASE), bytes).unwrap();
        let before = files(folder.path());
        let error = Base::open_or_create(folder.path()).err().unwrap();
        assert!(error.to_string().contains("it is not a database"), "{error}");
        assert!(before == files(folder.path()));
    }
}

// Damage.

/// One byte in the middle of any full-text file changes: words are found all the same, now and
/// later.
#[tokio::test]
async fn a_damaged_segment_is_rebuilt() {
    let (folder, base) = fresh();
    for n in 0..40 {
        put(&base, &format!("{n:02}.txt"), &format!("Crane {n} of the harbour. 起重机 {n}。"))
            .await;
    }
    base.refresh().await.unwrap();
    let search = async |base: &Base| (found(base, "crane").await, found(base, "起重机").await);
    let whole = search(&base).await;
    assert_eq!((whole.0.len(), whole.1.len()), (40, 40));
    drop(base);
    let text = text_folder(folder.path());
    let kinds: Vec<_> = files(&text)
        .into_keys()
        .filter(|name| !name.to_string_lossy().starts_with(['.', 's']))
        .map(|name| name.extension().unwrap().to_owned())
        .collect();
    assert!(5 < kinds.len(), "{kinds:?}");
    for kind in kinds {
        let file = fs::read_dir(&text).unwrap().map(|file| file.unwrap().path());
        let file = file.into_iter().find(|file| file.extension() == Some(&kind)).unwrap();
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x40;
        fs::write(&file, bytes).unwrap();
        let base = Base::open(folder.path()).unwrap();
        assert_eq!(search(&base).await, whole, "{kind:?}");
        base.refresh().await.unwrap();
    }
}

/// It is also rebuilt if the process has it open already.
#[tokio::test]
async fn full_text_that_is_deleted_while_open_is_rebuilt() {
    let (folder, base) = fresh();
    put(&base, "a.txt", "A crane.").await;
    assert_eq!(found(&base, "crane").await, ["a.txt"]);
    fs::remove_dir_all(text_folder(folder.path())).unwrap();
    put(&base, "b.txt", "Another crane.").await;
    assert_eq!(found(&base, "another").await, ["b.txt"]);
    assert_eq!(found(&base, "crane").await.len(), 2);
    assert_eq!(health(&base, Repair::No, &Part::FullText).await, (Health::Sound, false));
}

/// The checksum shows the damage, although the length is right.
#[tokio::test]
async fn damaged_codes_are_rebuilt() {
    let (folder, base) = fresh();
    put(&base, "a.txt", "A crane.").await;
    let missing = base.without_vector(VectorSet::Chunks, "e", None, 9).await.unwrap();
    let vector = |text: TextToEmbed| NodeVector { node: text.node, vector: vec![0.6, 0.8] };
    let vectors = missing.into_iter().map(vector).collect();
    base.put_vectors(VectorSet::Chunks, "e", vectors).await.unwrap();
    base.refresh().await.unwrap();
    drop(base);
    let path = folder.path().join("chunks.codes");
    let mut bytes = fs::read(&path).unwrap();
    // The identifier of the chunk, so that a search would find a chunk that does not exist.
    let at = bytes.len() - 32 - 2 - 4 - 16;
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let base = Base::open(folder.path()).unwrap();
    let part = Part::Vectors("chunks".to_owned());
    assert_eq!(health(&base, Repair::No, &part).await, (Health::Damaged, false));
    let found = nearest_chunks(&base, &[vec![0.6, 0.8]], 3, 0.9).await.unwrap();
    assert_eq!(found[0].len(), 1);
    assert_eq!(health(&base, Repair::No, &part).await, (Health::Sound, false));
}

/// Another process writes full text and does not finish: the index is searched as it is.
#[tokio::test]
async fn a_search_does_not_wait_forever_for_another_writer() {
    let (folder, base) = fresh();
    put(&base, "a.txt", "A crane.").await;
    base.refresh().await.unwrap();
    put(&base, "b.txt", "Another crane.").await;
    let lock = text_folder(folder.path()).with_extension("lock");
    let lock = fs::File::options().append(true).open(lock).unwrap();
    lock.lock().unwrap();
    assert_eq!(found(&base, "crane").await, ["a.txt"]);
    let busy = base.check(Repair::No).await.unwrap_err();
    assert!(matches!(problem(&busy), BaseProblem::Busy { .. }), "{busy:?}");
    lock.unlock().unwrap();
    assert_eq!(found(&base, "crane").await, ["a.txt", "b.txt"]);
}

// Running out of descriptors.

/// With any number of descriptors, from almost none, a read answers or fails, and no derived file
/// is removed or rebuilt. The limit applies to a process, so the test starts one.
#[tokio::test]
async fn running_out_of_descriptors_is_no_damage() {
    const NAME: &str = "running_out_of_descriptors_is_no_damage";
    const FOLDER: &str = "PIKERAG_TEST_FOLDER_OF_STARVED";
    if let Some(folder) = std::env::var_os(FOLDER) {
        return read_with_few_descriptors(Path::new(&folder)).await;
    }
    let (folder, base) = fresh();
    put(&base, "a.txt", "A crane.").await;
    let missing = base.without_vector(VectorSet::Chunks, "e", None, 9).await.unwrap();
    let vector = |text: TextToEmbed| NodeVector { node: text.node, vector: vec![0.6, 0.8] };
    let vectors = missing.into_iter().map(vector).collect();
    base.put_vectors(VectorSet::Chunks, "e", vectors).await.unwrap();
    base.refresh().await.unwrap();
    assert_eq!(found(&base, "crane").await, ["a.txt"]);
    drop(base);
    // Each has its own inode number; a rebuilt file has another.
    let derived = || {
        let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
        let text = fs::read_dir(text_folder(folder.path())).unwrap();
        let mut paths: Vec<PathBuf> = text.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|it| it == "store" || it == "term"));
        paths.extend([text_folder(folder.path()), folder.path().join("chunks.codes")]);
        paths.sort();
        let named = |path: PathBuf| (inode(&path), path);
        paths.into_iter().map(named).collect::<Vec<_>>()
    };
    let before = derived();
    assert!(3 < before.len(), "{before:?}");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let ran = child.args(["--exact", NAME]).env(FOLDER, folder.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    assert_eq!(derived(), before);
}

async fn read_with_few_descriptors(folder: &Path) {
    let (soft, hard) = rlimit::getrlimit(rlimit::Resource::NOFILE).unwrap();
    let limited_to = |most| rlimit::setrlimit(rlimit::Resource::NOFILE, most, hard).unwrap();
    let read = async |base: Result<Base, StoreError>| -> Result<usize, StoreError> {
        let base = base?;
        assert!(!base.is_read_only());
        let hits = base.matching_chunks("crane", 9).await?.len();
        Ok(hits + nearest_chunks(&base, &[vec![0.6, 0.8]], 3, 0.9).await?[0].len())
    };
    let mut failed = 0;
    for is_open_before in [false, true] {
        for most in 6..48 {
            limited_to(soft);
            let open = is_open_before.then(|| Base::open(folder));
            limited_to(most);
            let done = read(open.unwrap_or_else(|| Base::open(folder))).await;
            match done {
                Ok(hits) => assert_eq!(hits, 2, "{most}"),
                Err(_) => failed += 1,
            }
        }
    }
    limited_to(soft);
    assert_eq!(read(Base::open(folder)).await.unwrap(), 2);
    assert!(10 < failed, "{failed}");
}

// Forgetting.

/// A killed process left a forget operation unfinished, and plain deletes left bytes in freed
/// pages.
#[tokio::test]
async fn an_unfinished_forget_operation_is_completed() {
    const SENTENCE: &str = "Adaeze Okonkwo keeps the green book of lifts.";
    let (folder, base) = fresh();
    put(&base, "a.txt", &format!("{SENTENCE} 绿皮书由她保管，从不外借。")).await;
    put(&base, "b.txt", "A crane.").await;
    base.delete_file("a.txt").await.unwrap();
    let holds = |text: &str| {
        let is_in = |bytes: &Vec<u8>| bytes.windows(text.len()).any(|at| at == text.as_bytes());
        files(folder.path()).values().any(is_in)
    };
    assert!(holds(SENTENCE));
    assert_eq!(base.finish_forgetting().await.unwrap(), Overwriting::Nothing);
    let connection = Connection::open(folder.path().join(DATABASE)).unwrap();
    connection.execute_batch("INSERT INTO meta VALUES ('forgetting', '1')").unwrap();
    drop(connection);
    assert_eq!(health(&base, Repair::No, &Part::Forgetting).await, (Health::Damaged, false));
    assert_eq!(health(&base, Repair::Yes, &Part::Forgetting).await, (Health::Sound, true));
    assert!(!holds(SENTENCE) && !holds("绿皮书由她保管，从不外借。"));
    assert_eq!(found(&base, "crane").await, ["b.txt"]);
    assert_eq!(found(&base, "book").await, Vec::<String>::new());
}

/// Calls of other documents stay, and so do calls that only share a sentence with the document.
#[tokio::test]
async fn only_calls_that_hold_the_text_are_forgotten() {
    let (_folder, base) = fresh();
    put(&base, "a.txt", "The secret crane lifts nine tons. The harbour is closed at night.").await;
    put(&base, "b.txt", "The open crane lifts two tons. The harbour is closed at night.").await;
    let with = |key: &str, request: &str, reply: &str| CallRecord {
        request: serde_json::json!({ "text": request }).to_string(),
        reply: serde_json::json!({ "text": serde_json::json!([reply]).to_string() }).to_string(),
        ..call(key)
    };
    let calls = vec![
        with("asked", "Read: The secret crane\nlifts nine tons. Well?", "[]"),
        with("said", "Well?", "the book: The secret crane lifts nine tons."),
        with("shared", "Read: The harbour is closed at night.", "[]"),
        with("other", "Read: The open crane lifts two tons.", "[]"),
        with("near", "The secret crane lifts", "nine tons"),
    ];
    base.keep_all(calls).await.unwrap();
    let files = ["a.txt".to_owned()];
    assert_eq!(base.remains_of(&files).await.unwrap().calls, 2);
    assert_eq!(base.forget_files(&files, 7).await.unwrap().0.calls, 2);
    let keys = ["asked", "said", "shared", "other", "near"].map(str::to_owned);
    let left = base.find_all(&keys).await.unwrap();
    let left: Vec<bool> = left.iter().map(Option::is_some).collect();
    assert_eq!(left, [false, false, true, true, true]);
}

/// A heading may equal a line of our prompts, or a word of a schema.
#[tokio::test]
async fn our_own_words_are_no_sign_of_a_document() {
    let (_folder, base) = fresh();
    let text =
        "# Output format\n\nThe secret crane lifts nine tons.\n\n## Safety of harbours\n\nNone.";
    put(&base, "a.md", text).await;
    let with = |key: &str, asked: &str| CallRecord {
        request: serde_json::json!({
            "messages": [{ "role": "user", "text": format!("{asked}\n\n# Output format\nJSON") }],
            "schema": { "about": "Safety of harbours" },
        })
        .to_string(),
        origin: CallOrigin {
            template: Some("Be brief.\n\n# Output format\nJSON".into()),
            ..CallOrigin::default()
        },
        ..call(key)
    };
    let calls = [with("asked", "The secret crane lifts nine tons."), with("other", "A heron.")];
    base.keep_all(calls.to_vec()).await.unwrap();
    let files = ["a.md".to_owned()];
    assert_eq!(base.remains_of(&files).await.unwrap().calls, 1);
    assert_eq!(base.forget_files(&files, 7).await.unwrap().0.calls, 1);
    let left = base.find_all(&["asked", "other"].map(str::to_owned)).await.unwrap();
    assert_eq!(left.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
}

/// Data that a question stores after a forget operation may hold the forgotten content in other
/// words.
#[tokio::test]
async fn an_earlier_question_stores_nothing_after_a_forget_operation() {
    let (_folder, base) = fresh();
    put(&base, "a.txt", "The secret crane lifts nine tons.").await;
    let question = base.for_a_question().await.unwrap();
    let run =
        |id: &str, state| RunRecord { id: RunId(id.to_owned()), state, ..RunRecord::default() };
    let event = |run: &RunRecord, seq, calls: &[&str]| thought(run, seq, calls, "It is heavy.");
    let (going, other) = (run("going", RunState::Running), run("other", RunState::Answered));
    question.keep_all(vec![call("early"), call("shared")]).await.unwrap();
    question.keep_run(going.clone(), vec![event(&going, 0, &["early", "shared"])]).await.unwrap();
    base.keep_run(other.clone(), vec![event(&other, 0, &["shared"])]).await.unwrap();
    base.forget_files(&["a.txt".to_owned()], 7).await.unwrap();
    question.keep_all(vec![call("late")]).await.unwrap();
    base.for_a_question().await.unwrap().keep_all(vec![call("next")]).await.unwrap();
    let ended = run("going", RunState::Answered);
    question.keep_run(ended.clone(), vec![event(&ended, 1, &["late"])]).await.unwrap();
    let keys = ["early", "shared", "late", "next"].map(str::to_owned);
    let left = base.find_all(&keys).await.unwrap();
    assert_eq!(left.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false, true]);
    let runs = base.runs(RunQuery::Latest(9)).await.unwrap();
    assert_eq!(runs.into_iter().map(|run| run.id.0).collect::<Vec<_>>(), ["other"]);
    assert!(base.forgotten_run("going").await.unwrap().is_some());
    assert!(base.run_events(&ended.id).await.unwrap().is_empty());
    let verified = Verified {
        id: VerifiedId(1),
        question: "How heavy is it?".to_owned(),
        judgement: Judgement::Accepted,
        given: "Nine tons.".to_owned(),
        correction: None,
        by: "Ilse".to_owned(),
        at: 7,
        note: String::new(),
        class: None,
        method: "naive-rag".to_owned(),
        run: None,
        grounds: Vec::new(),
        context: Vec::new(),
    };
    let refused = question.put_verified(vec![verified.clone()], true).await.unwrap_err();
    assert!(refused.to_string().contains("verified"), "{refused}");
    base.put_verified(vec![verified], true).await.unwrap();
}

/// Not even for a moment: another process, which overwrites nothing, would leave the bytes in its
/// database.
#[tokio::test]
async fn a_question_of_another_process_writes_no_forgotten_content() {
    const SECRET: &str = "The secret crane lifts nine tons.";
    let (folder, base) = fresh();
    put(&base, "a.txt", SECRET).await;
    let other = Base::open(folder.path()).unwrap();
    let question = other.for_a_question().await.unwrap();
    base.forget_files(&["a.txt".to_owned()], 7).await.unwrap();
    let run = RunRecord { id: RunId("r".to_owned()), ..RunRecord::default() };
    let event = thought(&run, 0, &["late"], SECRET);
    question
        .keep_all(vec![CallRecord { request: SECRET.to_owned(), ..call("late") }])
        .await
        .unwrap();
    question.keep_run(run, vec![event]).await.unwrap();
    let is_in = |bytes: &Vec<u8>| bytes.windows(SECRET.len()).any(|at| at == SECRET.as_bytes());
    assert!(!files(folder.path()).values().any(is_in));
}

/// A pruned run counts too, because its calls stay without it.
#[tokio::test]
async fn calls_made_of_an_earlier_version_are_forgotten() {
    let (_folder, base) = fresh();
    put(&base, "a.txt", "The secret crane lifts nine tons.").await;
    put(&base, "b.txt", "The open crane lifts two tons.").await;
    let chunk_of = async |words: &str| base.matching_chunks(words, 1).await.unwrap()[0].item;
    let (secret, open) = (chunk_of("secret").await, chunk_of("open").await);
    let made_of = |key: &str, chunk| CallRecord {
        origin: CallOrigin { passages: vec![chunk], ..CallOrigin::default() },
        ..call(key)
    };
    let calls = [made_of("secret", secret), made_of("open", open), call("reworded"), call("other")];
    base.keep_all(calls.to_vec()).await.unwrap();
    for (id, chunk, key) in [("1", secret, "reworded"), ("2", open, "other")] {
        let (id, state) = (RunId(id.to_owned()), RunState::Answered);
        let run = RunRecord { id, state, ..RunRecord::default() };
        let event = thought(&run, 0, &[key], &format!("{:016x}", chunk.0));
        base.keep_run(run, vec![event]).await.unwrap();
    }
    let keep = RunsToKeep { now: 0, age: 1_000, number: 0 };
    assert_eq!(base.prune_runs(keep).await.unwrap().forgotten, 2);
    put(&base, "a.txt", "A heron.").await;
    let files = ["a.txt".to_owned()];
    let (calls, runs, verified) = (2, 0, 0);
    assert_eq!(base.remains_of(&files).await.unwrap(), Remains { calls, runs, verified });
    let done = Overwriting::Done;
    let forgotten = base.forget_files(&files, 7).await.unwrap();
    assert_eq!(forgotten, (Remains { calls, runs, verified }, done));
    let keys = ["secret", "reworded", "open", "other"].map(str::to_owned);
    let left = base.find_all(&keys).await.unwrap();
    let left: Vec<bool> = left.iter().map(Option::is_some).collect();
    assert_eq!(left, [false, false, true, true]);
}

/// The document has an invisible hyphen, which the prompt that shows the document omits.
#[tokio::test]
async fn invisible_characters_hide_no_call() {
    let (_folder, base) = fresh();
    put(&base, "a.txt", "The se\u{ad}cret crane lifts\u{200b} nine tons.").await;
    let request = "{\"text\": \"The secret crane lifts nine tons.\"}".to_owned();
    base.keep_all(vec![CallRecord { request, ..call("asked") }]).await.unwrap();
    assert_eq!(base.remains_of(&["a.txt".to_owned()]).await.unwrap().calls, 1);
}

// Copies.

/// Stops the writer of the next test.
static DONE: AtomicBool = AtomicBool::new(false);

/// A backup is one snapshot during writes: each file of the base is in it with its call, or neither
/// is.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_of_a_base_in_use_is_one_snapshot_and_can_be_restored() {
    let (folder, base) = fresh();
    let out = tempfile::tempdir().unwrap();
    put(&base, "first.txt", "The first crane.").await;
    base.keep_all(vec![call("first")]).await.unwrap();
    let writing = tokio::spawn(async move {
        for n in 0.. {
            if DONE.load(Ordering::Relaxed) {
                return n;
            }
            base.keep_all(vec![call(&format!("call {n}"))]).await.unwrap();
            put(&base, &format!("{n}.txt"), &format!("Crane {n}.")).await;
        }
        0
    });
    let copies: Vec<PathBuf> = (0..4).map(|n| out.path().join(format!("{n}.pikerag"))).collect();
    let other = Base::open(folder.path()).unwrap();
    for copy in &copies {
        let held = other.backup(copy).await.unwrap();
        assert_eq!(held.bytes, fs::metadata(copy).unwrap().len());
        // An existing file is not overwritten.
        let before = fs::read(copy).unwrap();
        assert!(other.backup(copy).await.is_err());
        assert!(before == fs::read(copy).unwrap());
    }
    DONE.store(true, Ordering::Relaxed);
    writing.await.unwrap();
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), copies.len(), "no draft is left");
    for (n, copy) in copies.iter().enumerate() {
        let to = out.path().join(format!("restored {n}"));
        let before = fs::read(copy).unwrap();
        let held = Base::restore(copy, &to).unwrap();
        assert!(before == fs::read(copy).unwrap());
        assert_eq!((held.calls - held.files) / 2, 0, "a call and its file: {held:?}");
        let base = Base::open(&to).unwrap();
        assert_eq!(found(&base, "first").await, ["first.txt"]);
        assert_eq!(base.find_all(&["first".to_owned()]).await.unwrap(), [Some(call("first"))]);
        assert_eq!(base.summary().await.unwrap().files, held.files);
        for finding in base.check(Repair::No).await.unwrap() {
            assert_ne!(finding.health, Health::Damaged, "{finding:?}");
        }
        let again = Base::restore(copy, &to).unwrap_err();
        assert!(matches!(problem(&again), BaseProblem::Exists { .. }), "{again:?}");
    }
}

/// Indexes in the folder from an earlier base are not used, whatever generation they have.
#[tokio::test]
async fn a_restored_base_ignores_earlier_indexes() {
    let (folder, base) = fresh();
    let out = tempfile::tempdir().unwrap();
    let copy = out.path().join("copy");
    put(&base, "a.txt", "A crane.").await;
    base.backup(&copy).await.unwrap();
    put(&base, "b.txt", "A heron.").await;
    base.refresh().await.unwrap();
    drop(base);
    fs::remove_file(folder.path().join(DATABASE)).unwrap();
    Base::restore(&copy, folder.path()).unwrap();
    let base = Base::open(folder.path()).unwrap();
    put(&base, "c.txt", "A pelican.").await;
    assert_eq!(found(&base, "heron").await, Vec::<String>::new());
    assert_eq!(found(&base, "pelican").await, ["c.txt"]);
}

#[tokio::test]
async fn a_damaged_backup_is_not_restored() {
    let (_folder, base) = fresh();
    let out = tempfile::tempdir().unwrap();
    let copy = out.path().join("copy");
    for n in 0..50 {
        put(&base, &format!("{n}.txt"), &format!("Crane {n} of the harbour.")).await;
    }
    base.backup(&copy).await.unwrap();
    let whole = fs::read(&copy).unwrap();
    let to = out.path().join("to");
    let page = whole.len() * 3 / 4 / 4096 * 4096;
    // A page of data; the schema behind the header; the layout number; the rest of the header.
    for (place, byte) in
        [(page..page + 4096, 0xff), (100..4096, 0), (100..4096, 0xff), (60..64, 0), (16..100, 0)]
    {
        let mut damaged = whole.clone();
        damaged[place.clone()].fill(byte);
        fs::write(&copy, damaged).unwrap();
        let error = Base::restore(&copy, &to).unwrap_err();
        assert!(
            matches!(problem(&error), BaseProblem::DamagedDatabase { .. }),
            "{place:?}: {error:?}"
        );
        assert!(!to.join(DATABASE).exists());
    }
    fs::write(&copy, &whole[..whole.len() - 4096]).unwrap();
    assert!(Base::restore(&copy, &to).is_err());
    assert!(!to.join(DATABASE).exists());
}

// Checks.

#[tokio::test]
async fn a_check_finds_damage_and_a_repair_rebuilds_derived_data() {
    let (folder, base) = fresh();
    for n in 0..9 {
        put(&base, &format!("{n}.txt"), &format!("Crane {n}.")).await;
    }
    base.keep_all(vec![call("paid")]).await.unwrap();
    base.refresh().await.unwrap();
    let all = base.check(Repair::No).await.unwrap();
    assert!(all.iter().all(|finding| finding.health == Health::Sound), "{all:#?}");
    drop(base);

    // Damages an index of the database, a segment and codes, and adds leftovers of a dead process.
    let connection = Connection::open(folder.path().join(DATABASE)).unwrap();
    connection
        .execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = 'CREATE INDEX chunks_by_generation ON chunks(ordinal)'
             WHERE name = 'chunks_by_generation';",
        )
        .unwrap();
    drop(connection);
    let text = text_folder(folder.path());
    let segment =
        files(&text).into_keys().find(|name| name.extension().is_some_and(|it| it == "idx"));
    let segment = text.join(segment.unwrap());
    let mut bytes = fs::read(&segment).unwrap();
    bytes[0] ^= 1;
    fs::write(&segment, bytes).unwrap();
    fs::write(folder.path().join("chunks.codes"), "pkvec").unwrap();
    fs::write(folder.path().join(format!("chunks.draft{GONE}")), "half").unwrap();
    fs::create_dir(folder.path().join("fulltext-v2")).unwrap();

    let base = Base::open(folder.path()).unwrap();
    let parts = [Part::FullText, Part::Vectors("chunks".to_owned()), Part::Leftovers];
    for part in &parts {
        assert_eq!(health(&base, Repair::No, part).await, (Health::Damaged, false), "{part:?}");
    }
    let repaired = base.check(Repair::Yes).await.unwrap();
    for finding in &repaired {
        assert_ne!(finding.health, Health::Damaged, "{finding:?}");
        assert_eq!(
            finding.repaired,
            parts.contains(&finding.part) || finding.part == Part::Database,
            "{finding:?}"
        );
    }
    assert_eq!(base.find_all(&["paid".to_owned()]).await.unwrap(), [Some(call("paid"))]);
    assert_eq!(found(&base, "crane").await.len(), 9);
}

/// The number of no process: the kernel assigns none so high.
const GONE: u32 = u32::MAX;

/// The folder of a base may hold the user's files: only those with our names, of a dead process,
/// are ours.
#[tokio::test]
async fn a_repair_removes_no_files_of_others() {
    let (folder, base) = fresh();
    let at = |name: String| folder.path().join(name);
    let living = std::process::id();
    let theirs = [
        format!("thesis.draft{GONE}"),
        "thesis.draft".to_owned(),
        "chunks.draft".to_owned(),
        "chunks.draft2026-07".to_owned(),
        format!("chunks.draft{living}"),
        format!("old chunks.draft{GONE}"),
        format!("notes.probe{GONE}"),
        format!("base.probe{living}"),
    ];
    let ours = [
        format!("chunks.draft{GONE}"),
        format!("{DATABASE}.draft{GONE}"),
        format!("base.probe{GONE}"),
    ];
    for name in theirs.iter().chain(&ours) {
        fs::write(at(name.clone()), "text").unwrap();
    }
    let folders = [format!("sections.draft{GONE}"), "fulltext-versions".to_owned()];
    for name in &folders {
        fs::create_dir(at(name.clone())).unwrap();
    }
    assert_eq!(health(&base, Repair::Yes, &Part::Leftovers).await, (Health::Sound, true));
    for name in theirs.into_iter().chain(folders) {
        assert!(at(name.clone()).exists(), "{name}");
    }
    for name in ours {
        assert!(!at(name.clone()).exists(), "{name}");
    }
}

/// A page with arbitrary bytes is reported with all other findings, and the database is not
/// restored.
#[tokio::test]
async fn a_database_with_a_bad_page_is_reported_as_damaged() {
    let (folder, base) = fresh();
    for n in 0..9 {
        put(&base, &format!("{n}.txt"), &format!("Crane {n}.")).await;
    }
    base.refresh().await.unwrap();
    drop(base);
    fs::write(folder.path().join(format!("chunks.draft{GONE}")), "half").unwrap();
    let path = folder.path().join(DATABASE);
    let whole = fs::read(&path).unwrap();
    for table in ["calls", "originals", "chunks", "atoms_by_chunk"] {
        fs::write(&path, &whole).unwrap();
        let connection = Connection::open(&path).unwrap();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let page: u32 = connection.query_row(sql, [table], |row| row.get(0)).unwrap();
        let page = page as usize;
        drop(connection);
        let mut bytes = whole.clone();
        bytes[(page - 1) * 4096..page * 4096].fill(0xa5);
        fs::write(&path, bytes).unwrap();
        let base = Base::open(folder.path()).unwrap();
        for repair in [Repair::No, Repair::Yes] {
            let findings = base.check(repair).await.unwrap();
            let of = |part: &Part| findings.iter().find(|it| it.part == *part).unwrap();
            assert_eq!(of(&Part::Database).health, Health::Damaged, "{table}: {findings:#?}");
            assert!(!of(&Part::Database).says.is_empty());
            let _ = of(&Part::Forgetting);
        }
        drop(base);
        let error = Base::restore(folder.path(), &folder.path().join("to")).unwrap_err();
        assert!(matches!(problem(&error), BaseProblem::DamagedDatabase { .. }), "{error:?}");
    }
}

/// Full text is intact, but differs from the database.
#[tokio::test]
async fn full_text_is_compared_with_the_database() {
    let (folder, base) = fresh();
    put(&base, "a.txt", "A crane.").await;
    put(&base, "b.txt", "A heron.").await;
    base.refresh().await.unwrap();
    drop(base);
    // The change bypasses the base: the counters stay as they are.
    let connection = Connection::open(folder.path().join(DATABASE)).unwrap();
    connection
        .execute_batch("PRAGMA foreign_keys = ON; DELETE FROM files WHERE path = 'a.txt'")
        .unwrap();
    drop(connection);
    let base = Base::open(folder.path()).unwrap();
    assert_eq!(health(&base, Repair::No, &Part::FullText).await, (Health::Damaged, false));
    assert_eq!(health(&base, Repair::Yes, &Part::FullText).await, (Health::Sound, true));
    assert_eq!(health(&base, Repair::No, &Part::FullText).await, (Health::Sound, false));
}

// Originals.

#[tokio::test]
async fn an_original_is_kept_once_and_goes_with_the_last_file_that_has_it() {
    let (_folder, base) = fresh();
    let (text, hash) = ("A crane.", record("a.txt", "A crane.").hash);
    put(&base, "a.txt", text).await;
    put(&base, "b.txt", text).await;
    assert_eq!(base.files_without_original().await.unwrap().len(), 2);
    assert!(base.keep_original(&hash, text.into()).await.unwrap());
    let kept = base.originals().await.unwrap();
    assert_eq!((kept.files, kept.without, kept.bytes), (2, 0, text.len() as u64));
    base.delete_file("a.txt").await.unwrap();
    assert_eq!(base.original(&hash).await.unwrap().as_deref(), Some(text.as_bytes()));
    // One file gets other content, and another file gets the old content.
    put(&base, "c.txt", text).await;
    put(&base, "b.txt", "A heron.").await;
    assert!(base.original(&hash).await.unwrap().is_some());
    base.delete_file("c.txt").await.unwrap();
    assert_eq!(base.original(&hash).await.unwrap(), None);
    assert!(!base.keep_original(&hash, text.into()).await.unwrap());
    assert_eq!(base.originals().await.unwrap().bytes, 0);
}

#[tokio::test]
async fn damaged_texts_are_found() {
    // In the third case a chunk equals its span of the document: only the hash shows the damage.
    let crone = "SET text = replace(text, 'A crane', 'A crone')";
    for damage in [
        "UPDATE sources SET text = 'A crone.'",
        "UPDATE chunks SET text = 'A crone.'",
        &format!("UPDATE sources {crone}; UPDATE chunks {crone}"),
    ] {
        let (folder, base) = fresh();
        put(&base, "a.txt", "A crane.").await;
        put(&base, "b.md", "# Law\n\nOne.\n\n## Cranes\n\nTwo | three.").await;
        assert_eq!(health(&base, Repair::No, &Part::Texts).await, (Health::Sound, false));
        drop(base);
        let connection = Connection::open(folder.path().join(DATABASE)).unwrap();
        connection.execute_batch(damage).unwrap();
        drop(connection);
        let base = Base::open(folder.path()).unwrap();
        assert_eq!(health(&base, Repair::Yes, &Part::Texts).await, (Health::Damaged, false));
    }
}

#[tokio::test]
async fn damaged_originals_are_found() {
    let (folder, base) = fresh();
    put(&base, "a.txt", "A crane.").await;
    base.keep_original(&record("a.txt", "A crane.").hash, b"A crane.".to_vec()).await.unwrap();
    assert_eq!(health(&base, Repair::No, &Part::Originals).await, (Health::Sound, false));
    drop(base);
    let connection = Connection::open(folder.path().join(DATABASE)).unwrap();
    connection.execute_batch("UPDATE originals SET bytes = CAST('A crone.' AS BLOB)").unwrap();
    drop(connection);
    let base = Base::open(folder.path()).unwrap();
    assert_eq!(health(&base, Repair::Yes, &Part::Originals).await, (Health::Damaged, false));
}

// The fixture.

fn thought(run: &RunRecord, seq: u32, calls: &[&str], text: &str) -> RunEvent {
    RunEvent {
        run: run.id.clone(),
        seq,
        parent: None,
        time: 7,
        decision: false,
        calls: calls.iter().map(|&key| key.to_owned()).collect(),
        event: Event::Thought { step: 1, text: text.to_owned() },
    }
}

fn fresh() -> (TempDir, Base) {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::open_or_create(folder.path()).unwrap();
    (folder, base)
}

fn record(path: &str, text: &str) -> FileRecord {
    let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    FileRecord { path: path.to_owned(), hash, recipe: "r".to_owned() }
}

async fn put(base: &Base, path: &str, text: &str) {
    let parsed = parse(path, text.as_bytes(), &Limits::default(), &pikerag_parse::NoTools).unwrap();
    let graph = |document| document_graph(path, document, ChunkParams::default());
    let graphs = parsed.documents.into_iter().map(graph).collect();
    base.put_file(&record(path, text), graphs).await.unwrap();
}

fn call(key: &str) -> CallRecord {
    CallRecord {
        key: key.to_owned(),
        role: "answer".to_owned(),
        model: "m".to_owned(),
        request: "{}".to_owned(),
        reply: "{}".to_owned(),
        usage: Usage { prompt_tokens: 1, completion_tokens: 1 },
        unusable: false,
        origin: CallOrigin::default(),
    }
}

/// The files whose chunks these words find, in order of name.
async fn found(base: &Base, words: &str) -> Vec<String> {
    let hits = base.matching_chunks(words, 99).await.unwrap();
    let ids: Vec<_> = hits.into_iter().map(|hit| hit.item).collect();
    let mut uris: Vec<String> =
        base.chunks(&ids).await.unwrap().into_iter().map(|chunk| chunk.uri).collect();
    uris.sort();
    uris
}

/// The health of a part, and whether it was repaired.
async fn health(base: &Base, repair: Repair, part: &Part) -> (Health, bool) {
    let findings = base.check(repair).await.unwrap();
    let finding = findings.into_iter().find(|finding| finding.part == *part).unwrap();
    (finding.health, finding.repaired)
}

fn problem(error: &StoreError) -> &BaseProblem {
    std::error::Error::source(error).unwrap().downcast_ref().unwrap()
}

fn text_folder(base: &Path) -> PathBuf {
    let entries = fs::read_dir(base).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.is_dir()).unwrap()
}

/// All files of a folder with their bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            files.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
    files
}
