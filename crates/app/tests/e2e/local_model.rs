//! Tests the product with a real model: SmolLM2-135M behind llama.cpp.
//!
//! The model knows next to nothing, but its schemas, log-probabilities and truncated replies are
//! real. `crates/test-support/llm/serve.py prepare` fetches it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pikerag_test_support::absent;
use serde_json::Value;

use crate::common::Place;

/// A model server that ends when this is dropped.
struct Model {
    child: Child,
    address: String,
}

impl Drop for Model {
    fn drop(&mut self) {
        // The server ends with its input; the kill ends a reply that is still running.
        drop(self.child.stdin.take());
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The folder that `serve.py prepare` made, as on CI; `None` if it is absent.
fn prepared() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let folder = cache.join("pikerag/llm");
    (folder.join("model.gguf").is_file() && folder.join("venv/bin/python").is_file())
        .then_some(folder)
}

/// The same; reports that the test is left out if it is absent.
fn prepared_or_absent() -> Option<PathBuf> {
    let folder = prepared();
    if folder.is_none() {
        absent(
            "a small language model",
            "is not in the cache (crates/test-support/llm/serve.py prepare)",
        );
    }
    folder
}

fn start_model() -> Option<Model> {
    let folder = prepared_or_absent()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-support/llm/serve.py");
    let mut child = Command::new(folder.join("venv/bin/python"))
        .arg(script)
        .arg("run")
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    let mut lines = BufReader::new(child.stdout.take().expect("it was piped")).lines();
    let address = lines.find_map(|line| line.ok().filter(|line| line.starts_with("http")));
    let address = address.expect("the server says where it listens");
    Some(Model { child, address })
}

#[test]
fn a_real_small_model_answers_over_http() {
    let Some(model) = start_model() else { return };
    let place = Place::new()
        .set("OPENAI_BASE_URL", &format!("{}/v1", model.address))
        .set("OPENAI_MODEL", "smollm2");
    place.write(
        "docs/crane.md",
        "# KX-40 crane\n\nThe KX-40 crane was designed by Ilse Brandt. It lifts forty tons.\n",
    );
    place.write("docs/brandt.md", "# Ilse Brandt\n\nIlse Brandt was born in Varnsund.\n");
    place.write("pikerag.toml", "[embed]\nkind = \"none\"\n[index]\natoms = [\"sentences\"]\n");
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let ask = |method: &str| -> Value {
        let question = "Who designed the KX-40 crane?";
        place.run_to(0, &["--base", "base", "--json", "ask", "--method", method, question]).json()
    };
    let trace = |run: &Value| run["answer"]["trace"].to_string();

    // The grammar of the schema makes every reading round readable, with all its keys.
    let adaptive = ask("adaptive");
    assert!(trace(&adaptive).contains("\"looked\""), "{adaptive:#}");
    assert!(!trace(&adaptive).contains("unreadable"), "{adaptive:#}");
    let one = ask("naive-rag");
    assert_eq!(one["answer"]["written_by"]["kind"], "language_model", "{one:#}");

    // Log-probabilities weigh the answer of each passage.
    let replug = ask("replug");
    assert!(trace(&replug).contains("log_probabilities"), "{replug:#}");

    // A small reply limit: a truncated reply is requested again with more tokens. If that is not
    // enough, the run still ends.
    place.write(
        "pikerag.toml",
        "[chat]\nreply_tokens = 8\n[embed]\nkind = \"none\"\n[index]\natoms = [\"sentences\"]\n",
    );
    let cut = ask("hop-rag");
    assert_eq!(cut["state"], "answered", "{cut:#}");
    let calls = cut["answer"]["spent"]["by_role"]["answer"][0].as_u64().unwrap();
    assert_eq!(calls, 2, "{cut:#}");
}

/// The program itself starts the server from the Python package, with the file in its own folder.
#[test]
fn the_program_serves_a_real_small_model_itself() {
    let Some(folder) = prepared_or_absent() else { return };
    let place = Place::new()
        .set("VIRTUAL_ENV", &folder.join("venv").display().to_string())
        .set("OPENAI_MODEL", "local:smollm2-135m");
    let models = place.path("pikerag/models");
    std::fs::create_dir_all(&models).unwrap();
    let file = models.join("smollm2-135m.gguf");
    std::os::unix::fs::symlink(folder.join("model.gguf"), file).unwrap();
    place.write("docs/crane.md", "# KX-40\n\nThe KX-40 crane was designed by Ilse Brandt.\n");
    // This model often writes until the limit.
    place.write(
        "pikerag.toml",
        "[chat]\nreply_tokens = 128\n[embed]\nkind = \"none\"\n[index]\natoms = [\"sentences\"]\n",
    );
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let question = "Who designed the KX-40 crane?";
    let ask = ["--base", "base", "--json", "ask", "--method", "naive-rag", question];
    let ran = place.run_to(0, &ask).json();
    assert_eq!(ran["answer"]["written_by"]["kind"], "language_model", "{ran:#}");
    assert!(models.join("smollm2-135m.log").is_file());
}
