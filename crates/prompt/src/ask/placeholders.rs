//! Removes copies of a prompt's own format description from a reply: weak models return
//! `"words copied from passage 1"` in place of words from the passage.

use std::borrow::Cow;

/// The heading of the part of a template that describes the reply.
const FORMAT: &str = "# Output format";
/// The fewest characters of a description: a short one, such as `the answer`, may be a reply's own
/// words.
const SHORTEST: usize = 12;
/// A description of at least this many words also counts with another last word, as in
/// `words copied from passage 2`, and with this many words more.
const LONG: usize = 4;
const MORE: usize = 2;

/// The descriptions of values in a template's format, each as its words.
pub(super) struct Placeholders(Vec<Vec<String>>);

impl Placeholders {
    /// The strings of the format that describe values in words: they begin with a small letter and
    /// have several words. Keys and examples, such as `pump_failure`, have not.
    pub(super) fn of(template: &str) -> Self {
        let Some((_, format)) = template.split_once(FORMAT) else { return Self(Vec::new()) };
        let format = format.split("\n# ").next().unwrap_or_default();
        let mut descriptions = Vec::new();
        for text in format.split('"').filter(|text| text.starts_with(char::is_lowercase)) {
            // `…, or null` also stands for the description alone.
            let bare = text.split(", or null").next().unwrap_or_default();
            for description in [text, bare] {
                if SHORTEST <= description.chars().count() && description.contains(' ') {
                    descriptions.push(words(description));
                }
            }
        }
        descriptions.dedup();
        Self(descriptions)
    }

    /// A reply with an empty string in place of each string that repeats a description.
    pub(super) fn without<'r>(&self, reply: &'r str) -> Cow<'r, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(reply);
        }
        let (mut kept, mut end) = (String::new(), 0);
        let mut open: Option<usize> = None;
        // Each pair of neighbouring quotes is tried: a quote may be open in the text before the JSON.
        for (place, _) in reply.match_indices('"') {
            let inside = open.and_then(|open| reply.get(open..place));
            if let (Some(start), Some(inside)) = (open, inside)
                && self.is_repeated_by(inside)
            {
                kept.push_str(reply.get(end..start).unwrap_or_default());
                end = place;
            }
            open = Some(place + 1);
        }
        if end == 0 {
            return Cow::Borrowed(reply);
        }
        kept.push_str(reply.get(end..).unwrap_or_default());
        Cow::Owned(kept)
    }

    fn is_repeated_by(&self, text: &str) -> bool {
        if text.chars().count() < SHORTEST {
            return false;
        }
        let own = words(text);
        self.0.iter().any(|description| {
            let Some((_, beginning)) = description.split_last() else { return false };
            own == *description
                || (LONG <= description.len()
                    && own.starts_with(beginning)
                    && (description.len()..=description.len() + MORE).contains(&own.len()))
        })
    }
}

/// The words of a text without case and punctuation.
fn words(text: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEMPLATE: &str = "# Task\nCopy \"the words of the passage\".\n\n# Output format\nA JSON object:\n\
        {\"answer\": \"the answer\", \"lacking\": \"what the passages do not tell, or null\", \"kind\": \"pump_failure\", \
        \"why\": number of the class, \"quote\": \"words copied from passage 1\", \"description\": \"A failure of a pump\"}\n\n\
        # Example\n{\"answer\": \"the harbour of Oslo\"}";

    fn without(reply: &str) -> String {
        Placeholders::of(TEMPLATE).without(reply).into_owned()
    }

    #[test]
    fn copies_of_the_format_become_empty() {
        for (copied, left) in [
            (r#"{"lacking": "What the passages do not tell, or null"}"#, r#"{"lacking": ""}"#),
            (r#"{"lacking": "what the passages do not tell."}"#, r#"{"lacking": ""}"#),
            (r#"{"quote": "words copied from passage 1"}"#, r#"{"quote": ""}"#),
            (r#"{"quote": "words  copied from passage 12", "n": 1}"#, r#"{"quote": "", "n": 1}"#),
            (r#"Say "so: {"quote": "words copied from passage 3"}"#, r#"Say "so: {"quote": ""}"#),
        ] {
            assert_eq!(without(copied), left);
        }
    }

    #[test]
    fn other_words_stay() {
        for reply in [
            r#"{"answer": "the answer"}"#,
            r#"{"kind": "pump_failure", "description": "A failure of a pump"}"#,
            r#"{"quote": "words copied from the oldest passage of all the books"}"#,
            r#"{"lacking": "what the passages do not tell about the price, such as its year"}"#,
            r#"{"answer": "the harbour of Oslo", "quote": "the words of the passage"}"#,
            "words copied from passage 1",
        ] {
            assert_eq!(without(reply), reply);
        }
        let plain = Placeholders::of("Which colour has \"the wide sea\"?");
        assert_eq!(plain.without("\"the wide sea\""), "\"the wide sea\"");
    }

    proptest! {
        /// Only what is between two quotes is removed.
        #[test]
        fn removing_copies_removes_nothing_else(
            reply in "(\"|[a-c{}: ]|words copied from passage 1|\\\\){0,12}",
        ) {
            let left = without(&reply);
            let bare = |text: &str| text.replace("words copied from passage 1", "");
            prop_assert_eq!(bare(&left).matches('"').count(), reply.matches('"').count());
            prop_assert!(left.len() <= reply.len());
            prop_assert_eq!(without(&left), left);
        }
    }
}
