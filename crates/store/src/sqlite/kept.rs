//! Defines what the product needs of a store beyond the ports: where files come from, corrections, originals, exports,
//! forgetting, checks. Every store implements it, so that nothing else knows which one it uses.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::{
    CallRecord, Correction, FileRecord, Filter, Jobs, KnowledgeWriter, Lease, Ledger, Millis,
    RunEvent, RunId, RunStore, Snapshots, SourceId, StoreError, StructuredWriter, VerifiedWriter,
};
use tokio::sync::watch;

use super::base::Base;
use crate::{
    Copied, ExportLine, FileCounts, Finding, Originals, Overwriting, Remains, Repair, StoredUploads,
};

/// Takes the lines of an export, one by one.
pub type Line<'a> = &'a mut (dyn FnMut(ExportLine) -> io::Result<()> + Send);

/// After this time without a sign, a run of another machine counts as ended. Its process shows one every
/// [`RUN_BEAT`].
pub const RUN_SILENT: Duration = Duration::from_mins(1);
/// The time between two signs of a run.
pub const RUN_BEAT: Duration = Duration::from_secs(15);

/// A base in any store. Each method does what the method of the same name of [`Base`] does.
///
/// # Errors
/// The base cannot be read or written.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
#[expect(missing_docs, reason = "`Base` says what each does")]
pub trait KeptBase:
    KnowledgeWriter + Snapshots + Ledger + RunStore + VerifiedWriter + StructuredWriter + Jobs
{
    /// The folder of the base, or its address without a password.
    fn folder(&self) -> &Path;
    fn opening(&self) -> u64;
    fn is_read_only(&self) -> bool;
    fn pending_of(&self, files: Vec<String>) -> Arc<dyn KeptBase>;
    fn leased(&self, lease: Lease) -> Arc<dyn KeptBase>;
    async fn for_a_question(&self) -> Result<Arc<dyn KeptBase>, StoreError>;
    async fn seen_through(
        &self,
        visible: &Filter,
        filter: &Filter,
    ) -> Result<Arc<dyn KeptBase>, StoreError>;
    async fn settled(&self);

    async fn root(&self) -> Result<Option<String>, StoreError>;
    async fn keep_root(&self, folder: &str) -> Result<String, StoreError>;
    async fn mounts(&self) -> Result<Vec<String>, StoreError>;
    async fn add_mounts(&self, folders: Vec<String>) -> Result<(), StoreError>;
    async fn file_counts(&self) -> Result<Vec<FileCounts>, StoreError>;
    async fn dimensions(&self, embedder: &str) -> Result<Option<usize>, StoreError>;

    async fn corrections(&self, file: &str, hash: &str) -> Result<Vec<Correction>, StoreError>;
    async fn read_corrections(&self, file: &str, hash: &str)
    -> Result<Vec<Correction>, StoreError>;
    async fn add_corrections(
        &self,
        file: &str,
        hash: &str,
        new: Vec<Correction>,
    ) -> Result<Vec<Correction>, StoreError>;
    async fn remove_correction(
        &self,
        file: &str,
        hash: &str,
        place: usize,
    ) -> Result<Option<Vec<Correction>>, StoreError>;
    async fn read_again(&self, files: &[String]) -> Result<usize, StoreError>;
    async fn text_of(&self, source: SourceId) -> Result<Option<String>, StoreError>;

    async fn files_without_original(&self) -> Result<Vec<FileRecord>, StoreError>;
    async fn keep_original(&self, hash: &str, bytes: Vec<u8>) -> Result<bool, StoreError>;
    async fn original(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError>;
    async fn originals(&self) -> Result<Originals, StoreError>;

    /// The uploads that the base keeps; `None` if they are in a folder beside it.
    fn stored_uploads(&self) -> Option<Arc<dyn StoredUploads>>;

    async fn keep_soon(&self, calls: Vec<CallRecord>) -> Result<(), StoreError>;

    /// Shows other machines that a run goes on. Its events show it, too.
    async fn beat_run(&self, run: &RunId) -> Result<(), StoreError>;
    /// The running runs that showed nothing for [`RUN_SILENT`](crate::RUN_SILENT); `None` if all processes
    /// that use the base are on this machine.
    async fn silent_runs(&self) -> Result<Option<BTreeSet<RunId>>, StoreError>;
    /// Records that these runs failed, for this reason. Returns their number.
    async fn end_silent_runs(&self, reason: &str) -> Result<usize, StoreError>;
    /// A number that changes when runs have more events; `None` without notifications. It may
    /// miss changes.
    fn run_changes(&self) -> Option<watch::Receiver<u64>>;
    /// The events of a run behind one of them.
    async fn run_events_after(
        &self,
        run: &RunId,
        after: Option<u32>,
    ) -> Result<Vec<RunEvent>, StoreError>;

    async fn remains_of(&self, files: &[String]) -> Result<Remains, StoreError>;
    async fn forget_files(
        &self,
        files: &[String],
        now: Millis,
    ) -> Result<(Remains, Overwriting), StoreError>;
    async fn finish_forgetting(&self) -> Result<Overwriting, StoreError>;
    async fn forgotten_run(&self, name: &str) -> Result<Option<(RunId, Millis)>, StoreError>;

    async fn check(&self, repair: Repair) -> Result<Vec<Finding>, StoreError>;
    /// Writes the base to one SQLite file, which every store restores.
    async fn backup(&self, to: &Path) -> Result<Copied, StoreError>;

    /// Blocks its thread, which must not be one of the runtime's; so do the next four.
    fn export(&self, line: Line<'_>) -> Result<(), StoreError>;
    fn export_edges(&self, line: Line<'_>) -> Result<(), StoreError>;
    fn export_named(&self, line: Line<'_>) -> Result<(), StoreError>;
    fn nodes_by_id(&self, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError>;
    fn edges_of(&self, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError>;
}

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
        None
    }

    async fn keep_soon(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        Self::keep_soon(self, calls).await
    }

    async fn beat_run(&self, _: &RunId) -> Result<(), StoreError> {
        Ok(())
    }

    async fn silent_runs(&self) -> Result<Option<BTreeSet<RunId>>, StoreError> {
        Ok(None)
    }

    async fn end_silent_runs(&self, _: &str) -> Result<usize, StoreError> {
        Ok(0)
    }

    fn run_changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    async fn run_events_after(
        &self,
        run: &RunId,
        after: Option<u32>,
    ) -> Result<Vec<RunEvent>, StoreError> {
        let mut events = self.run_events(run).await?;
        events.retain(|event| after.is_none_or(|after| after < event.seq));
        Ok(events)
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
