//! Defines the rules that decide which files `index` takes from folders.

use super::file::IndexTable;
use super::{RefusedValue, SettingsError};
use crate::globs::{BadGlob, FileGlob};

/// The rules that decide which files `index` takes from a folder. Globs are relative to the named
/// folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChoice {
    /// Files to take that would be left out.
    pub include: Vec<FileGlob>,
    /// Files and folders to leave out. They count before `include`.
    pub exclude: Vec<FileGlob>,
    /// Whether source code is taken.
    pub source_code: bool,
}

impl FileChoice {
    /// These rules with those of a request.
    #[must_use]
    pub(crate) fn with(&self, request: &Self) -> Self {
        Self {
            include: [self.include.as_slice(), request.include.as_slice()].concat(),
            exclude: [self.exclude.as_slice(), request.exclude.as_slice()].concat(),
            source_code: self.source_code || request.source_code,
        }
    }
}

pub(super) fn choice(index: &IndexTable) -> Result<FileChoice, SettingsError> {
    Ok(FileChoice {
        include: globs("index.include", &index.include)?,
        exclude: globs("index.exclude", &index.exclude)?,
        source_code: index.source_code,
    })
}

fn globs(key: &str, globs: &[String]) -> Result<Vec<FileGlob>, SettingsError> {
    let parsed = globs.iter().map(|glob| glob.parse::<FileGlob>());
    parsed.collect::<Result<_, _>>().map_err(|BadGlob { glob, reason }| SettingsError::Refused {
        key: key.to_owned(),
        reason: RefusedValue::NoGlob { glob, reason },
    })
}
