//! Declares the regular expressions that rules search words with.

/// Declares a static regular expression that ignores case: `pattern!(NAME, r"…")`. Tests run each
/// pattern, so an invalid one fails there.
#[macro_export]
macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: std::sync::LazyLock<$crate::Regex> = std::sync::LazyLock::new(|| {
            $crate::Regex::new(concat!("(?i)", $text)).expect("a pattern of ours")
        });
    };
}
