//! Lays out a report in rows and columns.

use pikerag_narrate::Language;
use serde::Serialize;

use super::beside::is_role;
use super::{Beside, Comparison, Estimate, Metric, Report, Summary};

/// A head and its rows, all of the same length. The first column is text, the others are numbers.
pub(super) type Cells = Vec<Vec<String>>;

const LEGEND: &str = "\
Scores in %, with the 95 % bootstrap interval in brackets; a failed question scores 0.
Evidence: share of the gold evidence found. Per question: calls, prompt and reply tokens, seconds.
";
const LEGEND_IN_CHINESE: &str = "\
得分以 % 表示，方括号内是 95% 自助法置信区间；失败的问题计 0 分。
证据：找到的标准证据所占的比例。每个问题：调用次数、提示与回复的 Token、秒数。
";

/// The explanation below all tables.
pub(super) fn legend(language: Language) -> &'static str {
    language.either(LEGEND, LEGEND_IN_CHINESE)
}

/// A table under its title, for a terminal, Markdown or the page.
#[derive(Serialize)]
pub(super) struct Titled {
    pub(super) title: String,
    pub(super) cells: Cells,
}

/// All tables of a report, each under its title, laid out by `layout`; the tables of a data set
/// come under the heading that `head` makes of its name.
pub(super) fn all(
    report: &Report,
    language: Language,
    layout: fn(&str, &Cells) -> String,
    head: fn(&str) -> String,
) -> String {
    let block = |table: &Titled| layout(&table.title, &table.cells);
    let mut blocks: Vec<String> =
        main(report, language).iter().chain(&groups(report, language)).map(block).collect();
    for part in &report.data_sets {
        blocks.push(head(&part.name));
        let tables = main(&part.report, language).into_iter();
        let tables = tables.chain(groups(&part.report, language));
        blocks.extend(tables.map(|table| block(&table)));
    }
    blocks.push(legend(language).to_owned());
    blocks.join("\n")
}

/// The tables over all questions of a report.
pub(super) fn main(report: &Report, language: Language) -> Vec<Titled> {
    let mut tables = Vec::new();
    let mut add = |title: [&str; 2], cells: Cells, least: usize| {
        if least <= cells.len() {
            tables.push(Titled { title: either(language, title), cells });
        }
    };
    let Report { overall, significance, .. } = report;
    add(["All questions", "全部问题"], figures(overall, language), 0);
    add(["Forecasts, ideas, routing", "预测、创意与分类"], levels(overall, language), 2);
    add(["Answers and money", "回答与费用"], conduct(overall, language), 2);
    let title = ["Evidence found after each iteration", "每轮之后找到的证据"];
    add(title, recalls(overall, language), 2);
    let title =
        ["Calls and tokens per question, by component", "每个问题的调用与 Token，按组成部分"];
    add(title, components(overall, language), 2);
    let title = ["Difference to the first method", "与第一个方法的差异"];
    add(title, differences(significance, language), 2);
    add(["Beside the papers", "与论文对照"], beside(&report.beside, language), 2);
    tables
}

/// The tables by type, by class and by hops.
pub(super) fn groups(report: &Report, language: Language) -> Vec<Titled> {
    let colon = language.either(": ", "：");
    let titled = |english: &'static str, chinese: &'static str| {
        move |group: &super::Group| Titled {
            title: format!("{}{colon}{}", language.either(english, chinese), group.name),
            cells: figures(&group.summaries, language),
        }
    };
    let kinds = report.by_kind.iter().map(titled("Type", "类型"));
    let classes = report.by_class.iter().map(titled("Answered as", "回答时的类别"));
    let hops = report.by_hops.iter().map(titled("Hops", "跳数"));
    kinds.chain(classes).chain(hops).collect()
}

/// One of two texts, in English and Chinese.
fn either(language: Language, [english, chinese]: [&str; 2]) -> String {
    language.either(english, chinese).to_owned()
}

/// A head of columns, each in English and Chinese.
fn heads<const N: usize>(language: Language, heads: [[&str; 2]; N]) -> Vec<String> {
    heads.into_iter().map(|head| either(language, head)).collect()
}

const METHOD: [&str; 2] = ["method", "方法"];
const QUESTIONS: [&str; 2] = ["n", "问题数"];
const CALLS: [&str; 2] = ["calls", "调用"];
const PROMPT: [&str; 2] = ["prompt", "提示"];
const REPLY: [&str; 2] = ["reply", "回复"];
const METRIC: [&str; 2] = ["metric", "指标"];
const DIFFERENCE: [&str; 2] = ["difference", "差异"];

/// Columns padded to their widest cell: text to the right, numbers to the left.
pub(super) fn aligned(title: &str, cells: &Cells) -> String {
    let widths = widths(cells);
    let mut out = format!("{title}\n");
    for row in cells {
        let padded: Vec<String> = padded(row, &widths).collect();
        out += padded.join("  ").trim_end();
        out.push('\n');
    }
    out
}

