//! Answers a question by knowledge-aware decomposition (`kar3`: KAR³ §3.4, Algorithm 1).

mod candidates;
mod params;
mod reading;
mod trained;

use std::collections::HashSet;

use pikerag_knowledge::{
    Answer, AtomKind, Candidate, Context, Derived, Event, Note, Question, Role, StopReason,
};
use pikerag_retrieve::Walk;
use tracing::field::Empty;
use tracing::{Span, instrument};

pub use self::params::{Fallback, Mode, Params, Retriever};
use crate::candidates::fetch;
use crate::conclude::conclude;
use crate::decompose::{
    Choice, Proposer, Selection, Selector, propose, propose_words, select, shown_demonstrations,
};
use crate::fitting::fitted;
use crate::ports::{Ports, SolveError};
use crate::retrieval::least_similarity;
pub use crate::retrieval::{DELTA, Rule};
use crate::run::Run;
use crate::spec::MethodParams;
use crate::tagging::trace_declared;

/// Answers `question` hop by hop: at most `2n + 2` chat calls (the paper's: `2n + 1`), each asked at most twice.
///
/// Without models for proposing and selecting, the loop runs on hop retrieval: it proposes the words that the
/// chosen chunks still lack, follows the links of these chunks, and selects the best new one.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "kar3", skip_all, fields(question = %question.id, hops = Empty))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let params = Params { delta: Some(delta(ports, params, run).await?), ..params };
    trace_declared(ports, run, question.query()).await?;
    let examples = match params.mode {
        Mode::Ours if !offline(ports) => shown_demonstrations(ports, question).await?,
        _ => String::new(),
    };
    let mut context = match params.proposer {
        Proposer::Trained if !offline(ports) => {
            trained::gather(ports, run, question, params).await?
        }
        _ => gather(ports, run, question, params, &examples).await?,
    };
    Span::current().record("hops", context.chunks.len());
    let is_ours = params.mode == Mode::Ours;
    if is_ours {
        reading::fill_up(ports, question, &mut context, params, run).await?;
    }
    if is_ours && !offline(ports) && ports.models.of(Role::Answer).is_some() {
        return reading::read_twice(ports, question, context, params, run).await;
    }
    conclude(ports, question, context, run).await // Line 14: â ← LLM(q, C).
}

/// Lines 1 to 13: the chosen chunks.
async fn gather(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    examples: &str,
) -> Result<Context, SolveError> {
    let mut context = Context::default(); // Line 1: C ← ∅.
    let mut walk = match uses_hops(ports, params) {
        true => Some(Walk::begin(ports.finder(), question.query(), params.weights.hops).await?),
        false => None,
    };
    for hop in 1..=params.n.get() {
        let proposer = (params.proposer, examples);
        let Some(proposals) = line_3(ports, question, &context, proposer, hop, run).await? else {
            break; // Nothing more to ask.
        };
        let found = line_4(ports, question, &context, &proposals, params, walk.as_ref()).await?;
        if found.is_empty() {
            note_missing_atoms(ports, params, run).await?;
            run.push(Event::Stopped { hop, reason: StopReason::NothingFound });
            break;
        }
        run.push(Event::Retrieved { hop, candidates: found.clone() });
        let Some(chosen) = line_5(ports, question, &context, &found, params, hop, run).await?
        else {
            break; // Lines 6–8: nothing new would help.
        };
        for chunk in fetch(ports, &[chosen]).await? {
            if let Some(walk) = &mut walk {
                walk.take(ports.finder(), chunk.id).await?;
            }
            context.add(hop, chunk); // Lines 10, 11: C ← C ∪ {c}.
        }
        if hop == params.n.get() {
            run.push(Event::Stopped { hop, reason: StopReason::HopLimit });
        }
    }
    Ok(context)
}

/// Notes that the base has no atoms of the kind that the algorithm as printed searches.
async fn note_missing_atoms(
    ports: &Ports,
    params: Params,
    run: &mut Run,
) -> Result<(), SolveError> {
    let Some(kind) = params.needed_atoms() else { return Ok(()) };
    let note = match kind {
        AtomKind::Question => Note::NoAtomicQuestions,
        AtomKind::Sentence => Note::NoSentences,
        AtomKind::Statement => return Ok(()),
    };
    if !ports.base.has(Derived::Atoms(kind)).await? {
        run.push(Event::Noted { note: note.into() });
    }
    Ok(())
}

/// δ: as the user set it, or calibrated on the base's own atoms, or the paper's.
async fn delta(ports: &Ports, params: Params, run: &mut Run) -> Result<f32, SolveError> {
    if let Some(delta) = params.least_similarity() {
        return Ok(delta);
    }
    if offline(ports) {
        return Ok(DELTA);
    }
    let delta = least_similarity(ports, params.atomizer).await?;
    if delta < DELTA {
        run.push(Event::Noted { note: Note::Calibrated { delta: f64::from(delta) }.into() });
    }
    Ok(delta)
}

