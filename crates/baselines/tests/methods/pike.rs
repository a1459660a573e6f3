//! Tests that each class of question gets its own strategy, with a scripted model over a few papers
//! and a table.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pikerag_baselines::Method;
use pikerag_doubles::{ScriptedChat, prompt};
use pikerag_extract::tag_key;
use pikerag_indexing::Params as IngestParams;
use pikerag_knowledge::tables::Measure;
use pikerag_knowledge::worked::Figures;
use pikerag_knowledge::{
    ChatModels, ChatRequest, Check, ChunkResults, ChunkTags, ChunksOf, CorpusReader, CorpusWriter,
    Event, FoundTag, GraphReader, KeyedClass, ModelError, ModelTexts, Origin, Question,
    RecordSchema, RecordsOf, Role, SourceSummary, TagClass, TagEdit, TagWriter, TaskClass, Value,
    Which,
};
use pikerag_methods::pike::{Classifier, Params, Unsettled, classed};
use pikerag_methods::{Models, Perspective, Ports, Tables};
use serde_json::json;

use super::fixture::{hashes, trace_of};
use crate::common::{Answered, Files, Shelf, solve};

const SCHEMA: &str = r#"{"name": "repair", "key": ["order"], "fields": [
    {"name": "order"}, {"name": "day", "type": "date"}, {"name": "crane"}, {"name": "fault"},
    {"name": "downtime", "type": "number"}]}"#;

const PAPERS: [(&str, &str); 4] = [
    (
        "repairs.csv",
        "order,day,crane,fault,downtime\nR-1,2024-01-03,40-117,brake wear,12.5 h\n\
         R-2,2024-02-03,62-019,gearbox leak,3 h\nR-3,2024-02-20,40-117,brake wear,90 min\n\
         R-4,2024-03-02,62-021,brake wear,2 h\nR-5,2024-04-09,40-117,cable,5 h\n",
    ),
    ("halden.md", "# Halden H4\n\nThe Halden H4 lining costs 310 crowns. It lasts 1,900 hours.\n"),
    (
        "corvane.md",
        "# Corvane C2\n\nThe Corvane C2 lining costs 420 crowns. It lasts 2,600 hours.\n",
    ),
    (
        "night.md",
        "# Night stops\n\nThe brake discs are wet at night. The cabin heating has spare power. \
         A cover costs 640 crowns.\n",
    ),
];

fn schema() -> RecordSchema {
    let mut schema: RecordSchema = serde_json::from_str(SCHEMA).unwrap();
    schema.model = false;
    schema
}

async fn shelf() -> Shelf {
    shelf_with(&[]).await
}

/// The papers and these files.
pub(super) async fn shelf_with(more: &[(&'static str, &'static str)]) -> Shelf {
    let shelf = Shelf::empty();
    let files: Files = PAPERS.iter().chain(more).copied().collect();
    let params = IngestParams { records: vec![schema()], ..IngestParams::default() };
    let report = shelf.index(&files, None, Some(hashes()), &params).await;
    assert!(report.is_whole(), "{report:?}");
    shelf
}

pub(super) fn ports(shelf: &Shelf, chat: Option<Arc<ScriptedChat>>) -> Ports {
    let default = chat.map(|chat| chat as _);
    let tables = Tables {
        schemas: vec![schema()].into(),
        engine: Some(Arc::new(pikerag_store::Tables)),
        ..Tables::default()
    };
    let ports = Ports::new(
        shelf.base.clone(),
        Some(hashes()),
        ChatModels { default, ..ChatModels::default() }.into(),
    );
    Ports { tables, ..ports }
}

async fn ask(chat: Option<Arc<ScriptedChat>>, params: Params, question: &str) -> Answered {
    let shelf = shelf().await;
    solve(&ports(&shelf, chat), &Question::new("q", question), Method::Pike(params)).await.unwrap()
}

fn class_of(answered: &Answered) -> TaskClass {
    answered.answer.worked.as_ref().unwrap().class
}

