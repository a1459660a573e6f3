//! Does Ollama run on this machine, and which models does it hold? Asked for advice alone: nothing is used that nobody set.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;

use crate::openai::Transport;

/// Where it listens, unless it was told otherwise.
const PORT: u16 = 11434;
/// It is on this machine: it answers at once, or is not there.
const PATIENCE: Duration = Duration::from_millis(800);
/// Bytes of its list that are read.
const LONGEST: usize = 1 << 20;

/// A server of models on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// What an OpenAI-compatible client takes for its base URL.
    pub base_url: String,
    /// Its models that chat, in its order; may be empty.
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

/// Asks for the models at `address`, which is as `OLLAMA_HOST` has it. `None` where nobody answers like Ollama, or where that would not be
/// this machine: no other is ever asked.
pub async fn find(transport: &Transport, address: &str) -> Option<LocalServer> {
    let place = place(address)?;
    let url: Url = format!("{place}/api/tags").parse().ok()?;
    let asked = transport.to_this_machine().ok()?.get(url).timeout(PATIENCE).send().await.ok()?;
    if !asked.status().is_success()
        || asked.content_length().is_some_and(|it| LONGEST < it as usize)
    {
        return None;
    }
    let mut held = Vec::new();
    let mut asked = asked;
    while let Some(piece) = asked.chunk().await.ok()? {
        held.extend_from_slice(&piece);
        if LONGEST < held.len() {
            return None;
        }
    }
    let tags: Tags = serde_json::from_slice(&held).ok()?;
    let names = tags.models.into_iter().map(|tag| tag.name);
    // What makes vectors says so in its name. And a name is a stranger's word that a person may copy into a command.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".:/_-".contains(c);
    let chats = |name: &String| !name.contains("embed") && name.chars().all(is_plain);
    Some(LocalServer { base_url: format!("{place}/v1"), models: names.filter(chats).collect() })
}

/// Scheme, name and port, where they mean this machine.
fn place(address: &str) -> Option<String> {
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
        // It listens on all addresses: this machine's own is one of them.
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
    async fn its_models_are_told_and_others_are_not_taken_for_it() {
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
