//! Learns which words of readers mean which words of the documents, from questions with known answers. A
//! model pairs the tags of a question with those of the chunks that answer it (PIKE-RAG §5.2.2, Fig. 7).

use std::collections::HashMap;

use futures::stream::{self, StreamExt};
use pikerag_extract::{chunk_tags, map_tags, question_tags, tag_key};
use pikerag_knowledge::id::content_id;
use pikerag_knowledge::{
    Account, ChatModel, Chunk, ChunkId, KeyedPair, KnowledgeWriter, LinkKind, Origin, Role,
    SampleKey, SourceId, StoreError, TagClass, TagEdit, TagPair, Which,
};
use pikerag_prompt::AskError;
use serde::{Deserialize, Serialize};

use crate::call_batch::{CallBatch, Named, Place, finish};
use crate::outcome::Report;
use crate::tools::{Tools, Watch};

/// The chunks of one document in which a sample's answer is sought.
const OF_SOURCE: usize = 64;
/// The chunks in which it is sought if the sample names no documents.
const FOUND: usize = 8;
/// The most chunks whose tags are paired with a question's tags.
const ANSWERING: usize = 4;

/// A question with a known answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The question, as a reader asks it.
    pub question: String,
    /// Its right answers. A chunk that contains any of them answers it.
    pub answers: Vec<String>,
    /// The documents that answer it: URIs, file names or record identifiers. If there are none, the base
    /// is searched for the answer.
    pub supporting: Vec<String>,
}

/// The result of learning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    /// Processed samples, including those without a result, but not those whose calls failed.
    pub samples: usize,
    /// Samples for which no chunk of the base was found.
    pub unanswered: usize,
    /// Samples for which a reply could not be read.
    pub unreadable: usize,
    /// Pairs that samples support, counted once for each sample.
    pub pairs: usize,
    /// The first samples whose calls failed, which the next run tries again: (question, reason).
    pub failed: Vec<(String, String)>,
    /// All samples whose calls failed.
    pub failures: usize,
    /// Why the run ended early, if it did.
    pub stopped: Option<String>,
    /// Whether it ended because the budget was spent.
    pub over_budget: bool,
}

/// Learns pairs from samples, `in_flight` of them at a time. Each costs up to three calls, and one for each
/// chunk without tags. Repeated samples count once.
///
/// # Errors
/// The base cannot be read or written.
pub async fn learn(
    tools: &Tools,
    samples: Vec<Sample>,
    in_flight: usize,
    watch: Watch<'_>,
) -> Result<Learned, StoreError> {
    let mut learned = Learned::default();
    let Some(model) = tools.models.of(Role::Tag) else { return Ok(learned) };
    let classes = tools.base.tag_classes().await?.classes;
    let base = tools.base.as_ref();
    let by_name = sources_by_name(base).await?;
    let (classes, by_name) = (&classes, &by_name);
    let mut report = Report::default();
    let total = samples.len();
    let batch = CallBatch { name: "pairs of tags", total, at_once: in_flight, watch, base };
    let ask = |sample: Sample| async move {
        let result = pairs_of(base, model, classes, by_name, &sample).await;
        (sample, result)
    };
    let name = |sample: &Sample| Named { label: sample.question.clone(), place: Place::Needed };
    let samples = stream::iter(samples.into_iter().map(Ok)).boxed();
    let (calling, mut results) = batch.begin(samples, ask, name).await?;
    let storing = async {
        while let Some(answers) = results.next(&mut report).await? {
            let mut pairs = Vec::new();
            for (_, found) in answers {
                learned.samples += 1;
                match found {
                    Some(Ok(Some(found))) => pairs.extend(found),
                    Some(Ok(None)) => learned.unanswered += 1,
                    Some(Err(error)) => return Err(error),
                    None => learned.unreadable += 1,
                }
            }
            learned.pairs += pairs.len();
            base.edit_tags(TagEdit::AddPairs(pairs)).await?;
        }
        Ok(())
    };
    finish(calling, storing).await?;
    learned.failures = report.failures;
    learned.failed = report.failed;
    learned.stopped = report.stopped;
    learned.over_budget = report.over_budget;
    Ok(learned)
}

