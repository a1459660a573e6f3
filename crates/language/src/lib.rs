//! What is a word, a sentence, a name? The same answers for indexing and for asking, in English and
//! Chinese alike.

mod amounts;
mod chinese;
mod dates;
mod decimal;
pub mod fold;
mod language;
pub mod lexicon;
pub mod names;
mod numerals;
mod ordinals;
mod pattern;
pub mod periods;
mod sentences;
mod stop;
mod tokens;
pub mod units;
mod unseen;
mod words;
mod written;

pub use dates::MONTHS;
pub use language::{is_chinese, language_of};
pub use numerals::{chinese_digit, chinese_number, is_numeral, number};
pub use regex::Regex;
pub use sentences::sentences;
pub use stop::is_stop_word;
pub use tokens::estimate_tokens;
pub use unseen::is_unseen;
pub use words::{content_words, query_terms, stem, terms, words};
