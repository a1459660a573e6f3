//! Finds the rows of a table that hold no data of their own: totals, averages, notes, repeated headers, rules.

use std::collections::HashSet;

use pikerag_knowledge::data::ColumnKind;
use pikerag_language::month_named;

use super::marks::mark;
use super::narrow::narrowed;
use super::number::{DecimalMark, written_number};

/// The most bytes of a cell that can name a total.
const LONGEST_TOTAL: usize = 80;
/// The most characters of a group before `小计`; longer texts are sentences.
const LONGEST_GROUP: usize = 10;

/// Whether a row is a total, subtotal, average line, note or a repeated header and not a row of the table.
///
/// - The first filled cell of a **total** names one, and all other cells are numbers or missing. `Total`, `Average` or `合计`
///   must be alone or beside a period (`Total 2019`), words of the header (`Total sales`) or `all`. `Subtotal`, `Grand
///   total`, `小计`, `合计` and `全部` may name any group. `East Total` is one where other columns of texts, of which `kinds` shows at
///   least one, are all missing. So `Total Energies` and `Average Joe's` are rows of the table.
/// - A **note** has one filled cell in a table of several columns, which begins with `Note:`, `Source:`, `注：` or a star.
/// - A **repeated header** has no cell that differs from its header.
/// - A **rule** has nothing but dashes. An empty row counts as one.
///
/// `kinds` may be empty while they are unknown: then `East Total` is a row of the table.
pub fn is_left_out(header: &[String], kinds: &[ColumnKind], row: &[String]) -> bool {
    let is_filled = |cell: &(usize, &str)| !cell.1.is_empty();
    let cells = row.iter().map(|cell| cell.trim()).enumerate();
    let filled: Vec<(usize, &str)> = cells.filter(is_filled).collect();
    let Some(((at, first), others)) = filled.split_first() else { return true };
    let has_columns = 1 < header.len().max(row.len());
    is_rule(&filled)
        || repeats_header(header, &filled)
        || (has_columns && others.is_empty() && is_note(first))
        || (has_columns
            && others.iter().all(|(_, cell)| is_number_or_missing(cell))
            && is_total(header, kinds, (*at, first), others))
}

fn is_rule(filled: &[(usize, &str)]) -> bool {
    let is_dash = |c: char| matches!(c, '-' | '–' | '—' | '=' | '_' | '─' | '━' | '|' | '+' | ':');
    let is_long = 2 <= filled.len() || filled.iter().any(|(_, cell)| 3 <= cell.chars().count());
    is_long && filled.iter().all(|(_, cell)| cell.chars().all(is_dash))
}

fn repeats_header(header: &[String], filled: &[(usize, &str)]) -> bool {
    let is_same = |(at, cell): &(usize, &str)| {
        header.get(*at).is_some_and(|name| name == cell || plain(name) == plain(cell))
    };
    let is_enough = |named: usize| named <= filled.len() * 2 && named.min(2) <= filled.len();
    filled.iter().all(is_same)
        && is_enough(header.iter().filter(|name| !name.trim().is_empty()).count())
}

