//! Draws the figures or the forecast of an answer as a standalone SVG picture: bars for figures and
//! groups, a line with its interval for a forecast.

use pikerag_eval::plot::{At, Axis, Plot, cut, tick_label};
use pikerag_knowledge::worked::{Figure, Figures, Forecast};
use pikerag_knowledge::{TaskClass, Worked};
use pikerag_language::format_number;
use pikerag_narrate::{InWords, Words};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 64.0;
/// The most bars in one picture.
const BARS: usize = 30;
/// The most characters of a label.
const LABEL: usize = 16;
/// The most characters of the title.
const TITLE: usize = 100;
const STYLE: &str = "text { font: 12px system-ui, sans-serif; fill: #57606a; text-anchor: middle; } \
    .title { font-size: 15px; text-anchor: start; } .title, .value { fill: #1b1f24; } .end { text-anchor: end; } \
    .grid { stroke: #e3e6ea; } polyline { fill: none; stroke-width: 2; } .interval { fill: #f2c879; fill-opacity: .45; } \
    .known { stroke: #2f6f9f; } .ahead { stroke: #b4690e; stroke-dasharray: 6 4; } \
    .of-known { fill: #2f6f9f; } .of-ahead { fill: #b4690e; }";

/// Why an answer has no chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoChart {
    /// It has no figures.
    NoFigures,
    /// It has one figure or a list.
    NoGroups,
    /// It has this number of forecasts, each of its own group.
    Forecasts(usize),
}

impl InWords for NoChart {
    fn words(&self) -> Words {
        match self {
            Self::NoFigures => {
                Words::new("the answer has no computed figures", "回答中没有算出的数字")
            }
            Self::NoGroups => Words::new(
                "the answer is one figure or a list, and a chart shows the figures of several groups, such as one for each \
                 region",
                "回答是一个数字或列表，而图表显示多组的数字，例如各地区的数字",
            ),
            Self::Forecasts(groups) => Words::new(
                format!("a chart shows one forecast, and the answer has {groups}"),
                format!("图表只显示一个预测，而回答有 {groups} 个"),
            ),
        }
    }
}

/// The picture of the figures or forecast behind an answer.
///
/// # Errors
/// There are fewer than two figures to compare, or forecasts of several groups.
pub fn svg_chart(title: &str, worked: Option<&Worked>) -> Result<String, NoChart> {
    let worked = worked.ok_or(NoChart::NoFigures)?;
    let rows = match &worked.figures {
        Some(figures) => figures.rows.as_slice(),
        None => worked.groups.as_slice(),
    };
    let plot = match &worked.forecast {
        Some(forecast) => series(title, &known(forecast, worked.figures.as_ref()), forecast),
        None if 2 <= rows.len() && rows.iter().any(|row| row.value.is_some()) => bars(title, rows),
        None => return Err(why_not(worked, rows)),
    };
    Ok(plot.for_file(STYLE))
}

fn why_not(worked: &Worked, rows: &[Figure]) -> NoChart {
    let is_figure = worked.class == TaskClass::Quantitative && !worked.values.is_empty();
    match worked.forecasts.len() {
        0 if rows.len() == 1 || is_figure => NoChart::NoGroups,
        0 => NoChart::NoFigures,
        forecasts => NoChart::Forecasts(forecasts),
    }
}

/// Draws the title and the grid; returns the axis of the values too.
fn frame(title: &str, values: impl Iterator<Item = f64>) -> (Plot, Axis) {
    let title = cut(title, TITLE);
    let mut plot = Plot::new(&title, (WIDTH, HEIGHT));
    plot.text("title", (LEFT, 30.0), &title);
    let axis = Axis::around_zero(values, HEIGHT - BOTTOM, TOP);
    for tick in &axis.ticks {
        let y = axis.at(*tick);
        plot.line("grid", [(LEFT, y), (WIDTH - RIGHT, y)]);
        plot.text("end", (LEFT - 8.0, y + 4.0), &tick_label(*tick));
    }
    (plot, axis)
}

fn bars(title: &str, rows: &[Figure]) -> Plot {
    let rows = rows.get(..rows.len().min(BARS)).unwrap_or_default();
    let (mut plot, axis) = frame(title, rows.iter().filter_map(|row| row.value));
    let slot = (WIDTH - LEFT - RIGHT) / rows.len().max(1) as f64;
    let is_slanted = rows.iter().any(|row| slot < 7.0 * row.label().chars().count() as f64);
    for (place, row) in rows.iter().enumerate() {
        let middle = LEFT + slot * (place as f64 + 0.5);
        if let Some(value) = row.value {
            let (zero, y) = (axis.at(0.0), axis.at(value));
            let corner = (middle - slot * 0.35, y.min(zero));
            plot.bar("of-known", corner, (slot * 0.7, (zero - y).abs()), "");
            plot.text("value", (middle, y.min(zero) - 5.0), &format_number(value));
        }
        let (at, label) = ((middle, HEIGHT - BOTTOM + 18.0), cut(&row.label(), LABEL));
        match is_slanted {
            true => plot.turned_text("end", at, -35.0, &label),
            false => plot.text("label", at, &label),
        }
    }
    plot
}

/// The series that a forecast continues: its own, or the figures in runs of earlier versions.
fn known(forecast: &Forecast, figures: Option<&Figures>) -> Vec<(String, Option<f64>)> {
    let own = forecast.past.iter().map(|known| (known.period.clone(), known.value));
    let rows = figures.map(|figures| figures.rows.as_slice()).filter(|_| forecast.past.is_empty());
    let of_figures = rows.unwrap_or_default().iter().map(|row| (row.key.join(", "), row.value));
    own.chain(of_figures).collect()
}

