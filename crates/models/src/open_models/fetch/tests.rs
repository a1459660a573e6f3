//! Checks downloads: interrupted ones continue, wrong ones are deleted.

use std::sync::Mutex;

use pikerag_test_support::canned::{Canned, Server, ok};

use super::*;

const CONTENT: &str = "GGUFabcdef";
/// The SHA-256 of the content.
const SHA256: &str = "bac114b8a48437a3aea357933daf00c177bfbda27bdb6b8e6d685ee32298e7fb";
/// A redirection of the hub, with the checksum of the content.
const REDIRECTION: &str = "location: /file\r\nx-linked-etag: \"bac114b8a48437a3aea357933daf00c177bfbda27bdb6b8e6d685ee32298e7fb\"\r\n";

fn reply(status: u16, head: &'static str, body: &str) -> Canned {
    Canned::Reply(status, head, body.to_owned())
}

/// A folder for a model, and a server of its file.
struct Place {
    home: tempfile::TempDir,
    server: Server,
    seen: Mutex<Vec<u64>>,
}

impl Place {
    fn new(replies: Vec<Canned>) -> Self {
        let (home, server) = (tempfile::tempdir().unwrap(), Server::start(replies));
        Self { home, server, seen: Mutex::default() }
    }

    fn file(&self) -> PathBuf {
        self.home.path().join("models/small.gguf")
    }

    async fn fetch(&self, sha256: Option<&str>) -> Result<Fetched, FetchError> {
        let url = format!("http://{}/small.gguf", self.server.address);
        let progress = |bytes: u64, _: Option<u64>| self.seen.lock().unwrap().push(bytes);
        let file = self.file();
        let bytes = sha256.map(|_| CONTENT.len() as u64);
        let request = FetchRequest { url: &url, file: &file, sha256, bytes, progress: &progress };
        fetch(&Transport::default(), &request).await
    }
}

#[tokio::test]
async fn an_interrupted_download_continues() {
    let rest = reply(206, "content-range: bytes 6-9/10\r\n", "cdef");
    let place = Place::new(vec![Canned::Cut("GGUFab"), rest]);
    let broken = place.fetch(Some(SHA256)).await.unwrap_err();
    assert!(matches!(broken, FetchError::Broken { .. }), "{broken}");
    assert!(!place.file().exists());
    let fetched = place.fetch(Some(SHA256)).await.unwrap();
    assert_eq!((fetched.bytes, fetched.resumed_from, fetched.is_verified), (10, 6, true));
    assert_eq!(fs::read_to_string(place.file()).unwrap(), CONTENT);
    assert!(!partial(&place.file()).exists());
    let requests = place.server.requests();
    assert!(!requests[0].contains("range:") && requests[1].contains("range: bytes=6-"));
    assert_eq!(*place.seen.lock().unwrap(), [6, 10]);
}

#[tokio::test]
async fn a_server_without_ranges_begins_again() {
    let place = Place::new(vec![Canned::Cut("GGUFab"), ok(CONTENT)]);
    place.fetch(Some(SHA256)).await.unwrap_err();
    let fetched = place.fetch(Some(SHA256)).await.unwrap();
    assert_eq!((fetched.bytes, fetched.resumed_from), (10, 0));
    assert_eq!(fs::read_to_string(place.file()).unwrap(), CONTENT);
}

#[tokio::test]
async fn without_a_checksum_no_download_continues() {
    let rest = reply(206, "content-range: bytes 6-9/10\r\n", "cdef");
    let place = Place::new(vec![Canned::Cut("GGUFxx"), rest, ok(CONTENT)]);
    place.fetch(None).await.unwrap_err();
    let fetched = place.fetch(None).await.unwrap();
    assert_eq!((fetched.sha256.as_str(), fetched.is_verified), (SHA256, false));
    assert_eq!(fs::read_to_string(place.file()).unwrap(), CONTENT);
}

#[tokio::test]
async fn a_wrong_checksum_deletes_the_file() {
    let place = Place::new(vec![ok("GGUFwrong")]);
    let error = place.fetch(Some(SHA256)).await.unwrap_err();
    let FetchError::Checksum { expected, seen } = &error else { panic!("{error}") };
    assert!(expected == SHA256 && seen != SHA256);
    assert!(error.to_string().ends_with("and was deleted"), "{error}");
    assert!(!place.file().exists() && !partial(&place.file()).exists());
}

#[tokio::test]
async fn the_hub_announces_the_checksum() {
    let right = Place::new(vec![reply(302, REDIRECTION, ""), ok(CONTENT)]);
    assert!(right.fetch(None).await.unwrap().is_verified);
    let wrong = Place::new(vec![reply(302, REDIRECTION, ""), ok("GGUFother")]);
    let error = wrong.fetch(None).await.unwrap_err();
    assert!(matches!(error, FetchError::Checksum { .. }), "{error}");
}

#[tokio::test]
async fn other_files_and_errors_are_refused() {
    let page = Place::new(vec![ok("<html>")]);
    assert!(matches!(page.fetch(None).await.unwrap_err(), FetchError::NotGguf));
    assert!(!page.file().exists());
    let gone = Place::new(vec![reply(404, "", "gone")]);
    let error = gone.fetch(None).await.unwrap_err();
    assert!(matches!(error, FetchError::Status { status: 404, .. }), "{error}");
}

#[test]
fn only_safe_addresses_are_used() {
    for safe in ["https://huggingface.co/a.gguf", "http://127.0.0.1:8/a", "http://[::1]/a"] {
        assert!(address(safe).is_ok(), "{safe}");
    }
    for unsafe_one in ["http://huggingface.co/a.gguf", "file:///etc/passwd", "a.gguf", ""] {
        assert!(address(unsafe_one).is_err(), "{unsafe_one}");
    }
}

#[tokio::test]
async fn a_file_that_is_too_long_is_not_received_to_its_end() {
    let long = CONTENT.repeat(1 << 20);
    let place = Place::new(vec![ok(long.as_str())]);
    let refused = place.fetch(Some(SHA256)).await.unwrap_err();
    assert!(matches!(refused, FetchError::Checksum { .. }), "{refused}");
    let received = place.seen.lock().unwrap().last().copied().unwrap();
    assert!(received < long.len() as u64, "{received}");
    assert!(!partial(&place.file()).exists() && !place.file().exists());
}