/// The text in lower case, with single spaces.
fn plain(text: &str) -> String {
    narrowed(text).to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_note(cell: &str) -> bool {
    const BEFORE_COLON: [&str; 18] = [
        "note",
        "notes",
        "footnote",
        "source",
        "sources",
        "data source",
        "remark",
        "remarks",
        "quelle",
        "anmerkung",
        "hinweis",
        "注",
        "注释",
        "备注",
        "说明",
        "来源",
        "注意",
        "附注",
    ];
    const SOURCES: [&str; 4] = ["数据来源", "资料来源", "数据截至", "数据截止"];
    let text = narrowed(cell).to_lowercase();
    if SOURCES.iter().any(|source| text.starts_with(source)) {
        return true;
    }
    // A name with a star has one or two words.
    let behind_star = text.trim_start_matches(['*', '†', '‡']);
    if behind_star.len() < text.len() {
        return behind_star.starts_with(' ') || 2 < behind_star.split_whitespace().count();
    }
    let Some((before, _)) = text.split_once(':') else { return false };
    let before = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
    BEFORE_COLON.contains(&before)
}

fn is_number_or_missing(cell: &str) -> bool {
    if mark(cell).is_some() {
        return true;
    }
    let narrow = narrowed(cell);
    let Some(number) = written_number(&narrow) else { return false };
    [DecimalMark::Point, DecimalMark::Comma].iter().any(|mark| number.amount(*mark).is_some())
}

fn is_total(
    header: &[String],
    kinds: &[ColumnKind],
    (at, cell): (usize, &str),
    others: &[(usize, &str)],
) -> bool {
    if LONGEST_TOTAL < cell.len() {
        return false;
    }
    let text = narrowed(cell).to_lowercase();
    let text = text.trim_matches(|c: char| matches!(c, '*' | '_' | ':' | ' '));
    // 合计(万元)
    let text = text.split_once('(').map_or(text, |(before, _)| before.trim_end());
    match english_total(header, text) {
        English::Total => true,
        English::Average => !is_rating(header.get(at).map_or("", String::as_str)),
        English::GroupTotal => names_group(kinds, at, others),
        English::None => is_chinese_total(text),
    }
}

/// Whether the name of a column beside columns of periods is that of a total or an average over them.
pub(crate) fn names_total(name: &str) -> bool {
    const NAMES: [&str; 20] = [
        "ytd",
        "year to date",
        "year-to-date",
        "annual",
        "full year",
        "whole year",
        "year total",
        "all year",
        "min",
        "max",
        "minimum",
        "maximum",
        "median",
        "cumulative",
        "h1",
        "h2",
        "全年",
        "全年累计",
        "上半年",
        "下半年",
    ];
    const CHINESE: [&str; 16] = [
        "合计",
        "总计",
        "小计",
        "共计",
        "累计",
        "总和",
        "总数",
        "平均",
        "平均值",
        "平均数",
        "均值",
        "月均",
        "年均",
        "最大值",
        "最小值",
        "中位数",
    ];
    let text = narrowed(name).to_lowercase();
    let text = text.split_once('(').map_or(text.as_str(), |(before, _)| before.trim_end());
    let text = text.trim_matches(|c: char| matches!(c, '*' | '_' | ':' | ' '));
    let is_chinese = || {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let rest = CHINESE.iter().find_map(|word| text.strip_suffix(word));
        rest.is_some_and(is_chinese_period)
    };
    NAMES.contains(&text)
        || matches!(english_total(&[], text), English::Total | English::Average)
        || is_chinese()
}

enum English {
    None,
    Total,
    Average,
    /// `East Total`
    GroupTotal,
}

fn english_total(header: &[String], text: &str) -> English {
    const TOTALS: [&str; 12] = [
        "total",
        "totals",
        "subtotal",
        "subtotals",
        "sum",
        "summe",
        "gesamt",
        "gesamtsumme",
        "zwischensumme",
        "insgesamt",
        "somme",
        "suma",
    ];
    const AVERAGES: [&str; 7] =
        ["average", "avg", "mean", "durchschnitt", "mittelwert", "moyenne", "promedio"];
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’' && c != '&').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let is_total = words.iter().any(|word| TOTALS.contains(word));
    let is_average = words.iter().any(|word| AVERAGES.contains(word));
    if !is_total && !is_average {
        return English::None;
    }
    // These characters occur in no name.
    let is_certain = words.iter().any(|word| matches!(*word, "subtotal" | "subtotals"))
        || words.windows(2).any(|pair| matches!(pair, ["sub" | "grand", "total" | "totals"]));
    let has_year = words.iter().any(|word| is_year(word));
    let of_header = header_words(header);
    let is_neutral = |word: &&str| {
        TOTALS.contains(word)
            || AVERAGES.contains(word)
            || is_filler(word)
            || is_period(word)
            || (has_year && word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit()))
            || of_header.contains(singular(word))
    };
    if is_certain || words.iter().all(is_neutral) {
        return if is_total { English::Total } else { English::Average };
    }
    match words.last() {
        Some(&("total" | "totals")) => English::GroupTotal,
        _ => English::None,
    }
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse().is_ok_and(|year: u16| (1000..=2100).contains(&year))
}

fn is_filler(word: &str) -> bool {
    ["of", "for", "the", "all", "in", "and", "to", "as", "at", "overall", "grand", "sub"]
        .contains(&word)
}

