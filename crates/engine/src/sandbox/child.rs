//! Reads hostile files in processes of their own, with limits on memory, processor and wall time.
//! Each returns data or a reason, whatever happens in it.

use std::io::Read;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pikerag_indexing::{FileError, FileReader, ReadFile};
use pikerag_knowledge::Problem;
use pikerag_parse::{Limits, PagePicture, ParseError, Parsed};
use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::clock::Clock;
use super::handed::{Nowhere, TakesFiles};
use super::limits::limit;
use super::pipe::{self, ChildConnection, ChildRequest, NoOutcome};
use super::programs::Programs;
use crate::raw_names::path_of;

/// The outcome of a child's task, as the child writes it.
#[derive(Serialize, Deserialize)]
enum ChildOutcome {
    Parsed(Parsed),
    /// The files were handed over one by one; these could not be.
    Unpacked(Vec<Problem>),
    /// The picture was handed over; these are the page's size in points and the number of pages.
    Drawn {
        points: (f32, f32),
        pages: u32,
    },
    Refused(ParseError),
}

/// The limits of parsing one file.
#[derive(Clone, Debug)]
pub struct ParserLimits {
    /// The most bytes of the file.
    pub file_bytes: u64,
    /// Address space of the child, in MiB.
    pub memory_mib: u64,
    /// Processor time of a file, in whole seconds, at least one.
    pub cpu: Duration,
    /// Wall time of a file, without the time of Tesseract and `LibreOffice`.
    pub wall: Duration,
    /// Children that run at a time in this process, for all callers together; at least one.
    pub at_once: usize,
}

impl ParserLimits {
    /// The most bytes that a child may hand over: as many as its own memory, at least 64 MiB.
    fn outcome_bytes(&self) -> u64 {
        (self.memory_mib << 20).max(64 << 20)
    }
}

/// Reads files through child processes of this program.
#[derive(Clone)]
pub(crate) struct SandboxedReader {
    /// The folder that names of files are relative to; empty if the names are paths as typed.
    pub(crate) root: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) limits: ParserLimits,
    /// The programs that a child may request.
    pub(crate) programs: Arc<Programs>,
    /// One permit for each child that may run now; all copies share them.
    pub(crate) places: Arc<Semaphore>,
}

/// The right to start a child. Dropping it allows the next one.
pub(crate) struct ChildPlace(
    #[expect(dead_code, reason = "dropping it releases the permit")] OwnedSemaphorePermit,
);

/// The most documents of old formats that are converted for one file: the file itself or its
/// attachments.
const MOST_CONVERSIONS: usize = 8;

/// The task of a child with its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChildTask {
    /// Reads documents.
    #[default]
    Parse,
    /// Unpacks the files of an archive.
    Unpack,
    /// Draws a page as a picture.
    Draw {
        /// The page, from 1.
        page: u32,
        /// The width in pixels.
        width: u32,
    },
}

/// The arguments of `parse-child`.
#[derive(Clone, Debug)]
pub struct ParseChild {
    /// The task.
    pub task: ChildTask,
    /// The file's path, which shows its format if the bytes do not.
    pub name: String,
    /// Address space, in MiB.
    pub memory_mib: u64,
    /// Processor time, in seconds.
    pub cpu_seconds: u64,
    /// The most bytes the file may have.
    pub max_bytes: usize,
}

/// Runs as the child. It must be called before any other setup: it first sets the limits, then
/// reads the hostile bytes from standard input and writes the result to standard output.
pub fn parse_child(arguments: &ParseChild) -> ExitCode {
    // The child may write no files.
    if limit(arguments.memory_mib, arguments.cpu_seconds, 0).is_err() {
        return ExitCode::from(9);
    }
    let parent = ChildConnection::new(std::io::stdin(), std::io::stdout());
    let bytes = match parent.receive_file() {
        Ok(bytes) => bytes,
        // This allocation alone fails without an abort; the abort reports it to the parent like the
        // others.
        Err(error) if error.kind() == std::io::ErrorKind::OutOfMemory => std::process::abort(),
        Err(_) => return ExitCode::from(8),
    };
    let limits = Limits { max_bytes: arguments.max_bytes, ..Limits::default() };
    let name = &arguments.name;
    let outcome = match arguments.task {
        ChildTask::Parse => {
            pikerag_parse::parse(name, &bytes, &limits, &parent).map(ChildOutcome::Parsed)
        }
        ChildTask::Unpack => {
            let taken = |file: &str, bytes: Vec<u8>| parent.hand_over(file, &bytes);
            pikerag_parse::unpack(name, &bytes, taken).map(ChildOutcome::Unpacked)
        }
        ChildTask::Draw { page, width } => {
            let drawn = pikerag_parse::draw(name, &bytes, page, width, &limits);
            drawn.and_then(|drawn| match parent.hand_over("page.png", &drawn.png) {
                Ok(()) => Ok(ChildOutcome::Drawn { points: drawn.points, pages: drawn.pages }),
                Err(hint) => Err(ParseError::Unsupported {
                    name: name.clone(),
                    seen: "a page whose picture is not taken".to_owned(),
                    hint,
                }),
            })
        }
    };
    let outcome = outcome.unwrap_or_else(ChildOutcome::Refused);
    drop(bytes);
    match parent.finish(&outcome) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(8),
    }
}

