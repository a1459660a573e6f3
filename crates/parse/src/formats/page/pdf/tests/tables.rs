//! Tests tables in small PDFs.

mod leaders;

use std::fmt::Write as _;

use super::{pdf, text};
use crate::test_support::run;

/// Rules at these places, upright and flat, each as long as the extent of the others.
fn ruled(xs: &[u32], ys: &[u32]) -> String {
    let (left, right) = (xs.iter().min().unwrap(), xs.iter().max().unwrap());
    let (low, high) = (ys.iter().min().unwrap(), ys.iter().max().unwrap());
    let mut rules = String::new();
    for y in ys {
        writeln!(rules, "{left} {y} m {right} {y} l S").unwrap();
    }
    for x in xs {
        writeln!(rules, "{x} {low} m {x} {high} l S").unwrap();
    }
    rules
}

/// Words in cells: each column begins at one of `xs`, the first row at `y`.
fn cells(size: u32, xs: &[u32], y: u32, step: u32, rows: &[&[&str]]) -> String {
    let mut page = String::new();
    for (row, cells) in (0..).zip(rows) {
        for (x, cell) in xs.iter().zip(*cells).filter(|(_, cell)| !cell.is_empty()) {
            page += &text("F1", size, *x, y - step * row, &[cell]);
        }
    }
    page
}

fn read(page: &str) -> String {
    run("tables.pdf", pdf(&[(page, "")], &[]))
}

