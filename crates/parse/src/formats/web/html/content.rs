//! Selects the parts of a page that are its content.

use std::collections::BTreeMap;

use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::Node;
use scraper::node::Element;

use crate::document::blocks::one_line;

/// How much of a page is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// The content that readers come for.
    Content,
    /// All visible text, for pages with nothing else than navigation.
    Visible,
}

/// Whether the page hides the element, or the element is furniture around the content.
pub(super) fn is_left_out(node: NodeRef<'_, Node>, element: &Element, keep: Keep) -> bool {
    is_hidden(element) || (keep == Keep::Content && is_furniture(node, element))
}

fn is_hidden(element: &Element) -> bool {
    let never_shown = matches!(
        element.name(),
        "head"
            | "title"
            | "desc"
            | "metadata"
            | "script"
            | "style"
            | "template"
            | "noscript"
            | "noembed"
            | "noframes"
            | "iframe"
            | "object"
            | "audio"
            | "video"
            | "canvas"
            | "annotation"
            | "annotation-xml"
    );
    let form_control = matches!(
        element.name(),
        "button" | "select" | "option" | "textarea" | "input" | "datalist"
    );
    let closed = element.name() == "dialog" && element.attr("open").is_none();
    let style = element.attr("style").is_some_and(|style| {
        let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
        let style = style.to_ascii_lowercase();
        style.contains("display:none") || style.contains("visibility:hidden")
    });
    let aria = element.attr("aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    never_shown || form_control || closed || style || aria || element.attr("hidden").is_some()
}

fn is_furniture(node: NodeRef<'_, Node>, element: &Element) -> bool {
    let role = matches!(
        element.attr("role"),
        Some(
            "navigation"
                | "banner"
                | "contentinfo"
                | "search"
                | "complementary"
                | "menu"
                | "menubar"
        )
    );
    // Edit links and similar elements of MediaWiki, the software of most encyclopedias.
    let class = element.classes().any(|class| matches!(class, "mw-editsection" | "noprint"));
    match element.name() {
        "nav" | "aside" | "footer" => true,
        // The header of a page is furniture; that of an article holds its title.
        "header" => !has_ancestor(node, |element| is_main(element) || element.name() == "article"),
        // Lists in a header are menus: of sections, of languages, of share buttons.
        "ul" | "ol" | "menu" => {
            role || class || has_ancestor(node, |element| element.name() == "header")
        }
        _ => role || class,
    }
}

fn has_ancestor(node: NodeRef<'_, Node>, is_wanted: impl Fn(&Element) -> bool) -> bool {
    node.ancestors().any(|ancestor| ancestor.value().as_element().is_some_and(&is_wanted))
}

/// The `main` elements, or the `article`s if there are none; none inside another.
pub(super) fn main_parts(root: NodeRef<'_, Node>) -> Vec<NodeRef<'_, Node>> {
    let mains = outermost(root, is_main);
    if mains.is_empty() { outermost(root, |element| element.name() == "article") } else { mains }
}

fn is_main(element: &Element) -> bool {
    element.name() == "main" || element.attr("role") == Some("main")
}

fn outermost(
    root: NodeRef<'_, Node>,
    is_wanted: impl Fn(&Element) -> bool,
) -> Vec<NodeRef<'_, Node>> {
    let mut found = Vec::new();
    let mut within = 0usize;
    for edge in root.traverse() {
        let (Edge::Open(node) | Edge::Close(node)) = edge;
        let Some(element) = node.value().as_element() else { continue };
        if !is_wanted(element) {
            continue;
        }
        match edge {
            Edge::Open(_) => {
                if within == 0 && !is_hidden(element) {
                    found.push(node);
                }
                within += 1;
            }
            Edge::Close(_) => within -= 1,
        }
    }
    found
}

/// The metadata of a page.
#[derive(Default)]
pub(super) struct Head {
    pub(super) title: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    /// The page that readers are sent to.
    pub(super) redirects_to: Option<String>,
}

/// The title, the language and the useful `meta` elements; the first of each counts.
pub(super) fn head_of(root: NodeRef<'_, Node>) -> Head {
    let mut head = Head::default();
    let mut note = |key: String, value: &str| {
        if let Some(value) = one_line(value) {
            head.metadata.entry(key).or_insert(value);
        }
    };
    for node in root.descendants() {
        let Some(element) = node.value().as_element() else { continue };
        match element.name() {
            "html" => note("language".to_owned(), element.attr("lang").unwrap_or_default()),
            "meta" if is_refresh(element) => {
                let target = element.attr("content").and_then(refresh_target);
                head.redirects_to = head.redirects_to.take().or(target);
            }
            "meta" => {
                let name =
                    element.attr("name").or_else(|| element.attr("property")).unwrap_or_default();
                let name = name.to_ascii_lowercase();
                if matches!(
                    name.as_str(),
                    "author"
                        | "description"
                        | "keywords"
                        | "date"
                        | "article:published_time"
                        | "article:modified_time"
                ) {
                    note(name, element.attr("content").unwrap_or_default());
                }
            }
            // Drawings have titles too.
            "title" if head.title.is_none() && in_head(node) => {
                let text: String = node
                    .children()
                    .filter_map(|child| child.value().as_text().map(|text| &**text))
                    .collect();
                head.title = one_line(&text);
            }
            _ => {}
        }
    }
    head
}

fn is_refresh(element: &Element) -> bool {
    element.attr("http-equiv").is_some_and(|kind| kind.eq_ignore_ascii_case("refresh"))
}

/// The address in `0; url=page.html`; `None` if the page only loads itself again.
fn refresh_target(content: &str) -> Option<String> {
    let (_, target) = content.split_once([';', ','])?;
    let target = target.trim();
    let target = match target.get(..3) {
        Some(key) if key.eq_ignore_ascii_case("url") => {
            target.get(3..)?.trim_start().strip_prefix('=')?
        }
        _ => target,
    };
    one_line(target.trim().trim_matches(['"', '\'']))
}

fn in_head(node: NodeRef<'_, Node>) -> bool {
    !has_ancestor(node, |element| matches!(element.name(), "svg" | "math"))
}
