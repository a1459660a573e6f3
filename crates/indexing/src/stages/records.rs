//! Reads typed records from chunks: first by rules from tables, lines and metadata, then by a model from
//! texts. Only changed declarations are read again.

use std::collections::{BTreeSet, HashMap, HashSet};

use std::ops::ControlFlow;

use async_trait::async_trait;
use pikerag_knowledge::{
    Account, ChatModel, Chunk, ChunkId, ChunkResults, InChunk, KnowledgeBase, KnowledgeWriter,
    NodeId, Record, RecordSchema, RecordsBy, Role, Source, SourceId, Stage as Mark, StoreError,
    Which,
};
use pikerag_language::estimate_tokens;
use pikerag_prompt::AskError;
use pikerag_records::{ModelRecords, asks_model, model_records, plain_records, records_prompt};

use crate::bill::Bill;
use crate::outcome::Report;
use crate::pending::{PAGE, Waiting, all_pending};
use crate::stage::{Answers, ByPiece, Done, Found, Job, New, Ran, Row, Stage};

/// Tokens of records that a model reads per token of text.
const RECORDED: f64 = 0.3;

/// Reads the records of a schema by rules.
pub(crate) struct Plain<'a>(pub(crate) &'a RecordSchema);

#[async_trait]
impl Stage for Plain<'_> {
    async fn run(&self, row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        let mark = Mark::records(self.0, RecordsBy::Rules);
        let pending = all_pending(job.base(), &mark).await?;
        for (page, done) in job.pages(row, &pending) {
            let chunks = job.base().chunks(page).await?;
            let found = plain(job.base(), self.0, &chunks).await?;
            for InChunk { found, .. } in &found {
                count_records(report, found);
            }
            job.base()
                .put_chunk_results(ChunkResults::Records(mark.clone(), self.0.hash(), found))
                .await?;
            done();
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Reads the records of a schema by a model, in chunks where rules find none.
pub(crate) struct InTexts<'a>(pub(crate) &'a RecordSchema);

#[async_trait]
impl ByPiece for InTexts<'_> {
    type Piece = Chunk;
    type Reply = ModelRecords;

    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, Chunk> {
        let pending = all_pending(base, &Mark::records(self.0, RecordsBy::Model)).await?;
        let mut asked = Vec::new();
        for page in pending.chunks(PAGE) {
            let chunks = base.chunks(page).await?;
            let plain = plain(base, self.0, &chunks).await?;
            for (chunk, plain) in chunks.iter().zip(plain) {
                if plain.found.is_empty() && asks_model(self.0, chunk) {
                    asked.push(chunk.id);
                }
            }
        }
        let to_ask: HashSet<ChunkId> = asked.iter().copied().collect();
        let passed = pending.into_iter().filter(|id| !to_ask.contains(id)).collect();
        Ok(Waiting { passed, ..Waiting::chunks(base, &asked) })
    }

    fn piece_of(&self, new: &New<'_>) -> Option<Chunk> {
        let New::Chunk(new) = new else { return None };
        let is_asked = asks_model(self.0, new.chunk)
            && plain_records(self.0, new.source, new.chunk).is_empty();
        is_asked.then(|| new.chunk.clone())
    }

    async fn ask(&self, model: &dyn ChatModel, chunk: &Chunk) -> Result<ModelRecords, AskError> {
        model_records(model, self.0, chunk, &mut Account::default()).await
    }

    fn marks(&self, chunk: &Chunk) -> Vec<(Mark, NodeId)> {
        vec![(Mark::records(self.0, RecordsBy::Model), chunk.id.into())]
    }

    async fn store(&self, job: &Job<'_>, answers: Answers<Self>, report: &mut Report) -> Done {
        let mut found = Vec::with_capacity(answers.len());
        for (chunk, read) in answers {
            // An unreadable reply gives no record; the chunk is not asked about again.
            report.unread_records += usize::from(read.is_none());
            let read = read.unwrap_or_default();
            report.invented_values += read.invented;
            count_records(report, &read.records);
            found.push(InChunk { chunk: chunk.id, found: read.records });
        }
        let mark = Mark::records(self.0, RecordsBy::Model);
        job.base()
            .put_chunk_results(ChunkResults::Records(mark.clone(), self.0.hash(), found))
            .await
    }

    async fn pass(&self, base: &dyn KnowledgeWriter, passed: Vec<ChunkId>) -> Done {
        let none = passed.into_iter().map(|chunk| InChunk { chunk, found: Vec::new() }).collect();
        base.put_chunk_results(ChunkResults::Records(
            Mark::records(self.0, RecordsBy::Model),
            self.0.hash(),
            none,
        ))
        .await
    }

    fn forecast(&self, chunk: &Chunk, bill: &mut Bill) {
        let text = estimate_tokens(&chunk.reading_text());
        let prompt = records_prompt(self.0, chunk).map_or(text, |prompt| estimate_tokens(&prompt));
        bill.call(Role::Extract, prompt, (text as f64 * RECORDED).ceil() as u64 + 6);
    }
}

/// The records that rules read in these chunks, in the order of the chunks.
async fn plain(
    base: &dyn KnowledgeBase,
    schema: &RecordSchema,
    chunks: &[Chunk],
) -> Result<Vec<InChunk<Vec<Record>>>, StoreError> {
    let sources: BTreeSet<SourceId> = chunks.iter().map(|chunk| chunk.source).collect();
    let sources: Vec<SourceId> = sources.into_iter().collect();
    let sources = base.sources(Which::Of(&sources)).await?;
    let sources: HashMap<SourceId, &Source> =
        sources.iter().map(|source| (source.id, source)).collect();
    let read = |chunk: &Chunk| {
        let source = sources.get(&chunk.source);
        let records = source.map(|source| plain_records(schema, source, chunk));
        InChunk { chunk: chunk.id, found: records.unwrap_or_default() }
    };
    Ok(chunks.iter().map(read).collect())
}

fn count_records(report: &mut Report, records: &[Record]) {
    report.records += records.len();
    let fields = records.iter().flat_map(|record| &record.fields);
    report.untyped_values += fields.filter(|field| field.value.is_none()).count();
}
