//! Words errors of the protocol. The message is in one language, `data` has both. Errors of the tools
//! are problems, which have both, too.

use pikerag_engine::narrate::{Language, Words};
use rmcp::ErrorData;
use serde_json::{Value, json};

/// A request that is wrong.
pub(super) fn wrong(words: Words, language: Language) -> ErrorData {
    let data = both(&words);
    ErrorData::invalid_params(words.of(language), Some(data))
}

/// A call that its client cancelled.
pub(super) fn cancelled(language: Language) -> ErrorData {
    let words = Words::new("cancelled", "已取消");
    let data = both(&words);
    ErrorData::internal_error(words.of(language), Some(data))
}

fn both(words: &Words) -> Value {
    json!({"message": words.english, "message_zh": words.chinese})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_language_of_the_question_and_both_beside_it() {
        for (language, message) in [(Language::English, "cancelled"), (Language::Chinese, "已取消")]
        {
            let error = json!(cancelled(language));
            assert_eq!(error["message"], message);
            assert_eq!(error["data"], json!({"message": "cancelled", "message_zh": "已取消"}));
        }
        let words = || Words::new("no such tool", "没有此工具");
        let error = json!(wrong(words(), Language::Chinese));
        assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!("没有此工具")));
    }
}
