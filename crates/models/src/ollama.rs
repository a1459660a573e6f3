//! Detects a running Ollama on this machine and lists its models, for advice only: pikerag uses no
//! server that is not configured.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;

use crate::openai::Transport;

/// Ollama's default port.
const PORT: u16 = 11434;
/// A server on this machine answers within this time, or is not there.
const PATIENCE: Duration = Duration::from_millis(800);
/// The longest list that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// A server of models on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The base URL for an OpenAI-compatible client.
    pub base_url: String,
    /// Its chat models, in its order; may be empty.
    pub models: Vec<String>,
}

#[derive(Deserialize)]
struct Tags {
    models: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
}

/// Asks for the models at `address`, in the form of `OLLAMA_HOST`; empty for the default. `None` if
/// the reply is not Ollama's or does not come within 0.8 seconds, or if the address is not on this
/// machine: other machines are never asked.
pub async fn find(transport: &Transport, address: &str) -> Option<LocalServer> {
    let place = place(address)?;
    let url: Url = format!("{place}/api/tags").parse().ok()?;
    let held = get(transport, url, PATIENCE).await?;
    let tags: Tags = serde_json::from_slice(&held).ok()?;
    let names = tags.models.into_iter().map(|tag| tag.name);
    // Embedding models have "embed" in their names. A name comes from a stranger, and a person may
    // copy it into a command, so it must be plain.
    let chats = |name: &String| !name.contains("embed") && is_plain(name);
    Some(LocalServer { base_url: format!("{place}/v1"), models: names.filter(chats).collect() })
}

/// The body of a short, successful reply of a server on this machine that comes in time.
pub(crate) async fn get(transport: &Transport, url: Url, patience: Duration) -> Option<Vec<u8>> {
    let asked = transport.to_this_machine().ok()?.get(url).timeout(patience).send().await.ok()?;
    if !asked.status().is_success()
        || asked.content_length().is_some_and(|it| LONGEST < it as usize)
    {
        return None;
    }
    let (mut held, mut asked) = (Vec::new(), asked);
    while let Some(piece) = asked.chunk().await.ok()? {
        held.extend_from_slice(&piece);
        if LONGEST < held.len() {
            return None;
        }
    }
    Some(held)
}

/// Whether a name of a model from a stranger can be shown and copied into a command.
pub(crate) fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || ".:/_@-".contains(c))
}

/// Scheme, name and port, if they mean this machine.
pub(crate) fn place(address: &str) -> Option<String> {
    let rest = match address.trim().split_once("://") {
        Some(("http", rest)) => rest,
        Some(_) => return None,
        None => address.trim(),
    };
    let rest = rest.split('/').next().unwrap_or_default();
    let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or_default()),
        None => rest.split_once(':').unwrap_or((rest, "")),
    };
    let port: u16 = if port.is_empty() { PORT } else { port.parse().ok()? };
    let host = match host {
        // Ollama listens on all addresses, including this machine's own.
        "" | "0.0.0.0" | "::" => "127.0.0.1".to_owned(),
        "localhost" => host.to_owned(),
        _ => match host.parse::<IpAddr>().ok().filter(IpAddr::is_loopback)? {
            IpAddr::V4(_) => host.to_owned(),
            IpAddr::V6(_) => format!("[{host}]"),
        },
    };
    Some(format!("http://{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use pikerag_test_support::canned::{Server, ok};

    use super::*;

    #[test]
    fn only_this_machine_is_asked() {
        let known =
            ["", "0.0.0.0", "127.0.0.1:1234", "http://localhost:80/", "[::1]:9", ":5"].map(place);
        assert_eq!(
            known.map(Option::unwrap),
            [
                "http://127.0.0.1:11434",
                "http://127.0.0.1:11434",
                "http://127.0.0.1:1234",
                "http://localhost:80",
                "http://[::1]:9",
                "http://127.0.0.1:5"
            ]
        );
        for elsewhere in [
            "ollama.example.org",
            "10.0.0.1:11434",
            "https://localhost",
            "[fe80::1]",
            "localhost:x",
        ] {
            assert_eq!(place(elsewhere), None, "{elsewhere}");
        }
    }

    #[tokio::test]
    async fn ollama_models_are_listed_and_other_servers_are_not() {
        let transport = Transport::default();
        let server = Server::start(vec![ok(
            r#"{"models": [{"name": "qwen3:8b", "size": 5}, {"name": "nomic-embed-text:latest"}, {"name": "a;b"}]}"#,
        )]);
        let found = find(&transport, &server.address).await.unwrap();
        assert_eq!(found.models, ["qwen3:8b"]);
        assert_eq!(found.base_url, server.base_url);
        let other = Server::start(vec![ok("<html>no list</html>")]);
        assert_eq!(find(&transport, &other.address).await, None);
        assert_eq!(find(&transport, "127.0.0.1:1").await, None);
    }
}
