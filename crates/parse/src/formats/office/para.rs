//! Gathers a paragraph of an office document: its text with links, and what hangs on it.

use crate::document::writing::LinkedText;

/// A paragraph so far.
pub(super) struct Para<A> {
    pub(super) visible: LinkedText,
    /// Text that its program does not show.
    pub(super) hidden: String,
    /// What hangs on it, in the order of the file.
    pub(super) after: Vec<A>,
    /// Whether all words shown so far are bold.
    pub(super) is_bold: bool,
}

/// How a text of it is written.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) link: Option<&'c str>,
    pub(super) is_hidden: bool,
    pub(super) is_bold: bool,
    /// Above the line or below it.
    pub(super) raised: Option<bool>,
}

impl<A> Para<A> {
    pub(super) fn new() -> Self {
        Self {
            visible: LinkedText::default(),
            hidden: String::new(),
            after: Vec::new(),
            is_bold: true,
        }
    }

    /// Adds text as it is.
    pub(super) fn add(&mut self, text: &str, context: Context) {
        if context.is_hidden {
            self.hidden.push_str(text);
            return;
        }
        self.is_bold &= context.is_bold || text.trim().is_empty();
        match context.link {
            Some(target) => self.visible.push_link(text, target),
            None => self.visible.push(text),
        }
    }
}
