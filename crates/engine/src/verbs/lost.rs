//! Finds the files on record that are not visible on disk.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use pikerag_indexing::FileError;
use pikerag_knowledge::FileRecord;
use pikerag_knowledge::uri::is_relation;
use serde::Serialize;
use utoipa::ToSchema;

use crate::names::Names;
use crate::presence::{Presence, UnclearReason};
use crate::words::chinese_chain;

/// Files of the base that are not visible, and stay because they may still exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Unseen)]
pub struct UnclearFiles {
    /// The folder that proves nothing about them.
    #[schema(value_type = String)]
    pub folder: PathBuf,
    /// The number of files.
    pub files: usize,
    /// The reason why it proves nothing.
    #[schema(value_type = String)]
    pub why: UnclearReason,
    /// A short name of the reason, stable across versions.
    pub code: &'static str,
    /// The reason in Chinese.
    pub why_zh: String,
}

/// Files on record that are not visible on disk.
#[derive(Default)]
pub(super) struct Lost {
    /// Files that are certainly gone, by name.
    pub(super) gone: Vec<String>,
    /// Files that may still exist, by the folder that proves nothing about them.
    unclear: BTreeMap<PathBuf, (Vec<String>, UnclearReason)>,
}

impl Lost {
    /// Looks for all files on record, except those in `there`, which certainly exist.
    pub(super) fn of(names: &Names, there: &[String]) -> Self {
        let there: HashSet<&String> = there.iter().collect();
        let (mut lost, mut disk) = (Self::default(), names.disk());
        // Whether a table still exists is known only while its database is read.
        let may_be_lost =
            |file: &&FileRecord| !there.contains(&file.path) && !is_relation(&file.path);
        for file in names.records().iter().filter(may_be_lost) {
            let presence = match names.unclear_reason(&file.path) {
                Some(reason) => Presence::Unclear(names.root().to_owned(), reason),
                None => disk.presence_of(&names.place(&file.path)),
            };
            match presence {
                Presence::There => {}
                Presence::Gone => lost.gone.push(file.path.clone()),
                Presence::Unclear(folder, why) => {
                    let held = lost.unclear.entry(folder).or_insert((Vec::new(), why));
                    held.0.push(file.path.clone());
                }
            }
        }
        lost
    }

    /// The files that may still exist, counted by folder.
    pub(super) fn unclear_files(&self) -> Vec<UnclearFiles> {
        let counted = self.unclear.iter().map(|(folder, (files, why))| UnclearFiles {
            folder: folder.clone(),
            files: files.len(),
            code: why.code(),
            why_zh: chinese_chain(why),
            why: why.clone(),
        });
        counted.collect()
    }

    /// A folder that the user named and that does not exist proves nothing about its files.
    pub(super) fn mark_missing_unclear(
        &mut self,
        names: &Names,
        paths: &[PathBuf],
        left_out: &mut Vec<(String, FileError)>,
    ) {
        for path in paths {
            let folder = names.absolute(path);
            let below = names.under(std::slice::from_ref(path));
            if below.is_empty() || !matches!(folder.try_exists(), Ok(false)) {
                continue;
            }
            let name = names.shown(&folder);
            left_out.retain(|(file, _)| *file != name);
            if below.iter().any(|file| file.path == name) {
                // The path is a file, so its folder decides.
                continue;
            }
            let below: HashSet<&String> = below.into_iter().map(|file| &file.path).collect();
            let (unclear, rest) = self.gone.drain(..).partition(|file| below.contains(file));
            self.gone = rest;
            if !Vec::is_empty(&unclear) {
                self.unclear.insert(folder, (unclear, UnclearReason::Missing));
            }
        }
    }

    /// Removes and returns the files that are certainly gone.
    pub(super) fn take_certain(&mut self, below: &HashSet<String>) -> Vec<String> {
        let (pruned, rest) = self.gone.drain(..).partition(|file| below.contains(file));
        self.gone = rest;
        pruned
    }

    pub(super) fn only_unclear_of(&mut self, below: &HashSet<String>) {
        for (files, _) in self.unclear.values_mut() {
            files.retain(|file| below.contains(file));
        }
        self.unclear.retain(|_, (files, _)| !files.is_empty());
    }

    /// Removes files that are no longer in the base under this name.
    pub(super) fn forget<'a>(&mut self, moved: impl Iterator<Item = &'a String>) {
        let moved: HashSet<&String> = moved.collect();
        self.gone.retain(|file| !moved.contains(file));
        for (files, _) in self.unclear.values_mut() {
            files.retain(|file| !moved.contains(file));
        }
        self.unclear.retain(|_, (files, _)| !files.is_empty());
    }
}
