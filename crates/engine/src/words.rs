//! Words errors and notices in Chinese; the English words are the `Display` of their enums.

mod causes;
mod errors;
mod notices;
#[cfg(test)]
mod tests;

pub use self::causes::chinese_chain;
