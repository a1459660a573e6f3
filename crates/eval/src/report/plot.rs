//! How does a report draw? Three small plots as SVG, coloured by the style sheet of the page: no
//! scripts, nothing from elsewhere.

use std::fmt::Write;

use super::html::escape;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 340.0;
/// Left, right, top and bottom of the frame; the labels stand outside it.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 292.0;
/// From one name of a legend to the next.
const APART: f64 = 15.0;
/// Kinds of parts in a row of the legend above bars.
const IN_A_ROW: usize = 6;
/// Colours in the style sheet, `s0` to `s7`.
const COLOURS: usize = 8;

/// A point with its vertical interval.
pub(super) struct Point {
    pub(super) label: String,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A named line through `(x, y)`.
pub(super) struct Line {
    pub(super) label: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// A named bar made of parts, `(kind of part, length)`.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) parts: Vec<(String, f64)>,
}

/// Points with their intervals; x is logarithmic where it spans more than a factor of ten.
pub(super) fn scatter(title: &str, x_name: &str, y_name: &str, points: &[Point]) -> String {
    let xs: Vec<f64> = points.iter().map(|point| point.x).collect();
    let x = Axis::over(&xs, LEFT, RIGHT);
    let y = Axis::percent();
    let mut svg = frame(title, (x_name, &x), (y_name, &y), points.len());
    let mut heights = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let (cx, cy, colour) = (x.at(point.x), y.at(point.y), place % COLOURS);
        let (low, high) = (y.at(point.low), y.at(point.high));
        let _ = write!(
            svg,
            "<line class=\"s{colour} thin\" x1=\"{cx:.1}\" x2=\"{cx:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>\
             <circle class=\"f{colour}\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"5\"><title>{}</title></circle>",
            escape(&format!("{}: {:.1} at {:.0}", point.label, point.y, point.x))
        );
        heights.push(cy);
    }
    let labels = points.iter().map(|point| point.label.as_str());
    let from = points.iter().map(|point| x.at(point.x) + 7.0);
    legend(
        &mut svg,
        labels.zip(heights).zip(from).map(|((label, height), from)| (label, from, height)),
    );
    svg + "</svg>"
}

/// Lines through points, with whole numbers below.
pub(super) fn lines(title: &str, x_name: &str, y_name: &str, lines: &[Line]) -> String {
    let xs: Vec<f64> = lines.iter().flat_map(|line| &line.points).map(|(x, _)| *x).collect();
    let x = Axis::whole(&xs);
    let y = Axis::percent();
    let mut svg = frame(title, (x_name, &x), (y_name, &y), lines.len());
    let mut ends = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let colour = place % COLOURS;
        let path: Vec<String> = line
            .points
            .iter()
            .map(|(px, py)| format!("{:.1},{:.1}", x.at(*px), y.at(*py)))
            .collect();
        let _ = write!(svg, "<polyline class=\"s{colour}\" points=\"{}\"/>", path.join(" "));
        for (px, py) in &line.points {
            let _ = write!(
                svg,
                "<circle class=\"f{colour}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}</title></circle>",
                x.at(*px),
                y.at(*py),
                escape(&format!("{}: {py:.1} at {px}", line.label))
            );
        }
        if let Some((px, py)) = line.points.last() {
            ends.push((line.label.as_str(), x.at(*px) + 7.0, y.at(*py)));
        }
    }
    legend(&mut svg, ends.into_iter());
    svg + "</svg>"
}

