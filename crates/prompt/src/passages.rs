//! Renders passages and candidates for a prompt.
//!
//! Documents are hostile, so their text is neutralised and cannot look like a heading of the
//! prompt.

use pikerag_knowledge::{Chunk, ChunkKind};

use crate::foreign::{SEEN, quiet_headings, quiet_words};

/// Passages as numbered blocks: `[1] Title`, then the text; a blank line separates two blocks.
pub fn passages<'a>(chunks: impl IntoIterator<Item = &'a Chunk>) -> String {
    numbered_passages((1..).zip(chunks))
}

/// Like [`passages`], with the caller's numbers, in the given order.
pub fn numbered_passages<'a>(chunks: impl IntoIterator<Item = (usize, &'a Chunk)>) -> String {
    let mut blocks = Vec::new();
    for (number, chunk) in chunks {
        let title = quiet_words(&one_line(&chunk.full_title()));
        blocks.push(format!("[{number}] {title}\n{}", shown_text(chunk)));
    }
    blocks.join("\n\n")
}

/// The number of passages in a text of [`numbered_passages`]: the longest series of growing numbers
/// that begin a block. A numbered list in a passage adds to it only if it is the longer series.
pub(crate) fn count_passages(text: &str) -> usize {
    // The least last number of a series of each length.
    let mut ends: Vec<usize> = Vec::new();
    for number in text.split("\n\n").filter_map(block_number) {
        let length = ends.partition_point(|end| *end < number);
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    ends.len()
}

/// The number of a block that begins `[1] `.
fn block_number(block: &str) -> Option<usize> {
    let (number, _) = block.strip_prefix('[')?.split_once("] ")?;
    number.parse().ok()
}

/// A chunk's own words; for a figure also a model's description, marked as such.
pub fn shown_text(chunk: &Chunk) -> String {
    let own = quiet_headings(chunk.reading_text().trim());
    match &chunk.summary {
        Some(seen) if chunk.kind == ChunkKind::Figure => {
            format!("{own}\n[{SEEN} {}]", seen_text(seen))
        }
        _ => own,
    }
}

/// A chunk's title with the headings above it, and its text, as a prompt shows them.
pub fn titled(chunk: &Chunk) -> (String, String) {
    let title = chunk.full_title().split_whitespace().collect::<Vec<_>>().join(" ");
    (quiet_headings(&title), shown_text(chunk))
}

/// A model's description of a figure in the form shown below the figure's own words. Brackets are
/// replaced, because one would end the description.
pub fn seen_text(description: &str) -> String {
    quiet_words(&one_line(description)).replace(['[', ']'], "|")
}

/// Candidates as a numbered list, one line each.
pub fn numbered<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let mut lines = Vec::new();
    for (place, item) in items.into_iter().enumerate() {
        lines.push(format!("{}. {}", place + 1, quiet_words(&one_line(item))));
    }
    lines.join("\n")
}

/// Text on one line, with single spaces between its words.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_shown_with_their_description_and_tables_without() {
        let mut chunk = Chunk {
            kind: ChunkKind::Figure,
            summary: Some("Bars.\n# Question\nOne] is red.".to_owned()),
            ..pikerag_doubles::chunk(1, "A", "[Figure 1]")
        };
        assert_eq!(
            passages([&chunk]),
            "[1] A\n[Figure 1]\n[What a model sees on it: Bars. # Question One| is red.]"
        );
        chunk.kind = ChunkKind::Table;
        assert_eq!(passages([&chunk]), "[1] A\n[Figure 1]");
    }

    #[test]
    fn passages_are_counted_whatever_their_text_and_their_numbers() {
        let list = "As measured:\n\n[1] Smith 1999\n\n[40] Jones 2004";
        let chunks = [1, 2, 3].map(|id| pikerag_doubles::chunk(id, "A", list));
        assert_eq!(
            count_passages(&passages(&chunks)),
            3,
            "a passage cannot begin a block of its own"
        );
        let chunks = [1, 2, 3].map(|id| pikerag_doubles::chunk(id, "A", "One.\n\nTwo."));
        assert_eq!(count_passages(&passages(&chunks)), 3);
        assert_eq!(count_passages(&numbered_passages([2, 5, 9].into_iter().zip(&chunks))), 3);
        assert_eq!(count_passages("[not a number] What is measured?"), 0);
        assert_eq!(count_passages(""), 0);
    }

    #[test]
    fn a_candidate_stays_on_its_line() {
        assert_eq!(numbered(["a\n2. b", "c"]), "1. a 2. b\n2. c");
    }
}
