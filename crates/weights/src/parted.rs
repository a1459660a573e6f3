//! Embeds the parts of a text without reading it again: each part from its own tokens, as the model
//! saw them within the whole text ("late chunking", Günther et al. 2024).

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use pikerag_knowledge::{ModelError, Parted, PartedVectors, Vector};
use rayon::prelude::*;

use super::model::Scratch;
use super::tokenize::{Located, joined};
use super::{Loaded, batches, math};

impl Loaded {
    /// [`Loaded::embed`] for texts and also for their parts. A part that the model did not see,
    /// because the text was cut before it or it has no tokens, is embedded by itself.
    pub(super) fn embed_parted(
        &self,
        texts: &[Parted],
        is_cancelled: &AtomicBool,
    ) -> Result<Vec<PartedVectors>, ModelError> {
        let located: Vec<Located> = texts
            .par_iter()
            .map(|text| self.tokens.located(&text.text))
            .collect::<Result<_, _>>()
            .map_err(|cause| self.broken(cause))?;
        let (mut windows, mut spans) = (Vec::new(), Vec::new());
        for (text, located) in texts.iter().zip(&located) {
            for (window, places) in located.windows.iter().zip(&located.places) {
                windows.push(window.as_slice());
                spans.push(text.parts.iter().map(|part| tokens_of(part, places)).collect());
            }
        }
        let (wholes, parts): (Vec<_>, Vec<_>) =
            self.of_windows(&windows, &spans, is_cancelled)?.into_iter().unzip();
        let wholes = joined(located.iter().map(|located| &located.windows), wholes);
        let mut of_windows = parts.into_iter();
        let mut found = Vec::with_capacity(texts.len());
        let mut alone = Vec::new();
        for ((text, located), whole) in texts.iter().zip(&located).zip(wholes) {
            let mut parts = vec![Vector::new(); text.parts.len()];
            for of_window in of_windows.by_ref().take(located.windows.len()) {
                for (sum, part) in parts.iter_mut().zip(of_window) {
                    match sum.is_empty() {
                        true => *sum = part,
                        false => math::add(sum, &part),
                    }
                }
            }
            for (nth, (vector, part)) in parts.iter_mut().zip(&text.parts).enumerate() {
                if located.is_cut_before(part.end) || vector.is_empty() {
                    let text = text.text.get(part.clone()).unwrap_or_default();
                    alone.push((found.len(), nth, text.to_owned()));
                } else {
                    math::normalize(vector);
                }
            }
            found.push(PartedVectors { whole, parts });
        }
        let texts: Vec<String> = alone.iter().map(|(_, _, text)| text.clone()).collect();
        let vectors = self.embed(&texts, is_cancelled)?;
        for ((text, nth, _), vector) in alone.into_iter().zip(vectors) {
            if let Some(place) = found.get_mut(text).and_then(|found| found.parts.get_mut(nth)) {
                *place = vector;
            }
        }
        Ok(found)
    }

    /// For each window the sum over its tokens, and the sum over each span; split evenly over
    /// rayon's threads. Cancelled work returns early with partial results.
    pub(super) fn of_windows(
        &self,
        windows: &[&[u32]],
        spans: &[Vec<Range<usize>>],
        is_cancelled: &AtomicBool,
    ) -> Result<Vec<(Vector, Vec<Vector>)>, ModelError> {
        let mut rest = spans;
        let mut work = Vec::new();
        for batch in batches(windows, rayon::current_num_threads()) {
            let (own, others) = rest.split_at(batch.len());
            work.push((batch, own));
            rest = others;
        }
        let vectors: Vec<Vec<(Vector, Vec<Vector>)>> = work
            .into_par_iter()
            .map_init(Scratch::default, |scratch, (batch, spans)| {
                if is_cancelled.load(Ordering::Relaxed) {
                    return Ok(Vec::new());
                }
                self.model.embed(batch, spans, scratch)
            })
            .collect::<Result<_, _>>()
            .map_err(|cause| self.broken(cause.into()))?;
        Ok(vectors.into_iter().flatten().collect())
    }
}

/// The tokens that end within a part; tokens are in the order of the text.
fn tokens_of(part: &Range<usize>, places: &[Option<usize>]) -> Range<usize> {
    let within = |place: &Option<usize>| place.is_some_and(|place| part.contains(&place));
    let start = places.iter().position(within).unwrap_or(0);
    let end = places.iter().rposition(within).map_or(start, |last| last + 1);
    start..end
}
