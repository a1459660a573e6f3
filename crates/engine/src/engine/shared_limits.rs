//! Shares limits and caps with other processes if a base is in a database.

use std::sync::Arc;

use pikerag_knowledge::SharedLimits;
use pikerag_models::{Meter, SharedCap, Upstreams};
use pikerag_postgres::LimitsInPostgres;
use tracing::warn;

use crate::settings::Settings;

/// The store of the limits that processes share; `None` if no base is in a database. It connects
/// with the first model call.
pub(super) fn shared_limits(settings: &Settings) -> Option<Arc<dyn SharedLimits>> {
    let location = settings.shared_database()?;
    Some(Arc::new(LimitsInPostgres::new(&location)))
}

/// The upstreams of a process, with shared limits if there are any.
pub(super) fn upstreams(limits: Option<&Arc<dyn SharedLimits>>) -> Upstreams {
    limits.map_or_else(Upstreams::default, |limits| Upstreams::sharing(Arc::clone(limits)))
}

/// Lets the meter keep its cap together with all processes whose settings name the same account.
/// An unchanged account keeps its spending.
pub(super) fn share_cap(
    meter: &Meter,
    limits: Option<&Arc<dyn SharedLimits>>,
    account: Option<&str>,
) {
    let shared = meter.shared_account();
    if shared.as_deref() == account {
        return;
    }
    if limits.is_none() && account.is_some() {
        warn!(account, "the cap is not shared: no base is in a database");
    }
    let cap =
        limits.zip(account).map(|(limits, account)| SharedCap::new(Arc::clone(limits), account));
    meter.share(cap.map(Arc::new));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Environment, Flags};

    #[test]
    fn only_a_base_in_a_database_shares_limits() {
        let settings = |base: &str| {
            let flags = Flags { base: Some(base.into()), ..Flags::default() };
            Settings::load(&flags, &Environment::default()).unwrap()
        };
        assert!(shared_limits(&settings("bases/law")).is_none());
        assert!(shared_limits(&settings("postgres://db/pikerag?base=law")).is_some());
        let mut server = settings("bases/law");
        let bases = &mut server.server.bases;
        bases.insert("law".to_owned(), "bases/other".into());
        bases.insert("medicine".to_owned(), "postgres://db/pikerag".into());
        assert!(shared_limits(&server).is_some());
    }

    #[test]
    fn a_cap_is_shared_under_the_name_of_the_settings() {
        let flags = Flags { base: Some("postgres://db/pikerag".into()), ..Flags::default() };
        let mut settings = Settings::load(&flags, &Environment::default()).unwrap();
        settings.shared_cap = Some("night".to_owned());
        let engine = crate::open(settings.clone()).unwrap();
        let account = |engine: &crate::Engine| engine.shared().process.meter.shared_account();
        assert_eq!(account(&engine).as_deref(), Some("night"));
        settings.shared_cap = None;
        assert_eq!(account(&engine.with_settings(settings).unwrap()), None);
    }

    #[test]
    fn a_cap_is_shared_from_the_first_base_in_a_database_on() {
        let mut settings = Settings::load(&Flags::default(), &Environment::default()).unwrap();
        let engine = crate::open(settings.clone()).unwrap();
        settings.server.bases.insert("law".to_owned(), "postgres://db/pikerag".into());
        settings.shared_cap = Some("night".to_owned());
        let engine = engine.with_settings(settings).unwrap();
        assert_eq!(engine.shared().process.meter.shared_account().as_deref(), Some("night"));
    }
}
