//! What is a word, a sentence, a name? The same answers for indexing and for asking, in English and
//! Chinese alike.

mod language;
mod sentences;
mod stop;
mod words;

pub use language::{is_chinese, language_of};
pub use sentences::sentences;
pub use stop::is_stop_word;
pub use words::{content_words, words};
