//! Tests that each method follows its paper's algorithm: one trace per branch, on a fixture that
//! can be followed by hand.

mod adaptive;
mod closed_book;
mod crp_rag;
mod demonstrations;
mod editions;
mod everyday;
mod fitting;
mod fixture;
mod graphrag;
mod ideas;
mod ircot;
mod iter_retgen;
mod kar3;
mod least_to_most;
mod lookups;
mod one_retrieval;
mod pike;
mod plans;
mod probtree;
mod prompted;
mod prospects;
mod ra_isf;
mod raptor;
mod recorded_plans;
mod replug;
mod reworded;
mod searchain;
mod self_ask;
mod self_rag;
mod skr;
mod structure;
mod tables;
mod think_then_act;
mod tree_of_thought;
