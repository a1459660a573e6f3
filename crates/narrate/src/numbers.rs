//! Numbers, amounts and counted nouns.

/// A number as people write it: whole where it is, else two digits, four of a small one.
pub fn number(value: f64) -> String {
    if value.fract().abs() < 1e-9 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let digits = if value.abs() < 0.1 { 4 } else { 2 };
    let shown = format!("{value:.digits$}");
    shown.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number with its unit.
pub fn amount(value: f64, unit: Option<&str>) -> String {
    match unit {
        Some(unit) if unit.starts_with(['%', '‰', '°']) => format!("{}{unit}", number(value)),
        Some(unit) => format!("{} {unit}", number(value)),
        None => number(value),
    }
}

/// `1 record`, `2 records`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_people_write_them() {
        let shown = [0.0, 58.0, 2.5, 1.0 / 3.0, 0.01234, 1e9].map(number);
        assert_eq!(shown, ["0", "58", "2.5", "0.33", "0.0123", "1000000000"]);
        assert_eq!(amount(12.0, Some("h")), "12 h");
        assert_eq!(amount(12.5, Some("%")), "12.5%");
        assert_eq!([counted(1, "record"), counted(2, "record")], ["1 record", "2 records"]);
    }
}
