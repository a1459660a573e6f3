//! How do these tests run the program, and the model server that it talks to?

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pikerag_test_support::{Faults, Server, World, oracle};
use serde_json::Value;
use tempfile::TempDir;

/// No run of the program takes longer, even where the machine has other work: it hangs.
const DEADLINE: Duration = Duration::from_secs(400);

const SETTINGS: &str = "pikerag.toml";

/// How long the server of models thinks before it replies.
const LATENCY: Duration = Duration::from_millis(1);

/// A server of models that knows what it is shown of the world, and misbehaves as told.
pub(crate) fn stub(faults: impl Into<Faults>) -> Server {
    Server::start(oracle, faults.into(), LATENCY)
}

/// The same without faults.
pub(crate) fn good_stub() -> Server {
    stub(Faults::default())
}

/// A folder in which the program runs, with nothing of this machine in its environment.
pub(crate) struct Place {
    folder: TempDir,
    /// What is the user's own, apart from the folder.
    user: TempDir,
    environment: Vec<(String, String)>,
    /// Whether a `pikerag.toml` is found, and not given.
    finds_settings: bool,
}

/// What came of a run.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    /// Without any model.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            user: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
            finds_settings: false,
        }
    }

    /// Where a `pikerag.toml` is a stranger's, until it is trusted.
    pub(crate) fn of_a_stranger() -> Self {
        Self { finds_settings: true, ..Self::new() }
    }

    /// With the stub's chat model and embedder.
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

    /// A path of the user's own.
    pub(crate) fn own_path(&self, name: &str) -> PathBuf {
        self.user.path().join(name)
    }

    /// Writes the world that most tests ask about: `corpus.jsonl` of 500 paragraphs, `questions.jsonl` of 50.
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
            // Whatever runs on this machine.
            .env("OLLAMA_HOST", "127.0.0.1:1")
            .envs((!self.finds_settings && self.path(SETTINGS).exists()).then_some(given))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        // Files, not pipes: nobody has to empty them while the deadline is watched.
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
                panic!("{arguments:?} hangs; it said: {}", text(&mut err));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        Ran { code: status.code(), stdout: text(&mut out), stderr: text(&mut err) }
    }

    /// Runs the program, which must end with this exit code.
    pub(crate) fn run_to(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        let (stdout, stderr) = (&ran.stdout, &ran.stderr);
        assert_eq!(ran.code, Some(code), "{arguments:?}\n{stdout}\n{stderr}");
        ran
    }

    /// The graph of a base as lines.
    pub(crate) fn export(&self, base: &str) -> String {
        self.run_to(0, &["--base", base, "export"]).stdout
    }

    /// The same without the marks that tell the addresses of model servers apart.
    pub(crate) fn export_of_any_server(&self, base: &str) -> String {
        let export = self.export(base);
        let mut parts = export.split("-embedding#");
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |told, part| told + "-embedding" + part.get(8..).unwrap())
    }
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// All of a file, from its start.
fn text(file: &mut std::fs::File) -> String {
    use std::io::{Seek, SeekFrom};
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A number of a report, which must be there. In thousandths, so that it can be compared exactly.
pub(crate) fn thousandths(value: &Value, pointer: &str) -> u64 {
    let found = value.pointer(pointer).and_then(Value::as_f64);
    let found = found.unwrap_or_else(|| panic!("no number at {pointer} in {value:#}"));
    (found * 1000.0).round() as u64
}
