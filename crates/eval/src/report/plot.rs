//! How does a report draw? Three small plots laid out for `templates/plot.svg`, coloured by the style
//! sheet of the page: no scripts, nothing from elsewhere.

use serde::Serialize;

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
pub(super) fn scatter(title: &str, x_name: &str, y_name: &str, points: &[Point]) -> Plot {
    let xs: Vec<f64> = points.iter().map(|point| point.x).collect();
    let x = Axis::over(&xs, LEFT, RIGHT);
    let y = Axis::percent();
    let mut plot = frame(title, (x_name, &x), (y_name, &y), points.len());
    let mut ends = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let (cx, cy, colour) = (x.at(point.x), y.at(point.y), place % COLOURS);
        let interval = [(cx, y.at(point.low)), (cx, y.at(point.high))];
        plot.line(format!("s{colour} thin"), interval);
        let title = format!("{}: {:.1} at {:.0}", point.label, point.y, point.x);
        plot.dot(format!("f{colour}"), (cx, cy), 5.0, title);
        ends.push((point.label.as_str(), (cx + 7.0, cy)));
    }
    legend(&mut plot, &ends);
    plot
}

/// Lines through points, with whole numbers below.
pub(super) fn lines(title: &str, x_name: &str, y_name: &str, lines: &[Line]) -> Plot {
    let xs: Vec<f64> = lines.iter().flat_map(|line| &line.points).map(|(x, _)| *x).collect();
    let x = Axis::whole(&xs);
    let y = Axis::percent();
    let mut plot = frame(title, (x_name, &x), (y_name, &y), lines.len());
    let mut ends = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let colour = place % COLOURS;
        let path = line.points.iter().map(|(px, py)| (x.at(*px), y.at(*py))).collect();
        plot.path(format!("s{colour}"), path);
        for (px, py) in &line.points {
            let title = format!("{}: {py:.1} at {px}", line.label);
            plot.dot(format!("f{colour}"), (x.at(*px), y.at(*py)), 3.0, title);
        }
        if let Some((px, py)) = line.points.last() {
            ends.push((line.label.as_str(), (x.at(*px) + 7.0, y.at(*py))));
        }
    }
    legend(&mut plot, &ends);
    plot
}

/// One bar per label, its parts one after the other; the same kind of part has the same colour.
pub(super) fn bars(title: &str, x_name: &str, bars: &[Bar]) -> Plot {
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
    let mut plot = Plot::new(title, bottom + 44.0);
    for (place, kind) in kinds.iter().enumerate() {
        let x = left + (place % IN_A_ROW) as f64 * 86.0;
        let y = 4.0 + 18.0 * (place / IN_A_ROW) as f64;
        plot.bar(format!("f{}", place % COLOURS), (x, y), (11.0, 11.0), String::new());
        plot.text("", (x + 15.0, y + 10.0), *kind);
    }
    for tick in 0..=5 {
        let value = scale * f64::from(tick) / 5.0;
        let x = to_x(value);
        plot.line("grid", [(x, top), (x, bottom)]);
        plot.text("mid", (x, bottom + 16.0), short(value));
    }
    for (place, bar) in bars.iter().enumerate() {
        let y = top + 12.0 + thick * place as f64;
        plot.text("end", (left - 8.0, y + 14.0), cut(&bar.label, 26));
        let mut sum = 0.0;
        for (kind, length) in &bar.parts {
            let colour = kinds.iter().position(|known| known == kind).unwrap_or(0) % COLOURS;
            let size = (to_x(sum + length) - to_x(sum), 18.0);
            let title = format!("{}, {kind}: {length:.1}", bar.label);
            plot.bar(format!("f{colour}"), (to_x(sum), y), size, title);
            sum += length;
        }
        plot.text("", (to_x(sum) + 6.0, y + 14.0), format!("{sum:.1}"));
    }
    plot.text("mid", (to_x(scale / 2.0), bottom + 36.0), x_name);
    plot
}

/// What is drawn where, back to front: `templates/plot.svg` draws it.
#[derive(Serialize)]
pub(super) struct Plot {
    title: String,
    width: f64,
    height: f64,
    marks: Vec<Mark>,
}

/// From the left and from the top, to a tenth of a unit.
type At = (f64, f64);

