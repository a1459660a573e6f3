//! What will tags cost? A call for each chunk, and a few to find the classes, where none are known.

use std::collections::{BTreeMap, HashSet};

use pikerag_extract::{FACTORED, chunk_tags_prompt, factors_prompt};
use pikerag_knowledge::{
    Chunk, ChunkId, KnowledgeWriter, Origin, Role, Stage, StoreError, Structure, TagClass,
    TagExample, Usage,
};
use pikerag_language::estimate_tokens;

use super::{Estimate, PAGE};
use crate::ingest::Params;
use crate::ingest::tags::is_sought;

/// Tokens of a tag in a reply, with its JSON, and of a text that has one.
const TAG: u64 = 14;
const TEXT_PER_TAG: u64 = 40;
/// Tokens of a factor with its JSON, and of the call that generalises them, besides the factors.
const FACTOR: u64 = 16;
const GENERALISE: (u64, u64) = (220, 450);
/// Factors of a passage, about.
const FACTORS: u64 = 6;

/// Chunks that will be looked through.
pub(super) struct Tagged {
    classes: Vec<TagClass>,
    /// How many chunks will be looked at to find classes; 0 where none are sought.
    sample: usize,
    sampled: Vec<Chunk>,
}

impl Tagged {
    pub(super) async fn of(
        base: Option<&dyn KnowledgeWriter>,
        params: &Params,
    ) -> Result<Self, StoreError> {
        let mut classes = params.tags.classes.clone();
        let mut sample = 0;
        if params.with.contains(&Structure::Tags) {
            let sought = match base {
                Some(base) => {
                    let mut held = base.tag_classes().await?;
                    held.retain(|held| classes.iter().all(|class| class.id != held.id));
                    classes.extend(held);
                    is_sought(base, params).await?
                }
                None => params.tags.find || classes.is_empty(),
            };
            sample = if sought { params.tags.sample.max(1) } else { 0 };
        }
        if classes.is_empty() {
            classes = stand_ins();
        }
        Ok(Self { classes, sample, sampled: Vec::new() })
    }

    /// Adds what a new chunk costs that can be searched, or will be.
    pub(super) fn count(&mut self, estimate: &mut Estimate, chunk: &Chunk) {
        look_through(estimate, chunk, &self.classes);
        if self.sampled.len() < self.sample {
            self.sampled.push(chunk.clone());
        }
    }

    pub(super) fn sample_is_elsewhere(&mut self) {
        self.sample = 0;
    }

    /// Adds what finding the classes costs.
    pub(super) fn add_to(self, estimate: &mut Estimate) {
        if self.sampled.is_empty() {
            return;
        }
        let factors = self.sampled.len() as u64 * FACTORS;
        for batch in self.sampled.chunks(FACTORED) {
            let prompt = factors_prompt(batch).unwrap_or_default();
            let completion_tokens = batch.len() as u64 * FACTORS * FACTOR;
            let usage = Usage { prompt_tokens: estimate_tokens(&prompt), completion_tokens };
            estimate.bill(Role::Tag, 1, usage);
        }
        let prompt_tokens = GENERALISE.0 + factors * FACTOR / 3;
        estimate.bill(Role::Tag, 1, Usage { prompt_tokens, completion_tokens: GENERALISE.1 });
    }
}

/// Adds what is left to do in the base.
pub(super) async fn pending(
    estimate: &mut Estimate,
    base: &dyn KnowledgeWriter,
    params: &Params,
    counted: &mut HashSet<ChunkId>,
) -> Result<(), StoreError> {
    let classes = base.tag_classes().await?;
    let mut missing: BTreeMap<ChunkId, Vec<TagClass>> = BTreeMap::new();
    for class in &classes {
        for chunk in base.pending(&Stage::tag(class.id), None, usize::MAX).await? {
            missing.entry(chunk).or_default().push(class.clone());
        }
    }
    let mut tagged = Tagged::of(Some(base), params).await?;
    if classes.is_empty() {
        for chunk in base.pending(&Stage("tags".to_owned()), None, usize::MAX).await? {
            missing.insert(chunk, tagged.classes.clone());
        }
    }
    let ids: Vec<ChunkId> = missing.keys().copied().collect();
    for page in ids.chunks(PAGE) {
        for chunk in base.chunks(page).await? {
            if let Some(classes) = missing.get(&chunk.id) {
                look_through(estimate, &chunk, classes);
            }
            if tagged.sampled.len() < tagged.sample {
                tagged.sampled.push(chunk.clone());
            }
            estimate.chunks += usize::from(counted.insert(chunk.id));
        }
    }
    tagged.add_to(estimate);
    Ok(())
}

fn look_through(estimate: &mut Estimate, chunk: &Chunk, classes: &[TagClass]) {
    let prompt = chunk_tags_prompt(chunk, classes).unwrap_or_default();
    let tags = 1 + estimate_tokens(&chunk.reading_text()) / TEXT_PER_TAG;
    let prompt_tokens = estimate_tokens(&prompt);
    estimate.bill(Role::Tag, 1, Usage { prompt_tokens, completion_tokens: tags * TAG + 4 });
}

/// Classes as long as those that will be found.
fn stand_ins() -> Vec<TagClass> {
    let example = || TagExample { text: "an example".to_owned(), chunk: None };
    let class = |name: String| {
        let covers = "what belongs to this class of tags, said in one sentence of some length";
        let examples = (0..4).map(|_| example()).collect();
        TagClass::new(&name, covers, examples, Origin::Found)
    };
    (0..5).map(|n| class(format!("class {n}"))).collect()
}
