//! Copies a base to another place: a folder or a database (`migrate`).

use std::path::{Path, PathBuf};

use pikerag_knowledge::StoreError;
use pikerag_store::{BaseProblem, Copied};
use serde::Serialize;

use super::backup::{backup, restore};
use crate::base::shown_base;
use crate::engine::Engine;
use crate::error::Result;

/// The result of a migration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MigrateResponse {
    /// The folder or address of the base, which stays unchanged.
    pub from: PathBuf,
    /// The folder or address of the copy.
    pub to: PathBuf,
    /// The content of the copy.
    #[serde(flatten)]
    pub copied: Copied,
}

/// Copies the base of a folder or an address, with its ledger and runs, to a place without a base.
/// It builds the derived indexes there. Uploaded files stay where they are.
///
/// # Errors
/// There is no base, or one exists at the target, or the target cannot be written. An incomplete copy
/// is removed.
///
/// # Examples
/// ```no_run
/// # async fn f(engine: &pikerag_engine::Engine) -> pikerag_engine::Result<()> {
/// use std::path::Path;
///
/// let to = Path::new("postgres://pikerag@127.0.0.1/pikerag?base=law");
/// let response = pikerag_engine::migrate(engine, Path::new("law"), to).await?;
/// println!("{} files are in {}", response.copied.files, response.to.display());
/// # Ok(())
/// # }
/// ```
pub async fn migrate(engine: &Engine, from: &Path, to: &Path) -> Result<MigrateResponse> {
    let (source, target) =
        (engine.session_over(from.to_owned()), engine.session_over(to.to_owned()));
    let (from, to) = (shown_base(from), shown_base(to));
    // Copying a large base for nothing would take long.
    if target.has_base().await? {
        let what = format!("copying the base to {}", to.display());
        let source = BaseProblem::Exists { folder: to }.into();
        return Err(StoreError::Failed { what, source }.into());
    }
    let folder = tempfile::Builder::new().prefix("pikerag-migrate-").tempdir()?;
    let file = folder.path().join("base");
    backup(&source, &file).await?;
    let copied = restore(&target, &file).await?.copied;
    Ok(MigrateResponse { from, to, copied })
}
