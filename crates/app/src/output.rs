//! How does the program speak? Results to standard output, everything else to standard error.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressStyle};
use pikerag_coordinate::ingest::Progress;
use serde::Serialize;

/// Prints a result line. A closed pipe ends the program quietly, as tools do.
pub(crate) fn say(line: &str) {
    if writeln!(std::io::stdout().lock(), "{line}").is_err() {
        std::process::exit(0);
    }
}

/// Prints a result as one JSON document.
pub(crate) fn say_json(value: &impl Serialize) -> anyhow::Result<()> {
    say(&serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Tells a person something that is no result.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Tells a person what went wrong.
pub(crate) fn problem(line: &str) {
    note(&format!("error: {line}"));
}

/// Starts logging to standard error: warnings, and more with each `-v`.
pub(crate) fn start_log(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("PIKERAG_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(format!("{level},tantivy=error")));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        .with_target(false)
        .compact()
        .init();
}

/// A bar on a terminal; a line now and then elsewhere; nothing with `--json`.
pub(crate) struct Bar {
    drawn: Option<ProgressBar>,
    quiet: bool,
    told: Mutex<(String, usize)>,
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        let terminal = !quiet && std::io::stderr().is_terminal();
        let bar = terminal.then(|| {
            let style = ProgressStyle::with_template("{msg:<24} {wide_bar} {pos}/{len} {eta}");
            ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { drawn: bar, quiet, told: Mutex::default() }
    }

    /// Shows how far something has come.
    pub(crate) fn at(&self, name: &str, done: usize, total: usize) {
        if let Some(bar) = &self.drawn {
            bar.set_length(total.max(done) as u64);
            bar.set_position(done as u64);
            bar.set_message(name.to_owned());
        } else if !self.quiet {
            let mut told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // A line at each tenth: enough for a log file.
            let tenth = if total == 0 { done / 1000 } else { done * 10 / total.max(1) };
            if told.0 != name || told.1 < tenth {
                *told = (name.to_owned(), tenth);
                note(&format!(
                    "{name}: {done}{}",
                    if total == 0 { String::new() } else { format!("/{total}") }
                ));
            }
        }
    }

    /// Says something without tearing the bar.
    pub(crate) fn tell(&self, line: &str) {
        match &self.drawn {
            Some(bar) => bar.println(line),
            None if self.quiet => {}
            None => note(line),
        }
    }

    /// Shows the progress of indexing.
    pub(crate) fn watch(&self, progress: &Progress) {
        match progress {
            Progress::Reading { done, total } => self.at("reading", *done, *total),
            Progress::Bill(_) => {}
            Progress::Stage { name, done, total } => self.at(name, *done, *total),
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.drawn {
            bar.finish_and_clear();
        }
    }
}
