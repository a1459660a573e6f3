//! Arguments of `worker`.

use std::num::NonZeroUsize;

use clap::Args;

use super::at_least;

#[derive(Clone, Debug, Args)]
pub(crate) struct Worker {
    /// The number of parts of jobs that run at the same time.
    #[arg(long, value_name = "N", default_value_t = at_least(2))]
    pub(crate) at_once: NonZeroUsize,
    /// A base to work for, by its name in the database; repeat for more. Default: all bases.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
}
