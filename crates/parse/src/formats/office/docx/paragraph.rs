//! Reads a paragraph: its text with links, and its attachments (text boxes, pictures, notes).

use super::Reader;
use super::styles::{Role, Style, is_on};
use crate::formats::office::math;
use crate::formats::office::para::{self, Context};
use pikerag_unpack::xml::{Child, Element};

/// The deepest nesting of fields that are distinguished.
const DEEPEST_FIELD: usize = 32;

/// The smallest readable size, in half points.
const SMALLEST: u32 = 4;

/// A paragraph of Word.
pub(super) type Para<'x> = para::Para<After<'x>>;

/// An attachment of a paragraph.
pub(super) enum After<'x> {
    /// A text box.
    Box(Element<'x>),
    /// A picture: its alternative text and its relation.
    Picture(String, String),
    /// A chart or diagram: its relation.
    Graphic(String),
    /// A foot- or endnote, or a comment: its kind and identifier.
    Note(&'static str, String),
}

/// A field, such as a link or a page number.
#[derive(Debug, Default)]
pub(super) struct Field {
    instruction: String,
    /// Whether the instruction has ended and the visible result has begun.
    in_result: bool,
    target: Option<String>,
}

impl<'x> Reader<'_, '_> {
    /// Reads a paragraph; its number, if it has one, precedes its text.
    pub(super) fn paragraph(&mut self, element: Element<'x>) -> (Role, bool, Para<'x>) {
        let properties = element.child("pPr");
        let own = properties.map(Style::of).unwrap_or_default();
        let style_id = properties
            .and_then(|properties| properties.child("pStyle")?.attr("val"))
            .unwrap_or_default();
        let style = self.styles.get(&style_id);
        let list = own.list.clone().or_else(|| style.list.clone()).filter(|list| list != "0");
        let role = Style { outline: own.outline.or(style.outline), ..style.clone() }.role();
        let mut para = Para::new();
        let marker = list.and_then(|list| {
            let level = own.list_level.or(style.list_level);
            let level = level.or_else(|| self.numbering.level_of_style(&list, &style_id));
            has_text(element).then(|| self.numbering.next(&list, level.unwrap_or(0)))?
        });
        let is_item = marker.is_some();
        if let Some(marker) = marker.filter(|marker| !marker.is_empty()) {
            let is_bullet_of_heading = marker == "-" && role != Role::Text;
            if !is_bullet_of_heading {
                para.visible.push(&format!("{marker} "));
            }
        }
        let context = Context {
            link: None,
            is_hidden: style.is_hidden,
            is_bold: style.is_bold,
            raised: None,
        };
        self.inline(element, context, &mut para);
        // A field's code ends with its paragraph at the latest; its result may continue.
        self.fields.retain(|field| field.in_result);
        (role, is_item, para)
    }

    /// Reads the content of a paragraph, a link or an insertion.
    fn inline(&mut self, element: Element<'x>, context: Context, para: &mut Para<'x>) {
        for child in element.elements() {
            match child.name() {
                "r" => self.run(child, context, para),
                "hyperlink" => {
                    let id = child.attr("r:id").unwrap_or_default();
                    let target = self.relations.address(&id).map(str::to_owned);
                    self.inline(child, Context { link: target.as_deref(), ..context }, para);
                }
                "fldSimple" => {
                    let target =
                        child.attr("instr").and_then(|instruction| target_of(&instruction));
                    self.inline(
                        child,
                        Context { link: target.as_deref().or(context.link), ..context },
                        para,
                    );
                }
                "oMath" => para.visible.push(&format!("${}$", math::linear(child))),
                "oMathPara" => {
                    for formula in child.all("oMath") {
                        para.visible.push(&format!("$${}$$", math::linear(formula)));
                    }
                }
                // Deleted or moved text.
                "del" | "moveFrom" | "pPr" | "sdtPr" | "sdtEndPr" | "rt" => {}
                _ => self.inline(child, context, para),
            }
        }
    }

    fn run(&mut self, run: Element<'x>, context: Context, para: &mut Para<'x>) {
        let marks = run.child("rPr");
        let style = marks.and_then(|marks| marks.child("rStyle")?.attr("val"));
        let style = style.map(|id| self.styles.get(&id)).unwrap_or_default();
        let is_hidden = match marks.and_then(|marks| marks.child("vanish")) {
            Some(_) => is_on(marks, "vanish"),
            None => context.is_hidden || style.is_hidden,
        };
        // Half points; an unreadably small size also hides text.
        let size: Option<u32> = marks.and_then(|marks| marks.child("sz")?.number("val"));
        let is_hidden = is_hidden || size.is_some_and(|size| size < SMALLEST);
        let is_bold = match marks.and_then(|marks| marks.child("b")) {
            Some(_) => is_on(marks, "b"),
            None => context.is_bold || style.is_bold,
        };
        let raised =
            marks.and_then(|marks| match marks.child("vertAlign")?.attr("val")?.as_ref() {
                "superscript" => Some(true),
                "subscript" => Some(false),
                _ => None,
            });
        let context = Context { is_hidden, is_bold, raised, ..context };
        self.pieces(run, context, para);
    }

    fn pieces(&mut self, run: Element<'x>, context: Context, para: &mut Para<'x>) {
        for piece in run.elements() {
            match piece.name() {
                "t" => {
                    let text = text_of(piece);
                    match context.raised {
                        Some(is_high) => {
                            self.add_text(&math::raised(&text, is_high), context, para);
                        }
                        None => self.add_text(&text, context, para),
                    }
                }
                "tab" | "ptab" => self.add_text("\t", context, para),
                "br" | "cr" => self.add_text("\n", context, para),
                "noBreakHyphen" => self.add_text("\u{2011}", context, para),
                "sym" => {
                    let code =
                        piece.attr("char").and_then(|code| u32::from_str_radix(&code, 16).ok());
                    // Symbol fonts use the private area; their characters mean nothing in other
                    // fonts.
                    let private = 0xe000..=0xf8ff;
                    if let Some(letter) =
                        code.filter(|code| !private.contains(code)).and_then(char::from_u32)
                    {
                        self.add_text(letter.encode_utf8(&mut [0; 4]), context, para);
                    }
                }
                "fldChar" => match piece.attr("fldCharType").as_deref() {
                    Some("begin") if self.fields.len() < DEEPEST_FIELD => {
                        self.fields.push(Field::default());
                    }
                    Some("begin") => {}
                    Some("separate") => {
                        if let Some(field) = self.fields.last_mut() {
                            field.in_result = true;
                            field.target = target_of(&field.instruction);
                        }
                    }
                    _ => drop(self.fields.pop()),
                },
                "instrText" => {
                    if let Some(field) = self.fields.last_mut() {
                        field.instruction.push_str(&text_of(piece));
                    }
                }
                "footnoteReference" => note(piece, "footnote", para),
                "endnoteReference" => note(piece, "endnote", para),
                "commentReference" => {
                    let id = piece.attr("id").unwrap_or_default().into_owned();
                    para.after.push(After::Note("comment", id));
                }
                "drawing" | "pict" | "object" => drawing(piece, para),
                "AlternateContent" | "Choice" | "Fallback" => self.pieces(piece, context, para),
                "ruby" => {
                    if let Some(base) = piece.child("rubyBase") {
                        self.inline(base, context, para);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_text(&mut self, text: &str, context: Context, para: &mut Para) {
        if self.fields.iter().any(|field| !field.in_result) {
            return;
        }
        let target = self.fields.iter().rev().find_map(|field| field.target.as_deref());
        para.add(text, Context { link: context.link.or(target), ..context });
    }
}

/// Adds a mark to the text, and the note after the paragraph.
fn note(reference: Element, kind: &'static str, para: &mut Para) {
    let id = reference.attr("id").unwrap_or_default().into_owned();
    para.visible.push(&format!("[{id}]"));
    para.after.push(After::Note(kind, id));
}

/// Text boxes, pictures and charts of a drawing, in order; those inside a text box belong to its
/// text.
fn drawing<'x>(element: Element<'x>, para: &mut Para<'x>) {
    let described = element.find("docPr");
    let alternative = described.and_then(|it| {
        it.attr("descr").filter(|text| !text.trim().is_empty()).or_else(|| it.attr("title"))
    });
    let alternative = alternative.unwrap_or_default().into_owned();
    let mut waiting: Vec<Element> = vec![element];
    while let Some(element) = waiting.pop() {
        match element.name() {
            "txbxContent" => para.after.push(After::Box(element)),
            "blip" | "imagedata" => {
                let id = element.attr("r:embed").or_else(|| element.attr("r:id"));
                let text = element.attr("o:title").map(std::borrow::Cow::into_owned);
                let text = if alternative.is_empty() {
                    text.unwrap_or_default()
                } else {
                    alternative.clone()
                };
                if let Some(id) = id {
                    para.after.push(After::Picture(text, id.into_owned()));
                }
            }
            "chart" => {
                if let Some(id) = element.attr("r:id") {
                    para.after.push(After::Graphic(id.into_owned()));
                }
            }
            "relIds" => {
                if let Some(id) = element.attr("r:dm") {
                    para.after.push(After::Graphic(id.into_owned()));
                }
            }
            "textpath" => {
                if let Some(text) = element.attr("string") {
                    para.visible.push(&text); // Word art.
                }
            }
            _ => {
                let inner: Vec<Element> = element.elements().collect();
                waiting.extend(inner.into_iter().rev());
            }
        }
    }
}

/// The address in `HYPERLINK "https://…"`.
fn target_of(instruction: &str) -> Option<String> {
    let rest = instruction.trim().strip_prefix("HYPERLINK")?.trim_start();
    let target = match rest.strip_prefix('"') {
        Some(rest) => rest.split('"').next()?,
        None => rest.split_whitespace().next()?,
    };
    (!target.is_empty() && !target.starts_with('\\')).then(|| target.to_owned())
}

/// Word does not count completely empty paragraphs of a list.
fn has_text(element: Element) -> bool {
    element.descendants().any(|inner| matches!(inner.name(), "t" | "oMath" | "drawing" | "pict"))
}

fn text_of(element: Element) -> String {
    let mut text = String::new();
    for child in element.children() {
        if let Child::Text(piece) = child {
            text.push_str(piece);
        }
    }
    text
}
