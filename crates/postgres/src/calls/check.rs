//! Checks whether a base is intact: references between its tables by queries, derived data against
//! the documents. A repair rebuilds only derived data. The server checks its pages itself.

use std::error::Error;

use futures::StreamExt;
use pikerag_knowledge::StoreError;
use pikerag_store::shared::{set_name, sets};
use pikerag_store::{BaseProblem, CheckFact, Finding, Health, Overwriting, Part, Repair};
use tokio_postgres::error::SqlState;

use crate::base::Base;
use crate::error::Context;
use crate::fault::Sql;
use crate::meta::{UNFINISHED, counter};
use crate::rows;
use crate::search::{hnsw, vectors, words};
use crate::tx::{Access, Tx};

/// The number of documents whose texts are compared at a time.
const DOCUMENTS: usize = 32;

const REBUILDING: &str = "rebuilding the indexes of the database";

/// The health of a part, with a description.
type PartState = (Health, CheckFact);

impl Base {
    /// Checks all parts, in a fixed order. With `repair`, it rebuilds damaged derived data: indexes
    /// of the database, words, indexes of vectors. It never touches documents or paid replies.
    ///
    /// # Errors
    /// A part cannot be checked or rebuilt.
    pub async fn check(&self, repair: Repair) -> Result<Vec<Finding>, StoreError> {
        let before = [Part::Database, Part::Texts, Part::Originals, Part::FullText];
        let of_vectors = sets().map(|set| Part::Vectors(set_name(set).to_owned()));
        let parts = before.into_iter().chain(of_vectors);
        let mut findings = Vec::new();
        for part in parts.chain([Part::Leftovers, Part::Forgetting]) {
            findings.push(self.check_part(part, repair).await?);
        }
        Ok(findings)
    }

    async fn check_part(&self, part: Part, repair: Repair) -> Result<Finding, StoreError> {
        let (mut health, mut fact) = self.inspected(&part).await?;
        let mut is_rebuilt = false;
        if health == Health::Damaged && repair == Repair::Yes && is_derived(&part) {
            match self.rebuild(&part).await {
                Err(error) if damage(&error).is_some() => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    (health, fact) = self.inspected(&part).await?;
                    is_rebuilt = health == Health::Sound;
                }
            }
        }
        Ok(Finding { part, health, says: fact.to_string(), fact, repaired: is_rebuilt })
    }

    /// Damage that prevents reading one part does not stop the check of the others.
    async fn inspected(&self, part: &Part) -> Result<PartState, StoreError> {
        let inspected = self.inspect(part).await;
        match inspected.as_ref().err().and_then(damage) {
            Some(fault) => Ok((Health::Damaged, CheckFact::Faults { faults: vec![fault] })),
            None => inspected,
        }
    }

    async fn inspect(&self, part: &Part) -> Result<PartState, StoreError> {
        match part {
            Part::Database => {
                self.reading("checking the database", |tx| async move { database(&tx).await }).await
            }
            Part::Texts => {
                self.reading("checking the texts", |tx| async move { texts(&tx).await }).await
            }
            Part::Originals => {
                self.reading("checking the originals", |tx| async move { originals(&tx).await })
                    .await
            }
            Part::FullText => {
                self.reading("checking full text", |tx| async move { full_text(&tx).await }).await
            }
            Part::Vectors(name) => {
                self.reading("checking vectors", |tx| async move { vectors_of(&tx, name).await })
                    .await
            }
            Part::Leftovers => Ok((Health::Sound, CheckFact::NoLeftovers)),
            Part::Forgetting => {
                self.reading("checking for forgotten content", |tx| async move {
                    Ok(match counter(&tx, UNFINISHED).await? {
                        0 => (Health::Sound, CheckFact::NothingToOverwrite),
                        _ => (Health::Damaged, CheckFact::NotOverwritten),
                    })
                })
                .await
            }
        }
    }

    async fn rebuild(&self, part: &Part) -> Result<(), StoreError> {
        match part {
            Part::Database => self.rebuild_indexes().await,
            Part::FullText => {
                self.writing("rebuilding full text", Access::Documents, |tx| async move {
                    words::rebuild(&tx).await
                })
                .await
            }
            Part::Vectors(_) => hnsw::rebuild_indexes(self).await,
            Part::Forgetting => match self.finish_forgetting().await? {
                Overwriting::Nothing | Overwriting::Done => Ok(()),
                Overwriting::StillRead => {
                    Err(BaseProblem::StillRead { path: self.folder().to_owned() })
                        .context("overwriting forgotten content")
                }
            },
            Part::Texts | Part::Originals | Part::Leftovers => Ok(()),
        }
    }

    /// Rebuilds the invalid indexes; if there are none, all indexes. Reads and writes go on.
    async fn rebuild_indexes(&self) -> Result<(), StoreError> {
        let client = self.inner.database.lent(Access::Documents).await?;
        let invalid = client.query(INVALID, &[]).await.context(REBUILDING)?;
        if invalid.is_empty() {
            let all = "REINDEX SCHEMA CONCURRENTLY pikerag";
            return client.batch_execute(all).await.context(REBUILDING);
        }
        for row in &invalid {
            let name: &str = row.try_get(0).context(REBUILDING)?;
            // An interrupted rebuild leaves an index beside the one that it would replace.
            let is_left = name.contains("_ccnew") || name.contains("_ccold");
            let sql = match is_left {
                true => format!("DROP INDEX CONCURRENTLY IF EXISTS {name}"),
                false => format!("REINDEX INDEX CONCURRENTLY {name}"),
            };
            client.batch_execute(&sql).await.context(REBUILDING)?;
        }
        Ok(())
    }
}

