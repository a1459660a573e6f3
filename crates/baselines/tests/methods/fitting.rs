//! Tests that a slow model reads the best sentences of its context, and that its quotes are found in the
//! whole context.

use std::future::pending;
use std::sync::Arc;

use pikerag_baselines::answer;
use pikerag_doubles::ScriptedChat;
use pikerag_knowledge::{Check, Event, Note, Role, Statement};
use pikerag_methods::{Finished, RunParams};

use crate::methods::fixture::*;

const ASKED: &str = "How often is the pump of the northern crane greased?";
const GREASED: &str = "The pump of the northern crane is greased every week.";
const REPLY: &str = r#"{"answer": "every week", "rationale": "It says so.", "lacking": null,
    "citations": [{"passage": 1, "quote": "The pump of the northern crane is greased every week."}]}"#;

/// A page with one sentence that answers, and many others.
fn page() -> String {
    let others = (1..12).map(|day| {
        format!("On day {day} two men painted the gate green and swept the yard before noon.")
    });
    let others: Vec<String> = others.collect();
    format!("# Care\n\n{} {GREASED} {}", others.join(" "), others.join(" "))
}

async fn ask_within(reads_at_most: Option<u32>) -> (Finished, Arc<ScriptedChat>) {
    let page = page();
    let pages: [Page<'_>; 2] = [
        ("care.md", &page, &[ASKED]),
        ("tea.md", "# Tea\n\nTea is made from leaves.", &["What is tea made from?"]),
    ];
    let shelf = shelve(&pages, Some(hashes())).await;
    let chat = script(&[(Role::Answer, &[REPLY])]);
    let ports = ports(&shelf, Some(hashes()), &chat);
    let params = RunParams { reads_at_most, ..RunParams::default() };
    let run = answer(&ports, &question("q", ASKED), method("naive-rag"), params, pending()).await;
    (run, chat)
}

fn cuts(run: &Finished) -> Vec<(usize, usize)> {
    let cut = |event: &Event| match event {
        Event::Noted { note: Statement::Fact(Note::ContextCut { passages, of, .. }) } => {
            Some((*passages, *of))
        }
        _ => None,
    };
    run.events.iter().filter_map(|event| cut(&event.event)).collect()
}

#[tokio::test]
async fn a_fast_model_reads_all() {
    let (run, chat) = ask_within(None).await;
    assert_eq!((cuts(&run), run.record.reads_at_most), (Vec::new(), None));
    assert!(prompts(&chat)[0].contains("On day 11"));
}

#[tokio::test]
async fn a_slow_model_reads_the_best_sentences_and_its_quote_is_verified() {
    let (whole, _) = ask_within(None).await;
    let (run, chat) = ask_within(Some(600)).await;
    let [(passages, of)] = cuts(&run)[..] else { panic!("{:?}", run.events) };
    assert!(0 < passages && passages <= of);
    let prompt = &prompts(&chat)[0];
    assert!(prompt.contains(GREASED), "{prompt}");
    let answer = run.result.unwrap();
    let [citation] = &answer.citations[..] else { panic!("{:?}", answer.citations) };
    assert_eq!((citation.check, citation.quote.as_str()), (Check::Verified, GREASED));
    // The kept context is whole.
    assert_eq!(answer.context, whole.result.unwrap().context);
}

#[tokio::test]
async fn the_recorded_limit_gives_the_same_prompt_again() {
    let (first, chat) = ask_within(Some(600)).await;
    let (_, again) = ask_within(first.record.reads_at_most).await;
    assert_eq!(prompts(&chat), prompts(&again));
}
