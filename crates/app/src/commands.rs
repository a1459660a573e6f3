//! What does each verb do? Arguments become a request, the response becomes text or JSON and an exit code.

mod answer;
mod classify;
mod completions;
mod doctor;
mod eval;
mod feedback;
mod files;
mod graph;
mod health;
mod index;
mod inspect;
mod keep;
mod methods;
mod parse;
mod records;
mod runs;
mod serve;
mod tags;
mod trust;

use std::sync::Arc;

use pikerag_engine::Engine;
use pikerag_engine::settings::{Environment, Settings, settings_path};

use crate::cli::{Arguments, Command, Installed, SchemaCommand};
use crate::interrupt;
use crate::output::{say, say_json};

/// Runs a command; the exit code on success.
pub(crate) async fn run(arguments: Arguments, environment: &Environment) -> anyhow::Result<u8> {
    let flags = arguments.flags();
    let json = arguments.json;
    // They need no settings: those that there are may be broken, or not trusted.
    match &arguments.command {
        Command::Init => return init(&settings_path(&flags, environment).0, environment, json),
        Command::Trust(trust) => return trust::trust(trust, &flags, environment, json),
        Command::Installed(Installed::Completions { shell }) => {
            return completions::completions(*shell);
        }
        Command::Installed(Installed::Man { out }) => {
            return completions::man(out.as_deref(), json);
        }
        _ => {}
    }
    let mut settings = Settings::load(&flags, environment)?;
    if let Command::Installed(Installed::Health { port }) = &arguments.command {
        return health::health(&settings.server, *port, json).await;
    }
    if let Command::Serve(arguments) = &arguments.command {
        serve::set(&mut settings, arguments);
        return serve::serve(pikerag_engine::open(settings)?, json, arguments).await;
    }
    if let Command::Mcp = &arguments.command {
        Box::pin(pikerag_server::speak_mcp(pikerag_engine::open(settings)?)).await?;
        return Ok(0);
    }
    let engine = Arc::new(pikerag_engine::open(settings)?);
    let interrupted = interrupt::listen(&engine)?;
    let result = verb(&engine, json, &arguments.command).await;
    match interrupted.code() {
        Some(code) => Ok(code),
        None => result,
    }
}

async fn verb(engine: &Engine, json: bool, command: &Command) -> anyhow::Result<u8> {
    match command {
        Command::Init
        | Command::Trust(_)
        | Command::Serve(_)
        | Command::Mcp
        | Command::Installed(_)
        | Command::ParseChild(_)
        | Command::RunLimited(_) => Ok(0),
        Command::Keys(keys) => serve::keys(engine, json, &keys.verb),
        Command::Index(index) => index::index(engine, json, index).await,
        Command::Estimate(estimate) => index::estimate(engine, json, estimate).await,
        Command::Delete(delete) => keep::delete(engine, json, delete).await,
        Command::Backup { to } => keep::backup(engine, json, to).await,
        Command::Restore { from } => keep::restore(engine, json, from).await,
        Command::Check { repair } => keep::check(engine, json, *repair).await,
        Command::Original(original) => keep::original(engine, json, original).await,
        Command::Ask(ask) => answer::ask(engine, json, ask).await,
        Command::Classify(classify) => classify::classify(engine, json, classify).await,
        Command::Runs(runs) => runs::runs(engine, json, runs).await,
        Command::Feedback(arguments) => feedback::feedback(engine, json, arguments).await,
        Command::Methods(methods) => methods::methods(engine, json, methods),
        Command::Search(search) => answer::search(engine, json, search).await,
        Command::Status => inspect::status(engine, json).await,
        Command::Files => files::files(engine, json).await,
        Command::Export(export) => inspect::export(engine, export),
        Command::Parse(file) => parse::parse(engine, json, file).await,
        Command::Tags(tags) => tags::tags(engine, json, tags).await,
        Command::Graph(graph) => graph::graph(engine, json, graph),
        Command::Records(records) => records::records(engine, json, records).await,
        Command::Schema { command: SchemaCommand::Propose(propose) } => {
            records::propose(engine, json, propose).await
        }
        Command::Doctor => doctor::doctor(engine, json).await,
        Command::Eval(eval) => eval::eval(engine, json, eval).await,
    }
}

fn init(path: &std::path::Path, environment: &Environment, json: bool) -> anyhow::Result<u8> {
    let response = pikerag_engine::init(path, environment)?;
    if json {
        say_json(&response)?;
    } else if response.trusted {
        say(&format!(
            "{} is written and trusted; every line in it is optional. Next: pikerag index PATH…; after a change of it, \
             pikerag trust",
            path.display()
        ));
    } else {
        say(&format!(
            "{} is written; every line in it is optional. There is no folder of yours to note in that it is trusted: \
             name it with --config FILE or PIKERAG_CONFIG",
            path.display()
        ));
    }
    Ok(0)
}
