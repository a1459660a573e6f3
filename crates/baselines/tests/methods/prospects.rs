//! Tests that a development without a series is judged by checked evidence, with a scripted model over a few notes.

use std::fmt::Write as _;
use std::sync::Arc;

use pikerag_baselines::Method;
use pikerag_doubles::{ScriptedChat, prompt};
use pikerag_indexing::Params as IngestParams;
use pikerag_knowledge::worked::{Argument, Direction, Prospect};
use pikerag_knowledge::{
    ChatModels, Check, Event, Likelihood, Note, Question, Reason, RecordSchema, Role, Statement,
    TaskClass, WrittenBy,
};
use pikerag_methods::pike::{Classifier, Params, classed};
use pikerag_methods::{Models, Ports, Tables};
use serde_json::{Value, json};

use super::fixture::{hashes, prompts, section, trace_of};
use crate::common::{Answered, Files, Shelf, solve};

const NOTES: [(&str, &str); 4] = [
    (
        "harbour.md",
        "# Letter of the harbour master\n\nThe night stops rose from two to four a month, because salt fog wets the discs.\n",
    ),
    (
        "trial.md",
        "# Trial of covers\n\nIn the trial the covers kept the discs dry, and the night stops ended.\n",
    ),
    (
        "review.md",
        "# Review of the year\n\nThe review predicts fewer gearbox leaks for next year.\n",
    ),
    ("tea.md", "# Tea\n\nTea is made from leaves.\n"),
];
const ROSE: &str = "The night stops rose from two to four a month";
const ENDED: &str = "the covers kept the discs dry, and the night stops ended";
const ASKED: &str = "Is it likely that night stops will get worse next year, and why?";

async fn shelf(notes: &[(&str, &str)]) -> Shelf {
    let shelf = Shelf::empty();
    let files: Files = notes.iter().copied().collect();
    let report = shelf.index(&files, None, Some(hashes()), &IngestParams::default()).await;
    assert!(report.is_whole(), "{report:?}");
    shelf
}

fn ports(shelf: &Shelf, chat: Option<Arc<ScriptedChat>>) -> Ports {
    let default = chat.map(|chat| chat as _);
    let models: Models = ChatModels { default, ..ChatModels::default() }.into();
    Ports::new(shelf.base.clone(), Some(hashes()), models)
}

async fn ask(chat: Option<Arc<ScriptedChat>>, asked: &str) -> Answered {
    let shelf = shelf(&NOTES).await;
    solve(&ports(&shelf, chat), &Question::new("q", asked), Method::Pike(Params::default()))
        .await
        .unwrap()
}

/// Quotes of each side, each ascribed to the first passage, and the verdict.
fn judgement(for_it: &[&str], against: &[&str], verdict: &str) -> Value {
    let side = |quotes: &[&str]| -> Vec<Value> {
        let argument =
            |quote: &&str| json!({"evidence": "So it was.", "passage": 1, "quote": quote});
        quotes.iter().map(argument).collect()
    };
    json!({
        "statement": "Night stops get worse next year.", "evidence_for": side(for_it), "evidence_against": side(against),
        "figures": "neither", "verdict": verdict, "reason": "Salt fog wets the discs.", "would_change": "Covers."
    })
}

/// Proposes queries, and judges.
fn judge(judgement: Value) -> Arc<ScriptedChat> {
    Arc::new(ScriptedChat::by(move |request| {
        let shown = prompt(request).unwrap();
        Ok(match (request.role, shown.contains("{\"causes\":")) {
            (Role::Reason, true) => {
                json!({"causes": "night stops rose because fog", "doubts": "covers trial ended stops"})
            }
            (Role::Reason, false) => judgement.clone(),
            (Role::Decompose, _) => {
                json!({"sql": "SELECT strftime('%Y-%m', day), COUNT(*) FROM repairs GROUP BY 1"})
            }
            (Role::Classify, _) => json!({"reason": "it asks what will be", "class": "predictive"}),
            (role, _) => panic!("{role}: {shown}"),
        }
        .to_string())
    }))
}

fn prospect(answered: &Answered) -> Prospect {
    answered.answer.worked.as_ref().unwrap().prospect.clone().unwrap()
}

fn verdicts(answered: &Answered) -> (Option<Likelihood>, Option<Likelihood>) {
    let prospect = prospect(answered);
    (prospect.verdict, prospect.unsupported)
}

