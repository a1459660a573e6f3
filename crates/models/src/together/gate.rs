//! Lets calls to one model begin as the limits allow that all processes keep together.
//!
//! Few calls wait for the store: the process takes amounts for a quarter of a second ahead if the
//! bucket is full enough, and keeps the seats of ended calls. It uses both only as long as the last
//! reply of the store is fresh. So processes together never make more calls, in any time span, than
//! the rate allows in a span that is longer by [`FRESH`].

use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pikerag_knowledge::{RateRequest, SharedLimits, StoreError, TakeRequest, Taken};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::warn;

use super::purse::Purse;
use super::waiting::Waiting;
use crate::limit::{Gate, Limits, burst};
use crate::process::process_name;

/// How long amounts, free seats and the knowledge of pauses are used without another question.
const FRESH: Duration = Duration::from_secs(1);
/// The same after a reply that took longer than that.
const LEAST_FRESH: Duration = Duration::from_millis(100);
/// Seats of a process that ended go to others after this time, and unused ones of an idle process.
const LEASE: Duration = Duration::from_secs(6);
/// How often running calls renew their seats.
const RENEW: Duration = Duration::from_secs(2);
/// Amounts that are taken ahead suffice for a minute divided by this.
const AHEAD: u32 = 240;
/// The first and the longest wait for a seat that another process holds.
const POLL: Duration = Duration::from_millis(25);
const LONGEST_POLL: Duration = Duration::from_millis(400);
/// How long calls wait for a store that cannot be reached, and how often it is tried.
const PATIENCE: Duration = Duration::from_secs(30);
const AGAIN: Duration = Duration::from_millis(500);

/// The gate of one model, for all of its calls in this process.
pub(crate) struct SharedGate {
    limits: Arc<dyn SharedLimits>,
    /// Names the model in the store.
    model: String,
    /// Names this gate in the store.
    holder: String,
    most: Limits,
    /// One seat: calls wait in line.
    line: Gate,
    /// Calls that have no seat yet.
    waiting: AtomicU32,
    /// Held during a request to the store, because the state is not certain until its reply.
    asking: tokio::sync::Mutex<()>,
    /// Notified when a call ends.
    ended: Notify,
    state: Mutex<State>,
}

/// What the process holds.
#[derive(Debug)]
struct State {
    turn: u64,
    running: u32,
    seats: u32,
    /// Whether calls of this process wait for seats. Then the store decides who gets a freed seat,
    /// because other processes may wait, too.
    is_short_of_seats: bool,
    /// Free seats and amounts are used until then.
    fresh_until: Instant,
    /// When seats were last renewed.
    renewed: Instant,
    /// `None`: no limit.
    requests: Option<Purse>,
    tokens: Option<Purse>,
    /// Since when the store cannot be reached.
    away_since: Option<Instant>,
}

/// The needs of the first call in line.
#[derive(Clone, Copy, Debug)]
struct Need {
    has_seat: bool,
    requests: u64,
    tokens: u64,
}

/// What the process can do for the first call in line.
enum Next {
    /// The call has what it needs.
    Taken,
    /// All of it may be used then.
    At(Instant),
    /// The store must be asked.
    Ask,
}

/// Why a call may not begin.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The endpoint asked a process for a pause, of which this is the rest.
    Pause(Duration),
    /// The store cannot be asked.
    Store(StoreError),
}

/// The seat of a running call. Dropping it ends the call.
#[derive(Debug)]
pub(crate) struct Seat<'a>(&'a SharedGate);

impl SharedGate {
    /// The gate of a model, with the limits that this process has for it.
    pub(crate) fn new(limits: Arc<dyn SharedLimits>, model: String, most: Limits) -> Self {
        let now = Instant::now();
        let state = State {
            turn: 0,
            running: 0,
            seats: 0,
            is_short_of_seats: false,
            fresh_until: now,
            renewed: now,
            requests: most.requests_per_minute.map(|_| Purse::default()),
            tokens: most.tokens_per_minute.map(|_| Purse::default()),
            away_since: None,
        };
        Self {
            limits,
            model,
            holder: process_name(),
            most,
            line: Gate::new(1),
            waiting: AtomicU32::new(0),
            asking: tokio::sync::Mutex::default(),
            ended: Notify::new(),
            state: Mutex::new(state),
        }
    }

