//! Tests that tags are found, mapped and used according to the documents and to people's edits.

use std::future::pending;
use std::sync::Arc;

use pikerag_baselines::{Method, answer};
use pikerag_doubles::ScriptedChat;
use pikerag_extract::{ChunkParams, tag_key};
use pikerag_indexing::{ChunkBy, MissingPart, Params, Sample, TagParams, learn, pair_with_keys};
use pikerag_knowledge::TagPair;
use pikerag_knowledge::{
    ChatModel, ChatModels, CorpusWriter, Event, Filter, KeyedClass, NameKey, Origin, Question,
    Role, SampleKey, Structure, TagClass, TagEdit, TagQuery, TagReader, TagWriter, Which,
};
use pikerag_methods::{Models, Ports, RetrievalParams, RunParams, TagUse};

use crate::common::solve;
use crate::common::{Files, Shelf};
use crate::model_output::fixture::{index_with, prompt, recorded, repeating, reply, tools};

fn params() -> Params {
    Params {
        chunks: ChunkParams { max_tokens: 60, overlap_tokens: 0 },
        chunk_by: ChunkBy::Structure,
        atoms: vec![],
        with: vec![Structure::Tags],
        ..Params::default()
    }
}

fn law() -> Files {
    Files::from_iter([
        (
            "264.md",
            "# 盗窃\n\n盗窃公私财物，数额较大的，处三年以下「有期徒刑」、「拘役」或者「管制」。",
        ),
        ("266.md", "# 诈骗\n\n诈骗公私财物，数额较大的，处三年以下「有期徒刑」或者「拘役」。"),
        (
            "300.md",
            "# Theft\n\nWhoever commits Larceny is punished with Imprisonment. The Larceny of a letter too.",
        ),
    ])
}

async fn classes(shelf: &Shelf) -> Vec<String> {
    let classes = shelf.base.tag_classes().await.unwrap().classes;
    classes.into_iter().map(|class| format!("{} ({})", class.name, class.origin.as_str())).collect()
}

async fn tags_of(shelf: &Shelf, class: &str) -> Vec<String> {
    let classes = shelf.base.tag_classes().await.unwrap().classes;
    let class = classes.iter().find(|held| held.name == class).unwrap();
    let tags = shelf.base.tags(TagQuery::InClasses(&[class.id]), 99).await.unwrap().remove(0);
    let mut shown: Vec<String> =
        tags.into_iter().map(|count| format!("{} {}", count.tag.text, count.chunks)).collect();
    shown.sort();
    shown
}

