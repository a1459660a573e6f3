//! Tests the client against the server that tests and benchmarks use.

use std::time::Duration;

use pikerag_doubles::request;
use pikerag_knowledge::{ChatModel, ChatReply, Embedder};
use pikerag_test_support::{Faults, Server, oracle};

use super::super::{EmbeddingParams, Endpoint, OpenAiChat, OpenAiEmbedder, Transport};

#[tokio::test]
async fn client_understands_the_stub() {
    let server = Server::start(oracle, Faults::default(), Duration::from_millis(1));
    let (endpoint, transport) = (Endpoint::new(server.url(), "stub"), Transport::default());
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
