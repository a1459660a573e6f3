//! Tests that two processes on one base make each call once.

use std::fmt::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::Place;
use crate::talker::Talker;

const INDEX: [&str; 4] = ["--base", "base", "index", "docs"];
const IN_FLIGHT: u64 = 4;
const SETTINGS: &str = "[chat]\nin_flight = 4\n[embed]\nbatch = 8\nin_flight = 2\n";
const FIRMS: u64 = 40;

fn firms(talker: &Talker) -> Place {
    let place = talker.place();
    place.write("pikerag.toml", SETTINGS);
    let mut corpus = String::new();
    for n in 0..FIRMS {
        let text = format!("Firm {n} makes cranes of {n} tons in Port {}.", n % 7);
        let record = serde_json::json!({"title": format!("Firm {n}"), "text": text});
        writeln!(corpus, "{record}").unwrap();
    }
    place.write("docs/corpus.jsonl", corpus);
    place
}

fn indexing(place: &Place) -> Child {
    place.command(&INDEX).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until this number of requests has reached the server, which answers none of them.
fn wait_for_requests(talker: &Talker, requests: u64) {
    let began = Instant::now();
    while talker.received().requests() < requests {
        assert!(
            began.elapsed() < Duration::from_mins(5),
            "{} requests",
            talker.received().requests()
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn two_processes_on_one_base_make_each_call_once() {
    let talker = Talker::start();
    let place = firms(&talker);
    place.run_to(0, &INDEX);
    let (alone, calls) = (place.export("base"), talker.received().chats);
    std::fs::remove_dir_all(place.path("base")).unwrap();
    talker.reset();

    talker.answer_only(0);
    let mut children = [indexing(&place), indexing(&place)];
    wait_for_requests(&talker, IN_FLIGHT);
    // Long enough for the second process to make the same calls, if it did so.
    std::thread::sleep(Duration::from_secs(2));
    talker.answer_all();
    for child in &mut children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!((talker.received().repeated_chats, talker.received().repeated_texts), (0, 0));
    assert_eq!((calls, talker.received().chats), (FIRMS, FIRMS));
    assert!(place.export("base") == alone, "another base");
}

/// A process that waits for the calls of a killed process makes them itself.
#[test]
fn a_waiting_process_takes_over_the_calls_of_a_killed_one() {
    let talker = Talker::start();
    let place = firms(&talker);
    talker.answer_only(0);
    let mut first = indexing(&place);
    wait_for_requests(&talker, IN_FLIGHT);
    let mut second = indexing(&place);
    std::thread::sleep(Duration::from_millis(500));
    first.kill().unwrap();
    first.wait().unwrap();
    talker.answer_all();
    assert_eq!(second.wait().unwrap().code(), Some(0));
    // Only the replies to calls in flight are lost.
    assert!(talker.received().repeated_chats <= IN_FLIGHT, "{}", talker.received().repeated_chats);
    assert_eq!(talker.received().chats - talker.received().repeated_chats, FIRMS);
}
