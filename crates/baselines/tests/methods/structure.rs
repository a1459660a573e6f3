//! Tests that figures over prose come from records that are read for the question: each thing counts once, each value is in
//! its passage, and the answer says what was not read.

use std::future::pending;
use std::sync::Arc;

use pikerag_baselines::{Method, answer};
use pikerag_doubles::{ScriptedChat, prompt};
use pikerag_indexing::Params as IngestParams;
use pikerag_knowledge::worked::{Coverage, Figures, PassagesRead};
use pikerag_knowledge::{
    ChatModels, ChatRequest, Check, CorpusReader, Event, ModelError, Question, Reason, RecordsOf,
    Role, StructuredReader, StructuredWriter, TaskClass,
};
use pikerag_methods::pike::{Params, Unsettled};
use pikerag_methods::{Ports, RunParams, SolveError, Tables};
use serde_json::{Value as Json, json};

use super::fixture::{hashes, trace_of};
use crate::common::{Answered, Files, Shelf, solve};

/// Two logs, a report that tells a stop of the first log again, a log in Chinese, and a page about something else.
const STOPS: [(&str, &str); 5] = [
    (
        "march.md",
        "# Night log of March\n\nOn 3 March 2024 crane 40-117 stopped in the night because of a hydraulic leak. It stood \
         still for 5 hours.\n\nOn 9 March 2024 crane 62-019 stopped: a torn cable, 3 hours.\n",
    ),
    (
        "april.md",
        "# Night log of April\n\nCrane 62-019 stopped on 14 April 2024. The cause was a hydraulic leak, and the stop took \
         7 hours.\n",
    ),
    (
        "report.md",
        "# Report to the board\n\nWorst was the stop of 40-117 on 3 March 2024, when a hose of the hoist leaked oil.\n",
    ),
    ("五月.md", "# 五月夜间记录\n\n2024年5月2日，62-021号起重机因液压泄漏停机，历时4小时。\n"),
    ("tea.md", "# Tea\n\nTea is made from leaves.\n"),
];

/// What a careful reader copies out of a passage, by words that only this passage has.
const READ: [(&str, &[[&str; 4]]); 4] = [
    (
        "stood still",
        &[
            ["3 March 2024", "40-117", "hydraulic leak", "5 hours"],
            ["9 March 2024", "62-019", "torn cable", "3 hours"],
        ],
    ),
    ("The cause was", &[["14 April 2024", "62-019", "hydraulic leak", "7 hours"]]),
    ("Worst was", &[["3 March 2024", "40-117", "a hose of the hoist leaked oil", ""]]),
    ("液压泄漏", &[["2024年5月2日", "62-021", "液压泄漏", "4小时"]]),
];

const FIELDS: [&str; 4] = ["day", "crane", "cause", "duration"];

fn schema() -> Json {
    let field = |name: &str, kind: &str| json!({"name": name, "type": kind});
    json!({"known": null, "words": ["stop", "停机"], "searches": ["crane stopped in the night"], "schema": {
        "name": "night_stop", "description": "A stop of a crane at night", "key": ["day", "crane"],
        "fields": [field("day", "date"), field("crane", "text"), field("cause", "text"), field("duration", "number")]
    }})
}

fn rows(passage: &str) -> Vec<Json> {
    let read = READ.iter().find(|(words, _)| passage.contains(words));
    let row = |values: &[&str; 4]| {
        let given = FIELDS.iter().zip(values).filter(|(_, value)| !value.is_empty());
        given.map(|(field, value)| ((*field).to_owned(), json!(value))).collect()
    };
    read.into_iter().flat_map(|(_, rows)| rows.iter().map(row)).collect()
}

/// The text under a heading of a prompt.
fn under<'a>(shown: &'a str, heading: &str) -> &'a str {
    shown.split_once(heading).map_or("", |(_, below)| below)
}

