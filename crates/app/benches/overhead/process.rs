//! Measures the wall time, processor time and memory of one pikerag run on Linux.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// The resources of one run.
pub(crate) struct Used {
    /// Seconds from start to end.
    pub(crate) wall: f64,
    /// Seconds of processor time, with those of its children.
    pub(crate) cpu: f64,
    /// The peak resident memory, in MiB.
    pub(crate) peak_mib: f64,
}

/// Linux counts processor time for user programs in hundredths of a second.
const TICKS: f64 = 100.0;

/// Runs pikerag against the endpoint on `port`. Its environment holds nothing else: no model
/// weights and no settings of this machine.
pub(crate) fn run(arguments: &[&OsStr], port: u16, folder: &Path) -> Result<Used> {
    let home = folder.join("home");
    fs::create_dir_all(&home)?;
    let began = Instant::now();
    let child = Command::new(env!("CARGO_BIN_EXE_pikerag"))
        .args(arguments)
        .current_dir(&home)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", &home)
        .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"))
        .env("OPENAI_MODEL", "stub")
        .env("PIKERAG_EMBED_MODEL", "stub-embedding")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(folder.join("stderr"))?)
        .spawn()
        .context("pikerag does not start")?;
    let used = watch(child, began);
    used.with_context(|| fs::read_to_string(folder.join("stderr")).unwrap_or_default())
}

/// Watches a child process until it ends. An ended process keeps its times until the parent waits
/// for it, but not its memory, so the last seen memory counts.
fn watch(mut child: Child, began: Instant) -> Result<Used> {
    let (process, mut peak_mib) = (child.id().to_string(), 0.0);
    while !has_ended(&process)? {
        peak_mib = peak_memory(&process).unwrap_or(peak_mib);
        sleep(Duration::from_millis(2));
    }
    let wall = began.elapsed().as_secs_f64();
    let cpu = processor_seconds(&process)?;
    let status = child.wait()?;
    ensure!(status.success(), "pikerag ended with {status}");
    Ok(Used { wall, cpu, peak_mib })
}

fn has_ended(process: &str) -> Result<bool> {
    Ok(fields(process)?.first().is_some_and(|state| state == "Z"))
}

/// Processor time of a process and of its children that have ended.
pub(crate) fn processor_seconds(process: &str) -> Result<f64> {
    // proc(5): utime, stime, cutime and cstime are fields 14 to 17, the state is field 3.
    let fields = fields(process)?;
    let times = fields.iter().skip(11).take(4).filter_map(|field| field.parse::<f64>().ok());
    Ok(times.sum::<f64>() / TICKS)
}

/// The fields of `/proc/PROCESS/stat` after the name, which may contain any character.
fn fields(process: &str) -> Result<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = text.rsplit_once(')').context("a name in parentheses")?;
    Ok(fields.split_whitespace().map(ToOwned::to_owned).collect())
}

fn peak_memory(process: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}

/// The load average of the last minute.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
