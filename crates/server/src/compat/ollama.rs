//! Serves `/api` as Ollama does: its models are the methods of each base.

pub(crate) mod answers;
mod fields;
mod lines;
pub(crate) mod models;
mod sources;
mod turns;
pub(crate) mod vectors;

use jiff::Timestamp;

use super::chat::{Served, served};
use crate::app::{App, Caller};
use crate::problem::Problem;

/// The method and the base of the model that a request names; a request without a name is refused.
fn model(app: &App, caller: &Caller, name: &str) -> Result<Served, Problem> {
    if name.trim().is_empty() {
        return Err(Problem::bad_request("`model` is missing").about("model"));
    }
    served(app, caller, name)
}

/// The current time, as this protocol writes it.
fn created_at() -> String {
    Timestamp::now().to_string()
}
