//! Checks `models`: what it lists, sets and serves, without a network and without a real model.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::Place;

/// Speaks like llama.cpp's server: it answers `/health` and chats for callers with the key.
const FAKE: &str = r#"#!/usr/bin/env python3
import http.server, json, os, sys
port = int(sys.argv[sys.argv.index("--port") + 1])
key = "Bearer " + os.environ["LLAMA_API_KEY"]
content = {
    "rationale": "The passage says it.",
    "answer": "Ilse Brandt",
    "lacking": None,
    "citations": [{"passage": 1, "quote": "designed by Ilse Brandt"}],
}
reply = {
    "choices": [{"message": {"content": json.dumps(content)}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
}

class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, body):
        self.send_response(200 if self.headers.get("authorization") == key else 401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(b"{}")

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.answer(json.dumps(reply).encode())

    def log_message(self, *_):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"#;

/// A place with a model `small` whose server is the script above.
fn place() -> Place {
    let place = Place::new();
    place.write("pikerag/models/small.gguf", "GGUF");
    place.write("server", FAKE);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path("server"), executable).unwrap();
    let server = place.path("server");
    let settings = format!(
        "[chat]\nmodel = \"local:small\"\n[local]\nserver = \"{}\"\ncontext_tokens = 512\n\
         [embed]\nkind = \"none\"\n[index]\natoms = [\"sentences\"]\n",
        server.display()
    );
    place.write("pikerag.toml", settings);
    place
}

#[test]
fn models_are_listed_with_their_facts() {
    let place = place();
    let listed = place.run_to(0, &["--offline", "--json", "models"]).json();
    let models = listed["models"].as_array().unwrap();
    let of = |name: &str| models.iter().find(|model| model["name"] == name).unwrap();
    assert_eq!((&of("small")["is_here"], &of("small")["bytes"]), (&true.into(), &4.into()));
    let known = of("qwen2.5-1.5b");
    assert_eq!(known["known"]["licence"], "Apache-2.0", "{known:#}");
    assert_eq!((&known["is_here"], &known["is_used"]), (&false.into(), &false.into()));
    let shown = place.run_to(0, &["--offline", "models"]).stdout;
    assert!(shown.contains("– qwen2.5-1.5b") && shown.contains("✓ small"), "{shown}");
}

#[test]
fn init_names_models_and_sets_a_provider() {
    let place = Place::untrusted();
    let ran = place.run_to(0, &["--offline", "init"]);
    for next in ["`pikerag models pull --server qwen2.5-1.5b` (1.0 GiB)", "deepseek, dashscope"] {
        assert!(ran.stderr.contains(next), "{next}: {}", ran.stderr);
    }
    let ran = place.run_to(0, &["init", "--provider", "deepseek"]);
    assert!(ran.stdout.contains("deepseek: https://api.deepseek.com, model"), "{}", ran.stdout);
    assert!(ran.stderr.contains("`export DEEPSEEK_API_KEY=…`"), "{}", ran.stderr);
    let text = place.read("pikerag.toml");
    assert!(text.contains("\napi_key_env = \"DEEPSEEK_API_KEY\"\n"), "{text}");
    let listed = place.run_to(0, &["--json", "trust", "--list"]).json();
    assert_eq!(listed[0]["state"], "trusted");
    assert!(listed[0]["sets"].to_string().contains("chat.base_url"), "{listed}");
    let ran = place.run_to(2, &["init", "--provider", "nobody"]);
    assert!(ran.stderr.contains("siliconflow") && ran.stderr.contains("zhipu"), "{}", ran.stderr);
    place.write("pikerag.toml", "# mine\n");
    place.run_to(1, &["init", "--provider", "deepseek"]);
    assert_eq!(place.read("pikerag.toml"), "# mine\n");
}

#[test]
fn a_model_is_set_in_the_settings_file_and_trusted() {
    let place = Place::untrusted();
    let ran = place.run_to(0, &["models", "use", "smollm2-135m"]);
    assert!(ran.stderr.contains("pikerag models pull smollm2-135m"), "{}", ran.stderr);
    assert!(place.read("pikerag.toml").contains("\nmodel = \"local:smollm2-135m\"\n"));
    let doctor = place.run_to(1, &["doctor"]).stdout;
    assert!(doctor.contains("fetch it with `pikerag models pull smollm2-135m`"), "{doctor}");
    let unknown = place.run_to(1, &["models", "use", "nothing"]).stderr;
    assert!(unknown.contains("there is no model `nothing`"), "{unknown}");
}

#[test]
fn questions_are_answered_by_the_model_that_the_program_starts() {
    let place = place();
    place.write("docs/crane.md", "# KX-40\n\nThe KX-40 crane was designed by Ilse Brandt.\n");
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let question = "Who designed the KX-40 crane?";
    let ask = ["--base", "base", "--json", "ask", "--method", "naive-rag", question];
    let ran = place.run_to(0, &ask).json();
    assert_eq!(ran["answer"]["written_by"]["kind"], "language_model", "{ran:#}");
    assert_eq!(ran["answer"]["text"], "Ilse Brandt", "{ran:#}");
    // The reply is recorded under a name that does not depend on the port.
    std::fs::remove_file(place.path("pikerag/models/small.gguf")).unwrap();
    let again = place.run_to(0, &ask).json();
    assert_eq!(again["answer"]["text"], "Ilse Brandt", "{again:#}");
}

/// A program that serves `small`, its output, and the address without scheme and path.
fn running(place: &Place) -> (Child, BufReader<ChildStdout>, String) {
    let mut command = place.command(&["--json", "models", "run", "small"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.trim_end().ends_with('}') {
        assert_ne!(reader.read_line(&mut text).unwrap(), 0, "{text}");
    }
    let running: Value = serde_json::from_str(&text).unwrap();
    let address = running["base_url"].as_str().unwrap();
    let address = address.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    assert!(TcpStream::connect(&address).is_ok());
    (child, reader, address)
}

/// Whether nobody listens at an address, after a while.
fn is_gone(address: &str) -> bool {
    (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(25));
        TcpStream::connect(address).is_err()
    })
}

/// The server ends with the program, also if that is killed and cannot end it.
#[test]
fn a_server_does_not_outlive_the_killed_program() {
    let place = place();
    let (mut child, mut reader, address) = running(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_gone(&address), "the server still listens at {address}");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
}

#[test]
fn another_process_lists_and_stops_a_server() {
    let place = place();
    let runs = || {
        let listed = place.run_to(0, &["--offline", "--json", "models"]).json();
        let models = listed["models"].as_array().unwrap();
        models.iter().find(|model| model["name"] == "small").unwrap()["running"].clone()
    };
    assert_eq!(runs(), serde_json::json!([]));
    assert!(place.run_to(0, &["models", "stop"]).stdout.contains("no model server"));
    let (mut child, _reader, address) = running(&place);
    assert_eq!(runs()[0]["started_by"], child.id());
    let other = place.run_to(0, &["models", "stop", "another"]);
    assert!(other.stdout.contains("no server of another is running"), "{}", other.stdout);
    let stopped = place.run_to(0, &["--json", "models", "stop", "small"]).json();
    assert_eq!(stopped["stopped"][0]["model"], "small", "{stopped:#}");
    assert!(is_gone(&address), "the server still listens at {address}");
    // `models run` ends with its server.
    child.wait().unwrap();
    assert_eq!(runs(), serde_json::json!([]));
}
