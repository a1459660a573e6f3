//! Runs `health`: checks whether the server on this machine accepts requests. Monitoring uses it, also in a container
//! without any other program.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use pikerag_engine::settings::ServerSettings;
use serde_json::json;

use crate::exit;
use crate::failure::Failure;
use crate::output::{Output, say_json};

/// The time to wait for a reply: monitoring needs an answer quickly.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) async fn health(
    settings: &ServerSettings,
    port: Option<u16>,
    output: Output,
) -> anyhow::Result<u8> {
    let url = format!("http://{}/ready", reached(&settings.host, port.unwrap_or(settings.port)));
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build()?;
    let reply = client.get(&url).send().await;
    let reply = reply.map_err(|error| Failure::NoServer(url.clone()).of(error))?;
    let is_ready = reply.status().is_success();
    match (output.json, is_ready) {
        (true, _) => {
            say_json(&json!({ "asked": url, "ready": is_ready }))?;
        }
        (false, true) => {
            output.say(format!("{url} accepts requests"), format!("{url} 接受请求"));
        }
        (false, false) => {
            let status = reply.status();
            output.note(
                format!("{url} accepts no requests: {status}"),
                format!("{url} 不接受请求：{status}"),
            );
        }
    }
    Ok(if is_ready { 0 } else { exit::FAILED })
}

/// The address at which this machine reaches a server that listens on `host`.
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
    fn any_address_is_reached_on_this_machine() {
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
