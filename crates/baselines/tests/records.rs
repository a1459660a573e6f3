//! Tests that typed records, statements and references match the documents exactly, and that no
//! call is paid twice.

use std::collections::BTreeSet;
use std::sync::Arc;

use pikerag_doubles::ScriptedChat;
use pikerag_extract::ChunkParams;
use pikerag_indexing::estimate::estimate;
use pikerag_indexing::{Available, Params, Report};
use pikerag_knowledge::{
    AtomKind, ChatModel, ChatRequest, CorpusReader, CorpusWriter, Filter, RecordSchema, RecordsOf,
    Role, Which,
};
use pikerag_models::{Budget, Cap, Meter, Mode, Prices, Recorded, SingleFlight};
use proptest::prelude::*;

use crate::common::{Files, Shelf, block_on};

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Records, statements and references are deleted with their sources, and come back at no cost.
    #[test]
    fn deleting_leaves_the_base_of_the_other_files(ours in corpus("a"), theirs in corpus("b")) {
        block_on(async {
            let mut both = ours.clone();
            both.0.extend(theirs.0.clone());
            let (shelf, chat) = (Shelf::empty(), reading());
            index(&shelf, &both, chat).await;
            let (whole, calls) = (shelf.export(), chat.requests().len());
            for path in theirs.0.keys() {
                shelf.base.delete_file(path).await.unwrap();
            }
            let fresh = Shelf::empty();
            index(&fresh, &ours, reading()).await;
            assert_eq!(shelf.export(), fresh.export());
            index(&shelf, &both, chat).await;
            assert_eq!(shelf.export(), whole);
            assert_eq!(chat.requests().len(), calls);
        });
    }

    /// A base that saw files change equals the base that only ever saw the new ones.
    #[test]
    fn an_update_equals_a_fresh_start(before in corpus("a"), after in corpus("a")) {
        block_on(async {
            let mut mixed = before.clone();
            mixed.0.extend(after.0.clone());
            let (shelf, fresh) = (Shelf::empty(), Shelf::empty());
            index(&shelf, &before, reading()).await;
            index(&shelf, &mixed, reading()).await;
            index(&fresh, &mixed, reading()).await;
            assert_eq!(shelf.export(), fresh.export());
        });
    }

    /// However often the budget ends the run, the base comes out the same and no call is made
    /// twice.
    #[test]
    fn the_next_run_continues_after_a_spent_budget(files in corpus("a"), step in 1_u64..6) {
        block_on(async {
            let (whole, once) = (Shelf::empty(), reading());
            index(&whole, &files, once).await;
            let (shelf, chat) = (Shelf::empty(), reading());
            for runs in 0.. {
                assert!(runs < 200);
                let cap = Cap { calls: Some(step), ..Cap::default() };
                let budget = Budget::new(chat, Arc::new(Meter::new(Prices::new(), cap)));
                let chat = Recorded::new(budget, shelf.base.clone(), Mode::Record);
                // As in the product: equal requests of two chunks at the same time share one call.
                let chat = Arc::new(SingleFlight::new(chat));
                let report = shelf.index(&files, Some(chat), None, &params()).await;
                if report.is_whole() {
                    break;
                }
                assert!(report.over_budget, "{report:?}");
            }
            let distinct = |chat: &ScriptedChat| -> BTreeSet<String> {
                chat.requests().iter().map(|request| format!("{request:?}")).collect()
            };
            assert_eq!(distinct(chat), distinct(once));
            assert_eq!(chat.requests().len(), distinct(chat).len());
            assert_eq!(shelf.export(), whole.export());
        });
    }
}

