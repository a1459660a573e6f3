//! Words forecasts and their rationale.

use std::fmt::Write;

use pikerag_knowledge::worked::{Forecast, Outcome};

use crate::language::{InWords, Language, Words};
use crate::numbers::{amount, counted, number};

/// The last `wanted` points of a forecast, each with its interval.
pub fn forecast_points(
    forecast: &Forecast,
    wanted: usize,
    unit: Option<&str>,
    language: Language,
) -> String {
    let level = number(100.0 * forecast.level);
    let skipped = forecast.points.len().saturating_sub(wanted);
    let points = forecast.points.iter().skip(skipped).map(|point| {
        let value = amount(point.value, unit);
        let (low, high) = (number(point.low), number(point.high));
        let period = &point.period;
        Words::new(
            format!("{period}: {value} ({level} % interval {low} to {high})"),
            format!("{period}：{value}（{level}% 区间 {low} 至 {high}）"),
        )
        .of(language)
    });
    points.collect::<Vec<_>>().join(language.separator())
}

/// The forecasts of groups, each with its name, and the number of groups without a forecast.
pub fn group_forecasts<'a>(
    each: impl Iterator<Item = (&'a str, String)>,
    left_out: usize,
    language: Language,
) -> String {
    let mut text: Vec<String> = each
        .map(|(group, points)| format!("{group}{}{points}", language.either(" – ", "：")))
        .collect();
    if 0 < left_out {
        text.push(match language {
            Language::English => format!("no forecast for {}", counted(left_out, "further group")),
            Language::Chinese => format!("另有 {left_out} 组未作预测"),
        });
    }
    text.join(language.either("; ", "；"))
}

/// The past that a forecast continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The first period.
    pub first: String,
    /// The last period.
    pub last: String,
    /// The number of periods.
    pub length: usize,
}

/// The model and its errors, the periods left out or filled in, and the assumptions.
pub fn series_rationale(forecast: &Forecast, series: &Series, language: Language) -> String {
    let best = forecast.tried.first();
    let error = best.map_or_else(String::new, |tried| number(tried.mae));
    let scaled = best.and_then(|tried| tried.mase);
    let scaled = scaled.map_or_else(|| "–".to_owned(), |scaled| format!("{scaled:.2}"));
    let Series { first, last, length } = series;
    let model = forecast.model.words();
    let (compared, models) = (best.map_or(0, |tried| tried.compared), forecast.tried.len());
    let mut text = Words::new(
        format!(
            "The series has {length} figures, {first} to {last}. The forecast comes from {}, which had the least error of \
             {models} models in {compared} back-test figures: {error} on average, {scaled} of the naive error.",
            model.english
        ),
        format!(
            "序列共 {length} 期，{first} 至 {last}。采用{}：在 {compared} 个回测值中，它在 {models} 个模型里误差最小，平均误差 {error}，\
             为朴素法误差的 {scaled}。",
            model.chinese
        ),
    );
    let (within, all) = forecast.within;
    if 0 < all {
        let _ = write!(text.english, " {within} of {all} past figures were within their interval.");
        let _ = write!(text.chinese, "过去 {all} 个值中有 {within} 个落在当时的区间内。");
    }
    for (periods, english, chinese) in [
        (
            &forecast.partial,
            "left out, because the records cover only a part of it",
            "因记录只覆盖其中一部分而未计入",
        ),
        (
            &forecast.filled,
            "without a figure, filled in between its neighbours",
            "没有数值，取相邻两期之间的值",
        ),
    ] {
        if !periods.is_empty() {
            let _ = write!(text.english, " {}: {english}.", periods.join(", "));
            let _ = write!(text.chinese, "{}：{chinese}。", periods.join("、"));
        }
    }
    text.english.push_str(
        " The forecast assumes that the records are complete and that the causes of the past continue. A change of rules, of \
         capacity or of recording would change it, and so would documents that are not in the base.",
    );
    text.chinese.push_str(
        "此预测假定记录完整且过去的影响因素不变；规则、能力或记录口径的变化，以及未收入知识库的文档，都会改变结果。",
    );
    text.of(language)
}

/// The first `most` kinds of an outlook, each with its share and interval.
pub fn first_kinds(outlook: &[Outcome], most: usize, language: Language) -> String {
    let kinds = outlook.iter().take(most).map(|outcome| {
        let kind = &outcome.kind;
        let [share, low, high] = [outcome.share, outcome.low, outcome.high].map(percent);
        Words::new(
            format!("{kind} ({share} %, 80 % interval {low} to {high} %)"),
            format!("{kind}（{share}%，80% 区间 {low}% 至 {high}%）"),
        )
        .of(language)
    });
    kinds.collect::<Vec<_>>().join(language.separator())
}

/// The basis of the shares of `cases`, and the trend of the first kind.
pub fn kinds_rationale(cases: usize, trend: f64, language: Language) -> String {
    let points = percent(trend.abs());
    let (english, chinese) = if trend < 0.0 { ("lower", "低") } else { ("higher", "高") };
    Words::new(
        format!(
            "The shares are those of {cases} cases; the interval is Wilson's. The first kind's share in the later half of \
             them is {points} points {english} than in the earlier half. The forecast assumes that future cases are like the \
             recorded ones."
        ),
        format!(
            "份额取自 {cases} 个案例，区间按威尔逊方法。第一种在后半段案例中的份额比前半段{chinese} {points} 个百分点。\
             此判断假定今后的案例与已记录的相似。"
        ),
    )
    .of(language)
}

fn percent(share: f64) -> String {
    number((100.0 * share).round())
}
