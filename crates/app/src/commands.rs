//! Runs each command: turns its arguments into a request, and the response into text or JSON and an exit code.

mod answer;
mod choose;
mod classify;
mod completions;
mod doctor;
mod eval;
mod feedback;
mod files;
mod formats;
mod graph;
mod health;
mod index;
mod init;
mod inspect;
mod keep;
mod methods;
mod models;
mod parse;
mod records;
mod runs;
mod serve;
mod tables;
mod tags;
mod train;
mod trust;
mod worker;

use std::sync::Arc;

use pikerag_engine::Session;
use pikerag_engine::settings::{Environment, Flags, Settings, settings_path};
use pikerag_server::SettingsFile;

use crate::cli::{Arguments, Command, Installed, SchemaCommand, Serve};
use crate::interrupt;
use crate::output::Output;

/// Runs a command; the exit code on success.
pub(crate) async fn run(
    arguments: Arguments,
    output: Output,
    environment: &Environment,
) -> anyhow::Result<u8> {
    let flags = arguments.flags();
    // These commands need no settings, so broken or untrusted settings do not stop them.
    match &arguments.command {
        Command::Init(arguments) => {
            let path = settings_path(&flags, environment).0;
            return init::init(arguments, (&path, environment), flags.offline, output).await;
        }
        Command::Trust(trust) => return trust::trust(trust, &flags, environment, output),
        Command::Installed(Installed::Completions { shell }) => {
            return completions::completions(*shell, output.language);
        }
        Command::Installed(Installed::Man { out }) => {
            return completions::man(out.as_deref(), output);
        }
        _ => {}
    }
    let mut settings = Settings::load(&flags, environment)?;
    if let Command::Installed(Installed::Health { port }) = &arguments.command {
        return health::health(&settings.server, *port, output).await;
    }
    if let Command::Models(verb) = &arguments.command {
        let path = settings_path(&flags, environment).0;
        let place = (path.as_path(), environment);
        return Box::pin(models::models(settings, output, verb, place)).await;
    }
    if let Command::Serve(arguments) = &arguments.command {
        serve::set(&mut settings, arguments);
        let file = settings_file(flags, arguments.clone(), environment.clone());
        return serve::serve(pikerag_engine::open(settings)?, output, arguments, file).await;
    }
    if let Command::Worker(arguments) = &arguments.command {
        return worker::worker(pikerag_engine::open(settings)?, output, arguments).await;
    }
    if let Command::Mcp = &arguments.command {
        Box::pin(pikerag_server::speak_mcp(pikerag_engine::open(settings)?)).await?;
        return Ok(0);
    }
    let engine = pikerag_engine::open(settings)?;
    let interrupted = interrupt::listen(&engine, output)?;
    let result = verb(&engine.session(), output, &arguments.command).await;
    match interrupted.code() {
        Some(code) => Ok(code),
        None => result,
    }
}

/// The settings file of a server, and how it is read again with the same flags.
fn settings_file(flags: Flags, given: Serve, environment: Environment) -> SettingsFile {
    let (path, is_named) = settings_path(&flags, &environment);
    let known = environment.clone();
    let again = move || {
        let mut settings = Settings::load(&flags, &known)?;
        serve::set(&mut settings, &given);
        Ok(settings)
    };
    SettingsFile { path, is_named, environment, again: Arc::new(again) }
}

async fn verb(session: &Session, output: Output, command: &Command) -> anyhow::Result<u8> {
    match command {
        Command::Init(_)
        | Command::Trust(_)
        | Command::Serve(_)
        | Command::Worker(_)
        | Command::Mcp
        | Command::Models(_)
        | Command::Installed(_)
        | Command::ParseChild(_)
        | Command::RunLimited(_) => Ok(0),
        Command::Keys(keys) => serve::keys(session, output, &keys.verb),
        Command::Index(index) => index::index(session, output, index).await,
        Command::Estimate(estimate) => index::estimate(session, output, estimate).await,
        Command::Delete(delete) => keep::delete(session, output, delete).await,
        Command::Backup { to } => keep::backup(session, output, to).await,
        Command::Restore { from } => keep::restore(session, output, from).await,
        Command::Migrate { from, to } => keep::migrate(session, output, from, to).await,
        Command::Check { repair } => keep::check(session, output, *repair).await,
        Command::Original(original) => keep::original(session, output, original).await,
        Command::Ask(ask) => answer::ask(session, output, ask).await,
        Command::Classify(classify) => classify::classify(session, output, classify).await,
        Command::Runs(runs) => runs::runs(session, output, runs).await,
        Command::Feedback(arguments) => feedback::feedback(session, output, arguments).await,
        Command::Methods(methods) => methods::methods(session, output, methods),
        Command::Search(search) => answer::search(session, output, search).await,
        Command::Status => inspect::status(session, output).await,
        Command::Files => files::files(session, output).await,
        Command::Export(export) => inspect::export(session, export).await,
        Command::Parse(file) => parse::parse(session, output, file).await,
        Command::Formats => formats::formats(session, output).await,
        Command::Tags(tags) => tags::tags(session, output, tags).await,
        Command::Graph(graph) => graph::graph(session, output, graph).await,
        Command::Tables(arguments) => tables::tables(session, output, arguments).await,
        Command::Sql(arguments) => tables::sql(session, output, arguments).await,
        Command::Records(records) => records::records(session, output, records).await,
        Command::Schema { command: SchemaCommand::Propose(propose) } => {
            records::propose(session, output, propose).await
        }
        Command::Doctor => doctor::doctor(session, output).await,
        Command::Eval(eval) => eval::eval(session, output, eval).await,
        Command::Train(arguments) => train::train(session, output, arguments).await,
    }
}
