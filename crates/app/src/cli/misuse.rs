//! Which commands make no sense, though every word of them does?

use pikerag_engine::GraphFormat;

use super::{Command, Estimate, Graph, GraphCommand, Index};

/// What is wrong with a command as a whole.
pub(super) fn misuse(command: &Command) -> Option<String> {
    match command {
        Command::Ask(ask) => unquoted("ask", &ask.question),
        Command::Search(search) => unquoted("search", &search.query),
        Command::Index(Index { with, .. }) | Command::Estimate(Estimate { with, .. }) => {
            let both = with.with.iter().find(|name| with.without.contains(name));
            both.map(|_| "`--with` and `--without` name the same".to_owned())
        }
        Command::Graph(Graph { command: Some(GraphCommand::Export(export)), .. })
            if export.of.is_some() && export.format != GraphFormat::Html =>
        {
            Some("`--of` goes with `--format html`: other formats hold the whole graph".to_owned())
        }
        _ => None,
    }
}

/// Without quotes the shell cuts a question into words, and takes `?` and `*` for names of files.
fn unquoted(verb: &str, words: &[String]) -> Option<String> {
    match words {
        [] | [_] => None,
        words => {
            let words = words.join(" ").replace(['"', '\\', '$', '`'], "");
            Some(format!("several words: put them in quotes, `pikerag {verb} \"{words}\"`"))
        }
    }
}
