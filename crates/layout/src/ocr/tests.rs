//! Tests the layout of recognised words.

use proptest::prelude::*;

use super::*;

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

/// A sign near a rule is text; a rule that the program read as a sign is not.
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
        // Rules that the program reads as signs.
        ("__", 130.0, 24.0, 1),
        ("------", 30.0, 24.0, 2),
        ("|", 263.0, 20.0, 3),
    ]);
    let flat = Rule { flat: true, at: 32.0, from: 20.0, to: 270.0 };
    let upright = Rule { flat: false, at: 266.5, from: 10.0, to: 60.0 };
    let seen =
        seen.into_iter().map(|word| RecognizedWord { line: word.paragraph, ..word }).collect();
    let layout = lay_out(&Recognized { words: seen, rules: vec![flat, upright] });
    let [(_, Body::Text(lines))] = &layout.pieces[..] else { panic!("{:?}", layout.pieces) };
    assert_eq!(lines[0].text.text, "Report – 2024 = draft — [ part ]");
}

#[test]
fn uncertain_words_are_reported() {
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
    let layout = lay_out(&Recognized { words, rules: Vec::new() });
    assert_eq!(
        layout.problem().unwrap().to_string(),
        "1 of 8 words were recognised with little certainty"
    );
    let [(_, Body::Text(lines))] = &layout.pieces[..] else { panic!() };
    assert_eq!(lines[0].text.text, "The Geschaeftsstelle is here and there");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Each word appears once, in a table or in a paragraph, for any places of words and rules.
    /// Words on top of one another would be read as one, so the words do not overlap.
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
        let layout = lay_out(&Recognized { words: seen.clone(), rules });
        let mut text = String::new();
        for (_, body) in &layout.pieces {
            match body {
                Body::Text(lines) => {
                    text.extend(lines.iter().flat_map(|line| [line.text.text.as_str(), " "]));
                }
                Body::Table(table) => {
                    let cells = table.rows.iter().chain([&table.header]).flatten();
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
