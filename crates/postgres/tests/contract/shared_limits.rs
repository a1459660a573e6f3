//! Tests that several processes keep limits and caps together in one database. All tests share its
//! tables, so each has names of its own.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use pikerag_knowledge::{
    AmountCaps, Amounts, CapReply, CapRequest, RateRequest, SharedLimits, TakeRequest, Taken,
};
use pikerag_postgres::{LimitsInPostgres, Location};
use proptest::prelude::*;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_postgres::{Client, NoTls};

use super::RUNTIME;
use super::server::location;

/// A name that no other test has.
fn own(location: &Location) -> String {
    format!("limits-{}", location.base())
}

/// A request for one call, without limits.
fn call(model: &str, holder: &str, turn: u64) -> TakeRequest {
    TakeRequest {
        model: model.to_owned(),
        holder: holder.to_owned(),
        turn,
        running: 0,
        seats: 1,
        in_flight: 1000,
        lease: Duration::from_mins(1),
        only_with_seat: true,
        requests: None,
        tokens: None,
    }
}

fn rate(per_minute: u32, burst: u32, booked: u64, ahead: u64) -> RateRequest {
    let number = |n| NonZeroU32::new(n).unwrap();
    RateRequest { per_minute: number(per_minute), burst: number(burst), booked, ahead }
}

/// The processes of a test: each has connections of its own.
fn processes(location: &Location, n: usize) -> Vec<Arc<LimitsInPostgres>> {
    (0..n).map(|_| Arc::new(LimitsInPostgres::new(location))).collect()
}

/// Eight tasks of four processes take as much as they get. Each of them waits as long as it must,
/// so the test does not depend on the speed of the machine.
#[test]
fn many_tasks_keep_to_one_rate() {
    let Some(location) = location() else { return };
    let model = own(&location);
    RUNTIME.block_on(async {
        let processes = processes(&location, 4);
        let began = Instant::now();
        let mut tasks = JoinSet::new();
        for task in 0..8 {
            let (limits, model) = (Arc::clone(&processes[task % 4]), model.clone());
            tasks.spawn(async move {
                let mut uses = Vec::new();
                for turn in 1.. {
                    let holder = format!("task-{task}");
                    let request = TakeRequest {
                        tokens: Some(rate(6_000, 100, 7, 5)),
                        requests: Some(rate(600, 20, 1, 0)),
                        ..call(&model, &holder, turn)
                    };
                    let taken = limits.take(&request).await.unwrap();
                    sleep(taken.delay).await;
                    uses.push((Instant::now(), taken));
                    if Duration::from_secs(3) < began.elapsed() {
                        break;
                    }
                }
                uses
            });
        }
        let uses: Vec<(Instant, Taken)> = tasks.join_all().await.into_iter().flatten().collect();
        let end = uses.iter().map(|(at, _)| *at).max().unwrap();
        let seconds = (end - began).as_secs_f64();
        let tokens: u64 = uses.iter().map(|(_, taken)| taken.tokens).sum();
        let requests: u64 = uses.iter().map(|(_, taken)| taken.requests).sum();
        assert!(tokens as f64 <= 100.0 + 100.0 * seconds + 1.0, "{tokens} in {seconds} s");
        assert!(requests as f64 <= 20.0 + 10.0 * seconds + 1.0, "{requests} in {seconds} s");
        // Each task had its turn.
        assert!(8 <= requests, "{requests}");
    });
}

/// Processes that hold seats never hold more than there are. A seat that nobody renews comes back.
#[test]
fn seats_are_shared_and_come_back_after_their_lease() {
    let Some(location) = location() else { return };
    let model = own(&location);
    RUNTIME.block_on(async {
        let processes = processes(&location, 4);
        let ask = |n: usize, turn: u64, lease: Duration| {
            let request = TakeRequest {
                seats: 3,
                in_flight: 5,
                lease,
                ..call(&model, &format!("holder-{n}"), turn)
            };
            let limits = &processes[n];
            async move { limits.take(&request).await.unwrap().seats }
        };
        let lease = Duration::from_secs(2);
        let held = join_all((0..4).map(|n| ask(n, 1, lease))).await;
        assert!(held.iter().sum::<u32>() <= 5, "{held:?}");
        assert!(held.iter().any(|seats| 0 < *seats), "{held:?}");
        // All holders are killed, and ask no more. One that comes later waits for their leases.
        let began = Instant::now();
        let mut turn = 2;
        while ask(0, turn, Duration::from_mins(1)).await < 3 {
            turn += 1;
            sleep(Duration::from_millis(20)).await;
            assert!(began.elapsed() < Duration::from_mins(1), "the seats do not come back");
        }
    });
}

