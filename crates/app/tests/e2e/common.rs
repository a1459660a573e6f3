//! Runs the program, and the model server that it talks to.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pikerag_test_support::{Faults, Server, World, oracle};
use serde_json::Value;
use tempfile::TempDir;

/// The longest time that a run may take, even on a busy machine; a longer run hangs.
const DEADLINE: Duration = Duration::from_secs(400);

const SETTINGS: &str = "pikerag.toml";

/// The delay before the model server replies.
const LATENCY: Duration = Duration::from_millis(1);

/// A model server that answers from the world in its prompts and shows these faults.
pub(crate) fn stub(faults: impl Into<Faults>) -> Server {
    Server::start(oracle, faults.into(), LATENCY)
}

/// A model server without faults.
pub(crate) fn good_stub() -> Server {
    stub(Faults::default())
}

/// A folder in which the program runs, isolated from this machine's environment.
pub(crate) struct Place {
    folder: TempDir,
    /// The user's own folder, separate from `folder`.
    user: TempDir,
    environment: Vec<(String, String)>,
    /// Whether the program finds `pikerag.toml` itself instead of getting its path.
    finds_settings: bool,
}

/// The result of a run.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    /// A place without a model.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            user: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
            finds_settings: false,
        }
    }

    /// A place whose `pikerag.toml` is not trusted until `pikerag trust` runs.
    pub(crate) fn untrusted() -> Self {
        Self { finds_settings: true, ..Self::new() }
    }

    /// A place with the stub's chat model and embedder.
    pub(crate) fn with(stub: &Server) -> Self {
        Self::new()
            .set("OPENAI_BASE_URL", &stub.url())
            .set("OPENAI_MODEL", "stub")
            .set("PIKERAG_EMBED_MODEL", "stub-embedding")
    }

    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A path in the user's own folder.
    pub(crate) fn own_path(&self, name: &str) -> PathBuf {
        self.user.path().join(name)
    }

    /// Writes the world that most tests ask about: `corpus.jsonl` with 500 paragraphs and
    /// `questions.jsonl` with 50 questions.
    pub(crate) fn write_workload(&self) -> World {
        let world = World::workload();
        self.write("corpus.jsonl", world.corpus());
        self.write("questions.jsonl", world.questions());
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let given = ("PIKERAG_CONFIG", SETTINGS);
        let mut command = Command::new(env!("CARGO_BIN_EXE_pikerag"));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("XDG_CACHE_HOME", self.folder.path())
            .env("XDG_STATE_HOME", self.user.path())
            // Hides an Ollama server of this machine.
            .env("OLLAMA_HOST", "127.0.0.1:1")
            .envs((!self.finds_settings && self.path(SETTINGS).exists()).then_some(given))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        // Files need no reader while this loop watches the deadline; pipes would.
        let (mut out, mut err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let mut child = self
            .command(arguments)
            .stdout(out.try_clone().unwrap())
            .stderr(err.try_clone().unwrap())
            .spawn()
            .unwrap();
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if DEADLINE < began.elapsed() {
                child.kill().unwrap();
                panic!("{arguments:?} hangs; stderr: {}", text(&mut err));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        Ran { code: status.code(), stdout: text(&mut out), stderr: text(&mut err) }
    }

    /// Runs the program and asserts its exit code.
    pub(crate) fn run_to(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        let (stdout, stderr) = (&ran.stdout, &ran.stderr);
        assert_eq!(ran.code, Some(code), "{arguments:?}\n{stdout}\n{stderr}");
        ran
    }

    /// The graph of a base as JSON lines.
    pub(crate) fn export(&self, base: &str) -> String {
        self.run_to(0, &["--base", base, "export"]).stdout
    }

    /// The export without the marks that distinguish the addresses of model servers.
    pub(crate) fn export_of_any_server(&self, base: &str) -> String {
        let export = self.export(base);
        let mut parts = export.split("-embedding#");
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |whole, part| whole + "-embedding" + part.get(8..).unwrap())
    }
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// The whole content of a file.
fn text(file: &mut std::fs::File) -> String {
    use std::io::{Seek, SeekFrom};
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A number of a report in thousandths, for exact comparison. Panics if it is absent.
pub(crate) fn thousandths(value: &Value, pointer: &str) -> u64 {
    let found = value.pointer(pointer).and_then(Value::as_f64);
    let found = found.unwrap_or_else(|| panic!("no number at {pointer} in {value:#}"));
    (found * 1000.0).round() as u64
}
