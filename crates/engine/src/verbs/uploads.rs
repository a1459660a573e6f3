//! Opens the uploads of a base, in a folder or in the database of the base.

use pikerag_postgres::Location;

use super::CreateBase;
use crate::engine::Session;
use crate::error::Result;
use crate::uploads::{FolderUploads, Uploads};

impl Session {
    /// The uploads of this session's base. Uploads of a base in a database are stored in the base, which
    /// is made if there is none and `create` says so; without it, there are no uploads.
    ///
    /// # Errors
    /// The base cannot be read or made.
    ///
    /// # Examples
    /// ```no_run
    /// # async fn f(session: &pikerag_engine::Session) -> Result<(), Box<dyn std::error::Error>> {
    /// use pikerag_engine::CreateBase;
    ///
    /// let uploads = session.uploads(CreateBase::No).await?;
    /// for (name, _, bytes) in uploads.all().await? {
    ///     println!("{name}: {bytes} bytes");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn uploads(&self, create: CreateBase) -> Result<Uploads> {
        if !Location::is_address(self.folder()) {
            return Ok(Uploads::in_folder(FolderUploads::beside(self.folder())));
        }
        let base = match create {
            CreateBase::Yes => self.base_or_create().await?,
            CreateBase::No if self.has_base().await? => self.base_in_part().await?,
            CreateBase::No => {
                let names = self.names_of_new_base()?;
                return Ok(Uploads::below(names.root(), self.folder(), None));
            }
        };
        // Without a root that the base keeps, places would differ between servers.
        let root = match (self.kept_root(&base).await?, base.is_read_only()) {
            (Some(root), _) => root,
            (None, true) => self.names(&base).await?.root().to_owned(),
            (None, false) => self.settled_names(&base).await?.root().to_owned(),
        };
        Ok(Uploads::below(&root, self.folder(), base.stored_uploads()))
    }
}
