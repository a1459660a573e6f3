//! Reads the signs of an edition in a document: its name without marks, its version and dates, and
//! the sentences about replaced documents.

use std::collections::HashSet;

use pikerag_knowledge::uri::is_relation;
use pikerag_language::{content_words, pattern};

use super::kinds::{Kind, kind_of};
use super::marks::{CalendarDay, Version, dates, in_plain_form, versions};

/// The first and the last characters of a text in which signs are sought: rules begin with their
/// date, or end with it.
const OPENING: usize = 2000;
const CLOSING: usize = 800;
/// Characters at the top in which a sentence may give the version, and of such a sentence, at most.
const TOP: usize = 600;
const SENTENCE: usize = 80;
/// Characters after a date in which a text may say that something is valid from then on.
const AFTER_DATE: usize = 20;
/// Characters of the text whose words are compared, at most.
const COMPARED: usize = 8_000;

/// What a base stores of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored<'a> {
    /// The path of its file.
    pub(super) path: &'a str,
    pub(super) title: &'a str,
    /// The visible text.
    pub(super) text: &'a str,
    /// The date that the document itself states, as that of an e-mail; not a file's time.
    pub(super) date: Option<&'a str>,
}

/// A document as one edition of a text.
#[derive(Clone, Debug)]
pub(super) struct Edition {
    /// The parts of its path, without marks of versions and dates.
    pub(super) name: Vec<String>,
    /// Its title without them.
    pub(super) title: String,
    /// The kind that its name or title gives; [`Kind::Record`] if one of them does.
    pub(super) kind: Option<Kind>,
    pub(super) version: Option<Version>,
    /// The version in its name or title that is that of a product, perhaps: *Loom V2 manual*.
    pub(super) product: Option<Version>,
    /// The day from which it is valid.
    pub(super) valid_from: Option<CalendarDay>,
    /// The date in its name or title.
    pub(super) dated: Option<CalendarDay>,
    /// The date of its metadata.
    pub(super) stated: Option<CalendarDay>,
    /// Sentences that say that one document replaces another.
    pub(super) replacing: Vec<Replacing>,
    /// Whether its name or title limits it to one year.
    pub(super) is_for_one_year: bool,
    pub(super) is_draft: bool,
    /// The words of its text, without figures.
    pub(super) words: HashSet<String>,
}

/// A sentence that says that one document replaces another.
#[derive(Clone, Debug)]
pub(super) struct Replacing {
    /// Whether this document is the one that is replaced.
    pub(super) is_passive: bool,
    pub(super) versions: Vec<Version>,
    pub(super) dates: Vec<CalendarDay>,
    /// Whether it names the other document as an earlier one.
    pub(super) names_earlier: bool,
}

pattern!(
    MARK_WORDS,
    r"\b(?:version|vers?|revision|rev|edition|revised|updated|update|new|current|latest|final|archived?|old|former)\b|修订版|修订稿|修订|修正版|年版|版本|新版|旧版|最新|现行|归档|历史|版"
);
pattern!(
    BEFORE_VALID,
    r"(?:\b(?:valid|effective|in force|into force|in effect|into effect|applies|apply|applicable)\b|生效|施行|实施|执行|启用)[^.;。；\n]{0,25}$"
);
pattern!(ENDS, r"\b(?:until|till|to|through|before|and|expires?)\b|截止|至|止");
pattern!(AFTER_VALID, r"^\s*(?:起|开始)?\s*(?:正式)?\s*(?:施行|实行|实施|执行|生效|启用)");
pattern!(REPLACES, r"\b(?:replaces?|replacing|supersedes?|superseding)\b|代替|取代|替代|废止");
pattern!(REPLACED, r"\b(?:replaced|superseded)\s+by\b|被[^。；\n]{0,20}(?:代替|取代|替代|废止)");
pattern!(
    EARLIER,
    r"\b(?:previous|earlier|former|prior|last)\s+(?:version|edition|revision|policy|policies|manual|handbook|rules?|price list|guidelines?|instructions?|one)s?\b|(?:原|旧|此前|以前|上一)[^。；\n]{0,16}(?:版|办法|规定|制度|手册|细则|价目表|价格表|规程|规范|废止)"
);
pattern!(
    ONE_YEAR,
    r"\b(?:19|20)\d\d\s*年度|\b(?:financial|fiscal|tax|school|calendar)\s+year\s+(?:19|20)\d\d"
);
pattern!(DRAFT, r"\bdrafts?\b|草案|草稿|征求意见|讨论稿");