/// The number of each value that speaks of a hydraulic leak, in the fields that a prompt shows.
fn leaks(shown: &str) -> Vec<u64> {
    let values = under(shown, "\ncause:\n").lines().take_while(|line| line.starts_with("  "));
    let leaked = values.filter(|line| line.contains("leak") || line.contains("泄漏"));
    leaked.filter_map(|line| line.trim().split('.').next()?.parse().ok()).collect()
}

/// The reply of a careful model. `query` is its query over the records; `rows` may read otherwise.
fn reply(request: &ChatRequest, query: &Json, rows: impl Fn(&str) -> Vec<Json>) -> String {
    let shown = prompt(request).unwrap();
    let reply = match request.role {
        Role::Classify => json!({"reason": "many stops", "class": "quantitative"}),
        Role::Extract => json!({"records": rows(under(shown, "# Content"))}),
        Role::Decompose if shown.contains("night_stop: A stop of a crane at night (day (date)") => {
            json!({"known": "night_stop", "schema": null})
        }
        Role::Decompose if shown.contains("# Known kinds") => schema(),
        Role::Decompose if shown.contains("# Fields") => {
            json!({"fields": [{"field": "cause", "same": [leaks(shown)]}]})
        }
        Role::Decompose => query.clone(),
        _ => {
            json!({"facts": [], "sufficient": true, "answer": "read", "missing": [], "rationale": "",
            "citations": []})
        }
    };
    reply.to_string()
}

fn model(
    query: Json,
    rows: impl Fn(&str) -> Vec<Json> + Send + Sync + 'static,
) -> Arc<ScriptedChat> {
    Arc::new(ScriptedChat::by(move |request| Ok(reply(request, &query, &rows))))
}

fn query(what: &str, field: Option<&str>, is_leak: bool) -> Json {
    let leak = json!({"field": "cause", "is": "equals", "value": "hydraulic leak"});
    let conditions = if is_leak { vec![leak] } else { Vec::new() };
    json!({"schema": "night_stop", "conditions": conditions, "group": [], "order": "key", "limit": null,
        "measure": {"what": what, "field": field}, "ahead": null})
}

async fn shelf(files: &[(&str, &str)]) -> Shelf {
    let shelf = Shelf::empty();
    let files: Files = files.iter().copied().collect();
    let report = shelf.index(&files, None, Some(hashes()), &IngestParams::default()).await;
    assert!(report.is_whole(), "{report:?}");
    shelf
}

fn ports(shelf: &Shelf, chat: Arc<ScriptedChat>) -> Ports {
    let tables = Tables { engine: Some(Arc::new(pikerag_store::Tables)), ..Tables::default() };
    let models = ChatModels::one(chat).into();
    Ports { tables, ..Ports::new(shelf.base.clone(), Some(hashes()), models) }
}

async fn ask(chat: Arc<ScriptedChat>, params: Params, asked: &str) -> Result<Answered, SolveError> {
    let shelf = shelf(&STOPS).await;
    solve(&ports(&shelf, chat), &Question::new("q", asked), Method::Pike(params)).await
}

fn figures(answered: &Answered) -> &Figures {
    let worked = answered.answer.worked.as_ref().unwrap();
    worked.figures.as_ref().unwrap_or_else(|| panic!("{}", trace_of(answered)))
}

fn coverage(answered: &Answered) -> &Coverage {
    &figures(answered).coverage
}

const LEAKS: &str = "How many night stops were caused by a hydraulic leak?";

