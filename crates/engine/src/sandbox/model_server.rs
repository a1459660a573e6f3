//! Starts llama.cpp's server for one model: on a free port of this machine, with a random key. It
//! ends when this process ends, for any reason, because its standard input closes then.

use std::ffi::OsString;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use pikerag_models::open_models::is_healthy;
use pikerag_models::{Secret, Transport};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant, sleep};

use super::limited::find;
use super::python::python_of;
use crate::local_error::LocalModelError;
use crate::random::random_hex;

/// The time limit until a server answers: a file of several GB may come from a slow disk.
const STARTING: Duration = Duration::from_mins(5);
/// The pause between two checks of a starting server.
const PAUSE: Duration = Duration::from_millis(100);
/// Ports that a server is started at, at most.
const PORTS: usize = 3;
/// Runs llama.cpp's own program, which does not read its standard input, and kills it when the
/// input of the shell closes.
const GUARD: &str = r#"exec 3<&0
"$@" </dev/null 3<&- &
server=$!
{ cat <&3 >/dev/null; kill -9 "$server"; } 2>/dev/null &
exec 3<&-
wait "$server""#;
/// Serves a model from Python.
const SCRIPT: &str = include_str!("serve_model.py");

/// A program that serves a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerProgram {
    /// llama.cpp's own program.
    LlamaServer(PathBuf),
    /// A Python with the package `xllamacpp`.
    Python(PathBuf),
}

impl ServerProgram {
    /// The program that is set, else `llama-server` on the path, else a Python with the package in
    /// one of these installations.
    pub(crate) fn find(
        set: Option<&Path>,
        path: &[PathBuf],
        pythons: &[&Path],
    ) -> Result<Self, LocalModelError> {
        if let Some(set) = set {
            let bad = || LocalModelError::BadServer { path: set.to_owned() };
            return find(Some(set), &[], &[]).map(Self::LlamaServer).ok_or_else(bad);
        }
        if let Some(program) = find(None, &["llama-server"], path) {
            return Ok(Self::LlamaServer(program));
        }
        let python = pythons.iter().find_map(|root| python_of(root));
        python.map(Self::Python).ok_or(LocalModelError::NoServer)
    }

    /// The path of the program.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::LlamaServer(path) | Self::Python(path) => path,
        }
    }
}

/// The file to serve, and the number of tokens and calls.
#[derive(Clone, Debug)]
pub(crate) struct ServedModel {
    pub(crate) file: PathBuf,
    pub(crate) context_tokens: u32,
    pub(crate) parallel: usize,
}

impl ServedModel {
    /// The file of the server's messages.
    pub(crate) fn log(&self) -> PathBuf {
        self.file.with_extension("log")
    }
}

/// A running server, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ModelProcess {
    child: Child,
    group: Option<i32>,
    /// Closes when this process ends.
    #[cfg_attr(not(test), expect(dead_code, reason = "holding it keeps the server running"))]
    input: Option<ChildStdin>,
    /// Its address, up to `/v1`.
    pub(crate) base_url: String,
    /// The key that it asks for.
    pub(crate) key: Secret,
}

impl ModelProcess {
    /// Starts a server and waits until it answers. If another program takes its port in the meantime,
    /// it gets another one.
    ///
    /// # Cancel safety
    /// Dropping the future ends the server.
    pub(crate) async fn start(
        program: &ServerProgram,
        model: &ServedModel,
        transport: &Transport,
    ) -> Result<Self, LocalModelError> {
        let mut n_left = PORTS;
        loop {
            n_left -= 1;
            let port = match program {
                ServerProgram::LlamaServer(_) => free_port().map_err(|source| {
                    LocalModelError::NotStarted { program: program.path().to_owned(), source }
                })?,
                ServerProgram::Python(_) => 0,
            };
            match Self::start_at(program, model, transport, port).await {
                Err(LocalModelError::Ended { .. }) if 0 < n_left && is_taken(port) => {
                    tracing::warn!(
                        port,
                        "another program has taken the port of the model's server"
                    );
                }
                outcome => return outcome,
            }
        }
    }

