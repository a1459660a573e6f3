//! How is a report laid out in rows and columns?

use super::{Estimate, Report, Summary};

/// A head and its rows, all of the same length. The first column is text, the others are numbers.
type Cells = Vec<Vec<String>>;

const LEGEND: &str = "\
Scores in %, with the 95 % bootstrap interval in brackets; a failed question scores 0.
Evidence: share of the gold evidence found. Per question: calls, prompt and reply tokens, seconds.
";

/// All tables of a report, each under its title, laid out by `layout`.
pub(super) fn all(report: &Report, layout: fn(&str, &Cells) -> String) -> String {
    let mut tables = vec![layout("All questions", &figures(&report.overall))];
    let recalls = recalls(&report.overall);
    if 1 < recalls.len() {
        tables.push(layout("Evidence found after each iteration", &recalls));
    }
    for group in &report.by_kind {
        tables.push(layout(&format!("Type: {}", group.name), &figures(&group.summaries)));
    }
    for group in &report.by_hops {
        tables.push(layout(&format!("Hops: {}", group.name), &figures(&group.summaries)));
    }
    tables.push(LEGEND.to_owned());
    tables.join("\n")
}

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
    let escaped = |cell: &String| cell.replace('|', "\\|").replace(['\r', '\n'], " ");
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
    format!("### {}\n\n{}\n", title.replace(['\r', '\n'], " "), lines.join("\n"))
}

fn figures(summaries: &[Summary]) -> Cells {
    let head = [
        "method",
        "n",
        "failed",
        "EM",
        "F1",
        "precision",
        "recall",
        "evidence",
        "calls",
        "prompt",
        "reply",
        "seconds",
    ];
    let mut cells = vec![head.map(str::to_owned).to_vec()];
    for summary in summaries {
        cells.push(vec![
            summary.method.clone(),
            summary.questions.to_string(),
            summary.failed.to_string(),
            with_interval(&summary.em),
            with_interval(&summary.f1),
            percent(summary.precision.mean),
            percent(summary.recall.mean),
            summary.final_recall.as_ref().map_or("–".to_owned(), with_interval),
            format!("{:.1}", summary.calls.mean),
            format!("{:.0}", summary.prompt_tokens.mean),
            format!("{:.0}", summary.completion_tokens.mean),
            format!("{:.2}", summary.seconds.mean),
        ]);
    }
    cells
}

/// KAR³ Table 8; the head alone if no method iterates.
fn recalls(summaries: &[Summary]) -> Cells {
    let n_iterations = summaries.iter().map(|s| s.supporting_recall.len()).max().unwrap_or(0);
    let numbers = (1..=n_iterations).map(|n| n.to_string());
    let mut cells: Cells = vec![std::iter::once("method".to_owned()).chain(numbers).collect()];
    for summary in summaries.iter().filter(|summary| !summary.supporting_recall.is_empty()) {
        let mut row = vec![summary.method.clone()];
        row.extend(summary.supporting_recall.iter().copied().map(percent));
        row.resize(n_iterations + 1, "–".to_owned());
        cells.push(row);
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
        widths.resize(widths.len().max(row.len()), 2); // Markdown wants `-:` at least.
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    widths
}

fn padded<'a>(row: &'a [String], widths: &'a [usize]) -> impl Iterator<Item = String> + 'a {
    row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
        if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    })
}
