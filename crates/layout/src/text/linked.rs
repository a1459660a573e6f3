//! How does text keep its links?

/// Text, and where in it links stand.
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
    /// Adds text that leads nowhere.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds text that leads to `target`; where the last link ends there and leads to the same, it
    /// grows.
    pub fn push_link(&mut self, text: &str, target: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        let end = self.text.len();
        match self.links.last_mut() {
            // A link whose words are set in several styles is one link still.
            Some((_, last, same)) if *last == start && same == target => *last = end,
            _ if start < end => self.links.push((start, end, target.to_owned())),
            _ => {}
        }
    }
}