/// One bar per label, its parts one after the other; the same kind of part has the same colour.
pub(super) fn bars(title: &str, x_name: &str, bars: &[Bar]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for (kind, _) in bars.iter().flat_map(|bar| &bar.parts) {
        if !kinds.contains(&kind.as_str()) {
            kinds.push(kind);
        }
    }
    let longest = bars.iter().map(|bar| bar.parts.iter().map(|(_, length)| length).sum::<f64>());
    let scale = nice(longest.fold(0.0, f64::max));
    let (left, thick) = (190.0, 26.0);
    let top = TOP + 18.0 * (kinds.len().saturating_sub(1) / IN_A_ROW) as f64;
    let bottom = top + 24.0 + thick * bars.len() as f64;
    let to_x = |value: f64| left + value / scale * (WIDTH - left - 70.0);
    let mut svg = head(title, bottom + 44.0);
    for (place, kind) in kinds.iter().enumerate() {
        let x = left + (place % IN_A_ROW) as f64 * 86.0;
        let y = 4.0 + 18.0 * (place / IN_A_ROW) as f64;
        let _ = write!(
            svg,
            "<rect class=\"f{}\" x=\"{x:.0}\" y=\"{y:.0}\" width=\"11\" height=\"11\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            place % COLOURS,
            x + 15.0,
            y + 10.0,
            escape(kind)
        );
    }
    for tick in 0..=5 {
        let value = scale * f64::from(tick) / 5.0;
        let x = to_x(value);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{bottom:.1}\"/>\
             <text class=\"mid\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            bottom + 16.0,
            short(value)
        );
    }
    for (place, bar) in bars.iter().enumerate() {
        let y = top + 12.0 + thick * place as f64;
        let _ = write!(
            svg,
            "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 8.0,
            y + 14.0,
            escape(&cut(&bar.label, 26))
        );
        let mut sum = 0.0;
        for (kind, length) in &bar.parts {
            let colour = kinds.iter().position(|known| known == kind).unwrap_or(0) % COLOURS;
            let _ = write!(
                svg,
                "<rect class=\"f{colour}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"18\"><title>{}</title></rect>",
                to_x(sum),
                to_x(sum + length) - to_x(sum),
                escape(&format!("{}, {kind}: {length:.1}", bar.label))
            );
            sum += length;
        }
        let _ =
            write!(svg, "<text x=\"{:.1}\" y=\"{:.1}\">{sum:.1}</text>", to_x(sum) + 6.0, y + 14.0);
    }
    let _ = write!(
        svg,
        "<text class=\"mid\" x=\"{:.1}\" y=\"{:.1}\">{}</text></svg>",
        to_x(scale / 2.0),
        bottom + 36.0,
        escape(x_name)
    );
    svg
}

/// From values to places on the page.
struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    is_log: bool,
    ticks: Vec<f64>,
}

impl Axis {
    /// From 0 % at the bottom to 100 % at the top.
    fn percent() -> Self {
        let ticks = (0..=5).map(|n| f64::from(n) * 20.0).collect();
        Self { from: 0.0, to: 100.0, start: BOTTOM, end: TOP, is_log: false, ticks }
    }

    /// Whole numbers from left to right.
    fn whole(values: &[f64]) -> Self {
        let last = values.iter().copied().fold(1.0, f64::max).min(1e4);
        let first = values.iter().copied().fold(last, f64::min);
        let to = if last <= first { first + 1.0 } else { last };
        let n_ticks = (to - first) as usize;
        let step = n_ticks.div_ceil(12).max(1);
        let ticks = (0..=n_ticks).step_by(step).map(|n| first + n as f64).collect();
        Self { from: first, to, start: LEFT + 12.0, end: RIGHT - 12.0, is_log: false, ticks }
    }

    /// Counts of tokens: what is no number, negative or absurd counts as the nearest that is none.
    fn over(values: &[f64], start: f64, end: f64) -> Self {
        let values: Vec<f64> = values.iter().map(|value| value.clamp(0.0, 1e15)).collect();
        let most = values.iter().copied().fold(1.0, f64::max);
        let least = values.iter().copied().filter(|value| 0.0 < *value).fold(most, f64::min);
        // Nothing at all has no logarithm.
        if 10.0 < most / least && values.iter().all(|value| 1e-3 < *value) {
            let (from, to) = (10_f64.powf(least.log10().floor()), 10_f64.powf(most.log10().ceil()));
            let powers = (to / from).log10().round() as i32;
            let ticks = (0..=powers).map(|power| from * 10_f64.powi(power)).collect();
            return Self { from, to, start, end, is_log: true, ticks };
        }
        let to = nice(most);
        let ticks = (0..=5).map(|n| to * f64::from(n) / 5.0).collect();
        Self { from: 0.0, to, start, end, is_log: false, ticks }
    }

    fn at(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => (value / self.from).log10() / (self.to / self.from).log10(),
            false => (value - self.from) / (self.to - self.from),
        };
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.start + share * (self.end - self.start)
    }
}

/// The next of 1, 2, 2.5, 5 or 10 times a power of ten; 1 for nothing.
fn nice(most: f64) -> f64 {
    if !most.is_finite() || most <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(most.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|top| most <= *top + 1e-9).unwrap_or(most)
}

fn head(title: &str, height: f64) -> String {
    let title = escape(title);
    format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>"
    )
}

/// The frame of a plot: grid, ticks and the names of its axes; as high as its legend needs.
fn frame(
    title: &str,
    (x_name, x): (&str, &Axis),
    (y_name, y): (&str, &Axis),
    names: usize,
) -> String {
    let mut svg = head(title, HEIGHT.max(TOP + APART * (names + 1) as f64));
    for tick in &y.ticks {
        let at = y.at(*tick);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{tick:.0}</text>",
            LEFT - 8.0,
            at + 4.0
        );
    }
    for tick in &x.ticks {
        let at = x.at(*tick);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>\
             <text class=\"mid\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
            BOTTOM + 18.0,
            short(*tick)
        );
    }
    let _ = write!(
        svg,
        "<text class=\"mid\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
         <text class=\"mid\" transform=\"translate(14 {:.1}) rotate(-90)\">{}</text>",
        f64::midpoint(LEFT, RIGHT),
        HEIGHT - 8.0,
        escape(x_name),
        f64::midpoint(TOP, BOTTOM),
        escape(y_name)
    );
    svg
}

