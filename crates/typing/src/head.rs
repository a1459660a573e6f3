//! Reads a header: the name of its column, the unit, and whether it holds identifiers, years or dates.

use super::narrow::narrowed;
use super::units::{ending_unit, is_currency, is_unit, unit_key};

/// The information in the header of a column.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// The header as it is written, with single spaces.
    pub name: String,
    /// The name without a unit in brackets, if there is one.
    pub bare: String,
    /// The unit: in brackets, after a comma, or as a clear ending.
    pub unit: Option<String>,
    /// Whether it names identifiers (`id`, `code`, `No.`, `编号`), whose numbers have no sum.
    pub is_identifier: bool,
    /// The part of years in it.
    pub year: YearHeader,
    /// Whether it names dates: `date`, `month`, `日期`.
    pub is_date: bool,
}

/// The part of years in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum YearHeader {
    /// The header names no year.
    No,
    /// It names a year: `birth year`, `founded`, `成立年份`.
    Named,
    /// It is the word alone: `year`, `年份`.
    Alone,
}

/// The information in a header or a title that belongs to no column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderSays {
    /// The name without a unit in brackets.
    pub name: String,
    pub unit: Option<String>,
    /// It is the word for a year alone.
    pub is_year: bool,
}

pub(crate) fn header_says(header: &str) -> HeaderSays {
    let Header { bare, unit, year, .. } = read_header(header);
    HeaderSays { name: bare, unit, is_year: year == YearHeader::Alone }
}

pub(super) fn read_header(header: &str) -> Header {
    let name = header.split_whitespace().collect::<Vec<_>>().join(" ");
    let narrow = narrowed(&name);
    let (bare, unit) = unit_of(&name, &narrow);
    let before_bracket = narrow.split(['(', '[']).next().unwrap_or_default();
    let words = words(before_bracket);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Header {
        is_identifier: is_identifier(before_bracket.trim(), &words),
        year: year_header(before_bracket.trim(), &words),
        is_date: is_date(before_bracket.trim(), &words),
        bare,
        unit,
        name,
    }
}

/// The name without the unit in brackets, and the unit.
fn unit_of(name: &str, narrow: &str) -> (String, Option<String>) {
    if let Some((open, inner)) = bracketed(narrow) {
        let bare = name.chars().take(open).collect::<String>().trim_end().to_owned();
        let unit = inner.trim_start_matches("单位").trim_start_matches([':', ' ']);
        let unit = unit.strip_prefix("in ").unwrap_or(unit).trim();
        // `Author(s)` has no unit: its `s` is a plural.
        let is_plural = inner == "s" && !narrow.contains(" (");
        return match !bare.is_empty() && !is_plural && is_unit(unit) {
            true => (bare, Some(unit.to_owned())),
            false => (name.to_owned(), None),
        };
    }
    let behind_comma = narrow.rsplit_once(',').map(|(_, unit)| unit.trim());
    let behind_comma = behind_comma.map(|unit| unit.strip_prefix("in ").unwrap_or(unit));
    let unit = behind_comma.filter(|unit| is_unit(unit)).or_else(|| ending_unit(narrow));
    let unit = unit.map(|unit| match unit {
        "pct" | "percent" => "%".to_owned(),
        unit if is_currency(&unit_key(unit)) => unit.to_uppercase(),
        unit if unit.bytes().all(|byte| byte.is_ascii_uppercase()) && narrow.contains('_') => {
            unit.to_lowercase()
        }
        unit => unit.to_owned(),
    });
    (name.to_owned(), unit)
}

/// The text in the brackets that a header ends with, and where they open, in characters.
fn bracketed(narrow: &str) -> Option<(usize, &str)> {
    for (open, close) in [('(', ')'), ('[', ']'), ('【', '】')] {
        if let Some((before, inner)) =
            narrow.strip_suffix(close).and_then(|head| head.rsplit_once(open))
        {
            return Some((before.chars().count(), inner));
        }
    }
    None
}

