//! Does what people say of answers return, stay true to the documents, and go when it has to?

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{Place, good_stub};

const SETTINGS: &str = "[embed]\nkind = \"none\"\n";
const HANDBOOK: &str =
    "# Handbook\n\nA brake lining thinner than 6 mm is replaced before the next shift.\n";
const LEDGER: &str = "# Ledger\n\nThe lighthouse keeper Oda Winter winds the clock on Mondays.\n";
const BRAKES: &str = "How thin may a brake lining be before it is replaced?";
const KEEPER: &str = "Who winds the clock on Mondays?";

fn place() -> Place {
    let place = Place::new().set("PIKERAG_AUTHOR", "Ada");
    place.write("pikerag.toml", SETTINGS);
    place.write("docs/handbook.md", HANDBOOK);
    place.write("docs/ledger.md", LEDGER);
    place.run_to(0, &["index", "docs"]);
    place
}

fn ask(place: &Place, question: &str) -> Value {
    place.run_to(0, &["--json", "ask", question]).json()
}

/// Who wrote the answer, and how it stands to what was said before.
fn told(asked: &Value) -> (String, Option<String>) {
    let answer = &asked["answer"];
    let kind = answer["written_by"]["kind"].as_str().unwrap().to_owned();
    let agreement = answer["worked"]["recalled"]["agreement"].as_str();
    (kind, agreement.map(str::to_owned))
}

fn person(agreement: &str) -> (String, Option<String>) {
    ("person".to_owned(), Some(agreement.to_owned()))
}

fn quoted(agreement: Option<&str>) -> (String, Option<String>) {
    ("quotation".to_owned(), agreement.map(str::to_owned))
}

fn verified(place: &Place) -> Vec<Value> {
    let listed = place.run_to(0, &["--json", "feedback", "list"]).json();
    listed.as_array().unwrap().clone()
}

/// A correction is the answer, with its passage, until what it rests on changes; then it is told beside the documents'
/// own words, and asked about. The run from before comes again as it was.
#[test]
fn a_correction_answers_until_its_source_changes() {
    let place = place();
    let before = ask(&place, BRAKES);
    assert_eq!(told(&before), quoted(None));
    place.run_to(0, &["feedback", "correct", "last", "6 mm"]);
    let now = ask(&place, BRAKES);
    assert_eq!(told(&now), person("taken"));
    assert_eq!(now["answer"]["text"], "6 mm");
    let citation = &now["answer"]["citations"][0];
    assert_eq!((&citation["quote"], &citation["check"]), (&"6 mm".into(), &"verified".into()));
    let run = before["run"].as_str().unwrap();
    assert!(place.run_to(0, &["runs", "replay", run]).stdout.contains("thinner than 6 mm"));

    // Another document about the same: both are told.
    place.write(
        "docs/notice.md",
        "# Notice\n\nA brake lining is replaced when thinner than 8 mm.\n",
    );
    place.run_to(0, &["index", "docs"]);
    let (kind, agreement) = told(&ask(&place, BRAKES));
    assert_eq!((kind.as_str(), agreement.is_some()), ("quotation", true));
    // Somebody has seen it: it is settled again.
    place.run_to(0, &["feedback", "correct", "last", "6 mm"]);
    assert_eq!(told(&ask(&place, BRAKES)), person("taken"));

    place.write("docs/handbook.md", HANDBOOK.replace("6 mm", "7 mm"));
    let indexed = place.run_to(0, &["index", "docs"]);
    assert!(indexed.stderr.contains("feedback list --stale"), "{}", indexed.stderr);
    let stale = place.run_to(0, &["--json", "feedback", "list", "--stale"]).json();
    assert_eq!(stale[0]["changed"], serde_json::json!(["docs/handbook.md"]));
    let shown = place.run_to(0, &["ask", BRAKES]).stdout;
    assert!(shown.contains("verified another answer: 6 mm"), "{shown}");
    assert!(shown.contains("docs/handbook.md changed"), "{shown}");
    assert_eq!(place.run_to(0, &["--json", "status"]).json()["stale_answers"], 1);
    place.run_to(0, &["feedback", "accept", "last"]);
    assert_eq!(place.run_to(0, &["--json", "status"]).json()["stale_answers"], 0);
}

