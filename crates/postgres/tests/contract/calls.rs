//! Tests how replies, claims and runs are kept in PostgreSQL, forgotten and checked.

use pikerag_knowledge::{
    CallOrigin, CallRecord, Claim, CorpusWriter, Event, FileRecord, Filter, JobKind, JobPriority,
    JobQuery, JobRecord, JobState, Jobs, Ledger, RunEvent, RunId, RunQuery, RunRecord, RunState,
    RunStore, RunsToKeep, SearchIndex, Usage,
};
use pikerag_postgres::{Base, Connections, Database};
use pikerag_store::{Health, Overwriting, Part, Remains, Repair};
use tokio_postgres::NoTls;

use super::server::{Fresh, documents};

impl Fresh {
    /// The same base, as another process opens it.
    pub(crate) async fn other(&self) -> Base {
        let database = Database::connect(&self.location, Connections::default()).await.unwrap();
        Base::open(&database, &self.location).await.unwrap()
    }

    /// Runs statements in which `BASE` is the number of the base.
    async fn run(&self, sql: &str) {
        let (client, connection) =
            tokio_postgres::connect(self.location.database(), NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let number = "SELECT id::text FROM pikerag.bases WHERE name = $1";
        let row = client.query_one(number, &[&self.location.base()]).await.unwrap();
        client.batch_execute(&sql.replace("BASE", row.get(0))).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
    }

    async fn put(&self, path: &str, text: &str) {
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        let file = FileRecord { path: path.to_owned(), hash, recipe: "r".to_owned() };
        self.base.put_file(&file, documents(path, text)).await.unwrap();
    }

    /// Which of these calls are recorded.
    async fn has<const N: usize>(&self, keys: [&str; N]) -> [bool; N] {
        let found = self.base.find_all(&keys.map(str::to_owned)).await.unwrap();
        let mut found = found.into_iter();
        keys.map(|_| found.next().unwrap().is_some())
    }
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

fn run(id: &str, state: RunState) -> RunRecord {
    RunRecord { id: RunId(id.to_owned()), state, ..RunRecord::default() }
}

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

/// The process of a claim may be gone, or on another machine. A claim expires by the clock of the
/// server.
#[tokio::test]
async fn a_claim_ends_with_its_process_or_its_time() {
    let Some(fresh) = Fresh::new().await else { return };
    let other = fresh.other().await;
    let keys = ["a", "b"].map(str::to_owned);
    assert_eq!(fresh.base.claim_all(1, &keys[..1]).await.unwrap(), [Claim::Ours]);
    assert_eq!(other.claim_all(2, &keys).await.unwrap(), [Claim::Theirs, Claim::Ours]);
    // Another process had the number before.
    fresh.run("UPDATE pikerag.claims SET began = began - 1 WHERE base = BASE").await;
    assert_eq!(other.claim_all(3, &keys).await.unwrap(), [Claim::Ours, Claim::Ours]);
    let elsewhere = "UPDATE pikerag.claims SET place = 'elsewhere', began = 0 WHERE base = BASE";
    fresh.run(elsewhere).await;
    assert_eq!(other.claim_all(4, &keys).await.unwrap(), [Claim::Theirs, Claim::Theirs]);
    let over = "UPDATE pikerag.claims SET until = now() - interval '1 second' WHERE base = BASE";
    fresh.run(over).await;
    assert_eq!(other.claim_all(5, &keys).await.unwrap(), [Claim::Ours, Claim::Ours]);
    fresh.remove().await;
}

/// Many callers of two processes claim the same calls in any order: each call has one holder, and
/// no claim fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_claims_give_each_call_to_one_holder() {
    let Some(fresh) = Fresh::new().await else { return };
    let other = fresh.other().await;
    let tasks: Vec<_> = (0..8_u64)
        .map(|holder| {
            let base = if holder % 2 == 0 { fresh.base.clone() } else { other.clone() };
            tokio::spawn(async move {
                let mut keys: Vec<String> = (0..40).map(|n| format!("key {n}")).collect();
                keys.rotate_left(5 * holder as usize);
                if holder % 3 == 0 {
                    keys.reverse();
                }
                let claims = base.claim_all(holder, &keys).await.unwrap();
                let ours = |claim: &Claim| usize::from(*claim == Claim::Ours);
                claims.iter().map(ours).sum::<usize>()
            })
        })
        .collect();
    let mut ours = 0;
    for task in tasks {
        ours += task.await.unwrap();
    }
    assert_eq!(ours, 40);
    fresh.remove().await;
}

/// The reply is found in memory, and written with the next one.
#[tokio::test]
async fn a_reply_that_could_not_be_written_is_not_lost() {
    let Some(fresh) = Fresh::new().await else { return };
    let refuse = "CREATE FUNCTION pikerag.refuse_BASE() RETURNS trigger LANGUAGE plpgsql
             AS $$ BEGIN RAISE 'refused'; END $$;
         CREATE TRIGGER refuse_BASE BEFORE INSERT ON pikerag.calls FOR EACH ROW
             WHEN (NEW.base = BASE) EXECUTE FUNCTION pikerag.refuse_BASE()";
    fresh.run(refuse).await;
    assert!(fresh.base.keep_all(vec![call("paid")]).await.is_err());
    assert_eq!(fresh.has(["paid"]).await, [true]);
    assert_eq!(fresh.base.latest("paid").await.unwrap(), Some(call("paid")));
    let accept = "DROP TRIGGER refuse_BASE ON pikerag.calls; DROP FUNCTION pikerag.refuse_BASE()";
    fresh.run(accept).await;
    let other = fresh.other().await;
    let keys = ["paid", "next"].map(str::to_owned);
    assert_eq!(other.find_all(&keys).await.unwrap(), [None, None]);
    fresh.base.keep_all(vec![call("next")]).await.unwrap();
    assert_eq!(other.find_all(&keys).await.unwrap(), keys.each_ref().map(|key| Some(call(key))));
    fresh.remove().await;
}

/// PostgreSQL stores no character U+0000.
#[tokio::test]
async fn replies_with_any_character_come_back() {
    let Some(fresh) = Fresh::new().await else { return };
    let odd = CallRecord { reply: "a\0b\u{f8fe}".to_owned(), ..call("odd") };
    let origin = CallOrigin { template: Some("\0".into()), ..CallOrigin::default() };
    fresh.base.keep_all(vec![CallRecord { origin, ..odd.clone() }]).await.unwrap();
    assert_eq!(fresh.base.latest("odd").await.unwrap(), Some(odd));
    assert!(fresh.base.runs(RunQuery::Named("\0")).await.unwrap().is_empty());
    fresh.remove().await;
}

#[tokio::test]
async fn recorded_calls_belong_to_the_first_endpoint() {
    let Some(fresh) = Fresh::new().await else { return };
    let other = fresh.other().await;
    assert!(fresh.base.inherits("m", "first").await.unwrap());
    assert!(!other.inherits("m", "second").await.unwrap());
    assert!(other.inherits("m", "first").await.unwrap());
    assert!(other.inherits("n", "second").await.unwrap());
    fresh.remove().await;
}

/// Calls of other documents stay, and so do calls that only share a sentence with the document.
#[tokio::test]
async fn only_calls_that_hold_the_text_are_forgotten() {
    let Some(fresh) = Fresh::new().await else { return };
    let both = "The harbour is closed at night.";
    fresh.put("a.txt", &format!("The secret crane lifts nine tons. {both}")).await;
    fresh.put("b.txt", &format!("The open crane lifts two tons. {both}")).await;
    let with = |key: &str, request: &str, reply: &str| CallRecord {
        request: serde_json::json!({ "text": request }).to_string(),
        reply: serde_json::json!({ "text": serde_json::json!([reply]).to_string() }).to_string(),
        ..call(key)
    };
    let calls = vec![
        with("asked", "Read: The secret crane\nlifts nine tons. Well?", "[]"),
        with("replied", "Well?", "the book: The secret crane lifts nine tons."),
        with("shared", "Read: The harbour is closed at night.", "[]"),
        with("other", "Read: The open crane lifts two tons.", "[]"),
        with("near", "The secret crane lifts", "nine tons"),
    ];
    fresh.base.keep_all(calls).await.unwrap();
    let files = ["a.txt".to_owned()];
    assert_eq!(fresh.base.remains_of(&files).await.unwrap().calls, 2);
    assert_eq!(fresh.base.forget_files(&files, 7).await.unwrap().0.calls, 2);
    let left = fresh.has(["asked", "replied", "shared", "other", "near"]).await;
    assert_eq!(left, [false, false, true, true, true]);
    assert!(fresh.base.matching_chunks("secret", 9).await.unwrap().is_empty());
    fresh.remove().await;
}

/// A heading may equal a line of our prompts, or a word of a schema.
#[tokio::test]
async fn our_own_words_are_no_sign_of_a_document() {
    let Some(fresh) = Fresh::new().await else { return };
    let text =
        "# Output format\n\nThe secret crane lifts nine tons.\n\n## Safety of harbours\n\nNone.";
    fresh.put("a.md", text).await;
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
    fresh.base.keep_all(calls.to_vec()).await.unwrap();
    assert_eq!(fresh.base.forget_files(&["a.md".to_owned()], 7).await.unwrap().0.calls, 1);
    assert_eq!(fresh.has(["asked", "other"]).await, [false, true]);
    fresh.remove().await;
}

/// Data that a question of another process stores after a forget operation may hold the forgotten
/// content in other words.
#[tokio::test]
async fn an_earlier_question_stores_nothing_after_a_forget_operation() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    fresh.put("a.txt", "The secret crane lifts nine tons.").await;
    let question = fresh.other().await.for_a_question().await.unwrap();
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
    let left = fresh.has(["early", "shared", "late", "next"]).await;
    assert_eq!(left, [false, true, false, true]);
    let runs = base.runs(RunQuery::Latest(9)).await.unwrap();
    assert_eq!(runs.into_iter().map(|run| run.id.0).collect::<Vec<_>>(), ["other"]);
    assert!(base.forgotten_run("goi").await.unwrap().is_some());
    assert!(base.run_events(&ended.id).await.unwrap().is_empty());
    fresh.remove().await;
}

