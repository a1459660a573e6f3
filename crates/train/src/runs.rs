//! Reads kept runs that decomposed their question hop by hop (KAR³, Algorithm 1) as trajectories. Feedback and labels
//! decide which of them are right.

use std::collections::BTreeMap;

use pikerag_eval::datasets::{Item, Task};
use pikerag_eval::metrics::{contains, score};
use pikerag_eval::normalize::normalize;
use pikerag_knowledge::{
    Answer, Candidate, ChunkId, Event, KeptVerified, RunEvent, RunRecord, Verified, Via,
};
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::params::Right;
use crate::trajectory::{Chosen, Origin, Pair, Round, Trajectory};

/// Why a kept run is not collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unused {
    /// It has no answer: it failed, it was stopped, or it is still running.
    NotAnswered,
    /// Neither feedback nor a label decides whether its answer is right. Feedback whose passages have changed does
    /// not count.
    Unknown,
    /// It did not decompose its question by proposals, candidates and selections, or it answered parts of the
    /// question by loops of their own.
    NoSteps,
    /// The base no longer has a chunk that it selected.
    Gone,
    /// It did not answer its sub-questions, and no model is set that answers them.
    NoAnswers,
    /// Its question was not drawn.
    NotDrawn,
}

/// The known right and wrong answers.
#[derive(Debug, Default)]
pub struct Known {
    /// Judgements by normalized question, the latest first.
    judged: BTreeMap<String, Vec<Verified>>,
    /// Questions with labels, by normalized question.
    items: BTreeMap<String, Item>,
    right: Right,
}

/// The verdict on the answer of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The identifier of the question, which all its runs share.
    pub item: String,
    /// The right answers; empty if the answer is wrong and no right one is known.
    pub labels: Vec<String>,
    /// Whether the answer is right.
    pub is_right: bool,
}

/// A run as a trajectory.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRun {
    /// The trajectory, as the first attempt at its question.
    pub trajectory: Trajectory,
    /// The places of the rounds whose sub-question the run did not answer.
    pub unanswered: Vec<usize>,
}

impl Known {
    /// `judged` must be in the order of the base, the latest judgement first. Labels count only where words decide:
    /// short answers that are no figures over tables.
    ///
    /// # Errors
    /// [`TrainError::JudgeOfRuns`] with [`Right::Judge`].
    pub fn new(
        judged: Vec<KeptVerified>,
        items: &[Item],
        right: Right,
    ) -> Result<Self, TrainError> {
        if right == Right::Judge {
            return Err(TrainError::JudgeOfRuns);
        }
        let mut known = Self { right, ..Self::default() };
        for kept in judged {
            if !kept.is_stale() {
                let question = normalize(&kept.verified.question);
                known.judged.entry(question).or_default().push(kept.verified);
            }
        }
        let is_decided = |item: &&Item| {
            item.task == Task::Short && item.wanted.is_none() && !item.answers.is_empty()
        };
        for item in items.iter().filter(is_decided) {
            known.items.entry(normalize(item.query())).or_insert_with(|| item.clone());
        }
        Ok(known)
    }

    /// The verdict on the run's answer: the latest judgement of this very answer, else the labels of its question. If
    /// there are none, an answer that equals a verified one by the rule is right. `None` if nothing decides: an
    /// answer in other words than the verified one may be right too.
    pub fn verdict(&self, run: &RunRecord) -> Option<Verdict> {
        let answer = run.answer.as_ref()?;
        let (question, given) = (normalize(run.question.query()), answer.text.trim());
        let judged = self.judged.get(&question).map(Vec::as_slice).unwrap_or_default();
        let own = judged.iter().find(|judged| judged.given.trim() == given);
        let item = self.items.get(&question);
        let mut labels: Vec<String> = Vec::new();
        let verified = own.and_then(Verified::holds).into_iter();
        let verified = verified.chain(judged.iter().filter_map(Verified::holds));
        let of_file = item.into_iter().flat_map(|item| &item.answers).map(String::as_str);
        for label in verified.chain(of_file) {
            if !labels.iter().any(|known| known == label) {
                labels.push(label.to_owned());
            }
        }
        let is_right = match (own, item) {
            (Some(own), _) => own.holds().is_some_and(|right| right.trim() == given),
            (None, Some(_)) => self.has_label(answer, &labels),
            (None, None) if self.has_label(answer, &labels) => true,
            (None, None) => return None,
        };
        if !is_right {
            // Somebody else may have accepted the answer earlier.
            labels.retain(|label| label.trim() != given);
        }
        Some(Verdict { item: item.map_or(question, |item| item.id.clone()), labels, is_right })
    }

