//! How does the program speak? Results to standard output, everything else to standard error; whatever a person
//! reads passes [`plain`] on its way.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use pikerag_engine::{Notice, Progress};
use serde::Serialize;

use crate::advice;
use crate::exit;
use crate::plain::{json, one_line, plain};
use crate::render;

/// Prints a result line. A closed pipe ends the program quietly, as tools do.
pub(crate) fn say(line: &str) {
    write_out(&plain(line));
}

fn write_out(line: &str) {
    if let Err(error) = writeln!(std::io::stdout().lock(), "{line}") {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        problem(&format!("the output cannot be written: {error}"));
        std::process::exit(i32::from(exit::FAILED));
    }
}

/// Prints a result as one JSON document; the exit code of a command that has no more to do.
pub(crate) fn say_json(value: &impl Serialize) -> anyhow::Result<u8> {
    write_out(&json(&serde_json::to_string_pretty(value)?));
    Ok(0)
}

/// Tells a person something that is no result.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", plain(line));
}

/// Tells a person what to know besides the result.
pub(crate) fn tell_notice(notice: &Notice) {
    let line = advice::notice(notice);
    match notice {
        Notice::NoEvidence { .. } | Notice::EvidenceNotIndexed { .. } => note(&line),
        _ => tracing::warn!("{line}"),
    }
}

/// Tells a person what went wrong.
pub(crate) fn problem(line: &str) {
    note(&format!("error: {line}"));
}

/// Bars on a terminal; a line now and then elsewhere; nothing with `--json`.
pub(crate) struct Bar {
    is_drawn: bool,
    quiet: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The bar that is drawn now.
    bar: Option<ProgressBar>,
    /// The stage and its tenth that were told last.
    told: (String, usize),
    /// How many tokens what is left will take, where that is known.
    to_go: Option<u64>,
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        let is_drawn = !quiet && std::io::stderr().is_terminal();
        Self { is_drawn, quiet, state: Mutex::default() }
    }

    /// Shows how far something has come.
    pub(crate) fn watch(&self, progress: Progress) {
        match progress {
            Progress::Stage { name, done, total } => self.at(name, done, total),
            Progress::Bill { estimate, usd } if 0 < estimate.calls => {
                self.tell(&render::bill(&estimate, usd));
            }
            Progress::Bill { .. } => {}
            Progress::ToGo { tokens, .. } => self.goes_on(tokens),
            Progress::Notice(notice) => self.aside(|| tell_notice(&notice)),
            Progress::Ended => self.end(),
        }
    }

    fn at(&self, name: String, done: usize, total: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let to_go = state.to_go.filter(|tokens| 0 < *tokens);
        if self.is_drawn {
            let bar = state.bar.get_or_insert_with(|| {
                let style = ProgressStyle::with_template("{msg:<24} {wide_bar} {pos}/{len} {eta}");
                ProgressBar::new(0)
                    .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
            });
            bar.set_length(total.max(done) as u64);
            bar.set_position(done as u64);
            let to_go = to_go.map(|tokens| format!(", ~{tokens} tokens to go")).unwrap_or_default();
            bar.set_message(format!("{}{to_go}", one_line(&name)));
        } else if !self.quiet {
            // A line at each tenth: enough for a log file.
            let tenth = if total == 0 { done / 1000 } else { done * 10 / total.max(1) };
            if state.told.0 != name || state.told.1 < tenth {
                let of = if total == 0 { String::new() } else { format!("/{total}") };
                let to_go = to_go.map(|tokens| format!(", about {tokens} tokens to go"));
                note(&format!("{name}: {done}{of}{}", to_go.unwrap_or_default()));
                state.told = (name, tenth);
            }
        }
    }

    /// What is left takes so many tokens.
    fn goes_on(&self, tokens: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.to_go = Some(tokens);
    }

    /// Says something, unless it is to be quiet.
    fn tell(&self, line: &str) {
        if !self.quiet {
            self.aside(|| note(line));
        }
    }

    /// Speaks without tearing the bar.
    fn aside(&self, speak: impl FnOnce()) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.bar {
            Some(bar) => bar.suspend(speak),
            None => speak(),
        }
    }

    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = std::mem::take(&mut *state).bar {
            bar.finish_and_clear();
        }
    }
}
