//! Arguments of `runs`.

use std::num::NonZeroUsize;

use clap::{Args, Subcommand};
use pikerag_engine::knowledge::Change;

use super::at_least;

#[derive(Debug, Args)]
pub(crate) struct Runs {
    #[command(subcommand)]
    pub(crate) verb: Option<RunsVerb>,
    /// How many to list, the latest first.
    #[arg(long, default_value_t = at_least(20), value_name = "N")]
    pub(crate) limit: NonZeroUsize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsVerb {
    /// Show a run: its numbered events, its answer, its cost. Numbers with a star are decisions.
    Show {
        /// The run, or how its name begins.
        run: String,
    },
    /// Walk a run again from the record alone, and see that it comes as it did.
    Replay {
        /// The run, or how its name begins.
        run: String,
    },
    /// Walk a run again up to a decision, decide it otherwise, and go on with fresh calls.
    Fork(Fork),
    /// Show where two runs part, and what each was answered from.
    Diff {
        /// A run, or how its name begins.
        first: String,
        /// Another.
        second: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Fork {
    /// The run, or how its name begins.
    pub(crate) run: String,
    /// The number of the decision, as `runs show` has it.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) at: u32,
    #[command(flatten)]
    pub(crate) otherwise: Otherwise,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Otherwise {
    /// Other sub-questions; once for each.
    #[arg(long = "propose", value_name = "QUESTION")]
    proposals: Vec<String>,
    /// Another candidate, by its number in the list.
    #[arg(long, value_name = "NUMBER")]
    choose: Option<NonZeroUsize>,
    /// No candidate at all.
    #[arg(long)]
    choose_none: bool,
    /// Other words: of a thought, a sub-question, an interim answer.
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,
    /// Another verdict.
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no)]
    verdict: Option<bool>,
}

fn yes_or_no(word: &str) -> Result<bool, String> {
    match word {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("it is yes or no".to_owned()),
    }
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
