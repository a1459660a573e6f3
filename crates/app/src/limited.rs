//! How does a program of somebody else read hostile bytes? In a process group of its own, with
//! limits that it cannot lift, an empty environment, and an end at the time set, whatever it does.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rlimit::{Resource, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::cli::RunLimited;

/// What one run of a program may cost.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    /// Address space of each of its processes, in MiB.
    pub(crate) memory_mib: u64,
    /// Processor time of each of its processes.
    pub(crate) cpu: Duration,
    /// Wall time.
    pub(crate) wall: Duration,
    /// The largest file that it may write, in MiB; pipes do not count.
    pub(crate) file_mib: u64,
    /// The most that it may say, in bytes.
    pub(crate) output: u64,
}

/// What to run.
pub(crate) struct Job<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<OsString>,
    /// All that its environment holds.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    pub(crate) input: Vec<u8>,
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) output: Vec<u8>,
    /// The end of what it complained of, on one line.
    pub(crate) complaint: String,
}

/// The limited process' side: sets the limits on itself, then becomes the program.
pub(crate) fn become_limited(arguments: &RunLimited) -> ExitCode {
    // If we end, however that comes about, it ends with us.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    let (memory, file) = (arguments.memory << 20, arguments.file << 20);
    let limited = setrlimit(Resource::AS, memory, memory)
        .and_then(|()| setrlimit(Resource::CPU, arguments.cpu, arguments.cpu + 1))
        .and_then(|()| setrlimit(Resource::FSIZE, file, file))
        .and_then(|()| setrlimit(Resource::CORE, 0, 0));
    if limited.is_err() {
        return ExitCode::from(9);
    }
    let Some((program, rest)) = arguments.command.split_first() else {
        return ExitCode::from(9);
    };
    // Returns only if it cannot be started.
    let error = std::process::Command::new(program).args(rest).exec();
    crate::output::note(&format!("{}: {error}", program.display()));
    ExitCode::from(127)
}

/// Runs a program to its end, or to the end of its time. `ours` is this program.
///
/// # Errors
/// It cannot be started, takes too long or says too much. That it failed is an outcome.
///
/// # Cancel safety
/// Dropping the future kills the program and all that it started.
pub(crate) async fn run(ours: &Path, job: Job<'_>, costs: &Costs) -> anyhow::Result<Outcome> {
    let mut command = Command::new(ours);
    command
        .arg("run-limited")
        .arg(format!("--memory={}", costs.memory_mib))
        .arg(format!("--cpu={}", costs.cpu.as_secs().max(1)))
        .arg(format!("--file={}", costs.file_mib))
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
    let child = command.spawn().context("it cannot be started")?;
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let mut group = Group { child, id };
    let talk = talk(&mut group.child, job.input, costs.output);
    match tokio::time::timeout(costs.wall, talk).await {
        Ok(outcome) => outcome,
        Err(_) => bail!("it took longer than {} s", costs.wall.as_secs()),
    }
}

async fn talk(child: &mut Child, input: Vec<u8>, most: u64) -> anyhow::Result<Outcome> {
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
        bail!("it has no pipes");
    };
    // One that died no longer reads: its status tells more than the broken pipe.
    let feed = async move {
        let _ = stdin.write_all(&input).await;
        drop(stdin);
    };
    let mut output = Vec::new();
    let mut limited = stdout.take(most + 1);
    let read = limited.read_to_end(&mut output);
    let ((), read, complaint) = tokio::join!(feed, read, last_words(stderr));
    read?;
    if most < output.len() as u64 {
        bail!("it said more than {} MiB", most >> 20);
    }
    let status = child.wait().await?;
    Ok(Outcome { status, output, complaint })
}

/// Reads all complaints, keeps the last few hundred bytes.
async fn last_words(mut stderr: tokio::process::ChildStderr) -> String {
    const KEPT: usize = 300;
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
        kept.extend_from_slice(buffer.get(..n).unwrap_or_default());
        kept.drain(..kept.len().saturating_sub(KEPT));
    }
    String::from_utf8_lossy(&kept).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A process and all that it started: killed together.
struct Group {
    child: Child,
    id: Option<i32>,
}

impl Drop for Group {
    fn drop(&mut self) {
        // Also where the first of them has ended: what it left behind is of its group still, and the
        // number is nobody else's while the group has members.
        if let Some(id) = self.id {
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

/// Where a program lies: as set, else the first of these names on the path.
pub(crate) fn find(set: Option<&Path>, names: &[&str], path: Option<&str>) -> Option<PathBuf> {
    if let Some(set) = set {
        return is_program(set).then(|| set.to_owned());
    }
    let folders: Vec<PathBuf> = std::env::split_paths(path.unwrap_or_default()).collect();
    let places = names.iter().flat_map(|name| folders.iter().map(move |at| at.join(name)));
    // A relative folder on the path would let the folder we stand in decide what runs.
    places.filter(|place| place.is_absolute()).find(|place| is_program(place))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
