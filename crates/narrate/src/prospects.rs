//! Words the judgement of a development: its verdict, its text, and computed trends as evidence.

use pikerag_knowledge::Likelihood;
use pikerag_knowledge::worked::{Argument, Direction, Prospect, Trend};

use crate::language::{InWords, Language, Words};
use crate::numbers::{amount, number};

impl InWords for Likelihood {
    fn words(&self) -> Words {
        match self {
            Self::Likely => Words::new("likely", "很可能"),
            Self::Unlikely => Words::new("unlikely", "不太可能"),
            Self::Uncertain => Words::new("uncertain", "不确定"),
        }
    }
}

impl InWords for Trend {
    fn words(&self) -> Words {
        let (english, chinese) = match self.direction {
            Direction::Rising => ("rising", "上升"),
            Direction::Falling => ("falling", "下降"),
            Direction::Level => ("without a clear direction", "无明显方向"),
        };
        let figure = |value: Option<f64>| {
            value.map_or_else(|| "–".to_owned(), |value| amount(value, self.unit.as_deref()))
        };
        let (first, last) = (figure(self.first.value), figure(self.last.value));
        let (from, to, length) = (&self.first.period, &self.last.period, self.length);
        let (next, next_zh) = match &self.next {
            Some(point) => {
                let value = figure(Some(point.value));
                let (low, high) = (number(point.low), number(point.high));
                (
                    format!("; forecast for {}: {value} ({low} to {high})", point.period),
                    format!("；{}的预测值：{value}（{low} 至 {high}）", point.period),
                )
            }
            None => Default::default(),
        };
        Words::new(
            format!("computed: {length} figures, {english}: {from}: {first}, {to}: {last}{next}"),
            format!("计算所得：共 {length} 期，{chinese}：{from}：{first}，{to}：{last}{next_zh}"),
        )
    }
}

/// One argument on one line: its text, or its trend in words, without its citation.
pub fn argument(argument: &Argument, language: Language) -> String {
    match &argument.trend {
        Some(trend) => trend.in_words(language),
        None => argument.text.clone(),
    }
}

/// The answer of a judgement: the verdict, the statement, and the model's reason. The reason is left out if the verdict lost its
/// support, because it argues for another one.
pub fn prospect_answer(prospect: &Prospect, reason: &str, language: Language) -> String {
    let Some(verdict) = prospect.verdict else { return String::new() };
    let verdict = verdict.in_words(language);
    let mut initial = verdict.chars();
    let verdict = initial
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(initial).collect::<String>());
    let colon = language.either(": ", "：");
    let lead = format!("{verdict}{colon}{}", ended(&prospect.statement, language));
    let space = language.space();
    match &prospect.unsupported {
        Some(model) => {
            let model = model.in_words(language);
            let why = Words::new(
                format!(
                    "A model judged “{model}”, but the documents do not contain a quote that supports it."
                ),
                format!("模型判断为“{model}”，但文档中没有支持这一判断的引文。"),
            );
            format!("{lead}{space}{}", why.of(language))
        }
        None if reason.is_empty() => lead,
        None => format!("{lead}{space}{reason}"),
    }
}

/// A sentence with a mark at its end.
fn ended(sentence: &str, language: Language) -> String {
    let sentence = sentence.trim();
    match sentence.ends_with(['.', '!', '?', '。', '！', '？']) {
        true => sentence.to_owned(),
        false => format!("{sentence}{}", language.either(".", "。")),
    }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::worked::Known;

    use super::*;

    fn judged(verdict: Likelihood, unsupported: Option<Likelihood>) -> Prospect {
        let statement = "Night stops get worse".to_owned();
        Prospect { statement, verdict: Some(verdict), unsupported, ..Prospect::default() }
    }

    #[test]
    fn a_verdict_comes_with_its_reason_or_says_why_it_has_none() {
        let likely = judged(Likelihood::Likely, None);
        assert_eq!(
            prospect_answer(&likely, "It was wet.", Language::English),
            "Likely: Night stops get worse. It was wet."
        );
        let lowered = judged(Likelihood::Uncertain, Some(Likelihood::Unlikely));
        assert_eq!(
            prospect_answer(&lowered, "It was dry.", Language::English),
            "Uncertain: Night stops get worse. A model judged “unlikely”, but the documents do not contain a quote that \
             supports it."
        );
        let lowered = prospect_answer(&lowered, "", Language::Chinese);
        assert!(lowered.starts_with("不确定：") && lowered.contains("“不太可能”"), "{lowered}");
        assert_eq!(prospect_answer(&Prospect::default(), "x", Language::English), "");
    }

    #[test]
    fn a_trend_shows_its_figures() {
        let known = |period: &str, value| Known { period: period.to_owned(), value: Some(value) };
        let trend = Trend {
            direction: Direction::Rising,
            first: known("2020", 3.0),
            last: known("2024", 9.0),
            length: 5,
            next: None,
            unit: Some("h".to_owned()),
        };
        assert_eq!(
            trend.in_words(Language::English),
            "computed: 5 figures, rising: 2020: 3 h, 2024: 9 h"
        );
        assert_eq!(
            trend.in_words(Language::Chinese),
            "计算所得：共 5 期，上升：2020：3 h，2024：9 h"
        );
    }
}