/// A pruned run counts too, because its calls stay without it.
#[tokio::test]
async fn calls_made_of_an_earlier_version_are_forgotten() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    fresh.put("a.txt", "The secret crane lifts nine tons.").await;
    fresh.put("b.txt", "The open crane lifts two tons.").await;
    let chunk_of = async |words: &str| base.matching_chunks(words, 1).await.unwrap()[0].item;
    let (secret, open) = (chunk_of("secret").await, chunk_of("open").await);
    let made_of = |key: &str, chunk| CallRecord {
        origin: CallOrigin { passages: vec![chunk], ..CallOrigin::default() },
        ..call(key)
    };
    let calls = [made_of("secret", secret), made_of("open", open), call("reworded"), call("other")];
    base.keep_all(calls.to_vec()).await.unwrap();
    for (id, chunk, key) in [("1", secret, "reworded"), ("2", open, "other")] {
        let run = run(id, RunState::Answered);
        let event = thought(&run, 0, &[key], &format!("{:016x}", chunk.0));
        base.keep_run(run, vec![event]).await.unwrap();
    }
    let keep = RunsToKeep { now: 0, age: 1_000, number: 0 };
    assert_eq!(base.prune_runs(keep).await.unwrap().forgotten, 2);
    fresh.put("a.txt", "A heron.").await;
    let files = ["a.txt".to_owned()];
    let remains = Remains { calls: 2, runs: 0, verified: 0 };
    assert_eq!(base.remains_of(&files).await.unwrap(), remains);
    assert_eq!(base.forget_files(&files, 7).await.unwrap().0, remains);
    let left = fresh.has(["secret", "reworded", "open", "other"]).await;
    assert_eq!(left, [false, false, true, true]);
    fresh.remove().await;
}

