//! Collects records for questions about figures: those of declared schemas; in a base without typed tables, also those of the
//! tables that a question finds (PIKE-RAG §5.4, knowledge structuring).

mod found;

use std::collections::BTreeSet;

use pikerag_knowledge::worked::{Coverage, NoRecord, PassagesRead};
use pikerag_knowledge::{
    Event, Record, RecordOrigin, RecordSchema, RecordsOf, Role, SourceId, Which, file_part,
};
use pikerag_language::lexicon::concepts;
use pikerag_records::inquiry;
use pikerag_records::unify::{Unified, unify};

use crate::ports::{Ports, SolveError};
use crate::run::Run;
pub(crate) use found::from_tables;

/// The records of one schema, and the things that they describe.
pub(crate) struct Collection {
    pub(crate) schema: RecordSchema,
    pub(crate) is_declared: bool,
    /// The most reliable first: plain ones before those that a model read, then by document.
    pub(crate) records: Vec<Record>,
    pub(crate) unified: Unified,
    /// The concepts in the names of their files.
    titles: BTreeSet<String>,
    /// How many documents the caller may see, and how many of them have records.
    pub(crate) coverage: Coverage,
}

impl Collection {
    /// The source that a question is compared with.
    pub(crate) fn source(&self) -> inquiry::Source<'_> {
        inquiry::Source { schema: &self.schema, frame: &self.unified.frame, titles: &self.titles }
    }

    fn of(
        (schema, is_declared): (RecordSchema, bool),
        mut records: Vec<Record>,
        documents: usize,
        why_none: NoRecord,
    ) -> Self {
        records.sort_by_key(|record| record.origin == RecordOrigin::Model);
        let unified = unify(&schema, &records);
        let with: BTreeSet<SourceId> = records.iter().map(|record| record.source).collect();
        let without = documents.saturating_sub(with.len());
        let files: BTreeSet<&str> = records.iter().map(|record| file_part(&record.uri)).collect();
        let stems =
            files.iter().take(50).filter_map(|file| file.rsplit('/').next()?.split('.').next());
        let coverage = Coverage {
            documents,
            with_records: with.len(),
            without: if without == 0 { Vec::new() } else { vec![(why_none, without)] },
            records: records.len(),
            things: unified.frame.things.len(),
            conflicts: unified.conflicts.len(),
            ..Coverage::default()
        };
        let titles = stems.flat_map(concepts).collect();
        Self { schema, is_declared, records, unified, titles, coverage }
    }

    /// The records that were read from passages for one question. Of the visible `documents`, passages of `read` were read.
    pub(crate) fn from_passages(
        schema: RecordSchema,
        records: Vec<Record>,
        documents: usize,
        read: &BTreeSet<SourceId>,
        passages: PassagesRead,
    ) -> Self {
        let with: BTreeSet<SourceId> = records.iter().map(|record| record.source).collect();
        let collection = Self::of((schema, false), records, documents, NoRecord::NotRead);
        let found_none = read.difference(&with).count();
        let not_read = documents.saturating_sub(with.len() + found_none);
        let mut without = vec![(NoRecord::NotFound, found_none), (NoRecord::NotRead, not_read)];
        without.retain(|(_, count)| 0 < *count);
        let coverage = Coverage { without, passages: Some(passages), ..collection.coverage };
        // The titles of some documents explain no word of the question: the others were read too.
        Self { titles: BTreeSet::new(), coverage, ..collection }
    }

    /// The same records under a schema that says which values are the same.
    pub(crate) fn with_schema(self, schema: RecordSchema) -> Self {
        let unified = unify(&schema, &self.records);
        let coverage = Coverage {
            things: unified.frame.things.len(),
            conflicts: unified.conflicts.len(),
            ..self.coverage
        };
        Self { schema, unified, coverage, ..self }
    }

    /// Adds the collection to the trace.
    pub(crate) fn trace(&self, run: &mut Run) {
        run.push(Event::Structured {
            schema: self.schema.name.clone(),
            is_declared: self.is_declared,
            coverage: self.coverage.clone(),
        });
    }
}

/// The records under each declared schema that has any.
///
/// # Errors
/// The base cannot be read.
pub(crate) async fn declared(ports: &Ports) -> Result<Vec<Collection>, SolveError> {
    let mut found = Vec::new();
    if ports.tables.engine.is_none() {
        return Ok(found);
    }
    let mut documents = None;
    for schema in ports.tables.schemas.iter() {
        let records = ports.base.records(RecordsOf::Schema(&schema.name)).await?;
        if records.is_empty() {
            continue;
        }
        let all = match documents {
            Some(all) => all,
            None => ports.base.sources(Which::All).await?.len(),
        };
        documents = Some(all);
        let is_read = schema.model && ports.models.of(Role::Extract).is_some();
        let why = if is_read { NoRecord::NotFound } else { NoRecord::NotPlain };
        found.push(Collection::of((schema.clone(), true), records, all, why));
    }
    Ok(found)
}
