//! Finds the rules of a picture: long, thin dark runs under one another.
//!
//! It examines each pixel a fixed number of times.

use super::grey::Grey;
use crate::marks::Rule;

/// The smallest difference in lightness, of 255, between a rule and the paper on both of its sides.
const CONTRAST: u8 = 40;
/// More strokes are a drawing or a pattern.
const MOST: usize = 2_000;

/// A rule of the picture, in pixels, and its pixels.
#[derive(Clone, Debug)]
pub struct Stroke {
    /// In pixels; `at` is the middle of its thickness.
    pub rule: Rule,
    /// From top to bottom (from left to right if the rule is upright).
    pub(crate) runs: Vec<Run>,
}

/// Dark pixels of one row (of one column if the rule is upright).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Its row (column).
    pub(crate) line: usize,
    /// Its first pixel, and one past its last pixel.
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Length limits of rules for the size of a picture, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    /// The length of the shortest rule.
    pub(crate) least: usize,
    /// The thickness of the thickest rule, and the longest break in a rule.
    pub(crate) thick: usize,
    /// The longer side of the picture.
    pub(crate) longest: usize,
}

impl Measure {
    pub(crate) fn of(grey: &Grey) -> Self {
        let longest = grey.width.max(grey.height);
        let (least, thick) = ((longest / 60).clamp(20, 100), (longest / 250).clamp(5, 16));
        Self { least, thick, longest }
    }

    /// The distances beside a pixel at which paper is searched for.
    pub(crate) fn steps(self) -> [usize; 3] {
        [self.thick / 3, 2 * self.thick / 3, self.thick]
    }
}

/// The strokes along the edges of the picture; none if there are too many.
pub fn find(grey: &Grey) -> Vec<Stroke> {
    let measure = Measure::of(grey);
    let found = strokes(grey, measure, Orientation::Flat).and_then(|mut strokes| {
        strokes.extend(self::strokes(&grey.transposed(), measure, Orientation::Upright)?);
        Some(strokes)
    });
    found.unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq)]
enum Orientation {
    Flat,
    Upright,
}

fn strokes(grey: &Grey, measure: Measure, orientation: Orientation) -> Option<Vec<Stroke>> {
    let mut strokes: Vec<Stroke> = Vec::new();
    // Strokes that may continue in the next row.
    let mut open: Vec<Stroke> = Vec::new();
    let rows: Vec<&[u8]> = grey.data.chunks_exact(grey.width.max(1)).collect();
    let (mut above, mut below) = (vec![0; grey.width], vec![0; grey.width]);
    for (line, row) in rows.iter().enumerate() {
        above.fill(0);
        below.fill(0);
        for step in measure.steps() {
            lighter(&mut above, line.checked_sub(step).and_then(|line| rows.get(line)));
            lighter(&mut below, rows.get(line + step));
        }
        let mut runs = runs(row, &above, &below, line, measure);
        runs.reverse(); // They are taken from the end.
        let (ended, still) = open
            .into_iter()
            .partition(|stroke: &Stroke| stroke.runs.last().is_none_or(|run| run.line + 2 < line));
        open = still;
        strokes.extend::<Vec<Stroke>>(ended);
        for run in runs {
            let near = open.iter_mut().find(|stroke| {
                let Rule { from, to, .. } = stroke.rule;
                let reach = measure.thick as f32;
                run.from as f32 <= to + reach && from <= run.to as f32 + reach
            });
            let (from, to) = (run.from as f32, run.to as f32);
            match near {
                Some(stroke) => {
                    stroke.rule.from = stroke.rule.from.min(from);
                    stroke.rule.to = stroke.rule.to.max(to);
                    stroke.runs.push(run);
                }
                None => {
                    let rule = Rule { flat: orientation == Orientation::Flat, at: 0.0, from, to };
                    open.push(Stroke { rule, runs: vec![run] });
                }
            }
        }
        if MOST < strokes.len() + open.len() {
            return None;
        }
    }
    strokes.extend(open);
    strokes.retain_mut(|stroke| settle(stroke, measure));
    Some(strokes)
}

/// Keeps the lighter of each two pixels; outside the picture is white.
fn lighter(light: &mut [u8], row: Option<&&[u8]>) {
    match row {
        Some(row) => {
            for (light, pixel) in light.iter_mut().zip(*row) {
                *light = *pixel.max(light);
            }
        }
        None => light.fill(u8::MAX),
    }
}

/// The long dark runs of a row between lighter rows. Where something crosses the rule, it is as
/// dark above and below: a break.
fn runs(row: &[u8], above: &[u8], below: &[u8], line: usize, measure: Measure) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut now: Option<Dark> = None;
    let mut close = |now: Option<Dark>| {
        if let Some(Dark { from, to, n, .. }) = now
            && measure.least <= to - from
            && (to - from) * 9 <= n * 10
        {
            runs.push(Run { line, from, to });
        }
    };
    for (x, ((pixel, above), below)) in row.iter().zip(above).zip(below).enumerate() {
        let is_dark = CONTRAST <= (*above.min(below)).saturating_sub(*pixel);
        now = match now {
            Some(dark) if is_dark => {
                Some(Dark { to: x + 1, n: dark.n + 1, light: 0, level: *pixel, ..dark })
            }
            Some(dark) if *pixel <= dark.level.saturating_add(CONTRAST) => {
                (x <= dark.to + measure.thick + 2).then_some(dark).or_else(|| {
                    close(Some(dark));
                    None
                })
            }
            Some(dark) => {
                let ends = measure.thick / 2 <= dark.light;
                if ends {
                    close(Some(dark));
                }
                (!ends).then_some(Dark { light: dark.light + 1, ..dark })
            }
            None => is_dark.then_some(Dark { from: x, to: x + 1, n: 1, light: 0, level: *pixel }),
        };
    }
    close(now);
    runs
}

