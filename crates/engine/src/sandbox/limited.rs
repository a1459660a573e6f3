//! Runs foreign programs that read hostile bytes: in their own process group, with limits that they
//! cannot lift, an empty environment, and a fixed end time.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::limits::limit;

/// The limits of one run of a program.
#[derive(Clone, Debug)]
pub(super) struct ProcessLimits {
    /// Address space of each of its processes, in MiB.
    pub(super) memory_mib: u64,
    /// Processor time of each of its processes.
    pub(super) cpu: Duration,
    /// Wall time.
    pub(super) wall: Duration,
    /// The largest file that it may write, in MiB; pipes do not count.
    pub(super) file_mib: u64,
    /// The most bytes that it may write to standard output.
    pub(super) output: u64,
}

/// A program to run, with its arguments, environment and input.
pub(super) struct Job<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: Vec<OsString>,
    /// The whole environment.
    pub(super) environment: Vec<(&'static str, OsString)>,
    pub(super) input: Vec<u8>,
}

/// The result of a run.
pub(super) struct ProcessOutput {
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    /// The end of its standard error, on one line.
    pub(super) complaint: String,
}

/// The arguments of `run-limited`.
#[derive(Clone, Debug)]
pub struct RunLimited {
    /// Address space, in MiB.
    pub memory_mib: u64,
    /// Processor time, in seconds.
    pub cpu_seconds: u64,
    /// The largest file that it may write, in MiB.
    pub file_mib: u64,
    /// The program and its arguments.
    pub command: Vec<PathBuf>,
}

/// The reason why a process could not execute its program.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The limits cannot be set, and nothing may run without them.
    #[error("its limits cannot be set")]
    Limits(#[source] std::io::Error),
    /// No program is named.
    #[error("no program is named")]
    NoProgram,
    /// The program cannot be started.
    #[error("{program} cannot be started")]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl ExecError {
    /// The exit status for the error, as in shells.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Limits(_) | Self::NoProgram => ExitCode::from(9),
            Self::NotStarted { .. } => ExitCode::from(127),
        }
    }
}

/// Runs as the limited process: sets the limits on itself, then executes the program in its place.
/// It returns only if that fails.
pub fn exec_limited(arguments: &RunLimited) -> ExecError {
    // The process ends when its parent ends, for any reason.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    if let Err(error) = limit(arguments.memory_mib, arguments.cpu_seconds, arguments.file_mib) {
        return ExecError::Limits(error);
    }
    let Some((program, rest)) = arguments.command.split_first() else {
        return ExecError::NoProgram;
    };
    // `exec` returns only if the program cannot be started.
    let source = std::process::Command::new(program).args(rest).exec();
    ExecError::NotStarted { program: program.clone(), source }
}

/// The reason why a program gave no usable result.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    #[error("it cannot be started")]
    NotStarted(#[source] std::io::Error),
    #[error("it has no pipes")]
    NoPipes,
    #[error("its output cannot be read")]
    Broken(#[source] std::io::Error),
    #[error("it took longer than {seconds} s")]
    TooSlow { seconds: u64 },
    #[error("it wrote more than {mib} MiB")]
    TooMuch { mib: u64 },
}

/// Runs a program to its end or to the end of its time. `ours` is this program.
///
/// # Errors
/// The program cannot be started, takes too long or writes too much. A failed program is a result.
///
/// # Cancel safety
/// Dropping the future kills the program and all processes that it started.
pub(super) async fn run(
    ours: &Path,
    job: Job<'_>,
    limits: &ProcessLimits,
) -> Result<ProcessOutput, RunError> {
    let mut command = Command::new(ours);
    command
        .arg("run-limited")
        .arg(format!("--memory={}", limits.memory_mib))
        .arg(format!("--cpu={}", limits.cpu.as_secs().max(1)))
        .arg(format!("--file={}", limits.file_mib))
        .arg("--")
        .arg(job.program)
        .args(job.arguments)
        .env_clear()
        .envs(job.environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let child = command.spawn().map_err(RunError::NotStarted)?;
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let mut group = Group { child, id };
    let exchange = exchange(&mut group.child, job.input, limits.output);
    match tokio::time::timeout(limits.wall, exchange).await {
        Ok(outcome) => outcome,
        Err(_) => Err(RunError::TooSlow { seconds: limits.wall.as_secs() }),
    }
}

async fn exchange(child: &mut Child, input: Vec<u8>, most: u64) -> Result<ProcessOutput, RunError> {
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(RunError::NoPipes);
    };
    // A dead program does not read. Its status says more than the broken pipe.
    let feed = async move {
        let _ = stdin.write_all(&input).await;
        drop(stdin);
    };
    let mut output = Vec::new();
    let mut limited = stdout.take(most + 1);
    let read = limited.read_to_end(&mut output);
    let ((), read, complaint) = tokio::join!(feed, read, tail(stderr));
    read.map_err(RunError::Broken)?;
    if most < output.len() as u64 {
        return Err(RunError::TooMuch { mib: most >> 20 });
    }
    let status = child.wait().await.map_err(RunError::Broken)?;
    Ok(ProcessOutput { status, output, complaint })
}

/// Reads all of standard error and keeps the last few hundred bytes.
async fn tail(mut stderr: tokio::process::ChildStderr) -> String {
    const KEPT: usize = 300;
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
        kept.extend_from_slice(buffer.get(..n).unwrap_or_default());
        kept.drain(..kept.len().saturating_sub(KEPT));
    }
    String::from_utf8_lossy(&kept).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A process and all that it started, which are killed together.
struct Group {
    child: Child,
    id: Option<i32>,
}

impl Drop for Group {
    fn drop(&mut self) {
        // This also holds if the first process has ended: its children are still in the group, and
        // the group's number is not reused while the group has members.
        if let Some(id) = self.id {
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

/// The path of a program: the one that is set, else the first of these names in these folders.
pub(super) fn find(set: Option<&Path>, names: &[&str], folders: &[PathBuf]) -> Option<PathBuf> {
    if let Some(set) = set {
        return is_program(set).then(|| set.to_owned());
    }
    let places = names.iter().flat_map(|name| folders.iter().map(move |at| at.join(name)));
    // A relative folder on the path would let the working folder decide which program runs.
    places.filter(|place| place.is_absolute()).find(|place| is_program(place))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
