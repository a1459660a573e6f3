//! Finds the things that a question compares: the names left and right of the comparing words.

use std::sync::LazyLock;

use regex::Regex;

/// Characters of a name, at most.
const LONGEST: usize = 90;

macro_rules! patterns {
    ($name:ident, [$($text:literal),* $(,)?]) => {
        static $name: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            let read = |text: &str| Regex::new(&format!("(?i){text}")).expect("a pattern of ours");
            [$($text),*].map(read).into()
        });
    };
}

patterns!(
    ENGLISH,
    [
        r"^(?:of|between|among)\s+(?:the\s+)?(.+?)\s+and\s+(?:the\s+)?([^,?]+?),\s*(?:which|who|whose|what)\b",
        r"\bout of\s+(?:the\s+)?(.+?)\s+and\s+(?:the\s+)?([^?]+?)\s*(?:\?|$)",
        r"^(?:was|is|were|are|did|does|do|has|have)\s+(?:the\s+)?([^,?]+?)\s+or\s+(?:the\s+)?([^,?]+?)\s+(?:\w+\s+)?(?:first|earlier|later|more|less|longer|\w{3,}er)\b",
        r"\bbetween\s+(?:the\s+)?(.+?)\s+and\s+(?:the\s+)?(.+?)(?:[?,.;:]|$|\s+(?:in terms of|with regard|regarding|when|as|by|for)\b)",
        r"\bcompare[sd]?\s+(?:the\s+)?(.+?)\s+(?:and|with|to|against|versus|vs\.?)\s+(?:the\s+)?(.+?)(?:[?,.;:]|$|\s+(?:in terms of|with regard|regarding|on|by|for|in)\b)",
        r"^(?:.*\b(?:is|are|was|were|does|do|did|has|have|of|for)\s+)?(?:the\s+)?(.+?)\s+(?:versus|vs\.?)\s+(?:the\s+)?(.+?)(?:[?,.;:]|$)",
        r"(?:,|:|\bof|\bbetween)\s*(?:the\s+|either\s+)?([^,:?]+?),?\s+or\s+(?:the\s+)?([^,?]+?)\s*(?:\?|$)",
        r"^(?:are|were|is|was|do|did|does|have|has)\s+(?:both\s+)?(?:the\s+)?(.+?)\s+and\s+(?:the\s+)?(.+?)\s+(?:both|have|has|share|the same|from|located|made|based|born|come|use|used|equally|of the same|in the same|directed|written|at the same|\w+ the same)\b",
        r#"^(?:are|were|is|was|do|did|does|have|has|had)\s+(?:both\s+)?(?:the\s+)?(.+?),?\s+and\s+(?:the\s+)?((?-i:[A-Z0-9"“'])\S*(?:\s+(?:(?:of|the|de|la|von|van)\s+)?(?-i:[A-Z0-9(])\S*)*)"#,
        r"\b(?:how|in what way)\s+(?:do|does|did)\s+(?:the\s+)?(.+?)\s+(?:and|differ from)\s+(?:the\s+)?(.+?)(?:\s+differ|[?]|$)",
        r"\b(?:is|are|was|were|does|do|did|has|have)\s+(?:the\s+)?(.+?)\s+(?:\w+\s+)?(?:\w+er|more\s+\w+|less\s+\w+)\s+than\s+(?:the\s+)?(.+?)(?:[?]|$)",
    ]
);
patterns!(
    CHINESE,
    [
        r"(?:比较|对比)(?:一下)?(.+?)(?:和|与|跟|同|以及)(.+?)(?:的(?:\S+)?$|的|在|，|。|？|\?|$)",
        r"^(.+?)(?:和|与|跟|同)(.+?)(?:相比|哪|谁|孰|有(?:什么|何|哪些)(?:区别|不同|差异|异同)|的(?:区别|差异|不同|异同)|是否|是不是|都是)",
        r"(?:是|：|，|,)?([^，。？?：是]{1,30}?)还是([^，。？?]{1,30}?)(?:[？?，。]|更|$)",
        r"^(.+?)比(.+?)(?:更|高|低|长|短|早|晚|多|少|大|小|快|慢|贵|重|轻)",
    ]
);

/// The compared things, at least two, in order; none where the question does not name two.
pub(super) fn compared(question: &str) -> Vec<String> {
    let question = question.trim();
    for pattern in ENGLISH.iter().chain(CHINESE.iter()) {
        let Some(found) = pattern.captures(question) else { continue };
        let mut things: Vec<String> = Vec::new();
        for part in found.iter().skip(1).flatten() {
            for thing in part.as_str().split([',', '、']) {
                let thing = tidy(thing);
                if !thing.is_empty() && thing.chars().count() <= LONGEST && !things.contains(&thing)
                {
                    things.push(thing);
                }
            }
        }
        if 2 <= things.len() {
            return things;
        }
    }
    Vec::new()
}

fn tidy(thing: &str) -> String {
    let thing = thing.trim().trim_matches(['"', '“', '”', '\'', '?', '？', '.', '。', ' ']);
    let article =
        ["the ", "The ", "a ", "an "].iter().find_map(|article| thing.strip_prefix(article));
    article.unwrap_or(thing).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_names_on_either_side() {
        let shown: Vec<String> = [
            "Which is heavier, the KX-40 or the KX-62?",
            "What is the difference between the KX-40 and the KX-62 in terms of load?",
            "Compare Norrick Steel with Ostrel on lead time.",
            "Are Ed Wood and Scott Derrickson from the same country?",
            "Is the Gannet rig older than the Pelican rig?",
            "Which supplier has the longer lead time: Grayholm Ceramics or Dunmarsh Bearings?",
            "KX-40和KX-62有什么区别？",
            "比较青砚公司与澜屿公司的交货期",
            "交货更快的是青砚公司还是澜屿公司？",
            "青砚公司和澜屿公司哪家更大？",
            "Who designed the KX-40?",
            "Are both Project Lantern and Project Wharf plans with three stages?",
            "Of the suppliers Grayholm Ceramics and Dunmarsh Bearings, which delivers faster?",
            "Who was born first out of Oda Winter and Lev Carrowick?",
            "Was Oda Winter or Lev Carrowick born first?",
            "Do Halden H4 and Corvane C2 cost the same?",
            "Are Donald Fagen and Lauren Laverne of the same nationality?",
        ]
        .map(|question| compared(question).join(" | "))
        .to_vec();
        insta::assert_snapshot!(shown.join("\n"), @r"
        KX-40 | KX-62
        KX-40 | KX-62
        Norrick Steel | Ostrel
        Ed Wood | Scott Derrickson
        Gannet | Pelican rig
        Grayholm Ceramics | Dunmarsh Bearings
        KX-40 | KX-62
        青砚公司 | 澜屿公司
        青砚公司 | 澜屿公司
        青砚公司 | 澜屿公司

        Project Lantern | Project Wharf
        suppliers Grayholm Ceramics | Dunmarsh Bearings
        Oda Winter | Lev Carrowick
        Oda Winter | Lev Carrowick
        Halden H4 | Corvane C2
        Donald Fagen | Lauren Laverne
        ");
    }
}
