//! Counts requests, runs, jobs and the cost of models for Prometheus.

mod exposition;

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::Method;
use pikerag_engine::Session;
use pikerag_engine::knowledge::{JobState, RunState};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

pub(crate) use self::exposition::Exposition;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Request {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Run {
    state: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Model {
    role: String,
    model: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Tokens {
    role: String,
    model: String,
    direction: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Jobs {
    base: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Ended {
    base: String,
    stand: String,
}

/// A method's name for counters and traces. Unknown names share one label, so that callers cannot
/// create series.
pub(crate) fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Upper ends of the duration buckets in seconds: a search takes milliseconds, an answer minutes.
const SECONDS: [f64; 16] = [
    0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0,
];

/// All counters.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    seconds: Family<Route, Histogram>,
    underway: Gauge,
    rejected: Counter,
    runs: Family<Run, Counter>,
    run_seconds: Family<Run, Histogram>,
    runs_underway: Gauge,
    runs_rejected: Counter,
    calls: Family<Model, Counter>,
    tokens: Family<Tokens, Counter>,
    dollars: Family<Model, Counter<f64, AtomicU64>>,
    /// Held while the costs are updated.
    paying: Mutex<()>,
    jobs: Family<Jobs, Gauge>,
    jobs_ended: Family<Ended, Counter>,
    unaudited: Counter,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let durations: fn() -> Histogram = || Histogram::new(SECONDS);
        let mut metrics = Self {
            registry: Registry::with_prefix("pikerag"),
            requests: Family::default(),
            seconds: Family::new_with_constructor(durations),
            underway: Gauge::default(),
            rejected: Counter::default(),
            runs: Family::default(),
            run_seconds: Family::new_with_constructor(durations),
            runs_underway: Gauge::default(),
            runs_rejected: Counter::default(),
            calls: Family::default(),
            tokens: Family::default(),
            dollars: Family::default(),
            paying: Mutex::default(),
            jobs: Family::default(),
            jobs_ended: Family::default(),
            unaudited: Counter::default(),
        };
        // Each state begins at 0: otherwise its first event would not appear as an increase.
        for state in RunState::ALL.iter().filter(|state| **state != RunState::Running) {
            drop(metrics.runs.get_or_create(&Run { state: state.as_str().to_owned() }));
        }
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        let version = [("version", env!("CARGO_PKG_VERSION"))].to_vec();
        registry.register("build", "The running program", Info::new(version));
        registry.register("requests", "Requests that were answered", self.requests.clone());
        registry.register_with_unit(
            "request_duration",
            "Time to the head of the response",
            Unit::Seconds,
            self.seconds.clone(),
        );
        let text = "Requests that are read or worked on";
        registry.register("requests_underway", text, self.underway.clone());
        let text = "Requests that were refused because too many were running";
        registry.register("requests_rejected", text, self.rejected.clone());
        let text = "Questions that were run, by how they ended";
        registry.register("runs", text, self.runs.clone());
        registry.register_with_unit(
            "run_duration",
            "Time to the end of an answer",
            Unit::Seconds,
            self.run_seconds.clone(),
        );
        let text = "Questions that are being answered, including streams";
        registry.register("runs_underway", text, self.runs_underway.clone());
        let text = "Questions that were refused because too many were queued";
        registry.register("runs_rejected", text, self.runs_rejected.clone());
        registry.register("model_calls", "Paid model calls", self.calls.clone());
        registry.register("model_tokens", "Tokens of these calls", self.tokens.clone());
        let text = "What they cost, as far as prices are known";
        registry.register("model_dollars", text, self.dollars.clone());
        let text = "Indexing jobs that wait or run";
        registry.register("jobs_waiting", text, self.jobs.clone());
        let text = "Indexing jobs, by how they ended";
        registry.register("jobs", text, self.jobs_ended.clone());
        let text = "Requests that could not be written to the audit log";
        registry.register("requests_unaudited", text, self.unaudited.clone());
    }

    pub(crate) fn began(&self) {
        self.underway.inc();
    }

    /// `route` is the pattern of the routing table, so that there are as many series as routes.
    pub(crate) fn answered(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        self.underway.dec();
        let of = Request { method, route: route.to_owned(), status };
        self.requests.get_or_create(&of).inc();
        self.seconds.get_or_create(&Route { route: route.to_owned() }).observe(took.as_secs_f64());
    }

    /// Counts a question when its run begins.
    pub(crate) fn asked(&self) {
        self.runs_underway.inc();
    }

    pub(crate) fn ran(&self, state: &str, took: Duration) {
        self.runs_underway.dec();
        let of = Run { state: state.to_owned() };
        self.runs.get_or_create(&of).inc();
        self.run_seconds.get_or_create(&of).observe(took.as_secs_f64());
    }

    pub(crate) fn turned_away(&self) {
        self.runs_rejected.inc();
    }

    pub(crate) fn rejected(&self) {
        self.rejected.inc();
    }

    /// A job is over.
    pub(crate) fn indexed(&self, base: &str, state: &str) {
        let of = Ended { base: base.to_owned(), stand: state.to_owned() };
        self.jobs_ended.get_or_create(&of).inc();
    }

    pub(crate) fn unaudited(&self) {
        self.unaudited.inc();
    }

    pub(crate) fn wait(&self, base: &str, jobs: usize) {
        self.jobs
            .get_or_create(&Jobs { base: base.to_owned() })
            .set(jobs.try_into().unwrap_or(i64::MAX));
    }

    /// Drops the series of a base that was deleted or has another name, so that their number does not
    /// grow with each made base.
    pub(crate) fn drop_base(&self, base: &str) {
        self.jobs.remove(&Jobs { base: base.to_owned() });
        for state in JobState::ALL {
            let of = Ended { base: base.to_owned(), stand: state.as_str().to_owned() };
            self.jobs_ended.remove(&of);
        }
    }

    /// Updates the costs. All bases share one meter.
    pub(crate) fn paid(&self, session: &Session) {
        let _one = self.paying.lock().unwrap_or_else(PoisonError::into_inner);
        for part in session.cost().parts {
            let of = Model { role: part.role.clone(), model: part.model.clone() };
            let calls = self.calls.get_or_create(&of);
            calls.inc_by(part.calls.saturating_sub(calls.get()));
            let dollars = self.dollars.get_or_create(&of);
            dollars.inc_by((part.usd - dollars.get()).max(0.0));
            for (direction, count) in
                [("sent", part.prompt_tokens), ("received", part.completion_tokens)]
            {
                let of = Tokens {
                    role: part.role.clone(),
                    model: part.model.clone(),
                    direction: direction.to_owned(),
                };
                let tokens = self.tokens.get_or_create(&of);
                tokens.inc_by(count.saturating_sub(tokens.get()));
            }
        }
    }

    /// All counters as `OpenMetrics` text; [`Exposition::of`] gives them in another format.
    pub(crate) fn text(&self) -> Option<String> {
        let mut text = String::new();
        encode(&mut text, &self.registry).ok()?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_base_leaves_no_series() {
        let metrics = Metrics::new();
        for base in ["law", "tea"] {
            metrics.wait(base, 1);
            for state in JobState::ALL {
                metrics.indexed(base, state.as_str());
            }
        }
        metrics.drop_base("law");
        let text = metrics.text().unwrap();
        assert!(!text.contains("\"law\"") && text.contains("\"tea\""), "{text}");
    }
}
