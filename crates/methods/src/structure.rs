//! Structures passages under a question for a figure: derives the schema of the things that it asks about, reads passages
//! as their records, unites the same things, and gives the query over them (PIKE-RAG §5.4).

mod alike;
mod derive;
mod known;
mod passages;
mod rows;

use std::collections::{BTreeMap, BTreeSet};

use pikerag_knowledge::worked::PassagesRead;
use pikerag_knowledge::{
    ChatModel, Chunk, ChunkId, Event, KeptSchema, Note, Question, Reason, RecordSchema, Role,
    SourceId, Structured, Via, Which,
};
use pikerag_records::inquiry::{Cues, Form, Inquiry, by_rules};
use pikerag_retrieve::Hit;

use self::alike::unite_values;
use self::derive::{Derived, derive, fields_of};
use self::known::Earlier;
use self::rows::Rows;
use crate::candidates::chunk_candidates;
use crate::collections::Collection;
use crate::decompose::inquire;
use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// Passages that the model sees when it derives a schema.
const SHOWN: usize = 6;
/// One in this many reported things may lack a whole key; with more, no figure is given.
const INCOMPLETE: usize = 3;

/// What structuring gives for a question.
pub(crate) enum Found {
    /// The things, and the query over them.
    Things(Box<Collection>, Inquiry),
    /// Nothing that a figure can rest on, and why, where a schema was derived.
    Nothing(Option<Reason>),
}

/// What is computed from the things.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Figures about what was.
    Figures,
    /// A series over time, to be carried on.
    Series,
}

/// Reads at most `limit` passages as records of a schema that the question needs. Costs a call for the schema, one for each
/// passage, and up to two for the query.
///
/// # Errors
/// See [`SolveError`].
pub(crate) async fn structure(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    cues: &Cues,
    wanted: Wanted,
    limit: usize,
) -> Result<Found, SolveError> {
    let nothing = Ok(Found::Nothing(None));
    let Some((planner, reader)) = models(ports).filter(|_| can_structure(ports)) else {
        return nothing;
    };
    let Some(rows_wanted) = planned(ports, run, planner, question).await? else {
        return nothing;
    };
    let collection = collect(ports, run, reader, question, rows_wanted, limit).await?;
    let read = collection.coverage.passages.unwrap_or_default();
    let lacks =
        Reason::PassagesLackRecords { schema: collection.schema.name.clone(), read: read.read };
    let collected = collection.records.len() + read.incomplete;
    if collection.records.is_empty() || collected < INCOMPLETE * read.incomplete {
        return Ok(Found::Nothing(Some(lacks)));
    }
    let Some(mut inquiry) = query(run, planner, question, cues, wanted, &collection).await? else {
        return Ok(Found::Nothing(Some(lacks)));
    };
    let (mut schema, frame) = (collection.schema.clone(), &collection.unified.frame);
    let is_united =
        unite_values(planner, question, frame, &mut schema, &mut inquiry.query, run).await?;
    let collection = if is_united { collection.with_schema(schema) } else { collection };
    Ok(Found::Things(Box::new(collection), inquiry))
}

/// The models that plan and that read; one does both if the other is not set.
fn models(ports: &Ports) -> Option<(&dyn ChatModel, &dyn ChatModel)> {
    let of = |role| ports.models.of(role);
    let (planner, reader) = (of(Role::Decompose), of(Role::Extract));
    Some((planner.or(reader)?, reader.or(planner)?))
}

/// Whether models and an engine are set that can read passages as records and compute over them.
pub(crate) fn can_structure(ports: &Ports) -> bool {
    models(ports).is_some() && ports.tables.engine.is_some()
}

/// The schema of a question, before passages are read under it.
struct Planned {
    schema: RecordSchema,
    /// The passages that it was derived from; none if an earlier question derived it.
    basis: Vec<ChunkId>,
    /// The earlier question's run, and what was read before.
    earlier: Option<(KeptSchema, Earlier)>,
    /// Searches for passages, besides the question itself.
    searches: Vec<String>,
}

/// Asks a model for the schema, which may be that of an earlier question. The trace notes it.
async fn planned(
    ports: &Ports,
    run: &mut Run,
    planner: &dyn ChatModel,
    question: &Question,
) -> Result<Option<Planned>, SolveError> {
    let kept = known::kept(ports).await?;
    let found = passages::found(ports, &[question.query().to_owned()]).await?;
    let ids: Vec<ChunkId> = found.iter().map(|candidate| candidate.chunk).collect();
    let mut shown = ports.base.chunks(&ids).await?;
    shown.retain(passages::is_read);
    shown.truncate(SHOWN);
    if shown.is_empty() {
        return Ok(None);
    }
    let known: Vec<&RecordSchema> = kept.iter().map(|kept| &kept.schema).collect();
    let derived = derive(planner, question, &shown, &known, run).await?;
    let Some(Derived { schema, known: at, searches }) = derived else { return Ok(None) };
    if let Some(kept) = at.and_then(|at| kept.get(at)) {
        return reused(ports, run, kept, searches).await.map(Some);
    }
    let schema = named_apart(ports, schema, &known);
    run.push(Event::Noted {
        note: Note::DerivesSchema {
            schema: schema.name.clone(),
            fields: fields_of(&schema),
            key: schema.key.clone(),
        }
        .into(),
    });
    let basis = shown.iter().map(|chunk| chunk.id).collect();
    Ok(Some(Planned { schema, basis, earlier: None, searches }))
}

