//! Tests tables whose rows have lines of dots.

use super::super::{RIGHT, text};
use super::{cells, read};

#[test]
fn dots_lead_to_a_number() {
    let dots = ". ".repeat(40);
    let entry = |name: &str, x: u32, y: u32, number: &str| {
        // The dots fill the gap: they end where the number begins.
        let gap = (500 - x) * 10 / 56;
        let n_dots = (gap as usize).saturating_sub(name.len()).min(40);
        let dots = dots.get(..2 * n_dots).unwrap_or_default();
        text("F1", 10, x, y, &[&format!("{name} {dots}")]) + &text("F1", 10, 520, y, &[number])
    };
    let page = text("F2", 18, 60, 740, &["Contents"])
        + &entry("Preface", 60, 700, "ix")
        + &entry("1 Cranes", 60, 686, "1")
        + &entry("1.1 Ropes and hooks.", 75, 672, "2")
        + &text(
            "F1",
            10,
            75,
            658,
            &[
                "1.2 What the crew does when the wind is strong and the load of the crane has to be set down",
            ],
        )
        + &entry("at once", 75, 644, "3")
        + &text("F1", 10, 60, 630, &["Part II"])
        + &entry("2 Masts", 60, 616, "12")
        + &text(
            "F1",
            10,
            60,
            602,
            &[
                "2.1 A name so long that it leaves no room for any dot before the number of its page, or for",
            ],
        )
        + &text("F1", 10, 520, 602, &["13"])
        + &text(
            "F1",
            10,
            60,
            588,
            &["3 Rules.................................................................."],
        )
        + &text("F1", 10, 520, 588, &["20"])
        + &text(
            "F1",
            10,
            60,
            540,
            &["He waited until ... 11", "It rained for ... 12", "We stayed for ... 13"],
        );
    insta::assert_snapshot!(read(&page), @r#"
    == Contents
    h1 p1 [60 46 138 64] "Contents"
    table p1 [60 92 531 214] "Preface | ix\n1 Cranes | 1\n1.1 Ropes and hooks | 2\n1.2 What the crew does when the wind is strong and the load of the crane has to be set down at once | 3\nPart II | \n2 Masts | 12\n2.1 A name so long that it leaves no room for any dot before the number of its page, or for | 13\n3 Rules | 20"
      header []
      row ["Preface", "ix"]
      row ["1 Cranes", "1"]
      row ["1.1 Ropes and hooks", "2"]
      row ["1.2 What the crew does when the wind is strong and the load of the crane has to be set down at once", "3"]
      row ["Part II", ""]
      row ["2 Masts", "12"]
      row ["2.1 A name so long that it leaves no room for any dot before the number of its page, or for", "13"]
      row ["3 Rules", "20"]
    p p1 [60 252 151 262] "He waited until ... 11"
    p p1 [60 264 136 274] "It rained for ... 12"
    p p1 [60 276 147 286] "We stayed for ... 13"
    pages = 1
    "#);
}

#[test]
fn a_name_keeps_its_own_dot() {
    let line = ".".repeat(20);
    let single = ". ".repeat(20);
    let rows: [&[&str]; 5] = [
        &["1 Ropes etc.", &line, "1"],
        &["2 Cranes of the U.S.A.", &single, "3"],
        &["3 Hooks etc............", &line, "5"],
        &["4 Smith et al.", "", "2004"],
        &["5 Masts.", &single, "12"],
    ];
    let seen = read(&cells(10, &[60, 200, 400], 700, 14, &rows));
    let rows: Vec<&str> =
        seen.lines().filter(|line| line.contains(" row ")).map(str::trim).collect();
    assert_eq!(
        rows,
        [
            r#"row ["1 Ropes etc.", "1"]"#,
            r#"row ["2 Cranes of the U.S.A.", "3"]"#,
            // It is indistinguishable from the first dots of the line.
            r#"row ["3 Hooks etc", "5"]"#,
            r#"row ["4 Smith et al.", "2004"]"#,
            r#"row ["5 Masts", "12"]"#,
        ]
    );
}

/// Dots are not cells of a table, and its columns stay together.
#[test]
fn dots_lead_to_the_first_of_several_numbers() {
    let dots = ". ".repeat(10) + "." + &".".repeat(8);
    let menu: [&[&str]; 5] = [
        &["Dish", "", "small", "large"],
        &["Soup", &dots, "2.50", "3.50"],
        &["Tea", &dots, "2.00", "3.00"],
        &["Water", &dots, "1.00", "2.00"],
        &["Juice", &dots, "3.00", "4.00"],
    ];
    let mut page = cells(10, &[60, 120, 230, 300], 700, 14, &menu);
    for (row, name) in (0..).zip(["Hook", "Rope", "Mast"]) {
        let words = format!("{name} .......... {row}.50");
        page += &text("F1", 10, 60, 500 - 14 * row, &[&words]);
        page += &text("F1", 10, 180, 500 - 14 * row, &[&format!(".......... {row}.70")]);
    }
    // Text beside a price list is not one of its columns.
    for (row, name) in (0..).zip(["Hook", "Rope", "Mast"]) {
        page += &text("F1", 10, 60, 300 - 14 * row, &[&format!("{name} .......... {row}.50")]);
    }
    page += &text("F1", 10, 330, 300, &RIGHT);
    insta::assert_snapshot!(read(&page), @r#"
    == tables
    table p1 [60 92 322 158] "Dish | small | large\nSoup | 2.50 | 3.50\nTea | 2.00 | 3.00\nWater | 1.00 | 2.00\nJuice | 3.00 | 4.00"
      header ["Dish", "small", "large"]
      row ["Soup", "2.50", "3.50"]
      row ["Tea", "2.00", "3.00"]
      row ["Water", "1.00", "2.00"]
      row ["Juice", "3.00", "4.00"]
    table p1 [60 292 230 330] "Hook | 0.50 | 0.70\nRope | 1.50 | 1.70\nMast | 2.50 | 2.70"
      header []
      row ["Hook", "0.50", "0.70"]
      row ["Rope", "1.50", "1.70"]
      row ["Mast", "2.50", "2.70"]
    table p1 [60 492 137 530] "Hook | 0.50\nRope | 1.50\nMast | 2.50"
      header []
      row ["Hook", "0.50"]
      row ["Rope", "1.50"]
      row ["Mast", "2.50"]
    p p1 [330 492 540 526] "Every well-known part is greased once a month by the crew, and every rope is changed once a year by the maker."
    pages = 1
    "#);
}

#[test]
fn an_index_in_two_columns_is_two_tables() {
    let mut page = String::new();
    for (row, (left, right)) in
        (0..).zip([("anchor", "mast"), ("boom", "rope"), ("crane", "sling"), ("drum", "winch")])
    {
        let y = 700 - 14 * row;
        page += &text("F1", 10, 60, y, &[&format!("{left} . . . . . . . . . . . {}", 10 + row)]);
        page += &text("F1", 10, 330, y, &[&format!("{right} . . . . . . . . . . . {}", 20 + row)]);
    }
    insta::assert_snapshot!(read(&page), @r#"
    == tables
    table p1 [60 92 166 144] "anchor | 10\nboom | 11\ncrane | 12\ndrum | 13"
      header []
      row ["anchor", "10"]
      row ["boom", "11"]
      row ["crane", "12"]
      row ["drum", "13"]
    table p1 [330 92 431 144] "mast | 20\nrope | 21\nsling | 22\nwinch | 23"
      header []
      row ["mast", "20"]
      row ["rope", "21"]
      row ["sling", "22"]
      row ["winch", "23"]
    pages = 1
    "#);
}
