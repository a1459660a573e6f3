//! Lets the nearest labelled questions decide whether to retrieve (SKR: Wang et al., 2023, §3.2,
//! the nearest-neighbour variant; RA-ISF §4.4).

use std::num::NonZeroUsize;

use pikerag_knowledge::{Answer, Context, Criterion, Event, JudgedBy, Question, Role};
use pikerag_language::content_words;
use pikerag_retrieve::RetrieveError;
use tracing::instrument;

use pikerag_methods::conclude::conclude;
use pikerag_methods::retrieval::{RetrievalParams, look_up};
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Range, Variant, WithoutModel, field};
use pikerag_methods::unaided::{conclude_recalled, recall};
use pikerag_methods::{LabelledQuestion, Ports, Run, SolveError};

/// The number of neighbours that decide, and the retrieval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Labelled questions that vote (k): the nearest ones.
    pub k: NonZeroUsize,
    /// The retrieval, if the neighbours decide for it.
    pub retrieval: RetrievalParams,
}

impl Default for Params {
    /// k = 5; 5 chunks with any score (RA-ISF §4.3).
    fn default() -> Self {
        Self { k: const { NonZeroUsize::new(5).unwrap() }, retrieval: RetrievalParams::top(5) }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "skr",
            "the nearest questions of a labelled set decide whether to retrieve",
            "Wang et al. 2023; RA-ISF Table 1",
            |_| {},
        )],
        parameters: &[field!(k, "neighbours (k)", Range::COUNT)],
        roles: &[Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            chunks: params.retrieval.chunks as f64 * 0.5,
            most_chunks: params.retrieval.chunks as u64,
            fixed: 330,
            reply: 100,
            ..Cost::of_one_call(
                "one call, with passages if the nearest labelled questions needed them",
            )
        },
    };
}

/// Answers `question` from passages, or without them if the model knows most of its neighbours: one
/// chat call in either case.
///
/// Differs from the paper: a plain majority decides, not one scaled by the number of questions of
/// either kind. A tie is no majority: passages are retrieved.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "skr", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    ports.models.need(Role::Answer)?;
    let neighbours = nearest(ports, question, params.k.get()).await?;
    for (similarity, labelled) in &neighbours {
        judge(run, &labelled.text, labelled.known, *similarity);
    }
    let known = neighbours.iter().filter(|(_, labelled)| labelled.known).count();
    let is_known = neighbours.len() < 2 * known;
    judge(run, &question.text, is_known, known as f64 / neighbours.len() as f64);
    if is_known {
        let recalled = recall(ports, run, question, "").await?;
        return conclude_recalled(ports, recalled, run).await;
    }
    let context = Context::of(1, look_up(ports, run, 1, question.query(), params.retrieval).await?);
    conclude(ports, question, context, run).await
}

/// The labelled questions closest to a question, nearest first, equally near ones in their order:
/// by meaning, or by shared words without an embedder. At least one.
async fn nearest<'a>(
    ports: &'a Ports,
    question: &Question,
    k: usize,
) -> Result<Vec<(f64, &'a LabelledQuestion)>, SolveError> {
    let labelled = &ports.models.labelled;
    if labelled.is_empty() {
        return Err(SolveError::NoLabelledQuestions);
    }
    let texts = labelled.iter().map(|labelled| labelled.text.clone());
    let texts: Vec<String> = [question.query().to_owned()].into_iter().chain(texts).collect();
    let vectors = ports.finder().vectors(&texts).await.map_err(RetrieveError::from)?;
    let similarities: Vec<f64> = match vectors.as_deref() {
        Some([asked, others @ ..]) => others.iter().map(|other| cosine(asked, other)).collect(),
        _ => labelled.iter().map(|other| shared_words(question.query(), &other.text)).collect(),
    };
    let mut near: Vec<(f64, &LabelledQuestion)> =
        similarities.into_iter().zip(labelled.iter()).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.truncate(k);
    Ok(near)
}

/// The cosine of unit vectors.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum()
}

/// The share of two questions' words that both have, from 0 to 1.
fn shared_words(a: &str, b: &str) -> f64 {
    let (a, b) = (content_words(a), content_words(b));
    let shared = a.iter().filter(|word| b.contains(word)).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

fn judge(run: &mut Run, of: &str, holds: bool, score: f64) {
    run.push(Event::Judged {
        criterion: Criterion::Known,
        of: of.to_owned(),
        holds,
        score: Some(score),
        by: JudgedBy::Neighbours,
    });
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
