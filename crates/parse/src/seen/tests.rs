//! Pictures drawn here, and what is read of them.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::strokes::tests::{fill, paper};
use super::*;
use crate::{Limits, Unaided, parse};

/// Sees these words, and keeps what it was shown.
struct Seer {
    words: Vec<SeenWord>,
    /// Not seen at first.
    overlooked: &'static [&'static str],
    shown: Mutex<Vec<Image>>,
}

impl Helpers for Seer {
    fn recognize(&self, image: &Image, scale: f32) -> Result<Vec<SeenWord>, Unavailable> {
        let mut shown = self.shown.lock().unwrap();
        shown.push(image.clone());
        let is_seen =
            |word: &&SeenWord| 1 < shown.len() || !self.overlooked.contains(&word.text.as_str());
        let scaled = |word: &SeenWord| {
            let Area { left, top, right, bottom } = word.area;
            let [left, top, right, bottom] = [left, top, right, bottom].map(|edge| edge * scale);
            SeenWord { area: Area { left, top, right, bottom }, ..word.clone() }
        };
        Ok(self.words.iter().filter(is_seen).map(scaled).collect())
    }

    fn convert(&self, bytes: &[u8], from: &str) -> Result<Vec<u8>, Unavailable> {
        Unaided.convert(bytes, from)
    }
}

/// Words of ten pixels' height: text, left, top; a line each, and those of a number a paragraph.
fn words(words: &[(&str, f32, f32, u32)]) -> Vec<SeenWord> {
    let word = |(line, (text, left, top, paragraph)): (u32, &(&str, f32, f32, u32))| {
        let right = left + 7.0 * text.chars().count() as f32;
        let area = Area { left: *left, top: *top, right, bottom: top + 10.0 };
        let (text, paragraph) = ((*text).to_owned(), *paragraph);
        SeenWord { text, area, line, paragraph, confidence: 0.9 }
    };
    (0..).zip(words).map(word).collect()
}

fn run(grey: &Grey, words: Vec<SeenWord>) -> (String, Vec<Image>) {
    run_overlooking(&[], grey, words)
}

fn run_overlooking(
    overlooked: &'static [&'static str],
    grey: &Grey,
    words: Vec<SeenWord>,
) -> (String, Vec<Image>) {
    let seer = Seer { words, overlooked, shown: Mutex::default() };
    let image = grey.encode().unwrap();
    let parsed = parse("a.png", &image.bytes, &Limits::default(), &seer).unwrap();
    crate::sound::check(&parsed);
    (parsed.documents[0].text.clone(), seer.shown.into_inner().unwrap())
}

/// A table of three rows and columns, with rules this thick, and a title above.
fn ruled(thick: usize) -> Grey {
    let mut grey = paper(400, 300);
    for at in 0..4 {
        let (x, y) = (40 + at * 100, 60 + at * 40);
        fill(&mut grey, [40, y, 340 + thick, y + thick], 30);
        fill(&mut grey, [x, 60, x + thick, 180 + thick], 30);
    }
    grey
}

const CELLS: [(&str, f32, f32, u32); 10] = [
    ("Name", 50.0, 74.0, 1),
    ("Ada", 50.0, 114.0, 1),
    ("Bob", 50.0, 154.0, 1),
    ("Cranes", 150.0, 74.0, 2),
    ("5", 150.0, 114.0, 2),
    ("12", 150.0, 154.0, 2),
    ("Tons", 250.0, 74.0, 3),
    ("7", 250.0, 114.0, 3),
    ("8", 250.0, 154.0, 3),
    ("Above", 50.0, 20.0, 4),
];