/// A model fills in the table; each cell names the citation that supports it.
#[tokio::test]
async fn comparisons_come_from_a_table_of_checked_cells() {
    let chat = ScriptedChat::by(|request| {
        let shown = prompt(request).unwrap();
        let passage = |title: &str| {
            let line = shown.lines().find(|line| line.ends_with(title)).unwrap();
            line[1..line.find(']').unwrap()].parse::<usize>().unwrap()
        };
        let cell = |title: &str, quote: &str| json!({"text": quote, "passage": passage(title), "quote": quote});
        Ok(json!({
            "things": ["Halden H4", "Corvane C2"],
            "rows": [
                {"attribute": "price", "cells": [cell("Halden H4", "costs 310 crowns"), cell("Corvane C2", "costs 420 crowns")]},
                {"attribute": "weight", "cells": [cell("Halden H4", "weighs 3 kg"), null]}
            ],
            "rationale": "310 is less than 420", "answer": "Halden H4", "lacking": null
        }).to_string())
    });
    let answered = ask(
        Some(Arc::new(chat)),
        Params::default(),
        "Which is cheaper, the Halden H4 or the Corvane C2?",
    )
    .await;
    assert_eq!(
        (answered.answer.text.as_str(), class_of(&answered)),
        ("Halden H4", TaskClass::Comparative)
    );
    let comparison = answered.answer.worked.as_ref().unwrap().comparison.clone().unwrap();
    let checks: Vec<Check> =
        answered.answer.citations.iter().map(|citation| citation.check).collect();
    assert_eq!(checks, [Check::Verified, Check::Verified, Check::NotFound]);
    let numbers: Vec<Option<usize>> =
        comparison.rows[0].cells.iter().map(|cell| cell.as_ref().unwrap().citation).collect();
    assert_eq!(numbers, [Some(1), Some(2)]);
    assert_eq!(comparison.rows[1].cells[1], None);
}

/// Parts are summarized at the same time, and the summary names the points that it uses.
#[tokio::test]
async fn a_summary_rests_on_the_points_that_it_uses() {
    let chat = ScriptedChat::by(|request| {
        Ok(match request.role {
            Role::Summarize => json!({"points": [
                {"point": "The discs are wet at night.", "passage": 1, "quote": "The brake discs are wet at night."},
                {"point": "A cover costs 640 crowns.", "passage": 1, "quote": "A cover costs 640 crowns."}
            ]}),
            _ => json!({"answer": "Wet discs stop the crane at night.", "points": [1]}),
        }
        .to_string())
    });
    let chat = Arc::new(chat);
    let answered =
        ask(Some(chat.clone()), Params::default(), "Summarize the note on night stops.").await;
    assert_eq!(class_of(&answered), TaskClass::Summarizing);
    // Points come with their documents, and a summary is not asked for as a name or a date.
    let prompts = chat.prompts();
    let whole = prompts.last().unwrap();
    assert!(whole.contains("\n1. The discs are wet at night. ["), "{whole}");
    assert!(!whole.contains("a name, a date"), "{whole}");
    let quotes: Vec<&str> =
        answered.answer.citations.iter().map(|citation| citation.quote.as_str()).collect();
    assert_eq!(quotes, ["The brake discs are wet at night."]);
    // Only the named document.
    assert_eq!(answered.answer.context.chunks.len(), 1);
}

/// A model may leave the summary empty; its points are the answer then.
#[tokio::test]
async fn points_serve_as_a_summary_if_a_model_gives_none() {
    let chat = ScriptedChat::by(|request| {
        Ok(match request.role {
            Role::Summarize => json!({"points": [
                {"point": "A cover costs 640 crowns.", "passage": 1, "quote": "A cover costs 640 crowns."}
            ]}),
            _ => json!({"answer": " ", "points": []}),
        }
        .to_string())
    });
    let chat = Arc::new(chat);
    let answered = ask(Some(chat), Params::default(), "Summarize the note on night stops.").await;
    assert_eq!(answered.answer.text, "A cover costs 640 crowns.");
    assert_eq!(answered.answer.citations.len(), 1);
}

