//! Makes training data for a decomposer of one's own (PIKE-RAG §5.3.3, §6.4; KAR³ §3.4).
//!
//! [`collect`] attempts questions by Algorithm 2 and keeps each attempt as a [`Trajectory`]. [`given`] reads the
//! decompositions of a data set as trajectories; [`runs`] reads those of kept runs, and [`answers`] answers their
//! sub-questions. [`convert`] turns right trajectories into examples by Algorithm 3, [`pairs`] makes preferences from
//! better and worse ones. [`split`] and [`leaks`] keep the data apart, [`formats`] writes them for trainers, and
//! [`card`] describes them. [`label`] makes the data for the three modules of RA-ISF, and [`agree`] measures how well
//! modules agree with them (RA-ISF §3.2, §5.5, Appendix A).

pub mod agree;
pub mod answers;
pub mod card;
pub mod collect;
pub mod convert;
mod error;
pub mod formats;
pub mod given;
pub mod label;
pub mod leaks;
pub mod lines;
pub mod pairs;
mod params;
mod right;
pub mod runs;
mod sampled;
pub mod split;
mod trajectory;
pub mod ucb;

pub use error::TrainError;
pub use params::{Empty, Params, Right, Split};
pub use trajectory::{Chosen, Origin, Pair, Round, Trajectory};
