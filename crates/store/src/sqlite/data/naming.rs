//! Finds titles for the rows of a document, and for a table of several documents.

use pikerag_knowledge::uri::{self, file_path};

/// The most characters of a caption that serves as title.
const LONGEST: usize = 120;
/// The most phrases that say what a table is about.
const ABOUT: usize = 24;

/// The names that a document gives its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The title of the rows.
    pub title: String,
    /// Further words for their subject.
    pub about: Vec<String>,
}

/// The name of a file without its folder and ending, on one line.
pub fn stem(uri: &str) -> String {
    one_line(uri::stem(&file_path(uri)))
}

/// A title on one line: it becomes part of sentences and of prompts.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a heading only says which of several sheets it is: `2023年`, `Q3 2024`, `Sheet1`, `工作表 2`.
fn only_numbers(heading: &str) -> bool {
    const GENERIC: [&str; 12] =
        ["", "年", "年度", "年月", "月", "月份", "季度", "q", "fy", "sheet", "工作表", "表"];
    let is_mark = |c: char| c.is_numeric() || c.is_whitespace() || c.is_ascii_punctuation();
    let words = heading.to_lowercase();
    words.split(is_mark).all(|word| GENERIC.contains(&word))
}

/// Names rows by the caption, the last heading above it that is more than a number, or the file.
pub fn of_rows(uri: &str, document: &str, headings: &[String], caption: &str) -> Named {
    let caption = one_line(caption);
    let is_short = !caption.is_empty() && caption.chars().count() <= LONGEST;
    let title = match headings.iter().rfind(|heading| !only_numbers(heading)) {
        _ if is_short => caption.clone(),
        Some(heading) => one_line(heading),
        None => stem(uri),
    };
    let caption = is_short.then_some(caption);
    let about = headings.iter().cloned().chain(caption).chain([document.to_owned(), stem(uri)]);
    let mut named = Named { title, about: Vec::new() };
    for words in about {
        add(&mut named.about, words);
    }
    named
}

/// Adds words that are not there yet.
pub fn add(about: &mut Vec<String>, words: String) {
    if about.len() < ABOUT && !words.trim().is_empty() && !about.contains(&words) {
        about.push(words);
    }
}

/// Makes a name in SQL from a title, different from those taken.
pub fn in_sql(title: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut plain = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        match c.is_alphanumeric() {
            true => plain.push(c),
            false if !plain.is_empty() && !plain.ends_with('_') => plain.push('_'),
            false => {}
        }
    }
    let plain = plain.trim_end_matches('_');
    let plain = if plain.is_empty() { "rows_of" } else { plain };
    let mut name = plain.to_owned();
    let mut nth = 2;
    while is_taken(&name) {
        name = format!("{plain}_{nth}");
        nth += 1;
    }
    name
}

/// The title of several documents' rows: the one that all have, else their common beginning, else
/// the first.
pub fn of_parts<'a>(titles: impl Iterator<Item = &'a str> + Clone) -> String {
    let Some(first) = titles.clone().next() else { return String::new() };
    if titles.clone().all(|title| title == first) {
        return first.to_owned();
    }
    let mut shared: Vec<char> = first.chars().collect();
    for title in titles {
        let alike = shared.iter().zip(title.chars()).take_while(|(a, b)| **a == *b).count();
        shared.truncate(alike);
    }
    let shared: String = shared.into_iter().collect();
    let shared = shared.trim_end_matches(|c: char| !c.is_alphabetic());
    match 2 < shared.len() {
        true => shared.to_owned(),
        false => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_several_documents_takes_their_common_beginning() {
        let title = |titles: &[&str]| of_parts(titles.iter().copied());
        assert_eq!(title(&["sales_2023", "sales_2024"]), "sales");
        assert_eq!(title(&["销售 2023", "销售 2024"]), "销售");
        assert_eq!(title(&["Orders", "Orders"]), "Orders");
        assert_eq!(title(&["north", "south"]), "north");
        assert_eq!(title(&[]), "");
    }

    #[test]
    fn rows_are_named_by_caption_heading_or_file() {
        let headings = ["Costs".to_owned(), "2024".to_owned()];
        let title = |headings: &[String], caption: &str| {
            of_rows("a/re.port.csv", "Report", headings, caption).title
        };
        assert_eq!(title(&headings, " Table 1:\n Costs "), "Table 1: Costs");
        assert_eq!(title(&headings, ""), "Costs");
        for sheet in ["2023年", "Sheet1", "Q3 2024", "工作表 2", "2024-05"] {
            assert_eq!(title(&[sheet.to_owned()], ""), "re.port", "{sheet}");
        }
        assert_eq!(title(&["2024年销售".to_owned()], ""), "2024年销售");
        assert_eq!(title(&[], ""), "re.port");
        assert_eq!(title(&["Costs\nIts result: 9".to_owned()], ""), "Costs Its result: 9");
        assert_eq!(stem("a/b\n c.csv"), "b c");
        assert_eq!(
            of_rows("a/b.csv", "b", &headings, "").about,
            ["Costs", "2024", "b"].map(str::to_owned)
        );
    }
}