    fn has_label(&self, answer: &Answer, labels: &[String]) -> bool {
        let is_right = match self.right {
            Right::Contains => 0.0 < contains(&answer.text, labels),
            // `new` refuses a judge.
            Right::Em | Right::Judge => 1.0 <= score(&answer.text, labels).em,
        };
        is_right && !answer.refused
    }
}

/// The trajectory of an answered run with a loop of proposals, candidates and selections over its question (`kar3`
/// and its variants, also within `pike`); `None` for another run, or if nothing was selected.
///
/// A round with a choice that the run did not word as a question (a sentence, a passage) has the proposal that found
/// it as its sub-question. Rounds end with the loop: what the run reads beside the chosen chunks is no step.
pub fn read(run: &RunRecord, events: &[RunEvent], verdict: Verdict) -> Option<ReadRun> {
    let answer = run.answer.as_ref()?;
    let (rounds, unanswered) = rounds(run, events)?;
    let Verdict { item, labels, is_right } = verdict;
    let trajectory = Trajectory {
        item,
        origin: Origin::Run,
        run: Some(run.id.clone()),
        question: run.question.text.clone(),
        scores: score(&answer.text, &labels),
        labels,
        answer: answer.text.clone(),
        is_right,
        rounds,
        ..Trajectory::default()
    };
    Some(ReadRun { trajectory, unanswered })
}

/// The number of the next attempt at each question that has trajectories, by its identifier.
pub fn next_attempts(made: &[Trajectory]) -> BTreeMap<String, u32> {
    let mut next: BTreeMap<String, u32> = BTreeMap::new();
    for trajectory in made {
        let of_item = next.entry(trajectory.item.clone()).or_default();
        *of_item = (*of_item).max(trajectory.attempt + 1);
    }
    next
}

