//! Converts articles in JATS, the XML of journals, to HTML.
//!
//! Their elements have counterparts in HTML, so the reader of web pages reads them, including
//! tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::document::blocks::one_line;
use pikerag_unpack::xml::{Child, Element};

/// The article as a page of HTML.
pub(crate) fn page_of(article: Element) -> String {
    let mut page = Page { html: String::new() };
    page.html.push_str("<html><body>");
    if let Some(meta) = article.path(&["front", "article-meta"]) {
        page.front(meta);
    }
    for part in article.elements().filter(|part| part.name() != "front") {
        page.write(part, 1);
    }
    page.html
}

/// The metadata in the article.
pub(crate) fn metadata(article: Element) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::new();
    let mut note = |key: &str, value: Option<String>| {
        if let Some(value) = value.as_deref().and_then(one_line) {
            metadata.insert(key.to_owned(), value);
        }
    };
    note("language", article.attr("xml:lang").map(std::borrow::Cow::into_owned));
    let Some(front) = article.child("front") else { return metadata };
    note("journal", front.find("journal-title").map(Element::text));
    let Some(meta) = front.child("article-meta") else { return metadata };
    note("author", Some(people(meta).join(", ")));
    let doi = meta.all("article-id").find(|id| id.attr("pub-id-type").as_deref() == Some("doi"));
    note("doi", doi.map(Element::text));
    let date = meta.child("pub-date");
    let parts = date.map(|date| {
        let parts = ["year", "month", "day"].map(|part| date.child(part).map(Element::text));
        parts.into_iter().map_while(|part| part).collect::<Vec<_>>().join("-")
    });
    note("date", parts);
    metadata
}

fn people(meta: Element) -> Vec<String> {
    let names = meta.all("contrib-group").flat_map(Element::descendants);
    let names = names.filter(|element| matches!(element.name(), "name" | "collab"));
    names.map(name).filter(|name| !name.is_empty()).collect()
}