/// A Markdown table, aligned in the source too.
pub(super) fn markdown(title: &str, cells: &Cells) -> String {
    let escaped = |cell: &String| one_line(&cell.replace('|', "\\|"));
    let cells: Cells = cells.iter().map(|row| row.iter().map(escaped).collect()).collect();
    let widths = widths(&cells);
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines: Vec<String> =
        cells.iter().map(|row| line(padded(row, &widths).collect())).collect();
    let rule = |(column, width): (usize, &usize)| match column {
        0 => "-".repeat(*width),
        _ => "-".repeat(width.saturating_sub(1)) + ":",
    };
    lines.insert(1.min(lines.len()), line(widths.iter().enumerate().map(rule).collect()));
    format!("### {}\n\n{}\n", one_line(title), lines.join("\n"))
}

/// On one line, without markup: a name may hold any characters.
pub(super) fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ").replace('<', "&lt;")
}

fn figures(summaries: &[Summary], language: Language) -> Cells {
    let has = |metric: &Metric| summaries.iter().any(|s| s.further.contains_key(metric));
    let further: Vec<Metric> = Metric::FURTHER.into_iter().filter(has).collect();
    let own = [Metric::Em, Metric::F1, Metric::Precision, Metric::Recall];
    let mut head = heads(language, [METHOD, QUESTIONS, ["failed", "失败"]]);
    head.extend(own.iter().chain(&further).map(|metric| metric.head_in(language).to_owned()));
    head.push(Metric::Evidence.head_in(language).to_owned());
    head.extend(heads(language, [CALLS, PROMPT, REPLY, ["seconds", "秒"]]));
    let mut cells = vec![head];
    for summary in summaries {
        let estimate = |estimate: Option<&Estimate>| estimate.map_or("–".to_owned(), with_interval);
        let further_one = |metric: &Metric| match summary.further.get(metric) {
            Some(one) if !metric.is_share() => {
                format!("{:.2} [{:.2}, {:.2}]", one.mean, one.low, one.high)
            }
            share => estimate(share),
        };
        cells.push(row_of(
            &[
                &summary.method,
                &summary.questions.to_string(),
                &summary.failed.to_string(),
                &with_interval(&summary.em),
                &with_interval(&summary.f1),
                &percent(summary.precision.mean),
                &percent(summary.recall.mean),
            ],
            further.iter().map(further_one),
            &[
                &estimate(summary.final_recall.as_ref()),
                &format!("{:.1}", summary.calls.mean),
                &format!("{:.0}", summary.prompt_tokens.mean),
                &format!("{:.0}", summary.completion_tokens.mean),
                &format!("{:.2}", summary.seconds.mean),
            ],
        ));
    }
    cells
}

fn row_of(before: &[&str], between: impl Iterator<Item = String>, after: &[&str]) -> Vec<String> {
    let own = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    own(before).into_iter().chain(between).chain(own(after)).collect()
}

/// The scores of §6.1 of PIKE-RAG for the levels L3 and L4; only the header if no question is of
/// these levels.
fn levels(summaries: &[Summary], language: Language) -> Cells {
    let has = |metric: &Metric| summaries.iter().any(|s| s.further.contains_key(metric));
    let shown: Vec<Metric> = Metric::OF_LEVELS.into_iter().filter(has).collect();
    let mut head = heads(language, [METHOD]);
    head.extend(shown.iter().map(|metric| metric.head_in(language).to_owned()));
    let mut cells = vec![head];
    for summary in summaries.iter().filter(|_| !shown.is_empty()) {
        let one = |metric: &Metric| summary.further.get(metric);
        let values = shown.iter().map(|metric| one(metric).map_or("–".to_owned(), with_interval));
        cells.push(row_of(&[&summary.method], values, &[]));
    }
    cells
}

/// Refusals, citations, money and judging; only the header if no method has any of these.
fn conduct(summaries: &[Summary], language: Language) -> Cells {
    let head = [
        METHOD,
        ["refused", "拒答"],
        ["citations ✓", "引用 ✓"],
        ["US$", "美元"],
        ["judge calls", "评判调用"],
        ["judge tokens", "评判 Token"],
    ];
    let mut cells = vec![heads(language, head)];
    for summary in summaries {
        let judge = summary.judge;
        let nothing = summary.refused == 0.0 && summary.usd.is_none() && judge.calls == 0.0;
        if nothing && summary.citations.is_none() {
            continue;
        }
        let tokens = judge.prompt_tokens + judge.completion_tokens;
        cells.push(vec![
            summary.method.clone(),
            percent(summary.refused),
            summary.citations.as_ref().map_or("–".to_owned(), with_interval),
            summary.usd.map_or("–".to_owned(), |usd| format!("{usd:.6}")),
            format!("{:.1}", judge.calls),
            format!("{tokens:.0}"),
        ]);
    }
    cells
}

