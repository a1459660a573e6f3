//! How is what an answer rests on drawn? As an SVG picture that stands alone: bars for figures, a line with its interval
//! for a forecast. No script, no font, nothing fetched.

use std::fmt::Write;

use pikerag_knowledge::Worked;
use pikerag_knowledge::worked::{Figures, Forecast};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 64.0;
/// Bars that one picture shows.
const BARS: usize = 30;
/// Characters of a label.
const LABEL: usize = 16;
/// Characters of the title.
const TITLE: usize = 100;

/// The picture of what an answer was worked out from; `None` where there are no two figures to show.
pub fn svg_chart(title: &str, worked: &Worked) -> Option<String> {
    let figures = worked.figures.as_ref()?;
    match &worked.forecast {
        Some(forecast) => Some(series(title, figures, forecast)),
        None if 2 <= figures.rows.len() => Some(bars(title, figures)),
        None => None,
    }
}

/// A picture under way.
struct Picture {
    svg: String,
    most: f64,
    least: f64,
}

impl Picture {
    fn new(title: &str, least: f64, most: f64) -> Self {
        let most = if most <= least { least + 1.0 } else { most };
        let mut svg = String::new();
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<title>{0}</title>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
             <text x=\"{LEFT}\" y=\"30\" font-size=\"15\" fill=\"#1b1f24\">{0}</text>\n",
            escaped(&shortened(title, TITLE))
        );
        let mut picture = Self { svg, most, least };
        picture.grid();
        picture
    }

    /// Where a value stands.
    fn y(&self, value: f64) -> f64 {
        let share = (value - self.least) / (self.most - self.least);
        HEIGHT - BOTTOM - share.clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM)
    }

    fn grid(&mut self) {
        let step = round_step((self.most - self.least) / 5.0);
        let mut value = (self.least / step).ceil() * step;
        while value <= self.most + step * 1e-6 {
            let y = self.y(value);
            let _ = write!(
                self.svg,
                "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#e3e6ea\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#57606a\">{}</text>\n",
                WIDTH - RIGHT,
                LEFT - 8.0,
                y + 4.0,
                number(value)
            );
            value += step;
        }
    }

    fn label(&mut self, x: f64, text: &str, is_slanted: bool) {
        let (y, text) = (HEIGHT - BOTTOM + 18.0, escaped(&shortened(text, LABEL)));
        let turn = match is_slanted {
            true => format!(" text-anchor=\"end\" transform=\"rotate(-35 {x:.1} {y:.1})\""),
            false => " text-anchor=\"middle\"".to_owned(),
        };
        let _ = writeln!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\"{turn} fill=\"#57606a\">{text}</text>"
        );
    }

    fn done(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

fn bars(title: &str, figures: &Figures) -> String {
    let rows = figures.rows.get(..figures.rows.len().min(BARS)).unwrap_or_default();
    let values = || rows.iter().filter_map(|row| row.value);
    let mut picture =
        Picture::new(title, values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let room = (WIDTH - LEFT - RIGHT) / rows.len().max(1) as f64;
    let is_slanted = rows.iter().any(|row| room < 7.0 * row.label().chars().count() as f64);
    for (place, row) in rows.iter().enumerate() {
        let x = LEFT + room * place as f64;
        if let Some(value) = row.value {
            let (zero, y) = (picture.y(0.0), picture.y(value));
            let _ = write!(
                picture.svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#2f6f9f\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#1b1f24\">{}</text>\n",
                x + room * 0.15,
                y.min(zero),
                room * 0.7,
                (zero - y).abs(),
                x + room / 2.0,
                y.min(zero) - 5.0,
                number(value)
            );
        }
        picture.label(x + room / 2.0, &row.label(), is_slanted);
    }
    picture.done()
}

fn series(title: &str, figures: &Figures, forecast: &Forecast) -> String {
    let known: Vec<(String, Option<f64>)> =
        figures.rows.iter().map(|row| (row.key.join(", "), row.value)).collect();
    let all = || {
        let values = known.iter().filter_map(|(_, value)| *value);
        values.chain(forecast.points.iter().flat_map(|point| [point.low, point.high]))
    };
    let mut picture = Picture::new(title, all().fold(0.0, f64::min), all().fold(0.0, f64::max));
    let count = known.len() + forecast.points.len();
    let room = (WIDTH - LEFT - RIGHT) / count.max(1) as f64;
    let x = |place: usize| LEFT + room * (place as f64 + 0.5);
    let last = known.iter().rposition(|(_, value)| value.is_some());
    let last = last.and_then(|at| Some((at, known.get(at)?.1?)));
    // The interval opens from the last figure.
    let (mut upper, mut lower, mut line) = (Vec::new(), Vec::new(), Vec::new());
    if let Some((at, value)) = last {
        let point = format!("{:.1},{:.1}", x(at), picture.y(value));
        upper.push(point.clone());
        line.push(point);
    }
    for (place, point) in forecast.points.iter().enumerate() {
        let x = x(known.len() + place);
        upper.push(format!("{x:.1},{:.1}", picture.y(point.high)));
        lower.push(format!("{x:.1},{:.1}", picture.y(point.low)));
        line.push(format!("{x:.1},{:.1}", picture.y(point.value)));
    }
    lower.reverse();
    upper.extend(lower);
    let past: Vec<String> = known
        .iter()
        .enumerate()
        .filter_map(|(at, (_, value))| Some(format!("{:.1},{:.1}", x(at), picture.y((*value)?))))
        .collect();
    let _ = write!(
        picture.svg,
        "<polygon points=\"{}\" fill=\"#f2c879\" fill-opacity=\"0.45\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#2f6f9f\" stroke-width=\"2\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#b4690e\" stroke-width=\"2\" stroke-dasharray=\"6 4\"/>\n",
        upper.join(" "),
        past.join(" "),
        line.join(" ")
    );
    let foretold = forecast.points.iter().map(|point| (point.period.clone(), Some(point.value)));
    // As many labels as there is room for, the last one among them.
    let every = (56.0 / room).ceil().max(1.0) as usize;
    let is_labelled = |at: usize| count.saturating_sub(at + 1).is_multiple_of(every);
    for (at, (label, value)) in known.iter().cloned().chain(foretold).enumerate() {
        let color = if at < known.len() { "#2f6f9f" } else { "#b4690e" };
        if let Some(value) = value {
            let (x, y) = (x(at), picture.y(value));
            let _ = writeln!(
                picture.svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\"/>"
            );
            if is_labelled(at) || known.len() <= at {
                let _ = writeln!(
                    picture.svg,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{color}\">{}</text>",
                    y - 9.0,
                    number(value)
                );
            }
        }
        if is_labelled(at) {
            picture.label(x(at), &label, false);
        }
    }
    let _ = writeln!(
        picture.svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#57606a\">{:.0} % interval</text>",
        WIDTH - RIGHT,
        HEIGHT - 14.0,
        100.0 * forecast.level
    );
    picture.done()
}

/// 1, 2 or 5 times a power of ten, at least as large.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.max(1e-9).log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| step <= factor * power);
    factor.unwrap_or(10.0) * power
}

fn number(value: f64) -> String {
    let shown = format!("{value:.2}");
    let shown = shown.trim_end_matches('0').trim_end_matches('.');
    if shown == "-0" { "0".to_owned() } else { shown.to_owned() }
}

fn shortened(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most - 1).chain(['…']).collect()
}

