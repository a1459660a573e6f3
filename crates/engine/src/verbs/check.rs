//! `check`: is the base whole?

use std::path::PathBuf;

use pikerag_knowledge::CorpusReader;
use pikerag_store::{Finding, Health, Repair};
use serde::Serialize;

use crate::engine::Session;
use crate::error::{EngineError, Result};

/// What to do about damage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckRequest {
    /// Whether what is derived is made again where it is damaged.
    pub repair: bool,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckResponse {
    /// Folder of the base.
    pub base: PathBuf,
    /// Whether nothing is damaged (any more).
    pub sound: bool,
    /// Part by part, in a fixed order.
    pub findings: Vec<Finding>,
}

/// Compares what is derived with the database, and the database with itself. A repair makes the former again;
/// what was read or paid for is never touched.
///
/// # Errors
/// There is no base, or it cannot be opened.
pub async fn check(session: &Session, request: CheckRequest) -> Result<CheckResponse> {
    let base = session.base().await?;
    let repair = if request.repair { Repair::Yes } else { Repair::No };
    let findings = base.check(repair).await?;
    let sound = findings.iter().all(|finding| finding.health != Health::Damaged);
    Ok(CheckResponse { base: base.folder().to_owned(), sound, findings })
}

/// Whether the base can be read now; a folder that never had one is ready for it.
///
/// # Errors
/// It cannot be opened or read, or is gone.
pub async fn ready(session: &Session) -> Result<()> {
    match session.base_in_part().await {
        Ok(base) => Ok(base.state().await.map(drop)?),
        Err(EngineError::NoBase { .. }) if !session.engine().has_opened(session.folder()).await => {
            Ok(())
        }
        Err(error) => Err(error),
    }
}
