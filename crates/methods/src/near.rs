//! Finds the nearest of a list of questions.

use pikerag_knowledge::cosine;
use pikerag_language::content_words;
use pikerag_retrieve::RetrieveError;

use crate::ports::{Ports, SolveError};

/// The places of the `k` texts closest to a query with their similarities, nearest first, equally near ones in their
/// order: by meaning (cosine), or by the share of words (0 to 1) without an embedder.
///
/// # Errors
/// The embedder failed.
pub async fn nearest(
    ports: &Ports,
    query: &str,
    texts: &[&str],
    k: usize,
) -> Result<Vec<(f64, usize)>, SolveError> {
    let all = [query].into_iter().chain(texts.iter().copied());
    let all: Vec<String> = all.map(str::to_owned).collect();
    let vectors = ports.finder().vectors(&all).await.map_err(RetrieveError::from)?;
    let similarities: Vec<f64> = match vectors.as_deref() {
        Some([asked, others @ ..]) => {
            others.iter().map(|other| f64::from(cosine(asked, other))).collect()
        }
        _ => texts.iter().map(|other| shared_words(query, other)).collect(),
    };
    let mut near: Vec<(f64, usize)> = similarities.into_iter().zip(0..).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.truncate(k);
    Ok(near)
}

/// The share of two questions' words that both have, from 0 to 1.
fn shared_words(a: &str, b: &str) -> f64 {
    let (a, b) = (content_words(a), content_words(b));
    let shared = a.iter().filter(|word| b.contains(word)).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_are_measured() {
        for (a, b, share) in [
            ("Where was Ilse Brandt born?", "When was Ilse Brandt born?", 1.0),
            ("Ilse Brandt", "Ilse Hale", 1.0 / 3.0),
            ("tea", "crane", 0.0),
            ("", "?", 0.0),
        ] {
            assert!((shared_words(a, b) - share).abs() < 1e-9, "{a} {b}");
        }
    }
}
