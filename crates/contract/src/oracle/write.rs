//! Stores the results of indexing in lists; removes dependent results at once.

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, Chunk, ChunkId, ChunkKind, ChunkResults, ChunkTags, CommunityReport, CorpusWriter,
    DeclaredSchema, DocumentGraph, FileRecord, InChunk, Kept, ModelTexts, NodeVector, PutReport,
    Record, SchemaHash, SearchWriter, SourceId, SourceSummary, Stage, StoreError, Summary,
    VectorSet, Which,
};

use super::{Document, HeldRecord, Oracle, State};

#[async_trait]
impl CorpusWriter for Oracle {
    async fn files(&self, which: Which<'_, &str>) -> Result<Vec<FileRecord>, StoreError> {
        let state = self.state();
        Ok(match which {
            Which::All => state.files.values().cloned().collect(),
            Which::Of(paths) => {
                paths.iter().filter_map(|path| state.files.get(*path).cloned()).collect()
            }
        })
    }

    async fn put_file(
        &self,
        file: &FileRecord,
        documents: Vec<DocumentGraph>,
    ) -> Result<PutReport, StoreError> {
        let mut state = self.state();
        let before: Vec<Chunk> = state.chunks_of_file(&file.path);
        let after: Vec<ChunkId> =
            documents.iter().flat_map(|graph| &graph.chunks).map(|chunk| chunk.id).collect();
        let kept = before.iter().filter(|chunk| after.contains(&chunk.id)).count();
        let report = PutReport { added: after.len() - kept, kept, removed: before.len() - kept };
        let same_recipe =
            state.files.get(&file.path).is_some_and(|held| held.recipe == file.recipe);
        let sources: Vec<SourceId> = documents.iter().map(|graph| graph.source.id).collect();
        state.documents.retain(|id, held| held.file != file.path || sources.contains(id));
        for graph in documents {
            state.put_document(&file.path, graph, same_recipe);
        }
        state.files.insert(file.path.clone(), file.clone());
        state.generation += 1;
        let generation = state.generation;
        let is_new = |chunk: &&ChunkId| before.iter().all(|held| held.id != **chunk);
        state.born.extend(after.iter().filter(is_new).map(|chunk| (*chunk, generation)));
        state.prune();
        state.prune_found();
        state.prune_refusals();
        Ok(report)
    }

    async fn delete_file(&self, path: &str) -> Result<bool, StoreError> {
        let mut state = self.state();
        let was_there = state.files.remove(path).is_some();
        state.documents.retain(|_, held| held.file != path);
        state.generation += 1;
        state.prune();
        state.prune_found();
        state.prune_refusals();
        Ok(was_there)
    }

    async fn put_chunk_results(&self, results: ChunkResults) -> Result<(), StoreError> {
        let mut state = self.state();
        match results {
            ChunkResults::Summaries(mark, found) => {
                state.generation += 1;
                for InChunk { chunk, found } in state.still_there(found) {
                    state.put_summary(chunk, found);
                    state.done.insert((mark.0.clone(), chunk));
                }
            }
            ChunkResults::Atoms(mark, found) => {
                for InChunk { chunk, found } in state.still_there(found) {
                    state.put_atoms(chunk, found);
                    state.done.insert((mark.0.clone(), chunk));
                }
            }
            ChunkResults::Records(mark, declared, found) => {
                for InChunk { chunk, found } in state.still_there(found) {
                    state.put_records(chunk, declared, found);
                    state.done.insert((mark.0.clone(), chunk));
                }
            }
            ChunkResults::Shapes(found) => {
                for InChunk { chunk, .. } in found {
                    if state.chunk(chunk).is_some() {
                        state.done.insert((Stage::tables().0, chunk));
                    }
                }
            }
            ChunkResults::Extractions(by, found) => {
                for InChunk { chunk, found } in state.still_there(found) {
                    state.put_extraction(by, chunk, found);
                }
                state.prune();
            }
            ChunkResults::Tags(found) => {
                for ChunkTags { chunk, classes, tags } in found {
                    if state.chunk(chunk).is_some() {
                        state.put_tags(chunk, classes, &tags);
                    }
                }
            }
        }
        Ok(())
    }

