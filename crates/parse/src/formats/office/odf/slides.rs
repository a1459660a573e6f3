//! Writes the slides of an `OpenDocument` presentation.

use pikerag_knowledge::{Area, BlockKind};

use super::Reader;
use super::table::Flat;
use crate::document::writing::Place;
use pikerag_layout::order::xy_cut::{Bounds, reading_order};
use pikerag_unpack::xml::Element;

impl<'x> Reader<'_, '_> {
    /// Writes a presentation, one page per slide.
    pub(super) fn slides(&mut self, body: Element<'x>) {
        for (number, slide) in body.all("page").enumerate() {
            let style =
                self.styles.get("drawing-page", &slide.attr("draw:style-name").unwrap_or_default());
            let page =
                Place { page: u32::try_from(number + 1).ok(), area: None, hidden: style.is_hidden };
            let shapes = slide.elements().filter(|shape| shape.name() != "notes");
            let is_title =
                |shape: &Element| shape.attr("presentation:class").as_deref() == Some("title");
            let (titles, others): (Vec<Element>, Vec<Element>) = shapes.partition(is_title);
            let (placed, unplaced): (Vec<Element>, Vec<Element>) =
                others.into_iter().partition(|shape| area_of(*shape).is_some());
            let boxes: Vec<Bounds> = placed
                .iter()
                .filter_map(|shape| area_of(*shape))
                .map(|area| [area.left, area.top, area.right, area.bottom].map(f64::from))
                .collect();
            let placed = reading_order(&boxes).into_iter().filter_map(|at| placed.get(at));
            if titles.iter().all(|title| title.text().trim().is_empty())
                && !slide.text().trim().is_empty()
            {
                // Otherwise the text would belong to the previous slide.
                self.writing.place = page;
                let heading = format!("Slide {}", number + 1);
                self.writing.plain(BlockKind::Heading { level: 1 }, &heading);
            }
            for shape in titles.iter().chain(&unplaced).chain(placed) {
                self.writing.place = Place { area: area_of(*shape), ..page };
                self.shape(*shape);
            }
            self.writing.place = page;
            if let Some(notes) = slide.child("notes") {
                let frames = notes
                    .all("frame")
                    .filter(|frame| frame.attr("class").as_deref() == Some("notes"));
                let boxes: Vec<Element> =
                    frames.filter_map(|frame| frame.child("text-box")).collect();
                for text in boxes {
                    let mut flat = Flat::default();
                    self.flatten(text, &mut flat);
                    let text = flat.text.text.trim();
                    if !text.is_empty() {
                        self.writing.plain(BlockKind::Paragraph, &format!("Notes: {text}"));
                    }
                    self.write_hidden(&flat.hidden);
                }
            }
        }
    }

    fn shape(&mut self, shape: Element<'x>) {
        let class = shape.attr("presentation:class");
        match class.as_deref() {
            Some("title") => {
                let mut flat = Flat::default();
                self.flatten(shape, &mut flat);
                let title = flat.text.text.split_whitespace().collect::<Vec<_>>().join(" ");
                if self.title.is_none() && !title.is_empty() && !self.writing.place.hidden {
                    self.title = Some(title.clone());
                }
                self.writing.plain(BlockKind::Heading { level: 1 }, &title);
                self.write_hidden(&flat.hidden);
            }
            Some("page-number" | "date-time") => {}
            _ => self.write_attachment(shape),
        }
    }
}

/// The place of a shape, in points.
fn area_of(shape: Element) -> Option<Area> {
    let length = |name| points(&shape.attr(name)?);
    let (left, top) = (length("svg:x")?, length("svg:y")?);
    let (width, height) = (length("svg:width")?, length("svg:height")?);
    Some(Area { left, top, right: left + width.max(0.0), bottom: top + height.max(0.0) })
}

/// `2.5cm` in points.
fn points(length: &str) -> Option<f32> {
    let at = length.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = length.split_at_checked(at)?;
    let number: f32 = number.trim().parse().ok()?;
    let factor = match unit.trim() {
        "cm" => 72.0 / 2.54,
        "mm" => 7.2 / 2.54,
        "in" => 72.0,
        "pt" => 1.0,
        "px" => 0.75,
        "pc" => 12.0,
        _ => return None,
    };
    Some(number * factor).filter(|points| points.is_finite())
}