/// As XML takes it: what is written otherwise, and what no XML may hold.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::TaskClass;
    use pikerag_knowledge::tables::RecordQuery;
    use pikerag_knowledge::worked::{Coverage, Figure, ForecastModel, Foretold};

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
            points: vec![Foretold { period: "2013".to_owned(), value: 5.0, low: 2.0, high: 8.0 }],
            level: 0.8,
            tried: Vec::new(),
            within: (0, 0),
            partial: Vec::new(),
            filled: Vec::new(),
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
    fn a_picture_is_xml_whatever_its_title_is() {
        for with_forecast in [false, true] {
            let svg = svg_chart("<script>a & \"b\"\u{1}</script>", &worked(with_forecast)).unwrap();
            assert!(
                !svg.contains("<script") && svg.contains("&lt;script&gt;a &amp; &quot;b&quot;")
            );
            assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
            assert_eq!(svg.contains("polygon"), with_forecast);
        }
        assert_eq!(svg_chart("", &Worked::of(TaskClass::Factual)), None);
    }

    #[test]
    fn steps_are_round() {
        let steps = [0.3, 1.0, 3.1, 7.0, 12.0].map(|step| number(round_step(step)));
        assert_eq!(steps, ["0.5", "1", "5", "10", "20"]);
    }
}
