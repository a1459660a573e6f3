//! Leaves out of a Chinese query the words that only ask: documents do not have them, and characters
//! around them would form pairs that no document has.

/// Phrases that only ask or address somebody, the longest first. Each has at least two characters.
const PHRASES: [&str; 40] = [
    "能不能告诉我",
    "可不可以",
    "多长时间",
    "什么时候",
    "是不是",
    "能不能",
    "有没有",
    "为什么",
    "怎么样",
    "怎么办",
    "多少钱",
    "请问",
    "为啥",
    "什么",
    "时候",
    "怎么",
    "多少",
    "多久",
    "多长",
    "多大",
    "几天",
    "几年",
    "几次",
    "几号",
    "几个",
    "几点",
    "几月",
    "哪天",
    "哪年",
    "哪个",
    "哪些",
    "哪家",
    "哪里",
    "哪位",
    "谁家",
    "可以",
    "那个",
    "这个",
    "我们",
    "咱们",
];

/// Words of one character that carry no meaning in a question. They may be parts of other words.
const CHARACTERS: &str = "要能会得呀啦嘛说做里弄想去来给";

/// A query without the phrases that only ask, a space in place of each.
pub(crate) fn without_asking(query: &str) -> String {
    let mut rest = query.to_owned();
    for phrase in PHRASES {
        if rest.contains(phrase) {
            rest = rest.replace(phrase, " ");
        }
    }
    rest
}

/// Whether a word of a query only asks.
pub(crate) fn is_asking(word: &str) -> bool {
    let mut characters = word.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => CHARACTERS.contains(only),
        _ => false,
    }
}

/// Whether a pair of characters has one that only asks as a word.
pub(crate) fn is_asking_pair(pair: &str) -> bool {
    pair.chars().any(|c| CHARACTERS.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_phrases_come_first() {
        let mut before = usize::MAX;
        for phrase in PHRASES {
            let length = phrase.chars().count();
            assert!(2 <= length && length <= before, "{phrase}");
            before = length;
        }
    }

    #[test]
    fn only_asking_words_are_left_out() {
        assert_eq!(without_asking("年假有几天").trim_end(), "年假有");
        assert_eq!(without_asking("会议什么时候开"), "会议 开");
        assert_eq!(without_asking("How long?"), "How long?");
        assert!(is_asking("要") && !is_asking("会议") && !is_asking("赔") && !is_asking(""));
        assert!(is_asking_pair("库里") && !is_asking_pair("库存"));
    }
}
