//! Tags chunks: classes are declared, or found once in a sample; then each chunk is searched for tags of the
//! classes that it was not searched for yet (PIKE-RAG §5.2.2, Fig. 7).

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt;
use futures::stream::{self, StreamExt};
use pikerag_extract::{
    FACTORED, Factor, chunk_tags, chunk_tags_prompt, factors_prompt, key_factors, tag_classes,
    tag_key,
};
use pikerag_knowledge::{
    Account, ChatModel, Chunk, ChunkId, ChunkResults, ChunkTags, FoundTag, KeyedClass,
    KnowledgeWriter, NodeId, Origin, Role, Stage as Mark, StoreError, TagClass, TagClasses,
    TagEdit, TagExample, TagReader,
};
use pikerag_language::estimate_tokens;
use pikerag_prompt::AskError;

use crate::bill::Bill;
use crate::call_batch::{Named, Place, finish};
use crate::outcome::Report;
use crate::params::TagParams;
use crate::pending::{PAGE, Waiting, all_chunks, all_pending, paged};
use crate::plan::MissingPart;
use crate::stage::{Answers, ByPiece, Done, Found, Job, New, Piece, Ran, Row, Stage};

/// Tokens of a tag in a reply, with its JSON, and tokens of text per tag.
const TAG: u64 = 14;
const TEXT_PER_TAG: u64 = 40;
/// Tokens of a factor with its JSON, and tokens of prompt and reply of the call that generalises the
/// factors, without the factors.
const FACTOR: u64 = 16;
const GENERALISE: (u64, u64) = (220, 450);
/// Factors per passage, estimated.
const FACTORS: u64 = 6;

/// Stores the classes that a person declares.
pub(crate) struct DeclaredClasses<'a>(pub(crate) &'a TagParams);

#[async_trait]
impl Stage for DeclaredClasses<'_> {
    async fn run(&self, _row: &Row, job: &Job<'_>, _report: &mut Report) -> Ran {
        let declared = self.0.classes.iter().cloned().filter_map(keyed);
        job.base().edit_tags(TagEdit::AddClasses(declared.collect())).await?;
        Ok(ControlFlow::Continue(()))
    }
}

fn keyed(class: TagClass) -> Option<KeyedClass> {
    Some(KeyedClass { key: tag_key(&class.name)?, class })
}

/// Finds classes by a model that generalises the key factors of a sample.
pub(crate) struct FoundClasses<'a>(pub(crate) &'a TagParams);

#[async_trait]
impl Stage for FoundClasses<'_> {
    async fn run(&self, row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        let failures = report.failures;
        if is_sought(job.base(), self.0).await? {
            find_classes(row, job, report).await?;
        }
        if report.stopped.is_some() || failures < report.failures {
            return Ok(ControlFlow::Break(())); // A part of the sample would give other classes.
        }
        if job.base().tag_classes().await?.classes.is_empty() {
            report.missing.push(MissingPart::TagClasses);
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }

    async fn count_pending(&self, base: Option<&dyn KnowledgeWriter>, bill: &mut Bill) -> Done {
        let sought = match base {
            Some(base) => is_sought(base, self.0).await?,
            None => self.0.find || self.0.classes.is_empty(),
        };
        bill.sampled = if sought { self.0.sample.max(1) } else { 0 };
        if let Some(base) = base {
            bill.sample = base.chunks(&all_chunks(base, bill.sampled).await?).await?;
        }
        Ok(())
    }

    fn count_new(&self, new: &New<'_>, bill: &mut Bill) -> bool {
        if let Some(chunk) = new.chunk()
            && bill.sample.len() < bill.sampled
        {
            bill.sample.push(chunk.clone());
            return true;
        }
        false
    }

    fn count_rest(&self, bill: &mut Bill) {
        let sample = std::mem::take(&mut bill.sample);
        if sample.is_empty() {
            return;
        }
        for batch in sample.chunks(FACTORED) {
            let prompt = factors_prompt(batch).unwrap_or_default();
            let factors = batch.len() as u64 * FACTORS;
            bill.call(Role::Tag, estimate_tokens(&prompt), factors * FACTOR);
        }
        let factors = sample.len() as u64 * FACTORS;
        bill.call(Role::Tag, GENERALISE.0 + factors * FACTOR / 3, GENERALISE.1);
    }
}

