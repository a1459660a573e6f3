//! The protocols that programs already speak, each as its own documents have it.

mod background;
pub(crate) mod chat;
pub(crate) mod dify;
pub(crate) mod mcp;
pub(crate) mod ollama;
pub(crate) mod openai;
pub(crate) mod vectors;
mod words;
