//! Makes bases in the database of the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use pikerag_extract::{ChunkParams, document_graph};
use pikerag_knowledge::DocumentGraph;
use pikerag_parse::{Limits, NoTools, parse};
use pikerag_postgres::{Base, Connections, Database, Location};
use pikerag_test_support::absent;

/// How bases of these tests are called: `test-<milliseconds>-<process>-<number>`.
const NAME: &str = "test";
/// Older bases were left behind by tests, in milliseconds.
const OLD: u128 = 3_600_000;

/// An empty base.
pub(crate) struct Fresh {
    pub(crate) database: Arc<Database>,
    pub(crate) location: Location,
    pub(crate) base: Base,
}

impl Fresh {
    /// `None` without a server.
    pub(crate) async fn new() -> Option<Self> {
        let location = location()?;
        let database = connected(&location).await;
        let base = Base::open_or_create(&database, &location).await.unwrap();
        Some(Self { database, location, base })
    }

    pub(crate) async fn remove(self) {
        self.base.settled().await;
        assert!(self.database.remove(self.location.base()).await.unwrap());
    }
}

/// The address of a base that does not exist; `None` without a server.
pub(crate) fn location() -> Option<Location> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let Ok(address) = std::env::var("PIKERAG_TEST_POSTGRES") else {
        absent("a PostgreSQL server", "is not named by PIKERAG_TEST_POSTGRES");
        return None;
    };
    let sign = if address.contains('?') { '&' } else { '?' };
    let (process, next) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let address = format!("{address}{sign}base={NAME}-{}-{process}-{next}", now());
    Some(Location::parse(&address).unwrap())
}

/// Connects, and removes bases that failed tests left behind.
pub(crate) async fn connected(location: &Location) -> Arc<Database> {
    let database = Database::connect(location, Connections::default()).await.unwrap();
    for name in database.bases().await.unwrap() {
        let mut parts = name.split('-');
        let is_ours = parts.next() == Some(NAME);
        let made = parts.next().and_then(|made| made.parse::<u128>().ok());
        if is_ours && made.is_some_and(|made| made + OLD < now()) {
            // Another test may do it at the same time.
            let _ = database.remove(&name).await;
        }
    }
    database
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}

/// The documents of a file, as the product reads it.
pub(crate) fn documents(path: &str, text: &str) -> Vec<DocumentGraph> {
    let parsed = parse(path, text.as_bytes(), &Limits::default(), &NoTools).unwrap();
    let graph = |document| document_graph(path, document, ChunkParams::default());
    parsed.documents.into_iter().map(graph).collect()
}