#[async_trait]
impl FileReader for SandboxedReader {
    async fn hash(&self, path: &str) -> Result<String, FileError> {
        let (root, path, most) = (self.root.clone(), path.to_owned(), self.limits.file_bytes);
        let hashed = tokio::task::spawn_blocking(move || -> Result<String, FileError> {
            let mut file = open(&path_of(&root, &path), most)?;
            let mut hasher = blake3::Hasher::new();
            std::io::copy(&mut file, &mut hasher).map_err(|error| unreadable(&error))?;
            Ok(hasher.finalize().to_hex().to_string())
        });
        hashed.await.map_err(|error| FileError::Unreadable { reason: error.to_string() })?
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        // The place is taken before the bytes are in memory.
        let place = self.place().await?;
        let (root, name, most) = (self.root.clone(), path.to_owned(), self.limits.file_bytes);
        let read = tokio::task::spawn_blocking(move || -> Result<_, FileError> {
            let mut bytes = Vec::new();
            open(&path_of(&root, &name), most)?
                .take(most.saturating_add(1))
                .read_to_end(&mut bytes)
                .map_err(|error| unreadable(&error))?;
            // The file may grow while it is read.
            if most < bytes.len() as u64 {
                return Err(FileError::TooLarge { bytes: bytes.len() as u64, most });
            }
            Ok(bytes)
        });
        let bytes =
            read.await.map_err(|error| FileError::Unreadable { reason: error.to_string() })??;
        self.parse_bytes(&place, path, bytes).await
    }
}