/// Passages beyond the budget are replaced by their summaries; a point from a summary is traced
/// back to the source's words.
#[tokio::test]
async fn summaries_replace_passages_beyond_the_budget() {
    let shelf = shelf().await;
    let filler = "The quay was swept and the lamps were looked at by the night watch. ".repeat(12);
    let first = format!("# Watch book\n\n{filler}");
    let second = format!(
        "# Storm book\n\n{filler}\n\nIn March the storm broke two bollards of the outer mole.\n"
    );
    let mut files: Files = PAPERS.into_iter().collect();
    files.0.extend([("logbook/1.md".to_owned(), first), ("logbook/2.md".to_owned(), second)]);
    shelf.index(&files, None, Some(hashes()), &IngestParams::default()).await;
    let sources = shelf.base.sources(Which::All).await.unwrap();
    let summary = "A storm in March broke two bollards; nothing else befell the quay.";
    let of = |uri: &str| sources.iter().find(|source| source.uri == uri).unwrap();
    let summaries = ["logbook/1.md", "logbook/2.md"].map(|uri| SourceSummary {
        source: of(uri).id,
        hash: of(uri).hash.clone(),
        summary: summary.to_owned(),
    });
    shelf.base.put_texts(ModelTexts::Sources(summaries.into())).await.unwrap();
    let chat = ScriptedChat::by(move |request| {
        let shown = prompt(request).unwrap();
        let passage = shown.lines().position(|line| line == summary).map(|at| {
            let line = shown.lines().nth(at - 1).unwrap();
            line[1..line.find(']').unwrap()].parse::<usize>().unwrap()
        });
        let points = passage.map(|passage| {
            json!({"point": "In March a storm broke two bollards.", "passage": passage, "quote": summary})
        });
        Ok(match request.role {
            Role::Summarize => json!({"points": points.as_slice()}),
            _ => json!({"answer": "A storm broke two bollards.", "points": [1]}),
        }
        .to_string())
    });
    let summarized = NonZeroU32::new(220).unwrap();
    let params = Params { summarized, ..Params::default() };
    let asked = Question::new("q", "Summarize the folder logbook.");
    let answered =
        solve(&ports(&shelf, Some(Arc::new(chat))), &asked, Method::Pike(params)).await.unwrap();
    let quotes: Vec<(&str, Check)> = answered
        .answer
        .citations
        .iter()
        .map(|citation| (citation.quote.as_str(), citation.check))
        .collect();
    let supporting = "In March the storm broke two bollards of the outer mole.";
    assert_eq!(quotes, [(supporting, Check::Verified)], "{}", trace_of(&answered));
    assert!(
        answered.answer.rationale.contains("the summaries of "),
        "{}",
        answered.answer.rationale
    );
    let texts = answered.answer.context.chunks.iter().map(|held| held.chunk.text.as_str());
    assert!(texts.clone().all(|text| !text.contains(summary)) && 1 < texts.count());
}

/// A model translates words that no rule explains; the engine computes the result, never the model.
#[tokio::test]
async fn a_model_writes_the_query_and_the_engine_the_figure() {
    let chat = ScriptedChat::by(|request| {
        let shown = prompt(request).unwrap();
        assert!(
            shown.contains("repair:") && shown.contains("fault (text), such as brake wear"),
            "{shown}"
        );
        Ok(json!({
            "schema": "repair", "measure": {"what": "count", "field": null}, "group": [], "order": "key",
            "conditions": [{"field": "fault", "is": "equals", "value": "Brake Wear"}], "limit": null, "ahead": null
        })
        .to_string())
    });
    let params = Params { class: Some(TaskClass::Quantitative), ..Params::default() };
    let asked = "How many repairs had to do with worn friction pads?";
    let answered = ask(Some(Arc::new(chat)), params, asked).await;
    assert_eq!(answered.answer.text, "3");
    assert_eq!(answered.spent.calls(), 1);
    // A query without a field of the records is invalid, and the documents are read.
    let wrong = ScriptedChat::by(|request| {
        Ok(match request.role {
            Role::Decompose => json!({
                "schema": "repair", "measure": {"what": "sum", "field": "price"}, "conditions": []
            }),
            _ => json!({"facts": [], "sufficient": true, "answer": "unknown", "missing": [], "rationale": "",
                "citations": []}),
        }
        .to_string())
    });
    let answered = ask(Some(Arc::new(wrong)), params, asked).await;
    let plans =
        answered.events.iter().filter(|event| matches!(event, Event::Planned { .. })).count();
    assert_eq!(plans, 2);
}

