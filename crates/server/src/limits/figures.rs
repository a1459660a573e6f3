//! Writes the figures of limits.

use std::time::Duration;

use pikerag_engine::narrate::Words;

/// Text that is the same in both languages, such as `4 MiB`.
pub(super) fn same(text: impl Into<String>) -> Words {
    let text = text.into();
    Words::new(text.clone(), text)
}

/// Bytes in the largest unit that gives a whole number.
pub(super) fn bytes(n: impl TryInto<u64>) -> String {
    let n: u64 = n.try_into().unwrap_or(u64::MAX);
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = units.into_iter().find(|(_, size)| *size <= n && n.is_multiple_of(*size));
    unit.map_or_else(|| format!("{} B", number(n)), |(unit, size)| format!("{} {unit}", n / size))
}

/// A time in the largest unit that gives a whole number.
pub(super) fn time(time: Duration) -> String {
    let n = time.as_secs();
    let units = [("h", 60 * 60), ("min", 60)];
    let unit = units.into_iter().find(|(_, size)| *size <= n && n.is_multiple_of(*size));
    unit.map_or_else(|| format!("{n} s"), |(unit, size)| format!("{} {unit}", n / size))
}

/// A number; from five digits on with commas.
pub(super) fn number(n: impl TryInto<u64>) -> String {
    let n: u64 = n.try_into().unwrap_or(u64::MAX);
    let digits = n.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut shown = String::new();
    for (at, digit) in digits.char_indices() {
        if 0 < at && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_largest_whole_unit() {
        assert_eq!(
            [bytes(2_u64 << 30), bytes(4_u64 << 20), bytes(1_u64)],
            ["2 GiB", "4 MiB", "1 B"]
        );
        assert_eq!(bytes(1_536_u64 << 10), "1536 KiB");
        let seconds = [30, 60, 90, 3600, 86_400].map(|n| time(Duration::from_secs(n)));
        assert_eq!(seconds, ["30 s", "1 min", "90 s", "1 h", "24 h"]);
        let numbers = [0_u64, 4096, 65_536, 1_000_000].map(number);
        assert_eq!(numbers, ["0", "4096", "65,536", "1,000,000"]);
    }
}
