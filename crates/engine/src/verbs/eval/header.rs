//! Describes what distinguishes an evaluation from others in the same folder: questions, models, parameters.

use std::fmt::Write as _;

use pikerag_knowledge::Role;
use pikerag_methods::Ports;

use super::plan::Plan;
use super::rows::Header;
use crate::settings::Settings;

pub(super) fn header(
    settings: &Settings,
    plan: &Plan,
    ports: &[Ports],
    corpus: Vec<String>,
    reads_at_most: Option<u32>,
) -> Header {
    let embedder = ports.iter().find_map(|ports| ports.embedder.as_ref());
    Header {
        questions: plan.sets.iter().map(|set| set.hash.as_str()).collect::<Vec<_>>().join(","),
        corpus,
        models: match ports.iter().find_map(|ports| ports.models.reranker.as_ref()) {
            Some(by) => {
                let name = by.model.name();
                format!("{}, rerank: {name} (first {})", models_line(settings), by.first)
            }
            None => models_line(settings),
        },
        embedder: embedder.map(|embedder| embedder.name().to_owned()),
        parameters: parameters_line(settings),
        reads_at_most,
    }
}

/// The parameters of methods on one line, which distinguishes runs.
fn parameters_line(settings: &Settings) -> String {
    let mut line = format!("{:?}", settings.methods);
    let files =
        [("skr_examples", &settings.skr_examples), ("demonstrations", &settings.demonstrations)];
    for (name, path) in files {
        if let Some(path) = path {
            let _ = write!(line, ", {name}: {}", path.display());
        }
    }
    line
}

/// The models in use on one line, which distinguishes runs.
fn models_line(settings: &Settings) -> String {
    if settings.offline {
        return "none".to_owned();
    }
    let mut names: Vec<String> = Vec::new();
    for role in [Role::Atomize, Role::Propose, Role::Select, Role::Answer] {
        let model = settings.chat(role).map_or("none", |chat| chat.endpoint.model.as_str());
        names.push(format!("{role}: {model}"));
    }
    names.join(", ")
}
