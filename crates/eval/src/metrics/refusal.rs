//! Detects answers that refuse to answer (CRP-RAG §3.4: better no answer than an invented one).

use crate::normalize::normalize;

/// Answers without content, after [`normalize`].
const EMPTY: [&str; 11] = [
    "unknown",
    "none",
    "null",
    "na",
    "idk",
    "insufficient information",
    "not enough information",
    "no answer",
    "unanswerable",
    "unclear",
    "undetermined",
];

/// Beginnings and phrases of a refusal, after [`normalize`].
const TURNS: [&str; 14] = [
    "i dont know",
    "i do not know",
    "i cannot answer",
    "i cant answer",
    "i am unable to",
    "im unable to",
    "cannot be answered",
    "cannot be determined",
    "can not be determined",
    "not possible to determine",
    "context does not provide",
    "context does not contain",
    "no information is provided",
    "there is no information",
];

const CHINESE: [&str; 8] = [
    "无法回答",
    "无法确定",
    "无法判断",
    "不知道",
    "没有足够的信息",
    "信息不足",
    "未提供相关",
    "无从得知",
];

/// Whether an answer is empty, or states that it has none. A gold label is never taken for a
/// refusal: `NOT ENOUGH INFO` is an answer if it is one of `labels`.
pub fn refuses(answer: &str, labels: &[String]) -> bool {
    let answer = normalize(answer);
    if labels.iter().any(|label| normalize(label) == answer) {
        return false;
    }
    answer.is_empty()
        || EMPTY.contains(&answer.as_str())
        || TURNS.iter().chain(&CHINESE).any(|known| answer.contains(known))
}

#[cfg(test)]
mod tests {
    use super::refuses;

    #[test]
    fn refusals_and_answers() {
        for refusal in [
            "",
            "Unknown.",
            "I don't know.",
            "The question cannot be answered from it.",
            "根据材料无法确定",
        ] {
            assert!(refuses(refusal, &["Paris".to_owned()]), "{refusal}");
        }
        for answer in ["Paris", "The unknown soldier", "no", "None of the Above (film)"] {
            assert!(!refuses(answer, &["Paris".to_owned()]), "{answer}");
        }
        assert!(!refuses("Not enough information", &["not enough information".to_owned()]));
    }
}
