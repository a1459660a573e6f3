//! Does each method walk its paper's algorithm? One trace per branch, on a fixture that can be
//! followed by hand.
#![cfg(test)]

#[path = "../common/mod.rs"]
mod common;
mod fixture;
mod kar3;
mod probtree;
mod replug;
mod searchain;
mod self_rag;
mod skr;
