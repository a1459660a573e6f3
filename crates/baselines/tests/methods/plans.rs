//! Tests that questions which combine classes are answered by plans: made by rules without a model, made and made again by a
//! scripted one; and that levels limit what is answered.

use std::fmt::Write as _;
use std::sync::Arc;

use pikerag_baselines::Method;
use pikerag_doubles::{ScriptedChat, prompt};
use pikerag_indexing::Params as IngestParams;
use pikerag_knowledge::{
    ChatModels, ChatRequest, Event, Level, Note, PlanStep, Question, Statement, StepKind,
    TaskClass, WrittenBy,
};
use pikerag_methods::Ports;
use pikerag_methods::pike::{L2, Params};
use pikerag_narrate::{InWords, Language, joined};
use serde_json::{Value as Json, json};

use super::fixture::hashes;
use crate::common::{Answered, Files, Shelf, solve};

const FAILURES: &str = "day,part,machine,hours\n2023-02-01,cutter,M1,2\n2023-04-09,feed belt,M2,4\n\
                        2023-08-15,feed belt,M1,3\n2024-01-05,feed belt,M1,5\n2024-03-02,gasket,M2,1\n\
                        2024-05-19,feed belt,M2,3\n2024-07-11,cutter,M1,2\n2024-09-30,feed belt,M1,6\n";

const PAGES: [(&str, &str); 5] = [
    ("failures.csv", FAILURES),
    (
        "故障.csv",
        "日期,部件,停机小时\n2024-01-05,传送带,5\n2024-03-02,垫片,1\n2024-05-19,传送带,3\n2024-07-11,刀具,2\n",
    ),
    (
        "suppliers.md",
        "# Suppliers\n\nThe feed belt is supplied by Ostrel Rubber of Wendham. The gasket is supplied by Norrick Seals. \
         The cutter is supplied by Haldane Tools.\n",
    ),
    (
        "belt.md",
        "# Feed belt\n\nThe feed belt fails because the rollers run dry. Ostrel Rubber recommends a new roller in spring.\n",
    ),
    ("供应商.md", "# 供应商\n\n传送带由青砚橡胶公司供应。垫片由澜屿密封公司供应。\n"),
];

/// What the scripted model replies to the prompts of plans; it plays the other roles by the question.
struct Script {
    plans: Vec<Json>,
    result: Json,
}

async fn shelf() -> Shelf {
    let shelf = Shelf::empty();
    let files: Files = PAGES.into_iter().collect();
    shelf.index(&files, None, Some(hashes()), &IngestParams::default()).await;
    shelf
}

fn chat(script: Script) -> Arc<ScriptedChat> {
    let plans = std::sync::Mutex::new(script.plans.into_iter());
    let result = script.result;
    Arc::new(ScriptedChat::by(move |request: &ChatRequest| {
        let asked = prompt(request).unwrap();
        let question = asked.rsplit("# Question\n").next().unwrap_or_default().trim().to_owned();
        let reply = if asked.contains("Kinds of steps:") {
            plans.lock().unwrap().next().unwrap_or_else(|| json!({"steps": []}))
        } else if asked.contains("# Results of the steps") {
            result.clone()
        } else if asked.contains("\n# Tables\n") {
            match question.as_str() {
                "Which part has the most failures in 2024?" => json!({"sql":
                    "SELECT part FROM failures WHERE day LIKE '2024%' GROUP BY part ORDER BY COUNT(*) DESC LIMIT 1"}),
                _ => json!({"sql": ""}),
            }
        } else if asked.contains("\n# Readings\n") {
            json!({"thinking": "", "choice": "A"})
        } else {
            let answer = if question.contains("Wendham") { "Wendham" } else { "Ostrel Rubber" };
            let quote = "The feed belt is supplied by Ostrel Rubber of Wendham.";
            json!({"answer": answer, "class": "bridging", "sufficient": true, "missing": [],
                "facts": [{"fact": answer, "passage": 1, "quote": quote}],
                "citations": [{"passage": 1, "quote": quote}], "rationale": "It says so."})
        };
        Ok(reply.to_string())
    }))
}

async fn ask_with(params: Params, question: &str, script: Option<Script>) -> Answered {
    let shelf = shelf().await;
    let default = script.map(|script| chat(script) as _);
    let models = ChatModels { default, ..ChatModels::default() };
    let ports = Ports::new(shelf.base.clone(), Some(hashes()), models.into());
    solve(&ports, &Question::new("q", question), Method::Pike(params)).await.unwrap()
}

async fn ask(question: &str, script: Option<Script>) -> Answered {
    ask_with(Params::default(), question, script).await
}

