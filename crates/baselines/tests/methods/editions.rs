//! Tests that of two versions of a rule the newer comes first, and that the older says so.

use std::sync::Arc;

use pikerag_doubles::ScriptedChat;
use pikerag_knowledge::{Question, Role};
use pikerag_methods::{Models, Ports};

use super::fixture::{Answered, Page, method, ports, shelve, solve};

const POLICIES: [Page<'static>; 4] = [
    (
        "差旅费管理办法（2022年版）.md",
        "# 差旅费管理办法\n\n自2022年3月1日起施行。\n\n住宿费每晚不超过300元，餐费凭票报销。火车票在系统中预订。",
        &[],
    ),
    (
        "差旅费管理办法（2024年修订）.md",
        "# 差旅费管理办法\n\n自2024年3月1日起施行，2022年版同时废止。\n\n住宿费每晚不超过400元，餐费凭票报销。火车票在系统中预订。",
        &[],
    ),
    (
        "annual-report-2022.md",
        "# Annual report 2022\n\nRevenue was 4.1 million euros. The company employed 40 people.",
        &[],
    ),
    (
        "annual-report-2023.md",
        "# Annual report 2023\n\nRevenue was 4.6 million euros. The company employed 44 people.",
        &[],
    ),
];

async fn quoted(question: &str) -> Answered {
    let shelf = shelve(&POLICIES, None).await;
    let ports = Ports::new(shelf.base.clone(), None, Models::default());
    solve(&ports, &Question::new("q", question), method("naive-rag")).await.unwrap()
}

/// The files of the citations, each with the file that replaces it.
fn cited(answer: &Answered) -> Vec<(&str, Option<&str>)> {
    let citations = answer.answer.citations.iter();
    citations
        .map(|citation| {
            let by = citation.replaced_by.as_ref();
            (citation.uri.as_str(), by.map(|by| by.uri.as_str()))
        })
        .collect()
}

#[tokio::test]
async fn the_newer_version_is_quoted_first() {
    let [older, newer] = [POLICIES[0].0, POLICIES[1].0];
    let answer = quoted("住宿费每晚不超过多少元？").await;
    assert_eq!(cited(&answer), [(newer, None), (older, Some(newer))]);
    assert!(answer.text.starts_with("住宿费每晚不超过400元"), "{}", answer.text);
    let by = answer.citations[1].replaced_by.as_ref().unwrap();
    assert_eq!(by.date.as_deref(), Some("2024-03-01"));
}

#[tokio::test]
async fn a_question_for_the_older_version_gets_it_first() {
    let [older, newer] = [POLICIES[0].0, POLICIES[1].0];
    let answer = quoted("按2022年版，住宿费每晚不超过多少元？").await;
    assert_eq!(cited(&answer), [(older, Some(newer)), (newer, None)]);
}

#[tokio::test]
async fn reports_of_two_years_replace_nothing() {
    let answer = quoted("What was the revenue?").await;
    assert_eq!(answer.citations.len(), 2);
    assert!(cited(&answer).iter().all(|(_, by)| by.is_none()), "{:?}", answer.citations);
}

/// The prompt marks the replaced document, and the citation has the title of the document.
#[tokio::test]
async fn a_model_reads_which_version_is_replaced() {
    let older = POLICIES[0].0;
    let reply = r#"{"rationale": "", "answer": "300", "lacking": null,
        "citations": [{"passage": 1, "quote": "住宿费每晚不超过300元"}]}"#;
    let chat = Arc::new(ScriptedChat::by_role([(Role::Answer, [reply])]));
    let shelf = shelve(&POLICIES, None).await;
    let question = Question::new("q", "住宿费每晚不超过多少元？");
    let answer = solve(&ports(&shelf, None, &chat), &question, method("naive-rag")).await.unwrap();
    let prompts = chat.prompts();
    let prompt = prompts.last().unwrap();
    let mark = format!("差旅费管理办法 [已被 {} 取代（2024-03-01）]", POLICIES[1].0);
    assert_eq!(prompt.matches(&mark).count(), 1, "{prompt}");
    assert_eq!(cited(&answer), [(older, Some(POLICIES[1].0))]);
    assert_eq!(answer.citations[0].title, "差旅费管理办法");
}

/// The answer that is read from gathered passages has the mark, too.
#[tokio::test]
async fn kar3_reads_which_version_is_replaced() {
    let chat = Arc::new(ScriptedChat::by_role([
        (Role::Propose, [r#"{"sub_questions": []}"#]),
        (Role::Answer, [r#"{"answer": "400"}"#]),
    ]));
    let shelf = shelve(&POLICIES, None).await;
    let question = Question::new("q", "住宿费每晚不超过多少元？");
    solve(&ports(&shelf, None, &chat), &question, method("kar3")).await.unwrap();
    let prompts = chat.prompts();
    let prompt = prompts.last().unwrap();
    let mark = format!("差旅费管理办法 [已被 {} 取代（2024-03-01）]", POLICIES[1].0);
    assert_eq!(prompt.matches(&mark).count(), 1, "{prompt}");
}

/// The rounds of `adaptive` have the mark, too.
#[tokio::test]
async fn a_reading_round_shows_which_version_is_replaced() {
    let round = r#"{"thinking": "so", "facts": [{"passage": 1, "fact": "住宿费每晚不超过400元"}],
        "sufficient": true, "missing": [], "answer": "400"}"#;
    let chat = Arc::new(ScriptedChat::by_role([
        (Role::Look, vec![round]),
        (Role::Answer, vec![r#"{"answer": "400"}"#]),
    ]));
    let shelf = shelve(&POLICIES, None).await;
    let question = Question::new("q", "住宿费每晚不超过多少元？");
    solve(&ports(&shelf, None, &chat), &question, method("adaptive")).await.unwrap();
    let prompts = chat.prompts();
    let prompt = prompts.first().unwrap();
    let mark = format!("差旅费管理办法 [已被 {} 取代（2024-03-01）]", POLICIES[1].0);
    assert_eq!(prompt.matches(&mark).count(), 1, "{prompt}");
}
