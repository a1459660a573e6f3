//! Splits a text into words for tokens and vectors: runs of letters and digits; each Chinese
//! character is a word.

/// The words, in order, in lower case.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let is_chinese = c.is_alphanumeric() && ('\u{2E80}'..='\u{9FFF}').contains(&c);
        if c.is_alphanumeric() && !is_chinese {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if is_chinese {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The approximate number of tokens as models count them: words and punctuation marks.
pub(crate) fn tokens(text: &str) -> u64 {
    let marks = text.chars().filter(|c| !c.is_alphanumeric() && !c.is_whitespace());
    (words(text).len() + marks.count()) as u64
}

/// A unit vector of hashed words: texts that share words are close.
pub(crate) fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0_f32; dimensions];
    let words = words(text);
    for word in &words {
        let hash = hash(word);
        let sign = if hash >> 40 & 1 == 1 { 1.0 } else { -1.0 };
        let weight = if STOP.contains(&word.as_str()) { 0.25 } else { 1.0 };
        vector[(hash % dimensions as u64) as usize] += sign * weight;
    }
    let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    if length == 0.0 {
        vector[0] = 1.0;
        return vector;
    }
    vector.iter().map(|part| part / length).collect()
}

/// Words without content of their own.
const STOP: [&str; 22] = [
    "a", "an", "the", "of", "in", "on", "is", "was", "by", "did", "does", "do", "who", "what",
    "which", "where", "whom", "from", "的", "在", "是", "由",
];

/// FNV-1a with one more mixing step.
fn hash(word: &str) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for byte in word.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD)
}

#[cfg(test)]
mod tests {
    use super::{tokens, vector, words};

    #[test]
    fn words_of_both_languages() {
        assert_eq!(words("The KX-40, 港口A！"), ["the", "kx", "40", "港", "口", "a"]);
        assert_eq!(tokens("Who? 港口。"), 5);
    }

    #[test]
    fn vectors_are_unit_and_shared_words_are_close() {
        let of = |text| vector(text, 384);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let crane = of("Who built the crane?");
        assert!((dot(&crane, &crane) - 1.0).abs() < 1e-5);
        assert!(dot(&crane, &of("Where is tea?")) < dot(&crane, &of("The crane was built")));
        assert!((dot(&of(""), &of("")) - 1.0).abs() < 1e-6);
    }
}
