//! Connects to a database, and lends connections. Reads, writes and held states have separate
//! limits, so that none waits for the connections of another.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
};
use pikerag_knowledge::StoreError;
use tokio::sync::watch;

use crate::error::{Context, ServerProblem};
use crate::fault::Sql;
use crate::listener::listen;
use crate::location::Location;
use crate::migrations;
use crate::tls;
use crate::tx::{Access, Tx};

/// The beginning of the name of a base whose rows are being removed. No server gives such a name.
pub(crate) const REMOVED: &str = "removed ";

/// The connections of a process to one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    /// For reads at a time.
    pub reads: usize,
    /// For writes at a time.
    pub writes: usize,
    /// For questions and searches that hold a state at a time.
    pub states: usize,
    /// The longest wait for a free connection, or for the server.
    pub wait: Duration,
}

impl Default for Connections {
    fn default() -> Self {
        Self { reads: 6, writes: 6, states: 16, wait: Duration::from_mins(1) }
    }
}

/// A database with its tables up to date, for all of its bases.
pub struct Database {
    location: Location,
    reads: Pool,
    writes: Pool,
    states: Pool,
    /// The schema of pgvector, quoted.
    pub(crate) types: String,
    /// Whether the server is a standby, or the account may only read.
    pub(crate) is_read_only: bool,
    /// Changes when runs have more events; see [`Database::run_changes`].
    runs: OnceLock<watch::Receiver<u64>>,
}

const DOING: &str = "connecting to the database";

impl Database {
    /// Connects to the database of an address, and creates or updates its tables.
    ///
    /// # Errors
    /// A [`ServerProblem`]; [`StoreError::NotOurs`] if a newer version wrote the tables.
    pub async fn connect(location: &Location, most: Connections) -> Result<Arc<Self>, StoreError> {
        let (server, wait) = (location.server(), most.wait);
        let pool = |size: usize| pool(location, size, wait);
        let (reads, writes, states) = (pool(most.reads)?, pool(most.writes)?, pool(most.states)?);
        let client = lent(&writes, &server).await?;
        let sql = "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean";
        let row = client.query_one(sql, &[]).await.context(DOING)?;
        let is_read_only: bool = row.try_get(0).context(DOING)?;
        if !is_read_only {
            migrations::bring_up_to_date(&client, &server).await?;
        }
        let sql = "SELECT quote_ident(n.nspname) FROM pg_extension e
             JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'";
        let types = client.query_opt(sql, &[]).await.context(DOING)?;
        let Some(types) = types else {
            return Err(ServerProblem::NoVectors { server }).context(DOING);
        };
        let types = types.try_get(0).context(DOING)?;
        drop(client);
        let location = location.clone();
        Ok(Arc::new(Self {
            location,
            reads,
            writes,
            states,
            types,
            is_read_only,
            runs: OnceLock::new(),
        }))
    }

    /// A number that changes when a run of any base has more events. A notification may be lost, so read
    /// from time to time without it.
    pub fn run_changes(&self) -> watch::Receiver<u64> {
        self.runs.get_or_init(|| listen(&self.location)).clone()
    }

