//! How do chunks get their tags? Classes are declared, or found once in a sample; then every chunk is
//! looked through for the classes it was not looked through for yet (PIKE-RAG §5.2.2, Fig. 7).

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt, TryStreamExt};
use pikerag_extract::{FACTORED, Factor, chunk_tags, key_factors, tag_classes, tag_key};
use pikerag_knowledge::id::content_id;
use pikerag_knowledge::{
    Chunk, ChunkId, ChunkTags, NameKey, Origin, Role, Spent, Stage, StoreError, Structure,
    TagClass, TagReader,
};

use super::call_batch::{CallBatch, run_calls};
use super::stages::{PAGE, all_pending};
use super::{Params, Report, Tools, Watch};

/// Brings the tags up to the chunks; whether they are whole now. Needs a model.
pub(super) async fn build(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<bool, StoreError> {
    let declared = params.tags.classes.iter();
    tools.base.put_tag_classes(declared.cloned().filter_map(keyed).collect()).await?;
    if tools.models.of(Role::Tag).is_none() {
        let lacking = "tags need a chat model";
        match params.with.contains(&Structure::Tags) {
            true => report.lacking.push(lacking.to_owned()),
            // Asked for by an earlier run, which had one.
            false => tracing::warn!("{lacking}: they stay as they are"),
        }
        return Ok(false);
    }
    let failures = report.failures;
    if is_sought(tools.base.as_ref(), params).await? {
        find_classes(tools, params, watch, report).await?;
    }
    if report.stopped.is_some() || failures < report.failures {
        return Ok(false); // Classes of half a sample would be others.
    }
    let classes = tools.base.tag_classes().await?;
    if classes.is_empty() {
        report
            .lacking
            .push("no tag classes were found in the documents, and none are declared".to_owned());
        return Ok(false);
    }
    tag_all(tools, params, watch, classes, report).await?;
    Ok(report.stopped.is_none() && report.failures == failures)
}

/// What the tags are built from, besides the chunks.
pub(super) async fn stamp(tools: &Tools, params: &Params) -> Result<String, StoreError> {
    let classes = tools.base.tag_classes().await?;
    let mut ids: Vec<u64> = classes.iter().map(|class| class.id.0).collect();
    ids.extend(params.tags.classes.iter().map(|class| class.id.0));
    let bytes: Vec<u8> = ids.into_iter().flat_map(u64::to_le_bytes).collect();
    let has = if tools.models.of(Role::Tag).is_some() { "model" } else { "none" };
    Ok(format!("{has} {:016x}", content_id("classes", &[&bytes])))
}

/// Whether classes have to be looked for: once, unless a person has seen to it.
pub(crate) async fn is_sought(base: &dyn TagReader, params: &Params) -> Result<bool, StoreError> {
    let classes = base.tag_classes().await?;
    if base.any_class_dropped().await? {
        return Ok(false);
    }
    let declared = !params.tags.classes.is_empty();
    Ok(match params.tags.find {
        true => classes.iter().all(|class| class.origin == Origin::Declared),
        false => classes.is_empty() && !declared,
    })
}

fn keyed(class: TagClass) -> Option<(NameKey, TagClass)> {
    Some((tag_key(&class.name)?, class))
}

/// Step 1: key factors of a sample, generalised into classes.
async fn find_classes(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Tag) else { return Ok(()) };
    // Identifiers are hashes: the first ones are a fair sample, and the same one in every run.
    let everything = Stage("tags".to_owned());
    let sample = tools.base.pending(&everything, None, params.tags.sample.max(1)).await?;
    let sample = tools.base.chunks(&sample).await?;
    let batches: Vec<Vec<Chunk>> = sample.chunks(FACTORED).map(<[Chunk]>::to_vec).collect();
    let batch = CallBatch {
        name: "finding tag classes",
        total: batches.len() + 1,
        at_once: params.in_flight,
        watch,
    };
    let mut factors: Vec<Factor> = Vec::new();
    let failures = report.failures;
    let ask = |batch: Vec<Chunk>| async move {
        let result = key_factors(model, &batch, &mut Spent::default()).await;
        (batch, result)
    };
    let label = |_: &Vec<Chunk>| "key factors of a sample".to_owned();
    let batches = stream::iter(batches.into_iter().map(Ok));
    run_calls(batch, batches, ask, label, report, async |came, report| {
        for (_, found) in came {
            report.undecided += usize::from(found.is_none());
            factors.extend(found.unwrap_or_default());
        }
        Ok(())
    })
    .await?;
    if report.stopped.is_some() || failures < report.failures || factors.is_empty() {
        return Ok(());
    }
    // Batches come as they are ready; the prompt must not depend on that.
    factors.sort_by(|a, b| (a.chunk, &a.text).cmp(&(b.chunk, &b.text)));
    let known = tools.base.tag_classes().await?;
    let (known, factors) = (&known, &factors);
    let ask =
        |()| async move { ((), tag_classes(model, factors, known, &mut Spent::default()).await) };
    let label = |(): &()| "classes of tags".to_owned();
    run_calls(batch, stream::iter([Ok(())]), ask, label, report, async |came, report| {
        for ((), found) in came {
            report.undecided += usize::from(found.is_none());
            let classes = found.unwrap_or_default().into_iter().filter_map(keyed);
            tools.base.put_tag_classes(classes.collect()).await?;
        }
        Ok(())
    })
    .await
}

/// Step 2: the tags of every chunk.
async fn tag_all(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    classes: Vec<TagClass>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Tag) else { return Ok(()) };
    let mut missing: BTreeMap<ChunkId, Vec<usize>> = BTreeMap::new();
    for (place, class) in classes.iter().enumerate() {
        for chunk in all_pending(tools, &Stage::tag(class.id)).await? {
            missing.entry(chunk).or_default().push(place);
        }
    }
    let (total, at_once) = (missing.len(), params.in_flight);
    let batch = CallBatch { name: "tagging", total, at_once, watch };
    let classes = &classes;
    let missing: Vec<(ChunkId, Vec<usize>)> = missing.into_iter().collect();
    let items = stream::iter(missing.chunks(PAGE))
        .then(async |page| {
            let ids: Vec<ChunkId> = page.iter().map(|(chunk, _)| *chunk).collect();
            let chunks = tools.base.chunks(&ids).await?;
            Ok::<_, StoreError>(stream::iter(chunks.into_iter().zip(page).map(
                |(chunk, (_, places))| {
                    let asked = places.iter().filter_map(|place| classes.get(*place).cloned());
                    Ok((chunk, asked.collect::<Vec<TagClass>>()))
                },
            )))
        })
        .try_flatten();
    let ask = |(chunk, asked): (Chunk, Vec<TagClass>)| async move {
        let result = chunk_tags(model, &chunk, &asked, &mut Spent::default()).await;
        ((chunk, asked), result)
    };
    let label = |(chunk, _): &(Chunk, Vec<TagClass>)| chunk.uri.clone();
    run_calls(batch, items, ask, label, report, async |came, report| {
        let mut found = Vec::with_capacity(came.len());
        for ((chunk, asked), tags) in came {
            report.tagged += 1;
            report.undecided += usize::from(tags.is_none());
            let tags = tags.unwrap_or_default();
            report.tags += tags.len();
            let classes = asked.into_iter().map(|class| class.id).collect();
            found.push(ChunkTags { chunk: chunk.id, classes, tags });
        }
        tools.base.put_chunk_tags(found).await
    })
    .await
}
