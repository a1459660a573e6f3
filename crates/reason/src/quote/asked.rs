//! Finds the kind of value that a question asks for, and tests whether a text holds one.

use std::collections::HashSet;

use pikerag_language::is_chinese;
use pikerag_language::names::names_in;

/// A kind of value that a question can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// When, since when, which year.
    Time,
    /// How much, how many, how long, what percentage.
    Number,
    /// Who, whose.
    Person,
}

const KINDS: [(Kind, &[&str], &[&str]); 3] = [
    (
        Kind::Time,
        &["when", "what day", "what date", "which day", "what year", "which year", "since when"],
        &["什么时候", "哪天", "哪一天", "哪年", "哪一年", "何时", "几月", "几号", "日期"],
    ),
    (
        Kind::Number,
        &[
            "how much",
            "how many",
            "how long",
            "how often",
            "percentage",
            "per cent",
            "price",
            "cost",
            "how far",
        ],
        &[
            "多少",
            "多久",
            "几天",
            "几个",
            "几年",
            "几次",
            "几小时",
            "多长",
            "多大",
            "多重",
            "比例",
            "价格",
            "多高",
        ],
    ),
    (Kind::Person, &["who", "whose", "whom"], &["谁", "哪位", "何人"]),
];

/// Amounts that "What is the …?" asks for.
const AMOUNTS: [&str; 12] = [
    "fee",
    "fees",
    "rent",
    "salary",
    "wage",
    "wages",
    "allowance",
    "deposit",
    "penalty",
    "discount",
    "weight",
    "length",
];

const VERBS: [&str; 18] = [
    "is", "was", "are", "were", "do", "does", "did", "has", "have", "had", "will", "can", "could",
    "must", "should", "may", "shall", "would",
];

/// The kind of value that the question asks for, if its words show it.
pub(super) fn kind_of(question: &str) -> Option<Kind> {
    let folded = question.to_lowercase();
    let words: Vec<&str> =
        folded.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let english = format!(" {} ", words.join(" "));
    // "When I pick in the cold store, may I …" does not ask for a time: a question for a time puts
    // the verb first.
    let english = VERBS.iter().fold(english.replace(" when ", " as "), |text, verb| {
        text.replace(&format!(" as {verb} "), &format!(" when {verb} "))
    });
    let mut found: Option<(usize, Kind)> = None;
    for (kind, phrases, chinese) in KINDS {
        let places = phrases.iter().filter_map(|phrase| english.find(&format!(" {phrase} ")));
        let places = places.chain(chinese.iter().filter_map(|phrase| question.find(phrase)));
        for place in places {
            // The first question word decides: "When did the person who …".
            if found.is_none_or(|(held, _)| place < held) {
                found = Some((place, kind));
            }
        }
    }
    let asks_amount = english.starts_with(" what ")
        && AMOUNTS.iter().any(|amount| english.contains(&format!(" {amount} ")));
    found.map(|(_, kind)| kind).or_else(|| asks_amount.then_some(Kind::Number))
}

/// Whether a text holds a value of this kind that the question does not hold already.
pub(super) fn holds_new_value(text: &str, kind: Kind, question: &str) -> bool {
    match kind {
        Kind::Time | Kind::Number => {
            let known: HashSet<String> = numbers(question).into_iter().collect();
            numbers(text).iter().any(|number| !known.contains(number))
        }
        Kind::Person => {
            let known = names_in(question);
            text.chars().any(is_chinese) || names_in(text).iter().any(|name| !known.contains(name))
        }
    }
}

/// Runs of digits, and words for numbers.
fn numbers(text: &str) -> Vec<String> {
    const WORDS: [&str; 24] = [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "twenty",
        "thirty",
        "hundred",
        "thousand",
        "half",
        "january",
        "march",
        "june",
        "july",
        "september",
        "december",
        "double",
    ];
    let folded = text.to_lowercase();
    let mut found: Vec<String> = folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().any(|c| c.is_ascii_digit()) || WORDS.contains(word))
        .map(str::to_owned)
        .collect();
    let is_numeral = |c: char| "零〇一二三四五六七八九十百千万亿两半".contains(c);
    let runs = text.split(|c| !is_numeral(c)).filter(|run| !run.is_empty());
    found.extend(runs.map(str::to_owned));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_question_word_decides() {
        let kinds = [
            ("When did the person who built it leave?", Some(Kind::Time)),
            ("Who signed in which year?", Some(Kind::Person)),
            ("How much is a crane?", Some(Kind::Number)),
            ("What is the yearly fee?", Some(Kind::Number)),
            ("Does the fee include travel?", None),
            ("Is the shower overhauled?", None),
            ("May I keep my ring on when I pick?", None),
            ("When there is ice, how often must I look?", Some(Kind::Number)),
            ("娄景衡哪天进的公司？", Some(Kind::Time)),
            ("这笔钱是多少，由谁付？", Some(Kind::Number)),
            ("合同点头就行了吧？", None),
        ];
        for (question, kind) in kinds {
            assert_eq!(kind_of(question), kind, "{question}");
        }
    }

    #[test]
    fn values_from_the_question_are_no_answer() {
        assert!(holds_new_value("It lifts 40 tons.", Kind::Number, "How much does it lift?"));
        assert!(!holds_new_value(
            "The KX 40 lifts.",
            Kind::Number,
            "How much does the KX 40 lift?"
        ));
        assert!(holds_new_value("质保期为二十四个月", Kind::Number, "质保期多久？"));
        assert!(!holds_new_value("质保期另行约定", Kind::Number, "质保期多久？"));
        assert!(holds_new_value("Ilse Brandt signed.", Kind::Person, "Who signed?"));
    }
}
