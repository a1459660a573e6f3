//! Provides a small library with questions, whose hops can be followed by hand.

use std::fmt::Write as _;
use std::sync::Arc;

use pikerag_baselines::{Method, Overrides};
use pikerag_doubles::{HashEmbedder, ScriptedChat, ScriptedScorer};
use pikerag_indexing::Params as IngestParams;
use pikerag_knowledge::{
    AtomKind, Candidate, ChatModels, ChatRequest, Check, Citation, Embedder, Event, Message,
    Question, Role, Via,
};
use pikerag_methods::{Certainty, Models, Ports, SolveError};

pub(crate) use crate::common::{Answered, solve};
use pikerag_narrate::{InWords, Language, joined};

use crate::common::{Files, Shelf};

/// A file and the questions that the atomizer finds in it.
pub(crate) type Page<'a> = (&'a str, &'a str, &'a [&'a str]);

pub(crate) const LIBRARY: [Page<'static>; 6] = [
    (
        "crane.md",
        "# KX-40 crane\n\nThe KX-40 crane was designed by Ilse Brandt. It lifts forty tons.",
        &["Who designed the KX-40 crane?", "How many tons does the KX-40 crane lift?"],
    ),
    (
        "brandt.md",
        "# Ilse Brandt\n\nIlse Brandt was born in Varnsund.",
        &["Where was Ilse Brandt born?"],
    ),
    (
        "varnsund.md",
        "# Varnsund\n\nVarnsund has 41000 inhabitants.",
        &["How many inhabitants does Varnsund have?"],
    ),
    ("hale.md", "# Jon Hale\n\nJon Hale was born in Oslo.", &["Where was Jon Hale born?"]),
    ("oslo.md", "# Oslo\n\nOslo is the capital of Norway.", &["What is the capital of Norway?"]),
    ("tea.md", "# Tea\n\nTea is made from leaves.", &["What is tea made from?"]),
];

pub(crate) fn question(id: &str, text: &str) -> Question {
    Question::new(id, text)
}

pub(crate) fn method(name: &str) -> Method {
    name.parse().unwrap()
}

pub(crate) fn hashes() -> Arc<dyn Embedder> {
    Arc::new(HashEmbedder::new(4096))
}

pub(crate) fn script(replies: &[(Role, &[&str])]) -> Arc<ScriptedChat> {
    Arc::new(ScriptedChat::by_role(
        replies.iter().map(|(role, replies)| (*role, replies.iter().copied())),
    ))
}

pub(crate) fn ports(
    shelf: &Shelf,
    embedder: Option<Arc<dyn Embedder>>,
    chat: &Arc<ScriptedChat>,
) -> Ports {
    let models: Models = ChatModels::one(chat.clone()).into();
    Ports::new(shelf.base.clone(), embedder, models)
}

/// Replies by role, each with the probability of its only token.
pub(crate) fn scorer(replies: &[(Role, &[(&str, f32)])]) -> Arc<ScriptedScorer> {
    let replies = replies.iter().map(|(role, replies)| {
        (*role, replies.iter().map(|(text, probability)| (*text, vec![*probability])))
    });
    Arc::new(ScriptedScorer::by_role(replies))
}

/// Asks with log-probabilities available.
pub(crate) async fn ask_scored(
    name: &str,
    asked: &str,
    chat: &Arc<ScriptedChat>,
    scorer: &Arc<ScriptedScorer>,
) -> Answered {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let mut ports = ports(&shelf, Some(hashes()), chat);
    ports.models.scorer = Some(scorer.clone());
    solve(&ports, &question("q", asked), method(name)).await.unwrap()
}

/// Asks with a model that grades itself.
pub(crate) async fn ask_self_assessed(
    name: &str,
    asked: &str,
    chat: &Arc<ScriptedChat>,
) -> Answered {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let mut ports = ports(&shelf, Some(hashes()), chat);
    ports.models.certainty = Certainty::SelfAssessment;
    solve(&ports, &question("q", asked), method(name)).await.unwrap()
}

/// The error of a method with these replies, and without a scorer.
pub(crate) async fn fails(name: &str, asked: &str, replies: &[(Role, &[&str])]) -> SolveError {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let ports = ports(&shelf, Some(hashes()), &script(replies));
    solve(&ports, &question("q", asked), method(name)).await.unwrap_err()
}

/// The error of a method without any model.
pub(crate) async fn fails_without_models(name: &str) -> SolveError {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let base = shelf.base.clone();
    let ports = Ports::new(base, Some(hashes()), Models::default());
    solve(&ports, &question("q", "Who?"), method(name)).await.unwrap_err()
}

/// An answer in the form of a file.
pub(crate) fn bytes(answer: &Answered) -> String {
    serde_json::to_string(&(&answer.answer, &answer.events, &answer.spent)).unwrap()
}

/// Indexes pages with their given questions, and with their sentences.
pub(crate) async fn shelve(pages: &[Page<'_>], embedder: Option<Arc<dyn Embedder>>) -> Shelf {
    let shelf = Shelf::empty();
    let known: Vec<(String, String)> = pages
        .iter()
        .map(|(_, text, questions)| {
            let last = text.lines().last().unwrap().to_owned();
            (last, serde_json::json!({ "questions": questions }).to_string())
        })
        .collect();
    let atomizer = ScriptedChat::by(move |request| {
        let Some(Message::User { text, .. }) = request.messages.first() else { panic!() };
        let page = known.iter().find(|(last, _)| text.contains(last.as_str()));
        Ok(page.map_or_else(|| r#"{"questions": []}"#.to_owned(), |(_, reply)| reply.clone()))
    });
    let files: Files = pages.iter().map(|(path, text, _)| (*path, *text)).collect();
    let params = IngestParams {
        atoms: vec![AtomKind::Question, AtomKind::Sentence],
        ..IngestParams::default()
    };
    let report = shelf.index(&files, Some(Arc::new(atomizer)), embedder, &params).await;
    assert!(report.is_whole(), "{report:?}");
    shelf
}

pub(crate) async fn run(name: &str, asked: &str, replies: &[(Role, &[&str])]) -> String {
    trace_of(&ask(name, asked, &script(replies)).await)
}

pub(crate) async fn ask(name: &str, asked: &str, chat: &Arc<ScriptedChat>) -> Answered {
    ask_with(method(name), asked, chat).await
}

pub(crate) async fn ask_with(method: Method, asked: &str, chat: &Arc<ScriptedChat>) -> Answered {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    solve(&ports(&shelf, Some(hashes()), chat), &question("q", asked), method).await.unwrap()
}

pub(crate) async fn offline(library: &[Page<'_>], asked: &str) -> String {
    let shelf = shelve(library, None).await;
    let ports = Ports::new(shelf.base.clone(), None, Models::default());
    trace_of(&solve(&ports, &question("q", asked), method("kar3")).await.unwrap())
}

/// All candidates of the trace, in order.
pub(crate) fn candidates(answer: &Answered) -> Vec<Candidate> {
    let mut all = Vec::new();
    for event in &answer.events {
        if let Event::Retrieved { candidates, .. } = event {
            all.extend(candidates.iter().cloned());
        }
    }
    all
}

/// The text under a heading of a prompt.
pub(crate) fn section(prompt: &str, heading: &str) -> String {
    let (_, below) = prompt.split_once(&format!("\n{heading}\n")).unwrap();
    below.split("\n# ").next().unwrap().to_owned()
}

fn method_of(answer: &Answered) -> &str {
    match answer.events.first() {
        Some(Event::Began { method, .. }) => method,
        _ => "",
    }
}

/// Writes the events of `pike`.
fn write_pike_event(trace: &mut String, event: &Event) -> std::fmt::Result {
    match event {
        Event::Classified { class, by, reasons } => {
            writeln!(trace, "class: {class} by {by:?}: {}", joined(reasons, Language::English))
        }
        Event::Planned { round, because, steps } => {
            let (because, steps) =
                (joined(because, Language::English), joined(steps, Language::English));
            writeln!(trace, "plan {round} ({because}): {steps}")
        }
        Event::Structured { schema, is_declared, coverage } => writeln!(
            trace,
            "records: {schema} (declared: {is_declared}), {} of {}",
            coverage.records, coverage.with_records
        ),
        Event::Tabulated { matched, rows, .. } => {
            writeln!(trace, "works out over {matched}: {}", joined(rows, Language::English))
        }
        Event::Queried { tables, matched, .. } => {
            writeln!(trace, "queries {}: {matched} rows", tables.join(", "))
        }
        Event::SeriesForecast { forecast } => writeln!(trace, "foretells by {:?}", forecast.model),
        Event::Organized { given, kept, left_out } => {
            writeln!(trace, "reads {kept} of {given}: {left_out:?}")
        }
        Event::Recalled { question, by, because, .. } => {
            writeln!(trace, "{by} on {question}: {}", because.in_words(Language::English))
        }
        other => panic!("{other:?}"),
    }
}

/// The trace, one line per step. Also checks that KAR³ finds no candidate that is in the context
/// already, and that the context holds exactly its choices.
pub(crate) fn trace_of(answer: &Answered) -> String {
    let mut trace = String::new();
    let mut held = Vec::new();
    let is_kar3 = method_of(answer).starts_with("kar3");
    for event in &answer.events {
        match event {
            Event::Began { method, question } => writeln!(trace, "{method}: {question}"),
            Event::Proposed { hop, proposals, .. } => {
                writeln!(trace, "hop {hop} proposes: {}", listed(proposals))
            }
            Event::Retrieved { hop, candidates } => {
                let new = candidates.iter().all(|found| !held.contains(&found.chunk));
                assert!(new || !is_kar3, "{trace}");
                writeln!(trace, "hop {hop} finds:").unwrap();
                for Candidate { text, title, via, score, .. } in candidates {
                    match via {
                        Via::Atoms | Via::BackupAtoms => {
                            writeln!(trace, "  {via:?} {score:.2}: {text} -> {title}")
                        }
                        _ => writeln!(trace, "  {via:?}: {text} -> {title}"),
                    }
                    .unwrap();
                }
                Ok(())
            }
            Event::Selected { hop, index, chunk, title, .. } => {
                held.push(*chunk);
                writeln!(trace, "hop {hop} chooses {}: {title}", index + 1)
            }
            Event::Stopped { hop, reason } => writeln!(trace, "hop {hop} stops: {reason:?}"),
            Event::Unreadable { role, reason } => {
                writeln!(trace, "unreadable {role}: {}", reason.in_words(Language::English))
            }
            Event::Gathered { candidates } => {
                let new = candidates.iter().map(|found| found.chunk);
                let new: Vec<_> = new.filter(|chunk| !held.contains(chunk)).collect();
                held.extend(new);
                let titles = candidates.iter().map(|found| found.title.clone());
                writeln!(trace, "gathers: {}", listed(&titles.collect::<Vec<_>>()))
            }
            Event::RoundRead { look, facts, answer, .. } => {
                let mark = |is_supported| if is_supported { "" } else { " (?)" };
                let line = |fact: &pikerag_knowledge::FactRead| {
                    format!("[{}] {}{}", fact.passage, fact.text, mark(fact.is_quoted))
                };
                let facts: Vec<String> = facts.iter().map(line).collect();
                writeln!(trace, "look {look} reads: {} -> {answer}", listed(&facts))
            }
            Event::Thought { step, text } => writeln!(trace, "thinks {step}: {text}"),
            Event::Asked { depth, question } => writeln!(trace, "asks at {depth}: {question}"),
            Event::Resolved { depth, question, answer } => {
                writeln!(trace, "answers at {depth}: {question} -> {answer}")
            }
            Event::Judged { criterion, of, holds, score, by } => {
                let score = score.map(|score| format!(" {score:.2}")).unwrap_or_default();
                writeln!(trace, "{criterion:?} {holds}{score} by {by:?}: {of}")
            }
            Event::Node { node, after, text } => {
                writeln!(trace, "node {node} after {after:?}: {text}")
            }
            Event::Merged { steps, into } => {
                writeln!(trace, "merges {} into {into}", listed(steps))
            }
            Event::Path { nodes, answer } => writeln!(trace, "path {nodes:?}: {answer}"),
            Event::Consulted { nodes } => {
                let shown = |node: &pikerag_knowledge::Consulted| {
                    format!("{:?} {:.2} {}", node.kind, node.score, node.title)
                };
                writeln!(
                    trace,
                    "consults: {}",
                    listed(&nodes.iter().map(shown).collect::<Vec<_>>())
                )
            }
            Event::Tagged { tags, query, keywords } => {
                writeln!(trace, "tags: {tags:?}; searches for {query:?} and {keywords:?}")
            }
            Event::Classified { .. }
            | Event::Planned { .. }
            | Event::Recalled { .. }
            | Event::Structured { .. }
            | Event::Tabulated { .. }
            | Event::Queried { .. }
            | Event::SeriesForecast { .. }
            | Event::Organized { .. } => write_pike_event(&mut trace, event),
            Event::Noted { note } => writeln!(trace, "note: {}", note.in_words(Language::English)),
            Event::Answered { answer } => writeln!(trace, "answer: {answer}"),
            Event::Filled { .. } => panic!("no method fills a schema"),
        }
        .unwrap();
    }
    assert!(!is_kar3 || held == answer.context.ids());
    trace.extend(answer.citations.iter().map(cited_line));
    let calls: Vec<String> =
        answer.spent.by_role.iter().map(|(role, (calls, _))| format!("{calls} {role}")).collect();
    if answer.refused {
        writeln!(trace, "refused").unwrap();
    }
    write!(trace, "calls: {}", listed(&calls)).unwrap();
    trace
}

fn cited_line(citation: &Citation) -> String {
    let check = match citation.check {
        Check::Verified => "",
        Check::NotFound => " (NotFound)",
        Check::Described => " (Described)",
    };
    format!("cites {}: {}{check}\n", citation.uri, citation.quote)
}

pub(crate) fn listed(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(" | ") }
}

/// The prompts that a model received, in order.
pub(crate) fn prompts(chat: &ScriptedChat) -> Vec<String> {
    texts_of(&chat.requests())
}

/// The prompts of requests, in order.
pub(crate) fn texts_of(requests: &[ChatRequest]) -> Vec<String> {
    let mut prompts = Vec::new();
    for request in requests {
        if let Some(Message::User { text, .. }) = request.messages.first() {
            prompts.push(text.clone());
        }
    }
    prompts
}

/// One parameter, for all methods that have it.
pub(crate) fn set(name: &str, value: usize) -> Overrides {
    let mut overrides = Overrides::default();
    overrides.set(name, value.into()).unwrap();
    overrides
}
