//! Notes the servers of models that run, so that another process can list them and stop them.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::Serialize;
use tokio::time::sleep;

/// The ending of the names of notes, which are `MODEL.GROUP.running`.
const ENDING: &str = ".running";
/// Checks of a killed server until it has ended, and the pause after each.
const CHECKS: usize = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// The note of a running server. It is deleted when this is dropped; the next listing deletes the
/// note of a process that has crashed.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    /// Locked while this process lives.
    _file: File,
}

impl Note {
    /// Notes a server of this process by its process group.
    pub(super) fn write(folder: &Path, model: &str, group: i32) -> io::Result<Self> {
        let Some(Stat { began, .. }) = Stat::of(group) else {
            return Err(io::Error::new(ErrorKind::Unsupported, "/proc cannot be read"));
        };
        let path = folder.join(format!("{model}.{group}{ENDING}"));
        // Without a name until it is locked: a listing takes an unlocked note for that of a crash.
        let mut new = tempfile::Builder::new().prefix(".note").tempfile_in(folder)?;
        new.as_file().try_lock()?;
        writeln!(new, "{} {began}", std::process::id())?;
        let file = new.persist(&path)?;
        Ok(Self { path, _file: file })
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A server that runs on this machine, of any process of pikerag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunningServer {
    /// The model.
    pub model: String,
    /// The number of the process of pikerag that started it.
    pub started_by: i32,
    /// The number of the server's process, which leads a group.
    #[serde(skip)]
    group: i32,
    /// The time when that process began, as the system counts it.
    #[serde(skip)]
    began: u64,
}

impl RunningServer {
    /// Whether the server still runs. The system gives numbers of processes again, and a note may come from another
    /// container; the parent and the time tell these apart.
    fn runs(&self) -> bool {
        let stat = Stat { parent: self.started_by, began: self.began };
        Stat::of(self.group) == Some(stat)
    }

    /// Ends the server, and waits until it has ended; whether it has.
    pub(crate) async fn stop(&self) -> bool {
        for _ in 0..CHECKS {
            if !self.runs() {
                return true;
            }
            if killpg(Pid::from_raw(self.group), Signal::SIGKILL) == Err(Errno::EPERM) {
                return false;
            }
            sleep(PAUSE).await;
        }
        false
    }
}

/// What the system says of a process that has not ended.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: i32,
    began: u64,
}

impl Stat {
    fn of(process: i32) -> Option<Self> {
        Self::read(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// Reads the line of a process: its state is field 3, its parent 4, its begin 22. Its name, field 2, may hold
    /// brackets and spaces.
    fn read(line: &str) -> Option<Self> {
        let (_, fields) = line.rsplit_once(')')?;
        let mut fields = fields.split_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let began = fields.nth(17)?.parse().ok()?;
        (!matches!(state, "Z" | "X" | "x")).then_some(Self { parent, began })
    }
}

/// The servers of models in this folder that run, by model; none without a folder.
pub(crate) fn running(folder: &Path) -> io::Result<Vec<RunningServer>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let Some((model, group)) = path.file_name().and_then(|name| named(name.to_str()?)) else {
            continue;
        };
        if let Some((started_by, began)) = locked_by(&path) {
            found.push(RunningServer { model, started_by, group, began });
        }
    }
    found.retain(RunningServer::runs);
    found.sort_by(|a, b| (&a.model, a.group).cmp(&(&b.model, b.group)));
    Ok(found)
}

/// The model and the process group in the name of a note.
fn named(file: &str) -> Option<(String, i32)> {
    let (model, group) = file.strip_suffix(ENDING)?.rsplit_once('.')?;
    Some((model.to_owned(), group.parse().ok().filter(|group| 1 < *group)?))
}

/// The process that holds a note, and the begin of its server; `None` if none does, and then the note is deleted.
fn locked_by(path: &Path) -> Option<(i32, u64)> {
    let mut file = File::open(path).ok()?;
    if file.try_lock_shared().is_ok() {
        let _ = fs::remove_file(path);
        return None;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let (process, began) = text.trim().split_once(' ')?;
    Some((process.parse().ok()?, began.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn lines_of_processes_are_read() {
        let line = "12 (a) b) S 7 12 12 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 9 0 112233 1000 10";
        assert_eq!(Stat::read(line), Some(Stat { parent: 7, began: 112_233 }));
        assert_eq!(Stat::read(&line.replace(" S ", " Z ")), None);
        assert_eq!(Stat::read("12 (llama) S 7"), None);
        assert_eq!(named("qwen2.5-1.5b.123.running"), Some(("qwen2.5-1.5b".to_owned(), 123)));
        for other in ["m.gguf", "m.running", "m.x.running", "m.1.running", "m.-5.running"] {
            assert_eq!(named(other), None, "{other}");
        }
    }

    /// A note proves nothing: the system may reuse the number, and another user may have written it.
    #[test]
    fn only_children_of_living_processes_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let list = || running(folder.path()).unwrap();
        assert_eq!(running(&folder.path().join("none")).unwrap(), []);
        fs::write(folder.path().join("crashed.77777.running"), "1\n").unwrap();
        assert_eq!(list(), []);
        assert!(!folder.path().join("crashed.77777.running").exists());
        let own = i32::try_from(std::process::id()).unwrap();
        // This process is no child of its own.
        let note = Note::write(folder.path(), "m", own).unwrap();
        assert_eq!(list(), []);
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let group = i32::try_from(child.id()).unwrap();
        let other = Note::write(folder.path(), "m", group).unwrap();
        let Stat { began, .. } = Stat::of(group).unwrap();
        let server = RunningServer { model: "m".to_owned(), started_by: own, group, began };
        assert_eq!(list().as_slice(), std::slice::from_ref(&server));
        assert!(!RunningServer { began: began + 1, ..server }.runs());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(list(), []);
        drop((note, other));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
