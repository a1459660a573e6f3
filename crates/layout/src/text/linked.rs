//! Keeps the links of a text.

/// A text with the places of its links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkedText {
    /// The text itself, which may be empty.
    pub text: String,
    /// (start, end, target): bytes of the text, in rising order, without overlaps.
    pub links: Vec<(usize, usize, String)>,
}

impl From<&str> for LinkedText {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), links: Vec::new() }
    }
}

impl LinkedText {
    /// Adds text without a link.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds text with a link to `target`; extends the last link if that ends there and has the same
    /// target.
    pub fn push_link(&mut self, text: &str, target: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        let end = self.text.len();
        match self.links.last_mut() {
            // One link whose words have several styles remains one link.
            Some((_, last, same)) if *last == start && same == target => *last = end,
            _ if start < end => self.links.push((start, end, target.to_owned())),
            _ => {}
        }
    }
}