/// Steps 1 and 2, and the state that is kept when documents and people change.
#[tokio::test]
async fn classes_are_found_once_and_tags_follow_the_documents() {
    let (shelf, chat) = (Shelf::empty(), repeating());
    let report = index_with(&shelf, &law(), Some(recorded(&shelf, chat)), &params()).await;
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(classes(&shelf).await, ["thing (found)"]);
    // One call finds the factors of three chunks, one the classes, three the tags.
    assert_eq!((report.tagged, chat.requests().len()), (3, 5));
    let tags = tags_of(&shelf, "thing").await;
    assert!(
        tags.contains(&"有期徒刑 2".to_owned()) && tags.contains(&"Larceny 1".to_owned()),
        "{tags:?}"
    );
    assert_eq!(shelf.reads_nodes_as_exported(&Filter::default()).await, shelf.nodes());
    let one = Filter { conditions: vec!["tag:thing=Larceny".parse().unwrap()] };
    assert!(shelf.reads_nodes_as_exported(&one).await < shelf.nodes());
    let all = shelf.export().join("\n");
    assert!(all.contains(r#""edge":"tagged""#) && all.contains(r#""class_name":"thing""#), "{all}");
    // A new document is searched for the known class; nothing else is requested.
    let mut more = law();
    more.0.insert("302.md".to_owned(), "A Fine is paid.".to_owned());
    let model = || Some(recorded(&shelf, chat));
    let plain = Params { with: vec![], ..params() };
    let report = index_with(&shelf, &more, model(), &plain).await;
    assert_eq!((report.tagged, chat.requests().len()), (1, 6));
    // The tag is deleted with its last chunk; the class stays while other chunks have its tags.
    shelf.base.delete_file("300.md").await.unwrap();
    assert!(!shelf.export().join("\n").contains("Larceny"));
    for path in ["264.md", "266.md", "302.md"] {
        assert_eq!(classes(&shelf).await, ["thing (found)"]);
        shelf.base.delete_file(path).await.unwrap();
    }
    assert_eq!(classes(&shelf).await, [] as [&str; 0]);
    assert_eq!(shelf.export(), [] as [&str; 0]);
}

/// For a document that is seen in part, no line of the graph reveals the rest.
#[tokio::test]
async fn partly_visible_documents_reveal_no_more() {
    let all =
        |of: &str, n: usize| format!("Whoever took part {n} of a {of} was seen in the town. ");
    let sentences = |of: &str| (0..4).map(|n| all(of, n)).collect::<String>();
    let (one, two) = (sentences("crane"), sentences("winch"));
    let text =
        format!("# Law\n\n## One\n\nOf \"Larceny\": {one}\n\n## Two\n\nOf \"Deceit\": {two}");
    let files = Files::from_iter([("law.md", text.as_str())]);
    let shelf = Shelf::empty();
    index_with(&shelf, &files, Some(recorded(&shelf, repeating())), &params()).await;
    let chunks =
        shelf.export().iter().filter(|line| line.starts_with(r#"{"node":"chunk""#)).count();
    assert!(1 < chunks, "{:?}", shelf.export());
    assert!(tags_of(&shelf, "thing").await.iter().any(|tag| tag.starts_with("Larceny")));
    let one = Filter { conditions: vec!["tag:thing=Larceny".parse().unwrap()] };
    assert!(shelf.reads_nodes_as_exported(&one).await < shelf.nodes());
}

/// A person's edits of classes survive every later run, and cost calls only if necessary.
#[tokio::test]
async fn edits_survive_later_runs() {
    let (shelf, chat) = (Shelf::empty(), repeating());
    let model = || Some(recorded(&shelf, chat));
    index_with(&shelf, &law(), model(), &params()).await;
    let calls = chat.requests().len();
    let (thing, name) = (tag_key("thing").unwrap(), tag_key("name").unwrap());
    let rename = TagEdit::RenameClass { from: thing, key: name, name: "name".to_owned() };
    assert!(shelf.base.edit_tags(rename).await.unwrap());
    let report = index_with(&shelf, &law(), model(), &params()).await;
    assert!(report.is_whole() && report.tagged == 0, "{report:?}");
    assert_eq!(
        (classes(&shelf).await, chat.requests().len()),
        (vec!["name (declared)".to_owned()], calls)
    );
    assert!(tags_of(&shelf, "name").await.contains(&"拘役 2".to_owned()));
    // In a new search the same class is found, and the person's name for it stays.
    let tags = TagParams { find: true, ..TagParams::default() };
    index_with(&shelf, &law(), model(), &Params { tags, ..params() }).await;
    assert_eq!(classes(&shelf).await, ["name (declared)"]);
    let calls = chat.requests().len();
    // A further class: each chunk is asked about it alone.
    let penalty = TagClass::new("penalty", "what is imposed", vec![], Origin::Declared);
    shelf.base.edit_tags(TagEdit::AddClasses(vec![keyed(penalty)])).await.unwrap();
    index_with(&shelf, &law(), model(), &params()).await;
    assert_eq!(chat.requests().len(), calls + 3);
    let last = chat.requests().last().map(|request| prompt(request).to_owned()).unwrap();
    assert!(last.contains("1. penalty: what is imposed") && !last.contains("name:"), "{last}");
    // A dropped class is not found again, and a found one does not take its name.
    assert!(shelf.base.edit_tags(TagEdit::DropClass(name)).await.unwrap());
    assert!(shelf.base.edit_tags(TagEdit::DropClass(tag_key("Penalty").unwrap())).await.unwrap());
    let report = index_with(&shelf, &law(), model(), &params()).await;
    assert_eq!(report.missing, [MissingPart::TagClasses]);
    assert_eq!((classes(&shelf).await.len(), chat.requests().len()), (0, calls + 3));
    assert!(!shelf.export().join("\n").contains("\"tagged\""));
}

#[tokio::test]
async fn without_a_model_the_report_names_it() {
    let shelf = Shelf::empty();
    let report = index_with(&shelf, &law(), None, &params()).await;
    assert_eq!(report.missing, [MissingPart::TagModel]);
}

#[tokio::test]
async fn unreadable_tags_count_as_none_and_are_not_requested_again() {
    let (shelf, chat) =
        (Shelf::empty(), Box::leak(Box::new(ScriptedChat::by(|_| Ok("?".to_owned())))));
    let penalty = TagClass::new("penalty", "what is imposed", vec![], Origin::Declared);
    shelf.base.edit_tags(TagEdit::AddClasses(vec![keyed(penalty)])).await.unwrap();
    let report = index_with(&shelf, &law(), Some(recorded(&shelf, chat)), &params()).await;
    assert_eq!((report.undecided, report.tagged, chat.requests().len()), (3, 3, 6));
    assert!(report.is_whole(), "{report:?}");
    index_with(&shelf, &law(), Some(recorded(&shelf, chat)), &params()).await;
    assert_eq!(chat.requests().len(), 6);
}

/// Step 3: pairs are learned once, counted by sample, and deleted with the words of the documents.
#[tokio::test]
async fn pairs_are_learned_from_samples() {
    let (shelf, chat) = (Shelf::empty(), pairing());
    index_with(&shelf, &law(), Some(recorded(&shelf, chat)), &params()).await;
    let sample = |question: &str, supporting: &[&str], answer: &str| Sample {
        question: question.to_owned(),
        answers: vec![answer.to_owned()],
        supporting: supporting.iter().map(ToString::to_string).collect(),
    };
    let samples = vec![
        sample("偷东西「坐牢」多久？", &["264.md"], "三年"),
        sample("骗钱会「坐牢」吗？", &[], "三年以下"),
        sample("is Stealing punished?", &["300.md"], "Imprisonment"),
        sample("who knows Nothing?", &["999.md"], "x"),
    ];
    let tools = tools(&shelf, &law(), Some(recorded(&shelf, chat)), None);
    for _ in 0..2 {
        let learned = learn(&tools, samples.clone(), 2, &|_| ()).await.unwrap();
        assert_eq!(
            (learned.samples, learned.unanswered, learned.failures),
            (4, 1, 0),
            "{learned:?}"
        );
    }
    let pairs = |pairs: Vec<(NameKey, TagPair)>| -> Vec<String> {
        pairs
            .into_iter()
            .map(|(_, pair)| {
                format!("{} → {} {}", pair.colloquial, pair.professional, pair.samples)
            })
            .collect()
    };
    assert_eq!(
        pairs(shelf.base.tag_pairs(Which::All).await.unwrap()),
        ["Stealing → Larceny 1", "坐牢 → 有期徒刑 2"]
    );
    // A person's pair stays; a learned one is deleted with the last chunk that has its word.
    let own = pair_with_keys("jail", "Imprisonment", "penalty", Origin::Declared, None).unwrap();
    shelf.base.edit_tags(TagEdit::AddPairs(vec![own])).await.unwrap();
    shelf.base.delete_file("300.md").await.unwrap();
    shelf.base.delete_file("264.md").await.unwrap();
    assert_eq!(
        pairs(shelf.base.tag_pairs(Which::All).await.unwrap()),
        ["jail → Imprisonment 0", "坐牢 → 有期徒刑 2"]
    );
    let (one, other) = (tag_key("坐牢").unwrap(), tag_key("有期徒刑").unwrap());
    assert!(
        shelf
            .base
            .edit_tags(TagEdit::DropPair { colloquial: one, professional: other })
            .await
            .unwrap()
    );
    assert!(
        !shelf
            .base
            .edit_tags(TagEdit::DropPair { colloquial: one, professional: other })
            .await
            .unwrap()
    );
}

/// A model that pairs jail with imprisonment and stealing with larceny.
fn pairing() -> &'static ScriptedChat {
    let reply = |request: &pikerag_knowledge::ChatRequest| {
        let asked = prompt(request);
        if !asked.contains("\n# Tags of the passage\n") {
            return Ok(reply(request));
        }
        let passage = asked.rsplit_once("# Tags of the passage").unwrap().1;
        let wanted = ["有期徒刑", "Larceny"];
        let line = passage.lines().find(|line| wanted.iter().any(|word| line.contains(word)));
        let place = line.unwrap().split_once('.').unwrap().0.trim();
        Ok(format!("{{\"pairs\": [{{\"question_tag\": 1, \"passage_tag\": {place}}}]}}"))
    };
    Box::leak(Box::new(ScriptedChat::by(reply)))
}

/// Step 4: with and without a model the question's words become those of the documents, and chunks
/// with the tag are found although they share no word with the question.
#[tokio::test]
async fn questions_find_by_the_documents_words() {
    let shelf = Shelf::empty();
    let chat = repeating();
    index_with(&shelf, &law(), Some(recorded(&shelf, chat)), &params()).await;
    for (ours, theirs) in [("坐牢", "有期徒刑"), ("Stealing", "Larceny")] {
        let pair = pair_with_keys(ours, theirs, "thing", Origin::Declared, None).unwrap();
        shelf.base.edit_tags(TagEdit::AddPairs(vec![pair])).await.unwrap();
    }
    let ask = async |text: &str, tags: TagUse, chat: Option<Arc<dyn ChatModel>>| {
        let models: Models = ChatModels { default: chat, ..ChatModels::default() }.into();
        let ports = Ports::new(shelf.base.clone(), None, models);
        let question = Question::new("q", text);
        let params = RetrievalParams { chunks: 2, tags, ..RetrievalParams::chunks() };
        let answer = solve(&ports, &question, Method::NaiveRag(params)).await.unwrap();
        let event = answer.events.iter().find(|event| matches!(event, Event::Tagged { .. }));
        let event = event.map(|event| serde_json::to_string(event).unwrap()).unwrap_or_default();
        let found: Vec<String> =
            answer.context.chunks.iter().map(|held| held.chunk.uri.clone()).collect();
        (found.join(" "), event)
    };
    insta::assert_debug_snapshot!(ask("会坐牢吗？", TagUse::Off, None).await, @r#"
    (
        "266.md 264.md",
        "{\"event\":\"tagged\",\"tags\":[{\"tag\":\"坐牢\",\"class\":\"thing\",\"to\":[\"有期徒刑\"]}],\"query\":\"会坐牢吗？ (有期徒刑)\",\"keywords\":[]}",
    )
    "#);
    insta::assert_debug_snapshot!(ask("会坐牢吗？", TagUse::Rewrite, None).await, @r#"
    (
        "266.md 264.md",
        "{\"event\":\"tagged\",\"tags\":[{\"tag\":\"坐牢\",\"class\":\"thing\",\"to\":[\"有期徒刑\"]}],\"query\":\"会坐牢吗？ (有期徒刑)\",\"keywords\":[]}",
    )
    "#);
    insta::assert_debug_snapshot!(ask("会坐牢吗？", TagUse::Keywords, None).await, @r#"
    (
        "266.md 264.md",
        "{\"event\":\"tagged\",\"tags\":[{\"tag\":\"坐牢\",\"class\":\"thing\",\"to\":[\"有期徒刑\"]}],\"query\":\"会坐牢吗？\",\"keywords\":[\"有期徒刑\"]}",
    )
    "#);
    insta::assert_debug_snapshot!(ask("Is stealing, or a Letter of it, bad?", TagUse::Both, None).await, @r#"
    (
        "300.md",
        "{\"event\":\"tagged\",\"tags\":[{\"tag\":\"stealing\",\"class\":\"thing\",\"to\":[\"Larceny\"]}],\"query\":\"Is stealing, or a Letter of it, bad? (Larceny)\",\"keywords\":[\"Larceny\"]}",
    )
    "#);
    let model: Arc<dyn ChatModel> = Arc::new(ScriptedChat::by(|request| {
        Ok(match request.role {
            Role::Answer => r#"{"answer": "Yes", "citations": []}"#.to_owned(),
            Role::Rewrite => "Is Larceny punished?".to_owned(),
            _ => reply(request),
        })
    }));
    insta::assert_debug_snapshot!(ask("Is Stealing bad?", TagUse::Both, Some(model)).await, @r#"
    (
        "300.md",
        "{\"event\":\"tagged\",\"tags\":[{\"tag\":\"Stealing\",\"class\":\"thing\",\"to\":[\"Larceny\"]},{\"tag\":\"Is\",\"class\":\"thing\",\"to\":[]}],\"query\":\"Is Larceny punished?\",\"keywords\":[\"Larceny\"]}",
    )
    "#);
}

/// Tags serve every method with a search; learned pairs also match in another order and with words
/// between. Methods without a search do not pay for tags.
#[tokio::test]
async fn tags_serve_every_method() {
    let shelf = Shelf::empty();
    index_with(&shelf, &law(), Some(recorded(&shelf, repeating())), &params()).await;
    let pair =
        pair_with_keys("taking of things", "Larceny", "thing", Origin::Found, Some(SampleKey(1)))
            .unwrap();
    shelf.base.edit_tags(TagEdit::AddPairs(vec![pair])).await.unwrap();
    let chat = || -> Arc<dyn ChatModel> {
        Arc::new(ScriptedChat::by(|request| {
            Ok(match request.role {
                Role::Tag => r#"{"tags": []}"#,
                Role::Propose => r#"{"sub_questions": []}"#,
                Role::Look => r#"{"facts": [], "sufficient": true, "missing": [], "answer": ""}"#,
                Role::Reason => r#"{"next_rationale": null, "answer": "Yes"}"#,
                _ => r#"{"answer": "Yes", "citations": []}"#,
            }
            .to_owned())
        }))
    };
    let ask = async |name: &str, tags: TagUse| {
        let models: Models = ChatModels::one(chat()).into();
        let ports = Ports::new(shelf.base.clone(), None, models);
        let question = Question::new("q", "Whether things taking is bad?");
        let run = RunParams { tags, ..RunParams::default() };
        let run = answer(&ports, &question, name.parse().unwrap(), run, pending()).await;
        let keywords = run.trace().find_map(|event| match event {
            Event::Tagged { keywords, .. } => Some(keywords.join("; ")),
            _ => None,
        });
        let found =
            run.result.unwrap().context.chunks.iter().any(|held| held.chunk.uri == "300.md");
        (found, keywords, run.record.cost.spent.by_role.contains_key(&Role::Tag))
    };
    for name in ["adaptive", "kar3", "kar3-paper", "hop-rag", "ircot"] {
        let (found, keywords, _) = ask(name, TagUse::Keywords).await;
        assert_eq!(
            (found || name == "kar3-paper", keywords.as_deref()),
            (true, Some("Larceny")),
            "{name}"
        );
        assert_eq!(ask(name, TagUse::Off).await, (false, None, false), "{name}");
    }
    assert_eq!(ask("direct", TagUse::Both).await, (false, None, false));
}

fn keyed(class: TagClass) -> KeyedClass {
    KeyedClass { key: tag_key(&class.name).unwrap(), class }
}