impl Edition {
    /// Reads the signs of a document.
    pub(super) fn of(stored: Stored<'_>) -> Self {
        let path = without_ending(stored.path);
        let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let folders = path.get(..path.len() - file.len()).unwrap_or_default();
        let (plain_file, plain_title) = (in_plain_form(file), in_plain_form(stored.title));
        let text = in_plain_form(stored.text);
        let signs = opening_and_closing(&text);
        let (file_kind, title_kind) =
            (kind_of(&without_marks(file)), kind_of(&without_marks(stored.title)));
        let kind = match file_kind == Some(Kind::Record) || replaces_none(stored.path) {
            true => Some(Kind::Record),
            false => title_kind.or(file_kind),
        };
        let in_name = || first_version(&plain_file).or_else(|| first_version(&plain_title));
        let last_date = |text: &str| dates(text).pop().map(|date| date.mark);
        let names = [plain_file.as_str(), plain_title.as_str()];
        Self {
            name: name_key(stored.path),
            title: without_marks(without_ending(stored.title)),
            kind,
            version: in_name().or_else(|| version_at_top(&text)),
            product: names.iter().find_map(|name| product_version(name)),
            valid_from: valid_from(&plain_title).or_else(|| valid_from(&signs)),
            dated: last_date(&plain_file)
                .or_else(|| last_date(&plain_title))
                .or_else(|| last_date(&in_plain_form(folders))),
            stated: stored
                .date
                .and_then(|date| dates(&in_plain_form(date)).into_iter().next())
                .map(|date| date.mark),
            replacing: replacing(&signs),
            is_for_one_year: names.iter().any(|name| ONE_YEAR.is_match(name)),
            is_draft: names.iter().any(|name| DRAFT.is_match(name)),
            words: words_of(cut(&text, COMPARED)),
        }
    }

    /// Whether a text in plain form names this edition and not the other: its version, its date or
    /// its year.
    pub(super) fn is_named_in(&self, text: &str, other: &Self) -> bool {
        let own_days = [self.valid_from, self.dated];
        let other_years: Vec<u32> =
            [other.valid_from, other.dated].into_iter().flatten().map(|day| day.year).collect();
        let by_date = dates(text).into_iter().any(|date| {
            let year = date.mark.year;
            own_days.iter().flatten().any(|own| own.year == year) && !other_years.contains(&year)
        });
        let own = self.version.as_ref().filter(|own| other.version.as_ref() != Some(*own));
        by_date || own.is_some_and(|own| versions(text).iter().any(|found| found.mark == *own))
    }
}

/// The words of a text that its editions share, without figures.
pub(super) fn words_of(text: &str) -> HashSet<String> {
    let words = content_words(text).into_iter();
    words.filter(|word| !word.contains(|c: char| c.is_ascii_digit())).collect()
}

/// The parts of a path without marks of versions and dates; documents of one name are editions of
/// one text, perhaps.
pub(super) fn name_key(path: &str) -> Vec<String> {
    let parts = without_ending(path).split(['/', '\\']).map(without_marks);
    parts.filter(|part| !part.is_empty()).collect()
}

