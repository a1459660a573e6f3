//! Removes the frames and shades of tables from a picture before words are recognised.
//!
//! The program would read rules as letters and overlook words on shaded cells.

use super::grey::Grey;
use super::strokes::{Measure, Run, Stroke};
use crate::disjoint_sets::DisjointSets;

/// Paper at least this light has no shade.
const PAPER: usize = 232;
/// Shades darker than this have light letters.
const DARK: usize = 100;
/// The most cells of one frame; more are a drawing.
const MOST_CELLS: usize = 20_000;

/// The picture without the frames of its tables; `None` if there are none.
pub fn without_frames(grey: &Grey, strokes: &[Stroke]) -> Option<Grey> {
    let measure = Measure::of(grey);
    let frames = frames(strokes, measure);
    if frames.is_empty() {
        return None;
    }
    let mut clean = grey.clone();
    // Frames may lie inside one another: on average, each pixel is changed at most twice.
    let mut left = 2 * grey.data.len();
    for frame in &frames {
        // Removes flat rules first: an upright rule then has paper at its sides where the two
        // crossed.
        for flat in [true, false] {
            for stroke in frame.iter().filter(|stroke| stroke.rule.flat == flat) {
                stroke.runs.iter().for_each(|run| erase(&mut clean, *run, flat, measure));
            }
        }
        lift(&mut clean, frame, measure, &mut left);
    }
    Some(clean)
}

/// Groups of crossing strokes that form at least one cell and are larger than letters.
fn frames(strokes: &[Stroke], measure: Measure) -> Vec<Vec<&Stroke>> {
    let reach = measure.thick as f32;
    let mut groups = DisjointSets::new(strokes.len());
    let mut meetings = vec![0_usize; strokes.len()];
    for (i, line) in strokes.iter().enumerate().filter(|(_, line)| line.rule.flat) {
        for (j, wall) in strokes.iter().enumerate().filter(|(_, wall)| !wall.rule.flat) {
            let (line, wall) = (line.rule, wall.rule);
            let meets = line.from - reach <= wall.at
                && wall.at <= line.to + reach
                && wall.from - reach <= line.at
                && line.at <= wall.to + reach;
            if meets {
                groups.join(i, j);
                for at in [i, j] {
                    if let Some(n) = meetings.get_mut(at) {
                        *n += 1;
                    }
                }
            }
        }
    }
    let mut frames: Vec<Vec<&Stroke>> = vec![Vec::new(); strokes.len()];
    for (index, (stroke, n)) in strokes.iter().zip(meetings).enumerate() {
        // The stroke of a large letter that touches a rule is not a wall.
        if n < 2 && stroke.rule.to - stroke.rule.from < 4.0 * measure.least as f32 {
            continue;
        }
        if let Some(frame) = frames.get_mut(groups.root(index)) {
            frame.push(stroke);
        }
    }
    frames.retain(|frame| {
        let flat = frame.iter().filter(|stroke| stroke.rule.flat);
        let width = flat.clone().map(|stroke| stroke.rule.to - stroke.rule.from);
        let n_flat = flat.count();
        2 <= n_flat
            && 2 <= frame.len() - n_flat
            && measure.longest as f32 / 15.0 < width.fold(0.0, f32::max)
    });
    frames
}

/// Paints a run and its blurred edge as light as the paper beside it. A letter that crosses the run
/// has no paper beside it, so it remains.
fn erase(grey: &mut Grey, run: Run, flat: bool, measure: Measure) {
    let at = |grey: &Grey, along: usize, across: Option<usize>| match (across, flat) {
        (Some(across), true) => grey.at(along, across),
        (Some(across), false) => grey.at(across, along),
        (None, _) => u8::MAX,
    };
    // At another rule, it ends before that rule.
    let corner = measure.thick / 2 + 1;
    for along in run.from.saturating_sub(corner)..run.to + corner {
        let mut lights = [None; 3];
        let lines = [run.line.checked_sub(1), Some(run.line), run.line.checked_add(1)];
        for (light, line) in lights.iter_mut().zip(lines) {
            let Some(line) = line else { continue };
            let (mut before, mut behind) = (0, 0);
            for step in measure.steps() {
                before = before.max(at(grey, along, line.checked_sub(step)));
                behind = behind.max(at(grey, along, line.checked_add(step)));
            }
            *light = Some((line, before.min(behind), before.max(behind)));
        }
        for (line, darker, lighter) in lights.into_iter().flatten() {
            let (x, y) = if flat { (along, line) } else { (line, along) };
            if let Some(pixel) = pixel(grey, x, y).filter(|pixel| **pixel < darker) {
                *pixel = lighter;
            }
        }
    }
}

