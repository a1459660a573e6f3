//! The command line `pikerag`: turns arguments into requests of the engine, and shows its responses. No other crate prints.

mod advice;
mod cli;
mod commands;
mod failure;
mod interrupt;
mod language;
mod log;
mod output;
mod plain;
mod render;
mod telemetry;
mod waiting;
mod words;

use std::process::ExitCode;

use pikerag_engine::knowledge::error_chain;
use pikerag_engine::narrate::{Language, Words};
use pikerag_engine::settings::{Environment, arguments};
use pikerag_engine::{EngineError, sandbox};

/// Exit codes; also in `pikerag --help` and the README.
pub(crate) mod exit {
    /// Something failed; the message gives the reason.
    pub(crate) const FAILED: u8 = 1;
    /// The command cannot be used as given; clap's own code.
    pub(crate) const MISUSED: u8 = 2;
    /// Part of the work is done: files were left out, or calls failed.
    pub(crate) const INCOMPLETE: u8 = 3;
    /// The answer is probably not in the documents.
    pub(crate) const NOT_ANSWERED: u8 = 3;
    /// An interrupt has stopped the command; as in shells.
    pub(crate) const STOPPED: u8 = 130;
    /// The budget is spent; a run with a higher budget continues.
    pub(crate) const OVER_BUDGET: u8 = 4;
}

fn main() -> ExitCode {
    let environment = Environment::read();
    let usual = language::of_environment(&environment);
    let given = arguments();
    let language = language::of_arguments(&given).unwrap_or(usual);
    let arguments = match cli::Arguments::parse_checked(given, language) {
        Ok(arguments) => arguments,
        Err(refusal) => return refused(&refusal, language),
    };
    let output = arguments.output(usual);
    match &arguments.command {
        // Before any thread is started: this process reads hostile bytes.
        cli::Command::ParseChild(child) => return sandbox::parse_child(&child.into()),
        cli::Command::RunLimited(program) => {
            let error = sandbox::exec_limited(&program.into());
            output::note(&error_chain(&error));
            return error.exit_code();
        }
        _ => {}
    }
    let is_server = matches!(arguments.command, cli::Command::Serve(_) | cli::Command::Worker(_));
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(if is_server { processors.max(2) } else { 2 })
        // Each thread has a heap arena, and exists while it has work. A server limits its questions, reads, writes and
        // children (`pikerag_store`, `engine::sandbox`): there are enough threads for all of them at once. Other commands
        // ask one question at a time, which has one thread and waits for others (`pikerag_store::on_one_thread`).
        .max_blocking_threads(if is_server { 4 * processors + 256 } else { 4 })
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            output.problem(
                &Words::new(
                    format!("the runtime cannot be started: {error}"),
                    format!("无法启动运行时：{error}"),
                )
                .of(output.language),
            );
            return ExitCode::from(exit::FAILED);
        }
    };
    let traces = log::start(arguments.verbose, arguments.offline, &environment, runtime.handle());
    let result = runtime.block_on(commands::run(arguments, output, &environment));
    if let Some(traces) = traces {
        traces.end();
    }
    // The process does not wait for a parser or a model call.
    runtime.shutdown_background();
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output.problem(&advice::error(&error, output.language));
            ExitCode::from(match error.downcast_ref::<EngineError>() {
                Some(error) if error.is_over_budget() => exit::OVER_BUDGET,
                Some(error) if error.is_misuse() => exit::MISUSED,
                _ => exit::FAILED,
            })
        }
    }
}

/// Prints help, the version, or the reason of a refusal. A refusal may quote names of files, so it is printed without
/// control sequences.
fn refused(refusal: &cli::Refusal, language: Language) -> ExitCode {
    if let Some(help) = refusal.help() {
        let _ = help.print();
        return ExitCode::SUCCESS;
    }
    output::note(refusal.message(language).trim_end());
    ExitCode::from(exit::MISUSED)
}
