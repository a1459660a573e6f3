//! Reads the content of documents from lists.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, AtomId, AtomKind, AtomQuery, Backlog, BaseState, BaseSummary, Chunk, ChunkId,
    CorpusReader, Derived, ExtractBy, Generation, Image, Record, RecordsOf, Source, SourceId, Span,
    Stage, StoreError, Usage, Which,
};

use super::{Oracle, State};

#[async_trait]
impl CorpusReader for Oracle {
    async fn sources(&self, which: Which<'_, SourceId>) -> Result<Vec<Source>, StoreError> {
        let state = self.state();
        if let Which::Of(ids) = which {
            return Ok(ids.iter().filter_map(|id| state.source(*id).cloned()).collect());
        }
        let all = state.documents.values().map(|document| document.graph.source.clone());
        let mut all: Vec<Source> = all.collect();
        all.sort_by(|a, b| a.uri.cmp(&b.uri));
        Ok(all)
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

    async fn sample_titles(&self, n: usize) -> Result<Vec<String>, StoreError> {
        let state = self.state();
        let mut seen: Vec<&Chunk> = state.chunks().filter(|chunk| !chunk.hidden).collect();
        seen.sort_by_key(|chunk| chunk.id.0.cast_signed());
        Ok(seen.into_iter().take(n).map(|chunk| chunk.title.clone()).collect())
    }

    async fn languages(&self) -> Result<Vec<(Option<String>, usize)>, StoreError> {
        let mut counts: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for source in self.sources(Which::All).await? {
            *counts.entry(source.language).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(counts)
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

    async fn atoms(&self, query: AtomQuery<'_>) -> Result<Vec<Atom>, StoreError> {
        let state = self.state();
        Ok(match query {
            AtomQuery::These(ids) => {
                let atom = |id: &AtomId| state.atoms.values().flatten().find(|it| it.id == *id);
                ids.iter().filter_map(atom).cloned().collect()
            }
            AtomQuery::InChunks(kind, chunks) => {
                let atoms = chunks.iter().filter_map(|chunk| state.atoms.get(chunk)).flatten();
                atoms.filter(|atom| atom.kind == kind).cloned().collect()
            }
        })
    }

    async fn records(&self, of: RecordsOf<'_>) -> Result<Vec<Record>, StoreError> {
        let state = self.state();
        let wanted = |held: &&super::HeldRecord| match of {
            RecordsOf::All => true,
            RecordsOf::Schema(name) => held.record.schema == name,
            RecordsOf::Chunks(ids) => ids.contains(&held.record.chunk),
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

    async fn state(&self) -> Result<BaseState, StoreError> {
        let state = self.state();
        Ok(BaseState {
            generation: Generation(state.generation),
            chunks: state.chunks().count(),
            embedder: state.whole.as_deref().unwrap_or(&state).embedder(),
            scope: None,
        })
    }

    async fn has(&self, content: Derived) -> Result<bool, StoreError> {
        let summary = self.state().summed_up();
        Ok(0 != match content {
            Derived::Atoms(AtomKind::Question) => summary.questions,
            Derived::Atoms(AtomKind::Sentence) => summary.sentences,
            Derived::Atoms(AtomKind::Statement) => summary.statements,
            Derived::Entities => summary.entities,
            Derived::Summaries => summary.summaries,
            Derived::Tags => summary.tags,
        })
    }

    async fn summary(&self) -> Result<BaseSummary, StoreError> {
        Ok(self.state().summed_up())
    }
}

impl State {
    fn embedder(&self) -> Option<String> {
        let names: BTreeSet<&str> = self.vectors.values().map(|(name, _)| name.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        (!names.is_empty()).then(|| names.join(" and "))
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
            tags: tags.collect::<BTreeSet<_>>().len(),
            vectors: self.vectors.len(),
            embedder: self.embedder(),
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