#[tokio::test]
async fn a_verdict_rests_on_checked_evidence_of_its_side() {
    let chat = judge(judgement(&[ROSE], &[ENDED], "likely"));
    let answered = ask(Some(chat.clone()), ASKED).await;
    insta::assert_snapshot!(trace_of(&answered), @"
    pike: Is it likely that night stops will get worse next year, and why?
    class: predictive by Rules: the question asks whether or how something will develop
    plan 1 (the question asks whether or how something will develop): find records: declared ones first, then tables; sort the records by time; test each model on the past, forecast with the best one
    plan 2 (no records match the question and allow a forecast): find passages on the past, on causes and on doubts; weigh the evidence for and against; check each quote; a verdict without checked evidence becomes uncertain
    asks at 1: night stops rose because fog
    asks at 1: covers trial ended stops
    gathers: Review of the year | Letter of the harbour master | Trial of covers | Tea
    answer: Likely: Night stops get worse next year. Salt fog wets the discs.
    cites harbour.md: The night stops rose from two to four a month
    cites trial.md: the covers kept the discs dry, and the night stops ended
    calls: 2 reason
    ");
    let prospect = prospect(&answered);
    let argument =
        |number| Argument { text: "So it was.".to_owned(), citation: Some(number), trend: None };
    assert_eq!((prospect.for_it, prospect.against), (vec![argument(1)], vec![argument(2)]));
    assert_eq!(prospect.would_change.as_deref(), Some("Covers."));
    assert!(answered.answer.citations.iter().all(|own| own.check == Check::Verified));
    // The queries found the passages of both sides.
    let shown = prompts(&chat).pop().unwrap();
    let context = section(&shown, "# Context");
    assert!(context.contains(ROSE) && context.contains(ENDED), "{context}");
    assert_eq!(section(&shown, "# Computed figures").trim(), "(none)");
    let unlikely = ask(Some(judge(judgement(&[], &[ENDED], "unlikely"))), ASKED).await;
    assert_eq!(verdicts(&unlikely), (Some(Likelihood::Unlikely), None));
    let open = ask(Some(judge(judgement(&[ROSE], &[ENDED], "uncertain"))), ASKED).await;
    assert_eq!(verdicts(&open), (Some(Likelihood::Uncertain), None));
    assert!(open.answer.text.starts_with("Uncertain: Night stops get worse next year."));
}

/// An invented quote, a quote of the other side only, a place that both sides cite, a single word, and no evidence at all support
/// no verdict.
#[tokio::test]
async fn a_verdict_without_checked_evidence_becomes_uncertain() {
    let invented = "The stops will double.";
    for (for_it, against, verdict, unchecked) in [
        (vec![invented], vec![ENDED], "likely", 1),
        (vec![], vec![ENDED], "likely", 0),
        (vec![ROSE], vec![invented], "unlikely", 1),
        (vec![ROSE], vec![ROSE], "likely", 0),
        (vec!["The"], vec![], "likely", 1),
        (vec![], vec![], "unlikely", 0),
    ] {
        let answered = ask(Some(judge(judgement(&for_it, &against, verdict))), ASKED).await;
        let model = if verdict == "likely" { Likelihood::Likely } else { Likelihood::Unlikely };
        assert_eq!(verdicts(&answered), (Some(Likelihood::Uncertain), Some(model)), "{for_it:?}");
        assert_eq!(prospect(&answered).unchecked, unchecked, "{for_it:?}");
        assert!(answered.answer.citations.iter().all(|own| own.check == Check::Verified));
        // The reason argued for another verdict.
        let text = &answered.answer.text;
        assert!(text.starts_with("Uncertain: ") && !text.contains("Salt fog"), "{text}");
        let noted = Note::VerdictUnsupported { verdict: model };
        let is_noted = |event: &Event| matches!(event, Event::Noted { note: Statement::Fact(note) } if *note == noted);
        assert!(answered.events.iter().any(is_noted));
    }
}

/// Hostile replies: none is an error, none gives a verdict.
#[tokio::test]
async fn unreadable_judgements_give_quotes_and_no_verdict() {
    for reply in
        ["", "likely", "{\"verdict\": \"certainly\"}", "{\"verdict\": [\"likely\", 1]}", "[[[{"]
    {
        let chat = Arc::new(ScriptedChat::by(move |_| Ok(reply.to_owned())));
        let answered = ask(Some(chat), ASKED).await;
        let prospect = prospect(&answered);
        assert_eq!(prospect.verdict, None, "{reply}");
        assert!(!prospect.found.is_empty() && !answered.answer.refused, "{reply}");
        assert!(answered.answer.text.contains("could not be read"), "{reply}");
    }
    let odd = json!({
        "verdict": "LIKELY.", "statement": ["a", "b"], "evidence_for": {"quote": ROSE}, "evidence_against": [7, null],
        "figures": 3, "reason": null
    });
    let answered = ask(Some(judge(odd)), ASKED).await;
    assert_eq!(verdicts(&answered), (Some(Likelihood::Uncertain), Some(Likelihood::Likely)));
    assert_eq!(prospect(&answered).statement, "a, b");
}

#[tokio::test]
async fn without_a_model_passages_are_quoted_and_nothing_is_denied() {
    for asked in [ASKED, "夜间停机night stops明年会不会更严重？"] {
        let answered = ask(None, asked).await;
        let prospect = prospect(&answered);
        assert_eq!((prospect.verdict, answered.answer.refused), (None, false), "{asked}");
        let quotes: Vec<&str> = prospect.found.iter().map(|own| own.text.as_str()).collect();
        assert!(quotes.iter().any(|quote| quote.contains("night stops")), "{quotes:?}");
        assert_eq!(answered.answer.written_by, WrittenBy::Quotation);
        let text = &answered.answer.text;
        assert!(text.contains("needs a language model") || text.contains("需要语言模型"), "{text}");
    }
    let tea = shelf(&[("tea.md", "# Tea\n\nTea is made from leaves.\n")]).await;
    let asked = Question::new("q", "Will the volcano erupt again soon?");
    let nothing = solve(&ports(&tea, None), &asked, Method::Pike(Params::default())).await.unwrap();
    let why = nothing.answer.worked.as_ref().unwrap().refusal.clone();
    assert!(nothing.answer.refused);
    assert!(matches!(why, Some(Reason::JudgementNeedsModel | Reason::NothingToJudge)), "{why:?}");
}

/// A wish for a figure stays a forecast; what a document predicts is read.
#[tokio::test]
async fn figures_and_statements_are_not_judged() {
    for asked in
        ["How many failures should we expect next quarter?", "预计下个季度会有多少次故障？"]
    {
        let refused = ask(None, asked).await.answer;
        let why = refused.worked.as_ref().unwrap().refusal.clone();
        assert_eq!((refused.refused, why), (true, Some(Reason::ForecastNeedsRecords)), "{asked}");
    }
    let shelf = shelf(&NOTES).await;
    let ports = ports(&shelf, None);
    for (asked, class) in [
        ("What does the review predict for next year?", TaskClass::Factual),
        ("What growth does the plan expect?", TaskClass::Factual),
        ("年度回顾对明年有什么预测？", TaskClass::Factual),
        ("How many leaks does the review expect next year?", TaskClass::Factual),
        (ASKED, TaskClass::Predictive),
        ("Will the seals hold next winter?", TaskClass::Predictive),
        ("明年夜间停机会不会更严重？", TaskClass::Predictive),
    ] {
        let found = classed(&ports, &Question::new("q", asked), Classifier::Rules).await.unwrap();
        assert_eq!(found.class, class, "{asked}");
    }
    let read = ask(None, "What does the review predict for next year?").await.answer;
    assert!(read.text.contains("fewer gearbox leaks"), "{}", read.text);
}

/// A question for what will be, of which nothing is a series, is judged as well.
#[tokio::test]
async fn open_questions_are_judged_if_nothing_is_a_series() {
    let chat = judge(judgement(&[ROSE], &[], "likely"));
    let answered = ask(Some(chat), "What will trouble the cranes most in the coming years?").await;
    assert_eq!(verdicts(&answered), (Some(Likelihood::Likely), None));
    let planned = answered.events.iter().filter(|event| matches!(event, Event::Planned { .. }));
    assert_eq!(planned.count(), 2, "{}", trace_of(&answered));
}

/// The computed series is shown to the model, and counts as evidence of the side that the model names.
#[tokio::test]
async fn the_trend_of_a_series_is_evidence() {
    let schema = json!({"name": "repair", "key": ["order"], "model": false,
        "fields": [{"name": "order"}, {"name": "day", "type": "date"}]});
    let schema: RecordSchema = serde_json::from_value(schema).unwrap();
    let mut rows = "order,day\n".to_owned();
    for (month, count) in [2, 2, 3, 4, 4, 5, 6, 7].into_iter().enumerate() {
        for n in 0..count {
            let day = 1 + n * 27 / (count - 1);
            writeln!(rows, "R-{month}-{n},2024-{:02}-{day:02}", month + 1).unwrap();
        }
    }
    let shelf = Shelf::empty();
    let files: Files = [("repairs.csv", rows.as_str()), NOTES[0]].into_iter().collect();
    let params = IngestParams { records: vec![schema.clone()], ..IngestParams::default() };
    shelf.index(&files, None, Some(hashes()), &params).await;
    let tables = Tables {
        schemas: vec![schema].into(),
        engine: Some(Arc::new(pikerag_store::Tables)),
        ..Tables::default()
    };
    let mut reply = judgement(&[], &[], "likely");
    reply["figures"] = json!("for");
    let chat = judge(reply);
    let ports = Ports { tables, ..ports(&shelf, Some(chat.clone())) };
    let asked = Question::new("q", "Is the number of repairs likely to rise next month?");
    let class = Some(TaskClass::Predictive);
    let params = Params { class, ..Params::default() };
    let answered = solve(&ports, &asked, Method::Pike(params)).await.unwrap();
    assert_eq!(verdicts(&answered), (Some(Likelihood::Likely), None), "{}", trace_of(&answered));
    let prospect = prospect(&answered);
    let [Argument { trend: Some(trend), citation: Some(1), .. }] = prospect.for_it.as_slice()
    else {
        panic!("{prospect:?}")
    };
    assert_eq!((trend.direction, trend.length), (Direction::Rising, 8));
    assert_eq!(trend.first.value.zip(trend.last.value), Some((2.0, 7.0)));
    assert!(answered.answer.worked.as_ref().unwrap().forecast.is_some());
    let shown = prompts(&chat).pop().unwrap();
    assert!(section(&shown, "# Computed figures").contains("8 figures, rising"), "{shown}");
}
