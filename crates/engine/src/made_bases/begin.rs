//! Makes the base in the place that a server chose for it.

use super::database::root_of;
use crate::engine::Session;
use crate::error::Result;
use crate::uploads::UploadPlaces;

/// Makes an empty base in the folder of a session that
/// [`LockedBases::make`](crate::LockedBases::make) returned. It names its files as they are uploaded,
/// so that no name contains the folder.
///
/// # Errors
/// The base cannot be written.
///
/// # Examples
/// ```no_run
/// # async fn f(engine: &pikerag_engine::Engine) -> Result<(), Box<dyn std::error::Error>> {
/// use pikerag_engine::MadeBases;
///
/// let locked = MadeBases::of(engine.settings()).lock()?;
/// let folder = locked.make("law")?;
/// pikerag_engine::begin_base(&engine.session_over(folder)).await?;
/// # Ok(())
/// # }
/// ```
pub async fn begin_base(session: &Session) -> Result<()> {
    let base = session.base_or_create().await?;
    if base.stored_uploads().is_some() {
        base.keep_root(&root_of(session.folder())).await?;
        return Ok(());
    }
    let uploads = UploadPlaces::beside(session.folder());
    let name = uploads.folder().file_name().and_then(|name| name.to_str()).unwrap_or_default();
    base.keep_root(&format!("../{name}")).await?;
    Ok(())
}
