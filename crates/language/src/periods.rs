//! Reads the periods that a question names: `in 2018`, `between 2012 and 2015`, `the third quarter
//! of 2018`, `since March 2015`, `2018年第三季度`, `2012年到2015年`, `2015年以来`.

use std::sync::LazyLock;

use regex::Regex;

use crate::dates::{MONTHS, month_named};
use crate::numerals::{narrow, number};

/// A period, both days included; open at an end that is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first day: `2018-01-01`. With a final `~`, the period begins after that day.
    pub from: Option<String>,
    /// The last day. A month ends on its 31st, which sorts after all its days. With a final `~`,
    /// the value sorts just before the next day: the period ends before that day.
    pub to: Option<String>,
    /// As the question names it.
    pub shown: String,
}

/// The periods that a text names, in order, and the text with a space in place of each.
pub fn stretches(text: &str) -> (Vec<Stretch>, String) {
    let narrow_digit = |c: char| Some(narrow(c)).filter(char::is_ascii_digit).unwrap_or(c);
    let text: String = text.chars().map(narrow_digit).collect();
    let atoms = atoms(&text);
    let (mut found, mut rest, mut end) = (Vec::new(), String::new(), 0);
    let mut atoms = atoms.into_iter().peekable();
    while let Some(atom) = atoms.next() {
        let before = text.get(end..atom.start).unwrap_or_default();
        let (opening, kept) = opening(before);
        rest.push_str(kept);
        rest.push(' ');
        let start = atom.start;
        // `2012 to 2015`: the next date belongs to this period.
        let joined = atoms
            .next_if(|next| joins(text.get(atom.end..next.start).unwrap_or_default(), opening));
        let last = joined.as_ref().unwrap_or(&atom);
        end = last.end;
        let behind = text.get(end..).unwrap_or_default();
        let (closing, length) = closing(behind, joined.is_some() || opening != Opening::None);
        end += length;
        let side = match (joined.is_some(), opening, closing) {
            (true, ..) | (false, Opening::None | Opening::Between, Closing::None) => Side::Within,
            (_, Opening::From, _) | (_, _, Closing::From) => Side::From,
            (_, Opening::After, _) | (_, _, Closing::After) => Side::After,
            (_, Opening::Until, _) | (_, _, Closing::Until) => Side::Until,
            (_, Opening::Before, _) | (_, _, Closing::Before) => Side::Before,
        };
        let shown = text.get(start..end).unwrap_or_default().trim().to_owned();
        let (first, last_day) = (atom.first.clone(), last.last.clone());
        let (from, to) = match side {
            Side::Within => (Some(first), Some(last_day)),
            Side::From => (Some(first), None),
            // The value sorts after `last_day` and before the next day.
            Side::After => (Some(format!("{last_day}~")), None),
            Side::Until => (None, Some(last_day)),
            Side::Before => (None, Some(before_day(&first))),
        };
        found.push(Stretch { from, to, shown });
    }
    rest.push_str(text.get(end..).unwrap_or_default());
    (found, rest)
}

/// A value that sorts after every earlier day and before this one: `2018-05-10~` for 2018-05-11.
fn before_day(day: &str) -> String {
    let mut before = day.to_owned();
    let last = before.pop().and_then(|last| char::from_u32(last as u32 - 1));
    before.extend(last);
    before.push('~');
    before
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    None,
    From,
    Between,
    After,
    Until,
    Before,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    None,
    From,
    After,
    Until,
    Before,
}

enum Side {
    Within,
    From,
    After,
    Until,
    Before,
}

/// The meaning of the words before a period, and the text before those words.
fn opening(before: &str) -> (Opening, &str) {
    static OPENING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words = r"(?i)(?:\b(since|from|starting in|beginning in|after|between|until|till|up to|through|by the end of|before|prior to|in|during|for|of|at|on|over|within)|(自从|自|从|在|于|截至|截止到|直到|到|至))(?:\s+(?:the|year|years))*\s*$";
        Regex::new(words).ok()
    });
    let found = OPENING.as_ref().and_then(|words| words.captures(before));
    let Some(found) = found else { return (Opening::None, before) };
    let kept = found.get(0).and_then(|whole| before.get(..whole.start())).unwrap_or(before);
    let word = found.get(1).or_else(|| found.get(2)).map_or("", |word| word.as_str());
    let opening = match word.to_ascii_lowercase().as_str() {
        "since" | "from" | "starting in" | "beginning in" | "自从" | "自" | "从" => {
            Opening::From
        }
        "between" => Opening::Between,
        "after" => Opening::After,
        "until" | "till" | "up to" | "through" | "by the end of" | "截至" | "截止到" | "直到"
        | "到" | "至" => Opening::Until,
        "before" | "prior to" => Opening::Before,
        _ => Opening::None,
    };
    (opening, kept)
}

/// Whether the text between two dates joins them into one period.
fn joins(between: &str, opening: Opening) -> bool {
    match between.trim().to_lowercase().as_str() {
        "-" | "–" | "—" | "~" | "to" | "through" | "until" | "till" | "到" | "至" | "—-" => {
            true
        }
        "and" | "与" | "和" => matches!(opening, Opening::Between | Opening::From),
        _ => false,
    }
}

