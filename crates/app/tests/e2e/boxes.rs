//! Tests that chunks and citations carry the page and position of each of their lines.

use std::fmt::Write;

use serde_json::Value;

use crate::common::Place;

/// A paragraph spans two pages. Each of its lines has a page and an area, and a citation names only
/// the lines that it quotes.
#[test]
fn every_line_of_chunks_and_citations_has_page_and_area() {
    let place = Place::new();
    let pages: [&[&str]; 2] = [
        &[
            "The crane of the harbour lifts five tons when the wind",
            "blows from the north and eleven tons in the calm, but the",
        ],
        &[
            "inspector signs each of the lifts in spring and in autumn.",
            "Adaeze Okonkwo keeps the green book of lifts in Windhoek.",
        ],
    ];
    place.write("docs/lifts.pdf", pdf(&pages));
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let found =
        place.run_to(0, &["--base", "base", "--json", "search", "--by", "words", "lifts"]).json();
    let boxes = found[0]["chunk"]["boxes"].as_array().unwrap();
    let text = found[0]["chunk"]["text"].as_str().unwrap();
    let found_lines: Vec<_> =
        boxes.iter().map(|line| (line["page"].as_u64().unwrap(), text_in(text, line))).collect();
    let lines: Vec<_> = [(1, pages[0]), (2, pages[1])]
        .into_iter()
        .flat_map(|(page, lines)| lines.iter().map(move |line| (page, *line)))
        .collect();
    assert_eq!(found_lines, lines);
    let top = |line: &Value| line["area"]["top"].as_f64().unwrap();
    // The baselines are 700, 686, 600 and 586 points above the lower edge; pages are 800 points
    // high.
    for (line, base) in boxes.iter().zip([100.0, 114.0, 200.0, 214.0]) {
        assert!((base - 14.0..base).contains(&top(line)), "{line:#}");
        assert!((49.0..52.0).contains(&line["area"]["left"].as_f64().unwrap()), "{line:#}");
    }
    let exported = place.export("base");
    let chunk = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let chunk = chunk.into_iter().find(|line| line["node"] == "chunk").unwrap();
    assert_eq!(chunk["boxes"], found[0]["chunk"]["boxes"]);

    let ask = [
        "--base",
        "base",
        "--json",
        "--offline",
        "ask",
        "Where does Adaeze Okonkwo keep the green book?",
    ];
    let answer = place.run_to(0, &ask).json()["answer"].clone();
    let citation = &answer["citations"][0];
    assert_eq!(citation["quote"], pages[1][1], "{answer:#}");
    assert_eq!(
        (&citation["page"], &citation["boxes"]),
        (&2.into(), &serde_json::json!([boxes[3]]))
    );
}

fn text_in<'a>(text: &'a str, line: &Value) -> &'a str {
    let end = |name: &str| usize::try_from(line["span"][name].as_u64().unwrap()).unwrap();
    text.get(end("start")..end("end")).unwrap().trim()
}

/// A PDF with these lines on each page. The first baseline is 700 points above the lower edge on
/// the first page, 600 on the second and so on; after 100 it is 700 again.
pub(crate) fn pdf(pages: &[&[&str]]) -> Vec<u8> {
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
    let mut objects =
        vec!["<</Type/Catalog/Pages 2 0 R>>".to_owned(), String::new(), font.to_owned()];
    let mut kids = String::new();
    for (page, lines) in pages.iter().enumerate() {
        let shown = format!("({}) Tj T*", lines.join(") Tj T*\n("));
        let content = format!("BT /F1 12 Tf 14 TL 50 {} Td\n{shown}\nET\n", 700 - 100 * (page % 7));
        write!(kids, "{} 0 R ", objects.len() + 1).unwrap();
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents {} 0 R>>",
            objects.len() + 2
        ));
        objects.push(format!("<</Length {}>>stream\n{content}\nendstream", content.len()));
    }
    objects[1] = format!("<</Type/Pages/Kids[{kids}]/Count {}>>", pages.len());
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = String::new();
    for (number, object) in (1..).zip(&objects) {
        writeln!(offsets, "{:010} 00000 n ", file.len()).unwrap();
        write!(file, "{number} 0 obj\n{object}\nendobj\n").unwrap();
    }
    let (start, size) = (file.len(), objects.len() + 1);
    write!(file, "xref\n0 {size}\n0000000000 65535 f \n{offsets}trailer\n").unwrap();
    write!(file, "<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF").unwrap();
    file.into_bytes()
}
