//! Tests that jobs survive the end of the server, that a restart pays only for accepted work, and
//! that deleted files stay deleted.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pikerag_test_support::{Faults, Server, oracle};
use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::limits::{counter, wait_until};
use crate::serve::{finds, put, with_papers};
use crate::serving::{Reply, Serving, read};

const BASE: &str = "/api/v1/bases/default";

fn is_over(job: &Value) -> bool {
    ["done", "incomplete", "failed"].contains(&job["stand"].as_str().unwrap())
}

fn number(reply: &Reply) -> u64 {
    let body = reply.json();
    body["job"].as_u64().or(body["id"].as_u64()).unwrap_or_else(|| panic!("{reply:?}"))
}

/// Waits until a job has ended and returns it.
fn wait_for_job(serving: &Serving, id: u64) -> Value {
    serving.wait_until(&format!("{BASE}/jobs/{id}"), "", is_over)
}

fn text(n: usize) -> Vec<u8> {
    format!(
        "# Crane {n}\n\nThe crane {n} of Hamburg was built by Ilse Brandt number {n} in Varnsund.\n"
    )
    .into_bytes()
}

fn kill(mut serving: Serving) {
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
}

/// Waits until this number of requests has reached the model.
fn wait_for_requests(stub: &Server, requests: u64) {
    let began = Instant::now();
    while stub.received().requests() < requests {
        assert!(began.elapsed() < Duration::from_mins(1), "{:?}", stub.received());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The number of requests that have reached the model, after the last ones of killed servers.
fn settled_requests(stub: &Server) -> u64 {
    loop {
        let requests = stub.received().requests();
        std::thread::sleep(Duration::from_millis(200));
        if requests == stub.received().requests() {
            return requests;
        }
    }
}

/// Makes the model accept requests without an answer; the number of requests so far.
fn mute(stub: &Server) -> u64 {
    let requests = stub.received().requests();
    stub.answer_only(requests);
    requests
}

#[test]
fn a_restart_resumes_accepted_jobs_and_leaves_held_files() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let serving = place.serve(&[]);
    assert_eq!(put(&serving, "files/held.md?hold=true", None, &text(0)).status, 200);
    let requests = mute(&stub);
    let accepted = number(&put(&serving, "files/accepted.md", None, &text(1)));
    let behind = number(&put(&serving, "files/behind.md", None, &text(2)));
    wait_for_requests(&stub, requests + 1);
    // Discarding all pending files leaves the files that jobs will read.
    let gone = serving.request("DELETE", &format!("{BASE}/sent"), &[], b"").json();
    assert_eq!(gone[0]["file"], "held.md", "{gone}");
    assert_eq!(gone.as_array().unwrap().len(), 1, "{gone}");
    assert_eq!(put(&serving, "files/held.md?hold=true", None, &text(0)).status, 200);
    kill(serving);
    stub.answer_all();
    let serving = place.serve(&[]);
    for id in [accepted, behind] {
        assert_eq!(wait_for_job(&serving, id)["stand"], "done");
    }
    // A later job runs after all jobs that the restart resumed.
    let later = number(&put(&serving, "files/later.md", None, &text(3)));
    assert_eq!(wait_for_job(&serving, later)["stand"], "done");
    let sent = serving.get(&format!("{BASE}/sent"), "").json();
    let held = sent.as_array().unwrap().iter().filter(|file| file["in_base"] == false);
    assert_eq!(held.map(|file| &file["file"]).collect::<Vec<_>>(), ["held.md"], "{sent}");
}

#[test]
fn a_new_model_is_offered_its_work_and_paid_only_when_accepted() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let serving = place.serve(&["--offline"]);
    for n in 0..4 {
        let job = number(&put(&serving, &format!("files/{n}.md"), None, &text(n)));
        assert_eq!(wait_for_job(&serving, job)["stand"], "done");
    }
    kill(serving);
    let serving = place.serve(&[]);
    let offered = |jobs: &Value| {
        jobs.as_array().unwrap().iter().find(|job| job["stand"] == "offered").cloned()
    };
    let jobs = serving.wait_until(&format!("{BASE}/jobs"), "", |jobs| offered(jobs).is_some());
    let offer = offered(&jobs).unwrap();
    assert_eq!((&offer["kind"], &offer["accepted"]["calls"]), (&json!("complete"), &json!(4)));
    assert_eq!(stub.received().requests(), 0, "{:?}", stub.received());
    // Another file costs only its own call.
    let job = wait_for_job(&serving, number(&put(&serving, "files/5.md", None, &text(5))));
    assert_eq!((&job["stand"], &job["accepted"]["calls"]), (&json!("done"), &json!(1)), "{job}");
    assert_eq!(stub.received().chats, 1);
    let begin = format!("{BASE}/jobs/{}/begin", offer["id"]);
    let reply = serving.post(&begin, "", &json!({}));
    assert_eq!((reply.status, number(&reply)), (202, offer["id"].as_u64().unwrap()));
    assert_eq!(wait_for_job(&serving, number(&reply))["stand"], "done");
    assert_eq!(stub.received().chats, 5);
    let again = serving.post(&begin, "", &json!({}));
    assert_eq!((again.status, again.json()["code"].as_str()), (409, Some("not-offered")));
    assert_eq!(serving.post(&format!("{BASE}/jobs/999/begin"), "", &json!({})).status, 404);
}

