//! Keeps bases that servers made in a database, beside the base of the settings. All servers over the
//! database have the same ones.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pikerag_knowledge::error_chain;
use pikerag_postgres::{BaseRemoval, BasesInPostgres, Location};
use tracing::warn;

use super::random;
use crate::base::address_of;
use crate::uploads::UploadPlaces;

/// The opened lists by address: each has connections of its own, and requests ask for it often.
static OPENED: LazyLock<Mutex<HashMap<PathBuf, Arc<BasesInPostgres>>>> =
    LazyLock::new(Mutex::default);

/// The made bases of one address. Each call blocks until the database replies.
#[derive(Clone)]
pub(super) struct DatabaseBases {
    address: PathBuf,
}

impl DatabaseBases {
    pub(super) fn at(address: &Path) -> Self {
        Self { address: address.to_owned() }
    }

    pub(super) fn read(&self) -> io::Result<BTreeMap<String, PathBuf>> {
        let all = self.opened()?.list().map_err(io::Error::other)?;
        Ok(all.into_iter().map(|(name, address)| (name, address.into())).collect())
    }

    /// The version of the list; empty if it cannot be read.
    pub(super) fn version(&self) -> String {
        let read = || self.opened()?.version().map_err(io::Error::other);
        match read() {
            Ok(version) => version.to_string(),
            Err(error) => {
                warn!(error = error_chain(&error), "changes of made bases are not seen now");
                String::new()
            }
        }
    }

    pub(super) fn make(&self, name: &str) -> io::Result<PathBuf> {
        let own = format!("{name}-{}", random()?);
        let made = self.opened()?.make(name, &own).map_err(io::Error::other)?;
        made.map(PathBuf::from).ok_or_else(|| ErrorKind::AlreadyExists.into())
    }

    pub(super) fn rename(&self, base: &Path, name: &str) -> io::Result<()> {
        match self.opened()?.rename(&own_name(base)?, name).map_err(io::Error::other)? {
            true => Ok(()),
            false => Err(ErrorKind::AlreadyExists.into()),
        }
    }

    pub(super) fn remove(&self, base: &Path) -> io::Result<()> {
        match self.opened()?.remove(&own_name(base)?).map_err(io::Error::other)? {
            BaseRemoval::Removed => Ok(()),
            BaseRemoval::InUse => Err(ErrorKind::WouldBlock.into()),
            BaseRemoval::Missing => Err(ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn finish_removals(&self) {
        match self.opened() {
            Ok(opened) => opened.finish_removals(),
            Err(error) => {
                warn!(
                    error = error_chain(&error),
                    "rows of removed bases remain until the next start"
                );
            }
        }
    }

    fn opened(&self) -> io::Result<Arc<BasesInPostgres>> {
        let mut all = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = all.get(&self.address) {
            return Ok(Arc::clone(opened));
        }
        let opened = BasesInPostgres::open(&location(&self.address)?).map_err(io::Error::other)?;
        let opened = Arc::new(opened);
        all.insert(self.address.clone(), Arc::clone(&opened));
        Ok(opened)
    }
}

/// The root of a made base: the place of its uploads, so that no name of a file contains it. Nothing
/// lies there.
pub(super) fn root_of(address: &Path) -> String {
    UploadPlaces::below(Path::new("/"), address).folder().to_string_lossy().into_owned()
}

/// The name that the address of a base has.
fn own_name(base: &Path) -> io::Result<String> {
    Ok(location(base)?.base().to_owned())
}

fn location(address: &Path) -> io::Result<Location> {
    let location = address_of(address).map_err(io::Error::other)?;
    location.ok_or_else(|| io::Error::new(ErrorKind::NotFound, "the base is in no database"))
}
