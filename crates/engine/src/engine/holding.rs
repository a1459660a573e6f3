//! Marks bases that several servers share as in use, once for all requests of this server.

use std::io::{self, ErrorKind};
use std::sync::{Arc, PoisonError, Weak};

use pikerag_postgres::Location;
use tracing::warn;

use super::{Engine, Session};
use crate::in_use::InUse;

impl Engine {
    /// A session over a base of [`MadeBases`](crate::MadeBases) that other servers do not remove while
    /// the session or a clone of it exists. It opens one small file, unless this server uses the base
    /// already.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if another server removed the base, [`ErrorKind::WouldBlock`] while one
    /// removes it. Where files cannot be written or locked, the session is returned as it is, with a
    /// warning in the log.
    ///
    /// # Examples
    /// ```no_run
    /// # fn f(engine: &pikerag_engine::Engine) -> std::io::Result<()> {
    /// use pikerag_engine::MadeBases;
    ///
    /// let bases = MadeBases::of(engine.settings());
    /// for folder in bases.all().into_values() {
    ///     let session = engine.hold(engine.session_over(folder))?;
    ///     println!("{} stays", session.folder().display());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn hold(&self, session: Session) -> io::Result<Session> {
        let folder = session.folder();
        // A write into a base that was removed from a database fails; reads keep their state.
        if Location::is_address(folder) {
            return Ok(session);
        }
        let Some(own) = folder.parent() else { return Ok(session) };
        let mut held = self.0.process.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(used) = held.get(folder).and_then(Weak::upgrade) {
            return Ok(session.used(used));
        }
        held.retain(|_, used| 0 < used.strong_count());
        match InUse::of(own) {
            Ok(used) => {
                let used = Arc::new(used);
                held.insert(folder.to_owned(), Arc::downgrade(&used));
                Ok(session.used(used))
            }
            Err(error) if [ErrorKind::NotFound, ErrorKind::WouldBlock].contains(&error.kind()) => {
                Err(error)
            }
            Err(error) => {
                let folder = folder.display();
                warn!(%folder, %error, "other servers do not see that the base is in use");
                Ok(session)
            }
        }
    }
}
