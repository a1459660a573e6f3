//! Checks whether a base is undamaged (`check`).

use std::path::PathBuf;

use pikerag_store::{Finding, Health, Repair};
use serde::Serialize;

use crate::engine::Session;
use crate::error::{EngineError, Result};

/// The handling of damage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckRequest {
    /// Whether damaged derived indexes are rebuilt.
    pub repair: bool,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckResponse {
    /// Folder of the base.
    pub base: PathBuf,
    /// Whether nothing is damaged, after repairs.
    pub sound: bool,
    /// The findings on each part, in a fixed order.
    pub findings: Vec<Finding>,
}

/// Compares the derived indexes with the database, and checks the database itself. A repair
/// rebuilds derived indexes; it never changes documents or paid results.
///
/// # Errors
/// The base does not exist or cannot be opened.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{CheckRequest, check};
///
/// let response = check(session, CheckRequest { repair: true }).await?;
/// for finding in response.findings.iter().filter(|finding| finding.repaired) {
///     println!("repaired: {}", finding.says);
/// }
/// if !response.sound {
///     println!("the base is damaged: restore a backup");
/// }
/// # Ok(())
/// # }
/// ```
pub async fn check(session: &Session, request: CheckRequest) -> Result<CheckResponse> {
    let base = session.base().await?;
    let repair = if request.repair { Repair::Yes } else { Repair::No };
    let findings = base.check(repair).await?;
    let sound = findings.iter().all(|finding| finding.health != Health::Damaged);
    Ok(CheckResponse { base: base.folder().to_owned(), sound, findings })
}

/// Checks that the base can be read now. A folder that never had a base counts as ready.
///
/// # Errors
/// The base cannot be opened or read, or is gone.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) {
/// match pikerag_engine::ready(session).await {
///     Ok(()) => println!("ready"),
///     Err(error) => println!("not ready: {error} ({})", error.code()),
/// }
/// # }
/// ```
pub async fn ready(session: &Session) -> Result<()> {
    match session.base_in_part().await {
        Ok(base) => Ok(base.state().await.map(drop)?),
        Err(EngineError::NoBase { .. }) if !session.engine().has_opened(session.folder()).await => {
            Ok(())
        }
        Err(error) => Err(error),
    }
}
