//! Tests that a store keeps calls with their claims, refusals, and runs.

use pikerag_knowledge::{
    AtomKind, AtomQuery, CallOrigin, CallRecord, ChunkResults, ChunkSet, Claim, Event, NodeId,
    Pruned, Refusal, RefusalCause, RunEvent, RunId, RunQuery, RunRecord, RunState, RunsToKeep,
    Stage, Usage,
};

use super::fixture::{atom, found_in, put_pages, questions};
use crate::{Shelf, Store};

pub async fn a_call_is_kept_once_and_found_by_its_key(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    base.keep_all(vec![call("b", "first"), call("a", "of a")]).await.unwrap();
    base.keep_all(vec![call("b", "second")]).await.unwrap();
    let keys = ["a", "none", "b"].map(str::to_owned);
    let found = base.find_all(&keys).await.unwrap();
    assert_eq!(found, [Some(call("a", "of a")), None, Some(call("b", "first"))]);
    let summary = base.summary().await.unwrap();
    assert_eq!((summary.calls, summary.usage.prompt_tokens), (2, 6));
}

pub async fn the_last_reply_to_a_request_is_found_and_each_by_its_own_key(
    shelf: &Shelf<impl Store>,
) {
    let base = &shelf.store;
    let keys = ["k", "k#1", "k#2", "k#10", "k1"];
    base.keep_all(keys.map(|key| call(key, key)).to_vec()).await.unwrap();
    assert_eq!(base.latest("k").await.unwrap().unwrap().key, "k#10");
    assert_eq!(base.latest("k1").await.unwrap().unwrap().key, "k1");
    assert_eq!(base.latest("other").await.unwrap(), None);
    base.mark_unusable(&["k#2".to_owned(), "none".to_owned()]).await.unwrap();
    for key in keys {
        let found = base.find_all(&[key.to_owned()]).await.unwrap().remove(0).unwrap();
        assert_eq!((found.reply.as_str(), found.unusable), (key, key == "k#2"));
    }
}

pub async fn a_call_is_claimed_by_one_until_it_is_kept_or_released(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let keys = ["a", "b", "c"].map(str::to_owned);
    let ours = [Claim::Ours, Claim::Ours];
    assert_eq!(base.claim_all(1, &keys[..2]).await.unwrap(), ours);
    // The holder may claim its call again.
    assert_eq!(base.claim_all(1, &keys[..2]).await.unwrap(), ours);
    let theirs = [Claim::Theirs, Claim::Theirs, Claim::Ours];
    assert_eq!(base.claim_all(2, &keys).await.unwrap(), theirs);
    base.keep_all(vec![call("a", "said")]).await.unwrap();
    // Only the holder can release a claim.
    base.release(6, &keys[..2]);
    let claims = base.claim_all(2, &keys[..2]).await.unwrap();
    assert_eq!(claims, [Claim::Recorded, Claim::Theirs]);
    base.release(1, &keys);
    assert_eq!(base.claim_all(2, &keys[1..2]).await.unwrap(), [Claim::Ours]);
    assert_eq!(base.claim_all(3, &keys[2..]).await.unwrap(), [Claim::Theirs]);
    // The claim of a dropped task comes too late and is not made.
    let late = ["late".to_owned()];
    base.release(4, &late);
    base.claim_all(4, &late).await.unwrap();
    assert_eq!(base.claim_all(5, &late).await.unwrap(), [Claim::Ours]);
}

pub async fn refusals_are_listed_until_answered_or_retried(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let chunks = put_pages(shelf, 3).await;
    let embed = Stage::embed("e");
    let refused = |stage: &Stage, node: NodeId, reason: &str| Refusal {
        stage: stage.clone(),
        node,
        label: "a page".to_owned(),
        cause: RefusalCause::Refused,
        reason: reason.to_owned(),
    };
    let of = |n: usize| refused(&questions(), chunks[n].into(), "too long");
    let text = refused(&embed, chunks[2].into(), "too long");
    base.put_refusals(vec![of(0), of(1), text.clone()], Vec::new()).await.unwrap();
    // A refusal counts once a placeholder is stored; until then the chunk is pending.
    assert_eq!(base.refusals().await.unwrap(), vec![text.clone()]);
    let substitutes = |chunk| found_in(chunk, vec![atom(chunk, "q?")]);
    base.put_chunk_results(ChunkResults::Atoms(
        questions(),
        vec![substitutes(chunks[0]), substitutes(chunks[1])],
    ))
    .await
    .unwrap();
    let listed = base.refusals().await.unwrap();
    assert_eq!(listed.len(), 3);
    assert!([of(0), of(1), text.clone()].iter().all(|refusal| listed.contains(refusal)));
    // The latest reason counts; answered items are no longer listed.
    let answered = vec![(questions(), chunks[1].into())];
    let other = refused(&embed, chunks[2].into(), "by a filter");
    base.put_refusals(vec![other.clone()], answered).await.unwrap();
    let listed = base.refusals().await.unwrap();
    assert_eq!(listed.len(), 2);
    assert!([of(0), other].iter().all(|refusal| listed.contains(refusal)));
    let counted = base.summary().await.unwrap().refused;
    assert_eq!(counted.iter().map(|refused| refused.count).sum::<usize>(), 2);
    // A refusal is removed with its chunk.
    assert!(base.delete_file("02.txt").await.unwrap());
    assert_eq!(base.refusals().await.unwrap(), [of(0)]);
    assert_eq!(base.retry_refused().await.unwrap(), 1);
    assert_eq!(base.refusals().await.unwrap(), []);
    assert_eq!(
        base.pending(&questions(), ChunkSet::Searchable, None, 9).await.unwrap(),
        [chunks[0]]
    );
    assert_eq!(
        base.atoms(AtomQuery::InChunks(AtomKind::Question, &chunks[..1])).await.unwrap(),
        []
    );
}

