//! Resolves the `OpenDocument` styles of paragraphs, texts and pages.

use std::collections::HashMap;

use pikerag_unpack::xml::Element;

const LONGEST_CHAIN: usize = 20;

#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<(String, String), Style>);

#[derive(Clone, Debug, Default)]
pub(super) struct Style {
    pub(super) display_name: String,
    parent: Option<String>,
    pub(super) outline: Option<u8>,
    pub(super) list: Option<String>,
    pub(super) is_hidden: bool,
    pub(super) is_bold: bool,
    /// `true` for superscript, `false` for subscript.
    pub(super) raised: Option<bool>,
}

impl Styles {
    pub(super) fn read(roots: [Option<Element>; 2]) -> Self {
        let mut styles = Self::default();
        for style in
            roots.into_iter().flatten().flat_map(Element::elements).flat_map(|all| all.all("style"))
        {
            let attr = |name| {
                style.attr(name).map(std::borrow::Cow::into_owned).filter(|it| !it.is_empty())
            };
            let name = attr("style:name").unwrap_or_default();
            let text = style.child("text-properties");
            let bold = text.and_then(|text| text.attr("font-weight"));
            let position = text.and_then(|text| text.attr("text-position"));
            let page = style.child("drawing-page-properties");
            let read = Style {
                display_name: attr("display-name")
                    .unwrap_or_else(|| name.replace("_20_", " "))
                    .to_lowercase(),
                parent: attr("parent-style-name"),
                outline: style.number("default-outline-level"),
                list: attr("list-style-name"),
                is_hidden: text.is_some_and(|text| text.attr("display").as_deref() == Some("none"))
                    || page
                        .is_some_and(|page| page.attr("visibility").as_deref() == Some("hidden")),
                raised: position.and_then(|position| match position.split_whitespace().next()? {
                    "super" => Some(true),
                    "sub" => Some(false),
                    shift => {
                        let shift: f32 = shift.trim_end_matches('%').parse().ok()?;
                        (shift != 0.0).then_some(0.0 < shift)
                    }
                }),
                is_bold: bold.is_some_and(|bold| {
                    !matches!(&*bold, "normal" | "100" | "200" | "300" | "400")
                }),
            };
            styles.0.insert((attr("family").unwrap_or_default(), name), read);
        }
        styles
    }

    /// A style, merged with the styles that it is based on.
    pub(super) fn get(&self, family: &str, name: &str) -> Style {
        let mut all = Style::default();
        let mut next = Some(name.to_owned());
        for _ in 0..LONGEST_CHAIN {
            let key = next.take().map(|name| (family.to_owned(), name));
            let Some(style) = key.and_then(|key| self.0.get(&key)) else { break };
            // Automatic styles are nameless variants of their parent.
            all.display_name.clone_from(&style.display_name);
            all.outline = all.outline.or(style.outline);
            if all.list.is_none() {
                all.list.clone_from(&style.list);
            }
            all.is_hidden |= style.is_hidden;
            all.is_bold |= style.is_bold;
            all.raised = all.raised.or(style.raised);
            if matches!(style.display_name.as_str(), "title" | "caption") {
                break;
            }
            next.clone_from(&style.parent);
        }
        all
    }
}
