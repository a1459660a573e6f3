//! Do typed tables follow the documents that their rows come from, and do plans give what plain loops give?
#![cfg(test)]

mod life;
mod plans;
mod shelf;
mod statements;
