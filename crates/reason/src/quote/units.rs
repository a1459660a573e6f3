//! Splits chunks into quotable units: rows of a table, lines of code, or sentences, with a
//! neighbour if a sentence needs one to be understood.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use pikerag_knowledge::{Chunk, ChunkKind, SourceId};
use pikerag_language::{is_chinese, pattern, sentences, terms};

use crate::coverage::SentenceTerms;

/// A sentence or row, with the terms that show its subject.
pub(super) struct Unit<'a> {
    /// The chunk's place in the context.
    pub(super) place: usize,
    pub(super) chunk: &'a Chunk,
    /// The quote, in the chunk's text: the unit, with the neighbours that it needs.
    pub(super) span: Range<usize>,
    /// The next sentences of its paragraph, by which the quote may go on; at most [`FOLLOWING`].
    pub(super) following: Vec<Range<usize>>,
    /// The unit itself.
    pub(super) text: &'a str,
    /// Its terms, with those of the sentence before in the same paragraph, and those of all chunks of
    /// its document that the context holds.
    pub(super) terms: SentenceTerms,
}

pattern!(ADDRESS, r"[a-z][a-z0-9+.-]*://[a-z0-9._~:/?#@!$&'*+,;=%-]+");

/// The longest paragraph, in characters, that is quoted whole if it is a numbered article: its
/// sentences qualify each other.
const ARTICLE: usize = 300;

/// Sentences by which a quote may go on.
const FOLLOWING: usize = 2;

/// Characters of the first sentence of a numbered item that only names its subject, at most.
const ITEM_HEAD: usize = 40;
const ITEM_HEAD_CHINESE: usize = 14;

/// A sentence with fewer terms says nothing by itself.
const SHORT: usize = 3;

/// All units of a context's chunks, in their order.
pub(super) fn units<'a>(chunks: &[&'a Chunk]) -> Vec<Unit<'a>> {
    let mut found = Vec::new();
    let around: Vec<Rc<HashSet<String>>> =
        chunks.iter().map(|chunk| Rc::new(terms(&chunk.text).into_iter().collect())).collect();
    let mut documents: HashMap<SourceId, HashSet<String>> = HashMap::new();
    for (chunk, around) in chunks.iter().zip(&around) {
        documents.entry(chunk.source).or_default().extend(around.iter().cloned());
    }
    let documents: HashMap<SourceId, Rc<HashSet<String>>> =
        documents.into_iter().map(|(source, terms)| (source, Rc::new(terms))).collect();
    for (place, (chunk, around)) in chunks.iter().zip(around).enumerate() {
        let above = Rc::new(above(chunk));
        let document = documents.get(&chunk.source).cloned().unwrap_or_default();
        let mut add = |span: Range<usize>,
                       own: Part,
                       before: HashSet<String>,
                       following: Vec<Range<usize>>| {
            let Some(text) = chunk.text.get(own.place) else { return };
            if text.chars().any(char::is_alphanumeric) {
                let terms = SentenceTerms {
                    own: match without_addresses(text) {
                        Cow::Borrowed(_) => own.terms,
                        Cow::Owned(text) => terms(&text).into_iter().collect(),
                    },
                    above: Rc::clone(&above),
                    before,
                    around: Rc::clone(&around),
                    document: Rc::clone(&document),
                };
                found.push(Unit { place, chunk, span, following, text, terms });
            }
        };
        if matches!(chunk.kind, ChunkKind::Table | ChunkKind::Code) {
            for line in rows(chunk) {
                let own = Part::of(&chunk.text, line.clone());
                add(line, own, HashSet::new(), Vec::new());
            }
            continue;
        }
        for block in blocks(&chunk.text) {
            let Some(text) = chunk.text.get(block.clone()) else { continue };
            if is_mail_head(text) {
                continue;
            }
            let parts = whole_sentences(&chunk.text, &block);
            for (at, own) in parts.iter().enumerate() {
                let before = at.checked_sub(1).and_then(|at| parts.get(at));
                let after = parts.get(at + 1).map(|part| &part.place);
                let terms_before = before.map(|part| part.terms.clone()).unwrap_or_default();
                let before = before.map(|part| &part.place);
                let span = match is_article(text) && text.chars().count() <= ARTICLE {
                    true => block.clone(),
                    false => with_neighbours(&chunk.text, &own.place, before, after),
                };
                let next = parts.iter().filter(|part| span.end <= part.place.start);
                let following = next.take(FOLLOWING).map(|part| part.place.clone()).collect();
                add(span, own.clone(), terms_before, following);
            }
        }
    }
    found
}

/// A text without addresses of the web: their words state nothing. An address alone stays.
fn without_addresses(text: &str) -> Cow<'_, str> {
    let rest = ADDRESS.replace_all(text, " ");
    if rest.chars().any(char::is_alphanumeric) { rest } else { text.into() }
}

/// A part of a chunk's text, with its terms.
#[derive(Clone)]
struct Part {
    place: Range<usize>,
    terms: HashSet<String>,
}

