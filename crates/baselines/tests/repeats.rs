//! Tests that files that repeat others are named, and indexed once on request.

use pikerag_indexing::{Params, Repeats, Report};
use pikerag_knowledge::{CorpusWriter, Which};

use crate::common::{Files, Shelf, block_on};

/// A page with this amount, long enough to be compared.
fn page(amount: &str) -> String {
    let things =
        "trains buses taxis hotels meals visas cars ferries lounges parking tolls bicycles";
    let rules: Vec<String> = things
        .split(' ')
        .map(|thing| {
            format!("Employees book {thing} in the portal and keep the receipt of {thing}.\n\n")
        })
        .collect();
    format!("# Travel\n\nThe company pays {amount} euros for each day.\n\n{}", rules.concat())
}

fn files(files: &[(&str, &str)]) -> Files {
    files.iter().copied().collect()
}

async fn index(shelf: &Shelf, files: &Files, repeats: Repeats) -> Report {
    let params = Params { repeats, ..Params::default() };
    shelf.index(files, None, None, &params).await
}

/// The repeats of a report: `file of other`, with `almost` and `left out`.
fn named(report: &Report) -> Vec<String> {
    let line = |repeat: &pikerag_indexing::Repeat| {
        let almost = if repeat.is_whole { "" } else { "almost " };
        let left_out = if repeat.is_left_out { ", left out" } else { "" };
        format!("{almost}{} of {}{left_out}", repeat.file, repeat.of)
    };
    report.repeats.iter().map(line).collect()
}

async fn held(shelf: &Shelf) -> Vec<String> {
    let files = shelf.base.files(Which::All).await.unwrap();
    files.into_iter().map(|file| file.path).collect()
}

#[test]
fn repeats_are_named_and_kept() {
    block_on(async {
        let (rules, other_amount) = (page("40"), page("45"));
        let print = format!("{rules}Printed by the portal.\n");
        let edition = rules.replace("hotels in the portal", "hotels outside the portal");
        let shelf = Shelf::empty();
        let all = files(&[
            ("a.md", rules.as_str()),
            ("amount.md", other_amount.as_str()),
            ("copy.md", rules.as_str()),
            ("edition.md", edition.as_str()),
        ]);
        let report = index(&shelf, &all, Repeats::All).await;
        let found = named(&report);
        assert!(found.contains(&"copy.md of a.md".to_owned()), "{found:?}");
        assert!(found.contains(&"almost edition.md of a.md".to_owned()), "{found:?}");
        assert!(!found.iter().any(|line| line.contains("amount.md")), "{found:?}");
        assert_eq!(held(&shelf).await.len(), 4);
        // Unchanged files are not named again; the new one contains the old ones.
        assert!(named(&index(&shelf, &all, Repeats::All).await).is_empty());
        let more = files(&[("print.md", print.as_str())]);
        let found = named(&index(&shelf, &more, Repeats::All).await);
        assert!(found.contains(&"a.md of print.md".to_owned()), "{found:?}");
    });
}

#[test]
fn one_of_several_repeats_is_indexed_and_replaced() {
    block_on(async {
        let (rules, other_amount) = (page("40"), page("45"));
        let shelf = Shelf::empty();
        let both = files(&[
            ("a.md", rules.as_str()),
            ("b.md", rules.as_str()),
            ("c.md", other_amount.as_str()),
        ]);
        for _ in 0..2 {
            let report = index(&shelf, &both, Repeats::Once).await;
            assert_eq!(named(&report), ["b.md of a.md, left out"]);
            assert_eq!(held(&shelf).await, ["a.md", "c.md"]);
        }
        // The kept file changes: the next run takes the other.
        let changed = page("50");
        let both = files(&[
            ("a.md", changed.as_str()),
            ("b.md", rules.as_str()),
            ("c.md", other_amount.as_str()),
        ]);
        assert!(named(&index(&shelf, &both, Repeats::Once).await).is_empty());
        assert_eq!(held(&shelf).await, ["a.md", "b.md", "c.md"]);
        // The kept file is deleted.
        let both = files(&[("a.md", rules.as_str()), ("b.md", rules.as_str())]);
        index(&shelf, &both, Repeats::Once).await;
        assert_eq!(held(&shelf).await, ["b.md", "c.md"]);
        assert!(shelf.base.delete_file("b.md").await.unwrap());
        index(&shelf, &files(&[("a.md", rules.as_str())]), Repeats::Once).await;
        assert_eq!(held(&shelf).await, ["a.md", "c.md"]);
    });
}
