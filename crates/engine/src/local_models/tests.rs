//! Checks the life of a server with a small program in Python that speaks like llama.cpp's.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::*;

/// Answers `/health` for callers with the key; its arguments are those of `llama-server`.
const FAKE: &str = r#"#!/usr/bin/env python3
import http.server, os, sys
port = int(sys.argv[sys.argv.index("--port") + 1])
key = "Bearer " + os.environ["LLAMA_API_KEY"]

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.headers.get("authorization") == key else 401)
        self.send_header("content-length", "0")
        self.end_headers()

print("starts", flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"#;

/// The first time, leaves its port to another process and ends.
const ROBBED: &str = r#"#!/usr/bin/env python3
import os, pathlib, socket, sys, time
mark = pathlib.Path(sys.argv[0] + ".taken")
if not mark.exists():
    mark.touch()
    taken = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])))
    if os.fork() == 0:
        os.setsid()
        time.sleep(10)
    os._exit(1)
"#;

/// A program that ends at once.
const BROKEN: &str = "#!/bin/sh\necho 'error: unknown architecture' >&2\nexit 1\n";

/// A folder with the file of a model `m` and this program as server.
fn place(program: &str) -> (tempfile::TempDir, LocalSettings) {
    let home = tempfile::tempdir().unwrap();
    let (folder, server) = (home.path().join("models"), home.path().join("server"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("m.gguf"), "GGUF").unwrap();
    let mut file = fs::File::create(&server).unwrap();
    file.write_all(program.as_bytes()).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o755)).unwrap();
    drop(file);
    let settings = LocalSettings {
        folder,
        server: Some(server),
        context_tokens: 512,
        parallel: 1,
        idle: Duration::from_mins(10),
        ..LocalSettings::default()
    };
    (home, settings)
}

fn server(settings: &LocalSettings) -> LocalServer {
    LocalServers::default().of("m", settings, &Transport::default())
}

async fn group(server: &LocalServer) -> Option<i32> {
    server.0.state.lock().await.running.as_ref().and_then(|running| running.process.group())
}

/// Waits a while for the end of the server at an address; whether it ended. Processes that nobody
/// has waited for would still be members of its group.
async fn is_gone(base_url: &str) -> bool {
    let address = base_url.trim_start_matches("http://").trim_end_matches("/v1");
    for _ in 0..1200 {
        if TcpStream::connect(address).is_err() {
            return true;
        }
        sleep(Duration::from_millis(25)).await;
    }
    false
}

#[tokio::test]
async fn a_server_starts_when_it_is_needed_and_again_after_its_end() {
    let (_home, settings) = place(FAKE);
    let server = server(&settings);
    assert_eq!(group(&server).await, None);
    let first = server.serving().await.unwrap();
    let before = group(&server).await.unwrap();
    let again = server.serving().await.unwrap();
    assert_eq!((&again.base_url, group(&server).await), (&first.base_url, Some(before)));
    assert!(fs::read_to_string(settings.folder.join("m.log")).unwrap().starts_with("starts"));

    killpg(Pid::from_raw(before), Signal::SIGKILL).unwrap();
    server.ended().await;
    let restarted = server.serving().await.unwrap();
    assert_ne!(group(&server).await, Some(before));
    drop(server);
    assert!(is_gone(&restarted.base_url).await);
}

#[tokio::test]
async fn a_server_whose_port_is_taken_gets_another_one() {
    let program = format!("{ROBBED}{}", FAKE.trim_start_matches("#!/usr/bin/env python3"));
    let (_home, settings) = place(&program);
    let server = server(&settings);
    let serving = server.serving().await.unwrap();
    assert!(settings.server.as_ref().unwrap().with_extension("taken").is_file());
    drop(server);
    assert!(is_gone(&serving.base_url).await);
}

#[tokio::test]
async fn an_idle_server_stops_but_not_during_a_call() {
    let (_home, settings) = place(FAKE);
    let settings = LocalSettings { idle: Duration::from_millis(300), ..settings };
    let server = server(&settings);
    let serving = server.serving().await.unwrap();
    let running = group(&server).await.unwrap();
    sleep(Duration::from_millis(900)).await;
    assert_eq!(group(&server).await, Some(running));
    drop(serving.held);
    assert!(is_gone(&serving.base_url).await);
    assert_eq!(group(&server).await, None);
}

