//! Checks that this program has the prompts that a run was made with.

use pikerag_knowledge::{RunEvent, RunId};
use pikerag_prompt::has_version;
use serde::Deserialize;

use crate::base::Base;
use crate::error::{EngineError, Result};

/// The part of a recorded request that names its prompt.
#[derive(Deserialize)]
struct Labelled {
    /// Such as `methods/look.2`; calls with a first version have none.
    prompt: Option<String>,
}

/// Checks the calls of these events: a later version of pikerag may have made them.
///
/// # Errors
/// [`EngineError::PromptMissing`] names the first prompt that is missing.
pub(super) async fn check(base: &Base, run: &RunId, events: &[RunEvent]) -> Result<()> {
    let calls: Vec<String> = events.iter().flat_map(|event| event.calls.iter().cloned()).collect();
    let calls = base.find_all(&calls).await?;
    match calls.into_iter().flatten().find_map(|call| unknown(&call.request)) {
        Some(prompt) => Err(EngineError::PromptMissing { run: run.clone(), prompt }),
        None => Ok(()),
    }
}

/// The prompt of a recorded request, if this program does not have it.
fn unknown(request: &str) -> Option<String> {
    let Labelled { prompt } = serde_json::from_str(request).ok()?;
    prompt.filter(|prompt| !has_version(prompt))
}

#[cfg(test)]
mod tests {
    use super::unknown;

    #[test]
    fn only_later_versions_are_unknown() {
        for (request, expected) in [
            (r#"{"role": "look", "schema": null}"#, None),
            (r#"{"role": "look", "prompt": "methods/look.1"}"#, None),
            (r#"{"role": "look", "prompt": "methods/look.999"}"#, Some("methods/look.999")),
            (r#"{"role": "look", "prompt": "methods/no_such.1"}"#, Some("methods/no_such.1")),
            (r#""a text to embed""#, None),
        ] {
            assert_eq!(unknown(request).as_deref(), expected, "{request}");
        }
    }
}
