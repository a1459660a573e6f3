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
    /// Accept the answer of a run. It then answers the same question, until documents change, and leads similar
    /// questions to its passages.
    Accept(Judged),
    /// Correct the answer of a run.
    Correct {
        #[command(flatten)]
        of: Judged,
        /// The right answer, in quotes.
        #[arg(value_name = "ANSWER")]
        answer: String,
    },
    /// Reject the answer of a run.
    Reject(Judged),
    /// Judge the latest answers of kept runs against a file of questions with right answers: accept those that
    /// contain one, correct the others. No model is called.
    Judge {
        /// The file, in any format that `eval` reads.
        #[arg(value_name = "FILE")]
        labels: PathBuf,
        /// The author. Default: the name of the file.
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// List the verified answers, the latest first.
    List {
        /// Only those whose sources have changed: check them again.
        #[arg(long)]
        stale: bool,
    },
    /// Revoke a verified answer.
    Revoke {
        /// Its identifier, or the beginning of it.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Write the verified answers as JSON lines.
    Export {
        /// The file to write. Default: standard output.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Pairs of a better and a worse answer, for training.
        #[arg(long)]
        pairs: bool,
    },
    /// Import a file that `export` wrote. An imported answer is used only after a person accepts it in this base.
    Import {
        /// The file.
        #[arg(value_name = "FILE")]
        from: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Judged {
    /// The run, or the beginning of its name; `last` for the latest.
    pub(crate) run: String,
    /// The person who verifies. Default: `author` of the settings, else the logged-in user.
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// A note.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) note: String,
}