    /// The number of a base; `None` if there is none of this name. A base that is made again later has
    /// another number.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn find(&self, name: &str) -> Result<Option<i32>, StoreError> {
        let client = self.lent(Access::Read).await?;
        let sql = "SELECT id FROM pikerag.bases WHERE name = $1";
        let row = client.query_opt(sql, &[&name]).await.context("finding the base")?;
        row.map(|row| row.try_get(0)).transpose().context("finding the base")
    }

    /// The same; an empty base is made if there is none.
    pub(crate) async fn find_or_make(&self, name: &str) -> Result<i32, StoreError> {
        if let Some(found) = self.find(name).await? {
            return Ok(found);
        }
        // Another process may make it at the same time.
        if let Some(made) = self.make(name).await? {
            return Ok(made);
        }
        let missing = || StoreError::Missing { what: format!("the base `{name}`") };
        self.find(name).await?.ok_or_else(missing)
    }

    /// Makes an empty base, and returns its number; `None` if there is one of this name.
    pub(crate) async fn make(&self, name: &str) -> Result<Option<i32>, StoreError> {
        let doing = "making the base";
        let client = self.lent(Access::Documents).await?;
        let sql = "INSERT INTO pikerag.bases (name) VALUES ($1) ON CONFLICT (name) DO NOTHING RETURNING id";
        let row = client.query_opt(sql, &[&name]).await.context(doing)?;
        row.map(|row| row.try_get(0)).transpose().context(doing)
    }

    /// The names of all bases, in order.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn bases(&self) -> Result<Vec<String>, StoreError> {
        let doing = "listing the bases";
        let client = self.lent(Access::Read).await?;
        let rows = client.query("SELECT name FROM pikerag.bases ORDER BY name", &[]).await;
        let rows = rows.context(doing)?;
        rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().context(doing)
    }

    /// The names of bases with a part of a job that may be taken now, those first whose jobs were
    /// taken longest ago. Bases that servers made beside the base `owner` come with the names that
    /// requests use. Removed bases are absent.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn bases_with_jobs(
        &self,
        owner: &str,
    ) -> Result<Vec<(String, Option<String>)>, StoreError> {
        let doing = "listing the bases with jobs";
        let client = self.lent(Access::Read).await?;
        let sql = "SELECT b.name, m.name FROM pikerag.bases b
             LEFT JOIN pikerag.made_bases m ON m.id = b.id AND m.owner = $1
             WHERE NOT starts_with(b.name, $2) AND EXISTS (
               SELECT 1 FROM pikerag.jobs j WHERE j.base = b.id AND j.state IN ('waiting', 'running')
               AND j.due <= extract(epoch FROM clock_timestamp()) * 1000)
             ORDER BY b.served, b.id";
        let rows = client.query(sql, &[&owner, &REMOVED]).await.context(doing)?;
        let names = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
        let names: Result<Vec<(String, Option<String>)>, tokio_postgres::Error> = names.collect();
        names.context(doing)
    }

    /// Gives a base another name. Returns whether it exists.
    ///
    /// # Errors
    /// The database cannot be written, or another base has the name.
    pub async fn rename(&self, from: &str, to: &str) -> Result<bool, StoreError> {
        let client = self.lent(Access::Documents).await?;
        let sql = "UPDATE pikerag.bases SET name = $2 WHERE name = $1";
        let renamed = client.execute(sql, &[&from, &to]).await.context("renaming the base")?;
        Ok(renamed != 0)
    }

    /// Deletes a base with all of its content. Returns whether it existed.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn remove(&self, name: &str) -> Result<bool, StoreError> {
        let Some(number) = self.find(name).await? else { return Ok(false) };
        let removed = self.remove_if(number, false).await;
        removed.map_err(|fault| fault.in_words("deleting the base"))
    }

    /// Deletes a base, unless it has documents or replies. Returns whether it did.
    pub(crate) async fn remove_empty(&self, number: i32) -> Result<bool, StoreError> {
        let removed = self.remove_if(number, true).await;
        removed.map_err(|fault| fault.in_words("deleting an empty base"))
    }

    async fn remove_if(&self, number: i32, is_empty: bool) -> Sql<bool> {
        let tx = self.begin(number, Access::Forget).await?;
        let content = "(SELECT 1 FROM files LIMIT 1) UNION ALL (SELECT 1 FROM calls LIMIT 1)";
        if is_empty && tx.exists(content, &[]).await? {
            return Ok(false);
        }
        tx.run("SELECT pikerag.remove_base($1)", &[&number]).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Begins a transaction of a base. A connection that was lost meanwhile is replaced once.
    pub(crate) async fn begin(&self, base: i32, access: Access) -> Result<Tx, StoreError> {
        for is_last in [false, true] {
            let client = self.lent(access).await?;
            match Tx::begin(client, base, &self.types, access).await {
                Err(fault) if fault.is_lost() && !is_last => {}
                begun => return begun.map_err(|fault| fault.in_words("beginning a transaction")),
            }
        }
        Err(ServerProblem::AllInUse { server: self.location.server() }).context(DOING)
    }

    /// A connection outside any transaction.
    pub(crate) async fn lent(&self, access: Access) -> Result<Object, StoreError> {
        let pool = match access {
            Access::Read => &self.reads,
            Access::Held => &self.states,
            Access::Documents | Access::Records | Access::Unsynced | Access::Forget => &self.writes,
        };
        lent(pool, &self.location.server()).await
    }
}

/// A pool whose connections are made when they are needed.
fn pool(location: &Location, size: usize, wait: Duration) -> Result<Pool, StoreError> {
    let mut config = location.config()?;
    if config.get_application_name().is_none() {
        config.application_name("pikerag");
    }
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config, tls::encryption()?, recycling);
    Pool::builder(manager)
        .max_size(size.max(1))
        .wait_timeout(Some(wait))
        .create_timeout(Some(wait))
        .runtime(Runtime::Tokio1)
        .build()
        .context(DOING)
}

async fn lent(pool: &Pool, server: &str) -> Result<Object, StoreError> {
    let server = server.to_owned();
    let problem = match pool.get().await {
        Ok(client) => return Ok(client),
        Err(PoolError::Backend(source)) => ServerProblem::Unreachable { server, source },
        Err(_) => ServerProblem::AllInUse { server },
    };
    Err(problem).context(DOING)
}
