//! What stands in the documents, looked up in lists.

use std::collections::BTreeMap;

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, AtomKind, Backlog, BaseSummary, Chunk, ChunkId, CorpusReader, ExtractBy, Image, Record,
    SectionId, Source, SourceId, Span, Stage, StoreError, Usage,
};

use super::{Oracle, State};

#[async_trait]
impl CorpusReader for Oracle {
    async fn sources(&self) -> Result<Vec<Source>, StoreError> {
        let state = self.state();
        let all = state.documents.values().map(|document| document.graph.source.clone());
        let mut all: Vec<Source> = all.collect();
        all.sort_by(|a, b| a.uri.cmp(&b.uri));
        Ok(all)
    }

    async fn sources_by_id(&self, ids: &[SourceId]) -> Result<Vec<Source>, StoreError> {
        let state = self.state();
        Ok(ids.iter().filter_map(|id| state.source(*id).cloned()).collect())
    }

    async fn source_text(&self, source: SourceId) -> Result<String, StoreError> {
        let state = self.state();
        let document = state.documents.get(&source);
        let missing = || StoreError::Missing { what: format!("source {source}") };
        document.map(|document| document.graph.text.clone()).ok_or_else(missing)
    }

    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>, StoreError> {
        let state = self.state();
        Ok(ids.iter().filter_map(|id| state.chunk(*id).cloned()).collect())
    }

    async fn first_chunks(&self, source: SourceId, limit: usize) -> Result<Vec<Chunk>, StoreError> {
        let state = self.state();
        let mut seen: Vec<Chunk> =
            state.chunks().filter(|it| it.source == source && !it.hidden).cloned().collect();
        seen.sort_by_key(|chunk| chunk.ordinal);
        seen.truncate(limit);
        Ok(seen)
    }