#[test]
fn turned_headers_belong_to_their_columns() {
    let mut page = ruled(&[60, 260, 290, 320], &[700, 620, 600, 580])
        + &cells(
            9,
            &[65, 272, 302],
            606,
            20,
            &[&["Hook of the crane", "x", ""], &["Rope", "", "x"]],
        )
        + &text("F1", 9, 65, 688, &["Part"])
        + &text(
            "F1",
            9,
            60,
            740,
            &["What the crew has to look after before the winter comes, by part of the crane."],
        );
    for (x, name) in [(278, "Checked"), (308, "Has to be"), (318, "greased")] {
        writeln!(page, "BT /F1 9 Tf 0 1 -1 0 {x} 625 Tm ({name}) Tj ET").unwrap();
    }
    // A note in the margin, and a stamp that begins in the table and leaves it.
    page += "BT /F1 9 Tf 0 1 -1 0 40 600 Tm (Printed in May) Tj ET ";
    page += "BT /F1 9 Tf 0 -1 1 0 150 690 Tm (Draft of the second edition, May 2021) Tj ET";
    insta::assert_snapshot!(read(&page), @r#"
    == tables
    p p1 [60 53 368 62] "What the crew has to look after before the winter comes, by part of the crane."
    table p1 [60 100 320 220] "Part | Checked | Has to be greased\nHook of the crane | x | \nRope |  | x"
      header ["Part", "Checked", "Has to be greased"]
      row ["Hook of the crane", "x", ""]
      row ["Rope", "", "x"]
    p p1 [33 142 42 200] "Printed in May"
    p p1 [148 110 157 260] "Draft of the second edition, May 2021"
    pages = 1
    "#);
}

#[test]
fn a_stamp_across_a_table_is_not_a_cell() {
    let slanted = "0.7071 0.7071 -0.7071 0.7071";
    // The last one is small enough for a cell.
    for (size, turn, y) in [(20, slanted, 570), (20, "0 1 -1 0", 570), (6, slanted, 545)] {
        let body: [&[&str]; 4] =
            [&["Part", "Load"], &["Hook", "5 t"], &["Rope", "31 t"], &["Mast", "7 t"]];
        let page = ruled(&[60, 210, 360], &[700, 660, 620, 580, 540])
            + &cells(9, &[65, 215], 686, 40, &body)
            + &format!("BT /F1 {size} Tf {turn} 270 {y} Tm (Draft copy) Tj ET");
        let seen = read(&page);
        let (table, others): (Vec<&str>, Vec<&str>) =
            seen.lines().partition(|line| line.contains("table ") || line.contains("row "));
        assert_eq!(table.iter().filter(|line| line.contains("Draft")).count(), 0, "{seen}");
        assert_eq!(
            others.iter().filter(|line| line.contains("\"Draft copy\"")).count(),
            1,
            "{seen}"
        );
        assert_eq!(table.len(), 4, "{seen}");
    }
}

/// Only the shade of the header separates it from the first row.
#[test]
fn a_shaded_row_is_a_row() {
    let mut page = "0.5 0.7 1 rg 60 680 100 20 re f 160 680 200 20 re f 0 g\n".to_owned();
    for y in [660, 640, 620] {
        writeln!(page, "60 {y} m 360 {y} l S").unwrap();
    }
    page += "160 620 m 160 700 l S 260 620 m 260 700 l S\n";
    page += &cells(
        9,
        &[65, 165, 265],
        687,
        20,
        &[
            &["Part", "Load", "Maker"],
            &["Hook", "five tons", "Smith"],
            &["Rope", "two tons", "Sons"],
            &["Mast", "-", "Miller"],
        ],
    );
    // Words in one cell, highlighted by hand.
    page += "1 1 0 rg 160 645 100 8 re f 0 g\n";
    insta::assert_snapshot!(read(&page), @r#"
    == tables
    table p1 [60 100 360 180] "Part | Load | Maker\nHook | five tons | Smith\nRope | two tons | Sons\nMast | - | Miller"
      header ["Part", "Load", "Maker"]
      row ["Hook", "five tons", "Smith"]
      row ["Rope", "two tons", "Sons"]
      row ["Mast", "-", "Miller"]
    pages = 1
    "#);
}

#[test]
fn boxes_around_columns_of_text_are_no_table() {
    let left = [
        "Cranes are built of",
        "steel and lift what",
        "no man can lift by",
        "hand, at any time",
        "of the day, and at",
        "night by lamps.",
    ];
    let right = [
        "The crew looks after",
        "the ropes. Each one",
        "is changed once in",
        "a year, or as soon",
        "as one of its wires",
        "has been broken.",
    ];
    let page = ruled(&[50, 330, 500], &[720, 620, 590])
        + &text("F1", 10, 60, 700, &left)
        + &text("F1", 10, 200, 700, &right)
        + &text("F1", 10, 340, 700, &["Published by", "the makers"])
        + &text("F1", 10, 60, 600, &["Third edition"]);
    insta::assert_snapshot!(read(&page), @r#"
    == tables
    p p1 [60 92 142 162] "Cranes are built of steel and lift what no man can lift by hand, at any time of the day, and at night by lamps."
    p p1 [60 192 115 202] "Third edition"
    p p1 [200 92 290 162] "The crew looks after the ropes. Each one is changed once in a year, or as soon as one of its wires has been broken."
    p p1 [340 92 397 114] "Published by the makers"
    pages = 1
    "#);
}

#[test]
fn a_title_over_columns_begins_in_the_first() {
    let page = text("F1", 10, 84, 700, &["Goods and weights"])
        + &text("F1", 10, 300, 700, &["Prices"])
        + &cells(
            10,
            &[60, 160, 300],
            686,
            14,
            &[
                &["Hook", "5 t", "12.50"],
                &["Rope", "31 t", "9.00"],
                &["Mast", "7 t", "8.10"],
                &["Note", "", ""],
                &["Winch", "3 t", "7.70"],
                &["Drum", "2 t", "6.10"],
                &["Boom", "9 t", "31.00"],
                &["Sling", "1 t", "2.20"],
                &["Pin", "1 t", "1.40"],
            ],
        )
        + &text("F1", 10, 160, 644, &["all of it together, before freight"])
        + &text("F1", 10, 300, 644, &["0.00"]);
    let small = text("F1", 10, 80, 500, &["Goods and weights"])
        + &cells(10, &[60, 160], 486, 14, &[&["Hook", "5 t"], &["Rope", "31 t"], &["Mast", "7 t"]])
        + &cells(10, &[300], 500, 14, &[&["Prices"], &["12.50"], &["9.00"], &["8.10"]]);
    insta::assert_snapshot!(read(&(page + &small)), @r#"
    == tables
    table p1 [60 92 328 228] "Goods and weights |  | Prices\nHook | 5 t | 12.50\nRope | 31 t | 9.00\nMast | 7 t | 8.10\nNote | all of it together, before freight | 0.00\nWinch | 3 t | 7.70\nDrum | 2 t | 6.10\nBoom | 9 t | 31.00\nSling | 1 t | 2.20\nPin | 1 t | 1.40"
      header ["Goods and weights", "", "Prices"]
      row ["Hook", "5 t", "12.50"]
      row ["Rope", "31 t", "9.00"]
      row ["Mast", "7 t", "8.10"]
      row ["Note", "all of it together, before freight", "0.00"]
      row ["Winch", "3 t", "7.70"]
      row ["Drum", "2 t", "6.10"]
      row ["Boom", "9 t", "31.00"]
      row ["Sling", "1 t", "2.20"]
      row ["Pin", "1 t", "1.40"]
    table p1 [60 292 328 344] "Goods and weights |  | Prices\nHook | 5 t | 12.50\nRope | 31 t | 9.00\nMast | 7 t | 8.10"
      header ["Goods and weights", "", "Prices"]
      row ["Hook", "5 t", "12.50"]
      row ["Rope", "31 t", "9.00"]
      row ["Mast", "7 t", "8.10"]
    pages = 1
    "#);
}

#[test]
fn a_header_of_two_lines_is_one() {
    let body: [&[&str]; 4] = [
        &["2021", "1,200", "31"],
        &["2022", "1,350", "29"],
        &["2023", "900", "35"],
        &["2024", "980", "30"],
    ];
    let two = cells(
        10,
        &[60, 160, 300],
        700,
        12,
        &[&["Year", "Hooks", "Ropes"], &["", "(tons)", "(metres)"]],
    ) + &cells(10, &[60, 160, 300], 664, 12, &body);
    let groups =
        cells(10, &[60, 160, 300], 500, 12, &[&["Sold", "", "Bought"], &["Hooks", "Ropes", ""]])
            + &cells(10, &[60, 160, 300], 464, 12, &body);
    insta::assert_snapshot!(read(&(two + &groups)), @r#"
    == tables
    table p1 [60 92 337 174] "Year | Hooks (tons) | Ropes (metres)\n2021 | 1,200 | 31\n2022 | 1,350 | 29\n2023 | 900 | 35\n2024 | 980 | 30"
      header ["Year", "Hooks (tons)", "Ropes (metres)"]
      row ["2021", "1,200", "31"]
      row ["2022", "1,350", "29"]
      row ["2023", "900", "35"]
      row ["2024", "980", "30"]
    table p1 [60 292 332 374] "Sold |  | Bought\nHooks | Ropes | \n2021 | 1,200 | 31\n2022 | 1,350 | 29\n2023 | 900 | 35\n2024 | 980 | 30"
      header ["Sold", "", "Bought"]
      row ["Hooks", "Ropes", ""]
      row ["2021", "1,200", "31"]
      row ["2022", "1,350", "29"]
      row ["2023", "900", "35"]
      row ["2024", "980", "30"]
    pages = 1
    "#);
}
