//! Stores decimal numbers exactly and writes each in exactly one way.

use std::fmt;

/// A number of at most 38 digits, including those after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    /// The number times ten to the power of `places`.
    digits: u128,
    /// The smallest number of places that is exact.
    places: u32,
}

impl Decimal {
    pub(crate) fn whole(number: u64) -> Self {
        Self { digits: u128::from(number), places: 0 }
    }

    /// Reads ASCII digits.
    pub(crate) fn read(digits: &str) -> Option<Self> {
        Some(Self { digits: digits.parse().ok()?, places: 0 })
    }

    /// A whole number with these digits after its point.
    pub(crate) fn with_fraction(self, fraction: &str) -> Option<Self> {
        let places = u32::try_from(fraction.len()).ok()?;
        let whole = self.digits.checked_mul(10_u128.checked_pow(places)?)?;
        let digits = whole.checked_add(fraction.parse().ok()?)?;
        Some(Self { digits, places }.shortest())
    }

    /// Times ten to this power.
    pub(crate) fn shifted_up(self, zeros: u32) -> Option<Self> {
        let used = zeros.min(self.places);
        let digits = self.digits.checked_mul(10_u128.checked_pow(zeros - used)?)?;
        Some(Self { digits, places: self.places - used }.shortest())
    }

    /// Divided by ten to this power.
    pub(crate) fn shifted_down(self, places: u32) -> Option<Self> {
        Some(Self { digits: self.digits, places: self.places.checked_add(places)? }.shortest())
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let places = self.places.max(other.places);
        let raised =
            |number: Self| number.digits.checked_mul(10_u128.checked_pow(places - number.places)?);
        let digits = raised(self)?.checked_add(raised(other)?)?;
        Some(Self { digits, places }.shortest())
    }

    /// Whether it is less than ten to this power.
    pub(crate) fn is_below(self, zeros: u32) -> bool {
        10_u128.checked_pow(zeros.saturating_add(self.places)).is_none_or(|most| self.digits < most)
    }

    pub(crate) fn is_whole(self) -> bool {
        self.places == 0
    }

    fn shortest(mut self) -> Self {
        while 0 < self.places && self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.places -= 1;
        }
        self
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places as usize;
        let digits = format!("{:0>width$}", self.digits, width = places + 1);
        match digits.split_at_checked(digits.len() - places) {
            Some((whole, fraction)) if !fraction.is_empty() => write!(f, "{whole}.{fraction}"),
            _ => f.write_str(&digits),
        }
    }
}
