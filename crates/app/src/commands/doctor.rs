//! Runs `doctor`: a line for each check, with the advice where a check fails.

use pikerag_engine::Session;
use pikerag_engine::narrate::{InWords, Language};
use serde::Serialize;

use crate::advice;
use crate::exit;
use crate::output::{Output, say, say_json};

#[derive(Serialize)]
struct Finding {
    what: String,
    fine: bool,
    absent: bool,
    says: String,
}

impl Finding {
    /// ✓ works, – is not there and not needed for everything, ✗ is broken.
    fn mark(&self) -> &'static str {
        match (self.fine, self.absent) {
            (false, _) => "✗",
            (true, true) => "–",
            (true, false) => "✓",
        }
    }
}

pub(crate) async fn doctor(session: &Session, output: Output) -> anyhow::Result<u8> {
    let found = pikerag_engine::doctor(session).await;
    let Output { json, language } = output;
    let shown = if json { Language::English } else { language };
    let findings: Vec<Finding> = found
        .into_iter()
        .map(|finding| Finding {
            what: finding.check.in_words(shown),
            fine: finding.fine,
            absent: finding.absent,
            says: advice::finding(&finding, shown),
        })
        .collect();
    if json {
        say_json(&findings)?;
    } else {
        for finding in &findings {
            let (Finding { what, says, .. }, colon) = (finding, language.either(": ", "："));
            say(&format!("{} {what}{colon}{says}", finding.mark()));
        }
    }
    Ok(if findings.iter().all(|finding| finding.fine) { 0 } else { exit::FAILED })
}
