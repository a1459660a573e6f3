//! Words the parts of a score.

use std::collections::BTreeMap;

use crate::language::Language;

/// Parts of scores in the order of display: key, English, Chinese. The rank of a part is shown if it
/// is known.
const PARTS: [(&str, &str, &str); 24] = [
    ("rerank", "reranker", "重排模型"),
    ("search", "search", "检索"),
    ("bm25", "words", "词"),
    ("words", "words", "词"),
    ("cosine", "meaning", "语义"),
    ("meaning", "meaning", "语义"),
    ("hybrid", "words and meaning", "词与语义"),
    ("hops", "hops", "跳"),
    ("layers", "all layers", "各层"),
    ("atom", "closest atom", "最近的原子问题"),
    ("chunk", "the chunk itself", "文本块本身"),
    ("section", "its section", "所在章节"),
    ("source", "its document", "所在文档"),
    ("summary", "its summary", "其摘要"),
    ("distilled", "its atoms", "其原子问题"),
    ("named_in_question", "named in the question", "问题中提到"),
    ("title_links", "links with chosen chunks", "与已选文本块的链接"),
    ("links_ahead", "links of promising chunks", "有希望的文本块的链接"),
    ("refers_to", "links", "链接"),
    ("shared_names", "rare names shared", "共有的罕见名称"),
    ("entities", "entities shared", "共有的实体"),
    ("next", "chunk before or after", "前后文本块"),
    ("tags", "tags", "标签"),
    ("tag_words", "words of the tags", "标签的词"),
];

/// The parts of a score: `words rank 1 (12.94), meaning rank 3 (0.43)`, or `words 1.50, meaning 1.00`.
pub fn score_parts(parts: &BTreeMap<String, f32>, language: Language) -> String {
    let mut shown: Vec<(usize, String)> = Vec::new();
    for (key, value) in parts {
        if key.strip_suffix("_rank").is_some_and(|of| parts.contains_key(of)) {
            continue;
        }
        let place = PARTS.iter().position(|(known, ..)| known == key);
        let name = match place.and_then(|place| PARTS.get(place)) {
            Some((_, english, chinese)) => language.either(english, chinese).to_owned(),
            None => key.replace('_', " "),
        };
        let text = match (parts.get(&format!("{key}_rank")), language) {
            (Some(rank), Language::English) => format!("{name} rank {rank:.0} ({value:.2})"),
            (Some(rank), Language::Chinese) => format!("{name}第 {rank:.0} 名（{value:.2}）"),
            (None, _) => format!("{name} {value:.2}"),
        };
        shown.push((place.unwrap_or(PARTS.len()), text));
    }
    shown.sort();
    let shown: Vec<String> = shown.into_iter().map(|(_, text)| text).collect();
    shown.join(language.either(", ", "，"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(parts: &[(&str, f32)]) -> String {
        let parts = parts.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
        score_parts(&parts, Language::English)
    }

    #[test]
    fn parts_have_an_order_and_ranks() {
        let hybrid = [("bm25", 12.941), ("bm25_rank", 1.0), ("cosine", 0.4), ("cosine_rank", 12.0)];
        assert_eq!(shown(&hybrid), "words rank 1 (12.94), meaning rank 12 (0.40)");
        let hops = [("links_ahead", 0.1), ("meaning", 1.0), ("words", 1.2), ("own_part", 0.1)];
        assert_eq!(
            shown(&hops),
            "words 1.20, meaning 1.00, links of promising chunks 0.10, own part 0.10"
        );
        assert_eq!(shown(&[]), "");
    }
}
