//! Writes the report as one page with tables and plots, in light and dark, without loading
//! anything.

use pikerag_narrate::Language;
use pikerag_prompt::{Markup, MarkupError};
use serde::Serialize;

use super::plots::{self, Bar, Line, Point};
use super::table::{self, Titled};
use super::{Metric, Report, Row, Summary};
use crate::EvalError;
use crate::plot::Plot;

/// The page is a file of a run, and these are in English.
const LANGUAGE: Language = Language::English;
/// Answers shown per method and data set.
const MOST_ANSWERS: usize = 200;
/// Letters shown of an answer.
const MOST_LETTERS: usize = 300;

/// The report as a page of its own, with the answers of `rows` at the end. All names and answers
/// are escaped: they come from data sets and models.
///
/// # Errors
/// A template of ours is broken.
pub fn html(report: &Report, rows: &[Row], title: &str) -> Result<String, EvalError> {
    let parts = report.data_sets.iter().map(|part| section(&part.name, &part.report));
    let page = Page {
        title,
        sections: std::iter::once(section("", report)).chain(parts).collect(),
        legend: table::legend(LANGUAGE).lines().collect(),
        answers: answers(rows),
    };
    let rendered = templates().and_then(|templates| templates.render("report.html", page));
    rendered.map_err(|source| EvalError::Page { source })
}

/// The page and what it includes.
pub(super) fn templates() -> Result<Markup, MarkupError> {
    Markup::new(&[
        ("report.html", include_str!("templates/report.html")),
        ("report.css", include_str!("templates/report.css")),
        ("table.html", include_str!("templates/table.html")),
    ])
}

#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    sections: Vec<Section<'a>>,
    legend: Vec<&'a str>,
    answers: Vec<Titled>,
}

/// All questions together (no name), or a data set's.
#[derive(Serialize)]
struct Section<'a> {
    name: &'a str,
    plots: Vec<String>,
    tables: Vec<Titled>,
    groups: Vec<Titled>,
}

fn section<'a>(name: &'a str, report: &Report) -> Section<'a> {
    Section {
        name,
        plots: drawn(&report.overall),
        tables: table::main(report, LANGUAGE),
        groups: table::groups(report, LANGUAGE),
    }
}

/// Accuracy against tokens, evidence against iterations, calls per component; each if there is data
/// for it.
fn drawn(summaries: &[Summary]) -> Vec<String> {
    let mut drawn = Vec::new();
    let is_judged = summaries.iter().any(|summary| summary.further.contains_key(&Metric::Acc));
    let (metric, name) =
        if is_judged { (Metric::Acc, "Acc in %") } else { (Metric::F1, "F1 in %") };
    let point = |summary: &Summary| {
        let estimate = match metric {
            Metric::F1 => Some(&summary.f1),
            further => summary.further.get(&further),
        };
        let estimate = estimate?;
        Some(Point {
            label: summary.method.clone(),
            x: summary.mean(Metric::Tokens)?,
            y: 100.0 * estimate.mean,
            low: 100.0 * estimate.low,
            high: 100.0 * estimate.high,
        })
    };
    let points: Vec<Point> = summaries.iter().filter_map(point).collect();
    if !points.is_empty() {
        drawn.push(plots::scatter("Accuracy against tokens", "tokens per question", name, &points));
    }
    let line = |summary: &Summary| Line {
        label: summary.method.clone(),
        points: (1..)
            .zip(&summary.supporting_recall)
            .map(|(n, recall)| (f64::from(n), 100.0 * recall))
            .collect(),
    };
    let lines: Vec<Line> =
        summaries.iter().filter(|s| !s.supporting_recall.is_empty()).map(line).collect();
    if !lines.is_empty() {
        let name = "evidence found in %";
        drawn.push(plots::lines("Evidence against iterations", "iteration (N)", name, &lines));
    }
    let bar = |summary: &Summary| Bar {
        label: summary.method.clone(),
        parts: summary.by_role.iter().map(|(role, cost)| (role.to_string(), cost.calls)).collect(),
    };
    let bars: Vec<Bar> = summaries.iter().filter(|s| !s.by_role.is_empty()).map(bar).collect();
    if !bars.is_empty() {
        drawn.push(plots::bars("Calls per component", "model calls per question", &bars));
    }
    drawn.into_iter().map(Plot::for_page).collect()
}

