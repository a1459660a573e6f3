//! Converts amounts between units of one kind.
//!
//! Currencies are not converted, because they have no fixed rate.

/// A unit of the table below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// The spelling that answers show.
    pub shown: &'static str,
    /// What it measures.
    kind: Kind,
    /// The number of base units (the kind's first unit) in this unit.
    factor: f64,
}

impl Unit {
    /// Converts an amount to another unit of the same kind; `None` for another kind.
    pub fn amount_in(self, other: Self, amount: f64) -> Option<f64> {
        (self.kind == other.kind).then(|| match self.factor.total_cmp(&other.factor).is_eq() {
            true => amount,
            false => amount * self.factor / other.factor,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Time,
    Mass,
    Length,
    Share,
    Energy,
    Volume,
}

/// Each unit with its accepted spellings, in lower case.
const UNITS: [(Kind, &str, f64, &[&str]); 22] = [
    (Kind::Time, "s", 1.0, &["s", "sec", "second", "seconds", "秒"]),
    (Kind::Time, "min", 60.0, &["min", "mins", "minute", "minutes", "分钟", "分"]),
    (Kind::Time, "h", 3600.0, &["h", "hr", "hrs", "hour", "hours", "小时", "时", "工时"]),
    (Kind::Time, "days", 86_400.0, &["d", "day", "days", "天", "日"]),
    (Kind::Time, "weeks", 604_800.0, &["week", "weeks", "周", "星期"]),
    (Kind::Mass, "mg", 1e-6, &["mg", "毫克"]),
    (Kind::Mass, "g", 1e-3, &["g", "gram", "grams", "克"]),
    (Kind::Mass, "kg", 1.0, &["kg", "kilogram", "kilograms", "公斤", "千克"]),
    (Kind::Mass, "t", 1e3, &["t", "ton", "tons", "tonne", "tonnes", "吨"]),
    (Kind::Length, "mm", 1e-3, &["mm", "毫米"]),
    (Kind::Length, "cm", 1e-2, &["cm", "厘米"]),
    (Kind::Length, "m", 1.0, &["m", "metre", "metres", "meter", "meters", "米"]),
    (
        Kind::Length,
        "km",
        1e3,
        &["km", "kilometre", "kilometres", "kilometer", "kilometers", "公里", "千米"],
    ),
    (Kind::Share, "%", 1.0, &["%", "percent", "per cent", "％"]),
    (Kind::Share, "‰", 0.1, &["‰"]),
    (Kind::Energy, "kWh", 1.0, &["kwh", "千瓦时", "度"]),
    (Kind::Energy, "MWh", 1e3, &["mwh", "兆瓦时"]),
    (Kind::Energy, "GWh", 1e6, &["gwh"]),
    (Kind::Volume, "ml", 1e-3, &["ml", "毫升"]),
    (Kind::Volume, "l", 1.0, &["l", "litre", "litres", "liter", "liters", "升"]),
    (Kind::Volume, "hl", 100.0, &["hl"]),
    (Kind::Volume, "m³", 1e3, &["m3", "m³", "立方米"]),
];

/// The unit with this spelling.
pub fn known(spelling: &str) -> Option<Unit> {
    let spelling = spelling.trim().to_lowercase();
    // 三个小时 are three hours.
    let spelling = spelling.strip_prefix('个').unwrap_or(&spelling);
    let found = UNITS.iter().find(|(.., spellings)| spellings.contains(&spelling));
    found.map(|(kind, shown, factor, _)| Unit { shown, kind: *kind, factor: *factor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_convert_within_one_kind_of_unit() {
        let in_unit = |from: &str, to: &str, amount| {
            known(from).and_then(|from| from.amount_in(known(to)?, amount))
        };
        assert_eq!(in_unit("小时", "min", 1.5), Some(90.0));
        assert_eq!(in_unit("kg", "t", 250.0), Some(0.25));
        assert_eq!(in_unit("h", "Hours", 0.1), Some(0.1));
        assert_eq!((in_unit("h", "kg", 1.0), in_unit("crowns", "h", 1.0)), (None, None));
    }
}
