//! Draws pseudo-random items: the same seed gives the same items on every machine.

/// Splitmix64 (Steele, Lea and Flood 2014): eight lines instead of a dependency whose next release
/// may draw other numbers.
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// A generator that starts from the seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 bits, each as likely 0 as 1.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..end`; 0 if `end` is 0. Multiply and shift (Lemire 2019): its bias is below
    /// `end / 2⁶⁴`.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// A number from 0 up to 1.
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The numbers below `n` in some order (Fisher and Yates).
    pub fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            let other = (self.bits() % (last as u64 + 1)) as usize;
            order.swap(last, other);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::Seeded;

    /// The first outputs of the published algorithm for the seed 1234567.
    #[test]
    fn draws_the_published_numbers() {
        let mut seeded = Seeded::new(1_234_567);
        let drawn = [seeded.bits(), seeded.bits(), seeded.bits()];
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn stays_below_the_end() {
        let mut seeded = Seeded::new(7);
        let drawn: Vec<usize> = (0..1000).map(|_| seeded.below(3)).collect();
        assert!([0, 1, 2].iter().all(|n| drawn.contains(n)) && drawn.iter().all(|n| *n < 3));
        assert_eq!(seeded.below(0), 0);
    }
}
