//! Writes the shapes of a slide in reading order.

use std::borrow::Cow;

use pikerag_knowledge::{Area, BlockKind, ProblemFact};

use super::Reader;
use crate::document::grid::{Grid, RowStyle};
use crate::formats::office::drawing;
use crate::formats::office::ooxml::Picture;
use pikerag_layout::order::xy_cut::{Bounds, reading_order};
use pikerag_unpack::xml::Element;

/// English Metric Units per point.
const EMU: f64 = 12_700.0;

/// The place of a placeholder in a layout or master.
pub(super) struct Frame {
    kind: String,
    index: String,
    edges: Bounds,
}

impl Frame {
    pub(super) fn of(shape: Element) -> Option<Self> {
        let placeholder = shape.path(&["nvSpPr", "nvPr", "ph"])?;
        let attr = |name| placeholder.attr(name).unwrap_or_default().into_owned();
        let edges = edges_of(shape.path(&["spPr", "xfrm"])?)?;
        Some(Self { kind: attr("type"), index: attr("idx"), edges })
    }
}

/// Converts coordinates inside a group to those of the slide.
#[derive(Clone, Copy)]
struct Transform {
    scale: (f64, f64),
    shift: (f64, f64),
}

struct Shape<'x> {
    element: Element<'x>,
    edges: Option<Bounds>,
    hidden: bool,
}