/// `2019`, `q1`, `fy2019`, `january`, `quarter`
fn is_period(word: &str) -> bool {
    const WORDS: [&str; 22] = [
        "q1",
        "q2",
        "q3",
        "q4",
        "h1",
        "h2",
        "quarter",
        "half",
        "year",
        "month",
        "week",
        "day",
        "first",
        "second",
        "third",
        "fourth",
        "fy",
        "ytd",
        "annual",
        "yearly",
        "monthly",
        "quarterly",
    ];
    WORDS.contains(&word)
        || is_year(word.strip_prefix("fy").unwrap_or(word))
        || month_named(word).is_some()
}

fn header_words(header: &[String]) -> HashSet<String> {
    let mut found = HashSet::new();
    for name in header {
        let name = name.to_lowercase();
        for word in name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            found.insert(singular(word).to_owned());
        }
    }
    found
}

/// Cuts the endings of `regions`, `countries` and `country` alike.
fn singular(word: &str) -> &str {
    let bare = word.strip_suffix("ies").or_else(|| word.strip_suffix('y'));
    bare.or_else(|| word.strip_suffix('s')).unwrap_or(word)
}

/// Whether a column holds ratings, of which `Average` is one.
fn is_rating(header: &str) -> bool {
    const RATINGS: [&str; 14] = [
        "rating",
        "grade",
        "level",
        "quality",
        "condition",
        "performance",
        "class",
        "statistic",
        "size",
        "评级",
        "等级",
        "水平",
        "成绩",
        "评价",
    ];
    let header = header.to_lowercase();
    RATINGS.iter().any(|rating| header.contains(rating))
}

/// Whether a row has measures, but nothing in the columns of texts beside its first filled cell.
fn names_group(kinds: &[ColumnKind], at: usize, others: &[(usize, &str)]) -> bool {
    let is_text = |kind: &ColumnKind| !kind.is_measure();
    let beside = kinds.iter().enumerate().filter(|(column, kind)| *column != at && is_text(kind));
    let has_text = |(column, cell): &(usize, &str)| {
        mark(cell).is_none() && kinds.get(*column).is_some_and(is_text)
    };
    let has_measure = others.iter().any(|(column, cell)| {
        mark(cell).is_none() && kinds.get(*column).is_some_and(|kind| kind.is_measure())
    });
    0 < beside.count() && has_measure && !others.iter().any(has_text)
}

fn is_chinese_total(text: &str) -> bool {
    const TOTALS: [&str; 4] = ["合计", "小计", "总计", "共计"];
    const AVERAGES: [&str; 5] = ["平均值", "平均数", "平均", "均值", "总和"];
    let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != ':').collect();
    let beside = |word: &&str| text.strip_suffix(*word).or_else(|| text.strip_prefix(*word));
    // 全部自然灾害
    if let Some(group) = text.strip_prefix("全部").or_else(|| text.strip_prefix("所有")) {
        return group.chars().count() <= LONGEST_GROUP;
    }
    if let Some(group) = TOTALS.iter().find_map(&beside) {
        return group.chars().count() <= LONGEST_GROUP;
    }
    AVERAGES.iter().find_map(beside).is_some_and(is_chinese_period)
}