/// As another process does with `models stop`.
#[tokio::test]
async fn a_running_server_is_listed_and_stopped() {
    let (_home, settings) = place(FAKE);
    let list = || running(&settings.folder).unwrap();
    let server = server(&settings);
    let serving = server.serving().await.unwrap();
    let [listed] = list().try_into().unwrap();
    assert_eq!(listed.model, "m");
    assert!(listed.stop().await);
    assert!(is_gone(&serving.base_url).await);
    assert_eq!(list(), []);
    // The next call starts it again.
    let again = server.serving().await.unwrap();
    assert_eq!(list().len(), 1);
    drop(server);
    assert!(is_gone(&again.base_url).await);
    assert_eq!(fs::read_dir(&settings.folder).unwrap().count(), 2, "the model and its log");
}

#[tokio::test]
async fn a_server_that_keeps_ending_is_not_started_again() {
    let (_home, settings) = place(BROKEN);
    let server = server(&settings);
    for _ in 0..MOST_ENDINGS {
        let error = server.serving().await.err().unwrap();
        let LocalModelError::Ended { complaint, .. } = &error else { panic!("{error}") };
        assert_eq!(complaint, "error: unknown architecture");
    }
    let error = server.serving().await.err().unwrap();
    assert!(matches!(error, LocalModelError::KeepsEnding { times: 3, .. }), "{error}");
}

#[tokio::test]
async fn a_model_that_does_not_fit_into_memory_is_not_started() {
    let (_home, settings) = place(FAKE);
    let settings = LocalSettings { context_tokens: u32::MAX, parallel: 1 << 20, ..settings };
    let error = server(&settings).serving().await.err().unwrap();
    assert!(matches!(error, LocalModelError::NoMemory { .. }), "{error}");
}

#[tokio::test]
async fn missing_files_and_programs_are_named() {
    let (_home, settings) = place(FAKE);
    let find = |name: &str| find_model(&settings, name).unwrap_err();
    assert!(matches!(find("smollm2-135m"), LocalModelError::NotHere { .. }));
    assert!(matches!(find("other"), LocalModelError::NoSuchModel { .. }));
    assert!(matches!(find("../m"), LocalModelError::BadName { .. }));
    let without = LocalSettings { server: None, ..settings.clone() };
    let error = server(&without).ready().await.err().unwrap();
    let ModelError::NotStarted { model, source } = &error else { panic!("{error}") };
    assert_eq!(model, "local:m");
    assert!(matches!(source.downcast_ref(), Some(LocalModelError::NoServer)));
    let wrong = LocalSettings { server: Some("/no/program".into()), ..settings };
    let error = server(&wrong).serving().await.err().unwrap();
    assert!(matches!(error, LocalModelError::BadServer { .. }), "{error}");
}

#[test]
fn other_settings_give_another_server() {
    let (_home, settings) = place(FAKE);
    let servers = LocalServers::default();
    let of = |settings: &LocalSettings| servers.of("m", settings, &Transport::default());
    let first = of(&settings);
    assert!(Arc::ptr_eq(&first.0, &of(&settings).0));
    let longer = LocalSettings { context_tokens: 1024, ..settings };
    assert!(!Arc::ptr_eq(&first.0, &of(&longer).0));
}

/// The parent of a server may be killed. Then its pipe closes, and the server must end.
#[tokio::test]
async fn a_server_ends_with_its_input() {
    let (_home, settings) = place(FAKE);
    let running = server(&settings);
    let serving = running.serving().await.unwrap();
    let mut state = running.0.state.lock().await;
    let process = &mut state.running.as_mut().unwrap().process;
    process.close_input();
    assert!(is_gone(&serving.base_url).await);
    let mut looks = 0..200;
    while !process.has_ended() {
        assert!(looks.next().is_some(), "the shell around the server goes on");
        sleep(Duration::from_millis(25)).await;
    }
}

/// Python's own server reads its input too; the script must at least be valid Python.
#[test]
fn the_script_for_python_is_valid() {
    let script = include_str!("../sandbox/serve_model.py");
    let compile = "import sys; compile(sys.stdin.read(), 'serve_model.py', 'exec')";
    let python = Command::new("python3").args(["-c", compile]).stdin(Stdio::piped()).spawn();
    let Ok(mut python) = python else { return };
    python.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(python.wait().unwrap().success());
}