/// The words of a name or title in lower case, without versions and dates.
pub(super) fn without_marks(name: &str) -> String {
    let mut plain = in_plain_form(name);
    let found = versions(&plain).into_iter().map(|found| found.at);
    let found: Vec<_> = found.chain(dates(&plain).into_iter().map(|found| found.at)).collect();
    for at in found {
        let blank = " ".repeat(at.len());
        plain.replace_range(at, &blank);
    }
    let plain = MARK_WORDS.replace_all(&plain, " ");
    let words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// A path or title without the ending of a file.
fn without_ending(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((name, ending))
            if !name.is_empty()
                && !is_relation(path)
                && (1..=8).contains(&ending.len())
                && ending.chars().all(|c| c.is_ascii_alphanumeric())
                && ending.contains(|c: char| c.is_ascii_alphabetic()) =>
        {
            name
        }
        _ => path,
    }
}

/// Whether a document replaces no other by its nature. Mails on one subject follow each other; tables
/// of a database, such as those of two years, hold different rows.
pub(super) fn replaces_none(path: &str) -> bool {
    if is_relation(path) {
        return true;
    }
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    ending.is_some_and(|ending| matches!(ending.as_str(), "eml" | "msg"))
}

fn first_version(text: &str) -> Option<Version> {
    versions(text).into_iter().next().map(|found| found.mark)
}

/// A version `v2` that a name or title in plain form has between other words and the noun of its
/// kind.
fn product_version(name: &str) -> Option<Version> {
    let has_kind = |part: Option<&str>| kind_of(&without_marks(part.unwrap_or_default())).is_some();
    let found = versions(name).into_iter().find(|found| {
        let mark = name.get(found.at.clone()).unwrap_or_default();
        let before = name.get(..found.at.start);
        mark.starts_with('v')
            && !mark.starts_with("ver")
            && before.is_some_and(|before| before.contains(char::is_alphanumeric))
            && !has_kind(before)
            && has_kind(name.get(found.at.end..))
    });
    found.map(|found| found.mark)
}

/// The version in a short sentence at the top that is not about a replaced document.
fn version_at_top(text: &str) -> Option<Version> {
    let sentences = cut(text, TOP)
        .lines()
        .flat_map(|line| line.split(['。', ';']))
        .flat_map(|part| part.split(". "));
    let mut sentences = sentences.filter(|sentence| {
        sentence.trim().chars().count() <= SENTENCE
            && !REPLACES.is_match(sentence)
            && !REPLACED.is_match(sentence)
    });
    sentences.find_map(first_version)
}

/// The first date of a text from which something is valid.
fn valid_from(text: &str) -> Option<CalendarDay> {
    let found = dates(text).into_iter().find(|date| {
        let before = text.get(..date.at.start).unwrap_or_default();
        let clause = before.rsplit(['.', ';', '。', '；', '\n']).next().unwrap_or_default();
        let after = text.get(date.at.end..).unwrap_or_default();
        let begins = BEFORE_VALID.find(clause).is_some_and(|lead| !ENDS.is_match(lead.as_str()));
        begins || AFTER_VALID.is_match(cut(after, AFTER_DATE))
    });
    found.map(|date| date.mark)
}

fn replacing(text: &str) -> Vec<Replacing> {
    let parts = text.split(['。', '；', ';', '\n']);
    let sentences = parts.flat_map(|part| part.split(". "));
    let stated = sentences.filter_map(|sentence| {
        let is_passive = REPLACED.is_match(sentence);
        (is_passive || REPLACES.is_match(sentence)).then(|| Replacing {
            is_passive,
            versions: versions(sentence).into_iter().map(|found| found.mark).collect(),
            dates: dates(sentence).into_iter().map(|found| found.mark).collect(),
            names_earlier: EARLIER.is_match(sentence),
        })
    });
    stated.collect()
}

fn opening_and_closing(text: &str) -> String {
    let letters = text.chars().count();
    if letters <= OPENING + CLOSING {
        return text.to_owned();
    }
    let closing: String = text.chars().skip(letters - CLOSING).collect();
    format!("{}\n{closing}", cut(text, OPENING))
}

/// The first characters of a text.
fn cut(text: &str, most: usize) -> &str {
    match text.char_indices().nth(most) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}
