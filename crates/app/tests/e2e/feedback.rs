//! Tests that feedback on answers returns, stays true to the documents, and is deleted when
//! required.

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

/// The writer of the answer, and its agreement with an earlier verified answer.
fn origin(asked: &Value) -> (String, Option<String>) {
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

/// A correction answers its question, with its passage, until its source changes. Then the answer
/// quotes the documents and mentions the correction, until a person decides again. A run from
/// before the correction replays unchanged.
#[test]
fn a_correction_answers_until_its_source_changes() {
    let place = place();
    let before = ask(&place, BRAKES);
    assert_eq!(origin(&before), quoted(None));
    place.run_to(0, &["feedback", "correct", "last", "6 mm"]);
    let now = ask(&place, BRAKES);
    assert_eq!(origin(&now), person("taken"));
    assert_eq!(now["answer"]["text"], "6 mm");
    let citation = &now["answer"]["citations"][0];
    assert_eq!((&citation["quote"], &citation["check"]), (&"6 mm".into(), &"verified".into()));
    let run = before["run"].as_str().unwrap();
    assert!(place.run_to(0, &["runs", "replay", run]).stdout.contains("thinner than 6 mm"));

    // Another document covers the same topic: the answer compares both.
    place.write(
        "docs/notice.md",
        "# Notice\n\nA brake lining is replaced when thinner than 8 mm.\n",
    );
    place.run_to(0, &["index", "docs"]);
    let (kind, agreement) = origin(&ask(&place, BRAKES));
    assert_eq!((kind.as_str(), agreement.is_some()), ("quotation", true));
    // A person has seen the new document and corrects again: the correction answers again.
    place.run_to(0, &["feedback", "correct", "last", "6 mm"]);
    assert_eq!(origin(&ask(&place, BRAKES)), person("taken"));

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

/// An accepted answer stays when another document is deleted; a rejected answer is marked when it
/// comes again.
#[test]
fn accepted_answers_return_and_rejected_ones_are_marked() {
    let place = place();
    ask(&place, KEEPER);
    place.run_to(0, &["feedback", "accept", "last", "--note", "I know her"]);
    ask(&place, BRAKES);
    place.run_to(0, &["feedback", "reject", "last"]);
    assert_eq!(origin(&ask(&place, KEEPER)), person("taken"));
    assert_eq!(origin(&ask(&place, BRAKES)), quoted(Some("rejected")));
    place.run_to(0, &["delete", "docs/handbook.md"]);
    assert_eq!(origin(&ask(&place, KEEPER)), person("taken"));
    // A filter that hides the source of a verified answer hides the answer, too.
    place.write("docs/other.md", "# Other\n\nThe clock was made in 1801.\n");
    place.run_to(0, &["index", "docs/other.md"]);
    let hidden = ["--json", "ask", KEEPER, "--filter", "source=docs/other.md"];
    assert_eq!(origin(&place.run(&hidden).json()).1, None);
    let gone = verified(&place)[0]["id"].as_str().unwrap().to_owned();
    place.run_to(0, &["feedback", "revoke", &gone]);
    assert_eq!(verified(&place).len(), 1);
    let none = place.run_to(1, &["feedback", "revoke", &gone]);
    assert!(none.stderr.contains("feedback list"), "{}", none.stderr);
}

/// `index(A + B) − B` equals `index(A)`, with the feedback on both.
#[test]
fn deleting_a_document_leaves_the_base_of_the_others_with_all_feedback() {
    let one = place();
    ask(&one, BRAKES);
    one.run_to(0, &["feedback", "correct", "last", "6 mm"]);
    ask(&one, KEEPER);
    one.run_to(0, &["feedback", "accept", "last"]);
    one.run_to(0, &["feedback", "export", "-o", "feedback.jsonl"]);
    std::fs::remove_file(one.path("docs/ledger.md")).unwrap();
    one.run_to(0, &["index", "--prune", "docs"]);

    let other = Place::new();
    other.write("pikerag.toml", SETTINGS);
    other.write("docs/handbook.md", HANDBOOK);
    other.run_to(0, &["index", "docs"]);
    other.write("feedback.jsonl", one.read("feedback.jsonl"));
    let imported = other.run_to(0, &["--json", "feedback", "import", "feedback.jsonl"]).json();
    assert_eq!(imported, serde_json::json!({ "kept": 2, "stale": 1 }));
    let lines = |place: &Place| -> BTreeSet<String> {
        place.run_to(0, &["export"]).stdout.lines().map(str::to_owned).collect()
    };
    let (one_lines, other_lines) = (lines(&one), lines(&other));
    assert!(one_lines.iter().any(|line| line.contains("verified_answer")));
    assert_eq!(one_lines, other_lines);
    // The imported feedback is about other documents, so it does not answer without a check.
    assert_eq!(origin(&ask(&one, BRAKES)), person("taken"));
    assert_eq!(origin(&ask(&other, BRAKES)), quoted(Some("same")));
}

/// Each correction is a pair of a better and a worse answer; so is a rejection if the right answer
/// is known.
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

/// Forgetting a document forgets its verified answers, even if the document has changed since.
#[test]
fn forgetting_a_document_forgets_its_verified_answers() {
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

/// With a model, a verified answer costs no further call.
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
    assert_eq!(origin(&asked).0, "language_model");
    place.run_to(0, &["feedback", "accept", "last"]);
    let again = ask(&place, &question);
    assert_eq!(origin(&again), person("taken"));
    assert_eq!(again["answer"]["text"], asked["answer"]["text"]);
    assert_eq!(again["answer"]["spent"]["by_role"], serde_json::json!({}));
    place.write("pikerag.toml", "[methods]\nverified = \"ignored\"\n");
    assert_eq!(origin(&ask(&place, &question)), ("language_model".to_owned(), None));
}

/// Asks for a forecast without any records, which is refused.
fn ask_refused(place: &Place) {
    place.run_to(3, &["ask", "How many repairs will there be in 2031?"]);
}

/// A list from a table is computed each time, because a new row may be missing from the best
/// passages.
#[test]
fn answers_from_records_are_computed_each_time() {
    let place = Place::new().set("PIKERAG_AUTHOR", "Ada");
    place.write("pikerag.toml", format!("{SETTINGS}[[records]]\nname = \"repair\"\nkey = [\"order\"]\nfields = [{{ name = \"order\" }}, {{ name = \"day\", type = \"date\" }}]\n"));
    let rows = "order,day\nR-1,2024-02-03\nR-2,2024-02-20\nR-3,2024-03-02\n";
    place.write("repairs.csv", rows);
    place.run_to(0, &["index", "repairs.csv"]);
    let february = "Which repairs were done in February 2024?";
    let first = ask(&place, february);
    assert_eq!(origin(&first), ("reckoning".to_owned(), None));
    place.run_to(0, &["feedback", "accept", "last"]);
    assert_eq!(origin(&ask(&place, february)), ("reckoning".to_owned(), Some("same".to_owned())));
    place.write("more.csv", "order,day\nR-9,2024-02-28\n");
    place.run_to(0, &["index", "more.csv"]);
    assert_eq!(origin(&ask(&place, february)), ("reckoning".to_owned(), Some("other".to_owned())));
}

#[test]
fn unusable_feedback_is_refused_with_a_reason() {
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
    // A correction that no document supports rests on the word of the person.
    let bare = place.run_to(0, &["feedback", "correct", "last", "Nils Holm"]);
    assert!(bare.stderr.contains("as your statement"), "{}", bare.stderr);
    let taken = ask(&place, KEEPER);
    assert_eq!((origin(&taken), &taken["answer"]["text"]), (person("taken"), &"Nils Holm".into()));
    let anonymous = Place::new();
    anonymous.write("pikerag.toml", SETTINGS);
    anonymous.write("docs/ledger.md", LEDGER);
    anonymous.run_to(0, &["index", "docs"]);
    ask(&anonymous, KEEPER);
    let nobody = anonymous.run_to(2, &["feedback", "accept", "last"]);
    assert!(nobody.stderr.contains("--by"), "{}", nobody.stderr);
}

/// A correction serves a method that does not look for verified answers itself; the run replays, and a run from
/// before the correction does, too. The setting switches it off.
#[test]
fn a_verified_answer_serves_every_method() {
    let place = place();
    let asked = |place: &Place, question: &str| {
        place.run_to(0, &["--json", "ask", "--method", "naive-rag", question]).json()
    };
    let before = asked(&place, BRAKES);
    assert_eq!(origin(&before), quoted(None));
    place.run_to(0, &["feedback", "correct", "last", "6 mm"]);
    let now = asked(&place, BRAKES);
    assert_eq!(origin(&now), person("taken"));
    for run in [&before, &now] {
        place.run_to(0, &["runs", "replay", run["run"].as_str().unwrap()]);
    }
    assert_eq!(origin(&asked(&place, KEEPER)), quoted(None), "it is about another question");
    place.run_to(0, &["feedback", "reject", "last"]);
    let again = asked(&place, KEEPER);
    assert_eq!(origin(&again), quoted(Some("rejected")));

    place.write("pikerag.toml", format!("{SETTINGS}\n[retrieval]\nverified = \"ignored\"\n"));
    let ignored = asked(&place, BRAKES);
    assert_eq!(origin(&ignored), quoted(None));
    // Each run repeats what was set for it.
    for run in [&now, &again, &ignored] {
        place.run_to(0, &["runs", "replay", run["run"].as_str().unwrap()]);
    }
}

/// Labels accept the latest answers that contain one, correct the others, and count what they do not decide.
#[test]
fn labels_judge_the_answers_of_kept_runs() {
    let place = place();
    for question in [BRAKES, KEEPER] {
        ask(&place, question);
    }
    let line = |id: &str, question: &str, answer: &str| {
        serde_json::json!({ "id": id, "question": question, "answers": [answer] }).to_string()
    };
    let lines = [
        line("brakes", BRAKES, "6 mm"),
        line("keeper", KEEPER, "Ida Summer"),
        line("other", "Who paints the clock?", "Nobody"),
    ];
    place.write("labels.jsonl", lines.join("\n"));
    let judged = place.run_to(0, &["--json", "feedback", "judge", "labels.jsonl"]).json();
    assert_eq!(judged["accepted"][0]["question"], BRAKES);
    assert_eq!(judged["accepted"][0]["by"], "labels.jsonl");
    assert_eq!(judged["corrected"][0]["correction"], "Ida Summer");
    assert_eq!((&judged["not_asked"], &judged["undecided"]), (&1.into(), &0.into()));
    assert_eq!(verified(&place).len(), 2);
    assert_eq!(origin(&ask(&place, BRAKES)), person("taken"));
    let again = ask(&place, KEEPER);
    assert!(again["answer"]["text"].as_str().unwrap().contains("Ida Summer"));

    place.write("labels.jsonl", "{}");
    let refused = place.run_to(1, &["feedback", "judge", "labels.jsonl"]);
    assert!(refused.stderr.contains("labels.jsonl"), "{}", refused.stderr);
    assert_eq!(verified(&place).len(), 2);
}