/// A run up to the current pixel.
#[derive(Clone, Copy)]
struct Dark {
    from: usize,
    to: usize,
    /// The number of pixels between lighter rows.
    n: usize,
    /// The number of pixels in a row, at its end, that are as light as paper.
    light: usize,
    /// The lightness of its last pixel.
    level: u8,
}

/// Sets the stroke's place; returns whether it is a straight line.
fn settle(stroke: &mut Stroke, measure: Measure) -> bool {
    let (mut sum, mut n) = (0.0, 0.0);
    let (mut first, mut last) = (usize::MAX, 0);
    for run in &stroke.runs {
        let length = (run.to - run.from) as f64;
        sum += length * (run.line as f64 + 0.5);
        n += length;
        (first, last) = (first.min(run.line), last.max(run.line));
    }
    stroke.rule.at = (sum / f64::max(n, 1.0)) as f32;
    let slant = (stroke.rule.to - stroke.rule.from) as usize / 40;
    last.saturating_sub(first) <= measure.thick + slant
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// White paper.
    pub(crate) fn paper(width: usize, height: usize) -> Grey {
        Grey { width, height, data: vec![255; width * height] }
    }

    /// Fills a box on the paper: left, top, right, bottom.
    pub(crate) fn fill(grey: &mut Grey, [left, top, right, bottom]: [usize; 4], light: u8) {
        for y in top..bottom {
            grey.data[y * grey.width + left..y * grey.width + right].fill(light);
        }
    }

    fn shown_strokes(grey: &Grey) -> Vec<String> {
        let rules = find(grey).into_iter().map(|stroke| stroke.rule);
        rules
            .map(|Rule { flat, at, from, to }| {
                format!("{} {at:.1} {from}-{to}", if flat { "flat" } else { "upright" })
            })
            .collect()
    }

    #[test]
    fn rules_are_distinguished_from_shades_and_letters() {
        let mut grey = paper(300, 200);
        fill(&mut grey, [0, 60, 300, 120], 180); // A shaded row, and rules around it.
        fill(&mut grey, [20, 59, 280, 61], 100);
        fill(&mut grey, [20, 119, 280, 121], 0);
        fill(&mut grey, [20, 20, 23, 180], 0);
        fill(&mut grey, [150, 20, 151, 180], 90);
        fill(&mut grey, [40, 80, 70, 100], 0); // A stain.
        fill(&mut grey, [200, 80, 203, 95], 0); // A letter.
        insta::assert_snapshot!(shown_strokes(&grey).join("\n"), @"
        flat 60.0 23-280
        flat 120.0 23-280
        upright 21.5 20-180
        upright 150.5 20-180
        ");
    }

    #[test]
    fn a_rule_may_be_broken_and_slanted() {
        let mut grey = paper(400, 60);
        for (at, y) in [(0, 30), (100, 31), (200, 32)] {
            fill(&mut grey, [50 + at, y, 150 + at, y + 2], 20);
        }
        fill(&mut grey, [120, 30, 124, 34], 255);
        fill(&mut grey, [260, 30, 262, 34], 255);
        insta::assert_snapshot!(shown_strokes(&grey).join("\n"), @"flat 32.0 50-350");
    }

    #[test]
    fn black_stripes_and_noise_are_no_rules() {
        let black = Grey { width: 900, height: 900, data: vec![0; 810_000] };
        let mut stripes = paper(900, 900);
        let mut squares = paper(900, 900);
        let mut lines = paper(900, 900);
        for y in (0..900).step_by(2) {
            fill(&mut stripes, [0, y, 900, y + 1], 0);
            fill(&mut squares, [0, y, 900, y + 1], 0);
            (0..900).step_by(2).for_each(|x| fill(&mut squares, [x, y, x + 1, y + 1], 255));
        }
        for y in (0..900).step_by(9) {
            (0..900)
                .step_by(21)
                .for_each(|x| fill(&mut lines, [x, y, (x + 20).min(900), y + 1], 0));
        }
        let mut seed = 7_u32;
        let noise = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if seed >> 31 == 0 { 0 } else { 255 }
        });
        let noise = Grey { width: 900, height: 900, data: noise.take(810_000).collect() };
        let start = Instant::now();
        for (name, grey) in [("black", black), ("stripes", stripes), ("squares", squares)] {
            assert_eq!(find(&grey).len(), 0, "{name}");
        }
        assert!(find(&noise).len() < 10);
        assert!(find(&lines).len() <= 2 * MOST);
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}
