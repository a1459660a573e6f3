//! `health`: does the server on this machine take requests? For whatever watches over it, in a container too that
//! holds no other program to ask with.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::Context;
use pikerag_engine::settings::ServerSettings;
use serde_json::json;

use crate::exit;
use crate::output::{note, say, say_json};

/// Whoever watches has less patience than whoever asks.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) async fn health(
    settings: &ServerSettings,
    port: Option<u16>,
    json: bool,
) -> anyhow::Result<u8> {
    let url = format!("http://{}/ready", reached(&settings.host, port.unwrap_or(settings.port)));
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build()?;
    let reply = client.get(&url).send().await;
    let reply = reply.with_context(|| format!("no server answers at {url}"))?;
    let is_ready = reply.status().is_success();
    match (json, is_ready) {
        (true, _) => {
            say_json(&json!({ "asked": url, "ready": is_ready }))?;
        }
        (false, true) => say(&format!("{url} takes requests")),
        (false, false) => note(&format!("{url} takes no requests: {}", reply.status())),
    }
    Ok(if is_ready { 0 } else { exit::FAILED })
}

/// The address at which this machine reaches what listens on `host`.
fn reached(host: &str, port: u16) -> String {
    match host.parse() {
        Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED)) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        Ok(IpAddr::V6(Ipv6Addr::UNSPECIFIED)) => SocketAddr::from((Ipv6Addr::LOCALHOST, port)),
        Ok(ip) => SocketAddr::new(ip, port),
        Err(_) => return format!("{host}:{port}"),
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::reached;

    #[test]
    fn what_listens_everywhere_is_asked_on_this_machine() {
        for (host, at) in [
            ("0.0.0.0", "127.0.0.1:8686"),
            ("::", "[::1]:8686"),
            ("192.0.2.7", "192.0.2.7:8686"),
            ("kiosk", "kiosk:8686"),
        ] {
            assert_eq!(reached(host, 8686), at);
        }
    }
}
