//! Makes the steps of a plan by patterns of words, for bases without a language model: two questions joined by `and`, and a thing
//! that is named by its rank (`the part that failed most often`).

use pikerag_knowledge::StepKind;
use pikerag_language::pattern;
use pikerag_records::inquiry::{Cues, Wish};
use pikerag_tables::may_ask_for_figure;

use super::super::words;
use super::Step;

pattern!(
    JOINED,
    r"^(.*?)(?:,\s*|;\s*|\s+)and\s+((?:how (?:many|much|often|long)|what|which|who|whose|when|where|why|is|are|was|were|will|does|do|did)\b.*)$"
);
pattern!(
    JOINED_CHINESE,
    r"^([^，,；;]*(?:多少|几|谁|哪|什么|何时|为什么|如何)[^，,；;]*)[，,；;](?:并且|而且|以及|同时|又|那么)?([^，,；;]*(?:多少|几|谁|哪|什么|何时|为什么|如何|会不会).*)$"
);
pattern!(
    RANKED,
    r"^(.*?)\bthe ((?:\w+ )?\w+) (?:(?:that|which|who) (.+? (?:most|least)(?: often| frequently)?\b[^,?]*)|with (the (?:most|fewest|highest|lowest|largest|smallest|longest|shortest) [^,?]*?))\s*([,?].*)?$"
);
pattern!(
    RANKED_CHINESE,
    r"^([^，。？?]*?(?:最多|最少|最高|最低|最长|最短|最大|最小|最频繁|最常见))的([^，。？?的由是在有]{1,8})((?:由|是|在|的|有|为什么|何时|什么).*)$"
);

/// The steps of a question; fewer than two where the patterns see one question.
pub(super) fn steps(question: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in parts(question.trim()) {
        let name = |place: usize| format!("{}", (b'a' + (place % 26) as u8) as char);
        match ranked(&part) {
            Some((inner, before, after)) => {
                let held = name(steps.len());
                let outer = format!("{before}{{{held}}}{after}");
                steps.push(Step { name: held, kind: StepKind::Compute, question: inner });
                steps.push(Step {
                    name: name(steps.len()),
                    kind: kind_of(&outer),
                    question: outer,
                });
            }
            None => {
                let kind = kind_of(&part);
                steps.push(Step { name: name(steps.len()), kind, question: part });
            }
        }
    }
    let is_figure = |step: &Step| matches!(step.kind, StepKind::Compute | StepKind::Forecast);
    // Facts alone are read together, which finds more.
    if !steps.iter().any(is_figure) {
        steps.clear();
    }
    steps
}

/// The questions that are joined.
fn parts(question: &str) -> Vec<String> {
    for pattern in [&JOINED, &JOINED_CHINESE] {
        if let Some(found) = pattern.captures(question)
            && asks(&found[1])
        {
            let mark = if question.contains('？') { "？" } else { "?" };
            let whole = |part: &str| {
                let bare = part.trim().trim_end_matches(['?', '？']);
                let mut letters = bare.chars();
                let first =
                    letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
                format!("{first}{}{mark}", letters.as_str())
            };
            return vec![whole(&found[1]), whole(&found[2])];
        }
    }
    vec![question.to_owned()]
}

/// Whether a part is a question of its own.
fn asks(part: &str) -> bool {
    let first = part.trim().split(' ').next().unwrap_or_default().to_lowercase();
    let is_english = [
        "how", "what", "which", "who", "whose", "when", "where", "why", "is", "are", "was", "were",
        "will", "does", "do", "did", "in", "at", "on", "by", "for",
    ];
    is_english.contains(&first.as_str()) || !part.is_ascii()
}

/// The question for a thing that is named by its rank, and the words before and after that name.
fn ranked(question: &str) -> Option<(String, String, String)> {
    if let Some(found) = RANKED_CHINESE.captures(question) {
        return Some((
            format!("{}的{}是哪个？", &found[1], &found[2]),
            String::new(),
            found[3].to_owned(),
        ));
    }
    let found = RANKED.captures(question)?;
    let thing = &found[2];
    let inner = match (found.get(3), found.get(4)) {
        (Some(does), _) => format!("Which {thing} {}?", does.as_str().trim()),
        (None, Some(most)) => format!("Which {thing} has {}?", most.as_str().trim()),
        (None, None) => return None,
    };
    let after = found.get(5).map_or("?", |after| after.as_str());
    Some((inner, found[1].to_owned(), after.to_owned()))
}

fn kind_of(question: &str) -> StepKind {
    let cues = Cues::of(question);
    let is_figure = cues.wish.as_ref().is_some_and(|wish| !matches!(wish, Wish::List(_)));
    if words::looks_ahead(question) {
        StepKind::Forecast
    } else if is_figure || may_ask_for_figure(question) {
        StepKind::Compute
    } else if words::asks_for_a_summary(question) {
        StepKind::Summarize
    } else if words::compares(question) {
        StepKind::Compare
    } else {
        StepKind::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_split_where_they_join_and_where_they_rank() {
        let shown = |question: &str| {
            let lines = steps(question).into_iter().map(|step| {
                let kind: &str = step.kind.into();
                format!("{}: {kind}: {}", step.name, step.question)
            });
            format!("{question}\n  {}", lines.collect::<Vec<_>>().join("\n  "))
        };
        let questions = [
            "Who supplies the part that failed most often in 2024?",
            "Who supplies the part that failed most often in 2024, and how many failures will there be next quarter?",
            "In which town is the supplier with the most orders?",
            "Who founded the company, and where is it?",
            "How many repairs were there in 2024, and who signed the review?",
            "2024年故障最多的部件由谁供应？",
            "哪个部件的故障最多，2025年会有多少次故障？",
            "Who supplies the part?",
        ];
        insta::assert_snapshot!(questions.map(shown).join("\n"));
    }
}
