//! Writes the charts and diagrams of Office files: a chart as a table of its series with its title
//! as caption, a diagram as its texts (`DrawingML`).

use std::collections::BTreeMap;

use pikerag_knowledge::{BlockKind, ProblemFact};

use crate::document::writing::Writing;
use crate::formats::office::ooxml::Package;
use pikerag_unpack::Problems;
use pikerag_unpack::xml::{Element, Tree};

/// The most points of a chart.
const MOST_POINTS: usize = 100_000;

/// Writes the chart or diagram in a part.
pub(crate) fn graphic(
    package: &mut Package,
    part: &str,
    writing: &mut Writing,
    problems: &mut Problems,
) {
    let Some(text) = package.part(part, problems) else { return };
    let tree = Tree::read(&text, part, problems);
    let Some(root) = tree.root() else { return };
    if root.name() == "dataModel" {
        for point in root.descendants().filter(|element| element.name() == "pt") {
            let words: Vec<String> = paragraphs(point);
            writing.plain(BlockKind::Item, &words.join(" "));
        }
        return;
    }
    chart(root, writing, problems, part);
}

/// The text of each paragraph (`a:p`) below an element.
pub(crate) fn paragraphs(element: Element) -> Vec<String> {
    let all = element.outermost("p");
    let texts = all.map(|paragraph| {
        let runs = paragraph.descendants().filter(|inner| matches!(inner.name(), "t" | "br"));
        runs.map(|run| if run.name() == "br" { "\n".to_owned() } else { run.text() })
            .collect::<String>()
    });
    texts.filter(|text| !text.trim().is_empty()).collect()
}

fn chart(root: Element, writing: &mut Writing, problems: &mut Problems, part: &str) {
    let Some(chart) = root.child("chart") else { return };
    let title = |holder: Element| holder.child("title").map(|title| paragraphs(title).join(" "));
    let series: Vec<Series> =
        chart.descendants().filter(|element| element.name() == "ser").map(Series::read).collect();
    let mut caption = title(chart).filter(|title| !title.trim().is_empty());
    if caption.is_none() && series.len() == 1 {
        caption = series.first().map(|series| series.name.clone()); // Office shows the same title.
    }
    let kind = chart.descendants().find_map(|element| kind_of(element.name()));
    let caption = match (caption, kind) {
        (Some(title), Some(kind)) => format!("{title} ({kind})"),
        (Some(title), None) => title,
        (None, kind) => kind.unwrap_or_default().to_owned(),
    };
    writing.plain(BlockKind::Caption, &caption);
    let axes: Vec<String> = chart
        .descendants()
        .filter(|element| matches!(element.name(), "catAx" | "valAx" | "dateAx"))
        .filter_map(title)
        .filter(|title| !title.is_empty())
        .collect();
    let mut labels: BTreeMap<usize, String> = BTreeMap::new();
    for series in &series {
        for (at, label) in &series.labels {
            labels.entry(*at).or_insert_with(|| label.clone());
        }
        for at in series.values.keys() {
            labels.entry(*at).or_insert_with(|| (at + 1).to_string());
        }
    }
    let n_points = labels.len().saturating_mul(series.len() + 1);
    if MOST_POINTS < n_points {
        problems.add(part, ProblemFact::ChartTooLarge { most: MOST_POINTS });
        return;
    }
    let mut header = vec![axes.first().cloned().unwrap_or_default()];
    header.extend(series.iter().map(|series| series.name.clone()));
    let rows = labels.into_iter().map(|(at, label)| {
        let values =
            series.iter().map(|series| series.values.get(&at).cloned().unwrap_or_default());
        std::iter::once(label).chain(values).collect()
    });
    writing.named_table(header, rows.collect());
}

/// The common name of a chart with this element.
fn kind_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "barChart" | "bar3DChart" => "bar chart",
        "lineChart" | "line3DChart" => "line chart",
        "pieChart" | "pie3DChart" | "ofPieChart" => "pie chart",
        "doughnutChart" => "doughnut chart",
        "areaChart" | "area3DChart" => "area chart",
        "scatterChart" => "scatter chart",
        "bubbleChart" => "bubble chart",
        "radarChart" => "radar chart",
        "stockChart" => "stock chart",
        "surfaceChart" | "surface3DChart" => "surface chart",
        _ => return None,
    })
}

/// One series with its values by index.
struct Series {
    name: String,
    labels: BTreeMap<usize, String>,
    values: BTreeMap<usize, String>,
}

impl Series {
    fn read(series: Element) -> Self {
        let points = |names: [&str; 2]| {
            let holder = names.iter().find_map(|name| series.child(name));
            holder.map(points).unwrap_or_default()
        };
        let name = series.child("tx").map(|name| {
            match self::points(name).into_values().collect::<Vec<_>>() {
                names if names.is_empty() => name.child("v").map(Element::text).unwrap_or_default(),
                names => names.join(" "),
            }
        });
        Self {
            name: name.unwrap_or_default(),
            labels: points(["cat", "xVal"]),
            values: points(["val", "yVal"]),
        }
    }
}

/// Cached points by index; the parts of labels on several levels are joined.
fn points(holder: Element) -> BTreeMap<usize, String> {
    let mut points: BTreeMap<usize, String> = BTreeMap::new();
    for point in holder.descendants().filter(|element| element.name() == "pt") {
        let (Some(at), Some(value)) = (point.number::<usize>("idx"), point.child("v")) else {
            continue;
        };
        let text = points.entry(at).or_default();
        let value = value.text();
        *text = if text.is_empty() { value } else { format!("{value} {text}") };
    }
    points
}
