//! Reads the content of an `OpenDocument` paragraph.

use super::Reader;
use crate::formats::office::math;
use crate::formats::office::para::{self, Context};
use pikerag_unpack::xml::{Child, Element};

/// A paragraph with its frames, notes and comments.
pub(super) type Para<'x> = para::Para<Element<'x>>;

impl<'x> Reader<'_, '_> {
    pub(super) fn paragraph(&mut self, element: Element<'x>) -> Para<'x> {
        let style =
            self.styles.get("paragraph", &element.attr("text:style-name").unwrap_or_default());
        let context = Context {
            link: None,
            is_hidden: style.is_hidden,
            is_bold: style.is_bold,
            raised: None,
        };
        let mut para = Para::new();
        self.inline(element, context, &mut para);
        para
    }

    fn inline(&mut self, element: Element<'x>, context: Context, para: &mut Para<'x>) {
        for child in element.children() {
            let inner = match child {
                Child::Text(text) => {
                    add_text(text, context, para);
                    continue;
                }
                Child::Element(inner) => inner,
            };
            match inner.name() {
                "s" => {
                    let n_spaces: usize = inner.number("c").unwrap_or(1).min(100);
                    para.add(&" ".repeat(n_spaces), context);
                }
                "tab" => para.add("\t", context),
                "line-break" => para.add("\n", context),
                "span" => {
                    let style =
                        self.styles.get("text", &inner.attr("style-name").unwrap_or_default());
                    let is_hidden = context.is_hidden || style.is_hidden;
                    let is_bold = context.is_bold || style.is_bold;
                    let raised = style.raised.or(context.raised);
                    self.inline(inner, Context { is_hidden, is_bold, raised, ..context }, para);
                }
                "a" => {
                    let target = inner.attr("href").filter(|target| !target.starts_with('#'));
                    self.inline(
                        inner,
                        Context { link: target.as_deref().or(context.link), ..context },
                        para,
                    );
                }
                "note" => {
                    let mark = inner.child("note-citation").map(Element::text).unwrap_or_default();
                    para.add(&format!("[{mark}]"), context);
                    para.after.push(inner);
                }
                "annotation" | "frame" | "custom-shape" | "text-box" | "rect" | "ellipse"
                | "line" | "connector" | "polygon" | "polyline" | "path" | "g" => {
                    para.after.push(inner);
                }
                "hidden-text" => {
                    let text = inner.attr("string-value").unwrap_or_default();
                    para.add(&text, Context { is_hidden: true, ..context });
                }
                "ruby" => {
                    if let Some(base) = inner.child("ruby-base") {
                        self.inline(base, context, para);
                    }
                }
                "tracked-changes" | "bookmark" | "annotation-end" | "forms" | "variable-decls" => {}
                _ => self.inline(inner, context, para),
            }
        }
    }
}

/// Adds text, with white space collapsed to one space.
fn add_text(text: &str, context: Context, para: &mut Para) {
    let mut words = String::new();
    let so_far = if context.is_hidden { &para.hidden } else { &para.visible.text };
    let mut after_space = so_far.is_empty() || so_far.ends_with([' ', '\n', '\t']);
    for c in text.chars() {
        let is_space = matches!(c, ' ' | '\n' | '\r' | '\t');
        if !(is_space && after_space) {
            words.push(if is_space { ' ' } else { c });
        }
        after_space = is_space;
    }
    match context.raised {
        Some(is_high) => para.add(&math::raised(&words, is_high), context),
        None => para.add(&words, context),
    }
}
