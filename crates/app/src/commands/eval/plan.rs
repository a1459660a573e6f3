//! What is to be run? Data sets with their corpora, methods with their parameters, from flags or from
//! a preset.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use pikerag_coordinate::{Method, Overrides};
use pikerag_eval::datasets::{self, DataSet, Item};
use pikerag_eval::methods::{Named, named};
use pikerag_eval::papers::{Figure, figures};
use pikerag_eval::presets::{Files, Preset, find, preset};

use crate::cli::Eval;
use crate::wiring::Wiring;

const METHODS: [&str; 4] = ["kar3", "hop-rag", "naive-rag", "naive-rag-hr"];

/// A run, before anything is asked.
pub(super) struct Plan {
    pub(super) title: String,
    pub(super) sets: Vec<Set>,
    pub(super) methods: Vec<Named>,
    pub(super) judge: bool,
    pub(super) consistency: bool,
    pub(super) perplexity: bool,
    pub(super) out: PathBuf,
    /// What is put beside our figures.
    pub(super) papers: Vec<Figure>,
}

/// A data set of a run.
pub(super) struct Set {
    /// Its name, once in the run.
    pub(super) name: String,
    pub(super) data: DataSet,
    /// The questions that are asked.
    pub(super) items: Vec<Item>,
    /// Of its file.
    pub(super) hash: String,
    pub(super) corpus: Corpus,
    /// Where its base and its pooled corpus lie.
    pub(super) folder: PathBuf,
}

/// What a data set's questions are asked over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Corpus {
    /// Files, in a base of the run's own.
    Files(Vec<PathBuf>),
    /// The context paragraphs of the questions, in a base of the run's own (KAR³ §4.1).
    Pooled,
    /// The base of `--base`.
    Base,
}

/// Reads the flags, the preset and the questions.
pub(super) fn plan(arguments: &Eval) -> anyhow::Result<Plan> {
    let preset = arguments.preset.as_deref().map(preset).transpose()?;
    let out = match (&arguments.out, &preset) {
        (Some(out), _) => out.clone(),
        (None, Some(preset)) => Path::new("runs").join(&preset.name),
        (None, None) if arguments.dry_run => PathBuf::new(),
        (None, None) => bail!("`--out DIR` is missing: the folder of the run"),
    };
    let labels: Vec<String> = match (&preset, arguments.methods.as_slice()) {
        (Some(preset), []) => preset.methods.clone(),
        (None, []) => METHODS.map(str::to_owned).to_vec(),
        (_, methods) => methods.to_vec(),
    };
    let mut methods: Vec<Named> = Vec::new();
    for label in &labels {
        let method = named(label)?;
        ensure!(!methods.contains(&method), "`{label}` is named twice");
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
        sets: sets(arguments, preset.as_ref(), &out)?,
        methods,
        judge: arguments.judge || preset.as_ref().is_some_and(|preset| preset.judge),
        consistency: arguments.consistency || prints("consistency"),
        perplexity: arguments.perplexity || prints("perplexity"),
        out,
        papers,
    })
}

fn sets(arguments: &Eval, preset: Option<&Preset>, out: &Path) -> anyhow::Result<Vec<Set>> {
    let format = arguments.format.as_deref().map(str::parse).transpose()?;
    let files = files(arguments, preset)?;
    let limit = arguments.limit.or(preset.map(|preset| preset.sample));
    let one_corpus = files.windows(2).all(|pair| matches!(pair, [a, b] if a.1 == b.1));
    let mut sets: Vec<Set> = Vec::new();
    for (path, corpus) in &files {
        let data = datasets::read(path, format)?;
        if 0 < data.unanswerable {
            tracing::warn!(
                "{}: {} questions without an answer are passed over, as the data set says",
                path.display(),
                data.unanswerable
            );
        }
        let items = match limit {
            Some(limit) => datasets::sample(data.items.clone(), limit, arguments.seed),
            None => data.items.clone(),
        };
        let mut name = data.name.clone();
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
            hash: blake3::hash(&fs::read(path)?).to_hex().to_string(),
            name,
            data,
            items,
            corpus,
        });
    }
    Ok(sets)
}

/// Each file of questions, with its corpus if there is one.
fn files(
    arguments: &Eval,
    preset: Option<&Preset>,
) -> anyhow::Result<Vec<(PathBuf, Option<Vec<PathBuf>>)>> {
    let given = &arguments.corpus;
    if let (Some(preset), true) = (preset, arguments.questions.is_empty()) {
        let data = arguments.data.as_deref().context(
            "a preset needs `--data DIR`, the folder with the data sets, or `--questions FILE`",
        )?;
        let folders = folders(data);
        let found: Result<Vec<Files>, _> =
            preset.data_sets.iter().map(|name| find(data, &folders, name)).collect();
        let with_corpus = found?.into_iter().map(|files| {
            let own = files.corpus.map(|corpus| vec![corpus]);
            (files.questions, if given.is_empty() { own } else { Some(given.clone()) })
        });
        return Ok(with_corpus.collect());
    }
    let questions = &arguments.questions;
    let corpus_of = |place: usize| match (questions.len(), given.len()) {
        (_, 0) => None,
        (1, _) | (_, 1) => Some(given.clone()),
        _ => given.get(place).filter(|path| path.as_os_str() != "-").map(|path| vec![path.clone()]),
    };
    ensure!(
        questions.len() < 2 || given.len() < 2 || given.len() == questions.len(),
        "{} files of questions and {} corpora: give one for all, or one for each (`-` for none)",
        questions.len(),
        given.len()
    );
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

/// A method with the user's parameters and those in its name, which go before them.
pub(super) fn method(wiring: &Wiring, named: &Named) -> anyhow::Result<Method> {
    let method = wiring.method(&named.method)?;
    let own: Overrides = named
        .overrides
        .clone()
        .try_into()
        .with_context(|| format!("`{}` has a parameter that is not known", named.label))?;
    Ok(method.with(&Overrides { hops: wiring.hops(), layers: wiring.searches().layers, ..own }))
}
