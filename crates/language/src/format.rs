//! Formats a number for readers.

/// A whole number without a point; other numbers with at most two decimals, or four below 0.1.
pub fn format_number(value: f64) -> String {
    if value.fract().abs() < 1e-9 && value.abs() < 1e15 {
        // Avoids `-0`.
        return format!("{:.0}", value.round() + 0.0);
    }
    let digits = if value.abs() < 0.1 { 4 } else { 2 };
    let shown = format!("{value:.digits$}");
    match shown.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        shown => shown.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::format_number;

    #[test]
    fn trailing_zeros_are_omitted() {
        let shown = [12.0, 12.5, 12.345, 0.0123, -0.0, -1e-12, -0.00001, -3.0, 100.0, 1e15];
        assert_eq!(
            shown.map(format_number).join(" "),
            "12 12.5 12.35 0.0123 0 0 0 -3 100 1000000000000000"
        );
        assert_eq!(format_number(f64::NAN), "NaN");
    }
}