/// Whether hop retrieval takes part: as a source of candidates, or as the whole loop offline.
fn uses_hops(ports: &Ports, params: Params) -> bool {
    0 < params.hop_candidates || offline(ports)
}

fn offline(ports: &Ports) -> bool {
    ports.models.of(Role::Propose).is_none() || ports.models.of(Role::Select).is_none()
}

/// Line 3: `q̂ᵗ ← f_p(q, Cᵗ⁻¹)`, with examples for the proposer if there are any; `None` ends the loop.
async fn line_3(
    ports: &Ports,
    question: &Question,
    context: &Context,
    (proposer, examples): (Proposer, &str),
    hop: usize,
    run: &mut Run,
) -> Result<Option<Vec<String>>, SolveError> {
    let proposals = match ports.models.of(Role::Propose) {
        Some(model) if !offline(ports) => {
            let shown = fitted(ports, question, context, examples, run).await?;
            propose(model, question, &shown, proposer, examples, run).await?
        }
        _ => Some(propose_words(question, context)),
    };
    let Some(proposals) = proposals else {
        run.push(Event::Stopped { hop, reason: StopReason::Unreadable });
        return Ok(None);
    };
    let questions = run.proposed(hop, proposals.thinking, proposals.questions)?;
    if questions.is_empty() {
        run.push(Event::Stopped { hop, reason: StopReason::NothingProposed });
        return Ok(None);
    }
    Ok(Some(questions))
}

/// Line 4: `P ← R_atom(q̂ᵗ, f_a(D))`, backed up by the question itself, on atoms and then on chunks.
async fn line_4(
    ports: &Ports,
    question: &Question,
    context: &Context,
    proposals: &[String],
    params: Params,
    walk: Option<&Walk>,
) -> Result<Vec<Candidate>, SolveError> {
    let mut found = Vec::new();
    if !offline(ports) {
        found = candidates::by_proposals(ports, context, proposals, params).await?;
        if found.is_empty() && params.mode == Mode::Ours {
            found = candidates::backup(ports, question, context, params).await?;
        }
    }
    if params.selector == Selector::ByChunk {
        let mut seen = HashSet::new();
        found.retain(|candidate| seen.insert(candidate.chunk));
    }
    if let Some(walk) = walk {
        let wanted = if offline(ports) { params.k.get() } else { params.hop_candidates };
        let hops = candidates::by_hops(ports, question, context, walk, wanted).await?;
        let new = hops.into_iter().filter(|hop| !found.iter().any(|held| held.chunk == hop.chunk));
        let new: Vec<Candidate> = new.collect();
        found.extend(new);
    }
    Ok(found)
}

/// Line 5: the selector's choice; `None` ends the loop.
async fn line_5(
    ports: &Ports,
    question: &Question,
    context: &Context,
    found: &[Candidate],
    params: Params,
    hop: usize,
    run: &mut Run,
) -> Result<Option<Candidate>, SolveError> {
    let selection = match ports.models.of(Role::Select) {
        Some(model) if !offline(ports) => {
            let chunks = match params.selector {
                Selector::ByAtom => Vec::new(),
                Selector::ByChunk => fetch(ports, found).await?,
            };
            let may_end = params.mode == Mode::Ours;
            let choice =
                Choice { candidates: found, chunks: &chunks, selector: params.selector, may_end };
            let listed: Vec<&str> = match params.selector {
                Selector::ByAtom => found.iter().map(|one| one.text.as_str()).collect(),
                Selector::ByChunk => chunks.iter().map(|chunk| chunk.text.as_str()).collect(),
            };
            let shown = fitted(ports, question, context, &listed.join("\n"), run).await?;
            select(model, question, &shown, choice, run).await?
        }
        // Candidates come best first and none is in the context, so the first is the best new one.
        _ => Some(Selection { thinking: String::new(), index: Some(0), enough: None }),
    };
    let Some(selection) = selection else {
        run.push(Event::Stopped { hop, reason: StopReason::Unreadable });
        return Ok(None);
    };
    // Models may report that the context is enough with or without a choice. An empty context is not enough.
    let enough = selection.enough.map(|enough| enough && !context.chunks.is_empty());
    let chosen = match (selection.index, enough) {
        (_, Some(true)) | (None, None) => Err(StopReason::NothingSelected),
        (None, Some(false)) => Err(StopReason::NoneHelps),
        (Some(index), _) => Ok(index),
    };
    let thinking = selection.thinking;
    let selected = |index: usize| {
        let Candidate { chunk, title, .. } = found.get(index)?;
        Some(Event::Selected { hop, thinking, index, chunk: *chunk, title: title.clone() })
    };
    let index = run.chosen(hop, chosen, found.len(), selected)?;
    Ok(index.and_then(|index| found.get(index)).cloned())
}