/// Only chunks with the tag are summarized if the question names it; without a model, by their
/// sentences.
#[tokio::test]
async fn tags_limit_summaries() {
    let shelf = shelf().await;
    let sources = shelf.base.sources(Which::All).await.unwrap();
    let night = sources.iter().find(|source| source.uri == "night.md").unwrap().id;
    let chunk = shelf.base.chunks_of(ChunksOf::Sources(&[night]), 9).await.unwrap()[0].chunks[0];
    let class = TagClass::new("shift", "when people work", Vec::new(), Origin::Declared);
    let key = tag_key("Night shift").unwrap();
    let tags = vec![FoundTag { class: class.id, key, text: "Night shift".to_owned() }];
    let found = ChunkTags { chunk, classes: vec![class.id], tags };
    let class = KeyedClass { key: tag_key("shift").unwrap(), class };
    shelf.base.edit_tags(TagEdit::AddClasses(vec![class])).await.unwrap();
    shelf.base.put_chunk_results(ChunkResults::Tags(vec![found])).await.unwrap();
    for question in
        ["Summarize everything tagged \"night shift\".", "总结标签为“Night shift”的内容。"]
    {
        let asked = Question::new("q", question);
        let answered =
            solve(&ports(&shelf, None), &asked, Method::Pike(Params::default())).await.unwrap();
        let trace = trace_of(&answered);
        assert!(trace.contains("with the tag"), "{trace}");
        let uris = answered.answer.context.chunks.iter().map(|held| held.chunk.uri.as_str());
        assert_eq!(uris.collect::<Vec<_>>(), ["night.md"; 1], "{question}");
    }
}

/// If no passage holds enough of the question's words, no call is made; if the model reports
/// missing facts, its guess is marked as one, or refused.
#[tokio::test]
async fn unsupported_answers_are_refused_on_request() {
    let chat = || {
        let reply = json!({"facts": [], "sufficient": false, "missing": ["Who is the captain?"], "lacking": "Who is the captain?", "answer": "Ada",
            "thinking": "", "rationale": "", "citations": []});
        Arc::new(ScriptedChat::by(move |_| Ok(reply.to_string())))
    };
    let unused = chat();
    let asked = "Which captain of which steamer married whose cousin in Valparaíso?";
    let strict = Params { coverage: 0.5, ..Params::default() };
    let answered = ask(Some(unused.clone()), strict, asked).await;
    assert!(answered.answer.refused && unused.requests().is_empty());
    assert!(answered.answer.text.starts_with("Insufficient information."), "{:?}", answered.answer);
    let asked = "Who is the captain that covers the brake discs of the crane?";
    let guess = ask(Some(chat()), Params::default(), asked).await.answer;
    assert_eq!(
        (guess.refused, guess.text.as_str(), guess.missing.is_empty()),
        (false, "Ada", false)
    );
    let strict = Params { unsettled: Unsettled::Refused, ..Params::default() };
    let refused = ask(Some(chat()), strict, asked).await.answer;
    assert_eq!(
        (refused.refused, refused.text.as_str()),
        (true, "Insufficient information. (most likely: Ada)")
    );
}

