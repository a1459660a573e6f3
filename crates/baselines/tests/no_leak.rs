//! Tests that one question never sees the content of another, with twenty at once, each with names
//! of its own.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use pikerag_baselines::Method;
use pikerag_doubles::{HashEmbedder, ScriptedChat};
use pikerag_indexing::Params;
use pikerag_knowledge::{
    AtomKind, ChatModels, ChatRequest, CorpusWriter, Filter, Message, Question, Role, Snapshots,
};
use pikerag_methods::{Models, Ports, kar3};

use crate::common::{Answered, Files, Shelf, solve};

const QUESTIONS: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_questions_do_not_share_content() {
    let embedder = Arc::new(HashEmbedder::new(1 << 16));
    let shelf = Shelf::empty();
    let mut files = Files::default();
    for n in 0..QUESTIONS {
        let built = format!("Machine{n:02} was built by Maker{n:02}.");
        let born = format!("Maker{n:02} was born in Town{n:02}.");
        files.0.insert(format!("machine{n:02}.txt"), built);
        files.0.insert(format!("maker{n:02}.txt"), born);
    }
    let params = Params { atoms: vec![AtomKind::Question], ..Params::default() };
    let atomizer = Arc::new(ScriptedChat::by(|request| Ok(atoms(request))));
    let report = shelf.index(&files, Some(atomizer), Some(embedder.clone()), &params).await;
    assert!(report.is_whole(), "{report:?}");

    let mut runs = Vec::new();
    for at_once in [1, 8, 32] {
        let chat = ScriptedChat::by(|request| Ok(reply(request)));
        let chat = Arc::new(chat.with_latency(Duration::from_millis(1)));
        let models: Models = ChatModels::one(chat.clone()).into();
        let ports = Ports::new(shelf.base.clone(), Some(embedder.clone()), models);
        let answers: Vec<Answered> = stream::iter(0..QUESTIONS)
            .map(|n| {
                let ports = ports.clone();
                tokio::spawn(async move {
                    let text = format!("Where was the maker of Machine{n:02} born?");
                    let question = Question::new(n.to_string(), text);
                    solve(&ports, &question, Method::Kar3(alone())).await.unwrap()
                })
            })
            .buffered(at_once)
            .map(Result::unwrap)
            .collect()
            .await;
        for (n, answer) in answers.iter().enumerate() {
            assert_eq!(answer.text, format!("Town{n:02}"));
            assert_eq!(answer.context.chunks.len(), 2);
            assert_eq!(answer.spent.calls(), 6);
        }
        assert_eq!(chat.requests().len(), 6 * QUESTIONS);
        assert_eq!(chat.peak() == 1, at_once == 1, "{} at once", chat.peak());
        runs.push(answers);
    }
    assert!(
        runs.iter().all(|run| *run == runs[0]),
        "the number of concurrent questions changes answers"
    );
}

/// A question reads one snapshot of the base from its beginning to its end; the next one reads
/// another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_finish_on_their_snapshot() {
    let embedder = Arc::new(HashEmbedder::new(1 << 16));
    let shelf = Shelf::empty();
    let mut files = Files::default();
    files.0.insert("machine00.txt".to_owned(), "Machine00 was built by Maker00.".to_owned());
    files.0.insert("maker00.txt".to_owned(), "Maker00 was born in Town00.".to_owned());
    let params = Params { atoms: vec![AtomKind::Question], ..Params::default() };
    let atomizer = Arc::new(ScriptedChat::by(|request| Ok(atoms(request))));
    shelf.index(&files, Some(atomizer), Some(embedder.clone()), &params).await;
    let base = shelf.base.clone();
    // During the first reply another process deletes the content of the second hop.
    let chat = ScriptedChat::by_turn(move |turn, request| {
        let base = base.clone();
        let delete = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            assert!(runtime.block_on(base.delete_file("maker00.txt")).unwrap());
        };
        if turn == 0 {
            std::thread::spawn(delete).join().unwrap();
        }
        Ok(reply(request))
    });
    let models: Models = ChatModels::one(Arc::new(chat)).into();
    let seen = shelf.base.snapshot(&Filter::default(), &Filter::default()).await.unwrap();
    let ports = Ports::new(seen, Some(embedder), models);
    let text = "Where was the maker of Machine00 born?".to_owned();
    let question = Question::new("0", text);
    let answer = solve(&ports, &question, Method::Kar3(alone())).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.context.chunks.len()), ("Town00", 2));
    assert_eq!(ports.base.state().await.unwrap().chunks, 2);
    let next = shelf.base.snapshot(&Filter::default(), &Filter::default()).await.unwrap();
    assert_eq!(next.state().await.unwrap().chunks, 1);
}

/// With the paper's δ and no chunks beside the chosen ones: those would legitimately bring other
/// machines.
fn alone() -> kar3::Params {
    kar3::Params {
        delta: Some(kar3::DELTA),
        fallback: kar3::Fallback::Off,
        ..kar3::Params::default()
    }
}

/// One question per page, with words that no other page has.
fn atoms(request: &ChatRequest) -> String {
    let prompt = prompt(request);
    let n = number(&prompt, if prompt.contains("was built") { "Machine" } else { "Maker" });
    match prompt.contains("was built") {
        true => format!(r#"{{"questions": ["Builder{n} of Machine{n}?"]}}"#),
        false => format!(r#"{{"questions": ["Birthplace{n} of Maker{n}?"]}}"#),
    }
}

/// Plays all roles by the content of the prompt, and fails on any name from another question.
fn reply(request: &ChatRequest) -> String {
    let prompt = prompt(request);
    let (_, question) = prompt.rsplit_once("# Question\n").unwrap();
    let n = number(question, "Machine");
    for name in ["Machine", "Maker", "Town", "Builder", "Birthplace"] {
        for (at, _) in prompt.match_indices(name) {
            let whose = &prompt[at + name.len()..at + name.len() + 2];
            assert_eq!(whose, n, "question {n} sees {name}{whose}: {prompt}");
        }
    }
    let (built, born) = (prompt.contains("was built by"), prompt.contains("was born in"));
    match request.role {
        Role::Propose if born => r#"{"sub_questions": []}"#.to_owned(),
        Role::Propose if built => format!(r#"{{"sub_questions": ["Birthplace{n} of Maker{n}?"]}}"#),
        Role::Propose => format!(r#"{{"sub_questions": ["Builder{n} of Machine{n}?"]}}"#),
        Role::Select => r#"{"question_idx": 1}"#.to_owned(),
        _ => format!(r#"{{"answer": "Town{n}"}}"#),
    }
}

fn prompt(request: &ChatRequest) -> String {
    match request.messages.first() {
        Some(Message::User { text, .. }) => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// The two digits after a name.
fn number(text: &str, name: &str) -> String {
    let (_, behind) = text.split_once(name).unwrap();
    behind.chars().take(2).collect()
}
