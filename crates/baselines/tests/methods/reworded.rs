//! Tests that runs are replayed with the texts that their prompts had when the run was made.

use std::sync::Arc;

use pikerag_doubles::ScriptedChat;
use pikerag_knowledge::{
    Answer, Change, ChatModels, Context, ForkPoint, ModelError, Question, Role, WrittenBy,
};
use pikerag_methods::{Finished, MethodLabel, Models, Ports, Retrace, Run, RunParams, SolveError};
use pikerag_models::{MemoryLedger, Mode, Pins, Recorded};
use pikerag_prompt::{AskError, Prompt, Prose};

use crate::common::Shelf;

const FIRST: Prompt = Prompt::new(Role::Reason, "Name what {{ thing }} is like.", 9);
const SECOND: Prompt = Prompt::new(Role::Reason, "What is like {{ thing }}?", 8)
    .formerly(&[9])
    .with_earlier("baselines/like", &["Name what {{ thing }} is like."]);

/// A base without documents, a ledger, and a model that replies to each of its calls in turn.
struct Place {
    shelf: Shelf,
    ledger: Arc<MemoryLedger>,
    chat: &'static ScriptedChat,
}

impl Place {
    fn new() -> Self {
        let chat = ScriptedChat::in_order(["blue", "green", "violet"]);
        // The models of a run are shared, so they live as long as the test.
        let chat = Box::leak(Box::new(chat));
        Self { shelf: Shelf::empty(), ledger: Arc::default(), chat }
    }

    fn live(&self) -> Models {
        self.models(Mode::Record, Pins::default())
    }

    fn recorded(&self, run: &Finished) -> Models {
        let calls = run.events.iter().flat_map(|event| event.calls.iter().cloned());
        self.models(Mode::ReplayOnly, Pins::all(calls))
    }

    fn models(&self, mode: Mode, pins: Pins) -> Models {
        let chat = Recorded::pinned(self.chat, self.ledger.clone(), mode, pins);
        Models::from(ChatModels::one(Arc::new(chat)))
    }

    /// Asks what a thing is like, and then what that is like.
    async fn run(
        &self,
        models: Models,
        prompt: &Prompt,
        thing: &str,
        retrace: Option<Retrace>,
    ) -> Finished {
        let ports = Ports::new(self.shelf.base.clone(), None, models);
        let params = RunParams { retrace, ..RunParams::default() };
        let question = Question::new("", "What is it like?");
        let mut run = Run::begin(MethodLabel::named("likeness"), &question, params);
        let result = solve(&ports, &mut run, prompt, thing).await;
        run.end(result)
    }

    /// The requests' texts and the versions that the calls record.
    fn asked(&self) -> Vec<(String, Option<String>)> {
        let labels = self.chat.requests().into_iter().map(|request| request.prompt);
        self.chat.prompts().into_iter().zip(labels).collect()
    }
}

async fn solve(
    ports: &Ports,
    run: &mut Run,
    prompt: &Prompt,
    thing: &str,
) -> Result<Answer, SolveError> {
    let mut thing = thing.to_owned();
    for step in 1..=2 {
        let reply = run.ask::<Prose>(ports, prompt, &[("thing", thing.as_str())]).await?;
        thing = run.thought(step, reply.map(|Prose(text)| text).unwrap_or_default())?;
    }
    Ok(Answer {
        text: thing,
        rationale: String::new(),
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::Quotation,
        citations: Vec::new(),
        context: Context::default(),
        worked: None,
    })
}

fn text(finished: &Finished) -> &str {
    finished.result.as_ref().map_or("", |answer| answer.text.as_str())
}

/// A replay asks with the text and the limit of its run's time; a new run asks with today's.
#[tokio::test]
async fn a_run_from_before_a_prompt_was_reworded_is_replayed() {
    let place = Place::new();
    let first = place.run(place.live(), &FIRST, "the sea", None).await;
    assert_eq!(text(&first), "green");
    let whole = || Some(Retrace::whole(&first.record, &first.events));
    let again = place.run(place.recorded(&first), &SECOND, "the sea", whole()).await;
    assert_eq!((text(&again), &again.events), ("green", &first.events));

    // Another base gives other inputs, which no version of the prompt was asked with.
    let other = place.run(place.recorded(&first), &SECOND, "the sky", whole()).await;
    let is_missing = |error: &AskError| {
        matches!(error, AskError::Model { source: ModelError::NotRecorded { .. }, .. })
    };
    assert!(matches!(&other.result, Err(SolveError::Ask(error)) if is_missing(error)));

    let new = place.run(place.live(), &SECOND, "the sea", None).await;
    assert_eq!(text(&new), "");
    let asked = place.asked();
    assert_eq!(asked[0], ("Name what the sea is like.".to_owned(), None));
    let today = ("What is like the sea?".to_owned(), Some("baselines/like.2".to_owned()));
    assert_eq!(asked[2], today);
}

/// A fork has calls of two versions: those of its run, and its own.
#[tokio::test]
async fn a_fork_of_such_a_run_asks_with_todays_text_after_its_change() {
    let place = Place::new();
    let first = place.run(place.live(), &FIRST, "the sea", None).await;
    let change = Change::Text("the grass".to_owned());
    let fork = ForkPoint { run: first.record.id.clone(), seq: 1, change };
    let fork = Retrace::up_to(&first.record, &first.events, fork);
    let models = fork.models(&place.live(), &place.recorded(&first));
    let forked = place.run(models, &SECOND, "the sea", Some(fork)).await;
    assert_eq!(text(&forked), "violet");
    let texts: Vec<String> = place.asked().into_iter().map(|(text, _)| text).collect();
    assert_eq!(
        texts,
        ["Name what the sea is like.", "Name what blue is like.", "What is like the grass?"]
    );
    let whole = Retrace::whole(&forked.record, &forked.events);
    let again = place.run(place.recorded(&forked), &SECOND, "the sea", Some(whole)).await;
    assert_eq!((text(&again), &again.events), ("violet", &forked.events));
    assert_eq!(place.asked().len(), 3);
}
