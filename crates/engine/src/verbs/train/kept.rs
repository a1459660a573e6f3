//! Stores trajectories in a folder, so that a later run continues it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use pikerag_train::{Params, TrainError, Trajectory};
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
}

/// What made the trajectories of a folder. Trajectories of other settings need another folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The hash of the file of questions.
    pub(super) questions: String,
    pub(super) from: TrainFrom,
    pub(super) params: Params,
    /// The models by role; empty where none is asked.
    pub(super) models: BTreeMap<String, String>,
    pub(super) embedder: Option<String>,
    /// δ and δ′, as set or calibrated.
    pub(super) thresholds: Option<(f32, f32)>,
    /// US dollars per million tokens of prompts and of replies of the answering model, if known.
    pub(super) price: Option<(f64, f64)>,
}

/// The trajectories of a folder, in memory and on disk.
pub(super) struct Kept {
    pub(super) all: Vec<Trajectory>,
    /// The number of trajectories of earlier runs, which come first.
    pub(super) earlier: usize,
    path: PathBuf,
    file: fs::File,
}

impl Kept {
    /// Opens a folder, or makes it. A line that a killed run left unfinished is removed, and failed attempts are
    /// made again.
    pub(super) fn open(folder: &Path, header: &Header, is_fresh: bool) -> Result<Self> {
        let not_written = |path: &Path| {
            let path = path.to_owned();
            |source| EngineError::NotWritten { path, source }
        };
        fs::create_dir_all(folder).map_err(not_written(folder))?;
        let (path, settings) = (trajectories(folder), folder.join("collection.json"));
        if is_fresh && path.exists() {
            fs::remove_file(&path).map_err(not_written(&path))?;
        }
        let before = fs::read(&settings).ok().filter(|_| path.exists());
        if let Some(before) = before.and_then(|text| serde_json::from_slice::<Header>(&text).ok())
            && let Some(what) = differs(&before, header)
        {
            return Err(EngineError::OtherRun { folder: folder.to_owned(), what });
        }
        let text = serde_json::to_vec_pretty(header)?;
        fs::write(&settings, text).map_err(not_written(&settings))?;
        let mut all = if path.exists() { read(&path)? } else { Vec::new() };
        all.retain(|trajectory| trajectory.failed.is_none());
        let mut whole = String::new();
        for trajectory in &all {
            whole += &serde_json::to_string(trajectory)?;
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

    /// Adds trajectories; they are on disk when it returns.
    pub(super) fn keep(&mut self, made: Vec<Trajectory>) -> Result<()> {
        let mut lines = String::new();
        for trajectory in &made {
            lines += &serde_json::to_string(trajectory)?;
            lines.push('\n');
        }
        let path = self.path.clone();
        let not_written = |source| EngineError::NotWritten { path, source };
        self.file.write_all(lines.as_bytes()).map_err(not_written)?;
        self.all.extend(made);
        Ok(())
    }
}

pub(super) fn trajectories(folder: &Path) -> PathBuf {
    folder.join("trajectories.jsonl")
}

/// The trajectories of a file. An unfinished last line is left out.
pub(super) fn read(path: &Path) -> Result<Vec<Trajectory>> {
    let unreadable = |source| TrainError::Unreadable { path: path.to_owned(), source };
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let mut all = Vec::new();
    for (line, json) in (1..).zip(text.split_inclusive('\n')) {
        match serde_json::from_str(json) {
            Ok(trajectory) => all.push(trajectory),
            Err(_) if !json.ends_with('\n') => {}
            Err(source) => {
                let path = path.to_owned();
                return Err(TrainError::NotATrajectory { path, line, source }.into());
            }
        }
    }
    Ok(all)
}

/// What differs between two collections, if anything does.
fn differs(before: &Header, now: &Header) -> Option<&'static str> {
    if before.questions != now.questions {
        return Some("questions");
    }
    if before.models != now.models || before.embedder != now.embedder {
        return Some("models");
    }
    let same =
        (before.from, before.params, before.thresholds) == (now.from, now.params, now.thresholds);
    (!same).then_some("parameters")
}
