//! Reads XML as events or as a tree, within limits.
//!
//! It fetches nothing and expands only the five entities of XML and characters by number.

mod tree;

use pikerag_knowledge::ProblemFact;
use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event as Raw};

use crate::Problems;
pub use tree::{Child, Element, Tree};

/// The deepest nesting that is read; it bounds the recursion of code that walks a tree.
const DEEPEST: usize = 200;

/// The text of a part in any encoding.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let encoding = match bytes {
        [b'<', 0, b'?', 0, ..] => UTF_16LE,
        [0, b'<', 0, b'?', ..] => UTF_16BE,
        _ => declared(bytes).unwrap_or(UTF_8),
    };
    encoding.decode(bytes).0 // A byte order mark takes precedence.
}

/// The encoding in `<?xml version="1.0" encoding="…"?>`.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes));
    let (declaration, _) = start.trim_start().strip_prefix("<?xml")?.split_once("?>")?;
    let (_, label) = declaration.split_once("encoding")?;
    let label = label.trim_start().strip_prefix('=')?.trim_start();
    let label = label.get(1..)?.split(['"', '\'']).next()?;
    // A declaration that is readable as ASCII is not UTF-16.
    Encoding::for_label(label.as_bytes()).filter(|found| ![UTF_16LE, UTF_16BE].contains(found))
}

/// One event of a part, in the order of its text.
#[derive(Debug)]
pub enum Event<'t> {
    /// The start of an element; an empty element ends with the next event.
    Open(Tag<'t>),
    /// The end of the last open element.
    Close,
    /// Text between two tags, or a part of it.
    Text(Cow<'t, str>),
}

/// The start tag of an element.
#[derive(Clone, Debug)]
pub struct Tag<'t>(BytesStart<'t>);

impl Tag<'_> {
    /// The name without its prefix, which every writer may choose.
    pub fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The value of an attribute. `val` matches any attribute of that name, preferably one without
    /// a prefix; `r:id` matches one with any prefix.
    pub fn attr(&self, name: &str) -> Option<Cow<'_, str>> {
        let (prefixed, name) = name.split_once(':').map_or((false, name), |(_, name)| (true, name));
        let mut best = None;
        let mut attributes = self.0.attributes();
        // Skips the check for duplicate names, which is slow and not needed.
        for attribute in attributes.with_checks(false).flatten() {
            if attribute.key.local_name().into_inner() != name {
                continue;
            }
            let has_prefix = attribute.key.prefix().is_some();
            if prefixed && !has_prefix {
                continue;
            }
            if prefixed || !has_prefix {
                return Some(value(&attribute));
            }
            best.get_or_insert(attribute);
        }
        best.map(|attribute| value(&attribute))
    }

    /// The value of an attribute as a number.
    pub fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.attr(name)?.trim().parse().ok()
    }

    /// Whether the attribute exists and is not `0`, `false`, `off` or `none`.
    pub fn is_on(&self, name: &str) -> bool {
        self.attr(name).is_some_and(|value| !matches!(&*value, "0" | "false" | "off" | "none"))
    }
}

fn value<'t>(attribute: &quick_xml::events::attributes::Attribute<'t>) -> Cow<'t, str> {
    attribute.normalized_value(XmlVersion::Implicit1_0).unwrap_or_else(|_| attribute.value.clone())
}

/// The events of a part. Elements that are nested too deep are skipped with their content.
pub struct Events<'t> {
    reader: quick_xml::Reader<&'t [u8]>,
    depth: usize,
    n_deep: usize,
    n_unknown: usize,
    fault: Option<String>,
    is_over: bool,
}

impl<'t> Events<'t> {
    /// Events of the whole text, from its start.
    pub fn new(text: &'t str) -> Self {
        let mut reader = quick_xml::Reader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self { reader, depth: 0, n_deep: 0, n_unknown: 0, fault: None, is_over: false }
    }

    /// Adds the problems found so far.
    pub fn report(&self, place: &str, problems: &mut Problems) {
        if let Some(fault) = &self.fault {
            problems.add(place, ProblemFact::InvalidXml { reason: fault.clone() });
        }
        if 0 < self.n_deep {
            let reason = ProblemFact::ElementsTooDeep { elements: self.n_deep, depth: DEEPEST };
            problems.add(place, reason);
        }
        if 0 < self.n_unknown {
            let reason = ProblemFact::CustomEntities { entities: self.n_unknown };
            problems.add(place, reason);
        }
    }

    /// Skips the rest of the element that was opened last.
    pub fn pass_over(&mut self) {
        let around = self.depth.saturating_sub(1);
        while around < self.depth && self.next().is_some() {}
    }

    fn end_with(&mut self, fault: String) {
        self.fault.get_or_insert(fault);
        self.is_over = true;
    }
}

impl<'t> Iterator for Events<'t> {
    type Item = Event<'t>;