fn series(title: &str, known: &[(String, Option<f64>)], forecast: &Forecast) -> Plot {
    let ahead = forecast.points.iter().flat_map(|point| [point.low, point.high]);
    let (mut plot, axis) = frame(title, known.iter().filter_map(|(_, value)| *value).chain(ahead));
    let count = known.len() + forecast.points.len();
    let slot = (WIDTH - LEFT - RIGHT) / count.max(1) as f64;
    let x = |place: usize| LEFT + slot * (place as f64 + 0.5);
    let past = known.iter().enumerate();
    let past: Vec<At> =
        past.filter_map(|(at, (_, value))| Some((x(at), axis.at((*value)?)))).collect();
    // The interval begins at the last figure.
    let mut line: Vec<At> = past.last().copied().into_iter().collect();
    let (mut upper, mut lower) = (line.clone(), Vec::new());
    for (place, point) in forecast.points.iter().enumerate() {
        let x = x(known.len() + place);
        upper.push((x, axis.at(point.high)));
        lower.push((x, axis.at(point.low)));
        line.push((x, axis.at(point.value)));
    }
    upper.extend(lower.into_iter().rev());
    plot.area("interval", &upper);
    plot.path("known", &past);
    plot.path("ahead", &line);
    let points = forecast.points.iter().map(|point| (point.period.clone(), Some(point.value)));
    // Labels every n-th period, so that labels do not overlap; the last one always has a label.
    let every = (56.0 / slot).ceil().max(1.0) as usize;
    let is_labelled = |at: usize| count.saturating_sub(at + 1).is_multiple_of(every);
    for (at, (label, value)) in known.iter().cloned().chain(points).enumerate() {
        let class = if at < known.len() { "of-known" } else { "of-ahead" };
        if let Some(value) = value {
            let (x, y) = (x(at), axis.at(value));
            plot.dot(class, (x, y), 3.0, "");
            if is_labelled(at) || known.len() <= at {
                plot.text(class, (x, y - 9.0), &format_number(value));
            }
        }
        if is_labelled(at) {
            plot.text("label", (x(at), HEIGHT - BOTTOM + 18.0), &cut(&label, LABEL));
        }
    }
    let interval = format!("{:.0} % interval", 100.0 * forecast.level);
    plot.text("end", (WIDTH - RIGHT, HEIGHT - 14.0), &interval);
    plot
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::tables::RecordQuery;
    use pikerag_knowledge::worked::{Coverage, ForecastModel, ForecastPoint, Known};

    use super::*;

    fn worked(with_forecast: bool) -> Worked {
        let row = |(place, value): (usize, f64)| Figure {
            key: vec![format!("{}", 2010 + place)],
            value: Some(value),
            unit: None,
            things: Vec::new(),
        };
        let forecast = Forecast {
            model: ForecastModel::Mean,
            points: vec![ForecastPoint {
                period: "2013".to_owned(),
                value: 5.0,
                low: 2.0,
                high: 8.0,
            }],
            level: 0.8,
            tried: Vec::new(),
            within: (0, 0),
            partial: Vec::new(),
            filled: Vec::new(),
            past: Vec::new(),
            unit: None,
            group: None,
        };
        Worked {
            figures: Some(Figures {
                schema: "x".to_owned(),
                is_declared: true,
                query: RecordQuery::default(),
                rows: [3.0, 7.0, 4.0].into_iter().enumerate().map(row).collect(),
                records: Vec::new(),
                coverage: Coverage::default(),
            }),
            forecast: with_forecast.then_some(forecast),
            ..Worked::of(TaskClass::Predictive)
        }
    }

    #[test]
    fn charts_are_xml_for_any_title() {
        for with_forecast in [false, true] {
            let worked = worked(with_forecast);
            let svg = svg_chart("<script>a & \"b\"\u{1}</script>", Some(&worked)).unwrap();
            assert!(
                !svg.contains("<script") && svg.contains("&lt;script&gt;a &amp; &quot;b&quot;")
            );
            assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
            assert_eq!(svg.contains("<polygon"), with_forecast);
        }
    }

    #[test]
    fn groups_of_a_table_are_bars() {
        let mut worked = worked(false);
        let of_figures = svg_chart("x", Some(&worked));
        worked.groups = worked.figures.take().unwrap().rows;
        assert_eq!(svg_chart("x", Some(&worked)), of_figures);
        assert!(of_figures.unwrap().contains("2012"));
    }

    #[test]
    fn an_answer_without_chart_says_why() {
        assert_eq!(svg_chart("", None), Err(NoChart::NoFigures));
        let mut worked = Worked::of(TaskClass::Quantitative);
        assert_eq!(svg_chart("", Some(&worked)), Err(NoChart::NoFigures));
        worked.values = vec!["58".to_owned()];
        assert_eq!(svg_chart("", Some(&worked)), Err(NoChart::NoGroups));
        worked.forecasts = self::worked(true).forecast.into_iter().cycle().take(2).collect();
        assert_eq!(svg_chart("", Some(&worked)), Err(NoChart::Forecasts(2)));
    }

    #[test]
    fn a_forecast_draws_its_own_series() {
        let mut worked = worked(true);
        let of_figures = svg_chart("x", Some(&worked)).unwrap();
        let figures = worked.figures.take().unwrap();
        let known = figures.rows.iter().map(|row| Known { period: row.label(), value: row.value });
        worked.forecast.as_mut().unwrap().past = known.collect();
        assert_eq!(svg_chart("x", Some(&worked)).unwrap(), of_figures);
    }
}