/// An accepted answer stays although the document beside it goes; an answer that was rejected is marked when it comes again.
#[test]
fn what_was_accepted_and_what_was_rejected() {
    let place = place();
    ask(&place, KEEPER);
    place.run_to(0, &["feedback", "accept", "last", "--note", "I know her"]);
    ask(&place, BRAKES);
    place.run_to(0, &["feedback", "reject", "last"]);
    assert_eq!(told(&ask(&place, KEEPER)), person("taken"));
    assert_eq!(told(&ask(&place, BRAKES)), quoted(Some("rejected")));
    place.run_to(0, &["delete", "docs/handbook.md"]);
    assert_eq!(told(&ask(&place, KEEPER)), person("taken"));
    // Under a filter that hides what it was written from, nobody is told of it.
    place.write("docs/other.md", "# Other\n\nThe clock was made in 1801.\n");
    place.run_to(0, &["index", "docs/other.md"]);
    let hidden = ["--json", "ask", KEEPER, "--filter", "source=docs/other.md"];
    assert_eq!(told(&place.run(&hidden).json()).1, None);
    let gone = verified(&place)[0]["id"].as_str().unwrap().to_owned();
    place.run_to(0, &["feedback", "revoke", &gone]);
    assert_eq!(verified(&place).len(), 1);
    let none = place.run_to(1, &["feedback", "revoke", &gone]);
    assert!(none.stderr.contains("feedback list"), "{}", none.stderr);
}

/// `index(A + B) − B` is `index(A)`, with what people said of either.
#[test]
fn an_update_is_what_a_fresh_start_gives_with_what_was_verified() {
    let one = place();
    ask(&one, BRAKES);
    one.run_to(0, &["feedback", "correct", "last", "6 mm"]);
    ask(&one, KEEPER);
    one.run_to(0, &["feedback", "accept", "last"]);
    one.run_to(0, &["feedback", "export", "-o", "said.jsonl"]);
    std::fs::remove_file(one.path("docs/ledger.md")).unwrap();
    one.run_to(0, &["index", "--prune", "docs"]);

    let other = Place::new();
    other.write("pikerag.toml", SETTINGS);
    other.write("docs/handbook.md", HANDBOOK);
    other.run_to(0, &["index", "docs"]);
    other.write("said.jsonl", one.read("said.jsonl"));
    let imported = other.run_to(0, &["--json", "feedback", "import", "said.jsonl"]).json();
    assert_eq!(imported, serde_json::json!({ "kept": 2, "stale": 1 }));
    let lines = |place: &Place| -> BTreeSet<String> {
        place.run_to(0, &["export"]).stdout.lines().map(str::to_owned).collect()
    };
    let (one_lines, other_lines) = (lines(&one), lines(&other));
    assert!(one_lines.iter().any(|line| line.contains("verified_answer")));
    assert_eq!(one_lines, other_lines);
    // They were said of other documents: nothing is taken unseen.
    assert_eq!(told(&ask(&one, BRAKES)), person("taken"));
    assert_eq!(told(&ask(&other, BRAKES)), quoted(Some("same")));
}

/// Corrections are pairs of a better and a worse answer, and so is what was rejected where what is right is known.
#[test]
fn corrections_are_pairs_for_training() {
    let place = place();
    ask(&place, BRAKES);
    place.run_to(0, &["feedback", "correct", "last", "6 mm"]);
    place.run_to(0, &["feedback", "reject", "last", "--by", "Eve"]);
    ask(&place, KEEPER);
    place.run_to(0, &["feedback", "accept", "last"]);
    let pairs = place.run_to(0, &["feedback", "export", "--pairs"]).stdout;
    let pairs: Vec<Value> = pairs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pairs.len(), 2, "{pairs:?}");
    for (pair, by) in pairs.iter().zip(["Eve", "Ada"]) {
        assert_eq!((&pair["better"], &pair["by"]), (&"6 mm".into(), &by.into()));
        assert!(pair["worse"].as_str().unwrap().contains("thinner than 6 mm"));
    }
}

/// What is forgotten is forgotten here too, also where the document has changed since.
#[test]
fn forgetting_a_document_takes_what_was_verified_from_it() {
    let place = place();
    ask(&place, KEEPER);
    place.run_to(0, &["feedback", "accept", "last"]);
    ask(&place, BRAKES);
    place.run_to(0, &["feedback", "accept", "last"]);
    place.write("docs/ledger.md", "# Ledger\n\nNobody winds anything now.\n");
    place.run_to(0, &["index", "docs"]);
    let ran = place.run_to(0, &["--json", "delete", "--forget", "docs/ledger.md"]).json();
    assert_eq!(ran["forgotten"]["verified"], 1);
    let left = verified(&place);
    assert_eq!((left.len(), &left[0]["question"]), (1, &BRAKES.into()));
}

