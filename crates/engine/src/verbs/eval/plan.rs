//! Plans a run: data sets with their corpora, methods with their parameters, from flags or from a
//! preset.

use std::fs;
use std::path::{Path, PathBuf};

use pikerag_baselines::{Method, Overrides};
use pikerag_eval::EvalError;
use pikerag_eval::datasets::{self, DataSet, Item};
use pikerag_eval::methods::{Named, named};
use pikerag_eval::papers::{Figure, figures};
use pikerag_eval::presets::{Files, Preset, find, preset};

use super::EvalRequest;
use crate::engine::Session;
use crate::error::{EngineError, Needed, Result};
use crate::notice::Notice;
use crate::verbs::progress::Progress;

const METHODS: [&str; 4] = ["kar3", "hop-rag", "naive-rag", "naive-rag-hr"];

/// The plan of a run.
pub(super) struct Plan {
    pub(super) title: String,
    pub(super) sets: Vec<Set>,
    pub(super) methods: Vec<Named>,
    pub(super) judge: bool,
    pub(super) consistency: bool,
    pub(super) perplexity: bool,
    pub(super) out: PathBuf,
    /// The papers' figures to show beside ours.
    pub(super) papers: Vec<Figure>,
}

/// A data set of a run.
pub(super) struct Set {
    /// The name, unique in the run.
    pub(super) name: String,
    pub(super) data: DataSet,
    /// The questions to ask.
    pub(super) items: Vec<Item>,
    /// The hash of its file.
    pub(super) hash: String,
    pub(super) corpus: Corpus,
    /// The folder of its base and its pooled corpus.
    pub(super) folder: PathBuf,
}

/// The corpus of a data set's questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Corpus {
    /// Files, in the run's own base.
    Files(Vec<PathBuf>),
    /// The context paragraphs of the questions, in the run's own base (KAR³ §4.1).
    Pooled,
    /// The base that is set.
    Base,
}

/// Reads the request, the preset and the questions.
pub(super) fn plan(request: &EvalRequest<'_>) -> Result<Plan> {
    let preset = request.preset.as_deref().map(preset).transpose()?;
    let out = match (&request.out, &preset) {
        (Some(out), _) => out.clone(),
        (None, Some(preset)) => Path::new("runs").join(&preset.name),
        (None, None) => return Err(EngineError::Needs(Needed::RunFolder)),
    };
    let labels: Vec<String> = match (&preset, request.methods.as_slice()) {
        (Some(preset), []) => preset.methods.clone(),
        (None, []) => METHODS.map(str::to_owned).to_vec(),
        (_, methods) => methods.to_vec(),
    };
    let mut methods: Vec<Named> = Vec::new();
    for label in &labels {
        let method = named(label)?;
        if methods.contains(&method) {
            return Err(EngineError::NamedTwice { label: label.clone() });
        }
        methods.push(method);
    }
    let mut papers = figures()?;
    if let Some(preset) = &preset {
        papers.retain(|figure| (&figure.paper, &figure.table) == (&preset.paper, &preset.table));
    }
    let prints = |metric: &str| {
        preset.as_ref().is_some_and(|preset| preset.metrics.iter().any(|name| name == metric))
    };
    Ok(Plan {
        title: preset.as_ref().map_or("Evaluation".to_owned(), |preset| preset.about.clone()),
        sets: sets(request, preset.as_ref(), &out)?,
        methods,
        judge: request.judge || preset.as_ref().is_some_and(|preset| preset.judge),
        consistency: request.consistency || prints("consistency"),
        perplexity: request.perplexity || prints("perplexity"),
        out,
        papers,
    })
}

