//! Finds servers of models on this machine at the ports that they usually have, and lists their
//! models. Other machines are never asked.

use std::time::Duration;

use futures::future::join_all;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::ollama::{get, is_plain, place};
use crate::openai::Transport;
use crate::secret::Secret;

/// A server on this machine answers within this time, or is not there.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 20_000 } else { 300 });
/// The usual ports; Ollama's is that of `OLLAMA_HOST`. `LocalAI` shares llama.cpp's.
const PORTS: [(u16, &str); 4] =
    [(1234, "LM Studio"), (8080, "llama.cpp or LocalAI"), (8000, "vLLM"), (1337, "Jan")];
const OLLAMA: &str = "Ollama";

/// A server of models that answers on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundServer {
    /// The program, by its reply, else by its port.
    pub program: String,
    /// The base URL for an OpenAI-compatible client.
    pub base_url: String,
    /// Its models, in its order; may be empty.
    pub models: Vec<String>,
}

/// The reply to `/v1/models`.
#[derive(Deserialize)]
struct List {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    owned_by: Option<String>,
}

/// The servers that answer at the usual ports, all asked at once. `ollama` is the address of
/// Ollama in the form of `OLLAMA_HOST`; empty for the default.
pub async fn find_servers(transport: &Transport, ollama: &str) -> Vec<FoundServer> {
    let ollama = place(ollama).map(|place| (place, OLLAMA));
    let others = PORTS.iter().map(|(port, name)| (format!("http://127.0.0.1:{port}"), *name));
    let places = ollama.into_iter().chain(others);
    let asked = places.map(|(place, usual)| async move { ask(transport, &place, usual).await });
    join_all(asked).await.into_iter().flatten().collect()
}

/// The server at an address of this machine, if it lists its models.
async fn ask(transport: &Transport, place: &str, usual: &str) -> Option<FoundServer> {
    let url: Url = format!("{place}/v1/models").parse().ok()?;
    let list: List = serde_json::from_slice(&get(transport, url, PATIENCE).await?).ok()?;
    let owner = list.data.first().and_then(|entry| entry.owned_by.as_deref());
    let program = owner.and_then(program).unwrap_or(usual).to_owned();
    let names = list.data.into_iter().map(|entry| entry.id);
    let models = names.filter(|name| is_plain(name)).collect();
    Some(FoundServer { program, base_url: format!("{place}/v1"), models })
}

/// The program by the owner that it gives its models.
fn program(owner: &str) -> Option<&'static str> {
    match owner {
        "library" => Some(OLLAMA),
        "llamacpp" => Some("llama.cpp"),
        "vllm" => Some("vLLM"),
        "organization_owner" => Some("LM Studio"),
        _ => None,
    }
}

/// Whether llama.cpp's server at a base URL has loaded its model. An error means: not yet.
pub async fn is_healthy(transport: &Transport, base_url: &str, key: &Secret) -> bool {
    let root = base_url.trim_end_matches("/v1");
    let Ok(client) = transport.to_this_machine() else { return false };
    let asked = client.get(format!("{root}/health")).bearer_auth(key.expose());
    let replied = asked.timeout(Duration::from_secs(2)).send().await;
    replied.is_ok_and(|reply| reply.status().is_success())
}

#[cfg(test)]
mod tests {
    use pikerag_test_support::canned::{Server, error, ok};

    use super::*;

    async fn found(reply: &str, usual: &str) -> Option<FoundServer> {
        let server = Server::start(vec![ok(reply)]);
        ask(&Transport::default(), &format!("http://{}", server.address), usual).await
    }

    #[tokio::test]
    async fn servers_are_named_by_their_reply_else_by_their_port() {
        let llama = r#"{"data": [{"id": "qwen2.5", "owned_by": "llamacpp"}, {"id": "a;b"}]}"#;
        let llama = found(llama, "llama.cpp or LocalAI").await.unwrap();
        assert_eq!(
            (llama.program.as_str(), llama.models.as_slice()),
            ("llama.cpp", &["qwen2.5".to_owned()][..])
        );
        assert!(llama.base_url.ends_with("/v1"));
        let jan = found(r#"{"object": "list", "data": []}"#, "Jan").await.unwrap();
        assert_eq!((jan.program.as_str(), jan.models.len()), ("Jan", 0));
        assert_eq!(found("<html></html>", "vLLM").await, None);
    }

    #[tokio::test]
    async fn ollama_is_asked_at_its_own_address() {
        let reply = r#"{"data": [{"id": "qwen3:8b", "owned_by": "library"}]}"#;
        let server = Server::start(vec![ok(reply)]);
        let servers = find_servers(&Transport::default(), &server.address).await;
        assert_eq!(servers[0].program, "Ollama");
        assert_eq!(servers[0].base_url, server.base_url);
        let elsewhere = find_servers(&Transport::default(), "ollama.example.org").await;
        assert!(elsewhere.iter().all(|server| server.base_url.contains("127.0.0.1")));
    }

    #[tokio::test]
    async fn a_loading_server_is_not_healthy() {
        let loading = error(503, r#"{"error": {"message": "Loading model"}}"#);
        let server = Server::start(vec![loading, ok(r#"{"status": "ok"}"#)]);
        let (transport, key) = (Transport::default(), Secret::new("token"));
        assert!(!is_healthy(&transport, &server.base_url, &key).await);
        assert!(is_healthy(&transport, &server.base_url, &key).await);
        assert!(server.requests()[1].contains("authorization: Bearer token"));
    }
}