/// Whether classes must be sought: once, unless a person dropped or declared some.
async fn is_sought(base: &dyn TagReader, params: &TagParams) -> Result<bool, StoreError> {
    let TagClasses { classes, any_dropped } = base.tag_classes().await?;
    if any_dropped {
        return Ok(false);
    }
    Ok(match params.find {
        true => classes.iter().all(|class| class.origin == Origin::Declared),
        false => classes.is_empty() && params.classes.is_empty(),
    })
}

/// Step 1: finds the key factors of a sample and generalises them into classes.
async fn find_classes(row: &Row, job: &Job<'_>, report: &mut Report) -> Result<(), StoreError> {
    let (Some(model), base) = (job.model(row), job.base()) else { return Ok(()) };
    // Identifiers are hashes, so the first ones are a fair sample, and the same in every run.
    let sample = all_chunks(base, job.plan.params.tags.sample.max(1)).await?;
    let sample = base.chunks(&sample).await?;
    let batches: Vec<Vec<Chunk>> = sample.chunks(FACTORED).map(<[Chunk]>::to_vec).collect();
    let calls = job.calls(row, batches.len() + 1);
    let mut factors: Vec<Factor> = Vec::new();
    let failures = report.failures;
    let ask = |batch: Vec<Chunk>| async move {
        let result = key_factors(model, &batch, &mut Account::default()).await;
        (batch, result)
    };
    let name = |_: &Vec<Chunk>| Named {
        label: "key factors of a sample".to_owned(),
        place: Place::Dispensable,
    };
    let batches = stream::iter(batches.into_iter().map(Ok)).boxed();
    let (calling, mut results) = calls.begin(batches, ask, name).await?;
    let storing = async {
        while let Some(answers) = results.next(report).await? {
            for (_, found) in answers {
                report.undecided += usize::from(found.is_none());
                factors.extend(found.unwrap_or_default());
            }
        }
        Ok(())
    };
    finish(calling, storing).await?;
    if report.stopped.is_some() || failures < report.failures || factors.is_empty() {
        return Ok(());
    }
    // Batches arrive in any order; the prompt must not depend on it.
    factors.sort_by(|a, b| (a.chunk, &a.text).cmp(&(b.chunk, &b.text)));
    let known = base.tag_classes().await?.classes;
    let (known, factors) = (&known, &factors);
    let ask =
        |()| async move { ((), tag_classes(model, factors, known, &mut Account::default()).await) };
    let name = |(): &()| Named { label: "classes of tags".to_owned(), place: Place::Dispensable };
    let once = stream::iter([Ok(())]).boxed();
    let (calling, mut results) = calls.begin(once, ask, name).await?;
    let storing = async {
        while let Some(answers) = results.next(report).await? {
            for ((), found) in answers {
                report.undecided += usize::from(found.is_none());
                let classes = found.unwrap_or_default().into_iter().filter_map(keyed);
                base.edit_tags(TagEdit::AddClasses(classes.collect())).await?;
            }
        }
        Ok(())
    };
    finish(calling, storing).await
}

/// Step 2: finds the tags of every chunk.
pub(crate) struct Tags<'a>(pub(crate) &'a TagParams);

/// A chunk, and the classes that it was not searched for yet.
pub(crate) struct Untagged {
    chunk: Chunk,
    classes: Vec<TagClass>,
}

impl Piece for Untagged {
    fn label(&self) -> String {
        self.chunk.uri.clone()
    }

    fn chunk(&self) -> Option<ChunkId> {
        Some(self.chunk.id)
    }
}