async fn reused(
    ports: &Ports,
    run: &mut Run,
    kept: &KeptSchema,
    searches: Vec<String>,
) -> Result<Planned, SolveError> {
    let note = Note::ReusesSchema { schema: kept.schema.name.clone(), run: kept.run.to_string() };
    run.push(Event::Noted { note: note.into() });
    let earlier = Earlier::of(ports, kept).await?;
    let (schema, earlier) = (kept.schema.clone(), Some((kept.clone(), earlier)));
    Ok(Planned { schema, basis: Vec::new(), earlier, searches })
}

/// The schema under a name that neither a declared one has nor an earlier one.
fn named_apart(ports: &Ports, mut schema: RecordSchema, known: &[&RecordSchema]) -> RecordSchema {
    let is_taken = |name: &str| {
        let declared = ports.tables.schemas.iter();
        declared.chain(known.iter().copied()).any(|schema| schema.name == name)
    };
    let (name, mut n) = (schema.name.clone(), 1);
    while is_taken(&schema.name) {
        n += 1;
        schema.name = format!("{name}_{n}");
    }
    schema
}

/// Reads the passages that fit the schema and were not read before, up to the limit, and unites the things that they
/// report. The run keeps what was read, even if a call fails.
async fn collect(
    ports: &Ports,
    run: &mut Run,
    reader: &dyn ChatModel,
    question: &Question,
    planned: Planned,
    limit: usize,
) -> Result<Collection, SolveError> {
    let Planned { schema, basis, earlier, mut searches } = planned;
    let (kept, earlier) = earlier.map_or_else(
        || (run.kept_schema(schema.clone()), Earlier::default()),
        |(kept, earlier)| (kept, earlier),
    );
    searches.insert(0, question.query().to_owned());
    let mut new = passages::fitting(ports, &schema, &searches).await?;
    new.retain(|chunk| !earlier.passages.contains_key(chunk));
    let to_read: Vec<ChunkId> = new.iter().take(limit).copied().collect();
    let hit = |chunk: &ChunkId| Hit { chunk: *chunk, score: 0.0, parts: BTreeMap::new() };
    let hits: Vec<Hit> = to_read.iter().map(hit).collect();
    let candidates = chunk_candidates(ports, &hits, Via::Chunks, question.query()).await?;
    if !candidates.is_empty() {
        run.push(Event::Gathered { candidates });
    }
    let chunks: Vec<Chunk> = ports.base.chunks(&to_read).await?;
    let mut rows = Rows::default();
    let result = rows::read(ports, run, reader, &schema, &chunks, &mut rows).await;
    if !rows.read.is_empty() {
        run.keep(Structured { kept, basis, read: rows.read.clone() });
    }
    result?;
    let mut read = PassagesRead {
        fit: new.len() + earlier.passages.len(),
        read: rows.read.len(),
        reused: 0,
        failed: rows.failed,
        invented: rows.read.iter().map(|(passage, _)| passage.invented).sum(),
        incomplete: rows.read.iter().map(|(passage, _)| passage.incomplete).sum(),
    };
    earlier.add_to(&mut read);
    let ids: Vec<ChunkId> = earlier.passages.keys().copied().collect();
    let before = ports.base.chunks(&ids).await?;
    let sources: BTreeSet<SourceId> =
        chunks.iter().chain(&before).map(|chunk| chunk.source).collect();
    let mut records = earlier.records;
    records.extend(rows.read.into_iter().flat_map(|(_, records)| records));
    records.sort_by(|a, b| a.uri.cmp(&b.uri).then(a.span.start.cmp(&b.span.start)));
    let documents = ports.base.sources(Which::All).await?.len();
    Ok(Collection::from_passages(schema, records, documents, &sources, read))
}

/// The query of the question over the records: by rules where they explain all its words, else by a model.
async fn query(
    run: &mut Run,
    planner: &dyn ChatModel,
    question: &Question,
    cues: &Cues,
    wanted: Wanted,
    collection: &Collection,
) -> Result<Option<Inquiry>, SolveError> {
    let is_wanted = |inquiry: &Inquiry| match wanted {
        Wanted::Figures => matches!(inquiry.form, Form::Figures | Form::List),
        Wanted::Series => matches!(inquiry.form, Form::Series { .. }),
    };
    let by_rules = by_rules(cues, &[collection.source()])
        .filter(|inquiry| inquiry.unexplained.is_empty() && is_wanted(inquiry));
    if by_rules.is_some() {
        return Ok(by_rules);
    }
    let inquiry = inquire(planner, question, &[collection.source()], run).await?;
    Ok(inquiry.filter(is_wanted))
}