/// Whether a part can be rebuilt.
fn is_derived(part: &Part) -> bool {
    match part {
        Part::Database | Part::FullText | Part::Vectors(_) | Part::Forgetting => true,
        Part::Texts | Part::Originals | Part::Leftovers => false,
    }
}

/// The message of the server, if it found a damaged table or index.
fn damage(error: &StoreError) -> Option<String> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<tokio_postgres::Error>() {
            let found = error.as_db_error()?;
            let damages = [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED];
            return damages.contains(found.code()).then(|| found.message().to_owned());
        }
        cause = error.source();
    }
    None
}

/// Indexes of the tables that no query uses, except those of vectors, which indexing replaces, and
/// those that are being built.
const INVALID: &str =
    "SELECT format('pikerag.%I', c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = 'pikerag'::regnamespace AND NOT i.indisvalid
       AND NOT starts_with(c.relname::text, 'hnsw_')
       AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = c.oid)
     ORDER BY 1";

/// For each reference from a table of bases: the table, the other table, and a query that counts the
/// rows of the base `$1` without a row in the other table.
const REFERENCES: &str =
    "SELECT f.conrelid::regclass::text, f.confrelid::regclass::text,
       format('SELECT count(*) FROM %s c WHERE c.base = $1 AND %s AND NOT EXISTS (SELECT 1 FROM %s p WHERE %s)',
         f.conrelid::regclass, string_agg(format('c.%I IS NOT NULL', a.attname), ' AND ' ORDER BY k.nth),
         f.confrelid::regclass, string_agg(format('p.%I = c.%I', b.attname, a.attname), ' AND ' ORDER BY k.nth))
     FROM pg_constraint f
     CROSS JOIN LATERAL unnest(f.conkey, f.confkey) WITH ORDINALITY AS k(own, other, nth)
     JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.own
     JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = k.other
     WHERE f.contype = 'f' AND f.connamespace = 'pikerag'::regnamespace
     GROUP BY f.oid, f.conrelid, f.confrelid
     HAVING bool_or(a.attname = 'base') ORDER BY 1, 2, f.oid";

async fn database(tx: &Tx) -> Sql<PartState> {
    let mut faults = Vec::new();
    for row in &tx.all(INVALID, &[]).await? {
        faults.push(format!("the index {} is not valid", row.try_get::<_, &str>(0)?));
    }
    for row in &tx.all(REFERENCES, &[]).await? {
        let (table, other): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
        let missing = tx.number(row.try_get(2)?, &[&tx.base()]).await?;
        if missing != 0 {
            faults.push(format!("{missing} rows of {table} refer to missing rows of {other}"));
        }
    }
    if !faults.is_empty() {
        return Ok((Health::Damaged, CheckFact::Faults { faults }));
    }
    let sql = "SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM calls), (SELECT count(*) FROM runs)";
    let row = tx.one(sql, &[]).await?;
    let (chunks, calls, runs) = (rows::size(&row, 0)?, rows::size(&row, 1)?, rows::size(&row, 2)?);
    Ok((Health::Sound, CheckFact::Counts { chunks, calls, runs }))
}