#[test]
fn a_pause_holds_for_all_and_a_late_request_changes_nothing() {
    let Some(location) = location() else { return };
    let model = own(&location);
    RUNTIME.block_on(async {
        let processes = processes(&location, 2);
        let request = |turn| call(&model, "holder", turn);
        assert_eq!(processes[0].take(&request(5)).await.unwrap().seats, 1);
        let late = processes[0].take(&TakeRequest { running: 9, ..request(4) }).await.unwrap();
        assert_eq!(late, Taken::default());
        processes[0].pause(&model, Duration::from_secs(100)).await.unwrap();
        processes[1].pause(&model, Duration::from_secs(50)).await.unwrap();
        let request = TakeRequest { running: 1, requests: Some(rate(60, 6, 1, 0)), ..request(6) };
        let taken = processes[1].take(&request).await.unwrap();
        assert!(Duration::from_secs(40) < taken.pause && taken.pause <= Duration::from_secs(100));
        assert_eq!((taken.seats, taken.requests), (1, 0));
    });
}

const NOTHING: Amounts = Amounts { money: 0, tokens: 0, calls: 0 };

/// Eight tasks of four processes reserve at once, settle at less, and are sometimes killed.
#[test]
fn no_cap_is_passed_by_reservations_at_once() {
    let Some(location) = location() else { return };
    let account = own(&location);
    RUNTIME.block_on(async {
        let processes = processes(&location, 4);
        let caps = AmountCaps { money: Some(1_000), tokens: Some(100_000), calls: Some(60) };
        let mut tasks = JoinSet::new();
        for task in 0_u64..8 {
            let (limits, account) = (Arc::clone(&processes[task as usize % 4]), account.clone());
            tasks.spawn(async move {
                let (mut spent, mut turn) = (NOTHING, 0);
                let worst = Amounts { money: 40, tokens: 10, calls: 1 };
                for n in 0..30 {
                    turn += 1;
                    let request = CapRequest {
                        account: account.clone(),
                        holder: format!("task-{task}"),
                        turn,
                        spent,
                        held: NOTHING,
                        wanted: worst,
                        caps,
                        lease: Duration::from_hours(1),
                    };
                    if limits.reserve(&request).await.unwrap() != CapReply::Reserved {
                        continue;
                    }
                    if n == 5 && task % 2 == 0 {
                        // It is killed: its call counts in full.
                        return spent.plus(worst);
                    }
                    spent = spent.plus(Amounts { money: 15 + task, ..worst });
                }
                turn += 1;
                let last = CapRequest {
                    account,
                    holder: format!("task-{task}"),
                    turn,
                    spent,
                    held: NOTHING,
                    wanted: NOTHING,
                    caps,
                    lease: Duration::from_hours(1),
                };
                limits.reserve(&last).await.unwrap();
                spent
            });
        }
        let spent = tasks.join_all().await.into_iter().fold(NOTHING, Amounts::plus);
        assert!(caps.admit(spent), "{spent:?}");
        assert!(20 <= spent.calls, "{spent:?}");
        // A new process sees all of it: the next call must not fit if the sum says so.
        let request = CapRequest {
            account,
            holder: "late".to_owned(),
            turn: 1,
            spent: NOTHING,
            held: NOTHING,
            wanted: Amounts { money: 1_001 - spent.money, ..NOTHING },
            caps,
            lease: Duration::from_secs(1),
        };
        assert_ne!(processes[0].reserve(&request).await.unwrap(), CapReply::Reserved);
        let fits = Amounts { money: 1_000 - spent.money, ..NOTHING };
        let request = CapRequest { wanted: fits, turn: 2, ..request };
        assert_eq!(processes[0].reserve(&request).await.unwrap(), CapReply::Reserved);
    });
}