pub async fn runs_are_listed_latest_first_and_found_by_prefix(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    for (id, started) in [("aa1", 5), ("ab2", 9), ("ac3", 5), ("b", 1)] {
        base.keep_run(run(id, started, RunState::Answered), Vec::new()).await.unwrap();
    }
    assert_eq!(ids(&base.runs(RunQuery::Latest(9)).await.unwrap()), ["ab2", "aa1", "ac3", "b"]);
    assert_eq!(ids(&base.runs(RunQuery::Latest(2)).await.unwrap()), ["ab2", "aa1"]);
    assert_eq!(ids(&base.runs(RunQuery::Named("ab")).await.unwrap()), ["ab2"]);
    assert_eq!(
        base.runs(RunQuery::Named("a")).await.unwrap().len(),
        2,
        "enough to see that it is not clear"
    );
    assert_eq!(base.runs(RunQuery::Named("c")).await.unwrap(), []);
}

pub async fn a_run_is_replaced_with_its_events_in_order(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let going = run("r", 1, RunState::Running);
    base.keep_run(going.clone(), vec![event("r", 1), event("r", 0)]).await.unwrap();
    base.keep_run(run("other", 1, RunState::Running), vec![event("other", 0)]).await.unwrap();
    assert_eq!(base.runs(RunQuery::Named("r")).await.unwrap(), [going]);
    let ended = RunRecord { ended: Some(7), ..run("r", 1, RunState::Answered) };
    base.keep_run(ended.clone(), vec![event("r", 2)]).await.unwrap();
    assert_eq!(base.runs(RunQuery::Named("r")).await.unwrap(), [ended]);
    let events = base.run_events(&RunId("r".to_owned())).await.unwrap();
    assert_eq!(events, [event("r", 0), event("r", 1), event("r", 2)]);
    assert_eq!(base.run_events(&RunId("none".to_owned())).await.unwrap(), []);
}

pub async fn old_runs_are_pruned_and_running_ones_stay(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    for (id, started, state) in [
        ("old", 1, RunState::Running),
        ("going", 3, RunState::Running),
        ("third", 4, RunState::Failed),
        ("second", 5, RunState::Cancelled),
        ("first", 6, RunState::Answered),
    ] {
        base.keep_run(run(id, started, state), vec![event(id, 0)]).await.unwrap();
    }
    let keep = |number| RunsToKeep { now: 6, age: 100, number };
    assert_eq!(base.prune_runs(keep(2)).await.unwrap().forgotten, 1);
    assert_eq!(
        ids(&base.runs(RunQuery::Latest(9)).await.unwrap()),
        ["first", "second", "going", "old"]
    );
    assert_eq!(base.run_events(&RunId("third".to_owned())).await.unwrap(), []);
    assert_eq!(base.prune_runs(keep(9)).await.unwrap(), Pruned::default());
}

pub async fn a_jump_of_the_clock_makes_no_run_old(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let keep_run = async |id: &str, started| {
        base.keep_run(run(id, started, RunState::Answered), Vec::new()).await.unwrap();
    };
    for (id, started) in [("a", 0), ("b", 20), ("c", 40), ("d", 60), ("e", 80)] {
        keep_run(id, started).await;
    }
    let keep = |now| RunsToKeep { now, age: 100, number: 99 };
    assert_eq!(base.prune_runs(keep(80)).await.unwrap(), Pruned::default());
    // The clock is a year ahead: nothing is removed, and one warning is logged.
    keep_run("f", 9000).await;
    let leap = Pruned { forgotten: 0, leap: Some(8920) };
    assert_eq!(base.prune_runs(keep(9000)).await.unwrap(), leap);
    // From then on the pause counts as a quarter of the age: `a` is 80 + 25 old.
    keep_run("g", 9000).await;
    let pruned = base.prune_runs(keep(9000)).await.unwrap();
    assert_eq!(pruned, Pruned { forgotten: 1, leap: None });
    assert_eq!(
        ids(&base.runs(RunQuery::Latest(99)).await.unwrap()),
        ["f", "g", "e", "d", "c", "b"]
    );
    // The clock is corrected.
    keep_run("h", 90).await;
    assert_eq!(base.prune_runs(keep(90)).await.unwrap(), Pruned::default());
}

fn call(key: &str, reply: &str) -> CallRecord {
    CallRecord {
        key: key.to_owned(),
        role: "answer".to_owned(),
        model: "m".to_owned(),
        request: "{}".to_owned(),
        reply: reply.to_owned(),
        usage: Usage { prompt_tokens: 3, completion_tokens: 1 },
        unusable: false,
        origin: CallOrigin::default(),
    }
}

fn run(id: &str, started: u64, state: RunState) -> RunRecord {
    RunRecord { id: RunId(id.to_owned()), started, state, ..RunRecord::default() }
}

fn event(run: &str, seq: u32) -> RunEvent {
    RunEvent {
        run: RunId(run.to_owned()),
        seq,
        parent: seq.checked_sub(1),
        time: 7,
        decision: false,
        calls: vec!["key".to_owned()],
        event: Event::Thought { step: 1, text: format!("of {run}") },
    }
}

fn ids(runs: &[RunRecord]) -> Vec<&str> {
    runs.iter().map(|run| run.id.0.as_str()).collect()
}