/// The plans and results of a run, and its answer.
pub(super) fn shown(answered: &Answered) -> String {
    let mut shown = String::new();
    for event in &answered.events {
        match event {
            Event::Planned { round, because, steps }
                if steps
                    .iter()
                    .any(|step| matches!(step, Statement::Fact(PlanStep::AnswerPart { .. }))) =>
            {
                let why = joined(because, Language::English);
                writeln!(shown, "plan {round}, because {why}").unwrap();
                for step in steps {
                    writeln!(shown, "  {}", step.in_words(Language::English)).unwrap();
                }
            }
            Event::Asked { depth, question } => {
                writeln!(shown, "asks {depth}: {question}").unwrap();
            }
            Event::Resolved { answer, .. } => writeln!(shown, "finds: {answer}").unwrap(),
            Event::Noted { note: Statement::Fact(note @ Note::WordingDropped { .. }) } => {
                writeln!(shown, "{}", note.in_words(Language::English)).unwrap();
            }
            _ => {}
        }
    }
    let answer = &answered.answer;
    let worked = answer.worked.as_deref();
    let class = worked.map_or("", |worked| worked.class.as_str());
    writeln!(shown, "answer ({class}): {}", answer.text).unwrap();
    for step in worked.iter().flat_map(|worked| &worked.steps) {
        let kind: &str = step.kind.into();
        writeln!(shown, "  {} {kind} {:?}: {}", step.name, step.citations, step.answer).unwrap();
    }
    for missing in &answer.missing {
        writeln!(shown, "missing: {missing}").unwrap();
    }
    shown
}

fn step(name: &str, kind: &str, question: &str) -> Json {
    json!({"name": name, "kind": kind, "question": question})
}

const CHAIN: &str = "Who supplies the part with the most failures in 2024?";

#[tokio::test]
async fn rules_compute_the_ranked_thing_and_read_about_it() {
    let answered = ask(CHAIN, None).await;
    insta::assert_snapshot!(shown(&answered));
    assert_eq!(answered.answer.written_by, WrittenBy::Quotation);
    assert!(answered.answer.citations.iter().any(|it| it.quote.contains("Ostrel Rubber")));
}

#[tokio::test]
async fn rules_plan_in_chinese() {
    let answered = ask("2024年故障最多的部件由谁供应？", None).await;
    insta::assert_snapshot!(shown(&answered));
}

/// A plan of rules whose figure is not computed does not count.
#[tokio::test]
async fn without_its_figure_a_plan_of_rules_is_dropped() {
    let answered = ask("Who supplies the part with the most squeaks in 2024?", None).await;
    assert!(answered.answer.worked.is_none_or(|worked| worked.steps.is_empty()));
}

#[tokio::test]
async fn a_model_plans_and_plans_again_from_what_was_found() {
    let first = json!({"steps": [
        step("a", "compute", "Which part has the most failures in 2024?"),
        step("b", "read", "Who supplies {a}?"),
    ]});
    let again = json!({"steps": [
        step("c", "read", "Which company supplies the {a}?"),
        step("d", "read", "In which town is {c}, Wendham or another?"),
    ]});
    let script = Script { plans: vec![first, again], result: Json::Null };
    let answered = ask(CHAIN, Some(script)).await;
    insta::assert_snapshot!(shown(&answered));
}

/// Two ends of a plan are worded together; a figure that no step gave is not taken.
#[tokio::test]
async fn the_wording_names_no_figure_of_its_own() {
    let plan = json!({"steps": [
        step("a", "compute", "Which part has the most failures in 2024?"),
        step("b", "read", "Who supplies the gasket?"),
    ]});
    let left = json!({"steps": [step("c", "read", "Who supplies the gasket?")]});
    let question = "Which part has the most failures in 2024, and who supplies the gasket?";
    let worded = |answer: &str| Script {
        plans: vec![plan.clone(), left.clone()],
        result: json!({"rationale": "", "answer": answer, "lacking": null}),
    };
    let right = ask(question, Some(worded("The feed belt; Ostrel Rubber."))).await;
    assert_eq!(right.answer.text, "The feed belt; Ostrel Rubber.");
    let wrong = ask(question, Some(worded("The feed belt, 17 times; Ostrel Rubber."))).await;
    insta::assert_snapshot!(shown(&wrong));
}

