//! Arguments of `train`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use pikerag_engine::TrainFrom;
use pikerag_engine::parts::{
    TrainApart, TrainEmpty, TrainFormat, TrainPool, TrainRight, TrainSplit,
};

use super::{at_least, named};

#[derive(Debug, Args)]
pub(crate) struct Train {
    #[command(subcommand)]
    pub(crate) verb: TrainVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrainVerb {
    /// Attempt questions over the base and keep each attempt as a trajectory (PIKE-RAG, Algorithm 2), or read kept runs.
    Collect(Box<Collect>),
    /// Label questions and passages for the three modules of `ra-isf` (RA-ISF, Appendix A).
    Label(Box<Label>),
    /// Write right trajectories (PIKE-RAG, Algorithm 3), or labels, as training data with a data card.
    Export(TrainExport),
    /// Compare the modules of `ra-isf` with labels (RA-ISF, Table 4).
    Agree(Agree),
    /// Write the recipe that trains a model on exported data: Python scripts with their settings.
    Recipe {
        /// Folder to write.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Try the model of `propose` in the form of the training data, and show the settings that use it.
    Use {
        /// A question that needs a sub-question. Default: one of ours.
        #[arg(value_name = "QUESTION")]
        question: Option<String>,
    },
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Collect {
    /// Questions with their answers, in any format that `eval` reads. Optional with `--from runs`: their answers
    /// then decide on runs without feedback.
    #[arg(long, value_name = "FILE")]
    pub(crate) questions: Option<PathBuf>,
    /// Format of the questions. Default: detected from the first record.
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// The source of trajectories.
    #[arg(long, value_parser = named::<TrainFrom>(), default_value = "model")]
    pub(crate) from: TrainFrom,
    /// Folder of the trajectories. An interrupted run continues there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Only N questions, drawn with the seed.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Attempts at a question, at most.
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) attempts: NonZeroU32,
    /// Make all attempts, also after a right answer.
    #[arg(long)]
    pub(crate) all_attempts: bool,
    /// Rounds of an attempt, at most (N).
    #[arg(long, value_name = "N", default_value_t = at_least(10))]
    pub(crate) rounds: NonZeroUsize,
    /// Weight of exploration when a passage is sampled (α).
    #[arg(long, value_name = "X", default_value_t = 0.5)]
    pub(crate) alpha: f64,
    /// Candidates of each proposal with `--split top-k` (K).
    #[arg(long, value_name = "N", default_value_t = at_least(4))]
    pub(crate) k: NonZeroUsize,
    /// Pairs that each proposal finds (K′).
    #[arg(long, value_name = "N", default_value_t = at_least(16))]
    pub(crate) near_k: NonZeroUsize,
    /// Least similarity of a candidate (δ). Default: calibrated on the base.
    #[arg(long, value_name = "X")]
    pub(crate) delta: Option<f32>,
    /// Least similarity of a pair that raises the score of its passage (δ′). Default: 0.6 of δ.
    #[arg(long, value_name = "X")]
    pub(crate) near_delta: Option<f32>,
    /// Passages that can be sampled.
    #[arg(long, value_parser = named::<TrainPool>(), default_value = "scored")]
    pub(crate) pool: TrainPool,
    /// Pairs that the selector chooses from.
    #[arg(long, value_parser = named::<TrainSplit>(), default_value = "threshold")]
    pub(crate) split: TrainSplit,
    /// What a round without a choice does.
    #[arg(long, value_parser = named::<TrainEmpty>(), default_value = "ends")]
    pub(crate) on_empty: TrainEmpty,
    /// Answers that count as right.
    #[arg(long, value_parser = named::<TrainRight>(), default_value = "em")]
    pub(crate) right: TrainRight,
    /// Search sentences in place of atomic questions; the proposal becomes the sub-question.
    #[arg(long)]
    pub(crate) sentences: bool,
    /// Seed of the draws.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Largest number of questions, or of kept runs, at the same time.
    #[arg(long, default_value_t = at_least(8))]
    pub(crate) concurrency: NonZeroUsize,
    /// Only forecast the number of calls.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Delete earlier trajectories of this folder and attempt all questions again.
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Label {
    /// Questions with their answers, in any format that `eval` reads.
    #[arg(long, value_name = "FILE")]
    pub(crate) questions: PathBuf,
    /// Format of the questions. Default: detected from the first record.
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Folder of the labels. An interrupted run continues there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Only N questions, drawn with the seed.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Passages of each question, one call each.
    #[arg(long, value_name = "N", default_value_t = at_least(5))]
    pub(crate) passages: NonZeroUsize,
    /// Answers without passages that count as right: the model knows these.
    #[arg(long, value_parser = named::<TrainRight>(), default_value = "em")]
    pub(crate) right: TrainRight,
    /// Seed of the draw.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Largest number of questions at the same time.
    #[arg(long, default_value_t = at_least(8))]
    pub(crate) concurrency: NonZeroUsize,
    /// Only forecast the number of calls.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Delete earlier labels of this folder and label all questions again.
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Agree {
    /// A folder that `train label` wrote.
    #[arg(value_name = "DIR")]
    pub(crate) labels: PathBuf,
    /// What the parts of the export do not share.
    #[arg(long, value_parser = named::<TrainApart>(), default_value = "document")]
    pub(crate) apart: TrainApart,
    /// Ask only the questions that `train export` holds out for the test with this share; 0 asks all.
    #[arg(long, value_name = "X", default_value_t = 0.1, value_parser = share)]
    pub(crate) held_out: f64,
    /// Seed of the split.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Largest number of questions at the same time.
    #[arg(long, default_value_t = at_least(8))]
    pub(crate) concurrency: NonZeroUsize,
}

#[derive(Debug, Args)]
pub(crate) struct TrainExport {
    /// Folders that `train collect` or `train label` wrote.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) from: Vec<PathBuf>,
    /// Folder to write.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Format of the trainer.
    #[arg(long, value_parser = named::<TrainFormat>(), default_value = "trl")]
    pub(crate) format: TrainFormat,
    /// What training, validation and test do not share.
    #[arg(long, value_parser = named::<TrainApart>(), default_value = "document")]
    pub(crate) apart: TrainApart,
    /// Share of the questions, from 0 to 0.5, of each of validation and test.
    #[arg(long, value_name = "X", default_value_t = 0.1, value_parser = share)]
    pub(crate) held_out: f64,
    /// Evaluation sets whose questions are left out, also nearly equal ones.
    #[arg(long, value_name = "FILE")]
    pub(crate) evaluation: Vec<PathBuf>,
    /// Licence of documents and questions, for the data card.
    #[arg(long, value_name = "TEXT")]
    pub(crate) licence: Option<String>,
    /// Seed of the split.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=0.5).contains(&share) => Ok(share),
        _ => Err("a number from 0 to 0.5 is needed".to_owned()),
    }
}