/// The words of a header in lower case, apart at signs and at `aB`.
fn words(header: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for c in header.chars() {
        let begins = before.is_lowercase() && c.is_uppercase();
        if (begins || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn is_identifier(header: &str, words: &[&str]) -> bool {
    const WORDS: [&str; 31] = [
        "id",
        "code",
        "zip",
        "zipcode",
        "postcode",
        "phone",
        "telephone",
        "tel",
        "isbn",
        "issn",
        "ean",
        "upc",
        "sku",
        "uuid",
        "guid",
        "plz",
        "postleitzahl",
        "iban",
        "fips",
        "vin",
        "ssn",
        "iata",
        "icao",
        "nr",
        "no",
        "identifier",
        "barcode",
        "iso",
        "gtin",
        "doi",
        "asin",
    ];
    /// Words before `number` that make it an identifier.
    const NUMBERED: [&str; 22] = [
        "phone",
        "telephone",
        "mobile",
        "fax",
        "account",
        "serial",
        "invoice",
        "order",
        "part",
        "passport",
        "license",
        "licence",
        "registration",
        "tracking",
        "flight",
        "contract",
        "case",
        "ticket",
        "customer",
        "employee",
        "member",
        "policy",
    ];
    const CHINESE: [&str; 13] = [
        "编号",
        "代码",
        "编码",
        "号码",
        "邮编",
        "电话",
        "序号",
        "学号",
        "工号",
        "身份证",
        "账号",
        "邮政编码",
        "条形码",
    ];
    if matches!(header, "#" | "№") || CHINESE.iter().any(|word| header.ends_with(word)) {
        return true;
    }
    // 订单号, 合同号; but 信号 is a signal.
    if header.ends_with('号') && !header.ends_with("信号") {
        return true;
    }
    // NCTid_1 is the first of several.
    let is_numeral = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words = match words {
        [rest @ .., last] if is_numeral(last) && !rest.is_empty() => rest,
        words => words,
    };
    match words {
        [first, "of", ..] => *first != "no" && *first != "nr" && WORDS.contains(first),
        [.., thing, "number" | "num"] => NUMBERED.contains(thing),
        [before @ .., last] => {
            WORDS.contains(last) && !before.contains(&"of") && !before.contains(&"per")
        }
        [] => false,
    }
}

fn year_header(header: &str, words: &[&str]) -> YearHeader {
    /// Events that happen once, in a year.
    const EVENTS: [&str; 22] = [
        "founded",
        "established",
        "est",
        "discovered",
        "born",
        "birth",
        "died",
        "death",
        "built",
        "opened",
        "launched",
        "launch",
        "released",
        "release",
        "published",
        "introduced",
        "invented",
        "vintage",
        "commissioned",
        "completed",
        "inaugurated",
        "created",
    ];
    /// Words for counts by the year.
    const RATES: [&str; 18] = [
        "per", "over", "on", "change", "growth", "average", "avg", "mean", "rate", "old", "to",
        "half", "this", "last", "each", "every", "a", "one",
    ];
    const CHINESE_EVENTS: [&str; 11] =
        ["成立", "出生", "建成", "发现", "发布", "上映", "逝世", "创立", "竣工", "出版", "上市"];
    if matches!(header, "年" | "年份" | "年度") || matches!(words, ["year" | "yr" | "jahr"]) {
        return YearHeader::Alone;
    }
    let is_chinese_year = header.ends_with("年份")
        || header.ends_with("年度")
        || header.ends_with('年') && !header.ends_with("每年")
        || CHINESE_EVENTS.iter().any(|event| {
            header.strip_prefix(event).is_some_and(|rest| matches!(rest, "" | "于" | "时间"))
        });
    let names_year = words.iter().any(|word| matches!(*word, "year" | "yr" | "jahr"))
        && !words.iter().any(|word| RATES.contains(word));
    let is_helper =
        |word: &&str| ["in", "when", "was", "first", "the", "date", "of"].contains(word);
    let mut others = words.iter().filter(|word| !is_helper(word));
    // A column of dates that are years.
    let is_date = matches!(words, ["date" | "datum" | "period"]) || header == "日期";
    let is_event = match (others.next(), others.next()) {
        (Some(event), None) => EVENTS.contains(event),
        _ => false,
    };
    if is_chinese_year || names_year || is_event || is_date {
        YearHeader::Named
    } else {
        YearHeader::No
    }
}

fn is_date(header: &str, words: &[&str]) -> bool {
    const WORDS: [&str; 9] =
        ["date", "day", "datum", "month", "period", "time", "timestamp", "datetime", "yyyymm"];
    words.iter().any(|word| WORDS.contains(word))
        || ["日期", "时间", "月份", "年月", "月", "日"].iter().any(|end| header.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_taken_from_headers() {
        let headers = [
            "Weight (kg)",
            "Price [EUR]",
            "重量（公斤）",
            "金额（单位：万元）",
            "body_mass_g",
            "WEIGHT_KG",
            "Area (km2)",
            "Speed (km/h)",
            "CO2 (ppm)",
            "GDP (current US$)",
            "Sales (in millions)",
            "Share (% of GDP)",
            "Deaths (per 100,000)",
            "Cost Total $",
            "Speed IAS in knots",
            "Weight, kg",
            "growth_pct",
            "price_usd",
            "Density (kg per m³)",
            "美国就业人数（千人）",
            "Country (code)",
            "Author(s)",
            "Time (s)",
            "temp_min",
            "pop_m",
            "ATC_G",
            "check_in",
            "Population (total)",
            "Sales (2019)",
            "(kg)",
            "Hello, world",
            "Rate %",
            "",
        ];
        let lines: Vec<String> = headers
            .iter()
            .map(|header| {
                let read = read_header(header);
                format!("{header} -> {} | {}", read.bare, read.unit.unwrap_or_default())
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        Weight (kg) -> Weight | kg
        Price [EUR] -> Price | EUR
        重量（公斤） -> 重量 | 公斤
        金额（单位：万元） -> 金额 | 万元
        body_mass_g -> body_mass_g | g
        WEIGHT_KG -> WEIGHT_KG | kg
        Area (km2) -> Area | km2
        Speed (km/h) -> Speed | km/h
        CO2 (ppm) -> CO2 | ppm
        GDP (current US$) -> GDP | current US$
        Sales (in millions) -> Sales | millions
        Share (% of GDP) -> Share | % of GDP
        Deaths (per 100,000) -> Deaths | per 100,000
        Cost Total $ -> Cost Total $ | $
        Speed IAS in knots -> Speed IAS in knots | knots
        Weight, kg -> Weight, kg | kg
        growth_pct -> growth_pct | %
        price_usd -> price_usd | USD
        Density (kg per m³) -> Density | kg per m³
        美国就业人数（千人） -> 美国就业人数 | 千人
        Country (code) -> Country (code) | 
        Author(s) -> Author(s) | 
        Time (s) -> Time | s
        temp_min -> temp_min | 
        pop_m -> pop_m | 
        ATC_G -> ATC_G | 
        check_in -> check_in | 
        Population (total) -> Population (total) | 
        Sales (2019) -> Sales (2019) | 
        (kg) -> (kg) | 
        Hello, world -> Hello, world | 
        Rate % -> Rate % | %
         ->  |
        ");
    }

    #[test]
    fn identifiers_are_recognised_by_their_header() {
        for header in [
            "id",
            "ID",
            "customer_id",
            "customerId",
            "CustomerID",
            "Code",
            "ZIP code",
            "No.",
            "#",
            "Invoice No.",
            "Phone",
            "phone number",
            "NCT_id_2",
            "Code of the country",
            "编号",
            "行政区划代码",
            "订单号",
            "ISBN",
            "Country Code (ISO)",
        ] {
            assert!(read_header(header).is_identifier, "{header}");
        }
        for header in [
            "paid",
            "No. of employees",
            "lines of code",
            "sunspot_number",
            "number",
            "codes",
            "信号",
            "phones per 100",
            "grid",
            "name",
            "",
            "Number of phone",
        ] {
            assert!(!read_header(header).is_identifier, "{header}");
        }
    }

    #[test]
    fn years_are_recognised_by_their_header() {
        for header in ["year", "Year", "年份", "年", "年度"] {
            assert_eq!(read_header(header).year, YearHeader::Alone, "{header}");
        }
        for header in [
            "Founded",
            "year_built",
            "Fiscal Year",
            "Year of birth",
            "Date of birth",
            "born",
            "discovered in",
            "成立年份",
            "出生年",
            "成立于",
            "yearBuilt",
        ] {
            assert_eq!(read_header(header).year, YearHeader::Named, "{header}");
        }
        for header in [
            "years",
            "births per year",
            "flow",
            "population",
            "children born",
            "每年",
            "年龄",
            "Revenue in the last year",
            "year-over-year",
            "yearly",
        ] {
            assert_eq!(read_header(header).year, YearHeader::No, "{header}");
        }
    }
}
