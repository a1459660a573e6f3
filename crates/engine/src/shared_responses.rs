//! Opens the responses to requests with an idempotency key that servers over one database share.

use pikerag_postgres::{Location, ResponsesInPostgres};

use crate::base::address_of;
use crate::error::Result;
use crate::settings::Settings;

/// The responses in the database of the settings' base, or else of the keys; `None` if neither is in a
/// database: then each server keeps its own.
///
/// # Errors
/// It is not an address of a database, or the system gives no thread.
///
/// # Examples
/// ```no_run
/// # fn f(engine: &pikerag_engine::Engine) -> pikerag_engine::Result<()> {
/// let are_shared = pikerag_engine::shared_responses(engine.settings())?.is_some();
/// # Ok(())
/// # }
/// ```
pub fn shared_responses(settings: &Settings) -> Result<Option<ResponsesInPostgres>> {
    let places = [Some(&settings.base), settings.server.keys.as_ref()];
    let address = places.into_iter().flatten().find(|place| Location::is_address(place));
    let Some(address) = address else { return Ok(None) };
    match address_of(address)? {
        Some(location) => Ok(Some(ResponsesInPostgres::open(&location)?)),
        None => Ok(None),
    }
}
