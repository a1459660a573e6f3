//! Draws a plot as SVG: shapes in the classes of a style sheet, and axes with round ticks; no script, nothing loaded.

use std::fmt::Write;

use pikerag_language::format_number;

/// From the left and from the top.
pub type At = (f64, f64);

/// An unfinished plot, drawn back to front; places are written to a tenth of a unit. Classes are
/// those of the style sheet. A title, which may be empty, shows when the mouse rests on its shape.
/// Titles and words may hold any characters.
pub struct Plot {
    title: String,
    size: (f64, f64),
    marks: String,
}

impl Plot {
    /// An empty plot of this width and height.
    pub fn new(title: &str, size: (f64, f64)) -> Self {
        Self { title: escaped(title), size, marks: String::new() }
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, [(x1, y1), (x2, y2)]: [At; 2]) {
        let _ = writeln!(
            self.marks,
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        );
    }

    /// A line through points.
    pub fn path(&mut self, class: &str, points: &[At]) {
        self.through("polyline", class, points);
    }

    /// A filled shape with these corners.
    pub fn area(&mut self, class: &str, corners: &[At]) {
        self.through("polygon", class, corners);
    }

    fn through(&mut self, shape: &str, class: &str, points: &[At]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        let _ = writeln!(self.marks, r#"<{shape} class="{class}" points="{points}"/>"#);
    }

    /// A filled circle.
    pub fn dot(&mut self, class: &str, (x, y): At, radius: f64, title: &str) {
        let title = titled(title);
        let _ = writeln!(
            self.marks,
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}">{title}</circle>"#
        );
    }

    /// A filled rectangle, from its upper left corner.
    pub fn bar(&mut self, class: &str, (x, y): At, (width, height): (f64, f64), title: &str) {
        let title = titled(title);
        let _ = writeln!(
            self.marks,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}">{title}</rect>"#
        );
    }

    /// Words on a line.
    pub fn text(&mut self, class: &str, (x, y): At, words: &str) {
        let words = escaped(words);
        let _ =
            writeln!(self.marks, r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{words}</text>"#);
    }

    /// Words on a line that is turned clockwise around its place.
    pub fn turned_text(&mut self, class: &str, (x, y): At, degrees: f64, words: &str) {
        let words = escaped(words);
        let _ = writeln!(
            self.marks,
            r#"<text class="{class}" transform="translate({x:.1} {y:.1}) rotate({degrees})">{words}</text>"#
        );
    }

    /// The plot for an HTML page that has the style sheet.
    pub fn for_page(self) -> String {
        self.with("", "")
    }

    /// The plot as a file of its own, on a white background.
    pub fn for_file(self, style: &str) -> String {
        let head = format!(
            "<style>{style}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        self.with(r#" xmlns="http://www.w3.org/2000/svg""#, &head)
    }

    fn with(self, namespace: &str, head: &str) -> String {
        let Self { title, size: (width, height), marks } = self;
        format!(
            "<svg{namespace} viewBox=\"0 0 {width:.1} {height:.1}\" role=\"img\" aria-label=\"{title}\">\
             <title>{title}</title>\n{head}{marks}</svg>\n"
        )
    }
}

fn titled(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(title)) }
}

/// Escapes text for HTML and XML; characters that XML forbids become a replacement character.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#x27;"),
            '/' => safe.push_str("&#x2f;"),
            '\t' | '\n' | '\r' => safe.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// A text on one line, of at most `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most - 1).chain(['…']).collect()
}

/// The label of a tick: `12k` for 12000.
pub fn tick_label(value: f64) -> String {
    match value.abs() {
        size if 1e6 <= size => format_number(value / 1e6) + "M",
        size if 1e3 <= size => format_number(value / 1e3) + "k",
        _ => format_number(value),
    }
}

