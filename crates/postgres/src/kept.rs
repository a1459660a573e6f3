//! Implements what the product needs of a store beyond the ports, by the methods of [`Base`].

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{
    CallRecord, Correction, FileRecord, Filter, Lease, Millis, RunEvent, RunId, SourceId,
    StoreError,
};
use pikerag_store::{
    Copied, ExportLine, FileCounts, Finding, KeptBase, Line, Originals, Overwriting, Remains,
    Repair, StoredUploads,
};
use tokio::sync::watch;

use crate::base::Base;

// A method of the type comes before one of the trait, so no method below calls itself.
#[async_trait]
impl KeptBase for Base {
    fn folder(&self) -> &Path {
        Self::folder(self)
    }

    fn opening(&self) -> u64 {
        Self::opening(self)
    }

    fn is_read_only(&self) -> bool {
        Self::is_read_only(self)
    }

    fn pending_of(&self, files: Vec<String>) -> Arc<dyn KeptBase> {
        Arc::new(Self::pending_of(self, files))
    }

    fn leased(&self, lease: Lease) -> Arc<dyn KeptBase> {
        Arc::new(Self::leased(self, lease))
    }

    async fn for_a_question(&self) -> Result<Arc<dyn KeptBase>, StoreError> {
        Ok(Arc::new(Self::for_a_question(self).await?))
    }

    async fn seen_through(
        &self,
        visible: &Filter,
        filter: &Filter,
    ) -> Result<Arc<dyn KeptBase>, StoreError> {
        Ok(Arc::new(Self::seen_through(self, visible, filter).await?))
    }

    async fn settled(&self) {
        Self::settled(self).await;
    }

    async fn root(&self) -> Result<Option<String>, StoreError> {
        Self::root(self).await
    }

    async fn keep_root(&self, folder: &str) -> Result<String, StoreError> {
        Self::keep_root(self, folder).await
    }

    async fn mounts(&self) -> Result<Vec<String>, StoreError> {
        Self::mounts(self).await
    }

    async fn add_mounts(&self, folders: Vec<String>) -> Result<(), StoreError> {
        Self::add_mounts(self, folders).await
    }

    async fn file_counts(&self) -> Result<Vec<FileCounts>, StoreError> {
        Self::file_counts(self).await
    }

    async fn dimensions(&self, embedder: &str) -> Result<Option<usize>, StoreError> {
        Self::dimensions(self, embedder).await
    }

    async fn corrections(&self, file: &str, hash: &str) -> Result<Vec<Correction>, StoreError> {
        Self::corrections(self, file, hash).await
    }

    async fn read_corrections(
        &self,
        file: &str,
        hash: &str,
    ) -> Result<Vec<Correction>, StoreError> {
        Self::read_corrections(self, file, hash).await
    }

    async fn add_corrections(
        &self,
        file: &str,
        hash: &str,
        new: Vec<Correction>,
    ) -> Result<Vec<Correction>, StoreError> {
        Self::add_corrections(self, file, hash, new).await
    }

    async fn remove_correction(
        &self,
        file: &str,
        hash: &str,
        place: usize,
    ) -> Result<Option<Vec<Correction>>, StoreError> {
        Self::remove_correction(self, file, hash, place).await
    }

    async fn read_again(&self, files: &[String]) -> Result<usize, StoreError> {
        Self::read_again(self, files).await
    }

    async fn text_of(&self, source: SourceId) -> Result<Option<String>, StoreError> {
        Self::text_of(self, source).await
    }

    async fn files_without_original(&self) -> Result<Vec<FileRecord>, StoreError> {
        Self::files_without_original(self).await
    }

    async fn keep_original(&self, hash: &str, bytes: Vec<u8>) -> Result<bool, StoreError> {
        Self::keep_original(self, hash, bytes).await
    }

    async fn original(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Self::original(self, hash).await
    }

    async fn originals(&self) -> Result<Originals, StoreError> {
        Self::originals(self).await
    }

    fn stored_uploads(&self) -> Option<Arc<dyn StoredUploads>> {
        Some(Arc::new(self.clone()))
    }

    async fn keep_soon(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        Self::keep_soon(self, calls).await
    }

    async fn beat_run(&self, run: &RunId) -> Result<(), StoreError> {
        Self::beat_run(self, run).await
    }

    async fn silent_runs(&self) -> Result<Option<BTreeSet<RunId>>, StoreError> {
        Self::silent_runs(self).await.map(Some)
    }

    async fn end_silent_runs(&self, reason: &str) -> Result<usize, StoreError> {
        Self::end_silent_runs(self, reason).await
    }

    fn run_changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.inner.database.run_changes())
    }

    async fn run_events_after(
        &self,
        run: &RunId,
        after: Option<u32>,
    ) -> Result<Vec<RunEvent>, StoreError> {
        Self::run_events_after(self, run, after).await
    }

    async fn remains_of(&self, files: &[String]) -> Result<Remains, StoreError> {
        Self::remains_of(self, files).await
    }

    async fn forget_files(
        &self,
        files: &[String],
        now: Millis,
    ) -> Result<(Remains, Overwriting), StoreError> {
        Self::forget_files(self, files, now).await
    }

    async fn finish_forgetting(&self) -> Result<Overwriting, StoreError> {
        Self::finish_forgetting(self).await
    }

    async fn forgotten_run(&self, name: &str) -> Result<Option<(RunId, Millis)>, StoreError> {
        Self::forgotten_run(self, name).await
    }

    async fn check(&self, repair: Repair) -> Result<Vec<Finding>, StoreError> {
        Self::check(self, repair).await
    }

    async fn backup(&self, to: &Path) -> Result<Copied, StoreError> {
        Self::backup(self, to).await
    }

    fn export(&self, line: Line<'_>) -> Result<(), StoreError> {
        Self::export(self, line)
    }

    fn export_edges(&self, line: Line<'_>) -> Result<(), StoreError> {
        Self::export_edges(self, line)
    }

    fn export_named(&self, line: Line<'_>) -> Result<(), StoreError> {
        Self::export_named(self, line)
    }

    fn nodes_by_id(&self, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError> {
        Self::nodes_by_id(self, ids)
    }

    fn edges_of(&self, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError> {
        Self::edges_of(self, ids)
    }
}