/// What is drawn. `class` is of the style sheet; a title, which may be empty, shows when the mouse
/// rests on it.
#[derive(Serialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
enum Mark {
    Line {
        class: String,
        ends: [At; 2],
    },
    Path {
        class: String,
        points: Vec<At>,
    },
    Dot {
        class: String,
        at: At,
        radius: f64,
        title: String,
    },
    Bar {
        class: String,
        at: At,
        size: (f64, f64),
        title: String,
    },
    Text {
        class: String,
        at: At,
        words: String,
    },
    /// Read from below.
    Upright {
        class: String,
        at: At,
        words: String,
    },
}

impl Plot {
    fn new(title: &str, height: f64) -> Self {
        Self { title: title.to_owned(), width: WIDTH, height: tenth(height), marks: Vec::new() }
    }

    fn line(&mut self, class: impl Into<String>, ends: [At; 2]) {
        self.marks.push(Mark::Line { class: class.into(), ends: ends.map(tenths) });
    }

    fn path(&mut self, class: String, points: Vec<At>) {
        self.marks.push(Mark::Path { class, points: points.into_iter().map(tenths).collect() });
    }

    fn dot(&mut self, class: String, at: At, radius: f64, title: String) {
        self.marks.push(Mark::Dot { class, at: tenths(at), radius, title });
    }

    fn bar(&mut self, class: String, at: At, size: (f64, f64), title: String) {
        self.marks.push(Mark::Bar { class, at: tenths(at), size: tenths(size), title });
    }

    fn text(&mut self, class: &str, at: At, words: impl Into<String>) {
        let (class, words) = (class.to_owned(), words.into());
        self.marks.push(Mark::Text { class, at: tenths(at), words });
    }
}

fn tenths((x, y): At) -> At {
    (tenth(x), tenth(y))
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
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

/// The frame of a plot: grid, ticks and the names of its axes; as high as its legend needs.
fn frame(
    title: &str,
    (x_name, x): (&str, &Axis),
    (y_name, y): (&str, &Axis),
    names: usize,
) -> Plot {
    let mut plot = Plot::new(title, HEIGHT.max(TOP + APART * (names + 1) as f64));
    for tick in &y.ticks {
        let at = y.at(*tick);
        plot.line("grid", [(LEFT, at), (RIGHT, at)]);
        plot.text("end", (LEFT - 8.0, at + 4.0), format!("{tick:.0}"));
    }
    for tick in &x.ticks {
        let at = x.at(*tick);
        plot.line("grid", [(at, TOP), (at, BOTTOM)]);
        plot.text("mid", (at, BOTTOM + 18.0), short(*tick));
    }
    plot.text("mid", (f64::midpoint(LEFT, RIGHT), HEIGHT - 8.0), x_name);
    let at = tenths((14.0, f64::midpoint(TOP, BOTTOM)));
    plot.marks.push(Mark::Upright { class: "mid".to_owned(), at, words: y_name.to_owned() });
    plot
}

/// The names on the right of the frame, each with a thin line from its end; pushed apart where they
/// would cover one another.
fn legend(plot: &mut Plot, ends: &[(&str, At)]) {
    let mut ends: Vec<(usize, &(&str, At))> = ends.iter().enumerate().collect();
    ends.sort_by(|(left, (_, from)), (right, (_, to))| {
        from.1.total_cmp(&to.1).then(left.cmp(right))
    });
    let needed = APART * ends.len() as f64;
    let mut next = TOP;
    for (rank, (place, (label, end))) in ends.iter().enumerate() {
        // Room must be left for those that come below.
        let below = BOTTOM + APART - (needed - APART * rank as f64);
        let at = end.1.min(below).max(next);
        next = at + APART;
        let colour = place % COLOURS;
        plot.line(format!("s{colour} lead"), [*end, (RIGHT + 10.0, at)]);
        plot.text(&format!("t{colour}"), (RIGHT + 13.0, at + 4.0), cut(label, 22));
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
    use crate::report::html::templates;

    fn drawn(plot: &Plot) -> String {
        let inputs = serde_json::json!({ "plot": plot });
        templates().unwrap().render("plot.svg", inputs).unwrap()
    }

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
        let svg = drawn(&bars("t", "calls", &[Bar { label: "kar3".to_owned(), parts }]));
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
            for plot in [
                scatter("<t>", "x&", "\"y", &points),
                lines("<t>", "x&", "\"y", &named),
                bars("<t>", "x&", &parts),
            ] {
                let svg = drawn(&plot);
                prop_assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{}", svg);
                prop_assert!(!svg.contains("<t>") && svg.contains("&lt;t&gt;"));
                let open = svg.matches("<text").count();
                prop_assert_eq!(open, svg.matches("</text>").count());
            }
        }
    }
}