impl Part {
    fn of(text: &str, place: Range<usize>) -> Self {
        let terms = text.get(place.clone()).map(terms).unwrap_or_default();
        Self { place, terms: terms.into_iter().collect() }
    }
}

/// The sentences of a paragraph; one of a word or two, such as a run-in heading or a number, joins
/// the next, as does the head of a numbered item.
fn whole_sentences(text: &str, block: &Range<usize>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut begun = None;
    let within = text.get(block.clone()).unwrap_or_default();
    for part in sentences(within) {
        let start = begun.take().unwrap_or(block.start + part.start);
        let end = block.start + part.end;
        let found = text.get(start..end).map(|part| (part, terms(part)));
        match found {
            Some((part, terms)) if SHORT <= terms.len() && !is_item_head(part) => {
                parts.push(Part { place: start..end, terms: terms.into_iter().collect() });
            }
            _ => begun = Some(start),
        }
    }
    if let Some(start) = begun {
        let first = parts.pop().map_or(start, |last| last.place.start);
        parts.push(Part::of(text, first..block.end));
    }
    parts
}

/// Whether a sentence only names the subject of a numbered item: `2. Shore power.`, `一、新包装线。`
fn is_item_head(text: &str) -> bool {
    let is_number = |c: char| c.is_ascii_digit() || "零〇一二三四五六七八九十".contains(c);
    let inside = text.trim_start_matches(['（', '(']);
    let rest = inside.trim_start_matches(is_number);
    let is_numbered = rest.len() < inside.len()
        && rest.starts_with(['.', '、', '．', ')', '）'])
        && text.ends_with(['.', '。']);
    let most = if text.chars().any(is_chinese) { ITEM_HEAD_CHINESE } else { ITEM_HEAD };
    is_numbered && text.chars().count() <= most
}

/// Whether a line is a header of an e-mail (sender, date, subject), quoted or not.
fn is_mail_head(text: &str) -> bool {
    let text = text.trim_start_matches(['>', '*', ' ']);
    let head = text.split_once([':', '：']).map_or("", |(head, _)| head.trim_matches(['*', ' ']));
    MAIL_HEADS.contains(&head.to_lowercase().as_str())
}

const MAIL_HEADS: [&str; 14] = [
    "from",
    "to",
    "cc",
    "date",
    "sent",
    "subject",
    "re",
    "fw",
    "发件人",
    "收件人",
    "抄送",
    "主题",
    "发送时间",
    "时间",
];

fn above(chunk: &Chunk) -> HashSet<String> {
    let mut above: HashSet<String> = terms(&chunk.full_title()).into_iter().collect();
    for name in chunk.table.iter().flat_map(|table| &table.header) {
        above.extend(terms(name));
    }
    above
}

/// The first byte below a table's header, if the chunk's text holds the header; else 0.
pub(super) fn body_start(chunk: &Chunk) -> usize {
    let header = chunk.table.as_ref().filter(|table| table.rows.len() < table.lines.len());
    header
        .and_then(|table| table.lines.get(1))
        .map_or(0, |row| row.start.saturating_sub(chunk.span.start))
}

/// The lines of a table or of code, without the header: it names the columns and states no fact.
fn rows(chunk: &Chunk) -> Vec<Range<usize>> {
    let body = body_start(chunk);
    let mut found = Vec::new();
    let mut at = 0;
    for line in chunk.text.split_inclusive('\n') {
        let range = at..at + line.trim_end().len();
        at += line.len();
        if body <= range.start && !is_frame(line) {
            found.push(range);
        }
    }
    found
}

/// Adds the sentence before if this one begins with a word that refers back, and the next if that
/// makes an exception to this one.
fn with_neighbours(
    text: &str,
    own: &Range<usize>,
    before: Option<&Range<usize>>,
    after: Option<&Range<usize>>,
) -> Range<usize> {
    let begins = |range: &Range<usize>, heads: &[&str]| {
        let words = text.get(range.clone()).unwrap_or_default();
        heads.iter().any(|head| {
            let rest = words.get(..head.len()).filter(|start| start.eq_ignore_ascii_case(head));
            let next = words.get(head.len()..).and_then(|rest| rest.chars().next());
            rest.is_some()
                && (head.chars().all(is_chinese) || !next.is_some_and(char::is_alphanumeric))
        })
    };
    let start = match before {
        Some(before) if begins(own, &POINTS_BACK) || begins(own, &EXCEPTS) => before.start,
        _ => own.start,
    };
    let end = match after {
        Some(after) if begins(after, &EXCEPTS) => after.end,
        _ => own.end,
    };
    start..end
}

const POINTS_BACK: [&str; 27] = [
    "it",
    "they",
    "this",
    "that",
    "these",
    "those",
    "he",
    "she",
    "its",
    "their",
    "his",
    "her",
    "both",
    "such",
    "the former",
    "the latter",
    "该",
    "其",
    "此",
    "这",
    "它",
    "他",
    "她",
    "上述",
    "前款",
    "前述",
    "同时",
];
const EXCEPTS: [&str; 14] = [
    "however",
    "but",
    "except",
    "unless",
    "otherwise",
    "an exception",
    "exceptions",
    "not so",
    "但",
    "但是",
    "除外",
    "例外",
    "不过",
    "否则",
];