/// The names on the right of the frame, each with a thin line from its end; pushed apart where they
/// would cover one another.
fn legend<'a>(svg: &mut String, ends: impl Iterator<Item = (&'a str, f64, f64)>) {
    let mut ends: Vec<(usize, &str, f64, f64)> =
        ends.enumerate().map(|(place, (label, x, y))| (place, label, x, y)).collect();
    ends.sort_by(|left, right| left.3.total_cmp(&right.3).then(left.0.cmp(&right.0)));
    let needed = APART * ends.len() as f64;
    let mut next = TOP;
    for (rank, (place, label, x, y)) in ends.iter().enumerate() {
        // Room must be left for those that come below.
        let below = BOTTOM + APART - (needed - APART * rank as f64);
        let at = y.min(below).max(next);
        next = at + APART;
        let colour = place % COLOURS;
        let _ = write!(
            svg,
            "<line class=\"s{colour} lead\" x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"t{colour}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            RIGHT + 10.0,
            RIGHT + 13.0,
            at + 4.0,
            escape(&cut(label, 22))
        );
    }
}

fn cut(label: &str, most: usize) -> String {
    if label.chars().count() <= most {
        return label.to_owned();
    }
    label.chars().take(most - 1).chain(['…']).collect()
}

/// `12k` for 12000.
fn short(value: f64) -> String {
    let trimmed = |value: f64, unit: &str| {
        let text = format!("{value:.1}");
        format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match value {
        v if 1e6 <= v => trimmed(v / 1e6, "M"),
        v if 1e3 <= v => trimmed(v / 1e3, "k"),
        v => trimmed(v, ""),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn round_numbers() {
        let tops: Vec<f64> = [0.0, 0.7, 1.0, 1.2, 24.0, 26.0, 99.0, f64::NAN].map(nice).to_vec();
        assert_eq!(tops, [1.0, 1.0, 1.0, 2.0, 25.0, 50.0, 100.0, 1.0]);
        let shorts = [0.0, 2.5, 950.0, 12_000.0, 2_500_000.0].map(short);
        assert_eq!(shorts.join(" "), "0 2.5 950 12k 2.5M");
    }

    #[test]
    fn a_wide_range_is_logarithmic() {
        let axis = Axis::over(&[100.0, 30_000.0], 0.0, 300.0);
        assert!(axis.is_log);
        assert_eq!(axis.ticks, [100.0, 1_000.0, 10_000.0, 100_000.0]);
        assert!((axis.at(1_000.0) - 100.0).abs() < 1e-9);
        assert!(!Axis::over(&[0.0, 30_000.0], 0.0, 300.0).is_log);
    }

    #[test]
    fn a_bar_is_as_long_as_its_parts() {
        let parts = vec![("propose".to_owned(), 3.0), ("answer".to_owned(), 1.0)];
        let svg = bars("t", "calls", &[Bar { label: "kar3".to_owned(), parts }]);
        // 460 units of width are 5 calls.
        assert!(svg.contains(r#"x="190.0" y="28.0" width="276.0""#), "{svg}");
        assert!(svg.contains(r#"x="466.0" y="28.0" width="92.0""#), "{svg}");
    }

    proptest! {
        /// Whatever the figures and names: well-formed, in the frame, nothing unescaped.
        #[test]
        fn any_figures_are_drawn(
            values in prop::collection::vec((any::<f64>(), -10.0..120.0, "\\PC{0,30}"), 0..12)
        ) {
            let points: Vec<Point> = values.iter().map(|(x, y, label)| Point {
                label: label.clone(), x: *x, y: *y, low: y - 1.0, high: y + 1.0
            }).collect();
            let named: Vec<Line> = values.iter().map(|(x, y, label)| Line {
                label: label.clone(), points: vec![(x.abs().min(50.0), *y), (3.0, 4.0)]
            }).collect();
            let parts: Vec<Bar> = values.iter().map(|(x, _, label)| Bar {
                label: label.clone(), parts: vec![(label.clone(), x.abs().min(1e9))]
            }).collect();
            for svg in [
                scatter("<t>", "x&", "\"y", &points),
                lines("<t>", "x&", "\"y", &named),
                bars("<t>", "x&", &parts),
            ] {
                prop_assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{}", svg);
                prop_assert!(!svg.contains("<t>") && svg.contains("&lt;t&gt;"));
                let open = svg.matches("<text").count();
                prop_assert_eq!(open, svg.matches("</text>").count());
            }
        }
    }
}
