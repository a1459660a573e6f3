//! Tests recognition with pictures that are drawn here.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use pikerag_knowledge::Area;
use pikerag_layout::ocr::{RecognizedWord, lay_out};
use pikerag_layout::piece::Body;
use pikerag_layout::raster::Grey;

use super::decode::{decode, encode};
use super::*;
use crate::{Limits, NoTools, parse};

fn paper(width: usize, height: usize) -> Grey {
    Grey { width, height, data: vec![255; width * height] }
}

/// Paints a box: left, top, right, bottom.
fn fill(grey: &mut Grey, [left, top, right, bottom]: [usize; 4], light: u8) {
    for y in top..bottom {
        grey.data[y * grey.width + left..y * grey.width + right].fill(light);
    }
}

/// Recognises these words, and keeps the pictures that it received.
struct FakeOcr {
    words: Vec<RecognizedWord>,
    /// Words that it misses on the first picture.
    overlooked: &'static [&'static str],
    shown: Mutex<Vec<Image>>,
}

impl ExternalTools for FakeOcr {
    fn recognize(&self, image: &Image, scale: f32) -> Result<Vec<RecognizedWord>, Unavailable> {
        let mut shown = self.shown.lock().unwrap();
        shown.push(image.clone());
        let is_seen = |word: &&RecognizedWord| {
            1 < shown.len() || !self.overlooked.contains(&word.text.as_str())
        };
        let scaled = |word: &RecognizedWord| {
            let Area { left, top, right, bottom } = word.area;
            let [left, top, right, bottom] = [left, top, right, bottom].map(|edge| edge * scale);
            RecognizedWord { area: Area { left, top, right, bottom }, ..word.clone() }
        };
        Ok(self.words.iter().filter(is_seen).map(scaled).collect())
    }

    fn convert(&self, bytes: &[u8], from: &str) -> Result<Vec<u8>, Unavailable> {
        NoTools.convert(bytes, from)
    }
}

/// Words ten pixels high: text, left, top, paragraph; each is a line of its own.
fn words(words: &[(&str, f32, f32, u32)]) -> Vec<RecognizedWord> {
    let word = |(line, (text, left, top, paragraph)): (u32, &(&str, f32, f32, u32))| {
        let right = left + 7.0 * text.chars().count() as f32;
        let area = Area { left: *left, top: *top, right, bottom: top + 10.0 };
        let (text, paragraph) = ((*text).to_owned(), *paragraph);
        RecognizedWord { text, area, line, paragraph, confidence: 0.9 }
    };
    (0..).zip(words).map(word).collect()
}

fn run(grey: &Grey, words: Vec<RecognizedWord>) -> (String, Vec<Image>) {
    run_overlooking(&[], grey, words)
}

fn run_overlooking(
    overlooked: &'static [&'static str],
    grey: &Grey,
    words: Vec<RecognizedWord>,
) -> (String, Vec<Image>) {
    let ocr = FakeOcr { words, overlooked, shown: Mutex::default() };
    let image = encode(grey).unwrap();
    let parsed = parse("a.png", &image.bytes, &Limits::default(), &ocr).unwrap();
    crate::test_support::check(&parsed);
    (parsed.documents[0].text.clone(), ocr.shown.into_inner().unwrap())
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
        // The picture that the program received has no rules.
        let [clean] = &shown[..] else { panic!("{}", shown.len()) };
        let left = decode(clean).unwrap().data.iter().filter(|pixel| **pixel < 250).count();
        assert_eq!(left, 0, "{thick}");
    }
}

/// Words missed without rules may be found with them. A word found twice appears once, and only
/// words in cells come from the second picture.
#[test]
fn empty_cells_are_read_from_the_original_picture() {
    let (text, shown) = run_overlooking(&["5", "8", "Above"], &ruled(2), words(&CELLS));
    insta::assert_snapshot!(text, @"
    Name | Cranes | Tons
    Ada | 5 | 7
    Bob | 12 | 8

    [Figure 1]
    ");
    assert_eq!(shown.len(), 2);
}

/// Each cell may be a separate box.
#[test]
fn boxes_side_by_side_are_a_table() {
    let mut grey = paper(400, 300);
    for at in 0..9 {
        let (x, y) = (40 + at % 3 * 100, 60 + at / 3 * 40);
        fill(&mut grey, [x, y, x + 96, y + 36], 0);
        fill(&mut grey, [x + 1, y + 1, x + 95, y + 35], 255);
    }
    let image = encode(&grey).unwrap();
    let ocr = FakeOcr { words: words(&CELLS), overlooked: &[], shown: Mutex::default() };
    let layout = lay_out(&recognize(&image, 1.0, &ocr).unwrap());
    let [_, (area, Body::Table(table))] = &layout.pieces[..] else { panic!() };
    assert_eq!(table.rows, [["Ada", "5", "7"], ["Bob", "12", "8"]]);
    // The box of its rules, not of its words.
    assert!(area.left < 42.0 && 334.0 < area.right, "{area:?}");
}

/// The stem of a large letter almost reaches from rule to rule, but does not separate cells.
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

/// If no words are found in a frame, the program gets the original picture.
#[test]
fn a_frame_without_words_is_no_table() {
    let (text, shown) = run(&ruled(2), words(&CELLS[9..]));
    assert_eq!(text, "Above\n\n[Figure 1]");
    assert_eq!(shown.len(), 2);
    assert!(decode(&shown[1]) == Some(ruled(2)));
}

/// Slow or large inputs: nothing is found, quickly.
#[test]
fn hostile_pictures_cost_little() {
    let start = Instant::now();
    let mut squares = paper(1_000, 1_000);
    for y in (0..1_000).step_by(12) {
        fill(&mut squares, [0, y, 1_000, y + 1], 0);
        (0..1_000).for_each(|line| fill(&mut squares, [y, line, y + 1, line + 1], 0));
    }
    let mut everywhere: Vec<RecognizedWord> = Vec::new();
    for at in 0..4_000_u16 {
        let (x, y) = (f32::from(at % 80) * 12.0 + 2.0, f32::from(at / 80) * 20.0);
        everywhere.extend(words(&[("a", x, y, u32::from(at))]));
    }
    run(&squares, everywhere);
    let black = Grey { width: 1_000, height: 1_000, data: vec![0; 1_000_000] };
    assert_eq!(run(&black, Vec::new()).0, "[Figure 1]");
    let mut huge = encode(&black).unwrap();
    huge.bytes[16..24].copy_from_slice(&[0, 0, 0xff, 0, 0, 0, 0xff, 0]);
    assert_eq!(decode(&huge), None);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
