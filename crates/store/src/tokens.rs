//! Tokenizes text for tantivy into the words of [`terms`].

use pikerag_language::terms;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// [`terms`] as a tantivy tokenizer.
#[derive(Clone, Default)]
pub(crate) struct Words {
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { words: terms(text).into_iter(), token: &mut self.token }
    }
}

pub(crate) struct WordStream<'a> {
    words: std::vec::IntoIter<String>,
    token: &'a mut Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(word) = self.words.next() else { return false };
        self.token.text = word;
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