/// The answers of each method to each data set, in the order in which the rows first name them.
fn answers(rows: &[Row]) -> Vec<Titled> {
    let mut groups: Vec<((&str, &str), Vec<&Row>)> = Vec::new();
    for row in rows {
        let key = (row.data_set.as_str(), row.method.as_str());
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    let table = |((data_set, method), rows): ((&str, &str), Vec<&Row>)| {
        let shown = rows.len().min(MOST_ANSWERS);
        let title = format!("{method} on {data_set}: {shown} of {}", rows.len());
        let head = ["question", "EM", "F1", "Acc", "answer"].map(str::to_owned).to_vec();
        let cells = rows.into_iter().take(MOST_ANSWERS).map(cells_of);
        Titled { title, cells: std::iter::once(head).chain(cells).collect() }
    };
    groups.into_iter().map(table).collect()
}

fn cells_of(row: &Row) -> Vec<String> {
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let answer = row.failed.as_ref().map_or_else(
        || row.answer.chars().take(MOST_LETTERS).collect(),
        |reason| format!("failed: {reason}"),
    );
    vec![
        row.item.clone(),
        percent(row.scores.em),
        percent(row.scores.f1),
        row.acc.map_or("–".to_owned(), percent),
        answer,
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pikerag_knowledge::Role;

    use super::*;
    use crate::metrics::Scores;
    use crate::report::{Cost, summarize};

    const HOSTILE: &str = "</td><script>alert('x')</script>\"&<img src=x onerror=y>";

    fn rows() -> Vec<Row> {
        let row = |method: &str, item: &str, f1: f64, tokens: u64| Row {
            method: method.to_owned(),
            data_set: "hotpotqa".to_owned(),
            item: item.to_owned(),
            kind: Some(HOSTILE.to_owned()),
            hops: Some(2),
            answer: HOSTILE.to_owned(),
            scores: Scores { em: 0.0, f1, precision: f1, recall: f1 },
            acc: Some(f1.round()),
            supporting_recall: vec![0.5, 1.0],
            final_recall: Some(1.0),
            calls: 3,
            prompt_tokens: tokens,
            completion_tokens: 20,
            by_role: BTreeMap::from([
                (
                    Role::Propose,
                    Cost { calls: 2, prompt_tokens: tokens / 2, completion_tokens: 10 },
                ),
                (Role::Answer, Cost { calls: 1, prompt_tokens: tokens / 2, completion_tokens: 10 }),
            ]),
            ..Row::default()
        };
        vec![
            row("kar3-paper", "q1", 0.9, 3000),
            row("kar3-paper", "q2", 0.7, 3200),
            row("direct", "q1", 0.4, 100),
            row(HOSTILE, "q1", 0.5, 500),
        ]
    }

    fn page() -> String {
        let mut papers = crate::papers::figures().unwrap();
        papers.retain(|figure| figure.table == "1" && figure.paper == "kar3");
        html(&summarize(&rows(), 7, &papers), &rows(), HOSTILE).unwrap()
    }

    #[test]
    fn hostile_text_is_escaped_and_the_page_loads_nothing() {
        let page = page();
        for bad in ["<script", "<img", "http://", "https://", "url(", "@import", "src=\"", "href="]
        {
            assert!(!page.contains(bad), "{bad}");
        }
        assert!(page.contains("&lt;script&gt;"));
        assert!(page.contains("prefers-color-scheme: dark"));
        assert_eq!(page.matches("<svg").count(), 3);
        for tag in ["table", "tr", "svg", "details", "figure", "text", "h2", "h3"] {
            let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
            assert_eq!(page.matches(&open).count(), page.matches(&close).count(), "{tag}");
        }
    }

    #[test]
    fn the_words_of_the_page() {
        let markup = Markup::new(&[("words", "{{ words }}")]).unwrap();
        let escaped = markup.render("words", BTreeMap::from([("words", HOSTILE)])).unwrap();
        let page = page().replace(&escaped, "HOSTILE");
        let (_, body) = page.split_once("<body>").unwrap();
        let mut words: Vec<String> = Vec::new();
        for piece in body.split('<') {
            let (tag, text) = piece.split_once('>').unwrap_or_default();
            if matches!(tag, "/tr" | "/svg" | "/h1" | "/h2" | "/h3" | "/p" | "/summary") {
                words.push("\u{1F}".to_owned());
            }
            if !text.trim().is_empty() {
                words.push(format!("[{}]", text.trim()));
            }
        }
        insta::assert_snapshot!(words.join(" ").replace(" \u{1F}", "\n"), @r"
        [HOSTILE]
         [Accuracy against tokens] [0] [20] [40] [60] [80] [100] [100] [1k] [10k] [tokens per question] [Acc in %] [kar3-paper: 100.0 at 3120] [direct: 0.0 at 120] [HOSTILE: 100.0 at 520] [kar3-paper] [&lt;&#x2f;td&gt;&lt;script&gt;alert(&#x27;x…] [direct]
         [Evidence against iterations] [0] [20] [40] [60] [80] [100] [1] [2] [iteration (N)] [evidence found in %] [kar3-paper: 50.0 at 1] [kar3-paper: 100.0 at 2] [direct: 50.0 at 1] [direct: 100.0 at 2] [HOSTILE: 50.0 at 1] [HOSTILE: 100.0 at 2] [kar3-paper] [direct] [&lt;&#x2f;td&gt;&lt;script&gt;alert(&#x27;x…]
         [Calls per component] [propose] [answer] [0] [1] [2] [3] [4] [5] [kar3-paper] [kar3-paper, propose: 2.0] [kar3-paper, answer: 1.0] [3.0] [direct] [direct, propose: 2.0] [direct, answer: 1.0] [3.0] [&lt;&#x2f;td&gt;&lt;script&gt;alert(&#x27;x&#x27;)&lt;&#x2f;…] [HOSTILE, propose: 2.0] [HOSTILE, answer: 1.0] [3.0] [model calls per question]
         [All questions]
         [method] [n] [failed] [EM] [F1] [precision] [recall] [Acc] [evidence] [calls] [prompt] [reply] [seconds]
         [kar3-paper] [2] [0] [0.0 [0.0, 0.0]] [80.0 [70.0, 90.0]] [80.0] [80.0] [100.0 [100.0, 100.0]] [100.0 [100.0, 100.0]] [3.0] [3100] [20] [0.00]
         [direct] [1] [0] [0.0 [0.0, 0.0]] [40.0 [40.0, 40.0]] [40.0] [40.0] [0.0 [0.0, 0.0]] [100.0 [100.0, 100.0]] [3.0] [100] [20] [0.00]
         [HOSTILE] [1] [0] [0.0 [0.0, 0.0]] [50.0 [50.0, 50.0]] [50.0] [50.0] [100.0 [100.0, 100.0]] [100.0 [100.0, 100.0]] [3.0] [500] [20] [0.00]
         [Evidence found after each iteration]
         [method] [1] [2]
         [kar3-paper] [50.0] [100.0]
         [direct] [50.0] [100.0]
         [HOSTILE] [50.0] [100.0]
         [Calls and tokens per question, by component]
         [method] [component] [calls] [prompt] [reply] [total]
         [kar3-paper] [propose] [2.0] [1550] [10] [1560]
         [kar3-paper] [answer] [1.0] [1550] [10] [1560]
         [direct] [propose] [2.0] [50] [10] [60]
         [direct] [answer] [1.0] [50] [10] [60]
         [HOSTILE] [propose] [2.0] [250] [10] [260]
         [HOSTILE] [answer] [1.0] [250] [10] [260]
         [Difference to the first method]
         [method] [against] [metric] [n] [difference] [p] [p (Holm)]
         [direct] [kar3-paper] [EM] [1] [+0.0 [+0.0, +0.0]] [1.000] [1.000]
         [HOSTILE] [kar3-paper] [EM] [1] [+0.0 [+0.0, +0.0]] [1.000] [1.000]
         [direct] [kar3-paper] [F1] [1] [-50.0 [-50.0, -50.0]] [1.000] [1.000]
         [HOSTILE] [kar3-paper] [F1] [1] [-40.0 [-40.0, -40.0]] [1.000] [1.000]
         [direct] [kar3-paper] [Acc] [1] [-100.0 [-100.0, -100.0]] [1.000] [1.000]
         [HOSTILE] [kar3-paper] [Acc] [1] [+0.0 [+0.0, +0.0]] [1.000] [1.000]
         [Beside the papers]
         [method] [metric] [ours] [theirs] [difference] [paper] [model]
         [kar3-paper] [F1] [80.0] [76.5] [+3.5] [kar3 Table 1] [GPT-4 (1106-Preview)]
         [kar3-paper] [Acc] [100.0] [88.0] [+12.0] [kar3 Table 1] [GPT-4 (1106-Preview)]
         [By type and by hops]
         [Type: HOSTILE]
         [method] [n] [failed] [EM] [F1] [precision] [recall] [Acc] [evidence] [calls] [prompt] [reply] [seconds]
         [kar3-paper] [2] [0] [0.0 [0.0, 0.0]] [80.0 [70.0, 90.0]] [80.0] [80.0] [100.0 [100.0, 100.0]] [100.0 [100.0, 100.0]] [3.0] [3100] [20] [0.00]
         [direct] [1] [0] [0.0 [0.0, 0.0]] [40.0 [40.0, 40.0]] [40.0] [40.0] [0.0 [0.0, 0.0]] [100.0 [100.0, 100.0]] [3.0] [100] [20] [0.00]
         [HOSTILE] [1] [0] [0.0 [0.0, 0.0]] [50.0 [50.0, 50.0]] [50.0] [50.0] [100.0 [100.0, 100.0]] [100.0 [100.0, 100.0]] [3.0] [500] [20] [0.00]
         [Hops: 2]
         [method] [n] [failed] [EM] [F1] [precision] [recall] [Acc] [evidence] [calls] [prompt] [reply] [seconds]
         [kar3-paper] [2] [0] [0.0 [0.0, 0.0]] [80.0 [70.0, 90.0]] [80.0] [80.0] [100.0 [100.0, 100.0]] [100.0 [100.0, 100.0]] [3.0] [3100] [20] [0.00]
         [direct] [1] [0] [0.0 [0.0, 0.0]] [40.0 [40.0, 40.0]] [40.0] [40.0] [0.0 [0.0, 0.0]] [100.0 [100.0, 100.0]] [3.0] [100] [20] [0.00]
         [HOSTILE] [1] [0] [0.0 [0.0, 0.0]] [50.0 [50.0, 50.0]] [50.0] [50.0] [100.0 [100.0, 100.0]] [100.0 [100.0, 100.0]] [3.0] [500] [20] [0.00]
         [Scores in %, with the 95 % bootstrap interval in brackets; a failed question scores 0.]
         [Evidence: share of the gold evidence found. Per question: calls, prompt and reply tokens, seconds.]
         [Answers]
         [kar3-paper on hotpotqa: 2 of 2]
         [question] [EM] [F1] [Acc] [answer]
         [q1] [0] [90] [100] [HOSTILE]
         [q2] [0] [70] [100] [HOSTILE]
         [direct on hotpotqa: 1 of 1]
         [question] [EM] [F1] [Acc] [answer]
         [q1] [0] [40] [0] [HOSTILE]
         [HOSTILE on hotpotqa: 1 of 1]
         [question] [EM] [F1] [Acc] [answer]
         [q1] [0] [50] [100] [HOSTILE]
        ");
    }
}