#[tokio::test]
async fn a_job_does_not_quote_a_forgotten_file() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    fresh.put("a.txt", "The secret crane lifts nine tons.").await;
    let job = |kind| JobRecord {
        id: 0,
        kind,
        state: JobState::Failed,
        key: None,
        cap_usd: None,
        setup: String::new(),
        bill: None,
        priority: JobPriority::Usual,
        worker: None,
        retry_refused: false,
        attempts: 1,
        reason: Some("a.txt: \0 is no letter".to_owned()),
        added: 1,
        started: None,
        ended: None,
        due: 1,
        outcome: Some(serde_json::json!({ "failed": ["a.txt"] })),
    };
    let reads_it = base.add_job(job(JobKind::Index), vec!["a.txt".to_owned()]).await.unwrap();
    let other = base.add_job(job(JobKind::Index), vec!["b.txt".to_owned()]).await.unwrap();
    let watches = base.add_job(job(JobKind::Watch), Vec::new()).await.unwrap();
    assert!(reads_it < other && other < watches);
    // It has read the file, which was then withdrawn.
    let goes_on = JobRecord { state: JobState::Waiting, ..job(JobKind::Index) };
    let goes_on = base.add_job(goes_on, vec!["b.txt".to_owned()]).await.unwrap();
    base.forget_files(&["a.txt".to_owned()], 7).await.unwrap();
    for (id, is_kept) in [(reads_it, false), (other, true), (watches, false)] {
        let found = base.jobs(JobQuery::One(id)).await.unwrap().remove(0);
        assert_eq!((found.reason.is_some(), found.outcome.is_some()), (is_kept, is_kept));
        assert_eq!(base.job_files(id).await.unwrap().len(), usize::from(is_kept));
    }
    let found = base.jobs(JobQuery::One(goes_on)).await.unwrap().remove(0);
    assert!(found.reason.is_none() && found.outcome.is_none(), "{found:?}");
    assert_eq!(base.job_files(goes_on).await.unwrap().len(), 1);
    fresh.remove().await;
}

