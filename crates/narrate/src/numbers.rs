//! Words numbers, amounts and counted nouns.

pub use pikerag_language::format_number as number;

/// A number with its unit.
pub fn amount(value: f64, unit: Option<&str>) -> String {
    with_unit(number(value), unit)
}

/// A formatted number with its unit.
pub(crate) fn with_unit(number: String, unit: Option<&str>) -> String {
    match unit {
        Some(unit) if unit.starts_with(['%', '‰', '°']) => format!("{number}{unit}"),
        Some(unit) => format!("{number} {unit}"),
        None => number,
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
    fn amounts_and_counts_are_as_people_write_them() {
        assert_eq!(amount(12.0, Some("h")), "12 h");
        assert_eq!(amount(12.5, Some("%")), "12.5%");
        assert_eq!([counted(1, "record"), counted(2, "record")], ["1 record", "2 records"]);
    }
}
