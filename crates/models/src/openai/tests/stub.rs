//! Does the client get along with the stub server that the benchmarks use?

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use pikerag_knowledge::{ChatModel, ChatReply, Embedder};
use tokio::process::{Child, Command};

use super::super::{EmbeddingParams, Endpoint, OpenAiChat, OpenAiEmbedder, Transport};
use pikerag_doubles::request;

/// The stub on a free port, or why there is none.
async fn start() -> Result<(Child, String), String> {
    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/tools/llm_stub");
    let script = tools.join("stub_server.py");
    if !script.exists() {
        return Err(format!("{} is not here", script.display()));
    }
    let mut probe = Command::new("python3");
    probe.args(["-c", "import aiohttp"]).stderr(Stdio::null());
    if !probe.status().await.is_ok_and(|status| status.success()) {
        return Err("python3 with aiohttp is not here".to_owned());
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let child = Command::new("python3")
        .arg(&script)
        .args(["--port", &port.to_string(), "--latency-ms", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    for _ in 0..300 {
        if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return Ok((child, format!("http://127.0.0.1:{port}/v1")));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("the stub does not listen after 30 s".to_owned())
}

#[tokio::test]
async fn speaks_with_the_stub() {
    let (_stub, base_url) = match start().await {
        Ok(started) => started,
        Err(reason) => {
            println!("skipped: {reason}");
            return;
        }
    };
    let (endpoint, transport) = (Endpoint::new(base_url, "stub"), Transport::default());
    let chat = OpenAiChat::new(endpoint.clone(), &transport).unwrap();
    let mut judged = request("Is the answer correct? The answer should only be \"Yes\" or \"No\".");
    judged.max_tokens = 5;
    let reply = chat.complete(&judged).await.unwrap();
    assert!(["Yes", "No"].contains(&reply.text.as_str()), "{reply:?}");
    assert!(0 < reply.usage.prompt_tokens);
    judged.logprobs = true;
    let scored = chat.complete(&judged).await.unwrap();
    assert_eq!(ChatReply { logprobs: Vec::new(), ..scored.clone() }, reply);
    assert_eq!(
        scored.logprobs.iter().map(|score| score.token.as_str()).collect::<String>(),
        reply.text
    );

    let params = EmbeddingParams::default();
    let embedder = OpenAiEmbedder::new(endpoint, &transport, params).unwrap();
    let texts: Vec<String> = (0..100).map(|i| format!("text number {i}")).collect();
    let vectors = embedder.embed(&texts).await.unwrap();
    assert_eq!((vectors.len(), vectors[99].len()), (100, 384));
    let alone = embedder.embed(&texts[99..]).await.unwrap();
    assert_eq!(alone[0], vectors[99]);
}
