//! Tests that a slow model reads the best sentences of its context, and that its quotes are found in the
//! whole context.

use std::future::pending;
use std::sync::Arc;

use pikerag_baselines::{Method, answer};
use pikerag_doubles::{ScriptedChat, prompt};
use pikerag_knowledge::{ChatRequest, Check, Event, Note, Role, Statement, TaskClass, WrittenBy};
use pikerag_methods::{Finished, RunParams, adaptive, pike};
use serde_json::json;

use crate::methods::fixture::*;
use crate::model_output::formats;

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
    let chat = script(&[(Role::Answer, &[REPLY])]);
    (ask_by(method("naive-rag"), &chat, reads_at_most).await, chat)
}

async fn ask_by(method: Method, chat: &Arc<ScriptedChat>, reads_at_most: Option<u32>) -> Finished {
    let page = page();
    let pages: [Page<'_>; 2] = [
        ("care.md", &page, &[ASKED]),
        ("tea.md", "# Tea\n\nTea is made from leaves.", &["What is tea made from?"]),
    ];
    let shelf = shelve(&pages, Some(hashes())).await;
    let ports = ports(&shelf, Some(hashes()), chat);
    let params = RunParams { reads_at_most, ..RunParams::default() };
    answer(&ports, &question("q", ASKED), method, params, pending()).await
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

/// A brief reply has no reasons and no quotes; the words that support it are found in its passage.
#[tokio::test]
async fn a_model_with_little_time_replies_briefly() {
    for (limit, is_brief) in [(None, false), (Some(4000), false), (Some(600), true)] {
        let reply = if is_brief { r#"{"passage": 1, "answer": "every week"}"# } else { REPLY };
        let chat = script(&[(Role::Answer, &[reply])]);
        let run = ask_by(method("naive-rag"), &chat, limit).await;
        let request = &chat.requests()[0];
        formats::check(request);
        let prompt = prompt(request).unwrap();
        assert_eq!(prompt.contains("rationale"), !is_brief, "{prompt}");
        let schema = &request.schema.as_ref().unwrap().schema;
        assert_eq!(schema["properties"].get("citations").is_some(), !is_brief, "{schema}");
        let answer = run.result.unwrap();
        let [citation] = &answer.citations[..] else { panic!("{:?}", answer.citations) };
        assert_eq!((citation.check, citation.quote.as_str()), (Check::Verified, GREASED));
        assert_eq!(answer.text, "every week");
    }
    // The words of this answer are in no sentence; a model without schemas may name no passage.
    for reply in
        [r#"{"passage": 1, "answer": "twice each month"}"#, r#"{"answer": "twice each month"}"#]
    {
        let chat = script(&[(Role::Answer, &[reply])]);
        let answer = ask_by(method("naive-rag"), &chat, Some(600)).await.result.unwrap();
        assert!(answer.rationale.starts_with("The model's answer was left out"), "{answer:?}");
        assert_eq!(answer.written_by, WrittenBy::Quotation);
        assert!(answer.citations[0].quote.starts_with(GREASED), "{:?}", answer.citations);
        assert!(!answer.text.contains("twice each month"), "{}", answer.text);
    }
}

#[tokio::test]
async fn the_recorded_limit_gives_the_same_prompt_again() {
    let (first, chat) = ask_within(Some(600)).await;
    let (_, again) = ask_within(first.record.reads_at_most).await;
    assert_eq!(prompts(&chat), prompts(&again));
}

/// One call reads the best sentences of one retrieval, unless the model is known to collect facts and
/// answer at once, or the user chose `adaptive` for it. `pike` checks its answer by another, short call.
#[tokio::test]
async fn a_model_with_little_time_gets_one_call() {
    let round = json!({
        "thinking": "It says so.", "facts": [GREASED], "sufficient": true, "missing": [], "answer": "every week"
    });
    let round = round.to_string();
    let brief = [r#"{"passage": 1, "answer": "every week"}"#, r#"{"stated": "yes"}"#];
    let pike = |l2: pike::L2, at_once: bool| {
        let params =
            pike::Params { class: Some(TaskClass::Factual), l2, ..pike::Params::default() };
        Method::Pike(params).reading(Some(at_once))
    };
    let (auto, chosen) = (pike::L2::Auto, pike::L2::Adaptive);
    let adaptive = |at_once: bool| method("adaptive").reading(Some(at_once));
    for (asked, limit, roles) in [
        (pike(auto, true), Some(600), vec![Role::Answer, Role::Answer]),
        (pike(auto, true), None, vec![Role::Look]),
        (pike(auto, true), Some(2000), vec![Role::Look]),
        (pike(chosen, true), Some(600), vec![Role::Look]),
        (pike(chosen, false), Some(600), vec![Role::Answer, Role::Answer]),
        (adaptive(true), Some(600), vec![Role::Look]),
        (adaptive(false), Some(600), vec![Role::Answer]),
        (adaptive(false), None, vec![Role::Look, Role::Answer]),
    ] {
        let chat = script(&[(Role::Look, &[round.as_str()]), (Role::Answer, &brief)]);
        let run = ask_by(asked, &chat, limit).await;
        let asked_for: Vec<Role> = chat.requests().iter().map(|request| request.role).collect();
        assert_eq!(asked_for, roles, "{asked} {limit:?}");
        assert_eq!(run.result.unwrap().text, "every week");
    }
}

/// The answer of a small model stays, but it is marked if the model does not find it in the cited passage.
#[tokio::test]
async fn an_answer_that_the_passage_does_not_state_lacks_one_that_does() {
    let reply = r#"{"passage": 1, "answer": "every week"}"#;
    for (stated, is_marked) in [("yes", false), ("no", true), ("perhaps", false)] {
        let stated = json!({"stated": stated}).to_string();
        let chat = script(&[(Role::Answer, &[reply, stated.as_str(), stated.as_str()])]);
        let factual = Some(TaskClass::Factual);
        let pike = Method::Pike(pike::Params { class: factual, ..pike::Params::default() });
        let run = ask_by(pike, &chat, Some(600)).await;
        let request = &chat.requests()[1];
        formats::check(request);
        let prompt = prompt(request).unwrap();
        assert!(prompt.contains(GREASED) && prompt.contains("\nevery week"), "{prompt}");
        let answer = run.result.unwrap();
        assert_eq!((answer.text.as_str(), !answer.missing.is_empty()), ("every week", is_marked));
    }
}

/// A small model would answer from another pump.
#[tokio::test]
async fn a_thing_that_no_document_has_is_named_without_a_call() {
    let shelf = shelve(&[("care.md", &page(), &[])], Some(hashes())).await;
    for (limit, is_asked) in [(Some(600), false), (None, true)] {
        let chat = Arc::new(ScriptedChat::by(|_| Ok("{}".to_owned())));
        let ports = ports(&shelf, Some(hashes()), &chat);
        let params = RunParams { reads_at_most: limit, ..RunParams::default() };
        let asked = question("q", "How often is the pump P-999 greased?");
        let pike = Method::Pike(pike::Params::default());
        let given = answer(&ports, &asked, pike, params, pending()).await.result.unwrap();
        assert_eq!(!chat.requests().is_empty(), is_asked);
        if !is_asked {
            assert_eq!(given.quotes.as_ref().unwrap().absent, ["P-999"]);
            assert!(given.refused && given.citations[0].quote.starts_with(GREASED), "{given:?}");
        }
    }
}

/// Rules take the steps before the answer, unless a role has a model of its own.
#[tokio::test]
async fn a_small_model_neither_classifies_nor_plans() {
    let asked = "How many cranes are there, and why is the gate green?";
    let shelf = shelve(&[("care.md", &page(), &[])], Some(hashes())).await;
    for (has_own, limit, is_asked) in
        [(false, Some(600), false), (true, Some(600), true), (false, None, true)]
    {
        let chat = Arc::new(ScriptedChat::by(|_| Ok("{}".to_owned())));
        let own = Arc::new(ScriptedChat::by(|_| Ok("{}".to_owned())).named("own"));
        let mut ports = ports(&shelf, Some(hashes()), &chat);
        if has_own {
            for role in [Role::Classify, Role::Decompose] {
                ports.models.chat.by_role.insert(role, own.clone() as _);
            }
        }
        let params = RunParams { reads_at_most: limit, ..RunParams::default() };
        let pike = Method::Pike(pike::Params::default());
        answer(&ports, &question("q", asked), pike, params, pending()).await;
        let asked = [chat.requests(), own.requests()].concat();
        let by_rules =
            |request: &ChatRequest| matches!(request.role, Role::Classify | Role::Decompose);
        assert_eq!(asked.iter().any(by_rules), is_asked, "{has_own} {limit:?}");
    }
}

/// A reading round shows the best sentences too; its facts are found in the whole passages.
#[tokio::test]
async fn a_reading_round_of_a_slow_model_is_cut() {
    let reply = json!({
        "thinking": "It says so.", "facts": [GREASED], "sufficient": true, "missing": [], "answer": "every week"
    });
    let reply = reply.to_string();
    let reader = adaptive::Reader::AtOnce;
    let in_rounds = Method::Adaptive(adaptive::Params { reader, ..adaptive::Params::default() });
    let mut lengths = Vec::new();
    for limit in [None, Some(0)] {
        let chat = script(&[(Role::Look, &[reply.as_str()])]);
        let run = ask_by(in_rounds, &chat, limit).await;
        assert_eq!(cuts(&run).len(), usize::from(limit.is_some()), "{:?}", run.events);
        let shown = &prompts(&chat)[0];
        assert!(shown.contains(GREASED), "{shown}");
        lengths.push(shown.len());
        let answer = run.result.unwrap();
        let [citation] = &answer.citations[..] else { panic!("{:?}", answer.citations) };
        assert_eq!((citation.check, citation.quote.as_str()), (Check::Verified, GREASED));
    }
    assert!(lengths[1] < lengths[0], "{lengths:?}");
}

/// The numbers in a reply are those of the shortened context.
#[tokio::test]
async fn a_comparison_of_a_slow_model_is_cut() {
    let page = |name: &str, weight: &str, other: &str| {
        let others: Vec<String> = (1..14).map(|day| format!("On day {day} {other}.")).collect();
        let others = others.join(" ");
        format!("# {name}\n\n{others} The {name} weighs {weight} kg. {others}")
    };
    let heavy = page("Halden H4", "310", "two men painted the gate green");
    let light = page("Corvane C2", "42", "rain fell on the northern harbour");
    let tea = "# Tea\n\nTea is made from leaves.";
    let pages: [Page<'_>; 3] =
        [("halden.md", &heavy, &[]), ("tea.md", tea, &[]), ("corvane.md", &light, &[])];
    let shelf = shelve(&pages, Some(hashes())).await;
    let chat = Arc::new(ScriptedChat::by(|request| {
        let shown = prompt(request).unwrap();
        let cell = |quote: &str| {
            let before = &shown[..shown.find(quote).unwrap()];
            let (_, number) = before.rsplit_once("\n[").unwrap();
            let number: usize = number.split(']').next().unwrap().parse().unwrap();
            json!({"text": quote, "passage": number, "quote": quote})
        };
        let cells = [cell("The Halden H4 weighs 310 kg."), cell("The Corvane C2 weighs 42 kg.")];
        Ok(json!({
            "things": ["Halden H4", "Corvane C2"], "rows": [{"attribute": "weight", "cells": cells}],
            "rationale": "310 is more than 42.", "answer": "Halden H4", "lacking": null
        })
        .to_string())
    }));
    let ports = ports(&shelf, Some(hashes()), &chat);
    let class = Some(TaskClass::Comparative);
    let compares = Method::Pike(pike::Params { class, ..pike::Params::default() });
    let asked = question("q", "Which is heavier, the Halden H4 or the Corvane C2?");
    for limit in [None, Some(700)] {
        let params = RunParams { reads_at_most: limit, ..RunParams::default() };
        let run = answer(&ports, &asked, compares, params, pending()).await;
        assert_eq!(cuts(&run).len(), usize::from(limit.is_some()), "{:?}", run.events);
        let answer = run.result.unwrap();
        let checks: Vec<Check> = answer.citations.iter().map(|citation| citation.check).collect();
        assert_eq!(checks, [Check::Verified, Check::Verified]);
    }
}
