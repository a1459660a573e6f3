//! Exports trajectories as training data, with a data card.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pikerag_eval::datasets;
use pikerag_train::card::{Card, Counts};
use pikerag_train::convert::{Example, examples};
use pikerag_train::formats::{File, Format, files, index};
use pikerag_train::label::{Labelled, Module, label_examples};
use pikerag_train::leaks::{Held, Leak};
use pikerag_train::pairs::{Preference, preferences};
use pikerag_train::split::{Apart, OfQuestion, Part, split};
use pikerag_train::{TrainError, Trajectory};
use serde::Serialize;

use super::kept::{self, Line};
use crate::error::{EngineError, Result};

/// The trajectories or labels to export, and how.
#[derive(Clone, Debug)]
pub struct TrainExportRequest {
    /// Folders of trajectories, or folders of labels.
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
/// the data card; of labels, the examples of each module in a folder of its own, `know`, `relevant` and `decompose`
/// (RA-ISF, Appendix A). No model is called.
///
/// # Errors
/// A file cannot be read or written; no trajectory is right; some folders hold trajectories and others labels; the
/// questions share documents so that they cannot be split by document.
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
    let are_labels = request.from.first().is_some_and(|folder| kept::holds::<Labelled>(folder));
    let (mut card, mut written) =
        if are_labels { export_labels(request)? } else { export_trajectories(request)? };
    (card.licence, card.seed, card.apart) = (request.licence.clone(), request.seed, request.apart);
    written.push(("card.json".to_owned(), format!("{:#}\n", serde_json::to_value(&card)?)));
    written.push(("card.md".to_owned(), card.page()));
    write(request, &written)?;
    let files = written.into_iter().map(|(name, _)| name).collect();
    Ok(TrainExportResponse { card, files, out: request.out.clone() })
}

/// The files of the examples of trajectories, and their card.
fn export_trajectories(request: &TrainExportRequest) -> Result<(Card, Vec<File>)> {
    let (mut all, mut models, mut prices) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for folder in &request.from {
        all.extend(read_alone::<Trajectory, Labelled>(folder, "labels")?);
        if let Some(header) = kept::header::<Trajectory>(folder) {
            models.extend(header.models);
            prices.extend(header.prices);
        }
    }
    let mut card = Card::of(&all);
    (card.usd, card.models) = (card.spent.priced(&prices), models);
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
    Ok((card, written))
}

/// The files of the examples of labels, a folder for each module, the known and unknown questions of training in the
/// form that the method `skr` reads, and the card.
fn export_labels(request: &TrainExportRequest) -> Result<(Card, Vec<File>)> {
    let (mut all, mut models, mut prices) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for folder in &request.from {
        all.extend(read_alone::<Labelled, Trajectory>(folder, "trajectories")?);
        if let Some(header) = kept::header::<Labelled>(folder) {
            models.extend(header.models);
            prices.extend(header.prices);
        }
    }
    let mut card = Card::of_labels(&all);
    (card.usd, card.models) = (card.spent.priced(&prices), models);
    all.retain(|one| one.failed.is_none());
    leave_out(request, &mut all, &mut card)?;
    let parts = split(&all, request.apart, request.held_out, request.seed)?;
    let (mut written, mut modules) = (Vec::new(), BTreeMap::new());
    for module in Module::ALL {
        let (mut of_module, mut counts) = (Vec::new(), BTreeMap::new());
        for part in Part::ALL {
            let (mut of_part, mut questions) = (Vec::new(), 0);
            for one in all.iter().filter(|one| parts.get(&one.item) == Some(&part)) {
                let made = label_examples(one, module).map_err(broken)?;
                questions += usize::from(!made.is_empty());
                of_part.extend(made);
            }
            let examples = of_part.len();
            counts.insert(part, Counts { questions, examples, preferences: 0 });
            of_module.extend(files(request.format, part, &of_part, &[]));
        }
        of_module.extend(index(request.format, &of_module));
        let in_folder = |(name, text): File| (format!("{}/{name}", module.name()), text);
        written.extend(of_module.into_iter().map(in_folder));
        modules.insert(module, counts);
    }
    if let Some(labels) = &mut card.labels {
        labels.modules = modules;
    }
    let mut known = String::new();
    for one in all.iter().filter(|one| parts.get(&one.item) == Some(&Part::Train)) {
        let line = serde_json::json!({ "question": one.question, "known": one.knows });
        known += &line.to_string();
        known.push('\n');
    }
    written.push(("known.jsonl".to_owned(), known));
    Ok((card, written))
}

/// The lines of a folder, which must not hold `others` too.
fn read_alone<T: Line, O: Line>(folder: &Path, others: &'static str) -> Result<Vec<T>> {
    if kept::holds::<O>(folder) && !kept::holds::<T>(folder) {
        return Err(TrainError::Mixed { path: folder.to_owned(), holds: others }.into());
    }
    kept::read(folder)
}

/// The first right trajectory of each question, so that no question counts twice.
fn first_right(right: &[Trajectory]) -> impl Iterator<Item = &Trajectory> {
    let mut seen = std::collections::BTreeSet::new();
    right.iter().filter(move |one| seen.insert(one.item.as_str()))
}

/// Removes the questions that evaluation sets contain.
fn leave_out<T: OfQuestion>(
    request: &TrainExportRequest,
    all: &mut Vec<T>,
    card: &mut Card,
) -> Result<()> {
    let mut held = Held::default();
    for path in &request.evaluation {
        let set = datasets::read(path, None)?;
        set.items.iter().for_each(|item| held.add(item.query()));
        card.compared.push(set.name);
    }
    let mut leaked: BTreeMap<String, Option<Leak>> = BTreeMap::new();
    for one in all.iter() {
        leaked.entry(one.item().to_owned()).or_insert_with(|| held.leak(one.question()));
    }
    let count = |wanted| leaked.values().filter(|leak| **leak == Some(wanted)).count();
    card.leaks = [count(Leak::Same), count(Leak::Near)];
    all.retain(|one| leaked.get(one.item()).is_none_or(Option::is_none));
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
    let modules = Module::ALL.map(|module| request.out.join(module.name()));
    for folder in modules.iter().chain([&request.out]) {
        for part in Part::ALL {
            for name in [part.name().to_owned(), format!("dpo-{}", part.name())] {
                for ending in ["json", "jsonl"] {
                    let path = folder.join(format!("{name}.{ending}"));
                    if path.exists() {
                        fs::remove_file(&path).map_err(not_written(&path))?;
                    }
                }
            }
        }
    }
    for (name, text) in written {
        let path = request.out.join(name);
        let folder = path.parent().unwrap_or(&request.out).to_owned();
        fs::create_dir_all(&folder).map_err(not_written(&folder))?;
        fs::write(&path, text).map_err(not_written(&path))?;
    }
    Ok(())
}