/// KAR³ Table 8; only the header if no method iterates.
fn recalls(summaries: &[Summary], language: Language) -> Cells {
    let n_iterations = summaries.iter().map(|s| s.supporting_recall.len()).max().unwrap_or(0);
    let numbers = (1..=n_iterations).map(|n| n.to_string());
    let mut cells: Cells = vec![heads(language, [METHOD]).into_iter().chain(numbers).collect()];
    for summary in summaries.iter().filter(|summary| !summary.supporting_recall.is_empty()) {
        let mut row = vec![summary.method.clone()];
        row.extend(summary.supporting_recall.iter().copied().map(percent));
        row.resize(n_iterations + 1, "–".to_owned());
        cells.push(row);
    }
    cells
}

/// KAR³ Table 11; only the header without model calls.
fn components(summaries: &[Summary], language: Language) -> Cells {
    let head = [METHOD, ["component", "组成部分"], CALLS, PROMPT, REPLY, ["total", "合计"]];
    let mut cells = vec![heads(language, head)];
    for summary in summaries {
        for (role, cost) in &summary.by_role {
            cells.push(vec![
                summary.method.clone(),
                role.to_string(),
                format!("{:.1}", cost.calls),
                format!("{:.0}", cost.prompt_tokens),
                format!("{:.0}", cost.completion_tokens),
                format!("{:.0}", cost.prompt_tokens + cost.completion_tokens),
            ]);
        }
    }
    cells
}

fn differences(comparisons: &[Comparison], language: Language) -> Cells {
    let head = [
        METHOD,
        ["against", "对照"],
        METRIC,
        QUESTIONS,
        DIFFERENCE,
        ["p", "p"],
        ["p (Holm)", "p（Holm）"],
    ];
    let mut cells = vec![heads(language, head)];
    for comparison in comparisons {
        let Estimate { mean, low, high } = comparison.difference;
        let points = |difference: f64| match comparison.metric.is_share() {
            true => format!("{:+.1}", 100.0 * difference + 0.0),
            false => format!("{:+.2}", difference + 0.0),
        };
        cells.push(vec![
            comparison.method.clone(),
            comparison.against.clone(),
            comparison.metric.head_in(language).to_owned(),
            comparison.questions.to_string(),
            format!("{} [{}, {}]", points(mean), points(low), points(high)),
            probability(comparison.p),
            probability(comparison.p_holm),
        ]);
    }
    cells
}

fn probability(p: f64) -> String {
    if p < 0.0005 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

fn beside(all: &[Beside], language: Language) -> Cells {
    let head = [
        METHOD,
        METRIC,
        ["ours", "本项目"],
        ["theirs", "论文"],
        DIFFERENCE,
        ["paper", "出处"],
        ["model", "模型"],
    ];
    let mut cells = vec![heads(language, head)];
    for beside in all {
        let theirs = &beside.theirs;
        let metric = beside.metric.head_in(language);
        let what = match (theirs.component.as_deref(), language) {
            (None, _) => metric.to_owned(),
            (Some(role), Language::English) if is_role(role) => format!("{metric} of {role}"),
            (Some(role), Language::Chinese) if is_role(role) => format!("{role} 的{metric}"),
            (Some(model), Language::English) => format!("{metric} with {model}"),
            (Some(model), Language::Chinese) => format!("{metric}（{model}）"),
        };
        let number = |value: f64| match beside.metric.is_share() {
            true => format!("{value:.1}"),
            false => format!("{value:.0}"),
        };
        cells.push(vec![
            beside.method.clone(),
            what,
            number(beside.ours),
            number(theirs.value),
            format!("{:+.1}", beside.ours - theirs.value),
            format!("{} {} {}", theirs.paper, language.either("Table", "表"), theirs.table),
            theirs.model.clone(),
        ]);
    }
    cells
}

fn with_interval(Estimate { mean, low, high }: &Estimate) -> String {
    format!("{} [{}, {}]", percent(*mean), percent(*low), percent(*high))
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn widths(cells: &Cells) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in cells {
        widths.resize(widths.len().max(row.len()), 2); // Markdown needs at least `-:`.
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = columns(cell).max(*width);
        }
    }
    widths
}

fn padded<'a>(row: &'a [String], widths: &'a [usize]) -> impl Iterator<Item = String> + 'a {
    row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
        let space = " ".repeat(width.saturating_sub(columns(cell)));
        if column == 0 { format!("{cell}{space}") } else { format!("{space}{cell}") }
    })
}

/// The columns of a text on a terminal: Chinese characters and marks take two.
fn columns(text: &str) -> usize {
    let is_wide = |c: char| ('\u{2e80}'..'\u{ffe7}').contains(&c);
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}
