//! Estimates the tokens of texts and requests, and their upper limits.

use pikerag_knowledge::{ChatRequest, Message, Usage};
use pikerag_language::estimate_tokens;

use crate::meter::Due;

/// Tokens that chat templates add to each message, about.
const PER_MESSAGE: u64 = 4;
/// Tokens that chat templates add to each message, at most.
const PER_MESSAGE_AT_MOST: u64 = 64;
/// An image of ordinary size at high detail, about.
const PER_IMAGE: u64 = 1_000;
/// The most expensive image under the most expensive counting we know (GPT-4o mini: 2,833 + 8 ×
/// 5,667).
const PER_IMAGE_AT_MOST: u64 = 50_000;

/// About how many tokens the prompt of a request has, counted as for chunks and forecasts.
pub fn estimate_prompt(request: &ChatRequest) -> u64 {
    let mut tokens = 0;
    for message in &request.messages {
        let (text, images) = parts(message);
        tokens += estimate_tokens(text) + PER_MESSAGE + PER_IMAGE * images;
    }
    tokens
}

/// The tokens that providers count towards a limit per minute: the prompt and the whole
/// `max_tokens`.
pub(crate) fn estimate_chat(request: &ChatRequest) -> u64 {
    estimate_prompt(request) + u64::from(request.max_tokens)
}

/// The highest possible cost of a request. No byte-level tokenizer makes more tokens than there are
/// bytes.
pub(crate) fn worst_case(request: &ChatRequest) -> Usage {
    let mut prompt_tokens = 0;
    for message in &request.messages {
        let (text, images) = parts(message);
        prompt_tokens += text.len() as u64 + PER_MESSAGE_AT_MOST + PER_IMAGE_AT_MOST * images;
    }
    if let Some(schema) = &request.schema {
        prompt_tokens += schema.schema.to_string().len() as u64 + PER_MESSAGE_AT_MOST;
    }
    Usage { prompt_tokens, completion_tokens: u64::from(request.max_tokens) }
}

/// The highest possible cost of embedding these texts.
pub(crate) fn worst_case_embedding(texts: &[String]) -> Usage {
    let bytes: u64 = texts.iter().map(|text| text.len() as u64 + PER_MESSAGE_AT_MOST).sum();
    Usage { prompt_tokens: bytes, completion_tokens: 0 }
}

/// The approximate cost of embedding these texts, for endpoints that do not count.
pub(crate) fn estimate_embedding(texts: &[String]) -> Usage {
    let prompt_tokens = texts.iter().map(|text| estimate_tokens(text)).sum();
    Usage { prompt_tokens, completion_tokens: 0 }
}

/// Tokens of query and text that are billed as one document, as Cohere counts.
const PER_DOCUMENT: u64 = 500;
/// Documents that are billed as one search.
const PER_SEARCH: u64 = 100;

/// The highest possible cost of reranking these texts: the query is read with each of them.
pub(crate) fn worst_case_reranking(query: &str, texts: &[String]) -> Due {
    let query = query.len() as u64;
    reranking(texts, |text| query + text.len() as u64 + PER_MESSAGE_AT_MOST)
}

/// The approximate cost of reranking these texts, for endpoints that do not count.
pub(crate) fn estimate_reranking(query: &str, texts: &[String]) -> Due {
    let query = estimate_tokens(query);
    reranking(texts, |text| query + estimate_tokens(text) + PER_MESSAGE)
}

fn reranking(texts: &[String], tokens: impl Fn(&str) -> u64) -> Due {
    let (mut prompt_tokens, mut documents) = (0, 0);
    for text in texts {
        let tokens = tokens(text);
        prompt_tokens += tokens;
        documents += tokens.div_ceil(PER_DOCUMENT);
    }
    let usage = Usage { prompt_tokens, completion_tokens: 0 };
    Due { usage, searches: documents.div_ceil(PER_SEARCH) }
}

fn parts(message: &Message) -> (&str, u64) {
    match message {
        Message::System { text } | Message::Assistant { text } => (text, 0),
        Message::User { text, images } => (text, images.len() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The budget, the forecast and the chunk splitter count a text alike, in any script.
    #[test]
    fn budget_chunks_and_forecasts_count_alike() {
        for text in ["The quick brown fox jumps over the lazy dog", "知识库里有什么?", "", "naïve"]
        {
            let request = pikerag_doubles::request(text);
            let words = estimate_prompt(&request) - PER_MESSAGE;
            assert_eq!(words, estimate_tokens(text), "{text}");
            let texts = [text.to_owned()];
            assert_eq!(estimate_embedding(&texts).prompt_tokens, words, "{text}");
        }
    }

    #[test]
    fn the_worst_case_is_worse() {
        let mut request = pikerag_doubles::request("什么? What?");
        assert!(estimate_prompt(&request) < worst_case(&request).prompt_tokens);
        let text = request.messages.clone();
        request.messages.push(Message::User {
            text: String::new(),
            images: vec!["data:image/png;base64,".to_owned()],
        });
        assert!(50_000 < worst_case(&request).prompt_tokens);
        assert_eq!(worst_case(&request).completion_tokens, 256);
        assert_eq!(text.len(), 1);
    }
}