/// A name such as `Ada Lovelace`, from any markup of its parts.
fn name(name: Element) -> String {
    let parts = ["prefix", "given-names", "surname", "suffix"];
    let parts: Vec<String> =
        parts.iter().filter_map(|part| Some(name.child(part)?.text())).collect();
    let whole = if parts.is_empty() { name.text() } else { parts.join(" ") };
    whole.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Page {
    html: String,
}

impl Page {
    fn front(&mut self, meta: Element) {
        if let Some(title) = meta.path(&["title-group", "article-title"]) {
            self.wrap("h1", title, 1);
        }
        self.paragraph(&people(meta).join(", "));
        let places = meta.descendants().filter(|element| element.name() == "aff");
        let places: Vec<String> = places.map(|place| text_of(place, &["label"])).collect();
        self.paragraph(&places.join("; "));
        for part in meta.elements() {
            match part.name() {
                "abstract" | "trans-abstract" => {
                    if part.child("title").is_none() {
                        self.html.push_str("<h2>Abstract</h2>");
                    }
                    self.children(part, 2);
                }
                "kwd-group" => {
                    let words: Vec<String> = part.all("kwd").map(Element::text).collect();
                    self.paragraph(&format!("Keywords: {}", words.join(", ")));
                }
                _ => {}
            }
        }
    }

    /// Writes an element under headings of a level. Its recursion is bounded by the depth of the
    /// tree.
    fn write(&mut self, element: Element, level: usize) {
        match element.name() {
            "sec" | "ack" | "app" | "ref-list" | "glossary" | "fn-group" | "notes" | "bio" => {
                self.children(element, level + 1);
            }
            "title" => {
                let tag = format!("h{}", level.min(6));
                self.wrap(&tag, element, level);
            }
            "p" | "disp-quote" | "verse-line" | "table-wrap-foot" | "speech" => {
                self.wrap("p", element, level);
            }
            "disp-formula" => {
                self.html.push_str("<p>");
                self.children(element, level);
                self.html.push_str("</p>");
            }
            "alternatives" => {
                let first = element.elements().find(|one| !one.name().ends_with("graphic"));
                if let Some(first) = first {
                    self.write(first, level);
                }
            }
            "list" if element.attr("list-type").as_deref() == Some("order") => {
                self.wrap("ol", element, level);
            }
            "list" | "def-list" => self.wrap("ul", element, level),
            "list-item" | "def-item" => self.wrap("li", element, level),
            "ref" => {
                self.html.push_str("<ul><li>");
                self.spread(element, level);
                self.html.push_str("</li></ul>");
            }
            "fig" | "table-wrap" | "boxed-text" | "supplementary-material" => {
                self.floating(element, level);
            }
            "code" | "preformat" => self.wrap("pre", element, level),
            "table" | "thead" | "tbody" | "tfoot" | "tr" => {
                self.wrap(element.name(), element, level);
            }
            "td" | "th" => {
                self.html.push('<');
                self.html.push_str(element.name());
                for key in ["colspan", "rowspan"] {
                    if let Some(span) = element.number::<u32>(key) {
                        let _ = write!(self.html, " {key}={span}");
                    }
                }
                self.html.push('>');
                self.children(element, level);
                let _ = write!(self.html, "</{}>", element.name());
            }
            "break" => self.html.push_str("<br>"),
            "ext-link" | "uri" | "self-uri" => {
                let target = element.attr("xlink:href").unwrap_or_default();
                self.html.push_str("<a href=\"");
                self.text(&target);
                self.html.push_str("\">");
                self.children(element, level);
                self.html.push_str("</a>");
            }
            "graphic" | "inline-graphic" | "media" | "object-id" | "tex-math" | "floats-group"
                if is_empty(element) => {}
            "object-id" | "permissions" => {}
            "name" | "string-name" => self.text(&name(element)),
            "element-citation" => self.spread(element, level),
            _ => self.children(element, level),
        }
    }

    /// A figure or table with its label and caption.
    fn floating(&mut self, element: Element, level: usize) {
        let label = element.child("label").map(Element::text).unwrap_or_default();
        let caption = element.child("caption").map(|caption| spread_text(caption));
        let caption = [label, caption.unwrap_or_default()].join(" ");
        if !caption.trim().is_empty() {
            self.html.push_str("<figcaption>");
            self.text(&caption);
            self.html.push_str("</figcaption>");
        }
        for part in element.elements().filter(|part| !matches!(part.name(), "label" | "caption")) {
            self.write(part, level);
        }
    }

    fn wrap(&mut self, tag: &str, element: Element, level: usize) {
        let _ = write!(self.html, "<{tag}>");
        self.children(element, level);
        let _ = write!(self.html, "</{tag}>");
    }

    fn children(&mut self, element: Element, level: usize) {
        for child in element.children() {
            match child {
                Child::Text(text) => self.text(text),
                Child::Element(element) => self.write(element, level),
            }
        }
    }

    /// Writes parts of a reference that have no space between them.
    fn spread(&mut self, element: Element, level: usize) {
        for child in element.children() {
            match child {
                Child::Text(text) => self.text(text),
                Child::Element(element) => {
                    self.write(element, level);
                    self.html.push(' ');
                }
            }
        }
    }

    fn paragraph(&mut self, text: &str) {
        self.html.push_str("<p>");
        self.text(text);
        self.html.push_str("</p>");
    }

    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '<' => self.html.push_str("&lt;"),
                '&' => self.html.push_str("&amp;"),
                '"' => self.html.push_str("&quot;"),
                c => self.html.push(c),
            }
        }
    }
}

fn is_empty(element: Element) -> bool {
    element.children().next().is_none()
}

/// The text of an element without some of its children.
fn text_of(element: Element, without: &[&str]) -> String {
    let pieces = element.children().map(|child| match child {
        Child::Text(text) => text.to_owned(),
        Child::Element(inside) if without.contains(&inside.name()) => String::new(),
        Child::Element(inside) => inside.text(),
    });
    pieces.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Title and paragraphs of a caption, separated by spaces.
fn spread_text(caption: Element) -> String {
    let pieces: Vec<String> = caption.elements().map(Element::text).collect();
    if pieces.is_empty() { caption.text() } else { pieces.join(" ") }
}
