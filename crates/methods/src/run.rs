//! Records a run event by event. Each event is numbered and sent at once, and each call is booked when its
//! reply arrives, so that a failed or cancelled run keeps its trace and its bill.

mod asking;
mod finished;

use std::collections::BTreeMap;
use std::sync::Arc;

use pikerag_knowledge::{
    Account, Change, ClassifiedBy, Criterion, Event, Filter, JudgedBy, KeptSchema, Millis,
    Question, Reason, RecordSchema, RunEvent, RunId, RunRecord, RunSink, Statement, StopReason,
    Structured, TaskClass,
};
use serde_json::Value;

pub use self::finished::Finished;
use crate::editions::ReadEditions;
use crate::fork::Retrace;
use crate::ports::SolveError;
use crate::tag_use::TagUse;
use crate::verified_use::VerifiedUse;

/// Gives the current time; passed in, so that tests can fix it.
pub type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;

/// The circumstances of a run.
#[derive(Clone)]
pub struct RunParams {
    /// The run's name, new in its base.
    pub id: RunId,
    /// Gives the current time.
    pub clock: Clock,
    /// Receives the events while the run goes on.
    pub sink: Option<Arc<dyn RunSink>>,
    /// The number of the process.
    pub process: u32,
    /// The run to repeat, wholly or up to a change.
    pub retrace: Option<Retrace>,
    /// The filter of the base that the ports read; kept with the run.
    pub filter: Filter,
    /// What the question's tags are used for, whatever its method (PIKE-RAG §5.2.2). Naive RAG and its
    /// variants use their own parameter instead.
    pub tags: TagUse,
    /// Whether verified answers to the same question serve the run, whatever its method (PIKE-RAG §4.1). `pike`
    /// uses its own parameter instead.
    pub verified: VerifiedUse,
    /// The tokens that the answering model may read at a time, so that a slow one answers in time; kept with
    /// the run. None: it reads all that a method gives it.
    pub reads_at_most: Option<u32>,
}

impl Default for RunParams {
    /// No sink, no verified answers, no limit of reading, and a clock that stays at 0.
    fn default() -> Self {
        let (id, filter) = (RunId::default(), Filter::default());
        let (clock, tags): (Clock, _) = (Arc::new(|| 0), TagUse::Off);
        let verified = VerifiedUse::Ignored;
        let (sink, retrace, reads_at_most) = (None, None, None);
        Self { id, clock, sink, process: 0, retrace, filter, tags, verified, reads_at_most }
    }
}

/// The method of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodLabel {
    /// The name, by which the method is found again.
    pub name: String,
    /// As the trace shows it: the name, and whether parameters are the user's own.
    pub shown: String,
    /// All parameters by name.
    pub parameters: BTreeMap<String, Value>,
    /// The weights of retrieval, all of them.
    pub weights: Value,
}

impl MethodLabel {
    /// A label without parameters, for work that is no method of answering.
    pub fn named(name: &str) -> Self {
        let (name, shown) = (name.to_owned(), name.to_owned());
        Self { name, shown, parameters: BTreeMap::new(), weights: Value::Null }
    }
}

/// The run of one question: its events so far and its account. Questions do not share a run.
pub struct Run {
    record: RunRecord,
    events: Vec<RunEvent>,
    /// The cost of the calls; each is booked when its reply arrives.
    pub account: Account,
    params: RunParams,
    /// A part that runs beside others: its events are sent when it joins the run, in order.
    is_part: bool,
    /// A part of a repeated run before its change: it asks only the record.
    is_recorded: bool,
    /// The first event that differs from the repeated run.
    diverged: Option<u32>,
    /// What it read as records.
    structured: Vec<Structured>,
    /// The documents that it and its parts compared with others of their name.
    editions: ReadEditions,
}

impl Run {
    /// Begins a run in the state `running`, and sends its record and its first event.
    pub fn begin(method: MethodLabel, question: &Question, params: RunParams) -> Self {
        let record = RunRecord {
            id: params.id.clone(),
            method: method.name,
            parameters: method.parameters,
            weights: method.weights,
            reads_at_most: params.reads_at_most,
            question: question.clone(),
            filter: params.filter.clone(),
            started: (params.clock)(),
            forked: params.retrace.as_ref().and_then(Retrace::fork_point),
            changes: params.retrace.iter().flat_map(|run| run.changes().to_vec()).collect(),
            process: params.process,
            ..RunRecord::default()
        };
        let account = Account::default();
        let mut run = Self {
            record,
            events: Vec::new(),
            account,
            params,
            is_part: false,
            is_recorded: false,
            diverged: None,
            structured: Vec::new(),
            editions: ReadEditions::default(),
        };
        run.send_record();
        run.push(Event::Began { method: method.shown, question: question.text.clone() });
        run
    }

