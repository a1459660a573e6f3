//! Implements the methods that ours are compared with, each one as a plain function that follows
//! its paper, and the catalogue of all methods. Our own methods (`methods`) do not depend on these.

mod catalogue;
pub mod closed_book;
pub mod graphrag;
pub mod ircot;
pub mod iter_retgen;
pub mod least_to_most;
mod overrides;
pub mod probtree;
pub mod raptor;
pub mod replug;
pub mod searchain;
pub mod self_ask;
pub mod self_rag;
pub mod skr;
pub mod think_then_act;
pub mod tree_of_thought;

pub use catalogue::{Method, UnknownMethod, answer};
pub use overrides::{BadParameter, Overrides};
