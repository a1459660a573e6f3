//! Makes the events of a stream of chunks.

use axum::body::{Body, Bytes};
use axum::response::Response;
use axum::response::sse::Event as Sse;
use futures::TryStreamExt;
use serde_json::Value;

/// The comment before a chunk for parsers, as axum writes it.
const WRITTEN: &[u8] = b": citations\n";
/// The same with the other end of a line.
const SENT: &[u8] = b": citations\r";

/// An event with a chunk.
pub(super) fn event(chunk: &Value) -> Sse {
    Sse::default().data(chunk.to_string())
}

/// An event that only parsers of event streams receive. A comment precedes it, and [`for_parsers`]
/// ends the comment's line with CR, which such parsers accept (HTML, server-sent events). A client
/// that reads line by line takes both for one comment and skips it. Open WebUI is such a client; it
/// reads citations from `source` events, and would list each one again.
pub(super) fn only_parsers(chunk: &Value) -> Sse {
    Sse::default().comment("citations").data(chunk.to_string())
}

/// A stream whose events for parsers alone are hidden from other clients.
pub(super) fn for_parsers(response: Response) -> Response {
    let (head, body) = response.into_parts();
    // Each piece is an event.
    let pieces = body.into_data_stream().map_ok(hidden);
    Response::from_parts(head, Body::from_stream(pieces))
}

fn hidden(piece: Bytes) -> Bytes {
    match piece.strip_prefix(WRITTEN) {
        Some(rest) => Bytes::from([SENT, rest].concat()),
        None => piece,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::to_bytes;
    use axum::response::{IntoResponse, Sse as SseResponse};
    use futures::stream;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn clients_that_read_lines_skip_events_for_parsers() {
        let chunks = [json!({"a": "\r"}), json!({"b": 2}), json!({"c": 3})];
        let [first, second, third] = &chunks;
        let events = [event(first), only_parsers(second), event(third)];
        let events = stream::iter(events.map(Ok::<_, Infallible>));
        let response = for_parsers(SseResponse::new(events).into_response());
        let bytes = to_bytes(response.into_body(), 1000).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let chunks_of = |lines: Vec<&str>| -> Vec<Value> {
            let data = lines.into_iter().filter_map(|line| line.strip_prefix("data: "));
            data.map(|data| serde_json::from_str(data).unwrap()).collect()
        };
        let by_lines = chunks_of(text.split('\n').collect());
        assert_eq!(by_lines, [first.clone(), third.clone()]);
        let by_parser = chunks_of(text.split(['\n', '\r']).collect());
        assert_eq!(by_parser, chunks);
    }
}
