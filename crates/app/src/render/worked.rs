//! Shows the data of a computed answer on a terminal: figures as a table with bars, a series with its forecast, a comparison
//! of things, a judgement with its evidence, and ideas.

use std::fmt::Write;

use pikerag_engine::format_number;
use pikerag_engine::knowledge::worked::{
    Argument, Comparison, Figure, Figures, Forecast, Idea, Prospect, WorkedStep,
};
use pikerag_engine::knowledge::{TaskClass, Worked};
use pikerag_engine::narrate::{InWords, Language, Words, argument};

use super::{short, width};
use crate::plain::one_line;

/// The largest number of rows; of a series the last ones are shown.
const ROWS: usize = 24;
/// Characters of the longest bar.
const BAR: f64 = 40.0;
/// Characters of a label, and of a cell.
const LABEL: usize = 28;
const CELL: usize = 60;
/// Characters of the question and of the result of a step, and its citations.
const STEP: usize = 240;
const STEP_CITED: usize = 4;

/// The data of an answer; empty for an answer from passages.
pub(super) fn shown(worked: &Worked, language: Language) -> String {
    let mut shown = String::new();
    for (place, step) in worked.steps.iter().enumerate() {
        write_step(&mut shown, place + 1, step);
    }
    for forecast in worked.forecast.iter().chain(&worked.forecasts) {
        write_series(&mut shown, worked.figures.as_ref(), forecast, language);
    }
    if let Some(figures) = &worked.figures
        && worked.forecast.is_none()
        && worked.class != TaskClass::Comparative
    {
        write_bars(&mut shown, figures, language);
    }
    if let Some(comparison) = &worked.comparison {
        write_comparison(&mut shown, comparison, language);
    }
    if let Some(prospect) = &worked.prospect {
        write_prospect(&mut shown, prospect, language);
    }
    for idea in &worked.ideas {
        write_idea(&mut shown, idea, language);
    }
    shown
}

fn bar(value: f64, most: f64, sign: char) -> String {
    let length = if 0.0 < most { (value.max(0.0) / most * BAR).round() } else { 0.0 };
    std::iter::repeat_n(sign, length as usize).collect()
}

/// A step of a plan: its question, its result, the numbers of its citations.
fn write_step(shown: &mut String, place: usize, step: &WorkedStep) {
    let numbers: Vec<String> =
        step.citations.iter().take(STEP_CITED).map(|number| format!("[{number}]")).collect();
    let more = if STEP_CITED < step.citations.len() { "…" } else { "" };
    let gap = if place == 1 { "\n" } else { "" };
    let _ = writeln!(shown, "{gap}  {place}. {}", short(&one_line(&step.question), STEP));
    let answer = short(&one_line(&step.answer), STEP);
    let _ = writeln!(shown, "     {}", format!("{answer} {}{more}", numbers.concat()).trim_end());
}

/// Bars of several figures; one figure needs none.
fn write_bars(shown: &mut String, figures: &Figures, language: Language) {
    if figures.rows.len() < 2 {
        return;
    }
    let most = figures.rows.iter().filter_map(|row| row.value).fold(0.0, f64::max);
    let label = |row: &Figure| short(&one_line(&row.label()), LABEL);
    let wide = figures.rows.iter().take(ROWS).map(|row| width(&label(row))).max().unwrap_or(0);
    shown.push('\n');
    for row in figures.rows.iter().take(ROWS) {
        let label = label(row);
        let pad = " ".repeat(wide.saturating_sub(width(&label)));
        let value = row.value.map_or_else(|| "–".to_owned(), format_number);
        let unit =
            row.unit.as_ref().map_or_else(String::new, |unit| format!(" {}", one_line(unit)));
        let bar = bar(row.value.unwrap_or_default(), most, '█');
        let _ = writeln!(shown, "  {label}{pad}  {bar} {value}{unit}");
    }
    if let Some(more @ 1..) = figures.rows.len().checked_sub(ROWS) {
        let more = Words::new(format!("… and {more} more"), format!("……另有 {more} 行"));
        let _ = writeln!(shown, "  {}", more.of(language));
    }
}

/// The series of a forecast, else the figures of a run of an earlier version.
fn write_series(
    shown: &mut String,
    figures: Option<&Figures>,
    forecast: &Forecast,
    language: Language,
) {
    let own = forecast.past.iter().map(|known| (known.period.clone(), known.value));
    let rows = figures.map(|figures| figures.rows.as_slice()).filter(|_| forecast.past.is_empty());
    let of_figures = rows.unwrap_or_default().iter().map(|row| (row.key.join(", "), row.value));
    let past: Vec<(String, Option<f64>)> = own.chain(of_figures).collect();
    let known = past.iter().filter_map(|(_, value)| *value);
    let most = known.chain(forecast.points.iter().map(|point| point.high)).fold(0.0, f64::max);
    shown.push('\n');
    if let Some(group) = &forecast.group {
        let _ = writeln!(shown, "  {}", short(&one_line(group), CELL));
    }
    let left = past.len().saturating_sub(ROWS);
    if 0 < left {
        let before = Words::new(format!("… {left} before"), format!("……此前 {left} 期"));
        let _ = writeln!(shown, "  {}", before.of(language));
    }
    for (period, value) in past.iter().skip(left) {
        let bar = bar(value.unwrap_or_default(), most, '█');
        let value = value.map_or_else(|| "–".to_owned(), format_number);
        let _ = writeln!(shown, "  {period:8}  {bar} {value}");
    }
    for point in &forecast.points {
        let (low, value, high) =
            (bar(point.low, most, '▒'), bar(point.value, most, '▒'), bar(point.high, most, '·'));
        let body = value.chars().count().max(low.chars().count());
        let tail: String = high.chars().skip(body).collect();
        let (point_value, from, to) =
            (format_number(point.value), format_number(point.low), format_number(point.high));
        let _ = writeln!(shown, "  {:8}  {value}{tail} {point_value} ({from}–{to})", point.period);
    }
}

