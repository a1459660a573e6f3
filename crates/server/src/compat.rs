//! Speaks the protocols that other programs already use, each as its documentation defines it.

mod background;
pub(crate) mod chat;
mod cited;
mod contract;
mod cut;
pub(crate) mod dify;
pub(crate) mod errors;
mod events;
pub(crate) mod mcp;
pub(crate) mod ollama;
pub(crate) mod openai;
mod progress;
pub(crate) mod rerank;
pub(crate) mod responses_api;
pub(crate) mod schemas;
mod structured;
pub(crate) mod vectors;
mod words;
