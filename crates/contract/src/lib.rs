//! What must every store do? A suite of what the ports promise, and random histories whose every read is
//! compared with the plainest store there is. A dev-dependency only.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a suite of tests fails by panics"
)]

mod agree;
mod history;
pub mod oracle;
pub mod suite;
pub mod tables;

use pikerag_knowledge::{
    DocumentGraph, FileRecord, Jobs, KnowledgeWriter, Ledger, PutReport, RunStore, Snapshots,
    VerifiedWriter,
};

pub use agree::agree;
pub use history::{Operation, histories};
pub use oracle::Oracle;

/// All that the suite asks of a store.
pub trait Store: KnowledgeWriter + Snapshots + Ledger + RunStore + VerifiedWriter + Jobs {}

impl<T: KnowledgeWriter + Snapshots + Ledger + RunStore + VerifiedWriter + Jobs> Store for T {}

/// A store without anything in it, and how files become documents.
pub struct Shelf<S> {
    /// What is tested.
    pub store: S,
    /// The documents of a file by its path and text, as the product reads it.
    pub documents: fn(&str, &str) -> Vec<DocumentGraph>,
}

impl<S: Store> Shelf<S> {
    /// Stores a file.
    pub async fn put(&self, path: &str, text: &str) -> PutReport {
        self.store.put_file(&record(path, text), (self.documents)(path, text)).await.unwrap()
    }
}

/// What is known of a file with this text.
pub fn record(path: &str, text: &str) -> FileRecord {
    FileRecord { path: path.to_owned(), hash: text.to_owned(), recipe: "r".to_owned() }
}

/// A test of each promise, for the store that `$fresh` makes: it returns what has to live as long as the
/// store, and the [`Shelf`].
#[macro_export]
macro_rules! contract {
    ($fresh:path) => {
        $crate::contract!(@each $fresh:
            the_nearest_chunks_in_order,
            the_nearest_atoms_in_order_without_those_of_some_chunks,
            atoms_come_by_chunk_in_their_own_order,
            words_find_chunks_best_first,
            equal_matches_go_by_identifier,
            terms_are_counted_in_what_is_there,
            what_is_missing_is_left_out,
            names_are_borne_mentioned_and_linked,
            storing_a_file_says_what_changed,
            deleting_takes_all_that_derives_from_a_file,
            chunks_wait_for_each_stage_page_by_page,
            vectors_of_another_embedder_are_missing_ones,
            entities_live_by_their_mentions,
            what_was_made_of_a_deleted_chunk_goes_at_once,
            structures_are_wanted_until_they_are_built_anew,
            a_snapshot_stays_as_it_was,
            a_filter_shows_what_it_admits_and_nothing_else,
            a_caller_learns_no_field_of_a_hidden_part,
            a_filter_by_an_unknown_field_says_which_there_are,
            a_call_is_kept_once_and_found_by_its_key,
            the_last_reply_to_a_request_is_found_and_each_by_its_own_key,
            a_call_is_claimed_by_one_until_it_is_kept_or_released,
            what_was_refused_is_told_until_it_is_answered_or_asked_for_again,
            runs_come_latest_first_and_by_how_their_names_begin,
            a_run_is_kept_anew_with_its_events_in_order,
            old_runs_go_and_what_still_runs_stays,
            a_leap_of_the_clock_makes_no_run_old,
            jobs_are_kept_with_their_files_and_found_by_state,
            files_of_a_job_are_marked_and_withdrawn,
            old_jobs_go_and_unfinished_ones_stay,
            what_a_person_said_stays_and_tells_what_has_changed,
            what_a_person_said_is_seen_by_who_sees_all_that_it_rests_on,
        );
    };
    (@each $fresh:path: $($promise:ident,)*) => {
        $(
            #[tokio::test]
            async fn $promise() {
                let (_kept, shelf) = $fresh();
                $crate::suite::$promise(&shelf).await;
            }
        )*
    };
}