fn pixel(grey: &mut Grey, x: usize, y: usize) -> Option<&mut u8> {
    let place = (x < grey.width).then(|| y * grey.width + x)?;
    grey.data.get_mut(place)
}

/// Makes shaded cells white and their letters dark.
fn lift(grey: &mut Grey, frame: &[&Stroke], measure: Measure, left: &mut usize) {
    let places = |flat: bool| {
        let at = frame.iter().filter(|stroke| stroke.rule.flat == flat);
        let mut at: Vec<usize> = at.map(|stroke| stroke.rule.at as usize).collect();
        at.sort_unstable();
        at.dedup_by(|b, a| *b - *a < measure.thick);
        at
    };
    let (lines, walls) = (places(true), places(false));
    if MOST_CELLS < lines.len().saturating_mul(walls.len()) {
        return;
    }
    for (top, bottom) in lines.iter().zip(lines.iter().skip(1)) {
        for (from, to) in walls.iter().zip(walls.iter().skip(1)) {
            let Some(rest) = left.checked_sub((bottom - top) * (to - from)) else { return };
            *left = rest;
            lift_cell(grey, [*from, *top, *to, *bottom]);
        }
    }
}

fn lift_cell(grey: &mut Grey, [left, top, right, bottom]: [usize; 4]) {
    // Most pixels of a cell are its background.
    let mut counts = [0_usize; 32];
    for y in top..bottom {
        for x in left..right {
            if let Some(count) = counts.get_mut(usize::from(grey.at(x, y)) / 8) {
                *count += 1;
            }
        }
    }
    let most = counts.iter().enumerate().max_by_key(|(_, n)| **n).map_or(31, |(at, _)| at);
    let ground = most * 8 + 4;
    if PAPER <= ground {
        return;
    }
    for y in top..bottom {
        for x in left..right {
            let Some(pixel) = pixel(grey, x, y) else { continue };
            let light = usize::from(*pixel);
            let lifted = if DARK <= ground {
                light * 255 / ground
            } else {
                255 - light.saturating_sub(ground) * 255 / (255 - ground)
            };
            *pixel = lifted.min(255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::strokes::find;
    use super::super::strokes::tests::{fill, paper};
    use super::*;

    /// Two cells with a letter each; the second letter crosses the lower rule.
    fn table(ground: u8) -> Grey {
        let mut grey = paper(200, 100);
        fill(&mut grey, [20, 20, 120, 60], ground);
        fill(&mut grey, [70, 20, 120, 60], 255);
        for x in [20, 70, 120] {
            fill(&mut grey, [x, 20, x + 2, 61], 0);
        }
        for y in [20, 60] {
            fill(&mut grey, [20, y, 122, y + 1], 0);
        }
        fill(&mut grey, [40, 30, 44, 46], 0);
        fill(&mut grey, [90, 40, 94, 70], 0);
        grey
    }

    #[test]
    fn removing_frames_leaves_only_letters() {
        for ground in [255, 180] {
            let grey = table(ground);
            let clean = without_frames(&grey, &find(&grey)).unwrap();
            let mut letters = paper(200, 100);
            fill(&mut letters, [40, 30, 44, 46], 0);
            fill(&mut letters, [90, 40, 94, 70], 0);
            let wrong = clean.data.iter().zip(&letters.data).filter(|(a, b)| 60 < a.abs_diff(**b));
            assert_eq!(wrong.count(), 0, "{ground}");
        }
    }

    #[test]
    fn light_letters_become_dark() {
        let mut grey = paper(40, 20);
        fill(&mut grey, [0, 0, 40, 20], 50);
        fill(&mut grey, [10, 5, 12, 15], 240);
        lift_cell(&mut grey, [0, 0, 40, 20]);
        assert_eq!((grey.at(5, 5), grey.at(11, 10)), (255, 19));
    }

    #[test]
    fn a_page_without_a_frame_is_unchanged() {
        let mut grey = paper(600, 600);
        fill(&mut grey, [20, 20, 500, 22], 0);
        fill(&mut grey, [20, 50, 500, 52], 0);
        // The letter H, or ロ, in the size of a title.
        for x in [100, 130] {
            fill(&mut grey, [x, 100, x + 3, 130], 0);
        }
        for y in [100, 130] {
            fill(&mut grey, [100, y, 133, y + 3], 0);
        }
        assert_eq!(without_frames(&grey, &find(&grey)), None);
    }
}
