//! Holds the handlers of the project's own REST routes.

pub(crate) mod ask;
pub(crate) mod bases;
pub(crate) mod budget;
pub(crate) mod chosen_models;
pub(crate) mod configured;
pub(crate) mod counters;
pub(crate) mod files;
pub(crate) mod forms;
pub(crate) mod graph;
pub(crate) mod health;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod look;
pub(crate) mod made_bases;
pub(crate) mod models;
pub(crate) mod passages;
pub(crate) mod reading;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod search_models;
pub(crate) mod sent;
pub(crate) mod tables;
pub(crate) mod tags;
pub(crate) mod texts;