#[test]
fn a_job_that_was_accepted_under_another_model_is_offered() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let serving = place.serve(&[]);
    let requests = mute(&stub);
    let jobs: Vec<u64> =
        (0..2).map(|n| number(&put(&serving, &format!("files/{n}.md"), None, &text(n)))).collect();
    wait_for_requests(&stub, requests + 1);
    kill(serving);
    let requests = settled_requests(&stub);
    stub.answer_all();
    let place = place.set("OPENAI_MODEL", "other");
    let serving = place.serve(&[]);
    for id in &jobs {
        let path = format!("{BASE}/jobs/{id}");
        let job = serving.wait_until(&path, "", |job| job["stand"] == "offered");
        assert_eq!(job["accepted"]["calls"], json!(1), "{job}");
    }
    assert_eq!(stub.received().requests(), requests);
    // Without a name, only files without a job can be discarded, and there are none.
    assert_eq!(serving.request("DELETE", &format!("{BASE}/sent"), &[], b"").status, 409);
    let gone = serving.request("DELETE", &format!("{BASE}/sent?file=1.md"), &[], b"").json();
    assert_eq!(gone[0]["file"], "1.md", "{gone}");
    assert_eq!(serving.post(&format!("{BASE}/jobs/{}/begin", jobs[0]), "", &json!({})).status, 202);
    assert_eq!(wait_for_job(&serving, jobs[0])["stand"], "done");
}

#[test]
fn a_file_that_ended_the_process_three_times_is_set_aside() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let mut serving = place.serve(&[]);
    mute(&stub);
    let job = number(&put(&serving, "files/poison.md", None, &text(0)));
    let path = format!("{BASE}/jobs/{job}");
    for attempt in 1..=3 {
        // The server has begun the file. The model's count does not show this, because it counts
        // requests of a killed server late.
        serving.wait_until(&path, "", |job| job["attempts"] == attempt && job["stage"] != "");
        kill(serving);
        if attempt == 3 {
            break;
        }
        serving = place.serve(&[]);
    }
    let requests = settled_requests(&stub);
    stub.answer_all();
    let serving = place.serve(&[]);
    let aside = serving.wait_until(&path, "", |job| job["stand"] == "set_aside");
    assert!(aside["reason"].as_str().unwrap().contains("poison.md"), "{aside}");
    assert_eq!(stub.received().requests(), requests);
    assert_eq!(serving.post(&format!("{path}/begin"), "", &json!({})).status, 202);
    assert_eq!(wait_for_job(&serving, job)["stand"], "done");
}

#[test]
fn an_unreachable_model_is_retried_and_the_reason_shown() {
    let stub = good_stub();
    let place = Place::with(&stub);
    place.write("pikerag.toml", "[chat]\nmax_attempts = 1\n");
    let serving = place.serve(&[]);
    stub.spoil_chats("crane 7", pikerag_test_support::Fault::Broken);
    let job = number(&put(&serving, "files/7.md", None, &text(7)));
    let path = format!("{BASE}/jobs/{job}");
    let waiting = serving.wait_until(&path, "", |job| !job["reason"].is_null());
    assert_eq!((&waiting["stand"], &waiting["attempts"]), (&json!("waiting"), &json!(1)));
    stub.stop_faults();
    let done = wait_for_job(&serving, job);
    assert_eq!((&done["stand"], &done["attempts"]), (&json!("done"), &json!(2)), "{done}");
}

