//! Tests that a base in a database keeps the contract of the ports and what the product needs beyond them,
//! and survives copies. Most tests
//! need a server: they use the database of `PIKERAG_TEST_POSTGRES`, such as
//! `postgres://postgres@127.0.0.1:5433/postgres`, and make bases of their own in it.
#![cfg(test)]

mod calls;
mod copies;
mod documents;
mod filters;
mod keys;
mod leases;
mod responses;
mod rows;
mod server;
mod shared_limits;
mod uploads;
mod views;

use std::sync::LazyLock;

use pikerag_contract::{Shelf, agree, histories};
use pikerag_postgres::Base;
use proptest::prelude::*;
use tokio::runtime::Runtime;

use self::server::{Fresh, documents};

mod postgres {
    pikerag_contract::contract!(super::in_a_database);
}

/// Shared, because the connections of a database belong to one runtime.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    /// After any history, every read gives what the definition says, with filters and without.
    #[test]
    fn every_read_equals_the_oracle(history in histories()) {
        RUNTIME.block_on(async {
            let Some(fresh) = Fresh::new().await else { return };
            agree(&fresh.base, &history).await;
            fresh.remove().await;
        });
    }
}

async fn in_a_database() -> Option<((), Shelf<Base>)> {
    let store = Fresh::new().await?.base;
    Some(((), Shelf { store, documents }))
}