#[async_trait]
impl ByPiece for Tags<'_> {
    type Piece = Untagged;
    type Reply = Vec<FoundTag>;

    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, Untagged> {
        let mut classes = base.tag_classes().await?.classes;
        if classes.is_empty() {
            // Only an estimate has no classes here: a run has found some, or stopped.
            classes = sought_classes(None, self.0).await?;
        }
        let mut missing: BTreeMap<ChunkId, Vec<usize>> = BTreeMap::new();
        for (place, class) in classes.iter().enumerate() {
            for chunk in all_pending(base, &Mark::tag(class.id)).await? {
                missing.entry(chunk).or_default().push(place);
            }
        }
        let missing: Vec<(ChunkId, Vec<usize>)> = missing.into_iter().collect();
        let total = missing.len();
        let classes = Arc::new(classes);
        let pieces = paged(&missing, PAGE, move |page: Vec<(ChunkId, Vec<usize>)>| {
            let classes = Arc::clone(&classes);
            async move {
                let ids: Vec<ChunkId> = page.iter().map(|(chunk, _)| *chunk).collect();
                let mut places: BTreeMap<ChunkId, Vec<usize>> = page.into_iter().collect();
                let untagged = base.chunks(&ids).await?.into_iter().map(|chunk| {
                    let places = places.remove(&chunk.id).unwrap_or_default();
                    let classes = places.iter().filter_map(|place| classes.get(*place).cloned());
                    Untagged { chunk, classes: classes.collect() }
                });
                Ok(untagged.collect())
            }
            .boxed()
        });
        Ok(Waiting { total, pieces, passed: Vec::new() })
    }

    fn piece_of(&self, new: &New<'_>) -> Option<Untagged> {
        let New::Chunk(new) = new else { return None };
        Some(Untagged { chunk: new.chunk.clone(), classes: new.classes.to_vec() })
    }

    async fn ask(&self, model: &dyn ChatModel, of: &Untagged) -> Result<Self::Reply, AskError> {
        chunk_tags(model, &of.chunk, &of.classes, &mut Account::default()).await
    }

    fn marks(&self, untagged: &Untagged) -> Vec<(Mark, NodeId)> {
        let of = |class: &TagClass| (Mark::tag(class.id), untagged.chunk.id.into());
        untagged.classes.iter().map(of).collect()
    }

    async fn store(&self, job: &Job<'_>, answers: Answers<Self>, report: &mut Report) -> Done {
        let mut found = Vec::with_capacity(answers.len());
        for (Untagged { chunk, classes }, tags) in answers {
            report.tagged += 1;
            report.undecided += usize::from(tags.is_none());
            let tags = tags.unwrap_or_default();
            report.tags += tags.len();
            let classes = classes.into_iter().map(|class| class.id).collect();
            found.push(ChunkTags { chunk: chunk.id, classes, tags });
        }
        job.base().put_chunk_results(ChunkResults::Tags(found)).await
    }

    fn forecast(&self, of: &Untagged, bill: &mut Bill) {
        let prompt = chunk_tags_prompt(&of.chunk, &of.classes).unwrap_or_default();
        let tags = 1 + estimate_tokens(&of.chunk.reading_text()) / TEXT_PER_TAG;
        bill.call(Role::Tag, estimate_tokens(&prompt), tags * TAG + 4);
    }
}

/// The classes that new chunks will be searched for: those of the base, then other declared ones. If none
/// are known yet, returns placeholders as long as the classes that a model will find.
pub(crate) async fn sought_classes(
    base: Option<&dyn KnowledgeWriter>,
    params: &TagParams,
) -> Result<Vec<TagClass>, StoreError> {
    let mut classes = match base {
        Some(base) => base.tag_classes().await?.classes,
        None => Vec::new(),
    };
    for class in &params.classes {
        if classes.iter().all(|held| held.id != class.id) {
            classes.push(class.clone());
        }
    }
    if classes.is_empty() {
        classes = placeholders();
    }
    Ok(classes)
}

fn placeholders() -> Vec<TagClass> {
    let example = || TagExample { text: "an example".to_owned(), chunk: None };
    let class = |name: String| {
        let covers = "what belongs to this class of tags, said in one sentence of some length";
        let examples = (0..4).map(|_| example()).collect();
        TagClass::new(&name, covers, examples, Origin::Found)
    };
    (0..5).map(|n| class(format!("class {n}"))).collect()
}
