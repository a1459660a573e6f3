//! How is the server doing? Counters for Prometheus: requests, runs, jobs, and what models were paid.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use pikerag_engine::Engine;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Request {
    method: String,
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

/// What is counted.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    seconds: Family<Route, Histogram>,
    underway: Gauge,
    runs: Family<Run, Counter>,
    calls: Family<Model, Gauge>,
    tokens: Family<Tokens, Gauge>,
    dollars: Family<Model, Gauge<f64, AtomicU64>>,
    jobs: Family<Jobs, Gauge>,
    unaudited: Counter,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let of_route: fn() -> Histogram = || {
            Histogram::new([
                0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
            ])
        };
        let mut metrics = Self {
            registry: Registry::with_prefix("pikerag"),
            requests: Family::default(),
            seconds: Family::new_with_constructor(of_route),
            underway: Gauge::default(),
            runs: Family::default(),
            calls: Family::default(),
            tokens: Family::default(),
            dollars: Family::default(),
            jobs: Family::default(),
            unaudited: Counter::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("requests", "Requests that were answered", metrics.requests.clone());
        registry.register(
            "request_seconds",
            "Seconds to the head of the response",
            metrics.seconds.clone(),
        );
        registry.register(
            "requests_underway",
            "Requests that are read or worked on",
            metrics.underway.clone(),
        );
        registry.register(
            "runs",
            "Questions that were run, by how they ended",
            metrics.runs.clone(),
        );
        registry.register(
            "model_calls",
            "Calls of models that were paid since the start",
            metrics.calls.clone(),
        );
        registry.register("model_tokens", "Tokens of these calls", metrics.tokens.clone());
        registry.register(
            "model_dollars",
            "What they cost, as far as prices are known",
            metrics.dollars.clone(),
        );
        registry.register(
            "jobs_waiting",
            "Jobs of indexing that wait or are at work",
            metrics.jobs.clone(),
        );
        registry.register(
            "requests_unaudited",
            "Requests that could not be put on the audit log",
            metrics.unaudited.clone(),
        );
        metrics
    }

    pub(crate) fn began(&self) {
        self.underway.inc();
    }

    /// `route` as the table has it, so that there are as many series as routes.
    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        self.underway.dec();
        let of = Request { method: method.to_owned(), route: route.to_owned(), status };
        self.requests.get_or_create(&of).inc();
        self.seconds.get_or_create(&Route { route: route.to_owned() }).observe(took.as_secs_f64());
    }

    pub(crate) fn ran(&self, state: &str) {
        self.runs.get_or_create(&Run { state: state.to_owned() }).inc();
    }

    pub(crate) fn unaudited(&self) {
        self.unaudited.inc();
    }

    pub(crate) fn wait(&self, base: &str, jobs: usize) {
        self.jobs
            .get_or_create(&Jobs { base: base.to_owned() })
            .set(jobs.try_into().unwrap_or(i64::MAX));
    }

    /// What was paid by now. All bases count on one meter.
    pub(crate) fn paid(&self, engine: &Engine) {
        for part in engine.cost().parts {
            let of = Model { role: part.role.clone(), model: part.model.clone() };
            self.calls.get_or_create(&of).set(part.calls.try_into().unwrap_or(i64::MAX));
            self.dollars.get_or_create(&of).set(part.usd);
            for (direction, count) in
                [("sent", part.prompt_tokens), ("received", part.completion_tokens)]
            {
                let of = Tokens {
                    role: part.role.clone(),
                    model: part.model.clone(),
                    direction: direction.to_owned(),
                };
                self.tokens.get_or_create(&of).set(count.try_into().unwrap_or(i64::MAX));
            }
        }
    }

    /// All of it in the text format of Prometheus.
    pub(crate) fn text(&self) -> Option<String> {
        let mut text = String::new();
        encode(&mut text, &self.registry).ok()?;
        Some(text)
    }
}
