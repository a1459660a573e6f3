//! What does each verb do? Arguments become a request, the response becomes text or JSON and an exit code.

mod answer;
mod choose;
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
mod tables;
mod tags;
mod trust;

use pikerag_engine::Session;
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
        let (asked, environment) = (arguments.clone(), environment.clone());
        let again = move || {
            let mut settings = Settings::load(&flags, &environment)?;
            serve::set(&mut settings, &asked);
            Ok(settings)
        };
        return serve::serve(pikerag_engine::open(settings)?, json, arguments, again).await;
    }
    if let Command::Mcp = &arguments.command {
        Box::pin(pikerag_server::speak_mcp(pikerag_engine::open(settings)?)).await?;
        return Ok(0);
    }
    let engine = pikerag_engine::open(settings)?;
    let interrupted = interrupt::listen(&engine)?;
    let result = verb(&engine.session(), json, &arguments.command).await;
    match interrupted.code() {
        Some(code) => Ok(code),
        None => result,
    }
}

async fn verb(session: &Session, json: bool, command: &Command) -> anyhow::Result<u8> {
    match command {
        Command::Init
        | Command::Trust(_)
        | Command::Serve(_)
        | Command::Mcp
        | Command::Installed(_)
        | Command::ParseChild(_)
        | Command::RunLimited(_) => Ok(0),
        Command::Keys(keys) => serve::keys(session, json, &keys.verb),
        Command::Index(index) => index::index(session, json, index).await,
        Command::Estimate(estimate) => index::estimate(session, json, estimate).await,
        Command::Delete(delete) => keep::delete(session, json, delete).await,
        Command::Backup { to } => keep::backup(session, json, to).await,
        Command::Restore { from } => keep::restore(session, json, from).await,
        Command::Check { repair } => keep::check(session, json, *repair).await,
        Command::Original(original) => keep::original(session, json, original).await,
        Command::Ask(ask) => answer::ask(session, json, ask).await,
        Command::Classify(classify) => classify::classify(session, json, classify).await,
        Command::Runs(runs) => runs::runs(session, json, runs).await,
        Command::Feedback(arguments) => feedback::feedback(session, json, arguments).await,
        Command::Methods(methods) => methods::methods(session, json, methods),
        Command::Search(search) => answer::search(session, json, search).await,
        Command::Status => inspect::status(session, json).await,
        Command::Files => files::files(session, json).await,
        Command::Export(export) => inspect::export(session, export).await,
        Command::Parse(file) => parse::parse(session, json, file).await,
        Command::Tags(tags) => tags::tags(session, json, tags).await,
        Command::Graph(graph) => graph::graph(session, json, graph).await,
        Command::Tables(arguments) => tables::tables(session, json, arguments).await,
        Command::Sql(arguments) => tables::sql(session, json, arguments).await,
        Command::Records(records) => records::records(session, json, records).await,
        Command::Schema { command: SchemaCommand::Propose(propose) } => {
            records::propose(session, json, propose).await
        }
        Command::Doctor => doctor::doctor(session, json).await,
        Command::Eval(eval) => eval::eval(session, json, eval).await,
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
