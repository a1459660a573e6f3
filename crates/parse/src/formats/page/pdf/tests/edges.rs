//! Tests which texts at the edges of pages are repeats.

use super::{pdf, text};
use crate::{Limits, NoTools, parse};

const BODY: &str = "The sums of this page are above.";

/// A page of text with these amounts and the page's number below.
fn page(number: usize, amounts: &[&str]) -> String {
    let mut page =
        text("F1", 10, 60, 600, &[BODY]) + &text("F1", 9, 60, 20, &[&format!("{number} / 3")]);
    for (x, amount) in (200..).step_by(100).zip(amounts) {
        page += &text("F1", 9, x, 60, &[amount]);
    }
    page
}

/// The text besides the body, in the order of its words.
fn kept(pages: &[String]) -> Vec<String> {
    let pages: Vec<(&str, &str)> = pages.iter().map(|page| (page.as_str(), "")).collect();
    let parsed = parse("a.pdf", &pdf(&pages, &[]), &Limits::default(), &NoTools).unwrap();
    let pieces = parsed.documents[0].text.split('\n');
    let mut kept: Vec<String> =
        pieces.filter(|piece| !piece.is_empty() && *piece != BODY).map(str::to_owned).collect();
    kept.sort();
    kept
}

#[test]
fn amounts_of_one_page_are_no_repeats() {
    let bill = page(1, &["100.00", "19.00", "119.00"]);
    assert_eq!(kept(&[bill]), ["1 / 3", "100.00", "119.00", "19.00"]);
    // Three pieces, but on only two pages.
    let labels = [page(1, &["EUR 7", "EUR 8"]), page(2, &["EUR 9"]), page(3, &[])];
    assert_eq!(kept(&labels), ["EUR 7", "EUR 8", "EUR 9"]);
}

#[test]
fn page_numbers_rise_with_the_pages() {
    let bills = [
        page(1, &["100.00", "VAT 19"]),
        page(2, &["250.00", "VAT 20"]),
        page(3, &["119.00", "VAT 21"]),
    ];
    assert_eq!(kept(&bills), ["100.00", "119.00", "250.00", "VAT 19"]);
}