/// A scale from values to places on the page.
pub struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    is_log: bool,
    /// The values of its ticks.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// An axis from 0 % to 100 %.
    pub fn percent(start: f64, end: f64) -> Self {
        let ticks = (0..=5).map(|n| f64::from(n) * 20.0).collect();
        Self { from: 0.0, to: 100.0, start, end, is_log: false, ticks }
    }

    /// An axis of whole numbers.
    pub fn whole(values: &[f64], start: f64, end: f64) -> Self {
        let last = values.iter().copied().fold(1.0, f64::max).min(1e4);
        let first = values.iter().copied().fold(last, f64::min);
        let to = if last <= first { first + 1.0 } else { last };
        let n_ticks = (to - first) as usize;
        let step = n_ticks.div_ceil(12).max(1);
        let ticks = (0..=n_ticks).step_by(step).map(|n| first + n as f64).collect();
        Self { from: first, to, start, end, is_log: false, ticks }
    }

    /// An axis of numbers of any sign, including 0.
    pub fn around_zero(values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let (from, most) = values
            .fold((0.0_f64, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        let to = if most <= from { from + 1.0 } else { most };
        let step = round_up((to - from) / 5.0);
        let first = (from / step).ceil();
        let ticks = (0..=5).map(|n| (first + f64::from(n)) * step);
        let ticks = ticks.filter(|tick| *tick <= to + step * 1e-6).collect();
        Self { from, to, start, end, is_log: false, ticks }
    }

    /// An axis of counts; logarithmic if they span more than a factor of ten. A value that is not
    /// finite, negative or absurdly large counts as the nearest valid one.
    pub fn counts(values: &[f64], start: f64, end: f64) -> Self {
        let values: Vec<f64> = values.iter().map(|value| value.clamp(0.0, 1e15)).collect();
        let most = values.iter().copied().fold(1.0, f64::max);
        let least = values.iter().copied().filter(|value| 0.0 < *value).fold(most, f64::min);
        // Zero has no logarithm.
        if 10.0 < most / least && values.iter().all(|value| 1e-3 < *value) {
            let (from, to) = (10_f64.powf(least.log10().floor()), 10_f64.powf(most.log10().ceil()));
            let powers = (to / from).log10().round() as i32;
            let ticks = (0..=powers).map(|power| from * 10_f64.powi(power)).collect();
            return Self { from, to, start, end, is_log: true, ticks };
        }
        let to = round_up(most);
        let ticks = (0..=5).map(|n| to * f64::from(n) / 5.0).collect();
        Self { from: 0.0, to, start, end, is_log: false, ticks }
    }

    /// The place of a value; a value beyond the axis gets the axis's end.
    pub fn at(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => (value / self.from).log10() / (self.to / self.from).log10(),
            false => (value - self.from) / (self.to - self.from),
        };
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.start + share * (self.end - self.start)
    }
}

/// The next of 1, 2, 2.5, 5 or 10 times a power of ten; 1 for zero.
pub fn round_up(most: f64) -> f64 {
    if !most.is_finite() || most <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(most.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|top| most <= *top + 1e-9).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_round_and_short() {
        let tops: Vec<f64> =
            [0.0, 0.7, 1.0, 1.2, 24.0, 26.0, 99.0, f64::NAN].map(round_up).to_vec();
        assert_eq!(tops, [1.0, 1.0, 1.0, 2.0, 25.0, 50.0, 100.0, 1.0]);
        let labels = [0.0, 2.5, 950.0, 12_000.0, 2_500_000.0, -1_200.0].map(tick_label);
        assert_eq!(labels.join(" "), "0 2.5 950 12k 2.5M -1.2k");
    }

    #[test]
    fn a_wide_range_is_logarithmic() {
        let axis = Axis::counts(&[100.0, 30_000.0], 0.0, 300.0);
        assert!(axis.is_log);
        assert_eq!(axis.ticks, [100.0, 1_000.0, 10_000.0, 100_000.0]);
        assert!((axis.at(1_000.0) - 100.0).abs() < 1e-9);
        assert!(!Axis::counts(&[0.0, 30_000.0], 0.0, 300.0).is_log);
    }

    #[test]
    fn ticks_lie_on_both_sides_of_zero() {
        let ticks = |values: &[f64]| Axis::around_zero(values.iter().copied(), 0.0, 1.0).ticks;
        assert_eq!(ticks(&[-3.0, 7.0]), [-2.0, 0.0, 2.0, 4.0, 6.0]);
        assert_eq!(ticks(&[12.0]), [0.0, 2.5, 5.0, 7.5, 10.0]);
        assert_eq!(ticks(&[5.0]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(ticks(&[]).first(), Some(&0.0));
    }
}
