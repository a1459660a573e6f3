//! Counts wrong keys by address, so that nobody tries many; right keys are never held up.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// In which time wrong keys are counted.
const WINDOW: Duration = Duration::from_mins(1);
/// Addresses that are remembered, at most.
const ADDRESSES: usize = 4096;

/// How many wrong keys came from each address of late.
#[derive(Debug)]
pub(crate) struct WrongKeys {
    most: u32,
    by_address: Mutex<HashMap<Option<IpAddr>, (Instant, u32)>>,
}

impl WrongKeys {
    /// So many are answered in a minute.
    pub(crate) fn new(most: u32) -> Self {
        Self { most, by_address: Mutex::default() }
    }

    /// Counts a wrong key; whether there are too many by now.
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

/// Whoever has one address of IPv6 has as many as the first half leaves.
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
