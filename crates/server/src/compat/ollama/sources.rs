//! Lists the sources of an answer below its text, because replies of this protocol have no field for
//! citations.

use std::fmt::Write;

use pikerag_engine::knowledge::Citation;
use pikerag_engine::narrate::Language;

use crate::app::App;

/// The text with a list of its citations, as links to their passages in Markdown.
pub(super) fn with_sources(
    app: &App,
    base: &str,
    (text, places): (String, Vec<(Citation, usize, usize)>),
    language: Language,
) -> String {
    let cited = places
        .iter()
        .map(|(citation, ..)| (citation.title.as_str(), app.permalink(base, citation.chunk)));
    text + &list(cited, language)
}

fn list<'a>(cited: impl Iterator<Item = (&'a str, String)>, language: Language) -> String {
    let mut list = String::new();
    for (number, (title, url)) in (1..).zip(cited) {
        if list.is_empty() {
            let _ = write!(list, "\n\n{}\n", language.either("Sources:", "来源："));
        }
        let _ = write!(list, "\n- [{number}] [{}]({url})", escaped(title));
    }
    list
}

/// A title as the text of a link.
fn escaped(title: &str) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    title.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_citation_is_a_link_under_its_number() {
        let cited =
            [("Crane [draft]", "http://h/1".to_owned()), ("Dock\n2", "http://h/2".to_owned())];
        assert_eq!(
            list(cited.into_iter(), Language::English),
            "\n\nSources:\n\n- [1] [Crane \\[draft\\]](http://h/1)\n- [2] [Dock 2](http://h/2)"
        );
        assert_eq!(list(std::iter::empty(), Language::Chinese), "");
    }
}
