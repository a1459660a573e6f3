//! Runs the rounds of critique: all agents judge each other's ideas, and before each further round they revise their own.

use pikerag_knowledge::facts::JudgedIdea;
use pikerag_knowledge::{Event, Note, Question};

use super::agent::{Agent, Material, Thought};
use super::critique::{Judgement, View, judge, scores_of};
use super::revise::{Revision, revise};
use super::{Params, at_once};
use crate::ports::SolveError;
use crate::run::Run;

/// The judgements after all rounds. The ideas change where their agents revise them; rounds end early where none does.
///
/// # Errors
/// The run was cancelled.
pub(super) async fn judge_in_rounds(
    run: &mut Run,
    question: &Question,
    params: Params,
    agents: &[Agent<'_>],
    materials: &[Material],
    thoughts: &mut Vec<Thought>,
) -> Result<Vec<Judgement>, SolveError> {
    let (mut judged, mut views): (Vec<Judgement>, Vec<View>) = (Vec::new(), Vec::new());
    for round in 1..=params.critiques {
        if thoughts.is_empty() {
            break;
        }
        if 1 < round {
            let is_revised =
                revised(run, question, params, agents, materials, (thoughts, &mut judged)).await?;
            if !is_revised {
                run.push(Event::Noted { note: Note::NothingRevised { round }.into() });
                break;
            }
        }
        let before = std::mem::take(&mut views);
        views = agents.iter().map(|agent| View::of(agent, params, materials, thoughts)).collect();
        judgements(run, question, params, agents, (&views, &before), &mut judged).await?;
        if judged.is_empty() {
            break;
        }
        let ranking = ranked(thoughts.len(), &judged).into_iter().filter_map(|at| {
            let title = thoughts.get(at)?.title.clone();
            Some(JudgedIdea { title, scores: scores_of(&judged, &[at]) })
        });
        let note = Note::Critiqued { round, ranking: ranking.collect() };
        run.push(Event::Noted { note: note.into() });
    }
    Ok(judged)
}

/// The places of `count` ideas, best first: by the mean of fit and feasibility, then by novelty. An idea that nobody
/// judged is in the middle; equal ones keep their order.
pub(super) fn ranked(count: usize, judged: &[Judgement]) -> Vec<usize> {
    let key = |at: usize| {
        scores_of(judged, &[at]).map_or((3.0, 3.0), |scores| (scores.merit(), scores.novelty))
    };
    let mut order: Vec<(usize, (f64, f64))> = (0..count).map(|at| (at, key(at))).collect();
    order.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    order.into_iter().map(|(at, _)| at).collect()
}

/// The judgements of all agents on the others' ideas. An agent whose view has not changed, or who fails, keeps its
/// judgements of the round before.
async fn judgements(
    run: &mut Run,
    question: &Question,
    params: Params,
    agents: &[Agent<'_>],
    (views, before): (&[View], &[View]),
    judged: &mut Vec<Judgement>,
) -> Result<(), SolveError> {
    let all = at_once(run, agents, |mut part, agent| async move {
        let view = views.get(agent.at).filter(|view| before.get(agent.at) != Some(*view));
        let own = match view {
            Some(view) => judge(&mut part, question, params, agent, view).await,
            None => Ok(Vec::new()),
        };
        (part, own)
    });
    for own in all.await?.into_iter().filter_map(Result::ok) {
        if let Some(first) = own.first() {
            let perspective = first.perspective;
            judged.retain(|one| one.perspective != perspective);
            judged.extend(own);
        }
    }
    judged.sort_by_key(|one| one.perspective);
    Ok(())
}

/// Lets all agents revise their ideas; whether any idea was changed, defended or dropped.
async fn revised(
    run: &mut Run,
    question: &Question,
    params: Params,
    agents: &[Agent<'_>],
    materials: &[Material],
    (thoughts, judged): (&mut Vec<Thought>, &mut Vec<Judgement>),
) -> Result<bool, SolveError> {
    let none = Material::default();
    let (own, against, none) = (&*thoughts, &*judged, &none);
    let all = at_once(run, agents, |mut part, agent| async move {
        let material = materials.get(agent.at).unwrap_or(none);
        let revised = revise(&mut part, question, params, agent, material, (own, against)).await;
        (part, revised)
    });
    let all: Vec<(usize, Revision)> =
        all.await?.into_iter().filter_map(Result::ok).flatten().collect();
    let is_revised = !all.is_empty();
    let mut dropped = Vec::new();
    for (at, revision) in all {
        let Some(thought) = thoughts.get_mut(at) else { continue };
        match revision {
            Revision::Dropped => dropped.push(at),
            Revision::Defended(defence) => thought.defence = defence,
            Revision::Changed(idea) => {
                let material = materials.get(thought.perspective).unwrap_or(none);
                let (evidence, findings) =
                    (material.claims(idea.evidence), material.found(&idea.findings));
                // Evidence that the agent does not name again still holds.
                if !evidence.is_empty() || !findings.is_empty() {
                    (thought.evidence, thought.findings) = (evidence, findings);
                }
                (thought.title, thought.text) = (idea.title, idea.text);
                thought.defence = String::new();
            }
        }
    }
    // Some idea must be left to answer with.
    if dropped.len() < thoughts.len() {
        without(thoughts, judged, &dropped);
    }
    Ok(is_revised)
}

/// Takes the ideas at these places out, with the judgements on them.
fn without(thoughts: &mut Vec<Thought>, judged: &mut Vec<Judgement>, dropped: &[usize]) {
    let is_kept = |at: usize| !dropped.contains(&at);
    judged.retain(|one| is_kept(one.thought));
    for one in judged {
        one.thought -= dropped.iter().filter(|at| **at < one.thought).count();
    }
    let mut at = 0;
    thoughts.retain(|_| {
        at += 1;
        is_kept(at - 1)
    });
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::worked::IdeaScores;

    use super::*;

    fn judgement(thought: usize, (fit, feasibility, novelty): (f64, f64, f64)) -> Judgement {
        let scores = IdeaScores { fit, feasibility, novelty };
        Judgement { thought, scores, against: String::new(), perspective: 9 }
    }

    #[test]
    fn merit_ranks_before_novelty_and_unjudged_ideas_are_in_the_middle() {
        let judged = [
            judgement(0, (2.0, 2.0, 5.0)),
            judgement(1, (5.0, 3.0, 1.0)),
            judgement(2, (3.0, 5.0, 2.0)),
            judgement(3, (4.0, 3.0, 1.0)),
            judgement(3, (2.0, 1.0, 1.0)),
        ];
        assert_eq!(ranked(5, &judged), [2, 1, 4, 3, 0]);
    }

    #[test]
    fn judgements_follow_their_ideas_when_others_are_dropped() {
        let thought = |title: &str| Thought { title: title.to_owned(), ..Thought::default() };
        let mut thoughts = ["a", "b", "c", "d"].map(thought).to_vec();
        let mut judged: Vec<Judgement> =
            (0..4).map(|at| judgement(at, (at as f64, 1.0, 1.0))).collect();
        without(&mut thoughts, &mut judged, &[0, 2]);
        let titles: Vec<(&str, f64)> = judged
            .iter()
            .map(|one| (thoughts[one.thought].title.as_str(), one.scores.fit))
            .collect();
        assert_eq!((titles, thoughts.len()), (vec![("b", 1.0), ("d", 3.0)], 2));
    }
}
