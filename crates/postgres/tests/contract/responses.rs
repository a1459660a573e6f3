//! Tests that servers over one database do a request with an idempotency key once.

use std::time::Duration;

use pikerag_postgres::{BegunResponse, RequestName, ResponsesInPostgres, StoredResponse};

use super::RUNTIME;
use super::server::{Fresh, location};

const KEPT: Duration = Duration::from_hours(24);

/// Its methods block, so they are called on a thread that may block.
#[test]
fn a_request_is_done_by_one_server_and_its_response_kept_for_all() {
    let Some(location) = location() else { return };
    let open = || ResponsesInPostgres::open(&location).unwrap();
    let (one, other) = (open(), open());
    // No other test uses the name of this base.
    let name = RequestName { caller: location.base().to_owned(), key: "k".to_owned() };
    let begin = |server: &ResponsesInPostgres, fingerprint: Option<&str>, holder: &str| {
        server.begin(&name, fingerprint, holder, KEPT).unwrap()
    };
    assert_eq!(begin(&one, Some("a"), "one"), BegunResponse::First);
    assert_eq!(begin(&other, Some("a"), "other"), BegunResponse::UnderWay);
    assert_eq!(begin(&other, Some("b"), "other"), BegunResponse::Reused);
    // Only its holder gives it up.
    other.release(&name, "other").unwrap();
    assert_eq!(begin(&other, Some("a"), "other"), BegunResponse::UnderWay);
    one.release(&name, "one").unwrap();

    // The content of a form is known at its end.
    assert_eq!(begin(&other, None, "other"), BegunResponse::First);
    other.renew(&name, "other").unwrap();
    let kept =
        StoredResponse { status: 201, content_type: Some("text/plain".to_owned()), body: vec![7] };
    // A holder that lost the request keeps nothing.
    one.keep(&name, "one", "a", StoredResponse { status: 500, ..kept.clone() }).unwrap();
    assert_eq!(begin(&one, Some("a"), "one"), BegunResponse::UnderWay);
    other.keep(&name, "other", "a", kept.clone()).unwrap();
    other.release(&name, "other").unwrap();
    assert_eq!(begin(&one, Some("b"), "one"), BegunResponse::Reused);
    let found = begin(&one, Some("a"), "one");
    // Another test may forget a document at the same time.
    assert!([BegunResponse::Kept(kept), BegunResponse::Forgotten].contains(&found), "{found:?}");
}

/// Also if another process forgets the document, such as the command line.
#[test]
fn no_response_is_kept_after_a_document_is_forgotten() {
    let Some(fresh) = RUNTIME.block_on(Fresh::new()) else { return };
    let server = ResponsesInPostgres::open(&fresh.location).unwrap();
    let name =
        |key: &str| RequestName { caller: fresh.location.base().to_owned(), key: key.to_owned() };
    let begin = |key| server.begin(&name(key), Some("a"), "one", KEPT).unwrap();
    let kept = StoredResponse { status: 200, content_type: None, body: b"its text".to_vec() };
    for key in ["ended", "running"] {
        assert_eq!(begin(key), BegunResponse::First);
    }
    server.keep(&name("ended"), "one", "a", kept.clone()).unwrap();
    RUNTIME.block_on(async { fresh.base.forget_files(&[], 0).await.unwrap() });
    server.keep(&name("running"), "one", "a", kept).unwrap();
    assert_eq!(begin("ended"), BegunResponse::Forgotten);
    assert_eq!(begin("running"), BegunResponse::Forgotten);
    RUNTIME.block_on(fresh.remove());
}
