//! Holds an open base of any store, and names a base by its folder or its address.

use std::borrow::Cow;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikerag_knowledge::{Filter, Lease, StoreError};
use pikerag_postgres::Location;
use pikerag_store::KeptBase;

use crate::settings::is_base_name;

/// An open base, in a folder or in a database. A clone is the same base.
#[derive(Clone)]
pub(crate) struct Base(Arc<dyn KeptBase>);

impl Base {
    pub(crate) fn new(base: impl KeptBase + 'static) -> Self {
        Self(Arc::new(base))
    }

    /// The base as any of its ports.
    pub(crate) fn arc(&self) -> Arc<dyn KeptBase> {
        Arc::clone(&self.0)
    }

    /// The same base, in which only the chunks of these files are pending.
    pub(crate) fn pending_of(&self, files: Vec<String>) -> Self {
        Self(self.0.pending_of(files))
    }

    /// The same base, for a worker that may write only while it has its lease.
    pub(crate) fn leased(&self, lease: Lease) -> Self {
        Self(self.0.leased(lease))
    }

    /// The same base, for a question that begins now.
    pub(crate) async fn for_a_question(&self) -> Result<Self, StoreError> {
        self.0.for_a_question().await.map(Self)
    }

    /// A snapshot of the base that shows what the filters admit.
    pub(crate) async fn seen_through(
        &self,
        visible: &Filter,
        filter: &Filter,
    ) -> Result<Self, StoreError> {
        self.0.seen_through(visible, filter).await.map(Self)
    }
}

impl Deref for Base {
    type Target = dyn KeptBase;

    fn deref(&self) -> &Self::Target {
        self.0.as_ref()
    }
}

/// The address of a base in a database; `None` for a folder.
pub(crate) fn address_of(base: &Path) -> Result<Option<Location>, StoreError> {
    match Location::is_address(base) {
        true => Location::parse(&base.to_string_lossy()).map(Some),
        false => Ok(None),
    }
}

/// The name of a base for people: its folder, or its address without the password.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// let shown = |base| pikerag_engine::shown_base(Path::new(base)).display().to_string();
/// assert_eq!(shown("bases/law"), "bases/law");
/// assert_eq!(shown("postgres://ada:secret@db/pikerag?base=law"), "postgres://ada@db/pikerag?base=law");
/// ```
pub fn shown_base(base: &Path) -> PathBuf {
    match address_of(base) {
        Ok(None) => base.to_owned(),
        Ok(Some(location)) => location.shown_path(),
        // An address that does not parse may contain a password anywhere.
        Err(_) => "postgres://".into(),
    }
}

/// The folder of a base. A base in a database has one in the working folder, which need not exist:
/// uploaded files lie beside it.
pub(crate) fn folder_of(base: &Path) -> Cow<'_, Path> {
    let name = match address_of(base) {
        Ok(None) => return Cow::Borrowed(base),
        Ok(Some(location)) => location.base().to_owned(),
        Err(_) => String::new(),
    };
    let folder = match name.as_str() {
        "main" => ".pikerag".to_owned(),
        name if is_base_name(name) => name.to_owned(),
        name => {
            let hash = blake3::hash(name.as_bytes()).to_hex();
            format!("base-{}", hash.get(..8).unwrap_or_default())
        }
    };
    Cow::Owned(folder.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_in_a_database_have_a_folder_here() {
        let folder = |base: &str| folder_of(Path::new(base)).display().to_string();
        assert_eq!(folder("bases/law"), "bases/law");
        assert_eq!(folder("postgres://db/pikerag"), ".pikerag");
        assert_eq!(folder("postgres://db/pikerag?base=law"), "law");
        let other = folder("postgres://db/pikerag?base=../law");
        assert!(other.starts_with("base-") && !other.contains('/'), "{other}");
    }

    #[test]
    fn no_password_is_shown() {
        let shown = |base: &str| shown_base(Path::new(base)).display().to_string();
        assert_eq!(shown("postgres:/ada:secret@db/x"), "postgres://ada@db/x?base=main");
        assert_eq!(shown("postgres://ada:secret@db/x?port=none"), "postgres://");
    }
}