    /// Waits until a call with `tokens` tokens may begin. More tokens than the burst are taken in
    /// several pieces.
    ///
    /// # Cancel safety
    /// Dropping the future takes no seat. Amounts that were taken for the call stay for the next
    /// one, but for the pieces of a call with more tokens than the burst.
    pub(crate) async fn pass(&self, tokens: u64, is_background: bool) -> Result<Seat<'_>, Stop> {
        let mut waiting = Some(Waiting::begin(&self.waiting));
        let first_in_line = self.line.pass(is_background).await;
        let _first_in_line = first_in_line.map_err(|closed| unasked(closed.into()))?;
        let most = self.most.tokens_per_minute.map_or(u64::MAX, |rate| burst(rate).get().into());
        let (mut seat, mut left, mut poll) = (None, tokens, POLL);
        loop {
            let piece = left.min(most);
            let need = Need {
                has_seat: seat.is_some(),
                requests: u64::from(seat.is_none()),
                tokens: piece,
            };
            match self.next(need).await? {
                Progress::Taken => {
                    // From here on, dropping the future frees the seat.
                    let taken = seat.take().unwrap_or(Seat(self));
                    drop(waiting.take());
                    left -= piece;
                    if left == 0 {
                        return Ok(taken);
                    }
                    seat = Some(taken);
                }
                Progress::At(time) => sleep_until(time).await,
                Progress::Asked => {}
                Progress::NoSeat => {
                    let _ = timeout(poll, self.ended.notified()).await;
                    poll = poll.saturating_mul(2).min(LONGEST_POLL);
                }
                Progress::Away => sleep(AGAIN).await,
            }
        }
    }

    /// Runs a call that has its seat, and renews the seats of this process meanwhile.
    pub(crate) async fn while_running<T>(&self, call: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = call => done,
            never = self.renew() => match never {},
        }
    }

    /// Shows all processes that the endpoint asks for a pause. Without the store, only this process
    /// keeps to it.
    pub(crate) async fn pause(&self, wait: Duration) {
        if let Err(error) = self.limits.pause(&self.model, wait).await {
            warn!(%error, "other processes do not learn of the pause of an endpoint");
        }
    }

    async fn renew(&self) -> std::convert::Infallible {
        loop {
            let due = self.state().renewed + RENEW;
            sleep_until(due).await;
            let _alone = self.asking.lock().await;
            // Another running call may have renewed all seats meanwhile.
            if due < self.state().renewed + RENEW {
                continue;
            }
            let nothing = Need { has_seat: true, requests: 0, tokens: 0 };
            // An error is reported by the next call that needs the store.
            let _ = self.ask(nothing).await;
        }
    }

    /// One step for the first call in line.
    async fn next(&self, need: Need) -> Result<Progress, Stop> {
        let _alone = self.asking.lock().await;
        match self.take_here(need) {
            Next::Taken => return Ok(Progress::Taken),
            Next::At(time) => return Ok(Progress::At(time)),
            Next::Ask => {}
        }
        let now = Instant::now();
        match self.ask(need).await {
            Ok(taken) if !taken.pause.is_zero() => Err(Stop::Pause(taken.pause)),
            Ok(_) if !need.has_seat && !self.state().has_free_seat() => Ok(Progress::NoSeat),
            Ok(_) => Ok(Progress::Asked),
            Err(error) => {
                let since = *self.state().away_since.get_or_insert_with(|| {
                    warn!(%error, "shared limits cannot be read; calls wait");
                    now
                });
                match since.elapsed() < PATIENCE {
                    true => Ok(Progress::Away),
                    false => Err(Stop::Store(error)),
                }
            }
        }
    }

    /// Takes what a call needs from what the process holds.
    fn take_here(&self, need: Need) -> Next {
        let now = Instant::now();
        let mut state = self.state();
        if state.fresh_until <= now || !(need.has_seat || state.has_free_seat()) {
            return Next::Ask;
        }
        let (requests, tokens) = state.ready(need, now);
        let (Some(requests), Some(tokens)) = (requests, tokens) else { return Next::Ask };
        let at = requests.max(tokens);
        if now < at {
            return Next::At(at);
        }
        if let Some(purse) = &mut state.requests {
            purse.take(need.requests);
        }
        if let Some(purse) = &mut state.tokens {
            purse.take(need.tokens);
        }
        if !need.has_seat {
            state.running += 1;
        }
        Next::Taken
    }

    /// Asks the store for what a call needs and the process does not hold, and renews the seats.
    /// The caller holds `asking`.
    async fn ask(&self, need: Need) -> Result<Taken, StoreError> {
        let sent = Instant::now();
        let request = self.request(need, sent);
        let taken = self.limits.take(&request).await?;
        let received = Instant::now();
        let fresh_until = (sent + FRESH).max(received + LEAST_FRESH);
        let mut state = self.state();
        state.away_since = None;
        state.seats = taken.seats;
        state.is_short_of_seats = 0 < request.seats && taken.seats <= request.running;
        if state.is_short_of_seats {
            // Calls may have ended meanwhile.
            state.seats = taken.seats.min(state.running);
        }
        state.fresh_until = fresh_until;
        let from = received.checked_add(taken.delay).unwrap_or(received + PATIENCE);
        let until = from + fresh_until.saturating_duration_since(received);
        if let Some(purse) = &mut state.requests {
            purse.put(taken.requests, from, until);
        }
        if let Some(purse) = &mut state.tokens {
            purse.put(taken.tokens, from, until);
        }
        Ok(taken)
    }

    /// Until the reply, nothing that the process holds is certain.
    fn request(&self, need: Need, now: Instant) -> TakeRequest {
        let mut state = self.state();
        state.turn += 1;
        state.renewed = now;
        state.fresh_until = now;
        let (requests, tokens) = state.ready(need, now);
        let rate = |per_minute: Option<NonZeroU32>, missing: u64, held: u64| {
            let per_minute = per_minute?;
            let ahead = u64::from(per_minute.get() / AHEAD).saturating_sub(held);
            let ahead = if missing == 0 { 0 } else { ahead };
            Some(RateRequest { per_minute, burst: burst(per_minute), booked: missing, ahead })
        };
        let missing =
            |ready: Option<Instant>, amount: u64| if ready.is_some() { 0 } else { amount };
        let mut total = |is_of_requests: bool| {
            let State { requests, tokens, .. } = &mut *state;
            let purse = if is_of_requests { requests } else { tokens };
            purse.as_mut().map_or(0, |purse| purse.total(now))
        };
        let (held_requests, held_tokens) = (total(true), total(false));
        let in_flight = u32::try_from(self.most.in_flight.get()).unwrap_or(u32::MAX);
        TakeRequest {
            model: self.model.clone(),
            holder: self.holder.clone(),
            turn: state.turn,
            running: state.running,
            seats: self.waiting.load(Ordering::SeqCst).min(in_flight),
            in_flight,
            lease: LEASE,
            only_with_seat: !need.has_seat,
            requests: rate(
                self.most.requests_per_minute,
                missing(requests, need.requests),
                held_requests,
            ),
            tokens: rate(self.most.tokens_per_minute, missing(tokens, need.tokens), held_tokens),
        }
    }

    /// Every change leaves the state consistent, also if a holder panics.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of a step.
enum Progress {
    Taken,
    At(Instant),
    Asked,
    NoSeat,
    Away,
}

impl State {
    fn has_free_seat(&self) -> bool {
        self.running < self.seats
    }

    /// When the process may use the requests and the tokens; `None` for what it does not hold.
    fn ready(&mut self, need: Need, now: Instant) -> (Option<Instant>, Option<Instant>) {
        let ready = |purse: &mut Option<Purse>, amount: u64| match purse {
            Some(purse) => purse.ready(amount, now),
            None => Some(now),
        };
        (ready(&mut self.requests, need.requests), ready(&mut self.tokens, need.tokens))
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running = state.running.saturating_sub(1);
        if state.is_short_of_seats {
            state.seats = state.seats.min(state.running);
        }
        drop(state);
        self.0.ended.notify_one();
    }
}

/// Unreachable: nothing closes the line.
fn unasked(source: pikerag_knowledge::ports::Cause) -> Stop {
    Stop::Store(StoreError::Failed { what: "waiting for shared limits".to_owned(), source })
}

impl fmt::Debug for SharedGate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        formatter
            .debug_struct("SharedGate")
            .field("model", &self.model)
            .field("state", &state)
            .finish_non_exhaustive()
    }
}
