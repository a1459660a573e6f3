//! Exports trajectories as training data, with a data card.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use pikerag_eval::datasets;
use pikerag_train::card::{Card, Counts};
use pikerag_train::convert::{Example, examples};
use pikerag_train::formats::{Format, files, index};
use pikerag_train::leaks::{Held, Leak};
use pikerag_train::pairs::{Preference, preferences};
use pikerag_train::split::{Apart, Part, split};
use pikerag_train::{TrainError, Trajectory};
use serde::Serialize;

use super::kept::{self, Header};
use crate::error::{EngineError, Result};

/// The trajectories to export, and how.
#[derive(Clone, Debug)]
pub struct TrainExportRequest {
    /// Folders of trajectories.
    pub from: Vec<PathBuf>,
    /// The format of the trainer.
    pub format: Format,
    /// The folder to write; files of an earlier export are replaced.
    pub out: PathBuf,
    /// What no two parts share.
    pub apart: Apart,
    /// The share of the questions, from 0 to 0.5, of each of validation and test.
    pub held_out: f64,
    /// Evaluation sets whose questions are left out.
    pub evaluation: Vec<PathBuf>,
    /// The licence of documents and questions, for the card.
    pub licence: Option<String>,
    /// Seed of the split.
    pub seed: u64,
}

/// What was exported.
#[derive(Clone, Debug, Serialize)]
pub struct TrainExportResponse {
    /// The data card.
    pub card: Card,
    /// The files, by name.
    pub files: Vec<String>,
    /// The folder.
    pub out: PathBuf,
}

/// Writes the examples of all right trajectories (Algorithm 3), the preferences between better and worse ones, and
/// the data card. No model is called.
///
/// # Errors
/// A file cannot be read or written; no trajectory is right; the questions share documents so that they cannot be
/// split by document.
///
/// # Examples
/// ```no_run
/// # fn f() -> pikerag_engine::Result<()> {
/// use pikerag_engine::parts::{TrainApart, TrainFormat};
/// use pikerag_engine::{TrainExportRequest, train_export};
///
/// let response = train_export(&TrainExportRequest {
///     from: vec!["runs/trajectories".into()],
///     format: TrainFormat::Trl,
///     out: "data".into(),
///     apart: TrainApart::Document,
///     held_out: 0.1,
///     evaluation: vec!["evaluation.jsonl".into()],
///     licence: Some("CC BY 4.0".to_owned()),
///     seed: 1,
/// })?;
/// println!("{}", response.card.page());
/// # Ok(())
/// # }
/// ```
pub fn train_export(request: &TrainExportRequest) -> Result<TrainExportResponse> {
    let mut all: Vec<Trajectory> = Vec::new();
    let mut card_models = BTreeMap::new();
    let mut price = None;
    for folder in &request.from {
        all.extend(kept::read(&kept::trajectories(folder))?);
        let header = fs::read(folder.join("collection.json")).unwrap_or_default();
        if let Ok(header) = serde_json::from_slice::<Header>(&header) {
            card_models.extend(header.models);
            price = price.or(header.price);
        }
    }
    let mut card = Card::of(&all);
    card.models = card_models;
    card.usd = price.map(|(prompt, reply)| {
        let spent = card.spent;
        (spent.prompt_tokens as f64 * prompt + spent.completion_tokens as f64 * reply) / 1e6
    });
    (card.licence, card.seed, card.apart) = (request.licence.clone(), request.seed, request.apart);
    leave_out(request, &mut all, &mut card)?;
    let trajectories = all.len();
    let right: Vec<Trajectory> = all.iter().filter(|one| one.is_right).cloned().collect();
    if right.is_empty() {
        return Err(TrainError::NothingRight { trajectories }.into());
    }
    let parts = split(&right, request.apart, request.held_out, request.seed)?;
    let mut written = Vec::new();
    for part in Part::ALL {
        let is_of = |item: &str| parts.get(item) == Some(&part);
        let mut of_part: Vec<Example> = Vec::new();
        let mut questions = 0;
        for trajectory in first_right(&right).filter(|one| is_of(&one.item)) {
            of_part.extend(examples(trajectory).map_err(broken)?);
            questions += 1;
        }
        let of_questions: Vec<Trajectory> =
            all.iter().filter(|one| is_of(&one.item)).cloned().collect();
        let pairs: Vec<Preference> = preferences(&of_questions).map_err(broken)?;
        let counts = Counts { questions, examples: of_part.len(), preferences: pairs.len() };
        card.parts.insert(part, counts);
        written.extend(files(request.format, part, &of_part, &pairs));
    }
    written.extend(index(request.format, &written));
    written.push(("card.json".to_owned(), format!("{:#}\n", serde_json::to_value(&card)?)));
    written.push(("card.md".to_owned(), card.page()));
    write(request, &written)?;
    let files = written.into_iter().map(|(name, _)| name).collect();
    Ok(TrainExportResponse { card, files, out: request.out.clone() })
}

/// The first right trajectory of each question, so that no question counts twice.
fn first_right(right: &[Trajectory]) -> impl Iterator<Item = &Trajectory> {
    let mut seen = std::collections::BTreeSet::new();
    right.iter().filter(move |one| seen.insert(one.item.as_str()))
}

/// Removes the questions that evaluation sets contain.
fn leave_out(
    request: &TrainExportRequest,
    all: &mut Vec<Trajectory>,
    card: &mut Card,
) -> Result<()> {
    let mut held = Held::default();
    for path in &request.evaluation {
        let set = datasets::read(path, None)?;
        set.items.iter().for_each(|item| held.add(item.query()));
        card.compared.push(set.name);
    }
    let mut leaked: BTreeMap<String, Option<Leak>> = BTreeMap::new();
    for trajectory in all.iter() {
        let leak = || held.leak(&trajectory.question);
        leaked.entry(trajectory.item.clone()).or_insert_with(leak);
    }
    let count = |wanted| leaked.values().filter(|leak| **leak == Some(wanted)).count();
    card.leaks = [count(Leak::Same), count(Leak::Near)];
    all.retain(|trajectory| leaked.get(&trajectory.item).is_none_or(Option::is_none));
    Ok(())
}

fn broken(error: pikerag_prompt::AskError) -> EngineError {
    pikerag_methods::SolveError::Ask(error).into()
}

/// Writes the files, and removes those of an earlier export.
fn write(request: &TrainExportRequest, written: &[(String, String)]) -> Result<()> {
    let not_written = |path: &PathBuf| {
        let path = path.clone();
        |source| EngineError::NotWritten { path, source }
    };
    fs::create_dir_all(&request.out).map_err(not_written(&request.out))?;
    for part in Part::ALL {
        for name in [part.name().to_owned(), format!("dpo-{}", part.name())] {
            for ending in ["json", "jsonl"] {
                let path = request.out.join(format!("{name}.{ending}"));
                if path.exists() {
                    fs::remove_file(&path).map_err(not_written(&path))?;
                }
            }
        }
    }
    for (name, text) in written {
        let path = request.out.join(name);
        fs::write(&path, text).map_err(not_written(&path))?;
    }
    Ok(())
}
