//! Recognises units and currencies: spellings of the same one, and the words of a header that are one.

use pikerag_language::units;

/// Currencies that are written before a number, each followed by longer spellings of its own first.
const LEADING: [&str; 38] = [
    "US$",
    "HK$",
    "NT$",
    "CA$",
    "AU$",
    "A$",
    "C$",
    "R$",
    "S$",
    "$",
    "€",
    "£",
    "¥",
    "₹",
    "₩",
    "₽",
    "₺",
    "₫",
    "฿",
    "₪",
    "USD",
    "EUR",
    "GBP",
    "CNY",
    "RMB",
    "JPY",
    "CHF",
    "INR",
    "KRW",
    "RUB",
    "CAD",
    "AUD",
    "HKD",
    "SGD",
    "SEK",
    "NOK",
    "DKK",
    "人民币",
];

/// Spellings of one currency, in lower case; the first one is its key.
const CURRENCIES: [&[&str]; 6] = [
    &["$", "us$", "usd", "美元", "dollar", "dollars"],
    &["€", "eur", "euro", "euros", "欧元"],
    &["£", "gbp", "英镑"],
    &["元", "¥", "cny", "rmb", "人民币", "yuan"],
    &["港元", "hk$", "hkd"],
    &["日元", "jpy", "yen", "円"],
];

/// The currency at the start of a text, and the rest of the text.
pub(super) fn leading_currency(text: &str) -> Option<(&str, &str)> {
    let length = LEADING.iter().find(|currency| text.starts_with(**currency))?.len();
    let (currency, rest) = text.split_at_checked(length)?;
    let is_code = currency.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_word_longer = rest.starts_with(|c: char| c.is_alphabetic());
    (!is_code || !is_word_longer).then_some((currency, rest.trim_start()))
}

/// The key that all spellings of a unit share: `kg` for `Kilograms`, `$` for `USD`.
pub(super) fn unit_key(unit: &str) -> String {
    let unit = unit.trim().to_lowercase();
    if unit.starts_with('%') || matches!(unit.as_str(), "percent" | "per cent" | "pct") {
        return "%".to_owned();
    }
    if let Some(known) = units::known(&unit) {
        return known.shown.to_owned();
    }
    let same = CURRENCIES.iter().find(|spellings| spellings.contains(&unit.as_str()));
    if let Some(key) = same.and_then(|spellings| spellings.first()) {
        return (*key).to_owned();
    }
    match unit.strip_suffix('s') {
        Some(singular) if 3 < singular.len() && singular.is_ascii() => singular.to_owned(),
        _ => unit,
    }
}

/// Whether a key is that of a currency.
pub(super) fn is_currency(key: &str) -> bool {
    let is_sign = |spellings: &&[&str]| spellings.first() == Some(&key);
    CURRENCIES.iter().any(is_sign) || LEADING.iter().any(|known| known.eq_ignore_ascii_case(key))
}

/// The most words of a unit in a cell; longer texts are remarks.
const MOST_WORDS: usize = 3;

/// Whether the text behind a number of a cell can be a unit.
pub(super) fn is_cell_unit(unit: &str) -> bool {
    // These make no amount: `1st`, `5 pm`, `44 BC`, `3月`, `5号`.
    const OTHERS: [&str; 21] = [
        "st", "nd", "rd", "th", "am", "pm", "a.m", "p.m", "a.m.", "p.m.", "bc", "ad", "bce", "ce",
        "uhr", "年", "年度", "月", "日", "号", "点",
    ];
    let is_sign = |c: char| c.is_alphabetic() || matches!(c, '%' | '‰' | '°' | '²' | '³');
    let is_part = |c: char| {
        is_sign(c) || leading_currency(c.encode_utf8(&mut [0; 4])).is_some() || " /·.".contains(c)
    };
    let begins = unit.starts_with(is_sign)
        || leading_currency(unit).is_some_and(|(_, rest)| rest.is_empty());
    begins
        && unit.chars().all(is_part)
        && unit.split_whitespace().count() <= MOST_WORDS
        && !OTHERS.iter().any(|other| other.eq_ignore_ascii_case(unit))
}

