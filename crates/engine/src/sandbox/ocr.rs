//! Reads Tesseract's TSV as words in reading order.

use pikerag_knowledge::Area;
use pikerag_parse::RecognizedWord;

/// Reads the table that `tesseract … tsv` writes. It skips rows that are not words or make no
/// sense, because the program reads hostile pictures. `scale` is points per pixel.
pub(super) fn words(table: &str, scale: f32) -> Vec<RecognizedWord> {
    let mut words = Vec::new();
    let mut numbers = Numbers::default();
    for row in table.lines() {
        let cells: Vec<&str> = row.splitn(12, '\t').collect();
        let &[level, page, block, paragraph, line, _, left, top, width, height, sure, text] =
            cells.as_slice()
        else {
            continue;
        };
        let text = text.trim();
        let area = area([left, top, width, height], scale);
        let (Some(area), Ok(confidence)) = (area, sure.parse::<f32>()) else { continue };
        if level != "5" || text.is_empty() {
            continue;
        }
        let (line, paragraph) = numbers.of([page, block, paragraph], line);
        let confidence = (confidence / 100.0).clamp(0.0, 1.0);
        let text = text.to_owned();
        words.push(RecognizedWord { text, area, line, paragraph, confidence });
    }
    words
}

fn area(pixels: [&str; 4], scale: f32) -> Option<Area> {
    let [left, top, width, height] = pixels.map(|number| number.parse::<f32>().ok());
    let (left, top) = (left? * scale, top? * scale);
    let area = Area { left, top, right: left + width? * scale, bottom: top + height? * scale };
    let numbers = [area.left, area.top, area.right, area.bottom];
    let whole = numbers.iter().all(|number| number.is_finite());
    (whole && area.left <= area.right && area.top <= area.bottom).then_some(area)
}

/// Counts lines and paragraphs over the whole picture; Tesseract counts within blocks.
#[derive(Default)]
struct Numbers {
    paragraph: u32,
    line: u32,
    at: Option<([String; 3], String)>,
}

impl Numbers {
    fn of(&mut self, paragraph: [&str; 3], line: &str) -> (u32, u32) {
        let same = |(old, _): &([String; 3], String)| old.iter().eq(paragraph.iter());
        match &self.at {
            Some(at) if same(at) && at.1 == line => return (self.line, self.paragraph),
            Some(at) if same(at) => self.line += 1,
            Some(_) => {
                self.line += 1;
                self.paragraph += 1;
            }
            None => {}
        }
        self.at = Some((paragraph.map(str::to_owned), line.to_owned()));
        (self.line, self.paragraph)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_a_line_and_a_paragraph() {
        let table = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
            1\t1\t0\t0\t0\t0\t0\t0\t600\t400\t-1\t\n\
            5\t1\t1\t1\t1\t1\t10\t20\t30\t40\t96.5\tHello\n\
            5\t1\t1\t1\t1\t2\t50\t20\t30\t40\t12\t世界\n\
            5\t1\t1\t1\t2\t1\t10\t70\t30\t40\t91\tmore\n\
            5\t1\t1\t1\t2\t2\t10\t70\t30\t40\t95\t \n\
            5\t1\t2\t1\t1\t1\t10\tNaN\t30\t40\t91\tnowhere\n\
            5\t1\t2\t1\t1\t1\t10\t20\t-30\t40\t91\tbackwards\n\
            5\t1\n\
            5\t1\t2\t1\t1\t1\t10\t120\t30\t40\t900\tlast\n";
        let seen: Vec<String> = words(table, 0.5)
            .iter()
            .map(|w| {
                let Area { left, top, right, bottom } = w.area;
                let (text, confidence) = (&w.text, w.confidence);
                format!(
                    "{}.{} {text} {confidence} {left},{top},{right},{bottom}",
                    w.paragraph, w.line
                )
            })
            .collect();
        insta::assert_snapshot!(seen.join("\n"), @"
        0.0 Hello 0.965 5,10,20,30
        0.0 世界 0.12 25,10,40,30
        0.1 more 0.91 5,35,20,55
        1.2 last 1 5,60,20,80
        ");
    }
}
