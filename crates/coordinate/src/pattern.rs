//! How does a rule look for words? A pattern of ours, read once, whatever the case of letters.

/// A regular expression as a static: `pattern!(NAME, r"…")`. Each is a constant that tests read.
macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
            regex::Regex::new(concat!("(?i)", $text)).expect("a pattern of ours")
        });
    };
}
pub(crate) use pattern;
