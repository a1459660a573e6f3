//! Words errors and notices in Chinese; the English words are the `Display` of their enums.

mod base;
mod causes;
mod change;
mod check;
mod database;
mod errors;
mod local;
mod notices;
mod omitted;
mod presence;
#[cfg(test)]
mod tests;

pub use self::causes::chinese_chain;
pub use self::check::chinese_check;
pub use self::local::remedy;
pub use pikerag_narrate::chinese_reason;