/// Each document's text must match its hash, and each chunk's text must equal its span of the
/// document.
async fn texts(tx: &Tx) -> Sql<PartState> {
    let ids = rows::signed(rows::ids(&tx.all("SELECT id FROM sources ORDER BY id", &[]).await?)?);
    let (documents, mut damaged) = (ids.len(), 0);
    for ids in ids.chunks(DOCUMENTS) {
        damaged += changed(tx, ids).await?;
    }
    Ok(match damaged {
        0 => (Health::Sound, CheckFact::Documents { documents }),
        _ => (Health::Damaged, CheckFact::ChangedDocuments { damaged, documents }),
    })
}

/// How many of these documents have changed.
async fn changed(tx: &Tx, sources: &[i64]) -> Sql<usize> {
    let sql = "SELECT id, hash, text FROM sources WHERE id = ANY($1)";
    let mut held = Vec::with_capacity(sources.len());
    for row in &tx.all(sql, &[&sources]).await? {
        let (text, hash) = (rows::text(row, 2)?, rows::text(row, 1)?);
        let is_sound = blake3::hash(text.as_bytes()).to_hex().as_str() == hash;
        held.push((row.try_get::<_, i64>(0)?, text, is_sound));
    }
    held.sort_unstable_by_key(|(id, _, _)| *id);
    let sql = "SELECT source, text, span_start, span_end FROM chunks WHERE source = ANY($1)";
    for row in &tx.all(sql, &[&sources]).await? {
        let source: i64 = row.try_get(0)?;
        let found = held.binary_search_by_key(&source, |(id, _, _)| *id).ok();
        let Some((_, text, is_sound)) = found.and_then(|at| held.get_mut(at)) else { continue };
        let span = rows::span(row, 2)?;
        let part = text.as_bytes().get(span.start..span.end);
        *is_sound &= part == Some(rows::text(row, 1)?.as_bytes());
    }
    Ok(held.iter().filter(|(_, _, is_sound)| !is_sound).count())
}

async fn originals(tx: &Tx) -> Sql<PartState> {
    let mut found = tx.stream("SELECT hash, length, bytes FROM originals", &[]).await?;
    let (mut originals, mut damaged) = (0, 0);
    while let Some(row) = found.next().await {
        let row = row?;
        let bytes: &[u8] = row.try_get(2)?;
        let hash = blake3::hash(bytes).to_hex();
        let is_sound =
            bytes.len() == rows::size(&row, 1)? && hash.as_str() == row.try_get::<_, &str>(0)?;
        originals += 1;
        damaged += usize::from(!is_sound);
    }
    Ok(match damaged {
        0 => (Health::Sound, CheckFact::Originals { originals }),
        _ => (Health::Damaged, CheckFact::ChangedOriginals { damaged, originals }),
    })
}

async fn full_text(tx: &Tx) -> Sql<PartState> {
    Ok(match words::check(tx).await? {
        (chunks, 0, 0) => (Health::Sound, CheckFact::Chunks { chunks }),
        (_, missing, more) => (Health::Damaged, CheckFact::OtherChunks { missing, more }),
    })
}

/// Reads all vectors of a set.
async fn vectors_of(tx: &Tx, name: &str) -> Sql<PartState> {
    let Some(set) = sets().find(|set| set_name(*set) == name) else {
        return Ok((Health::Sound, CheckFact::Vectors { vectors: 0 }));
    };
    let sql = format!(
        "SELECT count(*), count(*) FILTER (WHERE vector_dims(vector) <> dims) FROM {} WHERE true{}",
        vectors::table(set),
        vectors::kind(set).map(|kind| format!(" AND kind = '{kind}'")).unwrap_or_default()
    );
    let row = tx.one(&sql, &[]).await?;
    let (vectors, different) = (rows::size(&row, 0)?, rows::size(&row, 1)?);
    Ok(match different {
        0 => (Health::Sound, CheckFact::Vectors { vectors }),
        _ => (Health::Damaged, CheckFact::OtherVectors),
    })
}
