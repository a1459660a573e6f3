//! Checks whether a base is intact: the database by its own checks, derived indexes against the
//! database. A repair rebuilds only derived data.

mod finding;

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use pikerag_knowledge::StoreError;
use rusqlite::Connection;

pub use self::finding::{CheckFact, Finding, Health, Part};
use super::backup::{faults, is_damage};
use super::base::Base;
use super::codes::{SavedCodes, set_name, sets};
use super::counters::{TEXT_GENERATION, UNFINISHED, counter};
use super::forget::Overwriting;
use super::inner::{DATABASE, Inner};
use super::{claims, rows};
use crate::error::{BaseProblem, Context};
use crate::fulltext::{Access, FullText, SEARCHING, WRITING, folder_of, lock_in, unless_damaged};

impl Base {
    /// Checks all parts, in a fixed order. With `repair`, it rebuilds damaged derived data: indexes
    /// of the database, full text, codes. It never touches documents or paid replies.
    ///
    /// # Errors
    /// A part cannot be checked or rebuilt; [`crate::BaseProblem::Busy`] if another process has it.
    pub async fn check(&self, repair: Repair) -> Result<Vec<Finding>, StoreError> {
        let inner = self.inner.clone();
        tokio::task::spawn_blocking(move || inner.check(repair))
            .await
            .context("checking the base")?
    }
}

/// Whether damaged parts are rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Only check.
    No,
    /// Rebuild damaged parts.
    Yes,
}

/// The state of a part, with a description.
enum PartState {
    Sound(CheckFact),
    Behind(CheckFact),
    Damaged(CheckFact),
}

