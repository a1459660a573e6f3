//! `pikerag`: documents in, checked and traced answers out. This crate is the command line: arguments become
//! requests of the engine, its responses are shown. It alone prints.

mod advice;
mod cli;
mod commands;
mod interrupt;
mod log;
mod output;
mod plain;
mod render;
mod telemetry;
mod words;

use std::process::ExitCode;

use pikerag_engine::knowledge::error_chain;
use pikerag_engine::settings::Environment;
use pikerag_engine::{EngineError, sandbox};

/// Exit codes; also in `pikerag --help` and the README.
pub(crate) mod exit {
    /// Something failed; the message says what.
    pub(crate) const FAILED: u8 = 1;
    /// The command makes no sense as it stands; clap's own code.
    pub(crate) const MISUSED: u8 = 2;
    /// Part of the work is done: files were left out, or calls failed.
    pub(crate) const INCOMPLETE: u8 = 3;
    /// What was asked is probably not in the documents.
    pub(crate) const NOT_ANSWERED: u8 = 3;
    /// The budget is spent; raise it and run again to go on.
    pub(crate) const OVER_BUDGET: u8 = 4;
}

fn main() -> ExitCode {
    let arguments = match cli::Arguments::heard() {
        Ok(arguments) => arguments,
        Err(error) => return refused(&error),
    };
    match &arguments.command {
        // Before anything else is set up: this process reads hostile bytes.
        cli::Command::ParseChild(child) => return sandbox::parse_child(&child.into()),
        cli::Command::RunLimited(program) => {
            let error = sandbox::exec_limited(&program.into());
            output::note(&error_chain(&error));
            return error.exit_code();
        }
        _ => {}
    }
    let environment = Environment::read();
    let is_server = matches!(arguments.command, cli::Command::Serve(_));
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(if is_server { processors.max(2) } else { 2 })
        // Each thread brings a heap arena along, and is there while it has work. Reads, writes and children of a server have
        // places of their own (`pikerag_store`, `engine::sandbox`): there are threads for all of them at once.
        .max_blocking_threads(if is_server { 4 * processors + 256 } else { 4 })
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            output::problem(&format!("the runtime cannot be started: {error}"));
            return ExitCode::from(exit::FAILED);
        }
    };
    let traces = log::start(arguments.verbose, arguments.offline, &environment, runtime.handle());
    let result = runtime.block_on(commands::run(arguments, &environment));
    if let Some(traces) = traces {
        traces.end();
    }
    // A parser or a model call that is still at work must not hold up the end.
    runtime.shutdown_background();
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::problem(&advice::told(&error));
            ExitCode::from(match error.downcast_ref::<EngineError>() {
                Some(error) if error.is_over_budget() => exit::OVER_BUDGET,
                Some(error) if error.is_misuse() => exit::MISUSED,
                _ => exit::FAILED,
            })
        }
    }
}

/// Help, the version, or what is wrong with the words. These may be names of files that the shell put there, so
/// they pass where all else does.
fn refused(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    output::note(error.render().to_string().trim_end());
    ExitCode::from(exit::MISUSED)
}
