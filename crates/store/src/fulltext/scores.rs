//! Computes what each term adds to the score of a few chunks, without scoring other chunks.

use tantivy::query::{EnableScoring, Query, TermQuery, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

use super::{Admitted, TextSnapshot};

/// One list per chunk, in order, with one score per term, in order. A score is 0 if a chunk does
/// not contain the term, is not admitted or does not exist.
pub(super) fn of(
    text: &TextSnapshot,
    terms: &[String],
    chunks: &[u64],
    admitted: &Admitted,
) -> tantivy::Result<Vec<Vec<f32>>> {
    let weigh = |term: &String| -> tantivy::Result<Box<dyn Weight>> {
        let term = Term::from_field_text(text.body, term);
        TermQuery::new(term, IndexRecordOption::WithFreqs)
            .weight(EnableScoring::enabled_from_searcher(&text.searcher))
    };
    let weights: Vec<Box<dyn Weight>> = terms.iter().map(weigh).collect::<Result<_, _>>()?;
    let mut scores = vec![vec![0.0; terms.len()]; chunks.len()];
    let wanted: Vec<(usize, u64)> = chunks
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, chunk)| admitted.as_ref().is_none_or(|admitted| admitted.contains(chunk)))
        .collect();
    for segment in text.searcher.segment_readers() {
        let documents = documents(text, segment, &wanted)?;
        if documents.is_empty() {
            continue;
        }
        for (nth, weight) in weights.iter().enumerate() {
            let mut matches = weight.scorer(segment, 1.0)?;
            for (document, place) in &documents {
                if matches.doc() < *document {
                    matches.seek(*document);
                }
                if matches.doc() == *document
                    && let Some(score) = scores.get_mut(*place).and_then(|of| of.get_mut(nth))
                {
                    *score = matches.score();
                }
            }
        }
    }
    Ok(scores)
}

/// The documents of a segment that are these chunks, in order, each with its chunk's position.
fn documents(
    text: &TextSnapshot,
    segment: &SegmentReader,
    chunks: &[(usize, u64)],
) -> tantivy::Result<Vec<(DocId, usize)>> {
    let (ids, alive) = (segment.inverted_index(text.id)?, segment.alive_bitset());
    let mut documents = Vec::new();
    for (place, chunk) in chunks {
        let term = Term::from_field_u64(text.id, *chunk);
        let Some(mut postings) = ids.read_postings(&term, IndexRecordOption::Basic)? else {
            continue;
        };
        // A chunk that was stored again occurs more than once, but only one copy is alive.
        while postings.doc() != TERMINATED {
            if alive.is_none_or(|alive| alive.is_alive(postings.doc())) {
                documents.push((postings.doc(), *place));
            }
            postings.advance();
        }
    }
    documents.sort_unstable();
    Ok(documents)
}
