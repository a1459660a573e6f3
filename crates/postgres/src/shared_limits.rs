//! Keeps limits and caps in a database for all processes that use it. The functions of the database
//! (`migrations/4.sql`) do each request in one statement, by the clock of the server.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::Object;
use pikerag_knowledge::{
    Amounts, CapReply, CapRequest, RateRequest, SharedLimits, StoreError, TakeRequest, Taken,
};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_postgres::Row;

use crate::database::{Connections, Database};
use crate::error::Context;
use crate::fault::{Fault, Sql};
use crate::location::Location;
use crate::tx::{Access, Param};

/// Separate from those of bases, so that a call never waits for a write of documents.
const CONNECTIONS: Connections =
    Connections { reads: 1, writes: 3, states: 1, wait: Duration::from_secs(10) };
/// The longest wait for a reply of the server.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// The longest pause of an endpoint that is kept.
const LONGEST_PAUSE: Duration = Duration::from_hours(24 * 30);

const TAKE: &str = "SELECT seats, requests, tokens, delay, pause
     FROM pikerag.take_limits($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL)";
const PAUSE: &str = "SELECT pikerag.pause_limits($1, $2, NULL)";
const RESERVE: &str = "SELECT outcome, spent
     FROM pikerag.reserve_limits($1, $2, $3, $4, $5, $6, $7, $8, NULL)";

/// The shared limits of all processes over a database. They hold for all of its bases.
pub struct LimitsInPostgres {
    location: Location,
    database: OnceCell<Arc<Database>>,
}

impl LimitsInPostgres {
    /// The limits in the database of an address, whatever base it names. It is connected to with
    /// the first request.
    pub fn new(location: &Location) -> Self {
        Self { location: location.clone(), database: OnceCell::new() }
    }

    async fn database(&self) -> Result<&Arc<Database>, StoreError> {
        self.database.get_or_try_init(|| Database::connect(&self.location, CONNECTIONS)).await
    }

    /// The only row of a statement. A connection that was lost meanwhile is replaced once: then the
    /// statement may have run twice, of which the second time changes nothing.
    async fn row(&self, what: &str, sql: &str, params: &[Param<'_>]) -> Result<Row, StoreError> {
        let database = self.database().await?;
        for is_last in [false, true] {
            let client = database.lent(Access::Records).await?;
            let row = timeout(MAX_WAIT, one(&client, sql, params)).await;
            if row.is_err() {
                // Its reply may come at any time.
                drop(Object::take(client));
            }
            match row.context(what)? {
                Err(fault) if fault.is_lost() && !is_last => {}
                row => return row.map_err(|fault| fault.in_words(what)),
            }
        }
        Err(Fault::content("the connection was lost twice").in_words(what))
    }
}

#[async_trait]
impl SharedLimits for LimitsInPostgres {
    /// A database that cannot be written keeps no limits: then each process has its own.
    async fn take(&self, request: &TakeRequest) -> Result<Taken, StoreError> {
        if self.database().await?.is_read_only {
            return Ok(all_of(request));
        }
        let TakeRequest { model, holder, running, seats, in_flight, only_with_seat, .. } = request;
        let (turn, lease) = (stored(request.turn), nanos(request.lease));
        let [running, seats, in_flight] = [running, seats, in_flight].map(|n| i64::from(*n));
        let (requests, tokens) = (rate(request.requests), rate(request.tokens));
        let params: [Param<'_>; 10] = [
            model,
            holder,
            &turn,
            &running,
            &seats,
            &in_flight,
            &lease,
            only_with_seat,
            &requests,
            &tokens,
        ];
        let what = "taking from the shared limits of a model";
        let row = self.row(what, TAKE, &params).await?;
        taken(&row).map_err(|fault| fault.in_words(what))
    }

    async fn pause(&self, model: &str, wait: Duration) -> Result<(), StoreError> {
        if self.database().await?.is_read_only {
            return Ok(());
        }
        let wait = nanos(wait.min(LONGEST_PAUSE));
        self.row("sharing the pause of an endpoint", PAUSE, &[&model, &wait]).await.map(drop)
    }

    async fn reserve(&self, request: &CapRequest) -> Result<CapReply, StoreError> {
        let CapRequest { account, holder, caps, .. } = request;
        let (turn, lease) = (stored(request.turn), nanos(request.lease));
        let [spent, held, wanted] = [request.spent, request.held, request.wanted].map(array);
        let caps = [caps.money, caps.tokens, caps.calls].map(|cap| cap.map(stored)).to_vec();
        let params: [Param<'_>; 8] =
            [account, holder, &turn, &spent, &held, &wanted, &caps, &lease];
        let what = "reserving under a shared cap";
        let row = self.row(what, RESERVE, &params).await?;
        cap_reply(&row).map_err(|fault| fault.in_words(what))
    }
}

async fn one(client: &Object, sql: &str, params: &[Param<'_>]) -> Sql<Row> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query_one(&statement, params).await?)
}

/// All that a request needs, at once.
fn all_of(request: &TakeRequest) -> Taken {
    let amount = |rate: Option<RateRequest>| rate.map_or(0, |rate| rate.booked + rate.ahead);
    Taken {
        seats: request.running.saturating_add(request.seats),
        requests: amount(request.requests),
        tokens: amount(request.tokens),
        ..Taken::default()
    }
}

fn taken(row: &Row) -> Sql<Taken> {
    let number = |at: usize| -> Sql<u64> { Ok(row.try_get::<_, i64>(at)?.max(0).cast_unsigned()) };
    Ok(Taken {
        seats: u32::try_from(number(0)?).unwrap_or(u32::MAX),
        requests: number(1)?,
        tokens: number(2)?,
        delay: Duration::from_nanos(number(3)?),
        pause: Duration::from_nanos(number(4)?),
    })
}

fn cap_reply(row: &Row) -> Sql<CapReply> {
    let spent: Vec<i64> = row.try_get(1)?;
    let mut spent = spent.into_iter().map(|amount| amount.max(0).cast_unsigned());
    let mut next = || spent.next().unwrap_or_default();
    let spent = Amounts { money: next(), tokens: next(), calls: next() };
    match row.try_get::<_, i32>(0)? {
        0 => Ok(CapReply::Reserved),
        1 => Ok(CapReply::Later { spent }),
        2 => Ok(CapReply::Over { spent }),
        other => Err(Fault::content(format!("the outcome {other} of a reservation is unknown"))),
    }
}

/// Rate, burst, booked amount, amount ahead.
fn rate(request: Option<RateRequest>) -> Option<Vec<i64>> {
    request.map(|RateRequest { per_minute, burst, booked, ahead }| {
        vec![per_minute.get().into(), burst.get().into(), stored(booked), stored(ahead)]
    })
}

fn array(amounts: Amounts) -> Vec<i64> {
    vec![stored(amounts.money), stored(amounts.tokens), stored(amounts.calls)]
}

/// A number as PostgreSQL stores it; larger numbers become the largest that fits.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
