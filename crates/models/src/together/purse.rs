//! Holds amounts of a rate that the process has taken and not used yet.

use std::collections::VecDeque;

use tokio::time::Instant;

/// Amounts, the oldest first. Each may be used in a certain time only.
#[derive(Debug, Default)]
pub(super) struct Purse(VecDeque<Batch>);

#[derive(Debug)]
struct Batch {
    amount: u64,
    from: Instant,
    until: Instant,
}

impl Purse {
    /// Adds an amount that may be used from `from` on, and not later than `until`.
    pub(super) fn put(&mut self, amount: u64, from: Instant, until: Instant) {
        if amount != 0 {
            self.0.push_back(Batch { amount, from, until });
        }
    }

    /// The sum of all amounts. Drops those whose time is over.
    pub(super) fn total(&mut self, now: Instant) -> u64 {
        self.0.retain(|batch| now < batch.until);
        self.0.iter().map(|batch| batch.amount).sum()
    }

    /// When this amount can be taken, which may be now; `None` if there is less.
    pub(super) fn ready(&mut self, amount: u64, now: Instant) -> Option<Instant> {
        if self.total(now) < amount {
            return None;
        }
        let (mut left, mut at) = (amount, now);
        for batch in &self.0 {
            if left == 0 {
                break;
            }
            at = at.max(batch.from);
            left = left.saturating_sub(batch.amount);
        }
        Some(at)
    }

    /// Takes an amount that is [ready](Purse::ready).
    pub(super) fn take(&mut self, amount: u64) {
        let mut left = amount;
        while let Some(batch) = self.0.front_mut().filter(|_| 0 < left) {
            let part = left.min(batch.amount);
            batch.amount -= part;
            left -= part;
            if batch.amount == 0 {
                self.0.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_oldest_amounts_are_used_first_and_in_their_time() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut purse = Purse::default();
        purse.put(3, at(0), at(2));
        purse.put(5, at(4), at(6));
        assert_eq!(purse.ready(3, at(1)), Some(at(1)));
        assert_eq!(purse.ready(4, at(1)), Some(at(4)));
        assert_eq!(purse.ready(9, at(1)), None);
        purse.take(2);
        assert_eq!(purse.total(at(1)), 6);
        assert_eq!(purse.ready(6, at(2)), None, "the time of the first amount is over");
        assert_eq!(purse.ready(5, at(5)), Some(at(5)));
        assert_eq!((purse.total(at(5)), purse.total(at(6))), (5, 0));
    }
}