    async fn neighbours(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<ChunkId>>, StoreError> {
        let state = self.state();
        let beside = |id: &ChunkId| {
            let Some(at) = state.chunk(*id) else { return Vec::new() };
            let others =
                || state.chunks().filter(|it| it.source == at.source && it.is_searchable());
            let before = others().filter(|it| it.ordinal < at.ordinal).max_by_key(|it| it.ordinal);
            let after = others().filter(|it| at.ordinal < it.ordinal).min_by_key(|it| it.ordinal);
            before.into_iter().chain(after).map(|it| it.id).collect()
        };
        Ok(chunks.iter().map(beside).collect())
    }

    async fn chunks_in_sources(
        &self,
        sources: &[SourceId],
        limit: usize,
    ) -> Result<Vec<Vec<ChunkId>>, StoreError> {
        let state = self.state();
        Ok(sources.iter().map(|id| state.within(limit, |chunk| chunk.source == *id)).collect())
    }

    async fn chunks_in_sections(
        &self,
        sections: &[SectionId],
        limit: usize,
    ) -> Result<Vec<Vec<ChunkId>>, StoreError> {
        let state = self.state();
        let within = |id: &SectionId| state.within(limit, |chunk| chunk.section == Some(*id));
        Ok(sections.iter().map(within).collect())
    }

    async fn sample_titles(&self, n: usize) -> Result<Vec<String>, StoreError> {
        let state = self.state();
        let mut seen: Vec<&Chunk> = state.chunks().filter(|chunk| !chunk.hidden).collect();
        seen.sort_by_key(|chunk| chunk.id.0.cast_signed());
        Ok(seen.into_iter().take(n).map(|chunk| chunk.title.clone()).collect())
    }

    async fn languages(&self) -> Result<Vec<(Option<String>, usize)>, StoreError> {
        let mut counts: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for source in self.sources().await? {
            *counts.entry(source.language).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(counts)
    }

    async fn chunk_count(&self) -> Result<usize, StoreError> {
        Ok(self.state().chunks().count())
    }

    async fn figures(&self, chunks: &[ChunkId]) -> Result<Vec<Option<Image>>, StoreError> {
        let state = self.state();
        let figure = |id: &ChunkId| {
            let all = state.documents.values().flat_map(|document| &document.graph.figures);
            let mut of = all.filter(|(chunk, _)| chunk == id);
            of.next().map(|(_, image)| image.clone())
        };
        Ok(chunks.iter().map(figure).collect())
    }

    async fn atoms_of(&self, kind: AtomKind, chunks: &[ChunkId]) -> Result<Vec<Atom>, StoreError> {
        let state = self.state();
        let atoms = chunks.iter().filter_map(|chunk| state.atoms.get(chunk)).flatten();
        Ok(atoms.filter(|atom| atom.kind == kind).cloned().collect())
    }

    async fn records(&self, schema: Option<&str>) -> Result<Vec<Record>, StoreError> {
        let state = self.state();
        let wanted = |record: &&super::HeldRecord| {
            schema.is_none_or(|schema| record.record.schema == schema)
        };
        let mut held: Vec<_> = state.records.iter().filter(wanted).collect();
        held.sort_by_key(|held| {
            let (uri, ordinal, _) = state.reading_order(held.record.chunk);
            (uri, ordinal, held.record.schema.clone(), held.ordinal, held.record.id)
        });
        let placed = |held: &super::HeldRecord| {
            let chunk = state.chunk(held.record.chunk)?;
            let Span { start, end } = held.record.span;
            let span = Span { start: chunk.span.start + start, end: chunk.span.start + end };
            Some(Record { page: chunk.page, span, ..held.record.clone() })
        };
        Ok(held.into_iter().filter_map(placed).collect())
    }

    async fn embedder(&self) -> Result<Option<String>, StoreError> {
        Ok(self.state().summed_up().embedder)
    }

    async fn summary(&self) -> Result<BaseSummary, StoreError> {
        Ok(self.state().summed_up())
    }
}

impl State {
    fn within(&self, limit: usize, stands_there: impl Fn(&Chunk) -> bool) -> Vec<ChunkId> {
        let mut there: Vec<&Chunk> =
            self.chunks().filter(|chunk| chunk.is_searchable() && stands_there(chunk)).collect();
        there.sort_by_key(|chunk| chunk.ordinal);
        match limit < there.len() {
            true => Vec::new(),
            false => there.into_iter().map(|chunk| chunk.id).collect(),
        }
    }

    fn summed_up(&self) -> BaseSummary {
        let atoms = |kind| self.atoms.values().flatten().filter(|atom| atom.kind == kind).count();
        let searchable = self.chunks().filter(|chunk| chunk.is_searchable()).count();
        let atomizing =
            [AtomKind::Question, AtomKind::Statement, AtomKind::Sentence].map(Stage::atomize);
        let extracting = [ExtractBy::Model, ExtractBy::Names].map(Stage::extract);
        let mut pending = Vec::new();
        for stage in atomizing.into_iter().chain(extracting) {
            let done = self.done.iter().filter(|(held, _)| *held == stage.0).count();
            if 0 < done && done < searchable {
                pending.push(Backlog { stage: stage.0, count: searchable - done });
            }
        }
        let tags = self.tags.values().flatten().map(|tag| (tag.class, tag.key));
        let embedders = self.vectors.values().map(|(embedder, _)| embedder.clone());
        let embedders: std::collections::BTreeSet<String> = embedders.collect();
        let named: Vec<String> = embedders.into_iter().collect();
        BaseSummary {
            files: self.files.len(),
            sources: self.documents.len(),
            sections: self.documents.values().map(|document| document.graph.sections.len()).sum(),
            chunks: self.chunks().count(),
            questions: atoms(AtomKind::Question),
            sentences: atoms(AtomKind::Sentence),
            statements: atoms(AtomKind::Statement),
            records: self.records.len(),
            entities: self.entity_ids().len(),
            relations: self.relation_ids().len(),
            communities: self.communities.len(),
            reports: self.communities.values().filter(|it| it.report.is_some()).count(),
            summaries: self.summaries.len(),
            tags: tags.collect::<std::collections::BTreeSet<_>>().len(),
            vectors: self.vectors.len(),
            embedder: (!named.is_empty()).then(|| named.join(" and ")),
            pending,
            calls: self.calls.values().filter(|call| call.role != "embed").count(),
            usage: self.calls.values().fold(Usage::default(), |mut all, call| {
                all += call.usage;
                all
            }),
            refused: self.refused(),
        }
    }
}
