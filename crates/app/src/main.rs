//! `pikerag`: documents in, checked and traced answers out. This crate wires everything together; it
//! alone reads the environment, starts processes and prints.

mod child;
mod cli;
mod commands;
mod config;
mod files;
mod graph;
mod helpers;
mod limited;
mod ocr;
mod output;
mod pipe;
mod render;
mod wiring;
mod words;

use std::process::ExitCode;

use clap::Parser;

/// Exit codes; also in `pikerag --help` and the README.
pub(crate) mod exit {
    /// Something failed; the message says what.
    pub(crate) const FAILED: u8 = 1;
    /// Part of the work is done: files were left out, or calls failed.
    pub(crate) const INCOMPLETE: u8 = 3;
    /// The budget is spent; raise it and run again to go on.
    pub(crate) const OVER_BUDGET: u8 = 4;
}

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    if let cli::Command::ParseChild(limits) = &arguments.command {
        // Before anything else is set up: this process reads hostile bytes.
        return child::run(limits);
    }
    if let cli::Command::RunLimited(limits) = &arguments.command {
        return limited::become_limited(limits);
    }
    output::start_log(arguments.verbose);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Each thread brings a heap arena along; the store's short reads need few of them.
        .max_blocking_threads(4)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            output::problem(&format!("the runtime cannot be started: {error}"));
            return ExitCode::from(exit::FAILED);
        }
    };
    let result = runtime.block_on(commands::run(arguments));
    // A parser or a model call that is still at work must not hold up the end.
    runtime.shutdown_background();
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::problem(&format!("{error:#}"));
            ExitCode::from(if wiring::is_over_budget(&error) {
                exit::OVER_BUDGET
            } else {
                exit::FAILED
            })
        }
    }
}