    /// A part of this run for work on one of many things; [`Run::absorb`] joins it again. Its calls are
    /// booked to this run at once, and a refused call gives no reply, as in [`Run::one_of_many`].
    #[must_use]
    pub fn part(&self) -> Self {
        Self {
            record: RunRecord::default(),
            events: Vec::new(),
            account: self.account.part(),
            params: RunParams { sink: None, retrace: None, ..self.params.clone() },
            is_part: true,
            is_recorded: self.asks_the_record(),
            diverged: None,
            structured: Vec::new(),
            editions: self.editions.clone(),
        }
    }

    /// Joins a part: its events get the next numbers of this run.
    pub fn absorb(&mut self, part: Self) {
        let (split, base) = (self.last(), self.next());
        for event in part.events {
            let parent = event.parent.map_or(split, |parent| Some(base + parent));
            self.append(RunEvent { seq: self.next(), parent, ..event });
        }
        self.account.merge(part.account);
        self.structured.extend(part.structured);
    }

    /// The events so far, in order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.events.iter().map(|event| &event.event)
    }

    /// Adds an event; its parent is the event before it.
    pub fn push(&mut self, event: Event) {
        self.push_event(event, false);
    }

    /// Adds proposed sub-questions; a fork may replace them.
    pub fn proposed(
        &mut self,
        hop: usize,
        thinking: String,
        proposals: Vec<String>,
    ) -> Result<Vec<String>, SolveError> {
        let proposals = match self.change()? {
            Some(Change::Proposals(others)) => others,
            Some(Change::Text(text)) => vec![text],
            Some(_) => return Err(self.unfit("sub-questions")),
            None => proposals,
        };
        self.push_event(Event::Proposed { hop, thinking, proposals: proposals.clone() }, true);
        Ok(proposals)
    }

    /// Adds the choice of a candidate, or the reason for none; a fork may choose another. `candidates` is
    /// their number; `event_of` makes the event of a choice.
    pub fn chosen(
        &mut self,
        hop: usize,
        chosen: Result<usize, StopReason>,
        candidates: usize,
        event_of: impl FnOnce(usize) -> Option<Event>,
    ) -> Result<Option<usize>, SolveError> {
        let index = match self.change()? {
            Some(Change::Choice(Some(index))) if candidates <= index => {
                return Err(SolveError::NoCandidate { index, candidates });
            }
            Some(Change::Choice(other)) => other,
            Some(_) => return Err(self.unfit("the number of a candidate")),
            None => chosen.ok(),
        };
        let reason = chosen.err().unwrap_or(StopReason::NothingSelected);
        let stopped = Event::Stopped { hop, reason };
        let event = index.and_then(event_of);
        let index = event.as_ref().and(index);
        self.push_event(event.unwrap_or(stopped), true);
        Ok(index)
    }

    /// Adds a step of reasoning; a fork may replace it.
    pub fn thought(&mut self, step: usize, text: String) -> Result<String, SolveError> {
        let text = self.text(text)?;
        self.push_event(Event::Thought { step, text: text.clone() }, true);
        Ok(text)
    }

    /// Adds the sub-question that is answered next; a fork may replace it.
    pub fn asked(&mut self, depth: usize, question: String) -> Result<String, SolveError> {
        let question = self.text(question)?;
        self.push_event(Event::Asked { depth, question: question.clone() }, true);
        Ok(question)
    }

    /// Adds the answer to a sub-question; a fork may replace it.
    pub fn resolved(
        &mut self,
        depth: usize,
        question: &str,
        answer: String,
    ) -> Result<String, SolveError> {
        let answer = self.text(answer)?;
        let question = question.to_owned();
        self.push_event(Event::Resolved { depth, question, answer: answer.clone() }, true);
        Ok(answer)
    }

    /// Adds the class of the question; a fork may name another.
    pub fn classified(
        &mut self,
        class: TaskClass,
        by: ClassifiedBy,
        reasons: Vec<Statement<Reason>>,
    ) -> Result<TaskClass, SolveError> {
        let (class, by) = match self.change()? {
            Some(Change::Text(name)) => {
                (name.parse().map_err(|_| self.unfit("the name of a class"))?, ClassifiedBy::Asker)
            }
            Some(_) => return Err(self.unfit("the name of a class")),
            None => (class, by),
        };
        self.push_event(Event::Classified { class, by, reasons }, true);
        Ok(class)
    }

    /// Adds a model's verdict; a fork may reverse it.
    pub fn judged(
        &mut self,
        criterion: Criterion,
        of: &str,
        holds: bool,
    ) -> Result<bool, SolveError> {
        let holds = match self.change()? {
            Some(Change::Verdict(other)) => other,
            Some(_) => return Err(self.unfit("a verdict")),
            None => holds,
        };
        let (of, by) = (of.to_owned(), JudgedBy::Verdict);
        self.push_event(Event::Judged { criterion, of, holds, score: None, by }, true);
        Ok(holds)
    }

    /// The documents that it read as editions.
    pub fn editions(&self) -> &ReadEditions {
        &self.editions
    }

    /// The present time.
    pub fn now(&self) -> Millis {
        (self.params.clock)()
    }

    /// A schema that this run derives now.
    pub fn kept_schema(&self, schema: RecordSchema) -> KeptSchema {
        KeptSchema { schema, run: self.record.id.clone(), at: self.now() }
    }

    /// Hands over what was read as records; a caller with a writable base stores it after the run.
    pub fn keep(&mut self, structured: Structured) {
        self.structured.push(structured);
    }

    fn text(&mut self, text: String) -> Result<String, SolveError> {
        match self.change()? {
            Some(Change::Text(other)) => Ok(other),
            Some(_) => Err(self.unfit("text")),
            None => Ok(text),
        }
    }

    fn unfit(&self, wanted: &'static str) -> SolveError {
        SolveError::UnfitChange { seq: self.next(), wanted }
    }

    /// The change of the next event, if there is one. From a fork's own change on, models are called.
    fn change(&mut self) -> Result<Option<Change>, SolveError> {
        let next = self.next();
        match (&self.params.retrace, self.diverged) {
            (Some(retrace), None) => Ok(retrace.change_at(next)),
            (Some(_), Some(seq)) => Err(SolveError::Diverged { seq }),
            (None, _) => Ok(None),
        }
    }

    /// Whether models answer from the record alone.
    fn asks_the_record(&self) -> bool {
        let own = self.params.retrace.as_ref();
        self.is_recorded || own.is_some_and(|retrace| !retrace.is_live())
    }

    /// Why a repeated run differs from the recorded one, if it does.
    fn divergence(&self) -> Option<SolveError> {
        let retrace = self.params.retrace.as_ref()?;
        let first = self.diverged.or_else(|| retrace.missing(self.next()));
        first.map(|seq| SolveError::Diverged { seq })
    }

    fn push_event(&mut self, event: Event, decision: bool) {
        let event = RunEvent {
            run: self.record.id.clone(),
            seq: self.next(),
            parent: self.last(),
            time: (self.params.clock)(),
            decision: decision && !self.is_part,
            calls: Vec::new(),
            event,
        };
        self.append(event);
    }

    fn append(&mut self, mut event: RunEvent) {
        let mut calls = std::mem::take(&mut self.account.calls);
        calls.append(&mut event.calls);
        event.calls = calls;
        event.run = self.record.id.clone();
        if let Some(retrace) = &self.params.retrace
            && self.diverged.is_none()
            && retrace.differs(event.seq, &event.event)
        {
            self.diverged = Some(event.seq);
        }
        if let Some(sink) = &self.params.sink {
            sink.event(&event);
        }
        self.events.push(event);
    }

    fn send_record(&mut self) {
        self.record.cost = self.account.cost();
        if let Some(sink) = &self.params.sink {
            sink.record(&self.record);
        }
    }

    fn next(&self) -> u32 {
        self.events.len() as u32
    }

    fn last(&self) -> Option<u32> {
        self.next().checked_sub(1)
    }
}
