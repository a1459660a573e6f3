//! Tests that workers share the jobs of a database, survive each other, and stop in good order. Each
//! test needs a database: `PIKERAG_TEST_POSTGRES` is its address. The tests leave their bases there.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pikerag_test_support::{Faults, Server, absent, oracle};
use serde_json::{Value, json};

use crate::common::{Place, good_stub};
use crate::serve::put;
use crate::serving::Serving;

const BASE: &str = "/api/v1/bases/default";
/// The longest time that a worker may take to stop.
const STOPPING: Duration = Duration::from_secs(20);

/// A server that leaves its jobs to workers.
struct Shared {
    place: Place,
    address: String,
    serving: Serving,
}

impl Shared {
    /// `None` without a database.
    fn new(stub: &Server, name: &str) -> Option<Self> {
        let Ok(server) = std::env::var("PIKERAG_TEST_POSTGRES") else {
            absent("a PostgreSQL server", "is not named by PIKERAG_TEST_POSTGRES");
            return None;
        };
        let place = Place::with(stub);
        // Keys of other tests may be in the same database.
        let settings =
            "[server]\nrun_jobs = false\nkeys = \"keys.sqlite\"\n[chat]\nmax_attempts = 1\n";
        place.write("pikerag.toml", settings);
        let own = place.path("").display().to_string();
        let own: String = own.chars().filter(char::is_ascii_alphanumeric).collect();
        let sign = if server.contains('?') { '&' } else { '?' };
        let address = format!("{server}{sign}base={name}-{own}");
        let command = place.command(&["--base", &address, "serve", "--port", "0"]);
        let serving = place.serve_by(command);
        Some(Self { place, address, serving })
    }

    /// Starts a worker for this base, whose events go to a file.
    fn worker(&self, events: &str) -> Child {
        let (_, base) = self.address.rsplit_once("base=").unwrap();
        let all = ["--base", &self.address, "--json", "worker", "--at-once", "1", "--only", base];
        let file = |name: &str| File::create(self.place.own_path(name)).unwrap();
        let mut command = self.place.command(&all);
        command.stdout(file(events)).stderr(file(&format!("{events}.log")));
        command.stdin(Stdio::null()).spawn().unwrap()
    }

    fn events(&self, events: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.place.own_path(events)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Uploads files, and indexes them in one job. Returns its path.
    fn begin(&self, files: usize) -> String {
        let names: Vec<String> = (0..files).map(|n| format!("{n:02}.md")).collect();
        for (n, name) in names.iter().enumerate() {
            let text = format!("# Crane {n}\n\nThe crane {n} of Hamburg was built in Varnsund.\n");
            let reply =
                put(&self.serving, &format!("files/{name}?hold=true"), None, text.as_bytes());
            assert_eq!(reply.status, 200, "{reply:?}");
        }
        let begun = self.serving.post(&format!("{BASE}/index"), "", &json!({ "files": names }));
        let job = begun.json();
        format!("{BASE}/jobs/{}", job["id"].as_u64().or(job["job"].as_u64()).unwrap())
    }
}

fn is_over(job: &Value) -> bool {
    ["done", "incomplete", "failed"].contains(&job["stand"].as_str().unwrap())
}

/// Asks a worker to stop, and waits until it has stopped.
fn stop(mut worker: Child) {
    let asked = Command::new("kill").arg(worker.id().to_string()).status().unwrap();
    assert!(asked.success());
    let began = Instant::now();
    while worker.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < STOPPING, "it does not stop");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(worker.wait().unwrap().code(), Some(0));
}

fn kill(mut worker: Child) {
    worker.kill().unwrap();
    worker.wait().unwrap();
}

#[test]
fn two_workers_read_each_file_of_a_job_once() {
    // One worker would need several seconds for all parts.
    let stub = Server::start(oracle, Faults::default(), Duration::from_secs(1));
    let Some(shared) = Shared::new(&stub, "shared") else { return };
    let workers = [shared.worker("one"), shared.worker("two")];
    let path = shared.begin(20);
    let job = shared.serving.wait_until(&path, "", is_over);
    assert_eq!(job["stand"], "done", "{job:#}");
    let read = job["report"]["report"]["files"].as_array().unwrap();
    assert_eq!(read.len(), 20, "{job:#}");
    let files = |events: &str| -> u64 {
        let begun = shared.events(events).into_iter().filter(|event| event["event"] == "begun");
        begun.map(|event| event["files"].as_u64().unwrap()).sum()
    };
    let (one, two) = (files("one"), files("two"));
    assert!(one + two == 20 && 0 < one && 0 < two, "{one} and {two}");
    workers.into_iter().for_each(stop);
    let base = shared.address.as_str();
    let check = shared.place.run_to(0, &["--base", base, "--json", "check"]);
    assert_eq!(check.json()["sound"], true);
}

/// The next worker takes the files of a dead one. A file that ended three workers is set aside.
#[test]
fn jobs_survive_their_workers_and_poison_is_set_aside() {
    let stub = good_stub();
    let Some(shared) = Shared::new(&stub, "poison") else { return };
    let requests = stub.received().requests();
    stub.answer_only(requests);
    let path = shared.begin(1);
    for attempt in 1..=3 {
        let worker = shared.worker("killed");
        shared.serving.wait_until(&path, "", |job| job["attempts"] == attempt);
        kill(worker);
    }
    stub.answer_all();
    let worker = shared.worker("last");
    let aside = shared.serving.wait_until(&path, "", |job| job["stand"] == "set_aside");
    assert_eq!(aside["reason_code"], "file-ended-process", "{aside:#}");
    assert_eq!(shared.serving.post(&format!("{path}/begin"), "", &json!({})).status, 202);
    let job = shared.serving.wait_until(&path, "", is_over);
    assert_eq!(job["stand"], "done", "{job:#}");
    stop(worker);
}

#[test]
fn a_stopped_worker_puts_its_files_back() {
    let stub = good_stub();
    let Some(shared) = Shared::new(&stub, "stopped") else { return };
    let requests = stub.received().requests();
    stub.answer_only(requests);
    let path = shared.begin(3);
    let worker = shared.worker("stopped");
    shared.serving.wait_until(&path, "", |job| job["stand"] == "running");
    stop(worker);
    let job = shared.serving.wait_until(&path, "", |job| job["stand"] == "waiting");
    assert_eq!(job["attempts"], 0, "{job:#}");
    // A deletion reaches a worker in another process.
    let worker = shared.worker("again");
    shared.serving.wait_until(&path, "", |job| job["stand"] == "running");
    let deleted = shared.serving.request("DELETE", &format!("{BASE}/files?file=01.md"), &[], b"");
    assert_eq!(deleted.status, 200, "{deleted:?}");
    stub.answer_all();
    let job = shared.serving.wait_until(&path, "", is_over);
    assert_eq!(job["stand"], "done", "{job:#}");
    let files = shared.serving.get(&format!("{BASE}/files"), "").text;
    assert!(files.contains("00.md") && files.contains("02.md"), "{files}");
    assert!(!files.contains("01.md"), "{files}");
    stop(worker);
}

#[test]
fn workers_need_a_database() {
    let place = Place::new();
    let refused = place.run_to(1, &["--base", "base", "worker"]);
    assert!(refused.stderr.contains("which only one process writes"), "{}", refused.stderr);
    let refused = place.run_to(1, &["--base", "base", "--lang", "zh", "worker"]);
    assert!(refused.stderr.contains("只能由一个进程写入"), "{}", refused.stderr);
}