/// Whether a paragraph is a numbered article of a law or a handbook.
fn is_article(text: &str) -> bool {
    let text = text.trim_start_matches(['*', '#', ' ', '　']);
    let Some(rest) = text.strip_prefix('第') else { return false };
    let number = rest.chars().take_while(|c| "零〇一二三四五六七八九十百千0123456789".contains(*c));
    let number = number.map(char::len_utf8).sum::<usize>();
    0 < number && rest.get(number..).is_some_and(|rest| rest.starts_with('条'))
}

/// The paragraphs and list items of a text. A line joins the one before unless it is blank or opens
/// an item; headings and rules are left out.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let (mut at, mut goes_on) = (0, false);
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.trim_end().len());
        at += line.len();
        if is_frame(line) {
            goes_on = false;
            continue;
        }
        match spans.last_mut() {
            Some(last) if goes_on && !opens_item(line) => last.end = end,
            _ => spans.push(start..end),
        }
        goes_on = true;
    }
    spans
}

fn opens_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = after_number.len() < line.len() && after_number.starts_with(['.', ')', '、']);
    numbered || line.starts_with(['-', '*', '•', '|', '>', '+', '（']) || is_article(line)
}

/// Whether a line holds no sentence: blank lines, headings and the rules of tables.
fn is_frame(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('#')
        || line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '=' | '*' | '`'))
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;

    use super::*;

    fn quoted(text: &str, own: &str) -> String {
        let chunk = chunk(1, "T", text);
        let units = units(&[&chunk]);
        let unit = units.iter().find(|unit| unit.text.contains(own)).unwrap();
        chunk.text[unit.span.clone()].to_owned()
    }

    #[test]
    fn wrapped_lines_are_one_paragraph_and_items_are_not() {
        let text = "# A\nIt was built\nin 1998.\n\n- one\n  more\n- two\n1. three\n| --- |\nend";
        let blocks: Vec<&str> = blocks(text).into_iter().map(|block| &text[block]).collect();
        assert_eq!(blocks, ["It was built\nin 1998.", "- one\n  more", "- two", "1. three", "end"]);
    }

    #[test]
    fn words_of_addresses_are_no_terms() {
        let of = |text: &str| without_addresses(text).into_owned();
        let log = "Full log: https://host.example/crates/compare/2.12.0...2.12.1";
        assert_eq!(of(log).trim(), "Full log:");
        assert_eq!(of("见[手册](https://host.example/a)第三章"), "见[手册]( )第三章");
        assert_eq!(of("https://host.example/crates"), "https://host.example/crates");
        let chunk = chunk(1, "T", log);
        let units = units(&[&chunk]);
        let terms = &units[0].terms;
        assert!(!terms.own.contains("crate") && terms.around.contains("crate"));
    }

    #[test]
    fn sentences_bring_the_neighbour_they_need() {
        let text =
            "The plant was built in May. It went live in June. Cost fell. However, noise rose.";
        assert_eq!(quoted(text, "went live"), "The plant was built in May. It went live in June.");
        assert_eq!(quoted(text, "Cost fell"), "Cost fell. However, noise rose.");
        assert_eq!(quoted(text, "built"), "The plant was built in May.");
        assert_eq!(
            quoted("Item one ends here. Italy won the cup.", "Italy"),
            "Italy won the cup.",
            "no pronoun"
        );
        let chinese = "系统由信息部管理。该系统于三月上线。费用已付。但是尾款除外。";
        assert_eq!(quoted(chinese, "上线"), "系统由信息部管理。该系统于三月上线。");
        assert_eq!(quoted(chinese, "费用"), "费用已付。但是尾款除外。");
    }

    #[test]
    fn short_sentences_join_the_next() {
        assert_eq!(quoted("Own car. 42p a mile is paid.", "42p"), "Own car. 42p a mile is paid.");
        let mail = "> Subject: the new crane\n\n> The crane comes in May.";
        let chunk = chunk(1, "T", mail);
        let texts: Vec<&str> = units(&[&chunk]).iter().map(|unit| unit.text).collect();
        assert_eq!(texts, ["> The crane comes in May."]);
    }

    #[test]
    fn heads_of_items_join_the_next_sentence() {
        for text in [
            "2. Shore power at the quay. The cabinet failed its test.",
            "一、新包装线。会议同意采购一条自动包装线。",
        ] {
            let own = if text.contains(is_chinese) { "采购" } else { "cabinet" };
            assert_eq!(quoted(text, own), text);
        }
        assert!(!is_item_head("1. 住宿：省会城市每晚不超过380元。") && !is_item_head("Cost fell."));
    }

    #[test]
    fn an_article_is_quoted_whole() {
        let text = "第十二条 员工请假应提前申请。急病的可以事后补办。\n第十三条 加班另行规定。";
        assert_eq!(quoted(text, "急病"), "第十二条 员工请假应提前申请。急病的可以事后补办。");
    }
}
