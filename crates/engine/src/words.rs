//! Words errors and notices in Chinese; the English words are the `Display` of their enums.

mod errors;
mod notices;
#[cfg(test)]
mod tests;
