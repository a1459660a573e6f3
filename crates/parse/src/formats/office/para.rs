//! Gathers a paragraph of an Office document: its text with links, and its attachments.

use crate::document::writing::LinkedText;

/// A paragraph so far.
pub(super) struct Para<A> {
    pub(super) visible: LinkedText,
    /// Text that the program hides.
    pub(super) hidden: String,
    /// Its attachments, in the order of the file.
    pub(super) after: Vec<A>,
    /// Whether all visible words so far are bold.
    pub(super) is_bold: bool,
}

/// The style of a text.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) link: Option<&'c str>,
    pub(super) is_hidden: bool,
    pub(super) is_bold: bool,
    /// `true` for superscript, `false` for subscript.
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

    /// Adds text unchanged.
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