/// A JSON record whose fields change and whose text stays is read again.
#[tokio::test]
async fn fields_of_a_document_are_kept_up_to_date() {
    let record = |weight: u32| {
        format!(r#"{{"title": "Crane", "text": "It lifts.", "weight": "{weight} t"}}"#)
    };
    let (before, after) = (record(5), record(6));
    let shelf = Shelf::empty();
    index(&shelf, &Files::from_iter([("a.jsonl", before.as_str())]), reading()).await;
    assert_eq!(records(&shelf).await, "load a.jsonl#1 0..9 metadata machine=Crane weight=5 t");
    index(&shelf, &Files::from_iter([("a.jsonl", after.as_str())]), reading()).await;
    assert_eq!(records(&shelf).await, "load a.jsonl#1 0..9 metadata machine=Crane weight=6 t");
}

/// Records follow a text that moves within its document.
#[tokio::test]
async fn places_follow_the_text() {
    let table = "| machine | weight |\n|---|---|\n| Crane | 5 t |\n";
    let (before, after) =
        (format!("# Loads\n\n{table}"), format!("# New\n\nA page.\n\n# Loads\n\n{table}"));
    let shelf = Shelf::empty();
    for text in [&before, &after] {
        index(&shelf, &Files::from_iter([("a.md", text.as_str())]), reading()).await;
        let record = shelf.base.records(RecordsOf::All).await.unwrap().remove(0);
        assert_eq!(record.span.of(text), Some("| Crane | 5 t |"));
    }
}

/// Another declaration is read again; a removed one deletes its records; the others stay and cost
/// nothing.
#[tokio::test]
async fn only_changed_schemas_are_read_again() {
    let files = Files::from_iter([
        ("a.csv", "machine,weight\nCrane,5 t\nHoist,6 t\n"),
        ("b.txt", "Record: the lift weighs 7 t.\n"),
    ]);
    let (shelf, chat) = (Shelf::empty(), reading());
    let first = index(&shelf, &files, chat).await;
    assert_eq!((first.records, first.invented_values, first.unread_records), (3, 1, 0));
    insta::assert_snapshot!(records(&shelf).await, @r"
    load a.csv 17..44 table machine=Crane weight=5 t
    load a.csv 45..72 table machine=Hoist weight=6 t
    load b.txt 12..27 model machine=lift weight=7 t
    ");
    let calls = chat.requests().len();
    let mut other = params();
    other.records[0].fields[1].kind = pikerag_knowledge::records::FieldType::Date;
    let second = shelf.index(&files, Some(recorded(&shelf, chat)), None, &other).await;
    assert_eq!(second.records, 3);
    // The request names the type, so it is sent again, for this one text.
    assert_eq!(chat.requests().len(), calls + 1);
    insta::assert_snapshot!(records(&shelf).await, @r#"
    load a.csv 17..44 table machine=Crane weight="5 t"?
    load a.csv 45..72 table machine=Hoist weight="6 t"?
    load b.txt 12..27 model machine=lift weight="7 t"?
    "#);
    let none = Params { records: Vec::new(), ..params() };
    shelf.index(&files, Some(recorded(&shelf, chat)), None, &none).await;
    assert_eq!(records(&shelf).await, "");
    let back = index(&shelf, &files, chat).await;
    assert_eq!((back.records, chat.requests().len()), (3, calls + 1));
}

/// The estimate equals the number of calls.
#[tokio::test]
async fn the_estimate_counts_statements_and_records() {
    let files = Files::from_iter([
        ("a.csv", "machine,weight\nCrane,5 t\nHoist,6 t\n"),
        ("b.txt", "Record: the lift weighs 7 t.\n"),
        ("c.txt", "Another lift.\n"),
    ]);
    let paths: Vec<String> = files.0.keys().cloned().collect();
    let (shelf, chat) = (Shelf::empty(), reading());
    let before = estimate(None, &files, &paths, &params(), &Available::all()).await.unwrap();
    index(&shelf, &files, chat).await;
    assert_eq!((before.calls, chat.requests().len()), (5, 5));
    let after =
        estimate(Some(&*shelf.base), &files, &paths, &params(), &Available::all()).await.unwrap();
    assert_eq!((after.calls, after.usage.completion_tokens), (0, 0));
    let mut other = params();
    other.records[0].description = "How much a machine lifts".to_owned();
    let again =
        estimate(Some(&*shelf.base), &files, &paths, &other, &Available::all()).await.unwrap();
    assert_eq!(again.calls, 2);
}

/// A reply without statements is replaced by the sentences, and is not requested again.
#[tokio::test]
async fn unreadable_statements_fall_back_to_sentences() {
    let files = Files::from_iter([("a.txt", "Ada built it. Bea did not.")]);
    let chat = Box::leak(Box::new(ScriptedChat::by(|_| Ok("I would rather not.".to_owned()))));
    let shelf = Shelf::empty();
    let report = index(&shelf, &files, chat).await;
    assert_eq!((report.unreadable, report.unread_records, report.atoms), (1, 1, 2));
    assert_eq!(atoms(&shelf), ["statement: Ada built it.", "statement: Bea did not."]);
    let calls = chat.requests().len();
    index(&shelf, &files, chat).await;
    assert_eq!(chat.requests().len(), calls);
}

/// References by links, files, titles and numbers; not by titles that several documents share, and
/// not to oneself.
#[tokio::test]
async fn documents_refer_to_each_other() {
    let files = Files::from_iter([
        (
            "law/theft.jsonl",
            r#"{"id": "l1", "title": "中华人民共和国刑法 第二百六十四条", "text": "盗窃公私财物的，处罚。依照本法第一条。"}"#,
        ),
        ("safety.md", "# Crane Safety Handbook\n\nIt bears DOC-117. Keep away."),
        (
            "doc-117 notes.md",
            "---\ntitle: Notes\nurl: https://notes.example/117\n---\nThese notes stand alone.",
        ),
        ("links.md", "# Links\n\nSee [here](safety.md) and [there](https://notes.example/117)."),
        (
            "mentions.md",
            "# Mentions\n\nRead the Crane Safety Handbook, then GB/T 1234.\n\n# Files\n\nIt is in safety.md. 依照刑法第264条处罚。",
        ),
        ("standard.txt", "GB/T 1234-2010 Rope\n\nRopes hold."),
        ("twin1.md", "# Annual Report\n\nOne."),
        ("twin2.md", "# Annual Report\n\nTwo."),
        ("twin3.md", "# Annual Report\n\nThree."),
        ("twin4.md", "# Annual Report\n\nFour."),
        ("reader.md", "# Reader\n\nSee the Annual Report and \"crane safety handbook\"."),
    ]);
    let shelf = Shelf::empty();
    shelf.index(&files, None, None, &Params::default()).await;
    assert_eq!(shelf.reads_nodes_as_exported(&Filter::default()).await, shelf.nodes());
    let few = "source=links.md|safety.md|mentions.md".parse().unwrap();
    assert!(shelf.reads_nodes_as_exported(&Filter { conditions: vec![few] }).await < shelf.nodes());
    insta::assert_snapshot!(references(&shelf).await, @r#"
    links.md -> doc-117 notes.md by link: # Links See [here](safety.md) and [there](https://notes.example/117).
    links.md -> safety.md by link: # Links See [here](safety.md) and [there](https://notes.example/117).
    mentions.md -> law/theft.jsonl#l1 by identifier: # Files It is in safety.md. 依照刑法第264条处罚。
    mentions.md -> safety.md by file: # Files It is in safety.md. 依照刑法第264条处罚。
    mentions.md -> standard.txt by identifier: # Mentions Read the Crane Safety Handbook, then GB/T 1234.
    reader.md -> safety.md by title: # Reader See the Annual Report and "crane safety handbook".
    safety.md -> doc-117 notes.md by identifier: # Crane Safety Handbook It bears DOC-117. Keep away.
    "#);
    // An edge is deleted with either end, and comes back with it.
    let whole = references(&shelf).await;
    for path in ["safety.md", "mentions.md"] {
        shelf.base.delete_file(path).await.unwrap();
        let left = references(&shelf).await;
        assert!(!left.lines().any(|line| {
            line.starts_with(&format!("{path} ->")) || line.contains(&format!("-> {path} by"))
        }));
    }
    shelf.index(&files, None, None, &Params::default()).await;
    assert_eq!(references(&shelf).await, whole);
}

// The fixture.

const POOL: [&str; 10] = [
    "Record: the lift weighs 7 t.",
    "Machine: Winch\nWeight: 8 t\n",
    "See [the first](a0.md) and [b](b1.txt).",
    "It is in a1.md, or in b0.csv.",
    "As the Crane Safety Handbook says, under DOC-117.",
    "# Crane Safety Handbook",
    "# DOC-117 起重机安全手册",
    "依照《起重机安全手册》办理。",
    "| machine | weight |\n|---|---|\n| Crane | 5 t |\n| Hoist | soon |",
    "Nothing of the kind.",
];

/// Up to three files of four formats, named `{prefix}0.md` and so on.
fn corpus(prefix: &'static str) -> impl Strategy<Value = Files> {
    let endings = prop::sample::select(vec!["md", "txt", "csv", "jsonl"]);
    let content = prop::collection::vec(prop::sample::select(POOL.to_vec()), 1..5);
    prop::collection::vec((endings, content, 1_u8..4), 1..4).prop_map(move |files| {
        let mut corpus = Files::default();
        for (n, (ending, content, weight)) in files.into_iter().enumerate() {
            let text = match ending {
                "csv" => format!("machine,weight\nM{n},{weight} t\nN{n},{weight} kg\n"),
                "jsonl" => content
                    .iter()
                    .map(|text| serde_json::json!({"title": format!("Thing {n}"), "text": text, "weight": weight}).to_string() + "\n")
                    .collect(),
                _ => content.join("\n\n"),
            };
            corpus.0.insert(format!("{prefix}{n}.{ending}"), text);
        }
        corpus
    })
}

fn params() -> Params {
    let schema: RecordSchema = serde_json::from_str(
        r#"{"name": "load", "key": ["machine"], "fields": [{"name": "machine", "columns": ["title"]}, {"name": "weight", "type": "number"}]}"#,
    )
    .unwrap();
    Params {
        chunks: ChunkParams { max_tokens: 24, overlap_tokens: 0 },
        atoms: vec![AtomKind::Statement],
        records: vec![schema],
        ..Params::default()
    }
}

/// A model that states what it read, and finds a record if the text has that word.
fn reading() -> &'static ScriptedChat {
    Box::leak(Box::new(ScriptedChat::by(|request| Ok(reply(request)))))
}

fn reply(request: &ChatRequest) -> String {
    let prompt = format!("{:?}", request.messages);
    if request.role == Role::Atomize {
        let hash = blake3::hash(prompt.as_bytes()).to_hex();
        return format!(r#"{{"statements": ["Statement {} is made."]}}"#, &hash[..8]);
    }
    match prompt.contains("Record: the lift weighs 7 t.") {
        true => r#"{"records": [{"machine": "Lift", "weight": "7 t"}, {"machine": "invented"}]}"#
            .to_owned(),
        false => r#"{"records": []}"#.to_owned(),
    }
}

fn recorded(shelf: &Shelf, chat: &'static ScriptedChat) -> Arc<dyn ChatModel> {
    Arc::new(SingleFlight::new(Recorded::new(chat, shelf.base.clone(), Mode::Record)))
}

async fn index(shelf: &Shelf, files: &Files, chat: &'static ScriptedChat) -> Report {
    shelf.index(files, Some(recorded(shelf, chat)), None, &params()).await
}

fn atoms(shelf: &Shelf) -> Vec<String> {
    let lines = shelf.export().into_iter().map(|line| serde_json::from_str(&line).unwrap());
    let atoms = lines.filter(|line: &serde_json::Value| line["node"] == "atom");
    atoms
        .map(|atom| {
            format!("{}: {}", atom["kind"].as_str().unwrap(), atom["text"].as_str().unwrap())
        })
        .collect()
}

async fn records(shelf: &Shelf) -> String {
    let mut lines = Vec::new();
    for record in shelf.base.records(RecordsOf::All).await.unwrap() {
        let fields: Vec<String> = record
            .fields
            .iter()
            .map(|field| match &field.value {
                Some(value) => format!("{}={value}", field.name),
                None => format!("{}={:?}?", field.name, field.raw),
            })
            .collect();
        let (span, origin) = (record.span, record.origin.as_str());
        let place = format!("{} {}..{}", record.uri, span.start, span.end);
        lines.push(format!("{} {place} {origin} {}", record.schema, fields.join(" ")));
    }
    lines.join("\n")
}

/// Every edge with the words that carry it.
async fn references(shelf: &Shelf) -> String {
    let sources = shelf.base.sources(Which::All).await.unwrap();
    let uri = |id: &serde_json::Value| {
        let source = sources.iter().find(|source| *id == source.id.to_string());
        source.unwrap().uri.clone()
    };
    let exported = shelf.export().into_iter().map(|line| serde_json::from_str(&line).unwrap());
    let edges: Vec<serde_json::Value> =
        exported.filter(|line: &serde_json::Value| line["edge"] == "refers_to").collect();
    let mut lines = Vec::new();
    for edge in edges {
        let chunk = edge["chunk"].as_str().unwrap().parse().unwrap();
        let chunk = shelf.base.chunks(&[chunk]).await.unwrap().remove(0);
        let text: String = chunk.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let how = edge["how"].as_str().unwrap();
        lines.push(format!("{} -> {} by {how}: {text}", uri(&edge["from"]), uri(&edge["to"])));
    }
    lines.sort();
    lines.join("\n")
}
