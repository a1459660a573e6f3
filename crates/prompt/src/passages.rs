//! How do passages and candidates look inside a prompt? Documents are hostile: nothing in them may
//! pass for a heading of ours.

use pikerag_knowledge::{Chunk, ChunkKind};

use crate::foreign::{SEEN, quiet_headings, quiet_words};

/// Passages as numbered blocks, `[1] Title` and the text below, a blank line between two.
pub fn passages<'a>(chunks: impl IntoIterator<Item = &'a Chunk>) -> String {
    numbered_passages((1..).zip(chunks))
}

/// The same with numbers of their own, in the order given.
pub fn numbered_passages<'a>(chunks: impl IntoIterator<Item = (usize, &'a Chunk)>) -> String {
    let mut blocks = Vec::new();
    for (number, chunk) in chunks {
        let title = quiet_words(&one_line(&chunk.full_title()));
        blocks.push(format!("[{number}] {title}\n{}", shown_text(chunk)));
    }
    blocks.join("\n\n")
}

/// A chunk's own words; below those of a figure what a model has seen on it, marked as such.
pub fn shown_text(chunk: &Chunk) -> String {
    let own = quiet_headings(chunk.reading_text().trim());
    match &chunk.summary {
        Some(seen) if chunk.kind == ChunkKind::Figure => {
            format!("{own}\n[{SEEN} {}]", seen_text(seen))
        }
        _ => own,
    }
}

/// A chunk's title, with the headings above it, and its text, as a prompt shows them.
pub fn titled(chunk: &Chunk) -> (String, String) {
    let title = chunk.full_title().split_whitespace().collect::<Vec<_>>().join(" ");
    (quiet_headings(&title), shown_text(chunk))
}

/// What a model said of a figure, as it is shown below the figure's own words: brackets would end it.
pub fn seen_text(said: &str) -> String {
    quiet_words(&one_line(said)).replace(['[', ']'], "|")
}

/// Candidates as a numbered list, one line each.
pub fn numbered<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let mut lines = Vec::new();
    for (place, item) in items.into_iter().enumerate() {
        lines.push(format!("{}. {}", place + 1, quiet_words(&one_line(item))));
    }
    lines.join("\n")
}

/// Text on one line, blanks between its words.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_shown_with_what_a_model_sees_and_a_table_is_not() {
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
    fn a_candidate_stays_on_its_line() {
        assert_eq!(numbered(["a\n2. b", "c"]), "1. a 2. b\n2. c");
    }
}
