//! Resolves the styles of paragraphs.

use std::collections::HashMap;

use pikerag_unpack::Problems;
use pikerag_unpack::xml::{Element, Tree};

/// The longest chain of styles that are based on each other.
const LONGEST_CHAIN: usize = 20;

#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

/// The properties of a style, or of a paragraph itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Style {
    pub(super) name: String,
    pub(super) based_on: Option<String>,
    /// From 0; 9 is body text.
    pub(super) outline: Option<u8>,
    /// The list of its paragraphs.
    pub(super) list: Option<String>,
    /// Level in the list, from 0.
    pub(super) list_level: Option<usize>,
    pub(super) is_hidden: bool,
    pub(super) is_bold: bool,
}

/// The role of a paragraph by its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Title,
    Heading(u8),
    Caption,
    Code,
    Text,
}

impl Styles {
    pub(super) fn read(part: Option<(String, String)>, problems: &mut Problems) -> Self {
        let mut styles = Self::default();
        let Some((text, name)) = part else { return styles };
        let tree = Tree::read(&text, &name, problems);
        for style in tree.root().into_iter().flat_map(|root| root.all("style")) {
            let id = style.attr("styleId").unwrap_or_default().into_owned();
            let val = |name| Some(style.child(name)?.attr("val")?.into_owned());
            let properties = style.child("pPr");
            let marks = style.child("rPr");
            let read = Style {
                name: val("name").unwrap_or_default().to_lowercase(),
                based_on: val("basedOn"),
                is_hidden: is_on(marks, "vanish"),
                is_bold: is_on(marks, "b"),
                ..properties.map(Style::of).unwrap_or_default()
            };
            styles.0.insert(id, read);
        }
        styles
    }

    /// A style, merged with the styles that it is based on.
    pub(super) fn get(&self, id: &str) -> Style {
        let mut all = Style::default();
        let mut next = Some(id);
        for _ in 0..LONGEST_CHAIN {
            let Some(style) = next.and_then(|id| self.0.get(id)) else { break };
            if all.name.is_empty() {
                all.name.clone_from(&style.name);
            }
            all.outline = all.outline.or(style.outline).or_else(|| heading_named(&style.name));
            if all.list.is_none() {
                all.list.clone_from(&style.list);
            }
            all.list_level = all.list_level.or(style.list_level);
            all.is_hidden |= style.is_hidden;
            all.is_bold |= style.is_bold;
            next = style.based_on.as_deref();
        }
        all
    }
}

impl Style {
    /// The direct properties of a paragraph.
    pub(super) fn of(properties: Element) -> Self {
        let number = |path: &[&str]| properties.path(path)?.number::<usize>("val");
        Self {
            outline: number(&["outlineLvl"]).map(|level| level.min(9) as u8),
            list: properties
                .path(&["numPr", "numId"])
                .and_then(|list| Some(list.attr("val")?.into_owned())),
            list_level: number(&["numPr", "ilvl"]),
            ..Self::default()
        }
    }

    pub(super) fn role(&self) -> Role {
        match (self.name.as_str(), self.outline) {
            ("title", _) => Role::Title,
            ("caption" | "figure" | "illustration" | "table" | "drawing", None | Some(9)) => {
                Role::Caption
            }
            ("html preformatted" | "source code" | "preformatted text" | "code", _) => Role::Code,
            (_, Some(level @ 0..=8)) => Role::Heading((level + 1).min(6)),
            _ => Role::Text,
        }
    }
}

/// Whether a mark such as `w:b` is set.
pub(super) fn is_on(properties: Option<Element>, mark: &str) -> bool {
    properties
        .and_then(|properties| properties.child(mark))
        .is_some_and(|mark| mark.attr("val").is_none() || mark.is_on("val"))
}

/// The level of `heading 2` and its names in other programs and languages; levels count from 0.
fn heading_named(name: &str) -> Option<u8> {
    const NAMES: [&str; 14] = [
        "heading",
        "überschrift",
        "titre",
        "título",
        "titulo",
        "titolo",
        "标题",
        "標題",
        "見出し",
        "제목",
        "заголовок",
        "kop",
        "rubrik",
        "nagłówek",
    ];
    let rest = NAMES.iter().find_map(|start| name.strip_prefix(start))?.trim();
    let level: u8 = rest.parse().ok()?;
    (1..=9).contains(&level).then(|| level - 1)
}