impl Inner {
    fn check(&self, repair: Repair) -> Result<Vec<Finding>, StoreError> {
        let mut findings = vec![
            self.part(
                &Part::Database,
                repair,
                &Self::check_database,
                Some(&Self::rebuild_indexes),
            )?,
            self.part(&Part::Texts, repair, &Self::check_texts, None)?,
            self.part(&Part::Originals, repair, &Self::check_originals, None)?,
            self.part(
                &Part::FullText,
                repair,
                &Self::check_full_text,
                Some(&|inner| inner.rebuild_text(WRITING).map(drop)),
            )?,
        ];
        for set in sets() {
            let part = Part::Vectors(set_name(set).to_owned());
            let inspect = |inner: &Self| inner.check_codes(set);
            let make = |inner: &Self| inner.rebuild_codes(set);
            findings.push(self.part(&part, repair, &inspect, Some(&make))?);
        }
        let remove: Rebuild<'_> = &Self::remove_leftovers;
        findings.push(self.part(&Part::Leftovers, repair, &Self::check_leftovers, Some(remove))?);
        let finish: Rebuild<'_> = &|inner| match inner.overwrite()? {
            Overwriting::Nothing | Overwriting::Done => Ok(()),
            Overwriting::StillRead => {
                Err(BaseProblem::StillRead { path: inner.folder.join(DATABASE) })
                    .context("overwriting forgotten content")
            }
        };
        findings.push(self.part(
            &Part::Forgetting,
            repair,
            &Self::check_forgetting,
            Some(finish),
        )?);
        Ok(findings)
    }

    fn part(
        &self,
        part: &Part,
        repair: Repair,
        inspect: &dyn Fn(&Self) -> Result<PartState, StoreError>,
        make: Option<Rebuild<'_>>,
    ) -> Result<Finding, StoreError> {
        let found = |state, repaired| {
            let (health, fact) = match state {
                PartState::Sound(fact) => (Health::Sound, fact),
                PartState::Behind(fact) => (Health::Behind, fact),
                PartState::Damaged(fact) => (Health::Damaged, fact),
            };
            Finding {
                part: part.clone(),
                health,
                says: fact.to_string(),
                fact,
                repaired: repaired && health == Health::Sound,
            }
        };
        // Damage that prevents reading one part does not stop the check of the others.
        let inspect = || match inspect(self) {
            Err(error) if is_damage(&error) => {
                Ok(PartState::Damaged(CheckFact::Faults { faults: vec![root_of(&error)] }))
            }
            inspected => inspected,
        };
        let first = inspect()?;
        match (&first, make) {
            (PartState::Damaged(_), Some(make)) if repair == Repair::Yes => match make(self) {
                Err(error) if is_damage(&error) => Ok(found(first, false)),
                Err(error) => Err(error),
                Ok(()) => Ok(found(inspect()?, true)),
            },
            _ => Ok(found(first, false)),
        }
    }

    fn check_database(&self) -> Result<PartState, StoreError> {
        let doing = "checking the database";
        let faults = self.with_reader(|connection| faults(connection).context(doing))?;
        if !faults.is_empty() {
            return Ok(PartState::Damaged(CheckFact::Faults { faults }));
        }
        let sql = "SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM calls), (SELECT count(*) FROM runs)";
        let counted = self.with_reader(|connection| {
            let count = |row: &rusqlite::Row<'_>| {
                Ok((rows::size(row, 0)?, rows::size(row, 1)?, rows::size(row, 2)?))
            };
            connection.query_row(sql, [], count).context(doing)
        })?;
        let (chunks, calls, runs) = counted;
        Ok(PartState::Sound(CheckFact::Counts { chunks, calls, runs }))
    }

    /// The database's own indexes are derived from its tables, so they can be rebuilt.
    fn rebuild_indexes(&self) -> Result<(), StoreError> {
        self.transaction("rebuilding the indexes of the database", |tx| tx.execute_batch("REINDEX"))
    }

    /// Each document's text must match its hash, and each chunk's text must equal its span of the
    /// document.
    fn check_texts(&self) -> Result<PartState, StoreError> {
        let doing = "checking the texts";
        self.with_reader(|connection| {
            let mut sources =
                connection.prepare("SELECT id, hash, text FROM sources").context(doing)?;
            let mut chunks = connection
                .prepare("SELECT text, span_start, span_end FROM chunks WHERE source = ?1")
                .context(doing)?;
            let mut rows = sources.query([]).context(doing)?;
            let (mut documents, mut damaged) = (0, 0);
            while let Some(row) = rows.next().context(doing)? {
                let (id, hash): (i64, String) =
                    row.get(0).and_then(|id| Ok((id, row.get(1)?))).context(doing)?;
                let text = row.get_ref(2).and_then(|it| Ok(it.as_bytes()?)).context(doing)?;
                let mut is_sound = blake3::hash(text).to_hex().as_str() == hash;
                let mut parts = chunks.query([id]).context(doing)?;
                while let Some(part) = parts.next().context(doing)? {
                    let span =
                        rows::size(part, 1).context(doing)?..rows::size(part, 2).context(doing)?;
                    let chunk_text =
                        part.get_ref(0).and_then(|it| Ok(it.as_bytes()?)).context(doing)?;
                    is_sound &= text.get(span) == Some(chunk_text);
                }
                documents += 1;
                damaged += usize::from(!is_sound);
            }
            Ok(match damaged {
                0 => PartState::Sound(CheckFact::Documents { documents }),
                _ => PartState::Damaged(CheckFact::ChangedDocuments { damaged, documents }),
            })
        })
    }

    fn check_originals(&self) -> Result<PartState, StoreError> {
        let doing = "checking the originals";
        self.with_reader(|connection| {
            let mut statement =
                connection.prepare("SELECT hash, length, bytes FROM originals").context(doing)?;
            let mut rows = statement.query([]).context(doing)?;
            let (mut originals, mut damaged) = (0, 0);
            while let Some(row) = rows.next().context(doing)? {
                let hash: String = row.get(0).context(doing)?;
                let length = rows::size(row, 1).context(doing)?;
                let bytes = row.get_ref(2).and_then(|it| Ok(it.as_blob()?)).context(doing)?;
                let is_sound =
                    bytes.len() == length && blake3::hash(bytes).to_hex().as_str() == hash;
                originals += 1;
                damaged += usize::from(!is_sound);
            }
            Ok(match damaged {
                0 => PartState::Sound(CheckFact::Originals { originals }),
                _ => PartState::Damaged(CheckFact::ChangedOriginals { damaged, originals }),
            })
        })
    }

    fn check_full_text(&self) -> Result<PartState, StoreError> {
        let access = if self.writer.is_some() { Access::Write } else { Access::Read };
        if !folder_of(&self.folder).exists() {
            return Ok(PartState::Behind(CheckFact::NotBuilt));
        }
        // No other process may commit between the two comparisons.
        let _lock = match access {
            Access::Write => Some(lock_in(&self.folder, SEARCHING)?),
            Access::Read => None,
        };
        let Some(index) = FullText::opened(&self.folder, access)? else {
            return Ok(PartState::Damaged(CheckFact::NotOpened));
        };
        let damaged = index.damaged()?;
        if !damaged.is_empty() {
            let names = damaged.iter().filter_map(|path| path.file_name());
            let files = names.map(|name| name.to_string_lossy().into_owned()).collect();
            return Ok(PartState::Damaged(CheckFact::WrongChecksum { files }));
        }
        let doing = "checking full text";
        let (generation, wanted) = self.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction().context(doing)?;
            let generation = counter(&snapshot, TEXT_GENERATION).context(doing)?;
            Ok((generation, searchable(&snapshot).context(doing)?))
        })?;
        if index.stamp()? != self.stamp(generation) {
            return Ok(PartState::Behind(CheckFact::Behind));
        }
        let Some(held) = unless_damaged(index.chunks())? else {
            return Ok(PartState::Damaged(CheckFact::NotRead));
        };
        if held != wanted {
            let (missing, more) =
                (wanted.difference(&held).count(), held.difference(&wanted).count());
            return Ok(PartState::Damaged(CheckFact::OtherChunks { missing, more }));
        }
        Ok(PartState::Sound(CheckFact::Chunks { chunks: held.len() }))
    }

    fn check_codes(&self, set: pikerag_knowledge::VectorSet) -> Result<PartState, StoreError> {
        self.with_reader(|connection| {
            let doing = "checking vector codes";
            let snapshot = connection.unchecked_transaction().context(doing)?;
            Ok(match self.saved_codes(&snapshot, set)? {
                SavedCodes::Absent => PartState::Behind(CheckFact::NotBuilt),
                SavedCodes::Stale => PartState::Behind(CheckFact::Behind),
                SavedCodes::Damaged => {
                    PartState::Damaged(CheckFact::WrongChecksum { files: Vec::new() })
                }
                SavedCodes::Wrong => PartState::Damaged(CheckFact::OtherVectors),
                SavedCodes::Sound(vectors) => PartState::Sound(CheckFact::Vectors { vectors }),
            })
        })
    }

    fn check_leftovers(&self) -> Result<PartState, StoreError> {
        let files: Vec<String> =
            self.leftovers()?.iter().map(|path| path.display().to_string()).collect();
        Ok(match files.is_empty() {
            true => PartState::Sound(CheckFact::NoLeftovers),
            false => PartState::Damaged(CheckFact::Leftovers { files }),
        })
    }

    /// Drafts of dead processes, and indexes of earlier versions. Files with other names stay,
    /// because the folder may hold the user's own. A draft that is renamed in the meantime does not
    /// count.
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

    fn check_forgetting(&self) -> Result<PartState, StoreError> {
        let unfinished = self.with_reader(|connection| {
            counter(connection, UNFINISHED).context("checking for forgotten content")
        })?;
        Ok(match unfinished {
            0 => PartState::Sound(CheckFact::NothingToOverwrite),
            _ => PartState::Damaged(CheckFact::NotOverwritten),
        })
    }
}

/// The message of an error's first cause.
fn root_of(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root_of)
}

/// Whether a file is a draft or probe of ours whose process is gone.
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

/// Rebuilds a part.
type Rebuild<'a> = &'a dyn Fn(&Inner) -> Result<(), StoreError>;

fn searchable(connection: &Connection) -> rusqlite::Result<BTreeSet<u64>> {
    connection
        .prepare(&format!("SELECT c.id FROM chunks c WHERE {}", rows::SEARCHABLE))?
        .query_map([], |row| rows::id(row, 0))?
        .collect()
}