/// PostgreSQL keeps rows that an earlier question can still read. The mark stays until they are
/// removed.
#[tokio::test]
async fn rows_stay_while_an_earlier_question_reads_them() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    assert_eq!(base.finish_forgetting().await.unwrap(), Overwriting::Nothing);
    fresh.put("a.txt", "The secret crane lifts nine tons.").await;
    let (visible, filter) = (Filter::default(), Filter::default());
    let question = base.seen_through(&visible, &filter).await.unwrap();
    let (_, overwriting) = base.forget_files(&["a.txt".to_owned()], 7).await.unwrap();
    assert_eq!(overwriting, Overwriting::StillRead);
    assert_eq!(health(base, Repair::No, &Part::Forgetting).await, (Health::Damaged, false));
    assert_eq!(question.matching_chunks("secret", 9).await.unwrap().len(), 1);
    drop(question);
    // Questions of other tests may have begun meanwhile.
    while base.finish_forgetting().await.unwrap() == Overwriting::StillRead {}
    assert_eq!(base.finish_forgetting().await.unwrap(), Overwriting::Nothing);
    assert_eq!(health(base, Repair::No, &Part::Forgetting).await, (Health::Sound, false));
    fresh.remove().await;
}

#[tokio::test]
async fn a_check_finds_damage_and_a_repair_rebuilds_derived_data() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    fresh.put("a.txt", "The secret crane lifts nine tons.").await;
    let findings = base.check(Repair::No).await.unwrap();
    let unsound: Vec<_> = findings.iter().filter(|it| it.health != Health::Sound).collect();
    assert!(unsound.is_empty(), "{unsound:?}");
    let ends = [findings.first(), findings.last()].map(|it| it.map(|it| it.part.clone()));
    assert_eq!(ends, [Some(Part::Database), Some(Part::Forgetting)]);

    fresh.run("DELETE FROM pikerag.words WHERE base = BASE").await;
    assert_eq!(health(base, Repair::No, &Part::FullText).await, (Health::Damaged, false));
    assert_eq!(health(base, Repair::Yes, &Part::FullText).await, (Health::Sound, true));
    assert_eq!(base.matching_chunks("secret", 9).await.unwrap().len(), 1);

    fresh.run("UPDATE pikerag.sources SET text = text || ' ' WHERE base = BASE").await;
    assert_eq!(health(base, Repair::Yes, &Part::Texts).await, (Health::Damaged, false));
    let orphan = "SET session_replication_role = replica;
         INSERT INTO pikerag.run_events (base, run, seq, event) VALUES (BASE, 'none', 0, '{}')";
    fresh.run(orphan).await;
    assert_eq!(health(base, Repair::No, &Part::Database).await, (Health::Damaged, false));
    fresh.remove().await;
}

async fn health(base: &Base, repair: Repair, part: &Part) -> (Health, bool) {
    let findings = base.check(repair).await.unwrap();
    let found = findings.iter().find(|finding| finding.part == *part).unwrap();
    (found.health, found.repaired)
}