/// The agents' replies, by turn; the second agent fails on request.
fn agents(fails: bool) -> ScriptedChat {
    ScriptedChat::by(move |request: &ChatRequest| {
        let shown = prompt(request).unwrap();
        if shown.contains("{\"perspectives\":") {
            return Ok(json!({"perspectives": [
                {"name": "cost", "about": "what it costs"}, {"name": "safety", "about": "what can go wrong"},
                {"name": "heat", "about": "what is warm"}
            ]})
            .to_string());
        }
        if shown.contains("{\"questions\":") {
            return Ok(json!({"questions": []}).to_string());
        }
        let who = shown.split_once("from one perspective: ").map(|(_, rest)| rest);
        let who = who.and_then(|rest| rest.split_once('.')).map(|(who, _)| who);
        if who == Some("safety") && fails {
            return Err(ModelError::Unreachable { model: "fake".to_owned(), source: "no".into() });
        }
        Ok(match (request.role, who) {
            (Role::Grade, Some(who)) => json!({"judgements": [
                {"idea": 1, "fit": if who == "cost" { 5 } else { 2 }, "feasibility": 3, "novelty": 3, "against": format!("{who} doubts it")}
            ]}),
            (Role::Reason, Some(who)) => json!({"ideas": [{
                "title": format!("{who} idea {}", request.sample), "idea": format!("{who} {who}s what {who} has."),
                "evidence": [{"passage": 1, "quote": "The brake discs are wet at night."}],
                "missing": format!("what {who} knows"), "next_step": "ask"
            }]}),
            _ => json!({
                "ideas": [{"title": "Cover the discs", "idea": "Cover them.", "from": [2]}],
                "why": "most agreed", "answer": "Begin with a cover."
            }),
        }
        .to_string())
    })
}

fn creative(agents: usize) -> Params {
    let agents = NonZeroUsize::new(agents).unwrap();
    Params { agents, class: Some(TaskClass::Creative), ..Params::default() }
}

const NIGHT: &str = "How could we keep the crane from stopping at night?";

