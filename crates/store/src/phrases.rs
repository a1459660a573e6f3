//! Finds which of many phrases a text contains, whatever its white space. It ignores the invisible
//! characters that prompts omit. It undoes JSON escapes several times, because prompts are stored
//! as JSON and may contain JSON.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

/// The shortest phrase in bytes: shorter texts are too common to identify a document.
const SHORTEST: usize = 12;
/// Bytes by which long phrases are looked up, because many phrases begin alike.
const LONG: usize = 32;
/// How often a text is searched, each time with one more level of JSON unescaped.
const DEEPEST: usize = 4;

/// Distinct phrases, indexed by their first bytes.
#[derive(Clone, PartialEq)]
pub struct Phrases {
    all: Vec<String>,
    short: HashMap<[u8; SHORTEST], Vec<usize>>,
    long: HashMap<[u8; LONG], Vec<usize>>,
    /// Whether a phrase begins with the two bytes that form this index.
    begins: Vec<bool>,
}

impl Phrases {
    /// The texts that are long enough, each once.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        let all: BTreeSet<String> = texts.into_iter().map(|text| folded(&text)).collect();
        let mut phrases = Self {
            all: all.into_iter().filter(|text| SHORTEST <= text.len()).collect(),
            short: HashMap::new(),
            long: HashMap::new(),
            begins: vec![false; 1 << 16],
        };
        for (number, text) in phrases.all.iter().enumerate() {
            let bytes = text.as_bytes();
            if let Some(begins) = begin(bytes).and_then(|at| phrases.begins.get_mut(at)) {
                *begins = true;
            }
            match (bytes.first_chunk::<LONG>(), bytes.first_chunk::<SHORTEST>()) {
                (Some(head), _) => phrases.long.entry(*head).or_default().push(number),
                (None, Some(head)) => phrases.short.entry(*head).or_default().push(number),
                (None, None) => {}
            }
        }
        phrases
    }

    /// Whether there is no phrase.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether a text contains a phrase; the text may be JSON or contain JSON.
    pub fn any_in_json(&self, text: &str) -> bool {
        let mut text = text.to_owned();
        for _ in 0..DEEPEST {
            if self.walk(&folded(&text), &mut |_| ControlFlow::Break(())).is_break() {
                return true;
            }
            if !text.contains('\\') {
                break;
            }
            text = unescaped(&text);
        }
        false
    }

    /// Adds the numbers of the phrases that occur in `text`.
    pub fn mark(&self, text: &str, found: &mut BTreeSet<usize>) {
        let _ = self.walk(&folded(text), &mut |number| {
            found.insert(number);
            ControlFlow::Continue(())
        });
    }

    /// The phrases other than these.
    #[must_use]
    pub fn without(&self, numbers: &BTreeSet<usize>) -> Self {
        let others = self.all.iter().enumerate();
        Self::new(others.filter(|(it, _)| !numbers.contains(it)).map(|(_, text)| text.clone()))
    }

    fn walk(&self, text: &str, hit: &mut dyn FnMut(usize) -> ControlFlow<()>) -> ControlFlow<()> {
        let bytes = text.as_bytes();
        for at in 0..bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            if begin(rest).is_none_or(|begin| self.begins.get(begin) != Some(&true)) {
                continue;
            }
            let short = rest.first_chunk().and_then(|head| self.short.get(head));
            let long = rest.first_chunk().and_then(|head| self.long.get(head));
            for number in short.into_iter().chain(long).flatten() {
                if self.all.get(*number).is_some_and(|phrase| rest.starts_with(phrase.as_bytes())) {
                    hit(*number)?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

fn begin(bytes: &[u8]) -> Option<usize> {
    bytes.first_chunk().map(|two| usize::from(u16::from_le_bytes(*two)))
}

/// Trims a text, replaces each run of white space by one blank and removes invisible characters.
fn folded(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut has_gap = false;
    for c in text.chars() {
        if c.is_whitespace() {
            has_gap = !line.is_empty();
        } else if !pikerag_language::is_invisible(c) {
            // Prompts may omit them, so texts and phrases are both compared without them.
            if std::mem::take(&mut has_gap) {
                line.push(' ');
            }
            line.push(c);
        }
    }
    line
}

/// Replaces JSON escapes by the characters that they stand for, anywhere in the text.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut after_escape = after.chars();
        match after_escape.next() {
            Some('n' | 'r' | 't' | 'b' | 'f') => plain.push(' '),
            Some('u') => match code(after_escape.as_str()) {
                Some((c, length)) => {
                    plain.push(c);
                    after_escape = after_escape.as_str().get(length..).unwrap_or_default().chars();
                }
                None => plain.push('\u{fffd}'),
            },
            Some(c) => plain.push(c),
            None => {}
        }
        rest = after_escape.as_str();
    }
    plain.push_str(rest);
    plain
}

/// The character of four hexadecimal digits or of a surrogate pair, and the bytes it took.
fn code(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| u16::from_str_radix(text.get(at..at + 4)?, 16).ok();
    let first = unit(0)?;
    if let Some(c) = char::from_u32(u32::from(first)) {
        return Some((c, 4));
    }
    let second = text.get(4..6).filter(|mark| *mark == "\\u").and_then(|_| unit(6))?;
    let pair = char::decode_utf16([first, second]).next()?.ok()?;
    Some((pair, 10))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn finds_phrases_in_nested_json() {
        let texts = [
            "The \"slewing\"\nbearing is greased.",
            "起重机每周检查一次。",
            "short",
            "𝔘nicode here 𝔘",
        ];
        let phrases = Phrases::new(texts.map(str::to_owned));
        assert_eq!(phrases.all.len(), 3);
        for text in
            ["The \"slewing\" bearing  is greased.", "起重机每周检查一次。", "𝔘nicode here 𝔘"]
        {
            let mut packed = format!("x {text} y");
            for _ in 0..3 {
                assert!(phrases.any_in_json(&packed), "{packed}");
                packed = serde_json::json!([packed]).to_string();
            }
            let units: Vec<_> = text.encode_utf16().map(|unit| format!("u{unit:04x}")).collect();
            let ascii = format!("\\{}", units.join("\\"));
            assert!(phrases.any_in_json(&ascii), "{ascii}");
            let (last, _) = text.char_indices().next_back().unwrap();
            assert!(!phrases.any_in_json(&text[..last]));
        }
        assert!(!phrases.any_in_json("short \\"));
    }

    /// Phrases ignore every character that a prompt omits.
    #[test]
    fn finds_a_phrase_as_a_prompt_shows_it() {
        let mut left_out = 0;
        for c in '\0'..=char::MAX {
            if pikerag_prompt::quiet_prompt(&format!("a{c}b")) == "ab" {
                assert_eq!(folded(&format!("a{c}b")), "ab", "{c:?}");
                left_out += 1;
            }
        }
        assert!(1000 < left_out, "{left_out}");
        let text = "Ba\u{ad}ye\u{ad}ri\u{ad}sche\u{a0}Mo\u{200b}to\u{feff}ren";
        let phrases = Phrases::new([text.to_owned()]);
        let prompt = format!("{{\"text\": \"Read: {}!\"}}", pikerag_prompt::quiet_prompt(text));
        assert!(phrases.any_in_json(&prompt));
        assert!(phrases.any_in_json(text));
    }

    proptest! {
        /// Compares with a separate search for each phrase.
        #[test]
        fn finds_what_a_plain_search_finds(
            texts in prop::collection::vec("[ab中]{3,40}", 0..12), text in "[ab中 ]{0,300}", from in 0usize..12
        ) {
            let text = match texts.get(from) {
                Some(inside) => format!("{text}{inside}{text}"),
                None => text,
            };
            let phrases = Phrases::new(texts);
            let mut found = BTreeSet::new();
            phrases.mark(&text, &mut found);
            let line = folded(&text);
            for (number, phrase) in phrases.all.iter().enumerate() {
                prop_assert_eq!(found.contains(&number), line.contains(phrase.as_str()));
            }
            prop_assert_eq!(phrases.any_in_json(&text), !found.is_empty());
        }
    }
}
