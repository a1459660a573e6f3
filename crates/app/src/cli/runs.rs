//! Arguments of `runs`.

use std::num::NonZeroUsize;

use clap::{Args, Subcommand};
use pikerag_engine::knowledge::Change;

use super::{at_least, value};

#[derive(Debug, Args)]
pub(crate) struct Runs {
    #[command(subcommand)]
    pub(crate) verb: Option<RunsVerb>,
    /// Number of runs to list, the latest first.
    #[arg(long, default_value_t = at_least(20), value_name = "N")]
    pub(crate) limit: NonZeroUsize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsVerb {
    /// Show a run: its numbered events, its answer, its cost. A star marks decisions.
    Show {
        /// The run, or the beginning of its name; `last` for the latest.
        run: String,
    },
    /// Repeat a run from recorded replies, and check that it gives the same events.
    Replay {
        /// The run, or the beginning of its name; `last` for the latest.
        run: String,
    },
    /// Repeat a run up to a decision, change the decision, and continue with new calls.
    Fork(Fork),
    /// Compare two runs: the first different event, and the passages of both answers.
    Diff {
        /// A run, or the beginning of its name.
        first: String,
        /// The other run.
        second: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Fork {
    /// The run, or the beginning of its name; `last` for the latest.
    pub(crate) run: String,
    /// The number of the decision in `runs show`.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) at: u32,
    #[command(flatten)]
    pub(crate) otherwise: Otherwise,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Otherwise {
    /// A new sub-question; repeat for more.
    #[arg(long = "propose", value_name = "QUESTION")]
    proposals: Vec<String>,
    /// Another candidate, by its number in the list.
    #[arg(long, value_name = "NUMBER")]
    choose: Option<NonZeroUsize>,
    /// No candidate.
    #[arg(long)]
    choose_none: bool,
    /// A new text for a thought, a sub-question or an interim answer.
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,
    /// A new verdict.
    #[arg(long, value_name = "YES|NO", value_parser = value::yes_or_no)]
    verdict: Option<bool>,
}

impl Otherwise {
    pub(crate) fn change(&self) -> Change {
        match (&self.text, self.verdict, self.choose) {
            (Some(text), _, _) => Change::Text(text.clone()),
            (_, Some(verdict), _) => Change::Verdict(verdict),
            (_, _, Some(number)) => Change::Choice(Some(number.get() - 1)),
            _ if self.choose_none => Change::Choice(None),
            _ => Change::Proposals(self.proposals.clone()),
        }
    }
}