/// Ideas of all agents are kept, with objections, evidence and gaps.
#[tokio::test]
async fn agents_think_judge_and_are_combined() {
    let answered = ask(Some(Arc::new(agents(false))), creative(3), NIGHT).await;
    assert_eq!(answered.answer.text, "Begin with a cover.");
    let ideas = &answered.answer.worked.as_ref().unwrap().ideas;
    let shown: Vec<String> = ideas
        .iter()
        .map(|idea| {
            format!(
                "{} ({}) {:?} against {:?} lacks {}",
                idea.title,
                idea.perspectives.join("+"),
                idea.citations,
                idea.dissent,
                idea.gaps[0].missing
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    Cover the discs (safety) [1] against ["cost: cost doubts it"] lacks what safety knows
    heat idea 2 (heat) [1] against [] lacks what heat knows
    cost idea 0 (cost) [1] against ["safety: safety doubts it", "heat: heat doubts it"] lacks what cost knows
    "#);
    // Perspectives, three agents that may ask and think, three critiques, one coordinator.
    assert_eq!(answered.spent.calls(), 11);
}

/// A failed agent is reported, and the others still give an answer.
#[tokio::test]
async fn a_failing_agent_does_not_stop_the_answer() {
    let answered = ask(Some(Arc::new(agents(true))), creative(3), NIGHT).await;
    let trace = trace_of(&answered);
    assert!(trace.contains("The agent “safety” failed"), "{trace}");
    let ideas = &answered.answer.worked.as_ref().unwrap().ideas;
    assert_eq!(ideas.len(), 2);
}

/// A perspective of the settings with its own model is developed and judged by that model only.
#[tokio::test]
async fn agents_may_have_their_own_models() {
    let (usual, own) = (Arc::new(agents(false)), Arc::new(agents(false)));
    let shelf = shelf().await;
    let mut ports = ports(&shelf, Some(usual.clone()));
    let seen_by = |name: &str, model: Option<Arc<ScriptedChat>>| Perspective {
        name: name.to_owned(),
        about: "what matters".to_owned(),
        model: model.map(|model| model as _),
    };
    ports.models.perspectives =
        vec![seen_by("cost", None), seen_by("heat", Some(own.clone()))].into();
    let question = Question::new("q", NIGHT);
    let answered = solve(&ports, &question, Method::Pike(creative(4))).await.unwrap();
    let asked = |chat: &ScriptedChat| -> Vec<(Role, bool)> {
        let of = |request: &ChatRequest| {
            (request.role, prompt(request).unwrap().contains("one perspective: heat"))
        };
        chat.requests().iter().map(of).collect()
    };
    assert_eq!(asked(&own), [(Role::Reason, true), (Role::Reason, true), (Role::Grade, true)]);
    // The other agents' questions, thoughts and judgements, and the coordinator's.
    assert_eq!(asked(&usual).len(), 4);
    assert!(asked(&usual).iter().all(|(_, is_heat)| !is_heat));
    assert_eq!(answered.answer.worked.as_ref().unwrap().ideas.len(), 2);
}

/// The same seed gives the same answer, another one requests other perspectives.
#[tokio::test]
async fn seeds_decide_the_drawn_perspectives() {
    let drawn = |seed| async move {
        let params = Params { seed, ..creative(3) };
        let answered = ask(Some(Arc::new(agents(false))), params, NIGHT).await;
        let thought = |event: &Event| match event {
            Event::Thought { text, .. } => Some(text.clone()),
            _ => None,
        };
        (answered.events.iter().filter_map(thought).collect::<Vec<_>>(), answered.answer)
    };
    let (first, again, other) = (drawn(1).await, drawn(1).await, drawn(2).await);
    assert_eq!(first, again);
    assert_ne!(first.0, other.0);
}

/// Agents work at the same time: eight of them take as long as one, not eight times as long.
#[tokio::test(flavor = "multi_thread")]
async fn agents_work_at_the_same_time() {
    let latency = Duration::from_millis(200);
    let chat = Arc::new(agents(false).with_latency(latency));
    let begun = Instant::now();
    let answered = ask(Some(chat.clone()), creative(8), NIGHT).await;
    assert_eq!((answered.spent.calls(), chat.peak()), (26, 8));
    // Five rounds of calls; in sequence they would be twenty-six.
    assert!(latency * 5 <= begun.elapsed());
}

/// Without a model, ideas report that they need one; all other classes give an answer.
#[tokio::test]
async fn without_a_model_ideas_report_the_missing_model() {
    let answered = ask(None, Params::default(), NIGHT).await;
    assert!(answered.answer.refused && answered.answer.text.contains("language model"));
    let compared =
        ask(None, Params::default(), "Which is cheaper, the Halden H4 or the Corvane C2?").await;
    let comparison = compared.answer.worked.as_ref().unwrap().comparison.as_ref().unwrap();
    assert_eq!(comparison.rows[0].cells.iter().flatten().count(), 2);
    let counted = ask(None, Params::default(), "How many repairs did crane 40-117 have?").await;
    assert_eq!(counted.answer.text, "3");
}

/// If rules are sure no model is asked; if a model is asked, its reply counts.
#[tokio::test]
async fn the_requested_classifier_decides() {
    let shelf = shelf().await;
    let says_creative: fn(&ChatRequest) -> Result<String, ModelError> =
        |_| Ok(json!({"reason": "x", "class": "creative"}).to_string());
    let ports = ports(&shelf, Some(Arc::new(ScriptedChat::by(says_creative))));
    let question = Question::new("q", "How many repairs were there in 2024?");
    let by = async |classifier| classed(&ports, &question, classifier).await.unwrap();
    let rules = by(Classifier::Auto).await;
    assert_eq!((rules.class, rules.calls), (TaskClass::Quantitative, 0));
    let model = by(Classifier::Model).await;
    assert_eq!((model.class, model.calls), (TaskClass::Creative, 1));
}

/// Every figure names its records, and a second computation from the base gives the same value.
#[tokio::test]
async fn every_figure_follows_from_its_records() {
    let shelf = shelf().await;
    let ports = ports(&shelf, None);
    let records: BTreeMap<_, _> = shelf
        .base
        .records(RecordsOf::All)
        .await
        .unwrap()
        .into_iter()
        .map(|record| (record.id, record))
        .collect();
    let questions = [
        "How many repairs were there in 2024?",
        "How many repairs per month?",
        "How many repairs did each crane have?",
        "What was the total downtime per crane?",
        "What was the average downtime of brake wear?",
        "Which crane had the longest downtime?",
        "Which repairs were done in February 2024?",
        "How many different cranes were repaired?",
        "How many repairs took more than 2 hours of downtime?",
        "Which fault is most likely to occur next?",
        "2024年有多少次维修？",
    ];
    for question in questions {
        let answered =
            solve(&ports, &Question::new("q", question), "pike".parse().unwrap()).await.unwrap();
        let worked = answered.answer.worked.clone().unwrap();
        let figures =
            worked.figures.unwrap_or_else(|| panic!("{question}: {}", answered.answer.text));
        let is_proved = figures.rows.iter().all(|row| !row.things.is_empty());
        assert!(!figures.rows.is_empty() && is_proved, "{question}");
        for place in &figures.records {
            let record = &records[&place.id];
            assert_eq!(
                (record.span, record.chunk, &record.uri),
                (place.span, place.chunk, &place.uri)
            );
            let text = shelf.base.source_text(record.source).await.unwrap();
            let line = place.span.of(&text).unwrap();
            let key = &record.field("order").unwrap().raw;
            assert!(line.contains(key.as_str()), "{line}");
        }
        for row in &figures.rows {
            assert_eq!(Some(recomputed(&figures, &row.things, &records)), row.value, "{question}");
        }
    }
}

/// A figure from its records alone, by the definition of its measure.
fn recomputed(
    figures: &Figures,
    things: &[Vec<usize>],
    records: &BTreeMap<pikerag_knowledge::RecordId, pikerag_knowledge::Record>,
) -> f64 {
    let values_of = |field: &str| -> Vec<Value> {
        things
            .iter()
            .filter_map(|thing| {
                let record = &records[&figures.records[thing[0]].id];
                record.field(field)?.value.clone()
            })
            .collect()
    };
    let hours = |field: &str| -> Vec<f64> {
        values_of(field)
            .into_iter()
            .map(|value| match value {
                Value::Number(number) if number.unit.as_deref() == Some("min") => {
                    number.amount / 60.0
                }
                Value::Number(number) => number.amount,
                other => panic!("{other:?}"),
            })
            .collect()
    };
    match &figures.query.measure {
        Measure::Count => things.len() as f64,
        Measure::Different(field) => {
            let values: std::collections::BTreeSet<String> =
                values_of(field).iter().map(ToString::to_string).collect();
            values.len() as f64
        }
        Measure::Sum(field) => hours(field).iter().sum(),
        Measure::Mean(field) => hours(field).iter().sum::<f64>() / things.len() as f64,
        Measure::Least(field) => hours(field).into_iter().fold(f64::INFINITY, f64::min),
        Measure::Greatest(field) => hours(field).into_iter().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Nearly all questions of the example are classified as labelled; the test has a lower bound, and
/// the documentation gives the measured share.
#[tokio::test]
async fn questions_are_classified_as_they_are_labelled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let shelf = Shelf::empty();
    let mut files = Vec::new();
    for folder in ["maintenance/docs", "harbour/docs"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            files.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    let files: Files = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let settings = std::fs::read_to_string(root.join("maintenance/pikerag.toml")).unwrap();
    let settings: toml::Table = settings.parse().unwrap();
    let schemas: Vec<RecordSchema> = settings["records"].clone().try_into().unwrap();
    let params = IngestParams { records: schemas.clone(), ..IngestParams::default() };
    shelf.index(&files, None, None, &params).await;
    let tables = Tables {
        schemas: schemas.into(),
        engine: Some(Arc::new(pikerag_store::Tables)),
        ..Tables::default()
    };
    let ports = Ports { tables, ..Ports::new(shelf.base.clone(), None, Models::default()) };
    let mut right: BTreeMap<TaskClass, (usize, usize)> = BTreeMap::new();
    let lines = std::fs::read_to_string(root.join("classes.jsonl")).unwrap();
    // Every second one; the command in the documentation takes all.
    for line in lines.lines().step_by(2) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let label: TaskClass = line["class"].as_str().unwrap().parse().unwrap();
        let question = Question::new("q", line["question"].as_str().unwrap());
        let classified = classed(&ports, &question, Classifier::Rules).await.unwrap();
        let held = right.entry(label).or_default();
        held.0 += usize::from(classified.class == label);
        held.1 += 1;
    }
    for &class in TaskClass::ALL {
        let (right, all) = right[&class];
        assert!(right * 100 >= all * 75, "{class}: {right} of {all}");
    }
}

/// Notes in plain words, one per file, and a model that copies out a record from each: the counts
/// per year are those of the notes, although no table lists them.
#[tokio::test]
async fn records_from_texts_are_counted_like_others() {
    let schema = json!({"name": "drug_approval", "key": ["drug"], "fields": [
        {"name": "drug"}, {"name": "approved", "type": "date"}, {"name": "company"}]});
    let schema: RecordSchema = serde_json::from_value(schema).unwrap();
    let (texts, per_year) = match pikerag_test_support::optional(APPROVALS) {
        Some(path) => approvals(&std::fs::read_to_string(path).unwrap()),
        None => approvals(&invented()),
    };
    let files: Files = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let reader = ScriptedChat::by(|request| {
        let shown = prompt(request).unwrap();
        let value_after = |label: &str| {
            let (_, rest) = shown.rsplit_once(label)?;
            Some(rest.split(['.', '\n']).next().unwrap_or_default().trim().to_owned())
        };
        let (_, content) = shown.split_once("# Content").unwrap();
        let name = content.lines().find_map(|line| line.split_once(" ("));
        let name = name.map(|(name, _)| name.to_owned());
        Ok(match (value_after("Approval date: "), name) {
            (Some(approved), Some(drug)) => {
                json!({"records": [{"drug": drug, "approved": approved, "company": value_after("Company: ")}]})
            }
            _ => json!({"records": []}),
        }
        .to_string())
    });
    let shelf = Shelf::empty();
    let params = IngestParams {
        records: vec![schema.clone()],
        atoms: vec![pikerag_knowledge::AtomKind::Sentence],
        ..IngestParams::default()
    };
    let report = shelf.index(&files, Some(Arc::new(reader)), None, &params).await;
    assert!(report.is_whole(), "{report:?}");
    let tables = Tables {
        schemas: vec![schema].into(),
        engine: Some(Arc::new(pikerag_store::Tables)),
        ..Tables::default()
    };
    let ports = Ports { tables, ..Ports::new(shelf.base.clone(), None, Models::default()) };
    let ask = async |question: &str| {
        solve(&ports, &Question::new("q", question), "pike".parse().unwrap()).await.unwrap().answer
    };
    for (year, count) in &per_year {
        let answer = ask(&format!("How many drugs were approved in {year}?")).await;
        assert_eq!(answer.text, count.to_string(), "{year}");
        let answer = ask(&format!("{year}年批准了多少种药物？")).await;
        assert_eq!(answer.text, count.to_string(), "{year}");
    }
    let series = ask("How many drugs will be approved next year?").await;
    let worked = series.worked.unwrap();
    let figures: Vec<f64> =
        worked.figures.unwrap().rows.iter().filter_map(|row| row.value).collect();
    let counts: Vec<f64> = per_year.values().map(|count| *count as f64).collect();
    assert_eq!(figures, counts);
    assert!(worked.forecast.is_some());
}

const APPROVALS: &str = "data/tabular/fda_novel_drug_approvals_2010_2019.corpus.jsonl";

/// A replacement for the public list if that is not available: six years, each with its own number.
fn invented() -> String {
    let mut lines = String::new();
    for (year, count) in [(10, 3), (11, 4), (12, 6), (13, 5), (14, 7), (15, 6)] {
        for n in 0..count {
            let text = format!(
                "Drug{year}x{n} (adal). Approval date: {}-Mar-{year}. Company: North. It helps.",
                n * 9 % 28 + 1
            );
            lines.push_str(&json!({"text": text}).to_string());
            lines.push('\n');
        }
    }
    // To the end of the last year, so that it counts as complete.
    lines.push_str(
        &json!({"text": "Last (adal). Approval date: 20-Dec-15. Company: North."}).to_string(),
    );
    lines
}

/// Texts by file, and their number in each year.
fn approvals(lines: &str) -> (Vec<(String, String)>, BTreeMap<String, usize>) {
    let (mut texts, mut per_year) = (Vec::new(), BTreeMap::new());
    for (n, line) in lines.lines().enumerate() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = record["text"].as_str().unwrap().to_owned();
        let (_, rest) = text.split_once("Approval date: ").unwrap();
        let year = rest.split(['-', '.']).nth(2).unwrap();
        *per_year.entry(format!("20{year}")).or_default() += 1;
        texts.push((format!("note-{n:03}.md"), format!("# Note {n}\n\n{text}\n")));
    }
    (texts, per_year)
}