fn sets(request: &EvalRequest<'_>, preset: Option<&Preset>, out: &Path) -> Result<Vec<Set>> {
    let format = request.format.as_deref().map(str::parse).transpose()?;
    let files = files(request, preset)?;
    let limit = request.limit.or(preset.map(|preset| preset.sample));
    let one_corpus = files.windows(2).all(|pair| matches!(pair, [a, b] if a.1 == b.1));
    let mut sets: Vec<Set> = Vec::new();
    for (path, corpus) in &files {
        let data = datasets::read(path, format)?;
        if 0 < data.unanswerable {
            (request.progress)(Progress::Notice(Notice::Unanswerable {
                path: path.clone(),
                questions: data.unanswerable,
            }));
        }
        let mut items = data.items.clone();
        if let Some(kinds) = preset.map(|preset| &preset.kinds).filter(|kinds| !kinds.is_empty()) {
            items.retain(|item| item.kind.as_ref().is_some_and(|kind| kinds.contains(kind)));
        }
        if let Some(limit) = limit {
            items = datasets::sample(items, limit, request.seed);
        }
        let mut name = match preset.filter(|_| request.questions.is_empty()) {
            // `questions` names no set: a preset does.
            Some(preset) if data.name == "questions" => {
                preset.data_sets.get(sets.len()).unwrap_or(&data.name).clone()
            }
            _ => data.name.clone(),
        };
        let same = sets.iter().filter(|set| set.data.name == name).count();
        if 0 < same {
            name = format!("{name}-{}", same + 1);
        }
        let corpus = match (corpus, data.paragraphs.is_empty()) {
            (Some(files), _) => Corpus::Files(files.clone()),
            (None, false) => Corpus::Pooled,
            (None, true) => Corpus::Base,
        };
        let is_alone = files.len() == 1 || one_corpus && matches!(corpus, Corpus::Files(_));
        sets.push(Set {
            folder: if is_alone { out.to_owned() } else { out.join(&name) },
            hash: hash(path)?,
            name,
            data,
            items,
            corpus,
        });
    }
    Ok(sets)
}

/// The hash of a file of questions.
pub(in crate::verbs) fn hash(path: &Path) -> Result<String> {
    let unreadable = |source| EvalError::Unreadable { path: path.to_owned(), source };
    let bytes = fs::read(path).map_err(unreadable)?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

/// Each file of questions, with its corpus if there is one.
fn files(
    request: &EvalRequest<'_>,
    preset: Option<&Preset>,
) -> Result<Vec<(PathBuf, Option<Vec<PathBuf>>)>> {
    let given = &request.corpus;
    if let (Some(preset), true) = (preset, request.questions.is_empty()) {
        let data = request.data.as_deref().ok_or(EngineError::Needs(Needed::DataFolder))?;
        let folders = folders(data);
        let found: Result<Vec<Files>, _> =
            preset.data_sets.iter().map(|name| find(data, &folders, name)).collect();
        let with_corpus = found?.into_iter().map(|files| {
            let own = files.corpus.map(|corpus| vec![corpus]);
            (files.questions, if given.is_empty() { own } else { Some(given.clone()) })
        });
        return Ok(with_corpus.collect());
    }
    let questions = &request.questions;
    let corpus_of = |place: usize| match (questions.len(), given.len()) {
        (_, 0) => None,
        (1, _) | (_, 1) => Some(given.clone()),
        _ => given.get(place).filter(|path| path.as_os_str() != "-").map(|path| vec![path.clone()]),
    };
    if 1 < questions.len() && 1 < given.len() && given.len() != questions.len() {
        let (questions, corpora) = (questions.len(), given.len());
        return Err(EngineError::CorporaDoNotFit { questions, corpora });
    }
    Ok(questions.iter().cloned().enumerate().map(|(place, q)| (q, corpus_of(place))).collect())
}

/// The folders in a folder, by name.
fn folders(data: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(data).into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// A method with the user's parameters and those in its name, which have priority.
pub(super) fn method(session: &Session, named: &Named) -> Result<Method> {
    let method = session.method(&named.method)?;
    let own: Overrides = named
        .overrides
        .clone()
        .try_into()
        .map_err(|source| EngineError::BadParameter { label: named.label.clone(), source })?;
    Ok(method.with(&own.weighed(session.settings().methods.weights)))
}
