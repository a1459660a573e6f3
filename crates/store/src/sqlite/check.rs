//! Is the base whole? The database after its own checks; what is derived from it, against it. Only that is
//! ever made again.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use pikerag_knowledge::StoreError;
use rusqlite::Connection;
use serde::Serialize;

use super::backup::{faults, is_damage};
use super::base::Base;
use super::codes::{SavedCodes, set_name, sets};
use super::counters::{TEXT_GENERATION, UNFINISHED, counter};
use super::forget::Overwriting;
use super::inner::{DATABASE, Inner};
use super::{claims, rows};
use crate::error::{BaseProblem, Context};
use crate::fulltext::{Access, FullText, SEARCHING, WRITING, folder_of, turn_in, unless_damaged};

/// A part of a base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The database, which holds all.
    Database,
    /// The texts of documents and chunks.
    Texts,
    /// The bytes of the files that were read.
    Originals,
    /// Full text, derived.
    FullText,
    /// Codes of a set of vectors, derived.
    Vectors(String),
    /// What earlier versions and processes that died left behind.
    Leftovers,
    /// What was to be forgotten.
    Forgetting,
}

/// How a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// As it should be.
    Sound,
    /// Derived, and not made yet or behind: the next search makes it.
    Behind,
    /// Something is wrong with it.
    Damaged,
}

/// What was found of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The part.
    pub part: Part,
    /// How it is; after the repair, where it was repaired.
    pub health: Health,
    /// What there is, or what is wrong with it.
    pub says: String,
    /// Whether it was damaged and is not any more.
    pub repaired: bool,
}

impl Base {
    /// Looks at all parts, in a fixed order. With `repair`, what is derived from the database is made again where
    /// it is damaged: indexes of the database, full text, codes. What was read or paid for is never touched.
    ///
    /// # Errors
    /// A part cannot be looked at, or not be made again; [`crate::BaseProblem::Busy`] where another process is
    /// at it.
    pub async fn check(&self, repair: Repair) -> Result<Vec<Finding>, StoreError> {
        let inner = self.inner.clone();
        tokio::task::spawn_blocking(move || inner.check(repair))
            .await
            .context("checking the base")?
    }
}

/// Whether what is damaged is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Only looked at.
    No,
    /// Made again.
    Yes,
}

/// What is wrong; `Err` of the words where something is.
enum Look {
    Sound(String),
    Behind(String),
    Damaged(String),
}