#[test]
fn a_table_with_rules() {
    for thick in 1..4 {
        let (text, shown) = run(&ruled(thick), words(&CELLS));
        insta::allow_duplicates! {
            insta::assert_snapshot!(text, @"
            Above

            Name | Cranes | Tons
            Ada | 5 | 7
            Bob | 12 | 8

            [Figure 1]
            ");
        }
        // What was shown has no rules.
        let [clean] = &shown[..] else { panic!("{}", shown.len()) };
        let left = Grey::of(clean).unwrap().data.iter().filter(|pixel| **pixel < 250).count();
        assert_eq!(left, 0, "{thick}");
    }
}

/// What is overlooked without rules may be seen with them; what is seen twice comes once, and nothing
/// but cells is taken from the second look.
#[test]
fn empty_cells_are_looked_at_again() {
    let (text, shown) = run_overlooking(&["5", "8", "Above"], &ruled(2), words(&CELLS));
    insta::assert_snapshot!(text, @"
    Name | Cranes | Tons
    Ada | 5 | 7
    Bob | 12 | 8

    [Figure 1]
    ");
    assert_eq!(shown.len(), 2);
}

/// Each cell may be a box of its own.
#[test]
fn boxes_side_by_side_are_a_table() {
    let mut grey = paper(400, 300);
    for at in 0..9 {
        let (x, y) = (40 + at % 3 * 100, 60 + at / 3 * 40);
        fill(&mut grey, [x, y, x + 96, y + 36], 0);
        fill(&mut grey, [x + 1, y + 1, x + 95, y + 35], 255);
    }
    let image = grey.encode().unwrap();
    let seer = Seer { words: words(&CELLS), overlooked: &[], shown: Mutex::default() };
    let said = said(&look(&image, 1.0, &seer).unwrap());
    let [_, (area, Body::Table(grid))] = &said.pieces[..] else { panic!() };
    assert_eq!(grid.rows, [["Ada", "5", "7"], ["Bob", "12", "8"]]);
    // The box of its rules, not of its words.
    assert!(area.left < 42.0 && 334.0 < area.right, "{area:?}");
}

/// The stem of a large letter reaches nearly from rule to rule, yet it parts no cell.
#[test]
fn stems_of_large_letters_are_no_walls() {
    let mut grey = paper(1_100, 400);
    for at in 0..4 {
        let (x, y) = (60 + at * 300, 100 + at * 48);
        fill(&mut grey, [60, y, 962, y + 2], 0);
        fill(&mut grey, [x, 100, x + 2, 246], 0);
    }
    let cells = [
        ("Title", 30.0, 57.0, 1),
        ("Bolt", 30.0, 81.0, 1),
        ("Full", 30.0, 105.0, 1),
        ("Place", 190.0, 57.0, 2),
        ("Hall", 190.0, 81.0, 2),
        ("Hut", 190.0, 105.0, 2),
        ("Price", 340.0, 57.0, 3),
        ("12", 340.0, 81.0, 3),
        ("7", 340.0, 105.0, 3),
    ];
    let mut words = words(&cells);
    for word in &mut words {
        let Area { left, top, right, bottom } = word.area;
        let [left, top, right, bottom] = [left, top, right, bottom].map(|edge| 2.0 * edge);
        word.area = Area { left, top, right, bottom };
        // A stem between its first two letters, and one before its last.
        for x in [left + 14.0, right - 14.0] {
            let (x, y) = (x as usize, top as usize - 1);
            fill(&mut grey, [x, y, x + 3, y + 22], 0);
        }
    }
    let (text, _) = run(&grey, words);
    insta::assert_snapshot!(text, @"
    Title | Place | Price
    Bolt | Hall | 12
    Full | Hut | 7

    [Figure 1]
    ");
}

#[test]
fn without_rules_alignment_decides() {
    let (text, shown) = run(&paper(400, 300), words(&CELLS));
    insta::assert_snapshot!(text, @"
    Above

    Name | Cranes | Tons
    Ada | 5 | 7
    Bob | 12 | 8

    [Figure 1]
    ");
    assert_eq!(shown.len(), 1);
}

/// Where the words of a frame are not found, the picture itself is shown.
#[test]
fn a_frame_without_words_is_no_table() {
    let (text, shown) = run(&ruled(2), words(&CELLS[9..]));
    assert_eq!(text, "Above\n\n[Figure 1]");
    assert_eq!(shown.len(), 2);
    assert!(Grey::of(&shown[1]) == Some(ruled(2)));
}

/// Signs near a rule are text; a rule that the program took for a sign is not.
#[test]
fn signs_over_an_underline_are_text() {
    let seen = words(&[
        ("Report", 20.0, 20.0, 0),
        ("–", 70.0, 20.0, 0),
        ("2024", 85.0, 20.0, 0),
        ("=", 120.0, 20.0, 0),
        ("draft", 135.0, 20.0, 0),
        ("—", 180.0, 20.0, 0),
        ("[", 200.0, 20.0, 0),
        ("part", 215.0, 20.0, 0),
        ("]", 250.0, 20.0, 0),
        // What the program takes the rules for.
        ("__", 130.0, 24.0, 1),
        ("------", 30.0, 24.0, 2),
        ("|", 263.0, 20.0, 3),
    ]);
    let flat = Rule { flat: true, at: 32.0, from: 20.0, to: 270.0 };
    let upright = Rule { flat: false, at: 266.5, from: 10.0, to: 60.0 };
    let seen = seen.into_iter().map(|word| SeenWord { line: word.paragraph, ..word }).collect();
    let said = said(&Seen { words: seen, rules: vec![flat, upright] });
    let [(_, Body::Text(lines))] = &said.pieces[..] else { panic!("{:?}", said.pieces) };
    assert_eq!(lines[0].text.text, "Report – 2024 = draft — [ part ]");
}

#[test]
fn uncertain_words_are_told() {
    let mut words = words(&[
        ("The", 10.0, 10.0, 0),
        ("Geschaeftsstelle", 40.0, 10.0, 0),
        ("is", 160.0, 10.0, 0),
        ("~.", 180.0, 10.0, 0),
        ("here", 200.0, 10.0, 0),
        ("and", 240.0, 10.0, 0),
        ("there", 270.0, 10.0, 0),
        ("stain", 10.0, 90.0, 1),
    ]);
    for word in &mut words {
        word.line = word.paragraph;
    }
    words[7].confidence = 0.1;
    words[1].confidence = 0.0;
    words[3].confidence = 0.0;
    let said = said(&Seen { words, rules: Vec::new() });
    assert_eq!(said.problem().unwrap(), "1 of 8 words were recognised with little certainty");
    let [(_, Body::Text(lines))] = &said.pieces[..] else { panic!() };
    assert_eq!(lines[0].text.text, "The Geschaeftsstelle is here and there");
}

/// All that could take time or memory: nothing is found, soon.
#[test]
fn hostile_pictures_cost_little() {
    let start = Instant::now();
    let mut squares = paper(1_000, 1_000);
    for y in (0..1_000).step_by(12) {
        fill(&mut squares, [0, y, 1_000, y + 1], 0);
        (0..1_000).for_each(|line| fill(&mut squares, [y, line, y + 1, line + 1], 0));
    }
    let mut everywhere: Vec<SeenWord> = Vec::new();
    for at in 0..4_000_u16 {
        let (x, y) = (f32::from(at % 80) * 12.0 + 2.0, f32::from(at / 80) * 20.0);
        everywhere.extend(words(&[("a", x, y, u32::from(at))]));
    }
    run(&squares, everywhere);
    let black = Grey { width: 1_000, height: 1_000, data: vec![0; 1_000_000] };
    assert_eq!(run(&black, Vec::new()).0, "[Figure 1]");
    let mut huge = black.encode().unwrap();
    huge.bytes[16..24].copy_from_slice(&[0, 0, 0xff, 0, 0, 0, 0xff, 0]);
    assert_eq!(Grey::of(&huge), None);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Each word comes out once, in a table or in a paragraph, wherever words and rules are. (Words on
    /// top of one another would be read as one.)
    #[test]
    fn no_word_is_lost_or_doubled(
        places in prop::collection::btree_map((0..6_u16, 0..8_u16), (0..4_u32, 0..5_u8), 0..48),
        rules in prop::collection::vec((any::<bool>(), 0..8_u16, 0..4_u16, 1..8_u16), 0..24),
    ) {
        let mut seen = Vec::new();
        for (number, ((x, y), (paragraph, shift))) in places.into_iter().enumerate() {
            let text = format!("w{number}");
            let (left, top) = (f32::from(x) * 60.0 + f32::from(shift), f32::from(y) * 18.0);
            seen.extend(words(&[(&text, left, top, paragraph)]));
        }
        let rules = rules.into_iter().map(|(flat, at, from, long)| {
            let step = if flat { (18.0, 60.0) } else { (60.0, 18.0) };
            let (at, from) = (f32::from(at) * step.0 - 3.0, f32::from(from) * step.1 - 3.0);
            Rule { flat, at, from, to: from + f32::from(long) * step.1 }
        });
        let rules: Vec<Rule> = rules.collect();
        let said = said(&Seen { words: seen.clone(), rules });
        let mut text = String::new();
        for (_, body) in &said.pieces {
            match body {
                Body::Text(lines) => {
                    text.extend(lines.iter().flat_map(|line| [line.text.text.as_str(), " "]));
                }
                Body::Table(grid) => {
                    let cells = grid.rows.iter().chain([&grid.header]).flatten();
                    text.extend(cells.flat_map(|cell| [cell.as_str(), " "]));
                }
                Body::Figure(_) => {}
            }
        }
        let mut found: Vec<&str> = text.split_whitespace().collect();
        found.sort_unstable();
        let mut expected: Vec<&str> = seen.iter().map(|word| word.text.as_str()).collect();
        expected.sort_unstable();
        prop_assert_eq!(found, expected);
    }
}