/// The rounds, and the places of those without an answer.
fn rounds(run: &RunRecord, events: &[RunEvent]) -> Option<(Vec<Round>, Vec<usize>)> {
    let (mut rounds, mut unanswered): (Vec<Round>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut found: &[Candidate] = &[];
    let mut has_ended = false;
    for event in events.iter().map(|event| &event.event) {
        match event {
            // The loops of parts decompose the parts, not the question.
            Event::Asked { .. } => return None,
            Event::Retrieved { .. } | Event::Selected { .. } | Event::Resolved { .. }
                if has_ended =>
            {
                return None;
            }
            Event::Proposed { proposals, .. } if !has_ended => {
                rounds.push(Round { proposals: proposals.clone(), ..Round::default() });
            }
            Event::Retrieved { candidates, .. } => {
                rounds.last_mut()?.candidates = candidates.iter().map(pair).collect();
                found = candidates.as_slice();
            }
            Event::Selected { thinking, index, chunk, .. } => {
                unanswered.push(rounds.len().checked_sub(1)?);
                let round = rounds.last_mut()?;
                round.chosen = Some(Chosen {
                    question: sub_question(run, found.get(*index)?, &round.proposals)?,
                    answer: String::new(),
                    chunk: Some(*chunk),
                    document: document(run, *chunk),
                    thinking: thinking.clone(),
                });
            }
            Event::Resolved { question, answer, .. } => {
                let chosen = rounds.last_mut()?.chosen.as_mut()?;
                (chosen.question, chosen.answer) = (question.clone(), answer.clone());
                unanswered.pop();
            }
            Event::Stopped { .. } => has_ended = true,
            _ => {}
        }
    }
    let has_step = rounds.iter().any(|round| round.chosen.is_some());
    has_step.then_some((rounds, unanswered))
}

/// `q̂ᵗ`. A trained proposer's own question is searched and answered; otherwise the chosen atomic question is the
/// sub-question.
fn sub_question(run: &RunRecord, chosen: &Candidate, proposals: &[String]) -> Option<String> {
    if run.parameters.get("proposer").is_some_and(|proposer| proposer == "trained") {
        return proposals.first().cloned();
    }
    let is_question = chosen.atom.is_some() && chosen.text.trim_end().ends_with(['?', '？']);
    match chosen.via {
        _ if is_question => Some(chosen.text.clone()),
        Via::Atoms | Via::Chunks => Some(chosen.proposal.clone()),
        // Other paths search for the question itself.
        _ => None,
    }
}

fn pair(candidate: &Candidate) -> Pair {
    let Candidate { text, chunk, score, .. } = candidate;
    Pair { text: text.clone(), chunk: *chunk, similarity: *score }
}

/// The document of a chunk that the answer was written from; empty for another chunk.
fn document(run: &RunRecord, chunk: ChunkId) -> String {
    let read = run.answer.iter().flat_map(|answer| &answer.context.chunks);
    let read = read.map(|held| &held.chunk).find(|held| held.id == chunk);
    read.map_or_else(String::new, |held| held.uri.clone())
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;
    use pikerag_knowledge::{
        AtomId, Chunk, Context, Judgement, Question, RunId, RunState, StopReason, VerifiedId,
        WrittenBy,
    };

    use super::*;

    const QUESTION: &str = "Where was the builder of the Heron born?";

    fn text(text: &str) -> String {
        text.to_owned()
    }

    /// An answered run that read two chunks.
    fn run(answer: &str) -> RunRecord {
        let document = |id: u64| Chunk { uri: format!("{id}.md"), ..chunk(id, "Title", "Text.") };
        let answer = Answer {
            text: text(answer),
            rationale: String::new(),
            refused: false,
            missing: Vec::new(),
            written_by: WrittenBy::Quotation,
            citations: Vec::new(),
            context: Context::of(1, [document(1), document(2)]),
            quotes: None,
            worked: None,
        };
        RunRecord {
            id: RunId(text("k3")),
            method: text("kar3"),
            question: Question::new("", QUESTION),
            state: RunState::Answered,
            answer: Some(answer),
            ..RunRecord::default()
        }
    }

    fn numbered(events: Vec<Event>) -> Vec<RunEvent> {
        let event = |(seq, event): (u32, Event)| RunEvent {
            run: RunId(text("k3")),
            seq,
            parent: seq.checked_sub(1),
            time: 0,
            decision: false,
            calls: Vec::new(),
            event,
        };
        (0..).zip(events).map(event).collect()
    }

    fn proposed(hop: usize, proposals: &[&str]) -> Event {
        let proposals = proposals.iter().map(|proposal| text(proposal)).collect();
        Event::Proposed { hop, thinking: String::new(), proposals }
    }

    fn retrieved(hop: usize, via: Via, found: &[(&str, u64)], proposal: &str) -> Event {
        let candidate = |(words, chunk): &(&str, u64)| Candidate {
            atom: Some(AtomId(*chunk)),
            text: text(words),
            chunk: ChunkId(*chunk),
            title: String::new(),
            via,
            proposal: text(proposal),
            score: 0.75,
            parts: BTreeMap::new(),
        };
        Event::Retrieved { hop, candidates: found.iter().map(candidate).collect() }
    }

    fn selected(hop: usize, index: usize, chunk: u64) -> Event {
        let (thinking, title) = (text("Needed."), String::new());
        Event::Selected { hop, thinking, index, chunk: ChunkId(chunk), title }
    }

    fn stopped(hop: usize) -> Event {
        Event::Stopped { hop, reason: StopReason::NothingProposed }
    }

    fn resolved(question: &str, answer: &str) -> Event {
        Event::Resolved { depth: 1, question: text(question), answer: text(answer) }
    }

    /// Algorithm 1 with two hops; the second choice is a sentence.
    fn two_hops() -> Vec<Event> {
        let builders = [("Who owns it?", 7), ("Who built the Heron?", 1)];
        vec![
            Event::Began { method: text("kar3"), question: text(QUESTION) },
            proposed(1, &["Who is the builder?", "Who made it?"]),
            retrieved(1, Via::Atoms, &builders, "Who is the builder?"),
            selected(1, 1, 1),
            proposed(2, &["Where was Ada born?"]),
            retrieved(2, Via::Atoms, &[("Ada was born in Oslo.", 2)], "Where was Ada born?"),
            selected(2, 0, 2),
            proposed(3, &[]),
            stopped(3),
            // What the answer says is missing; no round of the loop.
            proposed(3, &["the year of birth"]),
        ]
    }

    fn read_as(run: &RunRecord, events: Vec<Event>) -> Option<ReadRun> {
        let verdict = Verdict { item: text("q"), labels: vec![text("Oslo")], is_right: true };
        read(run, &numbered(events), verdict)
    }

    #[test]
    fn rounds_of_a_run_become_steps() {
        let ReadRun { trajectory, unanswered } = read_as(&run("Oslo"), two_hops()).unwrap();
        let step =
            |step: &Chosen| (step.question.clone(), step.chunk.unwrap().0, step.document.clone());
        let steps: Vec<_> = trajectory.steps().map(step).collect();
        assert_eq!(
            steps,
            [
                (text("Who built the Heron?"), 1, text("1.md")),
                // A sentence is no sub-question: its proposal is.
                (text("Where was Ada born?"), 2, text("2.md")),
            ]
        );
        assert_eq!(unanswered, [0, 1]);
        assert_eq!(trajectory.rounds.len(), 3, "the last round proposes nothing");
        let first = &trajectory.rounds[0];
        assert_eq!(first.proposals, ["Who is the builder?", "Who made it?"]);
        assert_eq!((first.candidates.len(), first.candidates[0].similarity), (2, 0.75));
        assert_eq!(first.chosen.as_ref().unwrap().thinking, "Needed.");
        assert_eq!((trajectory.origin, trajectory.run), (Origin::Run, Some(RunId(text("k3")))));
        assert_eq!((trajectory.is_right, trajectory.scores.em), (true, 1.0));
        assert_eq!(trajectory.spent.calls(), 0);
    }

    /// The proposer's own question is searched and answered; the atom is only what was found.
    #[test]
    fn a_trained_run_has_its_answers() {
        let mut trained = run("Oslo");
        trained.parameters.insert(text("proposer"), "trained".into());
        let events = vec![
            proposed(1, &["Who is the builder?"]),
            retrieved(1, Via::Atoms, &[("Who built the Heron?", 1)], "Who is the builder?"),
            selected(1, 0, 1),
            resolved("Who is the builder?", "Ada"),
            proposed(2, &["Where was Ada born?"]),
            retrieved(2, Via::BackupChunks, &[("Ada: Born in Oslo.", 2)], "Where was Ada born?"),
            selected(2, 0, 2),
            // The limit of hops comes before the answer.
            stopped(2),
        ];
        let ReadRun { trajectory, unanswered } = read_as(&trained, events).unwrap();
        let steps: Vec<(&str, &str)> =
            trajectory.steps().map(|step| (&*step.question, &*step.answer)).collect();
        assert_eq!(steps, [("Who is the builder?", "Ada"), ("Where was Ada born?", "")]);
        assert_eq!(unanswered, [1]);
    }

    #[test]
    fn runs_without_one_loop_give_nothing() {
        let own = run("Oslo");
        let nothing_selected = vec![proposed(1, &["Who?"]), stopped(1)];
        assert_eq!(read_as(&own, nothing_selected), None);
        let mut of_a_part = two_hops();
        of_a_part.insert(1, Event::Asked { depth: 1, question: text("Who built it?") });
        assert_eq!(read_as(&own, of_a_part), None);
        let mut twice = two_hops();
        twice.extend(two_hops());
        assert_eq!(read_as(&own, twice), None);
        // Without a model, the loop follows links from the words of the question.
        let by_words = vec![
            proposed(1, &["builder heron born"]),
            retrieved(1, Via::Hops, &[("Heron: Ada built it.", 1)], QUESTION),
            selected(1, 0, 1),
            stopped(2),
        ];
        assert_eq!(read_as(&own, by_words), None);
    }

    fn judged(given: &str, judgement: Judgement, correction: Option<&str>) -> KeptVerified {
        let verified = Verified {
            id: VerifiedId(1),
            question: text(QUESTION),
            judgement,
            given: text(given),
            correction: correction.map(text),
            by: text("Ada"),
            at: 0,
            note: String::new(),
            class: None,
            method: String::new(),
            run: None,
            grounds: Vec::new(),
            context: Vec::new(),
        };
        KeptVerified { verified, changed: Vec::new() }
    }

    fn item(answer: &str) -> Item {
        let question = "where was the builder of the Heron born";
        let answers = vec![text(answer)];
        Item { id: text("Q7"), question: text(question), answers, ..Item::default() }
    }

    /// The verdict on an answer: its item, its labels, and whether it is right.
    fn shown(judged: &[KeptVerified], items: &[Item], right: Right, answer: &str) -> String {
        let known = Known::new(judged.to_vec(), items, right).unwrap();
        match known.verdict(&run(answer)) {
            Some(Verdict { item, labels, is_right }) => {
                format!("{item} {} {is_right}", labels.join("|"))
            }
            None => text("unknown"),
        }
    }

    #[test]
    fn feedback_decides_on_the_answers_that_it_names() {
        let own = normalize(QUESTION);
        let accepted = [judged("Oslo", Judgement::Accepted, None)];
        assert_eq!(shown(&accepted, &[], Right::Em, "Oslo"), format!("{own} Oslo true"));
        // The same in other words may be right or wrong, unless it equals the verified answer by the rule.
        assert_eq!(shown(&accepted, &[], Right::Em, "in Oslo"), "unknown");
        assert_eq!(shown(&accepted, &[], Right::Contains, "in Oslo"), format!("{own} Oslo true"));
        let corrected = [judged("Rome", Judgement::Corrected, Some("Oslo"))];
        assert_eq!(shown(&corrected, &[], Right::Em, "Rome"), format!("{own} Oslo false"));
        assert_eq!(shown(&corrected, &[], Right::Em, "Oslo"), format!("{own} Oslo true"));
        let rejected = [judged("Rome", Judgement::Rejected, None)];
        assert_eq!(shown(&rejected, &[], Right::Em, "Rome"), format!("{own}  false"));
        assert_eq!(shown(&rejected, &[], Right::Em, "Oslo"), "unknown");
        // The latest judgement of an answer counts, and the latest comes first.
        let again = [rejected[0].clone(), judged("Rome", Judgement::Accepted, None)];
        assert_eq!(shown(&again, &[], Right::Em, "Rome"), format!("{own}  false"));
        let mut stale = accepted.clone();
        stale[0].changed = vec![text("ada.md")];
        assert_eq!(shown(&stale, &[], Right::Em, "Oslo"), "unknown");
    }

    #[test]
    fn labels_decide_where_feedback_does_not() {
        assert_eq!(shown(&[], &[item("Oslo")], Right::Em, "Oslo"), "Q7 Oslo true");
        assert_eq!(shown(&[], &[item("Oslo")], Right::Em, "in Oslo"), "Q7 Oslo false");
        assert_eq!(shown(&[], &[item("Oslo")], Right::Contains, "in Oslo"), "Q7 Oslo true");
        let accepted = [judged("in Oslo", Judgement::Accepted, None)];
        let by_person = shown(&accepted, &[item("Oslo")], Right::Em, "in Oslo");
        assert_eq!(by_person, "Q7 in Oslo|Oslo true");
        let idea = Item { task: Task::Ideas, ..item("Oslo") };
        assert_eq!(shown(&[], &[idea], Right::Em, "Oslo"), "unknown");
        let refused = Known::new(Vec::new(), &[item("Oslo")], Right::Judge);
        assert!(matches!(refused, Err(TrainError::JudgeOfRuns)));
    }

    #[test]
    fn a_refusal_is_not_right() {
        let known = Known::new(Vec::new(), &[item("Oslo")], Right::Em).unwrap();
        let mut refusing = run("Oslo");
        refusing.answer.as_mut().unwrap().refused = true;
        assert!(!known.verdict(&refusing).unwrap().is_right);
    }

    #[test]
    fn attempts_go_on_after_the_last_one() {
        let made =
            |item: &str, attempt| Trajectory { item: text(item), attempt, ..Trajectory::default() };
        let next = next_attempts(&[made("a", 0), made("a", 2), made("b", 0)]);
        assert_eq!(next, BTreeMap::from([(text("a"), 3), (text("b"), 1)]));
    }

    #[test]
    fn older_trajectories_have_no_run() {
        let older = serde_json::to_value(Trajectory::default()).unwrap();
        assert!(older.get("run").is_none());
        assert_eq!(serde_json::from_value::<Trajectory>(older).unwrap().run, None);
    }
}
