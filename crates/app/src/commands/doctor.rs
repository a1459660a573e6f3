//! `doctor`: is all in place? Each line says what was looked at, and what to do where it is not.

use pikerag_engine::Session;
use serde::Serialize;

use crate::advice;
use crate::exit;
use crate::output::{say, say_json};

#[derive(Serialize)]
struct Finding {
    what: &'static str,
    fine: bool,
    says: String,
}

pub(crate) async fn doctor(session: &Session, json: bool) -> anyhow::Result<u8> {
    let found = pikerag_engine::doctor(session).await;
    let findings: Vec<Finding> = found
        .into_iter()
        .map(|finding| Finding {
            what: finding.check.name(),
            fine: finding.fine,
            says: advice::finding(finding),
        })
        .collect();
    if json {
        say_json(&findings)?;
    } else {
        for Finding { what, fine, says } in &findings {
            say(&format!("{} {what}: {says}", if *fine { "✓" } else { "✗" }));
        }
    }
    Ok(if findings.iter().all(|finding| finding.fine) { 0 } else { exit::FAILED })
}