/// Where the last of two joined questions rests on the first, the answer gives both: in words of a model, else each after its
/// question.
#[tokio::test]
async fn an_answer_to_two_joined_questions_gives_both() {
    let steps = json!({"steps": [
        step("a", "compute", "Which part has the most failures in 2024?"),
        step("b", "read", "Who supplies {a}?"),
    ]});
    let left = json!({"steps": [step("b", "read", "Who supplies {a}?")]});
    let result =
        json!({"rationale": "", "answer": "The feed belt; Ostrel Rubber.", "lacking": null});
    let script = Script { plans: vec![steps, left], result };
    let question = "Which part has the most failures in 2024, and who supplies it?";
    let answered = ask(question, Some(script)).await;
    assert_eq!(answered.answer.text, "The feed belt; Ostrel Rubber.");
    let listed = ask("Which part has the most failures in 2024, and who supplies the part with the most failures in 2024?", None).await;
    let text = &listed.answer.text;
    assert!(text.contains("feed belt") && text.contains("Ostrel Rubber"), "{text}");
}

/// A step without an answer is named as missing.
#[tokio::test]
async fn a_step_without_answer_is_reported() {
    let plan = json!({"steps": [
        step("a", "read", "Who supplies the feed belt?"),
        step("b", "forecast", "How many complaints will there be next quarter?"),
    ]});
    let script = Script {
        plans: vec![plan.clone(), plan],
        result: json!({"rationale": "", "answer": "Ostrel Rubber.", "lacking": "the complaints"}),
    };
    let question =
        "Who supplies the feed belt, and how many complaints will there be next quarter?";
    let answered = ask(question, Some(script)).await;
    insta::assert_snapshot!(shown(&answered));
}

/// A plan of one step, or one that refers to nothing, is none.
#[tokio::test]
async fn useless_plans_leave_the_question_whole() {
    let one = json!({"steps": [step("a", "read", CHAIN)]});
    let broken =
        json!({"steps": [step("b", "read", "Who supplies {a}?"), step("c", "read", "Who?")]});
    for plan in [one, broken] {
        let script = Script { plans: vec![plan.clone(), plan], result: Json::Null };
        let answered = ask(CHAIN, Some(script)).await;
        assert!(answered.answer.worked.is_none_or(|worked| worked.steps.is_empty()));
    }
}

#[tokio::test]
async fn levels_include_the_ones_below() {
    let level = |level| Params { level: Some(level), ..Params::default() };
    let fact = "Who supplies the gasket?";
    for above in [Level::L1, Level::L3, Level::L4] {
        let answered = ask_with(level(above), fact, None).await;
        assert_eq!(answered.answer.worked.unwrap().class, TaskClass::Factual, "{above}");
    }
    let figure = "How many failures were there in 2024?";
    let refused = ask_with(level(Level::L1), figure, None).await;
    assert!(refused.answer.refused, "{}", refused.answer.text);
    insta::assert_snapshot!(refused.answer.text, @"This question is quantitative; it needs level L2, and the level is set to L1.");
    let computed = ask_with(level(Level::L3), figure, None).await;
    assert_eq!(computed.answer.written_by, WrittenBy::Computation);
    let ideas =
        ask_with(level(Level::L3), "How could we keep the feed belt from failing?", None).await;
    assert!(ideas.answer.text.contains("L4"), "{}", ideas.answer.text);
    let passages = ask_with(level(Level::L0), figure, None).await;
    assert_eq!(passages.answer.written_by, WrittenBy::Quotation);
}

/// A plan of a lower level has no step of a higher one.
#[tokio::test]
async fn plans_keep_to_the_level() {
    let plan = json!({"steps": [
        step("a", "compute", "Which part has the most failures in 2024?"),
        step("b", "read", "Who supplies {a}?"),
        step("c", "think", "What could be done about {a}?"),
    ]});
    let script = Script { plans: vec![plan.clone(), plan], result: Json::Null };
    let params = Params { level: Some(Level::L2), ..Params::default() };
    let answered = ask_with(params, CHAIN, Some(script)).await;
    let steps = answered.answer.worked.unwrap().steps;
    assert!(steps.iter().all(|step| step.kind != StepKind::Think) && 2 <= steps.len());
}

/// Another method reads the facts.
#[tokio::test]
async fn facts_are_read_by_the_chosen_method() {
    for (l2, event) in [(L2::Kar3, "hop"), (L2::NaiveRag, "gathered")] {
        let script = Script { plans: Vec::new(), result: Json::Null };
        let params = Params { l2, class: Some(TaskClass::Bridging), ..Params::default() };
        let answered = ask_with(params, "Who supplies the gasket?", Some(script)).await;
        let is_kar3 = answered
            .events
            .iter()
            .any(|event| matches!(event, Event::Stopped { .. } | Event::Proposed { .. }));
        assert_eq!(is_kar3, l2 == L2::Kar3, "{event}");
    }
}
