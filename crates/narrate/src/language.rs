//! Defines the two languages, and the trait of facts that have words in both.

use pikerag_knowledge::Statement;
use pikerag_language::is_chinese;

/// A language that people read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese, in simplified characters.
    Chinese,
}

impl Language {
    /// Chinese if the question contains Chinese characters, else English.
    pub fn of(question: &str) -> Self {
        if question.chars().any(is_chinese) { Self::Chinese } else { Self::English }
    }

    /// One of two texts.
    pub fn either<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    /// The separator of sentences or names in a list.
    pub fn separator(self) -> &'static str {
        self.either("; ", "；")
    }

    /// The separator of two sentences.
    pub fn space(self) -> &'static str {
        self.either(" ", "")
    }
}

/// One text in both languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// In English.
    pub english: String,
    /// In Chinese.
    pub chinese: String,
}

impl Words {
    /// Words in English and Chinese.
    pub fn new(english: impl Into<String>, chinese: impl Into<String>) -> Self {
        Self { english: english.into(), chinese: chinese.into() }
    }

    /// The words of one language.
    #[must_use]
    pub fn of(self, language: Language) -> String {
        match language {
            Language::English => self.english,
            Language::Chinese => self.chinese,
        }
    }
}

/// A fact with words. One `match` gives both languages, so a variant that lacks one does not
/// compile.
pub trait InWords {
    /// In both languages.
    fn words(&self) -> Words;

    /// In one language.
    fn in_words(&self, language: Language) -> String {
        self.words().of(language)
    }
}

/// Text of a model or of an earlier version is shown unchanged.
impl<T: InWords> InWords for Statement<T> {
    fn words(&self) -> Words {
        match self {
            Self::Fact(fact) => fact.words(),
            Self::Text(text) => Words::new(text, text),
        }
    }
}

/// Several facts in one line.
pub fn joined<T: InWords>(facts: &[T], language: Language) -> String {
    let words: Vec<String> = facts.iter().map(|fact| fact.in_words(language)).collect();
    words.join(language.separator())
}
