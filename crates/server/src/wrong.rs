//! Counts wrong keys by address and limits attempts; valid keys are never delayed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The window in which wrong keys are counted.
pub(crate) const WINDOW: Duration = Duration::from_mins(1);
/// The largest number of remembered addresses.
const ADDRESSES: usize = 4096;

/// The recent number of wrong keys from each address.
#[derive(Debug)]
pub(crate) struct WrongKeys {
    most: u32,
    by_address: Mutex<HashMap<Option<IpAddr>, (Instant, u32)>>,
}

impl WrongKeys {
    /// `most` wrong keys a minute are answered.
    pub(crate) fn new(most: u32) -> Self {
        Self { most, by_address: Mutex::default() }
    }

    /// Counts a wrong key. Returns whether there are too many.
    pub(crate) fn are_too_many(&self, address: Option<IpAddr>, now: Instant) -> bool {
        let mut counts = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of_late = |began: Instant| now.saturating_duration_since(began) < WINDOW;
        let address = address.map(network);
        if ADDRESSES <= counts.len() && !counts.contains_key(&address) {
            counts.retain(|_, (began, _)| is_of_late(*began));
            let oldest = counts.iter().min_by_key(|(_, (began, _))| *began).map(|(own, _)| *own);
            if let Some(oldest) = oldest.filter(|_| ADDRESSES <= counts.len()) {
                counts.remove(&oldest);
            }
        }
        let (began, count) = counts.entry(address).or_insert((now, 0));
        if !is_of_late(*began) {
            (*began, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        self.most < *count
    }
}

/// An IPv6 address counts by its first half, because one caller has all addresses of that network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => IpAddr::V6((u128::from(six) >> 64 << 64).into()),
        four @ IpAddr::V4(_) => four,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_keys_are_counted_by_address_within_a_minute() {
        let wrong = WrongKeys::new(2);
        let began = Instant::now();
        let count = |address: &str, seconds: u64| {
            let now = began + Duration::from_secs(seconds);
            wrong.are_too_many(Some(address.parse().unwrap()), now)
        };
        assert_eq!([0, 1, 2].map(|second| count("192.0.2.1", second)), [false, false, true]);
        assert!(!count("192.0.2.2", 3) && count("::ffff:192.0.2.1", 3));
        assert!(!count("192.0.2.1", 60));
        let of_one = ["2001:db8::1", "2001:db8::2", "2001:db8::3:4"].map(|six| count(six, 61));
        assert_eq!(of_one, [false, false, true]);
    }

    #[test]
    fn the_table_of_addresses_is_bounded() {
        let wrong = WrongKeys::new(1);
        let now = Instant::now();
        for n in 0..2 * u32::try_from(ADDRESSES).unwrap() {
            wrong.are_too_many(Some(IpAddr::V4(n.into())), now + Duration::from_micros(n.into()));
        }
        assert_eq!(wrong.by_address.lock().unwrap().len(), ADDRESSES);
    }
}
