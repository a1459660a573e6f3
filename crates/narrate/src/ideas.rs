//! Words the scores of ideas, and the rounds in which agents judge and revise them.

use pikerag_knowledge::facts::JudgedIdea;
use pikerag_knowledge::worked::IdeaScores;

use crate::language::{InWords, Language, Words};
use crate::numbers::number;

impl InWords for IdeaScores {
    fn words(&self) -> Words {
        let one = |score: f64| number((10.0 * score).round() / 10.0);
        let (fit, feasibility, novelty) = (one(self.fit), one(self.feasibility), one(self.novelty));
        Words::new(
            format!("fit {fit}, feasibility {feasibility}, novelty {novelty}"),
            format!("切题 {fit}，可行 {feasibility}，新颖 {novelty}"),
        )
    }
}

/// The ranking after a round: `Critique 1: A (fit 4, feasibility 3, novelty 2) > B.`
pub(crate) fn critique(round: usize, ranking: &[JudgedIdea]) -> Words {
    let ranked = |language| {
        let line = |idea: &JudgedIdea| match &idea.scores {
            Some(scores) => {
                let scores = scores.in_words(language);
                let (open, close) = (language.either(" (", "（"), language.either(")", "）"));
                format!("{}{open}{scores}{close}", idea.title)
            }
            None => idea.title.clone(),
        };
        ranking.iter().map(line).collect::<Vec<_>>().join(" > ")
    };
    Words::new(
        format!("Critique {round}: {}.", ranked(Language::English)),
        format!("第 {round} 轮互评：{}。", ranked(Language::Chinese)),
    )
}

/// The ideas that an agent changed, defended and dropped: `“cost” changes A; drops B.`
pub(crate) fn revision(
    name: &str,
    changed: &[String],
    defended: &[String],
    dropped: &[String],
) -> Words {
    let parts = |language: Language| {
        let part = |(titles, english, chinese): (&[String], &str, &str)| {
            let titles = titles.join(language.either(", ", "、"));
            let verb = language.either(english, chinese);
            (!titles.is_empty()).then(|| format!("{verb}{titles}"))
        };
        [
            (changed, "changes ", "修改："),
            (defended, "defends ", "坚持："),
            (dropped, "drops ", "放弃："),
        ]
        .into_iter()
        .filter_map(part)
        .collect::<Vec<_>>()
        .join(language.either("; ", "；"))
    };
    Words::new(
        format!("The agent “{name}” answers objections: it {}.", parts(Language::English)),
        format!("智能体“{name}”回应反对意见：{}。", parts(Language::Chinese)),
    )
}
