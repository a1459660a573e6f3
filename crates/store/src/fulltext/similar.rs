//! Finds the terms of the index that a few typing errors turn into another term.

use std::collections::BTreeSet;

use pikerag_knowledge::{ChunkId, SimilarTerm, StoreError};
use pikerag_language::typing_errors;
use tantivy::Term;
use tantivy::query::TermQuery;
use tantivy::schema::IndexRecordOption;

use super::collect::AllScores;
use super::{Admitted, TextSnapshot};
use crate::error::Context;

/// Terms that are returned, at most.
const RETURNED: usize = 32;

impl TextSnapshot {
    /// The terms of admitted chunks that at most `most` typing errors turn into `typed`, in the
    /// order of [`SimilarTerm::order`].
    pub(crate) fn similar(
        &self,
        typed: &str,
        most: usize,
        admitted: &Admitted,
    ) -> Result<Vec<SimilarTerm>, StoreError> {
        self.similar_terms(typed, most, admitted).context("searching the full-text index")
    }

    fn similar_terms(
        &self,
        typed: &str,
        most: usize,
        admitted: &Admitted,
    ) -> tantivy::Result<Vec<SimilarTerm>> {
        // By errors, then by term. Several segments may hold a term.
        let mut near: BTreeSet<(usize, String)> = BTreeSet::new();
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(self.body)?;
            let mut terms = index.terms().stream()?;
            while terms.advance() {
                let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
                if let Some(errors) = typing_errors(typed, term, most) {
                    near.insert((errors, term.to_owned()));
                }
            }
        }
        let mut similar = Vec::new();
        for (errors, term) in near {
            let query =
                TermQuery::new(Term::from_field_text(self.body, &term), IndexRecordOption::Basic);
            let found = self.searcher.search(&query, &AllScores { admitted: admitted.clone() })?;
            if let Some(first) = found.iter().map(|(id, _)| ChunkId(*id)).min() {
                similar.push(SimilarTerm { term, errors, chunks: found.len(), first });
            }
            if similar.len() == RETURNED {
                break;
            }
        }
        similar.sort_by(SimilarTerm::order);
        Ok(similar)
    }
}