impl SandboxedReader {
    /// Waits until another child may start.
    pub(crate) async fn place(&self) -> Result<ChildPlace, FileError> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        place.map(ChildPlace).map_err(no_parser)
    }

    /// The documents of a file whose bytes are in memory.
    pub(crate) async fn parse_bytes(
        &self,
        place: &ChildPlace,
        path: &str,
        bytes: Vec<u8>,
    ) -> Result<ReadFile, FileError> {
        let hash = |bytes: Vec<u8>| (blake3::hash(&bytes).to_hex().to_string(), bytes);
        let hashed = tokio::task::spawn_blocking(move || hash(bytes)).await;
        let (hash, bytes) =
            hashed.map_err(|error| FileError::Unreadable { reason: error.to_string() })?;
        match self.ask_child(place, path, bytes, (ChildTask::Parse, &mut Nowhere)).await? {
            ChildOutcome::Parsed(parsed) => Ok(ReadFile { hash, parsed }),
            _ => Err(no_parser("its reply belongs to another task")),
        }
    }

    /// Hands the files of an archive to `to`, and returns the failures as problems.
    pub(crate) async fn unpack(
        &self,
        place: &ChildPlace,
        name: &str,
        bytes: Vec<u8>,
        to: &mut dyn TakesFiles,
    ) -> Result<Vec<Problem>, FileError> {
        match self.ask_child(place, name, bytes, (ChildTask::Unpack, to)).await? {
            ChildOutcome::Unpacked(problems) => Ok(problems),
            _ => Err(no_parser("its reply belongs to another task")),
        }
    }

    /// A page of a file as PNG, `width` pixels wide, with its width and height in points and the
    /// number of all pages.
    pub(crate) async fn draw(
        &self,
        place: &ChildPlace,
        name: &str,
        bytes: Vec<u8>,
        (page, width): (u32, u32),
    ) -> Result<PagePicture, FileError> {
        let mut png = None;
        let task = ChildTask::Draw { page, width };
        let drawn = self.ask_child(place, name, bytes, (task, &mut png)).await?;
        match (drawn, png) {
            (ChildOutcome::Drawn { points, pages }, Some(png)) => {
                Ok(PagePicture { png, points, pages })
            }
            _ => Err(no_parser("its reply belongs to another task")),
        }
    }

    async fn ask_child(
        &self,
        _place: &ChildPlace,
        path: &str,
        bytes: Vec<u8>,
        (task, to): (ChildTask, &mut dyn TakesFiles),
    ) -> Result<ChildOutcome, FileError> {
        let failed = |error: std::io::Error| no_parser(error);
        let task = match task {
            ChildTask::Parse => Vec::new(),
            ChildTask::Unpack => vec!["--unpack".to_owned()],
            ChildTask::Draw { page, width } => {
                vec![format!("--page={page}"), format!("--width={width}")]
            }
        };
        let mut child = Command::new(&self.program)
            .arg("parse-child")
            .args(task)
            .arg(format!("--name={path}"))
            .arg(format!("--memory={}", self.limits.memory_mib))
            .arg(format!("--cpu={}", self.limits.cpu.as_secs().max(1)))
            .arg(format!("--bytes={}", self.limits.file_bytes))
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(no_parser("it has no pipes"));
        };
        let mut clock = Clock::new(self.limits.wall);
        // A dead child does not read. Its status says more than the broken pipe.
        let _ = clock.run(pipe::send_file(&mut input, &bytes)).await?;
        drop(bytes);
        let (mut pictures, mut documents) = (0, 0);
        loop {
            // The helping programs have their own time limits, so the child's clock stops
            // meanwhile.
            let help = match clock.run(pipe::read_request(&mut output)).await? {
                ChildRequest::Recognize(picture) => {
                    pictures += 1;
                    match self.programs.limits.pictures {
                        most if most < pictures => Err(format!(
                            "words are recognised on at most {most} pictures of a file (`limits.ocr_pictures`)"
                        )),
                        _ => self.programs.recognize(picture).await,
                    }
                }
                ChildRequest::Convert { from, bytes } => {
                    documents += 1;
                    match documents {
                        ..=MOST_CONVERSIONS => self.programs.convert(bytes, &from).await,
                        _ => Err(format!(
                            "at most {MOST_CONVERSIONS} documents of a file are converted"
                        )),
                    }
                }
                ChildRequest::Take { name, bytes } => {
                    to.take(&name, bytes).await.map(|()| Vec::new())
                }
                ChildRequest::Finished | ChildRequest::Closed => break,
            };
            let _ = clock.run(pipe::write_reply(&mut input, help)).await?;
        }
        let most = self.limits.outcome_bytes();
        let outcome = clock.run(pipe::read_outcome(&mut output, most)).await?;
        if matches!(outcome, Err(NoOutcome::TooMuch)) {
            return Err(FileError::Unfolds { most: most >> 20 });
        }
        // The child may still wait for an answer or for a reader.
        drop((input, output));
        let status = clock.run(child.wait()).await?.map_err(failed)?;
        if !status.success() {
            return Err(self.cause_of_death(status));
        }
        match outcome {
            Ok(ChildOutcome::Refused(error)) => Err(error.into()),
            Ok(outcome) => Ok(outcome),
            Err(_) => Err(no_parser("its reply was cut off")),
        }
    }

    fn cause_of_death(&self, status: std::process::ExitStatus) -> FileError {
        use std::os::unix::process::ExitStatusExt;
        // The child gets SIGXCPU at the limit and SIGKILL a moment later. Rust ends with SIGABRT
        // when memory runs out.
        let seconds = self.limits.cpu.as_secs();
        let crashed = |reason: String| FileError::Crashed { reason };
        match status.signal() {
            Some(9) => crashed(format!(
                "killed: it took more than {seconds} s of processor time, or the machine ran out of memory"
            )),
            Some(24) => FileError::TooMuchWork { seconds },
            Some(6) => FileError::TooMuchMemory { mib: self.limits.memory_mib },
            Some(signal) => crashed(format!("signal {signal}")),
            None => crashed(status.to_string()),
        }
    }
}

fn open(path: &std::path::Path, most: u64) -> Result<std::fs::File, FileError> {
    let about = std::fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !about.is_file() {
        return Err(FileError::NotRegular);
    }
    if most < about.len() {
        return Err(FileError::TooLarge { bytes: about.len(), most });
    }
    std::fs::File::open(path).map_err(|error| unreadable(&error))
}

fn unreadable(error: &std::io::Error) -> FileError {
    FileError::Unreadable { reason: error.to_string() }
}

fn no_parser(reason: impl std::fmt::Display) -> FileError {
    FileError::NoParser { reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four parsers that run together hold four such outcomes.
    #[test]
    fn the_outcome_of_a_child_is_bounded_by_its_memory() {
        let of = |file_mib: u64, memory_mib: u64| {
            let time = Duration::from_secs(1);
            let file_bytes = file_mib << 20;
            ParserLimits { file_bytes, memory_mib, cpu: time, wall: time, at_once: 1 }
                .outcome_bytes()
                >> 20
        };
        assert_eq!((of(256, 512), of(1, 512), of(256, 16)), (512, 512, 64));
    }
}
