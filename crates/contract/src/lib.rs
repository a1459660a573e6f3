//! Tests that every store keeps the contract of its ports: a suite of promises, and random
//! histories whose reads are compared with a simple reference store. A dev-dependency only.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "tests fail by panicking"
)]

mod agree;
mod history;
pub mod oracle;
mod passages;
pub mod suite;
pub mod tables;

use pikerag_knowledge::{
    DocumentGraph, FileRecord, Jobs, KnowledgeWriter, Ledger, PutReport, RunStore, Snapshots,
    StructuredWriter, VerifiedWriter,
};

pub use agree::{agree, apply};
pub use history::{Operation, histories};
pub use oracle::Oracle;
pub use passages::passages;

/// All traits that the suite needs of a store.
pub trait Store:
    KnowledgeWriter + Snapshots + Ledger + RunStore + VerifiedWriter + StructuredWriter + Jobs
{
}

impl<T> Store for T where
    T: KnowledgeWriter + Snapshots + Ledger + RunStore + VerifiedWriter + StructuredWriter + Jobs
{
}

/// An empty store, and the function that reads files into documents.
pub struct Shelf<S> {
    /// The store under test.
    pub store: S,
    /// The documents of a file by its path and text, as the product reads it.
    pub documents: fn(&str, &str) -> Vec<DocumentGraph>,
}

impl<S: Store> Shelf<S> {
    /// Reads and stores a file.
    pub async fn put(&self, path: &str, text: &str) -> PutReport {
        self.store.put_file(&record(path, text), (self.documents)(path, text)).await.unwrap()
    }
}

/// The file record of a file with this text.
pub fn record(path: &str, text: &str) -> FileRecord {
    FileRecord { path: path.to_owned(), hash: text.to_owned(), recipe: "r".to_owned() }
}

/// Makes a test of each promise for the store that `$fresh` makes. `$fresh` resolves to a guard that
/// must live as long as the store, and the [`Shelf`]; to `None` where the store cannot be tested, for
/// example without a server.
#[macro_export]
macro_rules! contract {
    ($fresh:path) => {
        $crate::contract!(@each $fresh:
            the_nearest_chunks_in_order,
            the_nearest_atoms_in_order_without_those_of_some_chunks,
            atoms_come_by_chunk_in_their_own_order,
            words_find_chunks_best_first,
            equal_matches_are_ordered_by_identifier,
            terms_are_counted_in_existing_chunks_only,
            missing_items_are_left_out,
            names_find_titles_mentions_and_links,
            storing_a_file_reports_its_changes,
            deleting_a_file_removes_everything_derived_from_it,
            chunks_wait_for_each_stage_page_by_page,
            vectors_of_another_embedder_count_as_missing,
            entities_exist_while_they_are_mentioned,
            results_of_a_deleted_chunk_are_removed_at_once,
            structures_are_wanted_until_they_are_rebuilt,
            a_snapshot_stays_as_it_was,
            a_filter_shows_only_what_it_admits,
            a_filter_follows_each_change,
            a_caller_learns_no_field_of_a_hidden_part,
            an_unknown_filter_field_lists_the_known_fields,
            a_call_is_kept_once_and_found_by_its_key,
            the_last_reply_to_a_request_is_found_and_each_by_its_own_key,
            a_call_is_claimed_by_one_until_it_is_kept_or_released,
            refusals_are_listed_until_answered_or_retried,
            runs_are_listed_latest_first_and_found_by_prefix,
            a_run_is_replaced_with_its_events_in_order,
            old_runs_are_pruned_and_running_ones_stay,
            a_jump_of_the_clock_makes_no_run_old,
            jobs_are_kept_with_their_files_and_found_by_state,
            files_of_a_job_are_marked_and_withdrawn,
            old_jobs_are_pruned_and_unfinished_ones_stay,
            a_job_belongs_to_one_worker,
            files_of_a_job_are_shared_by_workers,
            a_lease_that_ran_out_is_taken_again,
            jobs_are_taken_by_priority_and_age,
            stopped_jobs_are_put_back_and_held,
            verified_answers_stay_and_list_what_has_changed,
            a_kept_passage_that_is_shown_otherwise_is_newer,
            verified_answers_are_visible_only_with_all_their_sources,
            structured_records_are_kept_with_their_schema,
            structured_records_go_with_what_they_were_made_from,
            structured_records_are_visible_only_with_their_schema,
            a_declared_schema_replaces_a_structured_one,
        );
    };
    (@each $fresh:path: $($promise:ident,)*) => {
        $(
            #[tokio::test]
            async fn $promise() {
                let Some((_kept, shelf)) = $fresh().await else { return };
                $crate::suite::$promise(&shelf).await;
            }
        )*
    };
}
