//! Declares the regular expressions that rules look for words with.

/// A regular expression as a static, whatever the case of letters: `pattern!(NAME, r"…")`. Each is a constant that tests
/// read.
#[macro_export]
macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: std::sync::LazyLock<$crate::Regex> = std::sync::LazyLock::new(|| {
            $crate::Regex::new(concat!("(?i)", $text)).expect("a pattern of ours")
        });
    };
}