/// A file that has grown since its bill was accepted is not paid for beyond that bill and its margin of 16 calls.
#[test]
fn a_job_keeps_to_the_bill_that_was_accepted() {
    let stub = good_stub();
    let place = Place::with(&stub);
    place.write("pikerag.toml", "[chat]\nmax_attempts = 1\n");
    let serving = place.serve(&[]);
    stub.spoil_chats("crane 7", pikerag_test_support::Fault::Broken);
    let job = number(&put(&serving, "files/7.md", None, &text(7)));
    let path = format!("{BASE}/jobs/{job}");
    let waiting = serving.wait_until(&path, "", |job| !job["reason"].is_null());
    assert_eq!((&waiting["stand"], &waiting["accepted"]["calls"]), (&json!("waiting"), &json!(1)));
    let section = |n: usize| {
        let sentence = format!("The crane number {n} lifts forty tons. ");
        format!("# Crane {n}\n\n{}\n", sentence.repeat(60))
    };
    place.write("base.uploads/7.md", (100..140).map(section).collect::<String>());
    stub.stop_faults();
    let before = stub.received().chats;
    let ended_job = wait_for_job(&serving, job);
    let calls = stub.received().chats - before;
    assert!(calls <= 17, "{calls} calls: {ended_job}");
    assert_eq!(ended_job["stand"], "incomplete", "{ended_job}");
}

/// Eight calls of a job wait for the only slot of the model; a later call of a question overtakes
/// them.
#[test]
fn a_question_overtakes_the_calls_of_a_job() {
    let prompts = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&prompts);
    let model = move |prompt: &str| {
        asked.lock().unwrap().push(prompt.to_owned());
        oracle(prompt)
    };
    let stub = Server::start(model, Faults::default(), Duration::ZERO);
    let place = Place::new().set("OPENAI_BASE_URL", &stub.url()).set("OPENAI_MODEL", "stub");
    let settings = "[chat]\nin_flight = 1\n[roles.atomize]\nmodel = \"stub\"\nin_flight = 8\n";
    place.write("pikerag.toml", settings);
    let serving = place.serve(&[]);
    let first = number(&put(&serving, "files/first.md", None, &text(0)));
    assert_eq!(wait_for_job(&serving, first)["stand"], "done");
    for n in 1..=10 {
        let held = put(&serving, &format!("files/{n}.md?hold=true"), None, &text(n));
        assert_eq!(held.status, 200, "{held:?}");
    }
    let requests = mute(&stub);
    assert_eq!(serving.post(&format!("{BASE}/index"), "", &json!({})).status, 202);
    wait_for_requests(&stub, requests + 1);
    let body = json!({"question": "What does the crane Quillwort lift?", "method": "naive-rag"});
    let headers = [("Content-Type", "application/json")];
    let path = format!("{BASE}/ask");
    let stream = serving.send("POST", &path, &headers, body.to_string().as_bytes());
    wait_until("the run has begun", || counter(&serving, "pikerag_runs_underway") == 1);
    // The model answers one call at a time, so that the question has time to join the queue.
    for n in 1..=11 {
        std::thread::sleep(Duration::from_millis(500));
        stub.answer_only(requests + n);
    }
    stub.answer_all();
    assert_eq!(read(stream).status, 200);
    let prompts = prompts.lock().unwrap();
    let place = prompts.iter().position(|prompt| prompt.contains("Quillwort")).unwrap();
    assert!(place <= 5, "{place} of {}", prompts.len());
}

/// At its start, the server drops a partial upload whose last piece is at least seven days old.
#[test]
fn an_abandoned_upload_is_dropped_after_a_week() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    let send = |name: &str| {
        let begun = put(&serving, &format!("files/{name}"), Some("bytes 0-3/9"), b"# Cr");
        assert_eq!(begun.status, 202, "{begun:?}");
    };
    send("old.md");
    let parts = place.path("base.uploads/.parts");
    let day = Duration::from_hours(24);
    for entry in std::fs::read_dir(parts).unwrap() {
        let file = std::fs::File::options().append(true).open(entry.unwrap().path()).unwrap();
        file.set_modified(std::time::SystemTime::now() - 8 * day).unwrap();
    }
    send("new.md");
    // The server does not look for jobs of a base that does not exist yet.
    let whole = number(&put(&serving, "files/whole.md", None, &text(0)));
    assert_eq!(wait_for_job(&serving, whole)["stand"], "done");
    kill(serving);
    let serving = place.serve(&["--offline"]);
    let parts = serving
        .wait_until(&format!("{BASE}/parts"), "", |parts| parts.as_array().unwrap().len() == 1);
    assert_eq!(parts[0]["file"], "new.md");
}