/// `2019年`, `第一季度`, `全年`, or nothing.
fn is_chinese_period(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_ascii_digit() || "年月日周季度第一二三四五六七八九十上下半全本当各".contains(c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: [&str; 4] = ["Region", "Country", "Sales", "Cost (USD)"];
    const KINDS: [ColumnKind; 4] =
        [ColumnKind::Category, ColumnKind::Identifier, ColumnKind::Integer, ColumnKind::Real];

    fn strings(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    fn left_out(row: &[&str]) -> bool {
        is_left_out(&strings(&HEADER), &KINDS, &strings(row))
    }

    #[test]
    fn totals_notes_headers_and_rules_are_left_out() {
        for row in [
            ["Total", "", "5", "1,234.50"],
            ["TOTAL:", "", "5", ""],
            ["**Total**", "", "5", "-"],
            ["", "Total", "5", "$6"],
            ["Grand Total", "", "5", "6"],
            ["Subtotal Q1", "", "5", "6"],
            ["Subtotal East", "", "5", "6"],
            ["Sub-total", "", "5", "6"],
            ["Total 2019", "", "5", "6"],
            ["2019 total", "", "5", "6"],
            ["Total for January 2019", "", "5", "6"],
            ["Total 2018/19", "", "5", "6"],
            ["Total sales", "", "5", "6"],
            ["Total, all regions", "", "5", "6"],
            ["Total countries", "", "5", "6"],
            ["Average", "", "5.2", "6 %"],
            ["Mean", "", "5.2", "6"],
            ["Sum", "", "5", "6"],
            ["East Total", "", "5", "6"],
            ["Summe", "", "5", "6"],
            ["合计", "", "5", "6"],
            ["合 计：", "", "5", "6"],
            ["小计", "", "5", "6"],
            ["华东小计", "", "5", "6"],
            ["总计（万元）", "", "5", "6"],
            ["2019年合计", "", "5", "6"],
            ["平均", "", "5", "6"],
            ["第一季度平均值", "", "5", "6"],
            ["Note: figures are rounded", "", "", ""],
            ["Source: World Bank", "", "", ""],
            ["* estimated by the agency", "", "", ""],
            ["注：数据为初步核算", "", "", ""],
            ["注1: 初步", "", "", ""],
            ["数据来源 国家统计局", "", "", ""],
            ["Region", "Country", "Sales", "Cost (USD)"],
            ["REGION", "country", "sales", ""],
            ["---", "---", "---", "---"],
            ["—", "—", "—", "—"],
            ["", "", "", ""],
        ] {
            assert!(left_out(&row), "{row:?}");
        }
    }

    #[test]
    fn rows_that_merely_contain_such_words_stay() {
        for row in [
            ["Total Energies", "", "5", "6"],
            ["TotalEnergies", "France", "5", "6"],
            ["Total", "France", "5", "6"],
            ["Colgate Total", "US", "5", "6"],
            ["Summe GmbH", "", "5", "6"],
            ["Average Joe's", "", "5", "6"],
            ["Meaning", "", "5", "6"],
            ["Sumatra", "", "5", "6"],
            ["平均工资", "", "5", "6"],
            ["Notebook", "", "", ""],
            ["Notes from a Small Island", "", "", ""],
            ["*Smith", "", "", ""],
            ["Note: see below", "France", "5", "6"],
            ["Sales", "East", "5", "6"],
            ["Region", "", "", ""],
            ["East", "-", "-", "-"],
            ["-", "France", "-", "-"],
            ["2019", "", "5", "6"],
        ] {
            assert!(!left_out(&row), "{row:?}");
        }
    }

    #[test]
    fn group_totals_need_kinds() {
        let row = strings(&["East Total", "", "5", "6"]);
        assert!(is_left_out(&strings(&HEADER), &KINDS, &row));
        assert!(!is_left_out(&strings(&HEADER), &[], &row));
        // In a row of numbers, a name may have this ending.
        let kinds = [ColumnKind::Identifier, ColumnKind::Integer];
        let row = strings(&["Colgate Total", "5"]);
        assert!(!is_left_out(&strings(&["Product", "Sales"]), &kinds, &row));
    }

    #[test]
    fn average_is_a_rating_among_ratings() {
        let row = strings(&["Average", "20"]);
        assert!(!is_left_out(&strings(&["Rating", "Count"]), &[], &row));
        assert!(is_left_out(&strings(&["Month", "Count"]), &[], &row));
    }

    #[test]
    fn one_column_has_no_totals() {
        assert!(!is_left_out(&strings(&["Word"]), &[], &strings(&["Total"])));
        assert!(is_left_out(&strings(&["Word"]), &[], &strings(&["Word"])));
    }

    proptest! {
        #[test]
        fn rows_with_two_texts_stay(
            first in "[A-Z][a-z]{2,8}( Total| total)?|Total|合计",
            second in "[A-Z][a-z]{3,8} [A-Z][a-z]{3,8}",
        ) {
            prop_assert!(!left_out(&[first.as_str(), second.as_str(), "5", "6"]));
        }

        #[test]
        fn any_row_is_survived(
            header in proptest::collection::vec("\\PC{0,8}", 0..5),
            row in proptest::collection::vec("\\PC{0,12}|[*:-]{0,4}|(total|合计|q1| ){0,4}", 0..6),
        ) {
            is_left_out(&header, &KINDS, &row);
        }
    }
}