    async fn put_texts(&self, texts: ModelTexts) -> Result<(), StoreError> {
        let mut state = self.state();
        match texts {
            ModelTexts::Sources(all) => all.into_iter().for_each(|it| state.put_about_source(it)),
            ModelTexts::Descriptions(all) => {
                for it in all {
                    state.put_description(it);
                }
            }
            ModelTexts::Reports(reports) => {
                for CommunityReport { community, report } in reports {
                    if let Some(held) = state.communities.get_mut(&community) {
                        held.report = Some(report);
                    }
                }
            }
            ModelTexts::Clusters(summaries) => {
                for summary in summaries {
                    state.summaries.entry(summary.id).or_insert(summary);
                    state.prune();
                }
            }
        }
        Ok(())
    }

    async fn keep_only(&self, kept: Kept<'_>) -> Result<usize, StoreError> {
        let mut state = self.state();
        match kept {
            Kept::Records(declared) => Ok(state.keep_records(declared)),
            Kept::Summaries(level, ids) => {
                let goes = |it: &Summary| it.level == level && !ids.contains(&it.id);
                let gone = state.summaries.values().filter(|it| goes(it)).count();
                state.summaries.retain(|_, summary| !goes(summary));
                state.prune();
                Ok(gone)
            }
        }
    }
}

#[async_trait]
impl SearchWriter for Oracle {
    async fn put_vectors(
        &self,
        set: VectorSet,
        embedder: &str,
        vectors: Vec<NodeVector>,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        for NodeVector { node, vector } in vectors {
            state.vectors.insert((set, node), (embedder.to_owned(), vector));
        }
        state.prune();
        Ok(())
    }

