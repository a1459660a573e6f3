//! Prints results to standard output and everything else to standard error, without control sequences ([`plain`]).

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use pikerag_engine::narrate::{Language, Words};
use pikerag_engine::{Notice, Progress};
use serde::Serialize;

use crate::advice;
use crate::exit;
use crate::plain::{json, one_line, plain};
use crate::render;
use crate::waiting;
use crate::words;

/// The form and the language of a command's results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// Whether results are JSON, which is the same in both languages.
    pub(crate) json: bool,
    /// The language of all other lines.
    pub(crate) language: Language,
}

impl Output {
    /// Prints a result line.
    pub(crate) fn say(self, english: impl Into<String>, chinese: impl Into<String>) {
        say(&Words::new(english, chinese).of(self.language));
    }

    /// Prints a line that is no result.
    pub(crate) fn note(self, english: impl Into<String>, chinese: impl Into<String>) {
        note(&Words::new(english, chinese).of(self.language));
    }

    /// Prints a notice that comes with a result.
    pub(crate) fn notice(self, notice: &Notice) {
        let line = advice::notice(notice, self.language);
        match notice {
            Notice::NoEvidence { .. } | Notice::EvidenceNotIndexed { .. } => note(&line),
            _ => tracing::warn!("{line}"),
        }
    }

    /// Prints an error.
    pub(crate) fn problem(self, line: &str) {
        note(&format!("{}{line}", self.language.either("error: ", "错误：")));
    }
}

/// Prints a result line. A closed pipe ends the program quietly, as usual for tools.
pub(crate) fn say(line: &str) {
    write_out(&plain(line));
}

fn write_out(line: &str) {
    if let Err(error) = writeln!(std::io::stdout().lock(), "{line}") {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        note(&format!("error: the output cannot be written / 输出无法写入: {error}"));
        std::process::exit(i32::from(exit::FAILED));
    }
}

/// Prints a result as one JSON document; the exit code of a command that has no more to do.
pub(crate) fn say_json(value: &impl Serialize) -> anyhow::Result<u8> {
    write_out(&json(&serde_json::to_string_pretty(value)?));
    Ok(0)
}

/// Prints a line that is no result.
pub(crate) fn note(line: &str) {
    waiting::beside(|| {
        let _ = writeln!(std::io::stderr().lock(), "{}", plain(line));
    });
}

/// Shows progress: bars on a terminal, a line for each tenth elsewhere, nothing with `--json`.
pub(crate) struct Bar {
    is_drawn: bool,
    output: Output,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The bar that is drawn now.
    bar: Option<ProgressBar>,
    /// The stage and its tenth that were shown last.
    shown: (String, usize),
    /// The tokens that are still needed, where that is known.
    to_go: Option<u64>,
}

impl Bar {
    pub(crate) fn new(output: Output) -> Self {
        let is_drawn = !output.json && std::io::stderr().is_terminal();
        Self { is_drawn, output, state: Mutex::default() }
    }

    /// Shows the progress of the work.
    pub(crate) fn watch(&self, progress: Progress) {
        match progress {
            Progress::Stage { name, done, total } => self.at(name, done, total),
            Progress::Bill { estimate, usd } if 0 < estimate.calls => {
                self.note(&render::bill(&estimate, usd, self.output.language));
            }
            Progress::Bill { .. } => {}
            Progress::ToGo { tokens, .. } => self.set_to_go(tokens),
            Progress::Notice(notice) => self.aside(|| self.output.notice(&notice)),
            Progress::Ended => self.end(),
        }
    }

    fn at(&self, name: String, done: usize, total: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let to_go = state.to_go.filter(|tokens| 0 < *tokens);
        let language = self.output.language;
        if self.is_drawn {
            let bar = state.bar.get_or_insert_with(|| {
                let style = ProgressStyle::with_template("{msg:<24} {wide_bar} {pos}/{len} {eta}");
                ProgressBar::new(0)
                    .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
            });
            bar.set_length(total.max(done) as u64);
            bar.set_position(done as u64);
            let to_go = to_go.map(|tokens| {
                Words::new(format!(", ~{tokens} tokens left"), format!("，约剩 {tokens} 个 Token"))
                    .of(language)
            });
            let work = words::stage(&name, language);
            bar.set_message(format!("{}{}", one_line(&work), to_go.unwrap_or_default()));
        } else if !self.output.json {
            // A line at each tenth: enough for a log file.
            let tenth = if total == 0 { done / 1000 } else { done * 10 / total.max(1) };
            if state.shown.0 != name || state.shown.1 < tenth {
                let of = if total == 0 { String::new() } else { format!("/{total}") };
                let to_go = to_go.map(|tokens| {
                    Words::new(
                        format!(", about {tokens} tokens left"),
                        format!("，约剩 {tokens} 个 Token"),
                    )
                    .of(language)
                });
                let (work, colon) = (words::stage(&name, language), language.either(": ", "："));
                note(&format!("{work}{colon}{done}{of}{}", to_go.unwrap_or_default()));
                state.shown = (name, tenth);
            }
        }
    }

    /// Sets the tokens that are still needed.
    fn set_to_go(&self, tokens: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.to_go = Some(tokens);
    }

    /// Prints a line that is no result, but not with `--json`.
    fn note(&self, line: &str) {
        if !self.output.json {
            self.aside(|| note(line));
        }
    }

    /// Prints something without breaking the bar.
    fn aside(&self, print: impl FnOnce()) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = std::mem::take(&mut *state).bar {
            bar.finish_and_clear();
        }
    }
}
