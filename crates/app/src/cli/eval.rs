//! Arguments of `eval`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::at_least;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Eval {
    /// Questions with their answers, in the neutral format or a published one; repeat for another
    /// data set.
    #[arg(long, value_name = "FILE", required_unless_present = "preset")]
    pub(crate) questions: Vec<PathBuf>,
    /// Files to index first, into a base of this run: one for all questions, or one for each
    /// (`-` for none). Default: the questions' own paragraphs, if they have any, else the base of
    /// --base.
    #[arg(long, value_name = "PATH")]
    pub(crate) corpus: Vec<PathBuf>,
    /// Format of the questions. Default: detected from the first record. Formats: neutral, hotpotqa, 2wiki,
    /// musique, nq, triviaqa, webquestions, strategyqa, popqa, fever, lawbench,
    /// open-australian-legal-qa.
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Methods by name, optionally with parameters (`kar3:n=3:k=2`). The others are compared with the
    /// first. Default: those of the preset, or kar3, hop-rag, naive-rag and naive-rag-hr.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) methods: Vec<String>,
    /// Compare searches instead of methods, without answers: auto, words, meaning, atoms, hybrid,
    /// hops, layers, joined, fused, optionally with weights (`layers:spread=one-step:lambda=0.3`,
    /// `joined:hops.prior=1`). Reports the share of the gold evidence among the first chunks.
    #[arg(long, value_delimiter = ',', value_name = "NAMES",
        conflicts_with_all = ["preset", "methods", "dry_run", "judge", "consistency", "perplexity"])]
    pub(crate) searches: Vec<String>,
    /// Repeat a table of the papers; `list` lists the presets.
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// Folder with the data sets of a preset.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Let the `judge` model decide which answers are right (Acc).
    #[arg(long)]
    pub(crate) judge: bool,
    /// Let the `judge` model decide which answers follow from the retrieved passages.
    #[arg(long)]
    pub(crate) consistency: bool,
    /// Measure the perplexity of the answering model, given the retrieved passages.
    #[arg(long)]
    pub(crate) perplexity: bool,
    /// Only forecast the cost of the run.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask only N questions of each data set, drawn with the seed.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Seed of the draw, the confidence intervals and the tests.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Largest number of questions at the same time.
    #[arg(long, default_value_t = at_least(8))]
    pub(crate) concurrency: NonZeroUsize,
    /// Folder of the run: its bases, rows, answers and reports. An interrupted run continues there. Default for a
    /// preset: `runs/PRESET`.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Delete earlier rows of this folder and ask all questions again.
    #[arg(long)]
    pub(crate) fresh: bool,
}