/// Words that make up the unit of a header, in lower case, besides those of [`units::known`].
const WORDS: [&str; 139] = [
    "%",
    "‰",
    "°c",
    "°f",
    "°",
    "acre",
    "acres",
    "atm",
    "bar",
    "barrel",
    "barrels",
    "bbl",
    "bit",
    "bits",
    "bn",
    "bpm",
    "billion",
    "billions",
    "byte",
    "bytes",
    "cal",
    "celsius",
    "cl",
    "cubic",
    "day",
    "days",
    "db",
    "dbm",
    "deg",
    "degc",
    "degree",
    "degrees",
    "dl",
    "employees",
    "ev",
    "fahrenheit",
    "feet",
    "fps",
    "ft",
    "gal",
    "gallon",
    "gallons",
    "gb",
    "ghz",
    "gw",
    "ha",
    "hectare",
    "hectares",
    "hpa",
    "hz",
    "inch",
    "inches",
    "j",
    "k",
    "kb",
    "kbps",
    "kcal",
    "khz",
    "kj",
    "km²",
    "kmh",
    "kn",
    "knot",
    "knots",
    "kpa",
    "kts",
    "kv",
    "kw",
    "kwp",
    "lb",
    "lbs",
    "light-years",
    "lux",
    "m²",
    "ma",
    "mah",
    "mb",
    "mbps",
    "mhz",
    "mi",
    "mile",
    "miles",
    "million",
    "millions",
    "mj",
    "mm²",
    "mmhg",
    "mn",
    "mol",
    "month",
    "months",
    "mpa",
    "mpg",
    "mph",
    "ms",
    "mt",
    "mv",
    "mw",
    "nm",
    "nmi",
    "ns",
    "ohm",
    "oz",
    "pa",
    "pct",
    "people",
    "percent",
    "person",
    "persons",
    "ph",
    "pieces",
    "pcs",
    "points",
    "ppb",
    "ppm",
    "psi",
    "px",
    "rpm",
    "sq",
    "sqft",
    "sqkm",
    "sqm",
    "square",
    "tb",
    "thousand",
    "thousands",
    "tonnes",
    "trillion",
    "trillions",
    "twh",
    "unit",
    "units",
    "v",
    "w",
    "wh",
    "years",
    "yrs",
    "µg",
    "µm",
];

/// Words within a unit of a header that are no unit alone.
const FILLERS: [&str; 6] = ["in", "of", "current", "constant", "metric", "international"];

/// Chinese units besides those of [`units::known`].
const CHINESE: [&str; 45] = [
    "人",
    "个",
    "台",
    "辆",
    "户",
    "家",
    "件",
    "次",
    "年",
    "月",
    "岁",
    "元",
    "美元",
    "欧元",
    "港元",
    "日元",
    "英镑",
    "人民币",
    "亩",
    "公顷",
    "平方米",
    "平方公里",
    "平方千米",
    "吨",
    "斤",
    "两",
    "克",
    "米",
    "升",
    "度",
    "瓦",
    "套",
    "只",
    "头",
    "本",
    "篇",
    "例",
    "张",
    "份",
    "票",
    "枚",
    "匹",
    "座",
    "架",
    "艘",
];

/// Whether a text of a header names a unit, maybe with a scale: `kg`, `km/h`, `US$ millions`, `万元`.
pub(super) fn is_unit(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    if text.is_empty() || 24 < text.chars().count() {
        return false;
    }
    if text.starts_with('%') || text.starts_with("per ") || text.starts_with('每') {
        return true;
    }
    text.replace(" per ", "/").split(['/', '·', '*']).all(is_unit_part)
}

fn is_unit_part(part: &str) -> bool {
    let mut names_one = false;
    for word in part.split_whitespace() {
        if FILLERS.contains(&word) || word == "000" || word == "1000" {
            continue;
        }
        if !is_unit_word(word) {
            return false;
        }
        names_one = true;
    }
    names_one
}

fn is_unit_word(word: &str) -> bool {
    let base = word.trim_end_matches(['²', '³', '2', '3', '^', '-', '⁻', '¹', '.']);
    let is_known = |word: &str| {
        WORDS.contains(&word) || units::known(word).is_some() || is_currency(&unit_key(word))
    };
    if is_known(word) || is_known(base) {
        return true;
    }
    let unscaled = word.trim_start_matches(['十', '百', '千', '万', '亿']);
    CHINESE.contains(&unscaled) || (unscaled.is_empty() && !word.is_empty())
}

/// The unit that a header ends with behind `_` or a space: `body_mass_g`, `Cost Total $`, `Speed in knots`.
///
/// Only endings that are hardly anything else count: `temp_min` is the least one, `pop_m` may count men.
pub(super) fn ending_unit(header: &str) -> Option<&str> {
    const ENDINGS: [&str; 46] = [
        "mm", "cm", "km", "mg", "kg", "usd", "eur", "gbp", "cny", "rmb", "jpy", "pct", "percent",
        "kwh", "mwh", "gwh", "kw", "mw", "gw", "ml", "hl", "km2", "m2", "m3", "sqm", "sqft",
        "sqkm", "hz", "khz", "mhz", "ghz", "mph", "kmh", "ft", "lb", "lbs", "oz", "ppm", "ppb",
        "mb", "gb", "tb", "hpa", "kpa", "knots", "rpm",
    ];
    let (before, ending) = header.rsplit_once(['_', ' '])?;
    let is_sign = matches!(ending, "$" | "€" | "£" | "¥" | "%" | "‰");
    let is_clear = is_sign
        || header.ends_with("_g")
        || ENDINGS.contains(&ending)
        || (ending.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            && ENDINGS.contains(&ending.to_ascii_lowercase().as_str()));
    let is_named = (before.ends_with(" in") || before.ends_with("_in")) && is_unit(ending);
    (is_clear || is_named).then_some(ending)
}