fn write_comparison(shown: &mut String, comparison: &Comparison, language: Language) {
    let colon = language.either(": ", "：");
    for row in &comparison.rows {
        let _ = writeln!(shown, "\n  {}", short(&one_line(&row.attribute), CELL));
        for (thing, cell) in comparison.things.iter().zip(&row.cells) {
            let value = cell.as_ref().map_or_else(
                || language.either("not stated", "未说明").to_owned(),
                |cell| {
                    let number =
                        cell.citation.map(|number| format!(" [{number}]")).unwrap_or_default();
                    format!("{}{number}", short(&one_line(&cell.text), 3 * CELL))
                },
            );
            let _ = writeln!(shown, "    {}{colon}{value}", short(&one_line(thing), LABEL));
        }
    }
}

fn write_prospect(shown: &mut String, prospect: &Prospect, language: Language) {
    let sides = [
        (&prospect.for_it, language.either("for it:", "支持：")),
        (&prospect.against, language.either("against it:", "反对：")),
        (&prospect.found, language.either("the documents say:", "文档中的说明：")),
    ];
    for (arguments, lead) in sides {
        if arguments.is_empty() {
            continue;
        }
        let _ = writeln!(shown, "\n  {lead}");
        for one in arguments {
            write_argument(shown, one, language);
        }
    }
    if 0 < prospect.unchecked {
        let count = prospect.unchecked;
        let left = Words::new(
            format!("left out, because the documents do not contain the quote: {count}"),
            format!("因文档中没有其引文而舍去的论据：{count} 条"),
        );
        let _ = writeln!(shown, "\n  {}", left.of(language));
    }
    if let Some(change) = &prospect.would_change {
        let lead = language.either("this would change the verdict: ", "以下情况会改变结论：");
        let _ = writeln!(shown, "\n  {lead}{}", one_line(change));
    }
}

fn write_argument(shown: &mut String, one: &Argument, language: Language) {
    let number = one.citation.map(|number| format!(" [{number}]")).unwrap_or_default();
    let _ = writeln!(shown, "    • {}{number}", one_line(&argument(one, language)));
}

fn write_idea(shown: &mut String, idea: &Idea, language: Language) {
    let perspectives = idea.perspectives.join(language.either(", ", "、"));
    let (title, perspectives) = (one_line(&idea.title), one_line(&perspectives));
    let lead =
        Words::new(format!("{title} ({perspectives})"), format!("{title}（{perspectives}）"));
    let _ = writeln!(shown, "\n  • {}", lead.of(language));
    let _ = writeln!(shown, "    {}", one_line(&idea.text));
    if let Some(scores) = &idea.scores {
        let lead = language.either("judged: ", "评分：");
        let _ = writeln!(shown, "    {lead}{}", scores.in_words(language));
    }
    for dissent in &idea.dissent {
        let lead = language.either("against: ", "反对意见：");
        let _ = writeln!(shown, "    {lead}{}", one_line(dissent));
    }
    for finding in &idea.findings {
        let (question, answer) = (one_line(&finding.question), one_line(&finding.answer));
        let lead = language.either("found: ", "已查明：");
        let _ = writeln!(shown, "    {lead}{question} → {}", short(&answer, 3 * CELL));
    }
    let numbers: Vec<String> = idea.citations.iter().map(|number| format!("[{number}]")).collect();
    if !numbers.is_empty() {
        let lead = language.either("based on ", "依据：");
        let _ = writeln!(shown, "    {lead}{}", numbers.join(""));
    }
    for gap in &idea.gaps {
        let (missing, next) = (one_line(&gap.missing), one_line(&gap.next_step));
        let gap = Words::new(
            format!("not known: {missing}; next: {next}"),
            format!("尚不清楚：{missing}；下一步：{next}"),
        );
        let _ = writeln!(shown, "    {}", gap.of(language));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both sides are shown with their citations; without a verdict, the quotes are.
    #[test]
    fn a_judgement_is_shown_with_its_evidence() {
        let argument = |text: &str, citation| Argument {
            text: text.to_owned(),
            citation: Some(citation),
            trend: None,
        };
        let judged = Prospect {
            statement: "Night stops get worse.".to_owned(),
            for_it: vec![argument("They rose.", 1)],
            against: vec![argument("Covers helped.", 2)],
            unchecked: 1,
            would_change: Some("A dry winter.".to_owned()),
            ..Prospect::default()
        };
        let mut worked = Worked::of(TaskClass::Predictive);
        worked.prospect = Some(judged.clone());
        insta::assert_snapshot!(shown(&worked, Language::English), @r"

          for it:
            • They rose. [1]

          against it:
            • Covers helped. [2]

          left out, because the documents do not contain the quote: 1

          this would change the verdict: A dry winter.
        ");
        let chinese = shown(&worked, Language::Chinese);
        assert!(
            chinese.contains("支持：") && chinese.contains("以下情况会改变结论："),
            "{chinese}"
        );
        worked.prospect = Some(Prospect { found: judged.for_it, ..Prospect::default() });
        assert!(shown(&worked, Language::English).contains("the documents say:"));
    }
}
