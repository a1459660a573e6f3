//! Lays out the three plots of a report, coloured by the style sheet of its page.

use crate::plot::{At, Axis, Plot, cut, round_up, tick_label};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 340.0;
/// Left, right, top and bottom of the frame; the labels are outside it.
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

/// Points with their intervals; x is logarithmic if it spans more than a factor of ten.
pub(super) fn scatter(title: &str, x_name: &str, y_name: &str, points: &[Point]) -> Plot {
    let xs: Vec<f64> = points.iter().map(|point| point.x).collect();
    let x = Axis::counts(&xs, LEFT, RIGHT);
    let y = Axis::percent(BOTTOM, TOP);
    let mut plot = frame(title, (x_name, &x), (y_name, &y), points.len());
    let mut ends = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let (cx, cy, colour) = (x.at(point.x), y.at(point.y), place % COLOURS);
        let interval = [(cx, y.at(point.low)), (cx, y.at(point.high))];
        plot.line(&format!("s{colour} thin"), interval);
        let title = format!("{}: {:.1} at {:.0}", point.label, point.y, point.x);
        plot.dot(&format!("f{colour}"), (cx, cy), 5.0, &title);
        ends.push((point.label.as_str(), (cx + 7.0, cy)));
    }
    legend(&mut plot, &ends);
    plot
}

/// Lines through points, with whole numbers below.
pub(super) fn lines(title: &str, x_name: &str, y_name: &str, lines: &[Line]) -> Plot {
    let xs: Vec<f64> = lines.iter().flat_map(|line| &line.points).map(|(x, _)| *x).collect();
    let x = Axis::whole(&xs, LEFT + 12.0, RIGHT - 12.0);
    let y = Axis::percent(BOTTOM, TOP);
    let mut plot = frame(title, (x_name, &x), (y_name, &y), lines.len());
    let mut ends = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let colour = place % COLOURS;
        let path: Vec<At> = line.points.iter().map(|(px, py)| (x.at(*px), y.at(*py))).collect();
        plot.path(&format!("s{colour}"), &path);
        for (px, py) in &line.points {
            let title = format!("{}: {py:.1} at {px}", line.label);
            plot.dot(&format!("f{colour}"), (x.at(*px), y.at(*py)), 3.0, &title);
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
    let scale = round_up(longest.fold(0.0, f64::max));
    let (left, thick) = (190.0, 26.0);
    let top = TOP + 18.0 * (kinds.len().saturating_sub(1) / IN_A_ROW) as f64;
    let bottom = top + 24.0 + thick * bars.len() as f64;
    let to_x = |value: f64| left + value / scale * (WIDTH - left - 70.0);
    let mut plot = Plot::new(title, (WIDTH, bottom + 44.0));
    for (place, kind) in kinds.iter().enumerate() {
        let x = left + (place % IN_A_ROW) as f64 * 86.0;
        let y = 4.0 + 18.0 * (place / IN_A_ROW) as f64;
        plot.bar(&format!("f{}", place % COLOURS), (x, y), (11.0, 11.0), "");
        plot.text("", (x + 15.0, y + 10.0), kind);
    }
    for tick in 0..=5 {
        let value = scale * f64::from(tick) / 5.0;
        let x = to_x(value);
        plot.line("grid", [(x, top), (x, bottom)]);
        plot.text("mid", (x, bottom + 16.0), &tick_label(value));
    }
    for (place, bar) in bars.iter().enumerate() {
        let y = top + 12.0 + thick * place as f64;
        plot.text("end", (left - 8.0, y + 14.0), &cut(&bar.label, 26));
        let mut sum = 0.0;
        for (kind, length) in &bar.parts {
            let colour = kinds.iter().position(|known| known == kind).unwrap_or(0) % COLOURS;
            let size = (to_x(sum + length) - to_x(sum), 18.0);
            let title = format!("{}, {kind}: {length:.1}", bar.label);
            plot.bar(&format!("f{colour}"), (to_x(sum), y), size, &title);
            sum += length;
        }
        plot.text("", (to_x(sum) + 6.0, y + 14.0), &format!("{sum:.1}"));
    }
    plot.text("mid", (to_x(scale / 2.0), bottom + 36.0), x_name);
    plot
}

/// The frame of a plot: grid, ticks and the names of its axes; tall enough for its legend.
fn frame(
    title: &str,
    (x_name, x): (&str, &Axis),
    (y_name, y): (&str, &Axis),
    names: usize,
) -> Plot {
    let mut plot = Plot::new(title, (WIDTH, HEIGHT.max(TOP + APART * (names + 1) as f64)));
    for tick in &y.ticks {
        let at = y.at(*tick);
        plot.line("grid", [(LEFT, at), (RIGHT, at)]);
        plot.text("end", (LEFT - 8.0, at + 4.0), &format!("{tick:.0}"));
    }
    for tick in &x.ticks {
        let at = x.at(*tick);
        plot.line("grid", [(at, TOP), (at, BOTTOM)]);
        plot.text("mid", (at, BOTTOM + 18.0), &tick_label(*tick));
    }
    plot.text("mid", (f64::midpoint(LEFT, RIGHT), HEIGHT - 8.0), x_name);
    plot.turned_text("mid", (14.0, f64::midpoint(TOP, BOTTOM)), -90.0, y_name);
    plot
}

/// The names on the right of the frame, each with a thin line from its end; pushed apart if they
/// would overlap.
fn legend(plot: &mut Plot, ends: &[(&str, At)]) {
    let mut ends: Vec<(usize, &(&str, At))> = ends.iter().enumerate().collect();
    ends.sort_by(|(left, (_, from)), (right, (_, to))| {
        from.1.total_cmp(&to.1).then(left.cmp(right))
    });
    let needed = APART * ends.len() as f64;
    let mut next = TOP;
    for (rank, (place, (label, end))) in ends.iter().enumerate() {
        // Leave space for the names below.
        let below = BOTTOM + APART - (needed - APART * rank as f64);
        let at = end.1.min(below).max(next);
        next = at + APART;
        let colour = place % COLOURS;
        plot.line(&format!("s{colour} lead"), [*end, (RIGHT + 10.0, at)]);
        plot.text(&format!("t{colour}"), (RIGHT + 13.0, at + 4.0), &cut(label, 22));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_parts() {
        let parts = vec![("propose".to_owned(), 3.0), ("answer".to_owned(), 1.0)];
        let bars = bars("t", "calls", &[Bar { label: "kar3".to_owned(), parts }]);
        let svg = bars.for_page();
        // 460 units of width are 5 calls.
        assert!(svg.contains(r#"x="190.0" y="28.0" width="276.0""#), "{svg}");
        assert!(svg.contains(r#"x="466.0" y="28.0" width="92.0""#), "{svg}");
    }

    proptest! {
        /// For any figures and names, the SVG is well-formed, within the frame, and escaped.
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
                let svg = plot.for_page();
                prop_assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{}", svg);
                prop_assert!(!svg.contains("<t>") && svg.contains("&lt;t&gt;"));
                let open = svg.matches("<text").count();
                prop_assert_eq!(open, svg.matches("</text>").count());
            }
        }
    }
}
