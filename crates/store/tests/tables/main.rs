//! Tests that typed tables follow their documents, and that plans give the results of plain loops.
#![cfg(test)]

mod life;
mod plans;
mod shelf;
mod statements;
