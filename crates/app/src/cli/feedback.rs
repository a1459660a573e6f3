//! Arguments of `feedback`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Feedback {
    #[command(subcommand)]
    pub(crate) verb: FeedbackVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FeedbackVerb {
    /// Say that the answer of a run is right. It answers the same question from then on, while the documents have nothing
    /// new to say, and leads to its passages where a question is much like it.
    Accept(Judged),
    /// Say what is right in its place.
    Correct {
        #[command(flatten)]
        of: Judged,
        /// The right answer, in quotes.
        #[arg(value_name = "ANSWER")]
        answer: String,
    },
    /// Say that it is wrong.
    Reject(Judged),
    /// List what was said, the latest first.
    List {
        /// Those alone whose sources have changed since: look at them again.
        #[arg(long)]
        stale: bool,
    },
    /// Take back what was said.
    Revoke {
        /// Its identifier, or how that begins.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Write what was said as JSON lines.
    Export {
        /// The file to write; standard output, if none.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Pairs of a better and a worse answer, for training.
        #[arg(long)]
        pairs: bool,
    },
    /// Take over what `export` wrote of another base. None of it is taken for an answer until somebody accepts it here.
    Import {
        /// The file.
        #[arg(value_name = "FILE")]
        from: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Judged {
    /// The run whose answer it is, or how its name begins; `last` for the latest.
    pub(crate) run: String,
    /// Who says so; if none, `author` of the settings, else who is logged in.
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// What else there is to say of it.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) note: String,
}
