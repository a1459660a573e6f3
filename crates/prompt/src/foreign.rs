//! What does foreign text look like in a prompt? Like nothing of the prompt's own: no heading, no number of
//! a passage, no speaker, no token of a chat template, no character that is not seen.

mod lines;
mod tokens;
mod unseen;

use std::ops::Range;

pub(crate) use self::lines::SEEN;

/// Text as a prompt shows it, and where each character of it stands in the text it was made of.
///
/// Ordinary text is shown as it is, but that a line that begins with `#` is indented by one space. What would
/// pass for the prompt's own is changed as little as can be: a line becomes a quotation (`> `), the brackets of
/// a token become `‹›` or `()`, what is not seen is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    placed: Vec<Placed>,
}

/// A character, and what it stands for; for nothing where it was put in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Placed {
    c: char,
    of: Range<usize>,
}

impl Shown {
    /// Of a text with lines of its own.
    pub fn of(text: &str) -> Self {
        Self { placed: lines::quoted(&words(text)) }
    }

    /// What is shown.
    pub fn text(&self) -> String {
        self.placed.iter().map(|placed| placed.c).collect()
    }

    /// What a part of the shown text, in bytes, stands for in the source; none where it stands for nothing.
    pub fn source(&self, shown: &Range<usize>) -> Option<Range<usize>> {
        let mut at = 0;
        let mut source: Option<Range<usize>> = None;
        for placed in &self.placed {
            let here = shown.contains(&at) && !placed.of.is_empty();
            at += placed.c.len_utf8();
            if here {
                let start = source.map_or(placed.of.start, |before| before.start);
                source = Some(start..placed.of.end);
            }
        }
        source
    }
}

/// Text without what is not seen and with no token of a chat template, its lines left as they are: for what
/// stands within a line of the prompt.
pub fn quiet_words(text: &str) -> String {
    words(text).into_iter().map(|placed| placed.c).collect()
}

/// Text of one or more lines as a prompt shows it: see [`Shown`]. Not for text that has headings of ours.
pub fn quiet_headings(text: &str) -> String {
    Shown::of(text).text()
}

/// A prompt within a prompt: its headings are indented, so that they are none of the outer one's.
pub fn quiet_prompt(prompt: &str) -> String {
    lines::indented(&words(prompt)).into_iter().map(|placed| placed.c).collect()
}

fn words(text: &str) -> Vec<Placed> {
    tokens::disarmed(unseen::left_out(text))
}

#[cfg(test)]
mod tests;