/// The meaning of the words after a period, and their length in bytes.
fn closing(behind: &str, has_side: bool) -> (Closing, usize) {
    const WORDS: [(&str, Closing); 20] = [
        ("以来", Closing::From),
        ("及以后", Closing::From),
        ("起", Closing::From),
        ("onwards", Closing::From),
        ("onward", Closing::From),
        ("or later", Closing::From),
        ("之后", Closing::After),
        ("以后", Closing::After),
        ("后", Closing::After),
        ("及以前", Closing::Until),
        ("or earlier", Closing::Until),
        ("之前", Closing::Before),
        ("以前", Closing::Before),
        ("前", Closing::Before),
        ("之间", Closing::None),
        ("期间", Closing::None),
        ("年间", Closing::None),
        ("度", Closing::None),
        ("间", Closing::None),
        ("内", Closing::None),
    ];
    let text = behind.trim_start();
    let gap = behind.len() - text.len();
    let found = WORDS.iter().find(|(word, _)| {
        text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
    });
    match found {
        // `2012年到2015年之间` ends with the word; in `从2015年起` the word belongs to the opening.
        // 起重机 is a crane.
        Some((word, _)) if *word == "起" && begins_a_word(text) => (Closing::None, 0),
        Some((word, closing)) if !has_side || *closing == Closing::None || *word == "起" => {
            (*closing, gap + word.len())
        }
        _ => (Closing::None, 0),
    }
}

fn begins_a_word(text: &str) -> bool {
    const WORDS: [&str; 12] = [
        "起重", "起吊", "起因", "起源", "起诉", "起草", "起火", "起点", "起动", "起飞", "起降",
        "起步",
    ];
    WORDS.iter().any(|word| text.starts_with(word))
}

/// A date, month, quarter or year in the text, with its place.
struct Atom {
    start: usize,
    end: usize,
    first: String,
    last: String,
}

fn atoms(text: &str) -> Vec<Atom> {
    static ATOM: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let months: Vec<String> = MONTHS
            .iter()
            .map(|month| match month.split_at_checked(3) {
                Some((short, rest)) if !rest.is_empty() => format!("{short}(?:{rest})?"),
                _ => (*month).to_owned(),
            })
            .collect();
        let months = months.join("|");
        let year = r"(?:1[89]|20)\d\d";
        let numeral = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})";
        let parts = [
            format!(
                r"(?P<zy>{year}|[一二〇零九八七六五四三]{{4}})\s*年(?:\s*(?:第?(?P<zq>[一二三四1-4])季度?|(?P<zh>上半年|下半年)|(?P<zm>{numeral})月份?(?:(?P<zd>{numeral})[日号])?))?"
            ),
            format!(
                r"(?-u:\b)(?P<qn>first|second|third|fourth|last|1st|2nd|3rd|4th|Q[1-4])(?:\s+quarter)?(?:\s+of|\s+in)?[\s,-]*(?P<qy>{year})(?-u:\b)"
            ),
            format!(r"(?-u:\b)(?P<yq>{year})[\s-]?Q(?P<nq>[1-4])(?-u:\b)"),
            format!(r"(?-u:\b)(?P<hn>first|second)\s+half(?:\s+of)?\s+(?P<hy>{year})(?-u:\b)"),
            format!(
                r"(?-u:\b)(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<mn>{months})(?-u:\b)\.?(?:\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?-u:\b))?,?\s+(?:of\s+)?(?P<my>{year})(?-u:\b)"
            ),
            format!(
                r"(?-u:\b)(?P<iy>{year})[-/.](?P<im>\d{{1,2}})(?:[-/.](?P<id>\d{{1,2}}))?(?-u:\b)"
            ),
            format!(r"(?-u:\b)(?P<y>{year})s?(?-u:\b)"),
        ];
        Regex::new(&format!("(?i){}", parts.join("|"))).ok()
    });
    let Some(atom) = ATOM.as_ref() else { return Vec::new() };
    atom.captures_iter(text)
        .filter_map(|found| {
            let get = |name: &str| found.name(name).map(|held| held.as_str());
            let small = |name: &str| get(name).and_then(number);
            let whole = found.get(0)?;
            let year = ["zy", "qy", "yq", "hy", "my", "iy", "y"].into_iter().find_map(small)?;
            let (first, last) = if let Some(quarter) = small("zq").or_else(|| small("nq")) {
                months(year, quarter * 3 - 2, quarter * 3)
            } else if let Some(name) = get("qn") {
                let quarter = match name.to_ascii_lowercase().as_str() {
                    "first" | "1st" | "q1" => 1,
                    "second" | "2nd" | "q2" => 2,
                    "third" | "3rd" | "q3" => 3,
                    _ => 4,
                };
                months(year, quarter * 3 - 2, quarter * 3)
            } else if let Some(half) = get("zh").or_else(|| get("hn")) {
                match half.eq_ignore_ascii_case("first") || half == "上半年" {
                    true => months(year, 1, 6),
                    false => months(year, 7, 12),
                }
            } else if let Some(month) =
                small("zm").or_else(|| small("im")).or_else(|| month_named(get("mn")?))
            {
                let day = ["zd", "d1", "d2", "id"].into_iter().find_map(small);
                if !(1..=12).contains(&month) {
                    return None;
                }
                match day.filter(|day| (1..=31).contains(day)) {
                    Some(day) => {
                        let day = format!("{year}-{month:02}-{day:02}");
                        (day.clone(), day)
                    }
                    None => months(year, month, month),
                }
            } else if whole.as_str().ends_with(['s', 'S']) {
                // The 2010s.
                let decade = year / 10 * 10;
                (format!("{decade}-01-01"), format!("{}-12-31", decade + 9))
            } else {
                months(year, 1, 12)
            };
            Some(Atom { start: whole.start(), end: whole.end(), first, last })
        })
        .collect()
}

