//! Reads the numbers of comparisons in a question: `more than 100 million`, `至少5天`, `为0`.

use std::ops::Range;

use pikerag_language::{is_chinese, pattern};

use super::Cues;
use super::numbers::{amount, factor};

/// A number for comparison with values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) test: BoundTest,
    /// With its factor: 100 000 000 for `100 million`.
    pub(crate) number: f64,
    /// Without its factor: 100 for `100 million`.
    pub(crate) bare: f64,
    pub(crate) span: Range<usize>,
}

/// The kind of comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundTest {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
}

pattern!(
    BOUND,
    r"(?P<t>\b(?:more than|over|above|exceed(?:s|ed|ing)?|greater than|higher than|longer than|heavier than|at least|no less than|less than|fewer than|under|below|lower than|shorter than|at most|no more than|up to|exactly|equal to)|超过|大于|多于|高于|长于|重于|至少|不少于|不低于|低于|小于|少于|短于|不足|至多|不超过|不多于|等于|恰好|正好|为|是)\s*(?P<n>[−-]?\d[\d,]*(?:\.\d+)?|(?:one|two|three|four|five|six|seven|eight|nine|ten)\b|[一二两三四五六七八九十百]+)\s*(?P<f>million|billion|thousand|hundred|百万|千万|万|亿|千)?"
);
pattern!(
    BOUND_BEHIND,
    r"(?P<n>[−-]?\d[\d,]*(?:\.\d+)?)\s*(?P<f>million|billion|thousand|万|亿)?\s*(?:\S{0,3}?)(?P<t>及以上|以上|以下|及以下|or more|or less|or above|or below|or fewer|or higher|or lower)"
);
// Without a unit and 之间, two numbers may be a score.
pattern!(
    RANGE,
    r"\bbetween\s+[$€£]?(?P<a>\d[\d,]*(?:\.\d+)?)\s*(?P<af>million|billion|thousand)?\s+and\s+[$€£]?(?P<b>\d[\d,]*(?:\.\d+)?)\s*(?P<bf>million|billion|thousand)?|(?P<za>\d[\d,]*(?:\.\d+)?)\s*(?P<zaf>百万|千万|万|亿|千)?\s*(?:元|天|小时)?\s*(?:到|至|~|—|-)\s*(?P<zb>\d[\d,]*(?:\.\d+)?)\s*(?P<zbf>百万|千万|万|亿|千)?\s*(?:元|天|小时)?\s*之间"
);
pattern!(NEGATIVE, r"\bnegative\b|负(?:的|数|值)?|为负");
pattern!(BELOW_ZERO, r"\bbelow (?:sea level|zero|freezing)\b|零下|零度以下");

impl Cues {
    pub(super) fn read_bounds(&mut self) {
        self.read_ranges();
        for pattern in [&*BOUND, &*BOUND_BEHIND] {
            let found: Vec<Bound> = pattern
                .captures_iter(&self.text)
                .filter_map(|found| {
                    let (whole, digits) = (found.get(0)?, found.name("n")?);
                    let span = self.span(whole.range());
                    let factor = found.name("f").map(|factor| factor.as_str());
                    let test = found.name("t").map(|test| test.as_str()).unwrap_or_default();
                    self.bound(bound_test(test), digits.as_str(), factor, span)
                })
                .collect();
            for bound in found {
                self.push_bound(bound);
            }
        }
        let below_zero = |span| Bound { test: BoundTest::Below, number: 0.0, bare: 0.0, span };
        if let Some(span) = self.find(&BELOW_ZERO) {
            if self.bounds.is_empty() {
                self.push_bound(below_zero(span));
            } else {
                self.mark(span);
            }
        }
        if let Some(span) = self.find(&NEGATIVE) {
            self.push_bound(below_zero(span));
        }
    }

    /// `between 2 and 5 thousand`, `100万到300万之间`: both ends are included. A factor only after the second number applies
    /// to both.
    fn read_ranges(&mut self) {
        let mut ends: Vec<Bound> = Vec::new();
        for found in RANGE.captures_iter(&self.text) {
            let named = |latin: &str, chinese: &str| {
                found.name(latin).or_else(|| found.name(chinese)).map(|held| held.as_str())
            };
            let Some(whole) = found.get(0) else { continue };
            let span = self.span(whole.range());
            let (Some(least), Some(most)) = (named("a", "za"), named("b", "zb")) else { continue };
            let upper = named("bf", "zbf");
            let lower = named("af", "zaf").or(upper);
            let least = self.bound(BoundTest::AtLeast, least, lower, span.clone());
            let most = self.bound(BoundTest::AtMost, most, upper, span);
            ends.extend(least.zip(most).into_iter().flat_map(<[Bound; 2]>::from));
        }
        for end in ends {
            self.push_bound(end);
        }
    }

    /// `None` if the number belongs to a period or an earlier bound, or a Chinese word only looks like a number, as in
    /// `是一`.
    fn bound(
        &self,
        test: BoundTest,
        digits: &str,
        factor_word: Option<&str>,
        span: Range<usize>,
    ) -> Option<Bound> {
        let overlaps = |other: &Range<usize>| other.start < span.end && span.start < other.end;
        if self.periods.iter().any(|period| overlaps(&period.span))
            || self.bounds.iter().any(|bound| overlaps(&bound.span))
        {
            return None;
        }
        let is_word = !digits.contains(|c: char| c.is_ascii_digit());
        if is_word && factor_word.is_none() && digits.contains(is_chinese) {
            return None;
        }
        let bare = amount(digits)?;
        let number = bare * factor_word.map_or(1.0, factor);
        Some(Bound { test, number, bare: if is_word { number } else { bare }, span })
    }

    fn push_bound(&mut self, bound: Bound) {
        self.mark(bound.span.clone());
        self.bounds.push(bound);
    }
}

fn bound_test(word: &str) -> BoundTest {
    match word.to_ascii_lowercase().as_str() {
        "at least" | "no less than" | "or more" | "or above" | "or higher" | "至少" | "不少于"
        | "不低于" | "及以上" | "以上" => BoundTest::AtLeast,
        "less than" | "fewer than" | "under" | "below" | "lower than" | "shorter than" | "低于"
        | "小于" | "少于" | "短于" | "不足" => BoundTest::Below,
        "at most" | "no more than" | "up to" | "or less" | "or below" | "or fewer" | "or lower"
        | "至多" | "不超过" | "不多于" | "以下" | "及以下" => BoundTest::AtMost,
        "exactly" | "equal to" | "等于" | "恰好" | "正好" | "为" | "是" => BoundTest::Equal,
        _ => BoundTest::Above,
    }
}
