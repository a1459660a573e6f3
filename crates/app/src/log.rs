//! Starts the log on standard error, as text or JSON, and the traces for a collector.

use std::io::Write;

use pikerag_engine::knowledge::telemetry::TRACED;
use pikerag_engine::settings::Environment;
use tokio::runtime::Handle;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::plain::plain;
use crate::telemetry::Traces;
use crate::waiting::beside;

/// Starts both. The log has warnings, more with each `-v`, or the levels of `PIKERAG_LOG`; its lines are text, or JSON with
/// `PIKERAG_LOG_FORMAT=json`. The caller ends the returned traces, so that the last ones are sent.
pub(crate) fn start(
    verbose: u8,
    offline: bool,
    environment: &Environment,
    runtime: &Handle,
) -> Option<Traces> {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = environment
        .get("PIKERAG_LOG")
        .and_then(|filter| EnvFilter::try_new(filter).ok())
        .unwrap_or_else(|| EnvFilter::new(format!("{level},tantivy=error")));
    let filter = match format!("{TRACED}=off").parse() {
        Ok(silent) => filter.add_directive(silent),
        Err(_) => filter,
    };
    let is_json = environment.get("PIKERAG_LOG_FORMAT").is_some_and(|format| format == "json");
    let text = tracing_subscriber::fmt::layer()
        .with_writer(|| Log)
        // Colours are escape sequences, which the writer removes.
        .with_ansi(false);
    let log = match is_json {
        true => text.json().flatten_event(true).with_current_span(false).boxed(),
        false => text.without_time().with_target(false).compact().boxed(),
    };
    // Offline, no traces are sent.
    let traces = match offline {
        true => Ok(None),
        false => Traces::to_collector(environment, runtime),
    };
    let layer = traces.as_ref().ok().and_then(Option::as_ref).map(Traces::layer);
    tracing_subscriber::registry().with(layer).with(log.with_filter(filter)).init();
    traces.unwrap_or_else(|error| {
        tracing::warn!("{error:#}; no traces are sent");
        None
    })
}

/// Writes the log, an event at a time.
struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        beside(|| std::io::stderr().lock().write_all(plain(&text).as_bytes()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
