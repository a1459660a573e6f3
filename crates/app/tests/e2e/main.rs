//! Tests the program from end to end.
//!
//! Each test runs the real binary in its own folder and environment and plays the models itself.
//! All tests are one binary, so that it is linked once and shared helpers are not dead code in any.

#[cfg(test)]
mod administered;
#[cfg(test)]
mod assistants;
#[cfg(test)]
mod base_in_postgres;
#[cfg(test)]
mod boxes;
#[cfg(test)]
mod chinese;
#[cfg(test)]
mod chosen_models;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod common;
#[cfg(test)]
mod databases;
#[cfg(test)]
mod described;
#[cfg(test)]
mod dify;
#[cfg(test)]
mod disks;
#[cfg(test)]
mod editions;
#[cfg(test)]
mod edits;
#[cfg(test)]
mod embedders;
#[cfg(test)]
mod eval;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod feedback;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod files;
#[cfg(test)]
mod filters;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod installed;
#[cfg(test)]
mod jobs;
#[cfg(test)]
mod keep;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod layouts;
#[cfg(test)]
mod levels;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod local_model;
#[cfg(test)]
mod made_bases;
#[cfg(test)]
mod manners;
#[cfg(test)]
mod methods;
#[cfg(test)]
mod models;
#[cfg(test)]
mod names;
#[cfg(test)]
mod observed;
#[cfg(test)]
mod ollama;
#[cfg(test)]
mod openai;
#[cfg(test)]
mod paths;
#[cfg(test)]
mod protocols;
#[cfg(test)]
mod records;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod reload;
#[cfg(test)]
#[path = "../../../baselines/tests/model_output/repeating.rs"]
mod repeating;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod rerank;
#[cfg(test)]
mod responses;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod search_models;
#[cfg(test)]
mod seeing;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod serving;
#[cfg(test)]
mod several_servers;
#[cfg(test)]
mod shared_models;
#[cfg(test)]
mod structured;
#[cfg(test)]
mod stub_workload;
#[cfg(test)]
mod syscalls;
#[cfg(test)]
mod tables;
mod tags;
#[cfg(test)]
mod talker;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod together;
mod train;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod uploads;
#[cfg(test)]
mod workers;
