//! Does each method walk its paper's algorithm? One trace per branch, on a fixture that can be
//! followed by hand.
#![cfg(test)]

#[path = "../common/mod.rs"]
mod common;
mod crp_rag;
mod fixture;
mod graphrag;
mod kar3;
mod ra_isf;
mod raptor;