impl<'x> Reader<'_, '_> {
    /// Writes the shapes of a slide: the title first, then the others in reading order.
    pub(super) fn shapes(&mut self, tree: Element<'x>, frames: &[Frame]) {
        let mut shapes = Vec::new();
        let same = Transform { scale: (1.0, 1.0), shift: (0.0, 0.0) };
        collect(tree, same, frames, false, &mut shapes);
        let is_title =
            |shape: &Shape| matches!(kind_of(shape.element).as_deref(), Some("title" | "ctrTitle"));
        let (titles, others): (Vec<Shape>, Vec<Shape>) = shapes.into_iter().partition(is_title);
        let (placed, unplaced): (Vec<Shape>, Vec<Shape>) =
            others.into_iter().partition(|shape| shape.edges.is_some());
        let boxes: Vec<Bounds> = placed.iter().filter_map(|shape| shape.edges).collect();
        let order = reading_order(&boxes);
        let placed: Vec<&Shape> = order.into_iter().filter_map(|at| placed.get(at)).collect();
        let is_named = |shape: &Shape| {
            shape.element.child("txBody").is_some_and(|body| !body.text().trim().is_empty())
        };
        if !titles.iter().any(is_named) && (!unplaced.is_empty() || !placed.is_empty()) {
            self.untitled();
        }
        for shape in titles.iter().chain(&unplaced).chain(placed) {
            self.shape(shape);
        }
    }

    fn shape(&mut self, shape: &Shape<'x>) {
        let before = self.writing.place;
        self.writing.place.area = shape.edges.map(area_of);
        let outside = shape.edges.is_some_and(|[left, top, right, bottom]| {
            right <= 0.0 || bottom <= 0.0 || self.size.0 <= left || self.size.1 <= top
        });
        self.writing.place.hidden |= shape.hidden || outside;
        let element = shape.element;
        match element.name() {
            "sp" | "cxnSp" => self.text_shape(element),
            "pic" => self.picture(element),
            "graphicFrame" => self.graphic_frame(element),
            _ => {}
        }
        self.writing.place = before;
    }

    fn text_shape(&mut self, element: Element<'x>) {
        let kind = kind_of(element);
        let Some(body) = element.child("txBody") else { return };
        match kind.as_deref() {
            Some("title" | "ctrTitle") => self.title(body),
            Some("sldNum" | "dt") => {}
            Some("ftr") => {
                let text = drawing::paragraphs(body).join("\n");
                if !self.footers.contains(&text) {
                    self.writing.plain(BlockKind::Paragraph, &text);
                    self.footers.push(text);
                }
            }
            Some("body" | "obj" | "" | "chart" | "tbl" | "clipArt" | "dgm" | "media" | "pic") => {
                self.body(body, true);
            }
            _ => self.body(body, false),
        }
        if let Some(fill) = element.path(&["spPr", "blipFill"]) {
            self.blip(fill, "");
        }
    }

    fn picture(&mut self, element: Element<'x>) {
        let described = element.path(&["nvPicPr", "cNvPr"]);
        let text = described.and_then(|it| {
            it.attr("descr").filter(|text| !text.trim().is_empty()).or_else(|| it.attr("title"))
        });
        if let Some(fill) = element.child("blipFill") {
            self.blip(fill, &text.unwrap_or_default());
        }
    }

    fn blip(&mut self, fill: Element<'x>, text: &str) {
        let id = fill.child("blip").and_then(|blip| blip.attr("r:embed"));
        let Some(part) = id.and_then(|id| self.relations.part(&id).map(str::to_owned)) else {
            return;
        };
        match self.package.image(&part, self.problems) {
            Picture::Shown(image) => self.writing.figure(text, Some(image)),
            Picture::Unshown => self.writing.figure(text, None),
            Picture::Again => {}
        }
    }

    fn graphic_frame(&mut self, element: Element<'x>) {
        let Some(data) = element.path(&["graphic", "graphicData"]) else { return };
        for inner in data.elements() {
            let id = match inner.name() {
                "tbl" => {
                    self.table(inner);
                    continue;
                }
                "chart" => inner.attr("r:id"),
                "relIds" => inner.attr("r:dm"),
                "AlternateContent" | "oleObj" => {
                    let object =
                        inner.descendants().chain([inner]).find(|it| it.name() == "oleObj");
                    let program =
                        object.and_then(|it| it.attr("progId")).unwrap_or(Cow::Borrowed("object"));
                    let page = self.writing.place.page.unwrap_or_default();
                    let reason = ProblemFact::EmbeddedObject { program: program.into_owned() };
                    self.problems.add(format!("slide {page}"), reason);
                    if let Some(picture) = inner.find("pic") {
                        self.picture(picture);
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some(part) = id.and_then(|id| self.relations.part(&id).map(str::to_owned)) {
                drawing::graphic(self.package, &part, &mut self.writing, self.problems);
            }
        }
    }

    fn table(&mut self, table: Element<'x>) {
        let mut grid = Grid::default();
        let properties = table.child("tblPr");
        let has_header = properties.is_some_and(|properties| properties.is_on("firstRow"));
        for (number, row) in table.all("tr").enumerate() {
            grid.row(number == 0 && has_header);
            for cell in row.all("tc") {
                if cell.is_on("hMerge") || cell.is_on("vMerge") {
                    grid.covered();
                    continue;
                }
                let (text, is_bold) = self.cell(cell);
                let columns = cell.number("gridSpan").unwrap_or(1);
                grid.covering(text, is_bold, columns, cell.number("rowSpan").unwrap_or(1));
            }
        }
        grid.write(&mut self.writing, RowStyle::Plain);
    }
}

/// Collects shapes, also those inside groups.
fn collect<'x>(
    parent: Element<'x>,
    transform: Transform,
    frames: &[Frame],
    hidden: bool,
    shapes: &mut Vec<Shape<'x>>,
) {
    for element in parent.elements() {
        let named = element.elements().find_map(|inner| inner.child("cNvPr"));
        let hidden = hidden || named.is_some_and(|named| named.is_on("hidden"));
        match element.name() {
            "grpSp" => {
                let inner = element.path(&["grpSpPr", "xfrm"]).and_then(|it| transform.within(it));
                collect(element, inner.unwrap_or(transform), frames, hidden, shapes);
            }
            "sp" | "cxnSp" | "pic" | "graphicFrame" => {
                let own = element.path(&["spPr", "xfrm"]).or_else(|| element.child("xfrm"));
                let edges = own.and_then(edges_of).map(|edges| transform.of(edges));
                let edges = edges.or_else(|| framed(element, frames));
                shapes.push(Shape { element, edges, hidden });
            }
            "AlternateContent" | "Choice" | "Fallback" => {
                collect(element, transform, frames, hidden, shapes);
            }
            _ => {}
        }
    }
}

/// The placeholder kind of a shape; empty if it gives none, `None` if it is not a placeholder.
fn kind_of(element: Element<'_>) -> Option<Cow<'_, str>> {
    let placeholder = element.elements().find_map(|inner| inner.path(&["nvPr", "ph"]))?;
    Some(placeholder.attr("type").unwrap_or_default())
}

/// The layout's place for a placeholder: the one with its number, else the one of its kind.
fn framed(element: Element, frames: &[Frame]) -> Option<Bounds> {
    let placeholder = element.elements().find_map(|inner| inner.path(&["nvPr", "ph"]))?;
    let attr = |name| placeholder.attr(name).unwrap_or_default();
    let (kind, index) = (attr("type"), attr("idx"));
    let by_index = frames.iter().find(|frame| !index.is_empty() && frame.index == *index);
    let by_kind = || frames.iter().find(|frame| frame.kind == *kind);
    by_index.or_else(by_kind).map(|frame| frame.edges)
}

fn edges_of(transform: Element) -> Option<Bounds> {
    let (offset, extent) = (transform.child("off")?, transform.child("ext")?);
    let (x, y): (f64, f64) = (offset.number("x")?, offset.number("y")?);
    let (width, height): (f64, f64) = (extent.number("cx")?, extent.number("cy")?);
    let edges = [x, y, x + width.max(0.0), y + height.max(0.0)];
    edges.iter().all(|edge| edge.is_finite()).then_some(edges)
}

fn area_of([left, top, right, bottom]: Bounds) -> Area {
    let point = |edge: f64| (edge / EMU) as f32;
    Area { left: point(left), top: point(top), right: point(right), bottom: point(bottom) }
}

impl Transform {
    /// The transform inside a group with this `a:xfrm`.
    fn within(self, group: Element) -> Option<Self> {
        let [left, top, right, bottom] = edges_of(group)?;
        let (offset, extent) = (group.child("chOff")?, group.child("chExt")?);
        let (x, y): (f64, f64) = (offset.number("x")?, offset.number("y")?);
        let (width, height): (f64, f64) = (extent.number("cx")?, extent.number("cy")?);
        let scale = |size: f64, inner: f64| if inner == 0.0 { 1.0 } else { size / inner };
        let (sx, sy) = (scale(right - left, width), scale(bottom - top, height));
        Some(Self {
            scale: (self.scale.0 * sx, self.scale.1 * sy),
            shift: (
                self.shift.0 + self.scale.0 * (left - x * sx),
                self.shift.1 + self.scale.1 * (top - y * sy),
            ),
        })
    }

    fn of(self, [left, top, right, bottom]: Bounds) -> Bounds {
        let x = |x: f64| self.shift.0 + self.scale.0 * x;
        let y = |y: f64| self.shift.1 + self.scale.1 * y;
        [x(left), y(top), x(right), y(bottom)]
    }
}