#[test]
fn reservations_of_the_dead_count_as_spent() {
    let Some(location) = location() else { return };
    let account = own(&location);
    RUNTIME.block_on(async {
        let limits = LimitsInPostgres::new(&location);
        let request = |holder: &str, turn, lease| CapRequest {
            account: account.clone(),
            holder: holder.to_owned(),
            turn,
            spent: NOTHING,
            held: NOTHING,
            wanted: Amounts { money: 6, ..NOTHING },
            caps: AmountCaps { money: Some(10), ..AmountCaps::default() },
            lease,
        };
        let second = Duration::from_secs(1);
        assert_eq!(limits.reserve(&request("dies", 1, second)).await.unwrap(), CapReply::Reserved);
        let mut turn = 0;
        let spent = loop {
            turn += 1;
            match limits.reserve(&request("lives", turn, second)).await.unwrap() {
                // Its lease runs.
                CapReply::Later { .. } => sleep(Duration::from_millis(50)).await,
                CapReply::Over { spent } => break spent,
                CapReply::Reserved => panic!("the reservation of the dead is lost"),
            }
        };
        assert_eq!(spent, Amounts { money: 6, ..NOTHING });
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// The brute-force twin of the buckets in the database, in simulated time: between any two
    /// uses, the amounts stay below the rate times the time, plus the burst; also if the clock is
    /// set back.
    #[test]
    fn amounts_in_any_span_keep_to_the_rate(
        per_minute in 1_u32..50_000,
        share in 1_u32..20,
        calls in prop::collection::vec((0_i64..3_000_000_000, 0_i64..200, 0_i64..50, 0_u32..40), 1..40),
    ) {
        let Some(location) = location() else { return Ok(()) };
        let burst = (per_minute / share).max(1);
        let model = own(&location);
        let uses = RUNTIME.block_on(async {
            LimitsInPostgres::new(&location).pause(&model, Duration::ZERO).await.unwrap();
            let client = connected(&location).await;
            // The bucket begins full, as if it was made at that time.
            let clear = "UPDATE pikerag.limit_buckets SET paused_until = 0 WHERE name = $1";
            client.execute(clear, &[&model]).await.unwrap();
            let sql = "SELECT tokens, delay FROM pikerag.take_limits(
                $1, 'holder', $2, 0, 0, 10, 1, false, NULL, $3, $4)";
            let (mut real, mut set_back, mut uses) = (1_000_000_000_000_i64, 0_i64, Vec::new());
            for (turn, (wait, booked, ahead, event)) in (1_i64..).zip(calls) {
                real += wait;
                if event == 0 {
                    set_back += 7_000_000_000;
                }
                let booked = booked.min(i64::from(burst));
                let amounts = vec![i64::from(per_minute), i64::from(burst), booked, ahead];
                let row = client.query_one(sql, &[&model, &turn, &amounts, &(real - set_back)]).await.unwrap();
                let (taken, delay): (i64, i64) = (row.get(0), row.get(1));
                assert!(booked <= taken && taken <= booked + ahead);
                assert!(delay == 0 || taken == booked);
                if taken != 0 {
                    uses.push((real + delay, taken));
                }
            }
            uses
        });
        for (first, (from, _)) in uses.iter().enumerate() {
            let mut sum = 0;
            for (to, amount) in uses.iter().skip(first) {
                sum += amount;
                let span = (to - from).max(0) as f64 / 60e9;
                let allowed = f64::from(burst) + f64::from(per_minute) * span;
                prop_assert!(sum as f64 <= allowed + 1.0, "{sum}, allowed {allowed}");
            }
        }
    }
}

async fn connected(location: &Location) -> Client {
    let (client, connection) = tokio_postgres::connect(location.database(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
