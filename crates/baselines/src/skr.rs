//! Lets the nearest labelled questions decide whether to retrieve (SKR: Wang et al., 2023, §3.2,
//! the nearest-neighbour variant; RA-ISF §4.4).

use std::num::NonZeroUsize;

use pikerag_knowledge::{Answer, Context, Criterion, Event, JudgedBy, Question, Role};
use tracing::instrument;

use pikerag_methods::conclude::conclude;
use pikerag_methods::retrieval::{RetrievalParams, look_up};
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Range, Variant, WithoutModel, field};
use pikerag_methods::unaided::{conclude_recalled, recall};
use pikerag_methods::{LabelledQuestion, Ports, Run, SolveError, nearest};

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
    let neighbours = nearest_labelled(ports, question, params.k.get()).await?;
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

/// The labelled questions closest to a question, nearest first. At least one.
async fn nearest_labelled<'a>(
    ports: &'a Ports,
    question: &Question,
    k: usize,
) -> Result<Vec<(f64, &'a LabelledQuestion)>, SolveError> {
    let labelled = &ports.models.labelled;
    if labelled.is_empty() {
        return Err(SolveError::NoLabelledQuestions);
    }
    let texts: Vec<&str> = labelled.iter().map(|labelled| labelled.text.as_str()).collect();
    let near = nearest(ports, question.query(), &texts, k).await?;
    let of = |(similarity, place)| Some((similarity, labelled.get(place)?));
    Ok(near.into_iter().filter_map(of).collect())
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
