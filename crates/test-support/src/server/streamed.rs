//! Writes a chat reply as server-sent events, a few characters at a time.

use std::io::{Result, Write};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::EVENTS;

/// The characters of one piece.
const PIECE: usize = 12;

/// Writes `reply`, a whole chat completion, with `pause` after each piece of its text. The
/// connection ends after it.
pub(super) fn write(
    asked: &Value,
    reply: &Value,
    pause: Duration,
    writer: &mut impl Write,
) -> Result<bool> {
    writer.write_all(EVENTS.as_bytes())?;
    let choice = &reply["choices"][0];
    let mut send = |event: &Value| {
        writer.write_all(format!("data: {event}\n\n").as_bytes())?;
        writer.flush()
    };
    let chunk = |choices: Value| json!({"object": "chat.completion.chunk", "model": reply["model"], "choices": choices});
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    send(&delta(json!({"role": "assistant", "content": null})))?;
    let text: Vec<char> =
        choice["message"]["content"].as_str().unwrap_or_default().chars().collect();
    for piece in text.chunks(PIECE) {
        send(&delta(json!({"content": piece.iter().collect::<String>()})))?;
        sleep(pause);
    }
    let (finish, scores) = (&choice["finish_reason"], &choice["logprobs"]);
    let end = json!([{"index": 0, "delta": {}, "finish_reason": finish, "logprobs": scores}]);
    send(&chunk(end))?;
    if asked["stream_options"]["include_usage"] == true {
        let mut last = chunk(json!([]));
        last["usage"] = reply["usage"].clone();
        send(&last)?;
    }
    writer.write_all(b"data: [DONE]\n\n")?;
    Ok(false)
}