/// Jobs keep their identifiers, however many there are.
#[test]
fn jobs_keep_their_identifiers() {
    let place = Place::new();
    let serving = place.serve(&["--offline"]);
    let first = number(&put(&serving, "files/0.md", None, &text(0)));
    let mut last = first;
    for _ in 0..510 {
        let begun = serving.post(&format!("{BASE}/index"), "", &json!({"files": ["0.md"]}));
        last = number(&begun);
    }
    assert_eq!(wait_for_job(&serving, last)["stand"], "done");
    assert_eq!(wait_for_job(&serving, first)["stand"], "done");
    kill(serving);
    let serving = place.serve(&["--offline"]);
    let body = serving.get(&format!("{BASE}/jobs/{first}"), "").json();
    assert_eq!((&body["stand"], &body["id"]), (&json!("done"), &json!(first)), "{body}");
    assert!(body["report"]["report"]["files"][0][0].as_str().unwrap().ends_with("0.md"), "{body}");
    assert_eq!(serving.get(&format!("{BASE}/jobs"), "").json().as_array().unwrap().len(), 500);
}

/// Deleting a file of the server's disk from the base leaves it on the disk. A waiting job does not
/// read it again.
#[test]
fn a_waiting_job_does_not_read_a_deleted_file_of_the_disk() {
    let stub = good_stub();
    let place = with_papers(Place::with(&stub));
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let serving = place.serve(&[]);
    let requests = mute(&stub);
    let first = number(&put(&serving, "files/first.md", None, &text(0)));
    wait_for_requests(&stub, requests + 1);
    let known = json!({"known": ["docs/open/crane.md"], "reread": true});
    let waiting = number(&serving.post(&format!("{BASE}/index"), "", &known));
    let path = format!("{BASE}/files?file=docs/open/crane.md");
    assert_eq!(serving.request("DELETE", &path, &[], b"").status, 200);
    stub.answer_all();
    for id in [first, waiting] {
        assert!(is_over(&wait_for_job(&serving, id)));
    }
    let files = serving.get(&format!("{BASE}/files"), "").text;
    assert!(place.path("docs/open/crane.md").is_file() && !files.contains("open/crane"), "{files}");
    assert!(!finds(&serving, "forty tons"), "{files}");
}

/// Deletes a file at six points of its indexing; its text never comes back.
#[test]
fn a_file_deleted_during_indexing_never_comes_back() {
    let stub = good_stub();
    let place = Place::with(&stub);
    let serving = place.serve(&[]);
    for n in 0..6 {
        let file = format!("files/{n}.md");
        let name = format!("base.uploads/{n}.md");
        let first = number(&put(&serving, &file, None, &text(n)));
        assert_eq!(wait_for_job(&serving, first)["stand"], "done");
        // A new version, and three more jobs for it.
        let requests = if n % 2 == 0 { mute(&stub) } else { stub.received().requests() };
        let word = format!("Zyxwort{n}");
        let newer = format!("# Crane {n}\n\nThe crane {n} is called {word}, and it is tall.\n");
        let mut last = number(&put(&serving, &file, None, newer.as_bytes()));
        for _ in 0..3 {
            last = number(&put(&serving, &file, None, newer.as_bytes()));
        }
        if n % 2 == 0 {
            wait_for_requests(&stub, requests + 1);
        }
        let path = format!("{BASE}/files?file={name}&forget=true");
        let gone = serving.request("DELETE", &path, &[], b"");
        assert_eq!(gone.status, 200, "{gone:?}");
        stub.answer_all();
        assert!(is_over(&wait_for_job(&serving, last)));
        assert!(!finds(&serving, &word), "try {n}");
        let files = serving.get(&format!("{BASE}/files"), "").text;
        assert!(!files.contains(&name), "try {n}: {files}");
        let held = std::fs::read(place.path("base/base.sqlite")).unwrap();
        assert!(!held.windows(word.len()).any(|bytes| bytes == word.as_bytes()), "try {n}");
    }
}
