//! Reads plain text as paragraphs that blank lines separate.

use pikerag_knowledge::{BlockKind, Document, Span};

use crate::document::blocks::{add_block, one_line};
use crate::document::file::TextFile;

/// The longest first line that may be a title, in characters.
const LONGEST_TITLE: usize = 100;

/// Reads plain text: one block per paragraph, spans in the file's own text.
pub(crate) fn read(mut file: TextFile) -> Document {
    let text = std::mem::take(&mut file.text);
    let mut blocks = Vec::new();
    for span in paragraphs(&text) {
        add_block(&mut blocks, &text, BlockKind::Paragraph, span);
    }
    let title = match blocks.as_slice() {
        [first, _, ..] => first.span.of(&text).filter(|line| is_title(line)).and_then(one_line),
        _ => None,
    };
    file.document(title, text, blocks, Vec::new())
}

/// Runs of lines that are not blank.
fn paragraphs(text: &str) -> Vec<Span> {
    // Files of the old Mac OS end lines with only a carriage return.
    let line_end = if text.contains('\n') { '\n' } else { '\r' };
    let mut paragraphs = Vec::new();
    let mut open: Option<Span> = None;
    let mut start = 0;
    for line in text.split_inclusive(line_end) {
        let end = start + line.len();
        if line.trim().is_empty() {
            paragraphs.extend(open.take());
        } else {
            open = Some(Span { start: open.map_or(start, |span| span.start), end });
        }
        start = end;
    }
    paragraphs.extend(open);
    paragraphs
}

/// Whether a line is short, has letters, and does not end like a sentence.
fn is_title(line: &str) -> bool {
    !line.contains(['\n', '\r'])
        && line.chars().count() <= LONGEST_TITLE
        && line.chars().any(char::is_alphabetic)
        && !line.ends_with(['.', ',', ';', ':', '!', '?', '。', ',', ';', ':', '!', '?', '…'])
}

#[cfg(test)]
mod tests {
    use crate::test_support::run;

    #[test]
    fn blank_lines_separate_paragraphs() {
        insta::assert_snapshot!(run("my_notes.txt", "Plan 计划\r\n\r\nFirst line\r\nsecond.\r\n \t\r\n第二段。\n"), @r#"
        == Plan 计划
        p "Plan 计划"
        p "First line\r\nsecond."
        p "第二段。"
        "#);
    }

    #[test]
    fn a_sentence_is_no_title() {
        insta::assert_snapshot!(run("my_notes.txt", "\u{feff}It ends here.\n\nMore"), @r#"
        == my notes
        p "It ends here."
        p "More"
        "#);
        insta::assert_snapshot!(run("my_notes.txt", "one line alone"), @r#"
        == my notes
        p "one line alone"
        "#);
        insta::assert_snapshot!(run("mac.txt", "one\r\rtwo"), @r#"
        == one
        p "one"
        p "two"
        "#);
    }

    #[test]
    fn a_blank_file_has_no_text() {
        insta::assert_snapshot!(run("a.txt", " \n\u{3000}\n"), @r"`a.txt` holds no text: check that it is the file you meant");
    }
}
