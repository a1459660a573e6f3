//! Stores a part of XML as a tree that can be walked without recursion.

use pikerag_knowledge::ProblemFact;
use std::borrow::Cow;

use super::{Event, Events, Tag};
use crate::Problems;

/// The most nodes of a tree, at about 50 bytes each.
const MOST_NODES: usize = 3_000_000;

/// A part as a tree, without comments; of alternatives (`mc:AlternateContent`) only the first.
#[derive(Debug)]
pub struct Tree<'t> {
    nodes: Vec<Node<'t>>,
}

#[derive(Debug)]
struct Node<'t> {
    what: NodeKind<'t>,
    /// Index of the first child and of the next sibling; 0 means none.
    first: u32,
    next: u32,
}

#[derive(Debug)]
enum NodeKind<'t> {
    Element(Tag<'t>),
    Text(Cow<'t, str>),
}

/// An element of a tree, as a view that is cheap to copy.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    tree: &'a Tree<'a>,
    tag: &'a Tag<'a>,
    first: u32,
}

/// A node inside an element.
#[derive(Clone, Copy)]
pub enum Child<'a> {
    /// An element.
    Element(Element<'a>),
    /// Text between two tags, or a part of it.
    Text(&'a str),
}

impl<'t> Tree<'t> {
    /// Reads a part as far as it is readable; problems show `place`.
    pub fn read(text: &'t str, place: &str, problems: &mut Problems) -> Self {
        let mut nodes: Vec<Node<'t>> = Vec::new();
        // Open elements with the last child of each.
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut events = Events::new(text);
        while let Some(event) = events.next() {
            let what = match event {
                Event::Close => {
                    open.pop();
                    continue;
                }
                Event::Text(text) if open.is_empty() || text.is_empty() => continue,
                // Skips white space here, because it would separate two alternatives.
                Event::Text(_)
                    if open
                        .last()
                        .is_some_and(|(at, _)| is_named(&nodes, *at, "AlternateContent")) =>
                {
                    continue;
                }
                Event::Text(text) => NodeKind::Text(text),
                Event::Open(tag) => {
                    // The first alternative is the newest form; the others repeat its content.
                    let again = matches!(tag.name(), "Fallback" | "Choice")
                        && open.last().is_some_and(|(_, last)| {
                            0 < *last && is_named(&nodes, *last, "Choice")
                        });
                    if again {
                        events.pass_over();
                        continue;
                    }
                    NodeKind::Element(tag)
                }
            };
            if MOST_NODES <= nodes.len() {
                let reason = ProblemFact::TooManyElements { most: MOST_NODES };
                problems.add(place, reason);
                break;
            }
            let at = nodes.len() as u32;
            if let Some((parent, last)) = open.last_mut() {
                let link = if *last == 0 {
                    nodes.get_mut(*parent as usize).map(|node| &mut node.first)
                } else {
                    nodes.get_mut(*last as usize).map(|node| &mut node.next)
                };
                if let Some(link) = link {
                    *link = at;
                }
                *last = at;
            }
            if matches!(what, NodeKind::Element(_)) {
                open.push((at, 0));
            }
            nodes.push(Node { what, first: 0, next: 0 });
        }
        events.report(place, problems);
        Self { nodes }
    }

    /// The outermost element; `None` if the text has no element.
    pub fn root(&self) -> Option<Element<'_>> {
        self.element(0)
    }

    fn element(&self, at: u32) -> Option<Element<'_>> {
        match self.child(at)?.0 {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        }
    }

    /// A child and the index of its next sibling.
    fn child(&self, at: u32) -> Option<(Child<'_>, u32)> {
        let node = self.nodes.get(at as usize)?;
        let child = match &node.what {
            NodeKind::Element(tag) => {
                Child::Element(Element { tree: self, tag, first: node.first })
            }
            NodeKind::Text(text) => Child::Text(text),
        };
        Some((child, node.next))
    }
}

fn is_named(nodes: &[Node], at: u32, name: &str) -> bool {
    nodes.get(at as usize).is_some_and(|node| match &node.what {
        NodeKind::Element(tag) => tag.name() == name,
        NodeKind::Text(_) => false,
    })
}

impl<'a> Element<'a> {
    /// See [`Tag::name`].
    pub fn name(self) -> &'a str {
        self.tag.name()
    }

    /// See [`Tag::attr`].
    pub fn attr(self, name: &str) -> Option<Cow<'a, str>> {
        self.tag.attr(name)
    }

    /// See [`Tag::number`].
    pub fn number<N: std::str::FromStr>(self, name: &str) -> Option<N> {
        self.tag.number(name)
    }

    /// See [`Tag::is_on`].
    pub fn is_on(self, name: &str) -> bool {
        self.tag.is_on(name)
    }

    /// Child elements and texts, in order.
    pub fn children(self) -> impl Iterator<Item = Child<'a>> {
        let mut at = self.first;
        std::iter::from_fn(move || {
            if at == 0 {
                return None;
            }
            let (child, next) = self.tree.child(at)?;
            at = next;
            Some(child)
        })
    }

    /// Child elements, in order.
    pub fn elements(self) -> impl Iterator<Item = Element<'a>> {
        self.children().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    /// Child elements with this name.
    pub fn all(self, name: &str) -> impl Iterator<Item = Element<'a>> {
        self.elements().filter(move |element| element.name() == name)
    }

    /// The first child element with this name.
    pub fn child(self, name: &str) -> Option<Element<'a>> {
        self.all(name).next()
    }

    /// The first element at the end of a path of names.
    pub fn path(self, names: &[&str]) -> Option<Element<'a>> {
        names.iter().try_fold(self, |element, name| element.child(name))
    }

    /// All elements below it, parents before children.
    pub fn descendants(self) -> impl Iterator<Item = Element<'a>> {
        let mut waiting = vec![self.first];
        std::iter::from_fn(move || {
            loop {
                let at = waiting.pop()?;
                if at == 0 {
                    continue;
                }
                let (child, next) = self.tree.child(at)?;
                waiting.push(next);
                if let Child::Element(element) = child {
                    waiting.push(element.first);
                    return Some(element);
                }
            }
        })
    }

    /// Elements with this name at any depth, but not inside one another.
    pub fn outermost(self, name: &str) -> impl Iterator<Item = Element<'a>> {
        let mut waiting = vec![self.first];
        std::iter::from_fn(move || {
            loop {
                let at = waiting.pop()?;
                let Some((child, next)) = self.tree.child(at).filter(|_| at != 0) else { continue };
                waiting.push(next);
                match child {
                    Child::Element(element) if element.name() == name => return Some(element),
                    Child::Element(element) => waiting.push(element.first),
                    Child::Text(_) => {}
                }
            }
        })
    }

    /// The first element with this name at any depth.
    pub fn find(self, name: &str) -> Option<Element<'a>> {
        self.descendants().find(|element| element.name() == name)
    }

    /// All text in it at any depth, without separators.
    pub fn text(self) -> String {
        let mut text = String::new();
        let mut waiting = vec![self.first];
        while let Some(at) = waiting.pop() {
            let Some((child, next)) = self.tree.child(at).filter(|_| at != 0) else { continue };
            waiting.push(next);
            match child {
                Child::Text(piece) => text.push_str(piece),
                Child::Element(element) => waiting.push(element.first),
            }
        }
        text
    }
}