    /// The same at this port; 0 if the server chooses its own.
    async fn start_at(
        program: &ServerProgram,
        model: &ServedModel,
        transport: &Transport,
        port: u16,
    ) -> Result<Self, LocalModelError> {
        let not_started =
            |source| LocalModelError::NotStarted { program: program.path().to_owned(), source };
        let key = random_key()?;
        let log = File::create(model.log()).map_err(not_started)?;
        let output = match program {
            ServerProgram::LlamaServer(_) => Stdio::from(log.try_clone().map_err(not_started)?),
            ServerProgram::Python(_) => Stdio::piped(),
        };
        let mut child = command(program, model, port)
            .env("LLAMA_API_KEY", key.expose())
            .stdin(Stdio::piped())
            .stdout(output)
            .stderr(log)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(not_started)?;
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let base_url = format!("http://127.0.0.1:{port}/v1");
        let mut this = Self { child, group, input, base_url, key };
        let waiting = async {
            if let (ServerProgram::Python(_), Some(output)) = (program, output) {
                this.base_url = announced(output, model).await?;
            }
            this.wait_until_healthy(model, transport).await
        };
        let waited = tokio::time::timeout(STARTING, waiting).await;
        match waited {
            Ok(outcome) => outcome.map(|()| this),
            Err(_) => {
                let seconds = STARTING.as_secs();
                Err(LocalModelError::TooSlow { seconds, log: model.log() })
            }
        }
    }

    async fn wait_until_healthy(
        &mut self,
        model: &ServedModel,
        transport: &Transport,
    ) -> Result<(), LocalModelError> {
        let began = Instant::now();
        loop {
            if self.has_ended() {
                return Err(ended(model));
            }
            if is_healthy(transport, &self.base_url, &self.key).await {
                break;
            }
            sleep(PAUSE).await;
        }
        tracing::debug!(url = %self.base_url, seconds = began.elapsed().as_secs_f64(), "serving");
        // If another program has taken the port, ours has ended.
        if self.has_ended() { Err(ended(model)) } else { Ok(()) }
    }

    /// Whether the server has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// The number of its process group.
    pub(crate) fn group(&self) -> Option<i32> {
        self.group
    }

    /// Closes its input, as the end of this process does.
    #[cfg(test)]
    pub(crate) fn close_input(&mut self) {
        drop(self.input.take());
    }
}

impl Drop for ModelProcess {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }
}

/// The command without its pipes. The key is in the environment: other users see arguments.
fn command(program: &ServerProgram, model: &ServedModel, port: u16) -> Command {
    let (tokens, parallel) = (model.context_tokens, model.parallel);
    match program {
        ServerProgram::LlamaServer(path) => {
            let all = u64::from(tokens).saturating_mul(parallel as u64);
            let mut command = Command::new("/bin/sh");
            command.args(["-c", GUARD, "sh"]).arg(path);
            command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
            command.args(["--ctx-size", &all.to_string(), "--parallel", &parallel.to_string()]);
            command.args([OsString::from("--jinja"), "--model".into()]).arg(&model.file);
            command
        }
        ServerProgram::Python(path) => {
            let mut command = Command::new(path);
            command.args(["-I", "-c", SCRIPT]).arg(&model.file);
            command.args([tokens.to_string(), parallel.to_string()]);
            command
        }
    }
}

/// The address on the first line of the output that has one.
async fn announced(
    output: tokio::process::ChildStdout,
    model: &ServedModel,
) -> Result<String, LocalModelError> {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line.starts_with("http://") {
            return Ok(format!("{}/v1", line.trim().trim_end_matches('/')));
        }
    }
    Err(ended(model))
}

/// The error of a server that has ended, with the last line of its log.
fn ended(model: &ServedModel) -> LocalModelError {
    const LONGEST: usize = 300;
    let log = std::fs::read(model.log()).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let last = log.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let complaint = last.unwrap_or("no message").chars().take(LONGEST).collect();
    LocalModelError::Ended { complaint, log: model.log() }
}

fn random_key() -> Result<Secret, LocalModelError> {
    random_hex::<24>().map(Secret::new).map_err(|_| LocalModelError::NoRandom)
}

/// A port of this machine that is free now. If another program takes it first, the server ends.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Whether a program listens at a port.
fn is_taken(port: u16) -> bool {
    port != 0 && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err()
}