    async fn refresh(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl State {
    /// Removes results of deleted chunks.
    fn still_there<T>(&self, mut found: Vec<InChunk<T>>) -> Vec<InChunk<T>> {
        found.retain(|found| self.chunk(found.chunk).is_some());
        found
    }

    fn put_summary(&mut self, chunk: ChunkId, summary: Option<String>) {
        if summary.is_some() && self.set_summary(chunk, summary) {
            self.make_again(chunk);
        }
    }

    fn put_atoms(&mut self, chunk: ChunkId, found: Vec<Atom>) {
        let atoms = self.atoms.entry(chunk).or_default();
        for atom in found {
            if !atoms.iter().any(|it| it.id == atom.id) {
                atoms.push(atom);
            }
        }
    }

    pub(super) fn put_records(&mut self, chunk: ChunkId, declared: SchemaHash, found: Vec<Record>) {
        let start = self.chunk(chunk).map_or(0, |held| held.span.start);
        for (ordinal, mut record) in found.into_iter().enumerate() {
            record.span.start -= start;
            record.span.end -= start;
            self.records.retain(|held| held.record.id != record.id);
            self.records.push(HeldRecord { declared, ordinal, record });
        }
    }

    fn put_about_source(&mut self, SourceSummary { source, hash, summary }: SourceSummary) {
        let Some(document) = self.documents.get_mut(&source) else { return };
        let held = &mut document.graph.source;
        if held.hash == hash && held.summary.as_ref() != Some(&summary) {
            held.summary = Some(summary);
            self.vectors.remove(&(VectorSet::Sources, source.into()));
        }
    }

    fn keep_records(&mut self, declared: &[DeclaredSchema]) -> usize {
        let before = self.records.len();
        self.retain_schemas(|_, held| {
            declared.iter().all(|declared| declared.name != held.kept.schema.name)
        });
        let structured: Vec<u64> = self.structured.keys().copied().collect();
        self.records.retain(|held| {
            if structured.contains(&held.declared.0) {
                return true;
            }
            let is_declared =
                |it: &DeclaredSchema| it.name == held.record.schema && it.hash == held.declared;
            declared.iter().any(is_declared)
        });
        let begins: Vec<String> =
            declared.iter().map(|it| format!("records:{}:{:016x}:", it.name, it.hash.0)).collect();
        self.done.retain(|(stage, _)| {
            !stage.starts_with("records:") || begins.iter().any(|it| stage.starts_with(it))
        });
        before - self.records.len()
    }

    fn chunks_of_file(&self, path: &str) -> Vec<Chunk> {
        let of = self.documents.values().filter(|held| held.file == path);
        of.flat_map(|held| &held.graph.chunks).cloned().collect()
    }

    /// Replaces a document; model results stay if they still fit.
    fn put_document(&mut self, file: &str, mut graph: DocumentGraph, same_recipe: bool) {
        let id = graph.source.id;
        if let Some(held) = self.documents.get(&id) {
            let before = &held.graph;
            let as_it_was = |it: &DocumentGraph| {
                let source = it.source.clone();
                pikerag_knowledge::Source { summary: None, uri: String::new(), ..source }
            };
            if same_recipe && as_it_was(before) == as_it_was(&graph) {
                graph.source.summary.clone_from(&before.source.summary);
                graph.sections.clone_from(&before.sections);
            } else {
                let is_called =
                    |it: &DocumentGraph| (it.source.title.clone(), it.source.summary.clone());
                if is_called(before) != is_called(&graph) {
                    self.vectors.remove(&(VectorSet::Sources, id.into()));
                }
                for section in &before.sections {
                    self.vectors.remove(&(VectorSet::Sections, section.id.into()));
                }
            }
        }
        let before: Vec<Chunk> =
            self.documents.get(&id).map(|held| held.graph.chunks.clone()).unwrap_or_default();
        let retold = self.documents.get(&id);
        let retold = retold.is_some_and(|held| held.graph.source.metadata != graph.source.metadata);
        for held in &before {
            // Records are read from cells, and from the document's metadata.
            let now = graph.chunks.iter().find(|chunk| chunk.id == held.id);
            let is_other = now.is_some_and(|now| {
                now.table != held.table
                    || now.kind != held.kind
                    || (now.ordinal == 0) != (held.ordinal == 0)
            });
            if retold || is_other {
                self.records.retain(|record| record.record.chunk != held.id);
                self.done.retain(|(stage, of)| *of != held.id || !stage.starts_with("records:"));
                self.structured.values_mut().for_each(|schema| {
                    schema.read.remove(&held.id);
                });
            }
        }
        for chunk in &mut graph.chunks {
            let Some(held) = before.iter().find(|held| held.id == chunk.id) else { continue };
            let shown = |it: &Chunk| (it.headings.clone(), it.kind, it.hidden);
            if shown(held) != shown(chunk) {
                self.born.insert(chunk.id, self.generation + 1);
            }
            let described_later = matches!(chunk.kind, ChunkKind::Table | ChunkKind::Figure);
            if chunk.summary.is_none() && described_later {
                chunk.summary.clone_from(&held.summary);
            } else if chunk.summary != held.summary {
                self.vectors.remove(&(VectorSet::Chunks, chunk.id.into()));
                self.born.insert(chunk.id, self.generation + 1);
            }
        }
        self.documents.insert(id, Document { file: file.to_owned(), graph });
    }

    /// Replaces the summary of a chunk. Returns whether it differs.
    fn set_summary(&mut self, id: ChunkId, summary: Option<String>) -> bool {
        let mut all = self.documents.values_mut().flat_map(|held| &mut held.graph.chunks);
        let chunk = all.find(|chunk| chunk.id == id && chunk.summary != summary);
        let Some(chunk) = chunk else { return false };
        chunk.summary = summary;
        self.vectors.remove(&(VectorSet::Chunks, id.into()));
        self.born.insert(id, self.generation);
        true
    }

    /// A figure whose image has appeared is read again.
    fn make_again(&mut self, id: ChunkId) {
        if self.chunk(id).is_some_and(|chunk| chunk.kind == ChunkKind::Figure) {
            self.done.retain(|(stage, chunk)| *chunk != id || stage.starts_with("describe:"));
            self.atoms.remove(&id);
            self.tags.remove(&id);
            self.prune();
            self.prune_found();
        }
    }

    pub(super) fn waiting(
        &self,
        stage: &Stage,
        after: Option<ChunkId>,
        limit: usize,
        fits: impl Fn(&Chunk) -> bool,
    ) -> Vec<ChunkId> {
        let fits = |chunk: &&Chunk| {
            let is_done = self.done.contains(&(stage.0.clone(), chunk.id));
            fits(chunk) && !is_done && after.is_none_or(|after| after < chunk.id)
        };
        let mut ids: Vec<ChunkId> = self.chunks().filter(fits).map(|chunk| chunk.id).collect();
        ids.sort_unstable();
        ids.truncate(limit);
        ids
    }
}