/// With a model, the same question costs a call once; a question much like it is led to the passage that a person looked at.
#[test]
fn a_verified_answer_saves_its_calls() {
    let stub = good_stub();
    let place = Place::with(&stub).set("PIKERAG_AUTHOR", "Ada");
    place.write_workload();
    place.run_to(0, &["index", "corpus.jsonl"]);
    let first = place.read("questions.jsonl").lines().next().unwrap().to_owned();
    let first: Value = serde_json::from_str(&first).unwrap();
    let question = first["question"].as_str().unwrap().to_owned();
    let asked = ask(&place, &question);
    assert_eq!(told(&asked).0, "language_model");
    place.run_to(0, &["feedback", "accept", "last"]);
    let again = ask(&place, &question);
    assert_eq!(told(&again), person("taken"));
    assert_eq!(again["answer"]["text"], asked["answer"]["text"]);
    assert_eq!(again["answer"]["spent"]["by_role"], serde_json::json!({}));
    place.write("pikerag.toml", "[methods]\nverified = \"ignored\"\n");
    assert_eq!(told(&ask(&place, &question)), ("language_model".to_owned(), None));
}

/// A forecast without any records.
fn ask_refused(place: &Place) {
    place.run_to(3, &["ask", "How many repairs will there be in 2031?"]);
}

/// A list that a table gives is read off it each time: a row may have come that is none of the best passages.
#[test]
fn what_records_answer_is_reckoned_anew() {
    let place = Place::new().set("PIKERAG_AUTHOR", "Ada");
    place.write("pikerag.toml", format!("{SETTINGS}[[records]]\nname = \"repair\"\nkey = [\"order\"]\nfields = [{{ name = \"order\" }}, {{ name = \"day\", type = \"date\" }}]\n"));
    let rows = "order,day\nR-1,2024-02-03\nR-2,2024-02-20\nR-3,2024-03-02\n";
    place.write("repairs.csv", rows);
    place.run_to(0, &["index", "repairs.csv"]);
    let february = "Which repairs were done in February 2024?";
    let first = ask(&place, february);
    assert_eq!(told(&first), ("reckoning".to_owned(), None));
    place.run_to(0, &["feedback", "accept", "last"]);
    assert_eq!(told(&ask(&place, february)), ("reckoning".to_owned(), Some("same".to_owned())));
    place.write("more.csv", "order,day\nR-9,2024-02-28\n");
    place.run_to(0, &["index", "more.csv"]);
    assert_eq!(told(&ask(&place, february)), ("reckoning".to_owned(), Some("other".to_owned())));
}

#[test]
fn what_cannot_be_kept_is_said() {
    let place = place();
    let none = place.run_to(1, &["feedback", "accept", "last"]);
    assert!(none.stderr.contains("`pikerag runs`"), "{}", none.stderr);
    ask(&place, KEEPER);
    let empty = place.run_to(2, &["feedback", "correct", "last", " "]);
    assert!(empty.stderr.contains("reject"), "{}", empty.stderr);
    ask_refused(&place);
    let refused = place.run_to(2, &["feedback", "accept", "last"]);
    assert!(refused.stderr.contains("feedback correct"), "{}", refused.stderr);
    ask(&place, KEEPER);
    place.write("bad.jsonl", "{\"question\": \"Who?\"}\n");
    let bad = place.run_to(1, &["feedback", "import", "bad.jsonl"]);
    assert!(bad.stderr.contains("line 1"), "{}", bad.stderr);
    // What nobody reads in the documents is a person's word.
    let bare = place.run_to(0, &["feedback", "correct", "last", "Nils Holm"]);
    assert!(bare.stderr.contains("your word alone"), "{}", bare.stderr);
    let taken = ask(&place, KEEPER);
    assert_eq!((told(&taken), &taken["answer"]["text"]), (person("taken"), &"Nils Holm".into()));
    let anonymous = Place::new();
    anonymous.write("pikerag.toml", SETTINGS);
    anonymous.write("docs/ledger.md", LEDGER);
    anonymous.run_to(0, &["index", "docs"]);
    ask(&anonymous, KEEPER);
    let nobody = anonymous.run_to(2, &["feedback", "accept", "last"]);
    assert!(nobody.stderr.contains("--by"), "{}", nobody.stderr);
}