/// The stop of 3 March is in two documents and counts once, in other words; a leak in Chinese counts too.
#[tokio::test]
async fn figures_over_prose_count_each_thing_once() {
    let answered = ask(model(query("count", None, true), rows), Params::default(), LEAKS).await;
    let answered = answered.unwrap();
    insta::assert_snapshot!(trace_of(&answered), @r"
    pike: How many night stops were caused by a hydraulic leak?
    class: quantitative by Model: many stops; the base offers no matching records; passages of 5 documents, the best with 83 % of the question's words: Night log of April | Night log of March | Report to the board | Tea | 五月夜间记录
    plan 1 (many stops; the base offers no matching records; passages of 5 documents, the best with 83 % of the question's words: Night log of April | Night log of March | Report to the board | Tea | 五月夜间记录): find records: declared ones first, then tables; if none match, derive their schema from the question and read passages as records; compute the figure with the query engine; cite each record behind it
    note: Records of `night_stop` are read for this question: day (date), crane (text), cause (text), duration (number); one thing per day and crane.
    gathers: Night log of April | Night log of March | Report to the board | Tea | 五月夜间记录
    note: These values of `cause` count as the same: hydraulic leak = 液压泄漏.
    records: night_stop (declared: false), 5 of 4
    works out over 3: 3
    answer: 3
    cites april.md: 62-019 stopped on 14 April 2024. The cause was a hydraulic leak, and the stop took 7 hours
    cites march.md: 3 March 2024 crane 40-117 stopped in the night because of a hydraulic leak. It stood still for 5 hours
    cites report.md: 40-117 on 3 March 2024, when a hose of the hoist leaked oil
    cites 五月.md: 2024年5月2日，62-021号起重机因液压泄漏停机，历时4小时
    calls: 1 classify | 2 decompose | 5 extract
    ");
    let checks = answered.answer.citations.iter().map(|citation| citation.check);
    assert!(checks.clone().all(|check| check == Check::Verified) && checks.count() == 4);
    assert!(answered.answer.missing.is_empty());
    let Coverage { records, things, matched, .. } = coverage(&answered);
    assert_eq!((*records, *things, *matched), (5, 4, 3));
    assert!(!figures(&answered).is_declared);
}

/// Sums, greatest values and counts in both languages; values in several units and languages are one scale.
#[tokio::test]
async fn sums_and_extremes_are_computed_in_both_languages() {
    for (asked, query, expected) in [
        (
            "How many hours of night stops did hydraulic leaks cause in total?",
            query("sum", Some("duration"), true),
            "16 h",
        ),
        ("What was the longest night stop?", query("greatest", Some("duration"), false), "7 h"),
        ("液压泄漏造成了多少次夜间停机？", query("count", None, true), "3"),
        ("夜间停机总共历时多久？", query("sum", Some("duration"), false), "19 h"),
    ] {
        let params = Params { class: Some(TaskClass::Quantitative), ..Params::default() };
        let answered = ask(model(query, rows), params, asked).await.unwrap();
        assert_eq!(answered.answer.text, expected, "{}", trace_of(&answered));
    }
}

/// A value that is not in its passage is dropped; without a key, its thing is not counted, and the answer says so.
#[tokio::test]
async fn invented_values_do_not_count() {
    let invents = |passage: &str| {
        let mut rows = rows(passage);
        if passage.contains("The cause was") {
            rows.push(
                json!({"day": "15 April 2024", "crane": "62-019", "cause": "hydraulic leak"}),
            );
            rows[0]["duration"] = json!("70 hours");
        }
        rows
    };
    let chat = model(query("count", None, true), invents);
    let answered = ask(chat, Params::default(), LEAKS).await.unwrap();
    assert_eq!(answered.answer.text, "3", "{}", trace_of(&answered));
    let passages = coverage(&answered).passages.unwrap();
    assert_eq!((passages.invented, passages.incomplete), (2, 1));
    assert_eq!(
        answered.answer.missing,
        ["1 reported thing was not counted: nothing in the passage tells such a thing from others"]
    );
    // Where too many things cannot be distinguished, there is no figure.
    let vague = |passage: &str| {
        rows(passage)
            .into_iter()
            .map(|row| json!({"crane": row["crane"], "cause": row["cause"]}))
            .collect()
    };
    let answered = ask(model(query("count", None, true), vague), Params::default(), LEAKS).await;
    let answered = answered.unwrap();
    assert_eq!(answered.answer.text, "read", "{}", trace_of(&answered));
    let lacks = |event: &Event| match event {
        Event::Planned { because, .. } => because.iter().any(|why| {
            matches!(why, pikerag_knowledge::Statement::Fact(Reason::PassagesLackRecords { .. }))
        }),
        _ => false,
    };
    assert!(answered.events.iter().any(lacks));
}

/// The answer says how many matching passages were read, and is refused on request if some were not.
#[tokio::test]
async fn unread_passages_are_reported() {
    let params = Params { structured: 2, ..Params::default() };
    let answered = ask(model(query("count", None, false), rows), params, LEAKS).await.unwrap();
    let PassagesRead { fit, read, .. } = coverage(&answered).passages.unwrap();
    assert!(read == 2 && read < fit, "{fit}");
    assert!(answered.answer.missing[0].ends_with("were not read: the figure may be wrong"));
    assert!(answered.answer.rationale.contains(&format!("2 of {fit} matching passages were read")));
    let strict = Params { unsettled: Unsettled::Refused, ..params };
    let refused = ask(model(query("count", None, false), rows), strict, LEAKS).await.unwrap();
    assert!(refused.answer.refused && refused.answer.text.starts_with("Insufficient"));
    // A passage that the model refuses to read counts as not read.
    let unwilling = ScriptedChat::by(move |request: &ChatRequest| {
        let shown = prompt(request).unwrap();
        if request.role == Role::Extract && shown.contains("The cause was") {
            return Err(ModelError::Refused { model: "fake".to_owned(), source: "no".into() });
        }
        Ok(reply(request, &query("count", None, true), rows))
    });
    let answered = ask(Arc::new(unwilling), Params::default(), LEAKS).await.unwrap();
    let passages = coverage(&answered).passages.unwrap();
    assert_eq!((answered.answer.text.as_str(), passages.failed), ("2", 1));
    assert_eq!(passages.fit, passages.read + 1);
    assert!(!answered.answer.missing.is_empty());
}

/// Without the parameter, and where the model sees nothing to collect, the documents are read as before.
#[tokio::test]
async fn structuring_can_be_switched_off_and_declined() {
    let off = Params { structured: 0, ..Params::default() };
    let answered = ask(model(query("count", None, true), rows), off, LEAKS).await.unwrap();
    assert_eq!(answered.answer.text, "read");
    assert!(!answered.spent.by_role.contains_key(&Role::Extract));
    let declines = ScriptedChat::by(|request| {
        Ok(match request.role {
            Role::Classify => json!({"reason": "", "class": "quantitative"}),
            Role::Decompose => json!({"known": null, "schema": null, "words": [], "searches": []}),
            _ => json!({"facts": [], "sufficient": true, "answer": "read", "missing": [], "rationale": "",
                "citations": []}),
        }
        .to_string())
    });
    let answered = ask(Arc::new(declines), Params::default(), LEAKS).await.unwrap();
    assert_eq!(answered.answer.text, "read");
    assert!(!answered.spent.by_role.contains_key(&Role::Extract));
}

/// A budget that ends while passages are read ends the run, without a figure from a part of them.
#[tokio::test]
async fn a_small_budget_gives_no_figure() {
    let capped = ScriptedChat::by_turn(move |turn, request: &ChatRequest| {
        if 3 <= turn {
            let cap = "3 calls".to_owned();
            return Err(ModelError::OverBudget { cap: cap.clone(), spent: cap });
        }
        Ok(reply(request, &query("count", None, true), rows))
    });
    let error = ask(Arc::new(capped), Params::default(), LEAKS).await.unwrap_err();
    assert!(matches!(error.model(), Some(ModelError::OverBudget { .. })), "{error:?}");
}

/// Asks, and stores what the run read as records, as the engine does.
async fn ask_and_keep(shelf: &Shelf, chat: Arc<ScriptedChat>, asked: &str) -> (Answered, bool) {
    let run = RunParams { clock: Arc::new(|| 5), ..RunParams::default() };
    let params = Params { class: Some(TaskClass::Quantitative), ..Params::default() };
    let ports = ports(shelf, chat);
    let question = Question::new("q", asked);
    let mut run = answer(&ports, &question, Method::Pike(params), run, pending()).await;
    let mut is_kept = true;
    for structured in std::mem::take(&mut run.structured) {
        is_kept &= shelf.base.put_structured(structured).await.unwrap();
    }
    let events = run.trace().cloned().collect();
    let spent = run.record.cost.spent;
    (Answered { answer: run.result.unwrap(), events, spent }, is_kept)
}

fn calls(answered: &Answered, role: Role) -> usize {
    answered.spent.by_role.get(&role).map_or(0, |(calls, _)| *calls)
}

/// The records and their schema stay in the base. A later question reads only passages that no question read before; a
/// repeated run sees what its first time saw.
#[tokio::test]
async fn later_questions_use_the_records_again() {
    let shelf = shelf(&STOPS).await;
    let (first, is_kept) =
        ask_and_keep(&shelf, model(query("count", None, true), rows), LEAKS).await;
    assert_eq!((first.answer.text.as_str(), calls(&first, Role::Extract), is_kept), ("3", 5, true));
    // A model chooses the kept schema by its name.
    let longest = "What was the longest night stop?";
    let (second, _) = ask_and_keep(&shelf, model(json!({}), rows), longest).await;
    let trace = trace_of(&second);
    assert!(trace.contains("Records of `night_stop` were read for an earlier question"), "{trace}");
    assert_eq!(second.answer.text, "7 h", "{trace}");
    assert_eq!(coverage(&second).passages.unwrap().reused, 5);
    assert_eq!(calls(&second, Role::Extract), 0);
    // One passage is new.
    let new = "# Night log of June\n\nCrane 40-117 stopped on 8 June 2024 with a torn cable, for 2 hours.\n";
    let files: Files = [("june.md", new)].into_iter().collect();
    shelf.index(&files, None, Some(hashes()), &IngestParams::default()).await;
    let reads = |passage: &str| match passage.contains("8 June") {
        true => vec![
            json!({"day": "8 June 2024", "crane": "40-117", "cause": "torn cable", "duration": "2 hours"}),
        ],
        false => panic!("read again: {passage}"),
    };
    let mut cables = query("count", None, false);
    cables["conditions"] = json!([{"field": "cause", "is": "contains", "value": "cable"}]);
    let asked = "How often did a rope or cable give way?";
    let (third, _) = ask_and_keep(&shelf, model(cables, reads), asked).await;
    assert_eq!(
        (third.answer.text.as_str(), calls(&third, Role::Extract)),
        ("2", 1),
        "{}",
        trace_of(&third)
    );
    // A repeated run of the first question sees no schema that was kept after it.
    let before = Ports {
        feedback_before: Some(5),
        ..ports(&shelf, model(query("count", None, true), rows))
    };
    let params = Params { class: Some(TaskClass::Quantitative), ..Params::default() };
    let method = Method::Pike(params);
    let again = solve(&before, &Question::new("q", LEAKS), method).await.unwrap();
    assert_eq!(calls(&again, Role::Extract), 6);
    // A passage that the schema was derived from has changed: it goes, with its records.
    let files: Files =
        [("april.md", "# Night log of April\n\nNothing stopped.\n")].into_iter().collect();
    shelf.index(&files, None, Some(hashes()), &IngestParams::default()).await;
    assert_eq!(shelf.base.kept_schemas().await.unwrap(), []);
    assert_eq!(shelf.base.records(RecordsOf::Schema("night_stop")).await.unwrap(), []);
}
