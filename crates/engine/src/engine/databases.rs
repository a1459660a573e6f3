//! Opens bases in databases, and makes bases in folders and databases.

use std::path::Path;
use std::sync::Arc;

use pikerag_knowledge::StoreError;
use pikerag_postgres::{Database, Location};
use pikerag_store::DATABASE;

use super::{Engine, Opened, blocking};
use crate::base::{Base, address_of};
use crate::error::{EngineError, Result};

impl Engine {
    /// The base of an address, which must exist. It stays open, unless it was removed: another process
    /// may have made one of the same name, which has another number.
    pub(super) async fn base_in_database(
        &self,
        location: &Location,
        held: &mut Option<Opened>,
    ) -> Result<Base> {
        let database = self.database(location).await?;
        let number = database.find(location.base()).await?;
        let identity = number.map(|number| (u64::from(number.unsigned_abs()), 0));
        if let Some(opened) = held
            && opened.file == identity
        {
            return Ok(opened.base.clone());
        }
        let base = match pikerag_postgres::Base::open(&database, location).await {
            Ok(base) => Base::new(base),
            Err(StoreError::NotOurs { .. }) => {
                return Err(EngineError::NoBase { folder: location.shown_path() });
            }
            Err(error) => return Err(error.into()),
        };
        *held = Some(Opened { base: base.clone(), file: identity });
        Ok(base)
    }

    /// Whether a base exists in a folder or a database.
    pub(crate) async fn has_base(&self, folder: &Path) -> Result<bool> {
        let Some(location) = address_of(folder)? else {
            return Ok(folder.join(DATABASE).is_file());
        };
        let bases = self.database(&location).await?.bases().await?;
        Ok(bases.iter().any(|name| name == location.base()))
    }

    /// A base that may be written; an empty one is made if there is none.
    pub(crate) async fn base_or_create(&self, folder: &Path) -> Result<Base> {
        if let Some(location) = address_of(folder)? {
            let database = self.database(&location).await?;
            pikerag_postgres::Base::open_or_create(&database, &location).await?;
            return self.base(folder).await;
        }
        let at = folder.to_owned();
        Ok(Base::new(blocking(move || pikerag_store::Base::open_or_create(&at)).await??))
    }

    /// The database of an address. It is connected once, and stays connected.
    pub(crate) async fn database(&self, location: &Location) -> Result<Arc<Database>> {
        let mut databases = self.0.process.databases.lock().await;
        if let Some(database) = databases.get(location.database()) {
            return Ok(Arc::clone(database));
        }
        let database = Database::connect(location, self.settings().postgres).await?;
        databases.insert(location.database().to_owned(), Arc::clone(&database));
        Ok(database)
    }
}
