//! Lists open models for this machine, keeps and fetches their files, and finds servers of models.
//!
//! Nothing here runs a model: llama.cpp's server does, and the engine starts it.

pub mod catalogue;
pub mod fetch;
pub mod folder;
pub mod probe;
pub mod wheels;

pub use catalogue::{OpenModel, Source, Speed};
pub use fetch::{FetchError, FetchRequest, Fetched, OnBytes, fetch};
pub use folder::{KeptModel, ModelFolder};
pub use probe::{FoundServer, find_servers, is_healthy};
pub use wheels::join_wheels;
