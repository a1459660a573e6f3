//! Neutralises foreign text in prompts.
//!
//! Foreign text cannot look like a part of the prompt: a heading, a passage number, a speaker, a
//! token of a chat template or an invisible character.

mod invisible;
mod lines;
mod tokens;

use std::ops::Range;

pub(crate) use self::lines::SEEN;

/// Text as a prompt shows it, with the place of each character in the source text.
///
/// Most text is unchanged, except that a line that begins with `#` is indented by one space. Text
/// that looks like a part of the prompt is changed as little as possible: a line becomes a
/// quotation (`> `), the brackets of a token become `‹›` or `()`, invisible characters are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    placed: Vec<Placed>,
}

/// A character with its range in the source; an inserted character has none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Placed {
    c: char,
    of: Range<usize>,
}

impl Shown {
    /// Neutralises a text of whole lines.
    pub fn of(text: &str) -> Self {
        Self { placed: lines::quoted(&words(text)) }
    }

    /// The text that the prompt shows.
    pub fn text(&self) -> String {
        self.placed.iter().map(|placed| placed.c).collect()
    }

    /// The range of the source that a byte range of the shown text comes from; `None` for inserted
    /// text.
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

/// Text without invisible characters and tokens of a chat template; its lines are unchanged. Use it
/// for text within a line of the prompt.
pub fn quiet_words(text: &str) -> String {
    words(text).into_iter().map(|placed| placed.c).collect()
}

/// Text of one or more lines as a prompt shows it: see [`Shown`]. Do not use it for text with
/// pikerag's own headings.
pub fn quiet_headings(text: &str) -> String {
    Shown::of(text).text()
}

/// Neutralises a prompt inside a prompt: its headings are indented, so they do not look like
/// headings of the outer prompt.
pub fn quiet_prompt(prompt: &str) -> String {
    lines::indented(&words(prompt)).into_iter().map(|placed| placed.c).collect()
}

fn words(text: &str) -> Vec<Placed> {
    tokens::disarmed(invisible::without_invisible(text))
}

#[cfg(test)]
mod tests;