impl Inner {
    fn check(&self, repair: Repair) -> Result<Vec<Finding>, StoreError> {
        let mut findings = vec![
            self.part(&Part::Database, repair, &Self::look_at_database, Some(&Self::make_indexes))?,
            self.part(&Part::Texts, repair, &Self::look_at_texts, None)?,
            self.part(&Part::Originals, repair, &Self::look_at_originals, None)?,
            self.part(
                &Part::FullText,
                repair,
                &Self::look_at_text,
                Some(&|inner| inner.make_text(WRITING).map(drop)),
            )?,
        ];
        for set in sets() {
            let part = Part::Vectors(set_name(set).to_owned());
            let look = |inner: &Self| inner.look_at_codes(set);
            let make = |inner: &Self| inner.make_codes(set);
            findings.push(self.part(&part, repair, &look, Some(&make))?);
        }
        let remove: Making<'_> = &Self::remove_leftovers;
        findings.push(self.part(
            &Part::Leftovers,
            repair,
            &Self::look_at_leftovers,
            Some(remove),
        )?);
        let finish: Making<'_> = &|inner| match inner.overwrite()? {
            Overwriting::Nothing | Overwriting::Done => Ok(()),
            Overwriting::StillRead => {
                Err(BaseProblem::StillRead { path: inner.folder.join(DATABASE) })
                    .context("overwriting what was forgotten")
            }
        };
        findings.push(self.part(
            &Part::Forgetting,
            repair,
            &Self::look_at_forgetting,
            Some(finish),
        )?);
        Ok(findings)
    }

    fn part(
        &self,
        part: &Part,
        repair: Repair,
        look: &dyn Fn(&Self) -> Result<Look, StoreError>,
        make: Option<Making<'_>>,
    ) -> Result<Finding, StoreError> {
        let found = |look, repaired| {
            let (health, says) = match look {
                Look::Sound(says) => (Health::Sound, says),
                Look::Behind(says) => (Health::Behind, says),
                Look::Damaged(says) => (Health::Damaged, says),
            };
            Finding {
                part: part.clone(),
                health,
                says,
                repaired: repaired && health == Health::Sound,
            }
        };
        // A part that cannot be read for damage keeps no other from being looked at.
        let look = || match look(self) {
            Err(error) if is_damage(&error) => Ok(Look::Damaged(root_of(&error))),
            looked => looked,
        };
        let first = look()?;
        match (&first, make) {
            (Look::Damaged(_), Some(make)) if repair == Repair::Yes => match make(self) {
                Err(error) if is_damage(&error) => Ok(found(first, false)),
                Err(error) => Err(error),
                Ok(()) => Ok(found(look()?, true)),
            },
            _ => Ok(found(first, false)),
        }
    }

    fn look_at_database(&self) -> Result<Look, StoreError> {
        let doing = "checking the database";
        let faults = self.with_reader(|connection| faults(connection).context(doing))?;
        if !faults.is_empty() {
            return Ok(Look::Damaged(faults.join("; ")));
        }
        let sql = "SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM calls), (SELECT count(*) FROM runs)";
        let counted = self.with_reader(|connection| {
            let count = |row: &rusqlite::Row<'_>| {
                Ok((rows::size(row, 0)?, rows::size(row, 1)?, rows::size(row, 2)?))
            };
            connection.query_row(sql, [], count).context(doing)
        })?;
        let (chunks, calls, runs) = counted;
        Ok(Look::Sound(format!("{chunks} chunks, {calls} calls on record, {runs} runs")))
    }

    /// The database's own indexes are derived from its tables.
    fn make_indexes(&self) -> Result<(), StoreError> {
        self.transaction("making the indexes of the database again", |tx| {
            tx.execute_batch("REINDEX")
        })
    }

    /// A document's text has its hash, and a chunk's text is what its document has there.
    fn look_at_texts(&self) -> Result<Look, StoreError> {
        let doing = "checking the texts";
        self.with_reader(|connection| {
            let mut sources =
                connection.prepare("SELECT id, hash, text FROM sources").context(doing)?;
            let mut chunks = connection
                .prepare("SELECT text, span_start, span_end FROM chunks WHERE source = ?1")
                .context(doing)?;
            let mut rows = sources.query([]).context(doing)?;
            let (mut read, mut damaged) = (0, 0);
            while let Some(row) = rows.next().context(doing)? {
                let (id, hash): (i64, String) =
                    row.get(0).and_then(|id| Ok((id, row.get(1)?))).context(doing)?;
                let text = row.get_ref(2).and_then(|it| Ok(it.as_bytes()?)).context(doing)?;
                let mut is_sound = blake3::hash(text).to_hex().as_str() == hash;
                let mut parts = chunks.query([id]).context(doing)?;
                while let Some(part) = parts.next().context(doing)? {
                    let span =
                        rows::size(part, 1).context(doing)?..rows::size(part, 2).context(doing)?;
                    let said = part.get_ref(0).and_then(|it| Ok(it.as_bytes()?)).context(doing)?;
                    is_sound &= text.get(span) == Some(said);
                }
                read += 1;
                damaged += usize::from(!is_sound);
            }
            Ok(match damaged {
                0 => Look::Sound(format!("{read} documents")),
                _ => Look::Damaged(format!(
                    "{damaged} of {read} documents are not as they were read"
                )),
            })
        })
    }

    fn look_at_originals(&self) -> Result<Look, StoreError> {
        let doing = "checking the originals";
        self.with_reader(|connection| {
            let mut statement =
                connection.prepare("SELECT hash, length, bytes FROM originals").context(doing)?;
            let mut rows = statement.query([]).context(doing)?;
            let (mut kept, mut damaged) = (0, 0);
            while let Some(row) = rows.next().context(doing)? {
                let hash: String = row.get(0).context(doing)?;
                let length = rows::size(row, 1).context(doing)?;
                let bytes = row.get_ref(2).and_then(|it| Ok(it.as_blob()?)).context(doing)?;
                let is_sound =
                    bytes.len() == length && blake3::hash(bytes).to_hex().as_str() == hash;
                kept += 1;
                damaged += usize::from(!is_sound);
            }
            Ok(match damaged {
                0 => Look::Sound(format!("{kept} kept")),
                _ => Look::Damaged(format!("{damaged} of {kept} are not the bytes that were read")),
            })
        })
    }

    fn look_at_text(&self) -> Result<Look, StoreError> {
        let access = if self.writer.is_some() { Access::Write } else { Access::Read };
        if !folder_of(&self.folder).exists() {
            return Ok(Look::Behind("not made yet".to_owned()));
        }
        // Nobody may commit between the two looks.
        let _turn = match access {
            Access::Write => Some(turn_in(&self.folder, SEARCHING)?),
            Access::Read => None,
        };
        let Some(index) = FullText::opened(&self.folder, access)? else {
            return Ok(Look::Damaged("it cannot be opened".to_owned()));
        };
        let damaged = index.damaged()?;
        if !damaged.is_empty() {
            let names = damaged.iter().filter_map(|path| path.file_name());
            let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
            return Ok(Look::Damaged(format!("wrong checksum: {}", names.join(", "))));
        }
        let doing = "checking full text";
        let (generation, wanted) = self.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction().context(doing)?;
            let generation = counter(&snapshot, TEXT_GENERATION).context(doing)?;
            Ok((generation, searchable(&snapshot).context(doing)?))
        })?;
        if index.stamp()? != self.stamp(generation) {
            return Ok(Look::Behind("behind the database".to_owned()));
        }
        let Some(held) = unless_damaged(index.chunks())? else {
            return Ok(Look::Damaged("it cannot be read".to_owned()));
        };
        if held != wanted {
            let (missing, more) =
                (wanted.difference(&held).count(), held.difference(&wanted).count());
            return Ok(Look::Damaged(format!("{missing} chunks are missing, {more} are too many")));
        }
        Ok(Look::Sound(format!("{} chunks", held.len())))
    }

    fn look_at_codes(&self, set: pikerag_knowledge::VectorSet) -> Result<Look, StoreError> {
        self.with_reader(|connection| {
            let doing = "checking vector codes";
            let snapshot = connection.unchecked_transaction().context(doing)?;
            Ok(match self.saved_codes(&snapshot, set)? {
                SavedCodes::Absent => Look::Behind("not made yet".to_owned()),
                SavedCodes::Stale => Look::Behind("behind the database".to_owned()),
                SavedCodes::Damaged => Look::Damaged("wrong checksum".to_owned()),
                SavedCodes::Wrong => Look::Damaged("not those of the database".to_owned()),
                SavedCodes::Sound(vectors) => Look::Sound(format!("{vectors} vectors")),
            })
        })
    }

    fn look_at_leftovers(&self) -> Result<Look, StoreError> {
        let left: Vec<String> =
            self.leftovers()?.iter().map(|path| path.display().to_string()).collect();
        Ok(match left.is_empty() {
            true => Look::Sound("none".to_owned()),
            false => Look::Damaged(left.join(", ")),
        })
    }

    /// Drafts of processes that died, and indexes of earlier versions; nothing that is called otherwise than ours,
    /// for the folder may be somebody's. A draft that gets its name meanwhile is none.
    pub(super) fn leftovers(&self) -> Result<Vec<PathBuf>, StoreError> {
        let doing = "listing the folder of the base";
        let text = folder_of(&self.folder);
        let mut left = Vec::new();
        for entry in fs::read_dir(&self.folder).context(doing)? {
            let entry = entry.context(doing)?;
            let (path, name) = (entry.path(), entry.file_name());
            let Some(name) = name.to_str() else { continue };
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error).context(doing),
            };
            let version = name.strip_prefix("fulltext-v");
            let is_older = version.is_some_and(is_number) && path != text;
            if kind.is_file() && is_draft(name) || kind.is_dir() && is_older {
                left.push(path);
            }
        }
        left.sort();
        Ok(left)
    }

    pub(super) fn remove_leftovers(&self) -> Result<(), StoreError> {
        for path in self.leftovers()? {
            let removed =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            if let Err(error) = removed
                && error.kind() != ErrorKind::NotFound
            {
                return Err(error).context(&format!("removing {}", path.display()));
            }
        }
        Ok(())
    }

    fn look_at_forgetting(&self) -> Result<Look, StoreError> {
        let unfinished = self.with_reader(|connection| {
            counter(connection, UNFINISHED).context("reading what is to be forgotten")
        })?;
        Ok(match unfinished {
            0 => Look::Sound("nothing is left to overwrite".to_owned()),
            _ => Look::Damaged("what was forgotten is not overwritten yet".to_owned()),
        })
    }
}

/// What an error comes from.
fn root_of(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root_of)
}

/// Whether it is a draft of ours, or a probe, of a process that is gone.
fn is_draft(name: &str) -> bool {
    let stem = DATABASE.trim_end_matches(".sqlite");
    let drafts = sets().map(|set| format!("{}.draft", set_name(set)));
    let mut ours = drafts.chain([format!("{DATABASE}.draft"), format!("{stem}.probe")]);
    let process = ours.find_map(|it| name.strip_prefix(it.as_str()).filter(|rest| is_number(rest)));
    process.and_then(|number| number.parse().ok()).is_some_and(claims::is_gone)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Makes a part again.
type Making<'a> = &'a dyn Fn(&Inner) -> Result<(), StoreError>;

fn searchable(connection: &Connection) -> rusqlite::Result<BTreeSet<u64>> {
    connection
        .prepare(&format!("SELECT c.id FROM chunks c WHERE {}", rows::SEARCHABLE))?
        .query_map([], |row| rows::id(row, 0))?
        .collect()
}
