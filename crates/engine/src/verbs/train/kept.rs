//! Stores trajectories or labels in a folder, so that a later run continues it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use pikerag_knowledge::Role;
use pikerag_train::label::{LabelParams, Labelled};
use pikerag_train::lines::{LABELS, TRAJECTORIES, read_lines};
use pikerag_train::{Params, Trajectory};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{EngineError, Result};

/// The source of trajectories.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum TrainFrom {
    /// A model attempts each question over the base.
    #[default]
    Model,
    /// The decompositions that the file of questions gives (`MuSiQue`); no model is called.
    DataSet,
    /// The runs that the base keeps; feedback decides which are right, and the file of questions if there is one. A
    /// model only answers sub-questions that a run did not answer.
    Runs,
}

/// What made the trajectories of a folder. Trajectories of other settings need another folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The hash of the file of questions; empty without one.
    pub(super) questions: String,
    pub(super) from: TrainFrom,
    pub(super) params: Params,
    /// The models by role; empty where none is asked.
    pub(super) models: BTreeMap<String, String>,
    pub(super) embedder: Option<String>,
    /// δ and δ′, as set or calibrated.
    pub(super) thresholds: Option<(f32, f32)>,
    /// US dollars per million tokens of prompts and of replies by role, where known.
    #[serde(default)]
    pub(super) prices: BTreeMap<Role, (f64, f64)>,
}

/// What made the labels of a folder. Labels of other settings need another folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LabelHeader {
    /// The hash of the file of questions.
    pub(super) questions: String,
    pub(super) params: LabelParams,
    /// The models by role.
    pub(super) models: BTreeMap<String, String>,
    pub(super) embedder: Option<String>,
    /// US dollars per million tokens of prompts and of replies by role, where known.
    pub(super) prices: BTreeMap<Role, (f64, f64)>,
}

/// A line of a folder: what one question or one attempt gave.
pub(super) trait Line: Serialize + DeserializeOwned {
    /// The file of the lines.
    const FILE: &'static str;
    /// The file of what made them.
    const SETTINGS: &'static str;
    type Header: Serialize + DeserializeOwned;

    /// Whether it ended with an error, so that the next run tries it again.
    fn is_failed(&self) -> bool;

    /// What differs between two headers, if anything does.
    fn differs(before: &Self::Header, now: &Self::Header) -> Option<&'static str>;
}

impl Line for Trajectory {
    const FILE: &'static str = TRAJECTORIES;
    const SETTINGS: &'static str = "collection.json";
    type Header = Header;

    fn is_failed(&self) -> bool {
        self.failed.is_some()
    }

    fn differs(before: &Header, now: &Header) -> Option<&'static str> {
        if before.questions != now.questions {
            return Some("questions");
        }
        // Runs can be collected without a model, and later ones with it.
        let had_none = now.from == TrainFrom::Runs && before.models.is_empty();
        if !had_none && (before.models != now.models || before.embedder != now.embedder) {
            return Some("models");
        }
        let same = (before.from, before.params, before.thresholds)
            == (now.from, now.params, now.thresholds);
        (!same).then_some("parameters")
    }
}

impl Line for Labelled {
    const FILE: &'static str = LABELS;
    const SETTINGS: &'static str = "labelling.json";
    type Header = LabelHeader;

    fn is_failed(&self) -> bool {
        self.failed.is_some()
    }

    fn differs(before: &LabelHeader, now: &LabelHeader) -> Option<&'static str> {
        if before.questions != now.questions {
            return Some("questions");
        }
        if before.models != now.models || before.embedder != now.embedder {
            return Some("models");
        }
        (before.params != now.params).then_some("parameters")
    }
}

/// The lines of a folder, in memory and on disk.
pub(super) struct Kept<T> {
    pub(super) all: Vec<T>,
    /// The number of lines of earlier runs, which come first.
    pub(super) earlier: usize,
    path: PathBuf,
    file: fs::File,
}

impl<T: Line> Kept<T> {
    /// Opens a folder, or makes it. A line that a killed run left unfinished is removed, and failed attempts are
    /// made again.
    pub(super) fn open(folder: &Path, settled: &T::Header, is_fresh: bool) -> Result<Self> {
        let not_written = |path: &Path| {
            let path = path.to_owned();
            |source| EngineError::NotWritten { path, source }
        };
        fs::create_dir_all(folder).map_err(not_written(folder))?;
        let (path, settings) = (folder.join(T::FILE), folder.join(T::SETTINGS));
        if is_fresh && path.exists() {
            fs::remove_file(&path).map_err(not_written(&path))?;
        }
        if let Some(before) = header::<T>(folder).filter(|_| path.exists())
            && let Some(what) = T::differs(&before, settled)
        {
            return Err(EngineError::OtherRun { folder: folder.to_owned(), what });
        }
        let text = serde_json::to_vec_pretty(settled)?;
        fs::write(&settings, text).map_err(not_written(&settings))?;
        let mut all: Vec<T> = if path.exists() { read(folder)? } else { Vec::new() };
        all.retain(|line| !line.is_failed());
        let mut whole = String::new();
        for line in &all {
            whole += &serde_json::to_string(line)?;
            whole.push('\n');
        }
        let beside = path.with_extension("jsonl.new");
        fs::write(&beside, whole).map_err(not_written(&beside))?;
        fs::rename(&beside, &path).map_err(not_written(&path))?;
        let file = fs::OpenOptions::new().append(true).open(&path);
        let file = file.map_err(not_written(&path))?;
        let earlier = all.len();
        Ok(Self { all, earlier, path, file })
    }

    /// Adds lines; they are on disk when it returns.
    pub(super) fn keep(&mut self, made: Vec<T>) -> Result<()> {
        let mut lines = String::new();
        for line in &made {
            lines += &serde_json::to_string(line)?;
            lines.push('\n');
        }
        let path = self.path.clone();
        let not_written = |source| EngineError::NotWritten { path, source };
        self.file.write_all(lines.as_bytes()).map_err(not_written)?;
        self.all.extend(made);
        Ok(())
    }
}

/// Whether a folder has lines of this kind.
pub(super) fn holds<T: Line>(folder: &Path) -> bool {
    folder.join(T::FILE).exists()
}

/// The lines of a folder.
pub(super) fn read<T: Line>(folder: &Path) -> Result<Vec<T>> {
    Ok(read_lines(&folder.join(T::FILE))?)
}

/// What made the lines of a folder, if it can be read.
pub(super) fn header<T: Line>(folder: &Path) -> Option<T::Header> {
    let text = fs::read(folder.join(T::SETTINGS)).ok()?;
    serde_json::from_slice(&text).ok()
}
