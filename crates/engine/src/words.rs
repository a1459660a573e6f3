//! The words of errors and notices. English stands at the enums, as their `Display`; Chinese stands here.

mod errors;
mod notices;
#[cfg(test)]
mod tests;