fn months(year: u32, first: u32, last: u32) -> (String, String) {
    (format!("{year}-{first:02}-01"), format!("{year}-{last:02}-31"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown_periods(text: &str) -> String {
        let (found, rest) = stretches(text);
        let shown: Vec<String> = found
            .iter()
            .map(|stretch| {
                let day = |day: &Option<String>| day.clone().unwrap_or_default();
                format!("{}..{}", day(&stretch.from), day(&stretch.to))
            })
            .collect();
        let rest: Vec<&str> = rest.split_whitespace().collect();
        format!("{} | {}", shown.join(" "), rest.join(" ")).trim_end().to_owned()
    }

    #[test]
    fn english() {
        assert_eq!(shown_periods("How many in 2018?"), "2018-01-01..2018-12-31 | How many ?");
        assert_eq!(shown_periods("between 2012 and 2015, how"), "2012-01-01..2015-12-31 | , how");
        assert_eq!(
            shown_periods("approved from 2012 to 2015"),
            "2012-01-01..2015-12-31 | approved"
        );
        assert_eq!(shown_periods("2012–2015"), "2012-01-01..2015-12-31 |");
        assert_eq!(shown_periods("since March 2015"), "2015-03-01.. |");
        assert_eq!(shown_periods("before 2015 or"), "..2015-01-00~ | or");
        assert_eq!(shown_periods("before November 2015"), "..2015-11-00~ |");
        // After the tenth, before the eleventh.
        let (before, _) = stretches("before 11 May 2018");
        let to = before[0].to.clone().unwrap();
        assert!("2018-05-10" < to.as_str() && to.as_str() < "2018-05-11");
        assert_eq!(shown_periods("after 2015"), "2015-12-31~.. |");
        assert_eq!(shown_periods("up to 2015"), "..2015-12-31 |");
        assert_eq!(shown_periods("the third quarter of 2018"), "2018-07-01..2018-09-31 | the");
        assert_eq!(
            shown_periods("Q2 2018 or 2018 Q3"),
            "2018-04-01..2018-06-31 2018-07-01..2018-09-31 | or"
        );
        assert_eq!(
            shown_periods("on 6 May 2024 and May 7, 2024"),
            "2024-05-06..2024-05-06 2024-05-07..2024-05-07 | and"
        );
        assert_eq!(shown_periods("in the second half of 2018"), "2018-07-01..2018-12-31 |");
        assert_eq!(
            shown_periods("2016 and 2017"),
            "2016-01-01..2016-12-31 2017-01-01..2017-12-31 | and"
        );
        assert_eq!(
            shown_periods("crane 40-117 with 2500 hours"),
            " | crane 40-117 with 2500 hours"
        );
    }

    #[test]
    fn chinese() {
        assert_eq!(shown_periods("2018年批准了多少"), "2018-01-01..2018-12-31 | 批准了多少");
        assert_eq!(shown_periods("２０１８年第三季度"), "2018-07-01..2018-09-31 |");
        assert_eq!(shown_periods("从2012年到2015年之间"), "2012-01-01..2015-12-31 |");
        assert_eq!(shown_periods("2012至2015年"), "2012-01-01..2015-12-31 |");
        assert_eq!(shown_periods("2015年以来"), "2015-01-01.. |");
        assert_eq!(shown_periods("自2015年起"), "2015-01-01.. |");
        assert_eq!(shown_periods("2015年之前"), "..2015-01-00~ |");
        assert_eq!(shown_periods("在2018年5月6日"), "2018-05-06..2018-05-06 |");
        assert_eq!(shown_periods("二〇一八年十二月"), "2018-12-01..2018-12-31 |");
        assert_eq!(shown_periods("2018年起重机"), "2018-01-01..2018-12-31 | 起重机");
        assert_eq!(shown_periods("2018年上半年"), "2018-01-01..2018-06-31 |");
    }

    proptest! {
        #[test]
        fn handles_any_text(text in "(\\PC|[0-9年月日季度 to-]){0,40}") {
            let _ = stretches(&text);
        }
    }
}
