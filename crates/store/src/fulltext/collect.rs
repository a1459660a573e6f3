//! Collects the matches of a full-text search that a filter admits, with their scores.

use pikerag_scan::{Best, Near};
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::query::Weight;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use super::Admitted;

/// Collects every admitted match with its score.
pub(super) struct AllScores {
    pub(super) admitted: Admitted,
}

pub(super) struct SegmentScores {
    ids: Column<u64>,
    admitted: Admitted,
    found: Vec<(u64, f32)>,
}

impl Collector for AllScores {
    type Fruit = Vec<(u64, f32)>;
    type Child = SegmentScores;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentScores> {
        let ids = segment.fast_fields().u64("id")?;
        Ok(SegmentScores { ids, admitted: self.admitted.clone(), found: Vec::new() })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, segments: Vec<Self::Fruit>) -> tantivy::Result<Self::Fruit> {
        Ok(segments.concat())
    }
}

impl SegmentCollector for SegmentScores {
    type Fruit = Vec<(u64, f32)>;

    fn collect(&mut self, document: DocId, score: Score) {
        if let Some(id) = self.ids.first(document)
            && self.admitted.as_ref().is_none_or(|admitted| admitted.contains(&id))
        {
            self.found.push((id, score));
        }
    }

    fn harvest(self) -> Self::Fruit {
        self.found
    }
}

/// Collects the `k` best admitted matches; among equal scores, the lowest identifiers win.
pub(super) struct BestChunks {
    pub(super) k: usize,
    pub(super) admitted: Admitted,
}

impl Collector for BestChunks {
    type Fruit = Vec<(u64, f32)>;
    type Child = SegmentScores;

    fn for_segment(
        &self,
        ordinal: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentScores> {
        AllScores { admitted: self.admitted.clone() }.for_segment(ordinal, segment)
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, segments: Vec<Self::Fruit>) -> tantivy::Result<Self::Fruit> {
        let mut best = Best::new(self.k);
        for (id, score) in segments.into_iter().flatten() {
            best.offer(Near { id, owner: id, score });
        }
        Ok(best.sorted().into_iter().map(|near| (near.id, near.score)).collect())
    }

    fn collect_segment(
        &self,
        weight: &dyn Weight,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<Self::Fruit> {
        let (ids, alive) = (segment.fast_fields().u64("id")?, segment.alive_bitset());
        let mut best = Best::new(self.k);
        // Just below the worst score held, because an equal score may have a lower identifier.
        let threshold = |best: &Best| best.worst().next_down().max(Score::MIN);
        weight.for_each_pruning(threshold(&best), segment, &mut |document, score| {
            if alive.is_none_or(|alive| alive.is_alive(document))
                && let Some(id) = ids.first(document)
                && self.admitted.as_ref().is_none_or(|admitted| admitted.contains(&id))
            {
                best.offer(Near { id, owner: id, score });
            }
            threshold(&best)
        })?;
        Ok(best.sorted().into_iter().map(|near| (near.id, near.score)).collect())
    }
}
