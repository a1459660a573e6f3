//! Sums how fast a model reads prompts and writes replies.

use std::time::Duration;

use pikerag_knowledge::Timings;
use serde::{Deserialize, Serialize};

/// The fewest tokens whose reading is counted: the fixed time of a call outweighs fewer.
const FEWEST: u64 = 32;
/// Above this number of tokens, earlier measurements count half: the machine may have changed.
const MANY: u64 = 20_000;

/// How fast a model reads and writes, from measured calls. It contains no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Speed {
    read_tokens: u64,
    read_micros: u64,
    written_tokens: u64,
    written_micros: u64,
}

impl Speed {
    /// The speed of one call; nothing of its reading if that was too short.
    pub fn of(timings: Timings) -> Self {
        let mut speed = Self {
            written_tokens: timings.written_tokens,
            written_micros: micros(timings.writing),
            ..Self::default()
        };
        if FEWEST <= timings.read_tokens {
            speed.read_tokens = timings.read_tokens;
            speed.read_micros = micros(timings.reading);
        }
        speed
    }

    /// Tokens of prompts a second, without those of the endpoint's cache; `None` if not measured.
    pub fn reading(self) -> Option<f64> {
        a_second(self.read_tokens, self.read_micros)
    }

    /// Tokens of replies a second; `None` if not measured.
    pub fn writing(self) -> Option<f64> {
        a_second(self.written_tokens, self.written_micros)
    }

    /// Adds later calls.
    pub fn add(&mut self, later: Self) {
        if MANY < self.read_tokens + self.written_tokens {
            self.read_tokens /= 2;
            self.read_micros /= 2;
            self.written_tokens /= 2;
            self.written_micros /= 2;
        }
        self.read_tokens += later.read_tokens;
        self.read_micros += later.read_micros;
        self.written_tokens += later.written_tokens;
        self.written_micros += later.written_micros;
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn a_second(tokens: u64, micros: u64) -> Option<f64> {
    (0 < tokens && 0 < micros).then(|| tokens as f64 * 1e6 / micros as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timings(read_tokens: u64, read_ms: u64) -> Timings {
        Timings {
            read_tokens,
            reading: Duration::from_millis(read_ms),
            written_tokens: 20,
            writing: Duration::from_secs(2),
        }
    }

    #[test]
    fn speeds_are_means_over_tokens() {
        let mut speed = Speed::of(timings(100, 1000));
        speed.add(Speed::of(timings(300, 1000)));
        assert_eq!((speed.reading(), speed.writing()), (Some(200.0), Some(10.0)));
        assert_eq!(Speed::default().reading(), None);
    }

    /// With a full cache, one token is read, and the time is that of the call.
    #[test]
    fn cached_prompts_measure_no_reading() {
        let speed = Speed::of(timings(1, 70));
        assert_eq!((speed.reading(), speed.writing()), (None, Some(10.0)));
    }

    #[test]
    fn a_new_machine_outweighs_the_old_one() {
        let mut speed = Speed::default();
        for _ in 0..100 {
            speed.add(Speed::of(timings(1000, 10_000)));
        }
        for _ in 0..100 {
            speed.add(Speed::of(timings(1000, 1000)));
        }
        assert!(900.0 < speed.reading().unwrap(), "{speed:?}");
    }
}