    fn next(&mut self) -> Option<Event<'t>> {
        while !self.is_over {
            let event = match self.reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    let at = self.reader.buffer_position();
                    self.end_with(format!("{error}, at byte {at}"));
                    return None;
                }
            };
            match event {
                Raw::Start(tag) => {
                    self.depth += 1;
                    if self.depth <= DEEPEST {
                        return Some(Event::Open(Tag(tag)));
                    }
                    self.n_deep += 1;
                }
                Raw::End(_) => {
                    self.depth -= 1;
                    if self.depth < DEEPEST {
                        return Some(Event::Close);
                    }
                }
                Raw::Text(text) if self.depth <= DEEPEST => {
                    return Some(Event::Text(text.into_inner()));
                }
                Raw::CData(text) if self.depth <= DEEPEST => {
                    return Some(Event::Text(text.into_inner()));
                }
                Raw::GeneralRef(entity) if self.depth <= DEEPEST => {
                    let text = character(&entity).unwrap_or_else(|| {
                        self.n_unknown += 1;
                        format!("&{};", entity.into_inner())
                    });
                    return Some(Event::Text(Cow::Owned(text)));
                }
                Raw::Eof => {
                    if 0 < self.depth {
                        self.end_with("the file ends inside an element".to_owned());
                    }
                    self.is_over = true;
                }
                _ => {}
            }
        }
        None
    }
}

/// The character of a reference, if XML itself defines it.
fn character(entity: &BytesRef) -> Option<String> {
    if let Ok(Some(character)) = entity.resolve_char_ref() {
        return Some(character.to_string());
    }
    quick_xml::escape::resolve_predefined_entity(&entity.clone().into_inner()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn run(text: &[u8]) -> String {
        let mut problems = Problems::default();
        let text = decode(text);
        let tree = Tree::read(&text, "part.xml", &mut problems);
        let mut drawn = tree.root().map(Element::text).unwrap_or_default();
        for problem in problems.finish() {
            write!(drawn, "\n! {}: {}", problem.place, problem.reason).unwrap();
        }
        drawn
    }

    #[test]
    fn text_in_any_encoding() {
        assert_eq!(
            run("<a>x &amp; &#x41;&#66;<b/> é<![CDATA[<c>]]></a>".as_bytes()),
            "x & AB é<c>"
        );
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        assert_eq!(run(&utf16("<?xml version='1.0'?><a>检索</a>")), "检索");
        assert_eq!(run(b"<?xml version='1.0' encoding='latin1'?><a>caf\xe9</a>"), "café");
        assert_eq!(run("\u{feff}<a>x</a>".as_bytes()), "x");
    }

    #[test]
    fn attributes_with_and_without_prefix() {
        let tree_of = "<a r:id='1' id='2' w:val='x &lt; y'/>";
        let mut problems = Problems::default();
        let tree = Tree::read(tree_of, "", &mut problems);
        let root = tree.root().unwrap();
        let seen =
            ["id", "r:id", "val", "w:val", "none"].map(|name| root.attr(name).map(Cow::into_owned));
        assert_eq!(seen.map(Option::unwrap_or_default), ["2", "1", "x < y", "x < y", ""]);
    }

    #[test]
    fn alternatives_are_read_once() {
        assert_eq!(
            run(b"<a><AlternateContent><Choice><t>new</t></Choice><Choice>b</Choice><Fallback><t>old</t></Fallback></AlternateContent></a>"),
            "new"
        );
        assert_eq!(
            run(b"<a><AlternateContent>\n  <Choice>new</Choice>\n  <Fallback>old</Fallback>\n</AlternateContent></a>"),
            "new"
        );
        assert_eq!(
            run(b"<a><AlternateContent><Fallback>old</Fallback></AlternateContent></a>"),
            "old"
        );
    }

    #[test]
    fn broken_and_hostile_files_are_reported() {
        insta::assert_snapshot!(run(b"<a>x<b>y"), @"
        xy
        ! part.xml: is invalid here, the rest was skipped: the file ends inside an element
        ");
        insta::assert_snapshot!(run(b"<a>x</b>y"), @"
        x
        ! part.xml: is invalid here, the rest was skipped: ill-formed document: expected `</a>`, but `</b>` was found, at byte 8
        ");
        insta::assert_snapshot!(run(b"<!DOCTYPE a [<!ENTITY l SYSTEM 'file:///etc/passwd'>]><a>x&l;y</a>"), @"
        x&l;y
        ! part.xml: 1 custom entities were not expanded
        ");
        let deep = format!("{}x{}<a>y</a></a>", "<a>".repeat(100_000), "</a>".repeat(99_999));
        insta::assert_snapshot!(run(deep.as_bytes()), @"
        y
        ! part.xml: 99800 elements are nested deeper than 200: they are left out
        ");
        let mut many = String::new();
        for n in 0..100_000 {
            write!(many, " a{n}='1' xmlns:a{n}='u'").unwrap();
        }
        assert_eq!(run(format!("<a{many}>x</a>").as_bytes()), "x");
    }
}
