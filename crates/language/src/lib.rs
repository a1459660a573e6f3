//! Splits text into words, sentences, names, dates and amounts, in English and Chinese.
//!
//! Indexing and queries use the same rules.

mod amounts;
mod asking;
mod chinese;
mod dates;
mod decimal;
mod everyday;
pub mod fold;
mod format;
mod invisible;
mod language;
pub mod lexicon;
pub mod names;
mod numerals;
mod ordinals;
mod pattern;
pub mod periods;
mod quantities;
pub mod repeats;
mod rows;
mod sentences;
mod spelling;
mod stop;
mod tokens;
pub mod units;
mod words;
mod written;
mod written_out;

pub use chinese::chinese_names_in;
pub use dates::month_named;
pub use everyday::formal_words;
pub use format::format_number;
pub use invisible::is_invisible;
pub use language::{is_chinese, language_of};
pub use numerals::{chinese_digit, chinese_number, is_numeral, narrow, number};
pub use quantities::quantity;
pub use regex::{Regex, RegexBuilder};
pub use rows::with_columns;
pub use sentences::sentences;
pub use spelling::{is_mistyped, most_errors, typing_errors};
pub use stop::is_stop_word;
pub use tokens::estimate_tokens;
pub use words::{content_words, query_terms, stem, terms, words};
pub use written_out::{bare_unit, written_out};
