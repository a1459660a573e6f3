//! What does each verb do?

mod answer;
mod doctor;
mod eval;
mod graph;
mod index;
mod inspect;
mod parse;
mod records;
mod tags;

use anyhow::Context;

use crate::cli::{Arguments, Command, SchemaCommand};
use crate::config::{self, Environment};
use crate::output::{say, say_json};
use crate::wiring::Wiring;

/// Runs a command; the exit code on success.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<u8> {
    if matches!(arguments.command, Command::Init) {
        return init(&arguments);
    }
    let environment = Environment::read();
    let settings = config::load(arguments.config.as_deref(), &environment)?;
    let wiring = Wiring::new(&arguments, settings, &environment)?;
    match &arguments.command {
        Command::Init | Command::ParseChild(_) | Command::RunLimited(_) => Ok(0),
        Command::Index(index) => index::index(&wiring, index).await,
        Command::Estimate(estimate) => index::estimate(&wiring, estimate).await,
        Command::Delete(paths) => index::delete(&wiring, paths).await,
        Command::Ask(ask) => answer::ask(&wiring, ask).await,
        Command::Search(search) => answer::search(&wiring, search).await,
        Command::Status => inspect::status(&wiring).await,
        Command::Export(export) => inspect::export(&wiring, export),
        Command::Parse(file) => parse::parse(&wiring, file).await,
        Command::Tags(tags) => tags::tags(&wiring, tags).await,
        Command::Graph(graph) => graph::graph(&wiring, graph).await,
        Command::Records(records) => records::records(&wiring, records).await,
        Command::Schema { command: SchemaCommand::Propose(propose) } => {
            records::propose(&wiring, propose).await
        }
        Command::Doctor => doctor::doctor(&wiring).await,
        Command::Eval(eval) => eval::eval(&wiring, eval).await,
    }
}

fn init(arguments: &Arguments) -> anyhow::Result<u8> {
    use std::io::Write;
    let path = arguments.config.clone().unwrap_or_else(|| "pikerag.toml".into());
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    if created.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists) {
        let path = path.display();
        anyhow::bail!(
            "{path} is there already, and was left as it is; `--config FILE` names another"
        )
    }
    let mut file = created.with_context(|| format!("{} is not written", path.display()))?;
    file.write_all(config::TEMPLATE.as_bytes())?;
    if arguments.json {
        say_json(&serde_json::json!({ "written": path }))?;
    } else {
        say(&format!(
            "{} is written; every line in it is optional. Next: pikerag index PATH…",
            path.display()
        ));
    }
    Ok(0)
}