/// The pairs that a sample supports; `None` if no chunk answers it.
async fn pairs_of(
    base: &dyn KnowledgeWriter,
    model: &dyn ChatModel,
    classes: &[TagClass],
    by_name: &HashMap<String, SourceId>,
    sample: &Sample,
) -> Result<Result<Option<Vec<KeyedPair>>, StoreError>, AskError> {
    let chunks = match answering(base, by_name, sample).await {
        Ok(chunks) if chunks.is_empty() => return Ok(Ok(None)),
        Ok(chunks) => chunks,
        Err(error) => return Ok(Err(error)),
    };
    let ids: Vec<ChunkId> = chunks.iter().map(|chunk| chunk.id).collect();
    let stored = match base.links_of(&ids, LinkKind::Tags).await {
        Ok(stored) => stored,
        Err(error) => return Ok(Err(error)),
    };
    let account = &mut Account::default();
    let mut theirs: Vec<(String, String)> = Vec::new();
    let name = |id| {
        let class = classes.iter().find(|class| class.id == id);
        class.map_or_else(String::new, |class| class.name.clone())
    };
    for (chunk, links) in chunks.iter().zip(stored) {
        let mut tags: Vec<_> =
            links.tags.into_iter().map(|tag| (tag.text, name(tag.class))).collect();
        if tags.is_empty() {
            let found = chunk_tags(model, chunk, classes, account).await?;
            tags.extend(found.into_iter().map(|tag| (tag.text, name(tag.class))));
        }
        for tag in tags {
            if !theirs.iter().any(|(held, _)| tag_key(held) == tag_key(&tag.0)) {
                theirs.push(tag);
            }
        }
    }
    let ours = question_tags(model, &sample.question, classes, account).await?;
    if ours.is_empty() || theirs.is_empty() {
        return Ok(Ok(Some(Vec::new())));
    }
    let of_question: Vec<&str> = ours.iter().map(|tag| tag.text.as_str()).collect();
    let of_passage: Vec<&str> = theirs.iter().map(|(tag, _)| tag.as_str()).collect();
    let places = map_tags(model, &sample.question, &of_question, &of_passage, account).await?;
    let from = SampleKey(content_id("sample", &[sample.question.as_bytes()]));
    let mut pairs = Vec::with_capacity(places.len());
    for (one, other) in places {
        let (Some(colloquial), Some((professional, class))) =
            (of_question.get(one), theirs.get(other))
        else {
            continue;
        };
        pairs.extend(pair_with_keys(colloquial, professional, class, Origin::Found, Some(from)));
    }
    Ok(Ok(Some(pairs)))
}

/// A pair with its keys; `None` if one side contains no word.
pub fn pair_with_keys(
    colloquial: &str,
    professional: &str,
    class: &str,
    origin: Origin,
    sample: Option<SampleKey>,
) -> Option<KeyedPair> {
    Some(KeyedPair {
        colloquial: tag_key(colloquial)?,
        professional: tag_key(professional)?,
        sample,
        pair: TagPair {
            colloquial: colloquial.to_owned(),
            professional: professional.to_owned(),
            class: class.to_owned(),
            origin,
            samples: 0,
        },
    })
}

/// Sources by their URI and by each of its tails that may be a file name or a record identifier.
async fn sources_by_name(
    base: &dyn KnowledgeWriter,
) -> Result<HashMap<String, SourceId>, StoreError> {
    let mut by_name = HashMap::new();
    for source in base.sources(Which::All).await? {
        for (at, c) in source.uri.char_indices() {
            if matches!(c, '/' | '#')
                && let Some(tail) = source.uri.get(at + 1..)
            {
                by_name.entry(tail.to_owned()).or_insert(source.id);
            }
        }
        by_name.insert(source.uri, source.id);
    }
    Ok(by_name)
}

/// The chunks that answer a sample. With documents: their chunks that contain an answer, else their first
/// chunk. Without documents: the chunks found by its words that contain an answer.
async fn answering(
    base: &dyn KnowledgeWriter,
    by_name: &HashMap<String, SourceId>,
    sample: &Sample,
) -> Result<Vec<Chunk>, StoreError> {
    let mut chunks = Vec::new();
    for name in &sample.supporting {
        if let Some(source) = by_name.get(name) {
            let of_source = base.first_chunks(*source, OF_SOURCE).await?;
            let first = of_source.first().cloned();
            let before = chunks.len();
            chunks.extend(of_source.into_iter().filter(|chunk| has_answer(chunk, sample)));
            if chunks.len() == before {
                chunks.extend(first);
            }
        }
    }
    if sample.supporting.is_empty() {
        let words = format!("{} {}", sample.question, sample.answers.join(" "));
        let found = base.matching_chunks(&words, FOUND).await?;
        let ids: Vec<ChunkId> = found.into_iter().map(|found| found.item).collect();
        chunks = base.chunks(&ids).await?;
        chunks.retain(|chunk| has_answer(chunk, sample));
    }
    chunks.truncate(ANSWERING);
    Ok(chunks)
}

fn has_answer(chunk: &Chunk, sample: &Sample) -> bool {
    let text = chunk.searched_text().to_lowercase();
    sample.answers.iter().any(|answer| {
        let answer = answer.trim().to_lowercase();
        !answer.is_empty() && text.contains(&answer)
    })
}
