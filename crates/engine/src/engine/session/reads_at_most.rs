//! Computes how many tokens a slow model may read so that it answers in time (`[chat]
//! answer_seconds`).

use std::time::Duration;

use pikerag_knowledge::{Role, Timings};
use pikerag_methods::fitting::FIXED_TOKENS;
use pikerag_models::Speed;

use super::Session;

/// The default time for an answer of a slow model.
const ANSWER_SECONDS: f64 = 20.0;
/// A model that reads fewer tokens a second is slow: it runs on processors.
const SLOW: f64 = 400.0;
/// Tokens of an answer, if none was measured: those of a brief reply, which slow models give.
const REPLY_TOKENS: f64 = 32.0;

impl Session {
    /// The tokens that the answering model may read at a time; `None` if it is fast, if the settings
    /// have no limit, or if the speed of an endpoint was not measured.
    pub(crate) fn reads_at_most(&self) -> Option<u32> {
        let chat = self.settings().chat(Role::Answer)?;
        let (set, model) = (chat.answer_seconds, chat.endpoint.model.as_str());
        if set == Some(0) {
            return None;
        }
        let known = self.paces().known();
        let reply_tokens = known.reply_tokens(model, Role::Answer).unwrap_or(REPLY_TOKENS);
        let is_local = chat.endpoint.local_name().is_some();
        let speed = known.speed(model).or_else(|| is_local.then(on_processors))?;
        tokens_within(set, speed, reply_tokens, is_local)
    }
}

/// The speed of a model of this machine that was not measured yet: that of a model of 1.5 billion
/// parameters on two busy processor cores. Its first reply corrects it.
fn on_processors() -> Speed {
    let second = Duration::from_secs(1);
    Speed::of(Timings { read_tokens: 50, reading: second, written_tokens: 10, writing: second })
}

/// The tokens of a prompt: those that are read in the time that writing the reply leaves, and the fixed part of the prompt,
/// which the server keeps from call to call.
fn tokens_within(set: Option<u32>, speed: Speed, reply_tokens: f64, is_local: bool) -> Option<u32> {
    let reading = speed.reading()?;
    let seconds = match set {
        Some(seconds) => f64::from(seconds),
        None if is_local || reading < SLOW => ANSWER_SECONDS,
        None => return None,
    };
    let writing = speed.writing().map_or(0.0, |writing| reply_tokens / writing);
    Some(rounded((seconds - writing).max(0.0) * reading + f64::from(FIXED_TOKENS)))
}

/// Rounded down to a quarter of a power of two, so that equal questions get equal prompts although
/// each measurement differs a little.
fn rounded(tokens: f64) -> u32 {
    let tokens = tokens as u32;
    let step = (tokens.checked_ilog2().map_or(1_u32, |log| 1 << log) / 4).max(1);
    tokens / step * step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed(reading: u64, writing: u64) -> Speed {
        let second = Duration::from_secs(1);
        Speed::of(Timings {
            read_tokens: reading,
            reading: second,
            written_tokens: writing,
            writing: second,
        })
    }

    #[test]
    fn slow_models_read_what_the_time_allows() {
        // Writing 100 tokens takes 10 of the 20 seconds; 50 tokens a second are read in the others.
        assert_eq!(tokens_within(None, speed(50, 10), 100.0, false), Some(768));
        assert_eq!(tokens_within(Some(60), speed(50, 10), 100.0, false), Some(2560));
        // Writing takes longer than the whole time: the fixed part and one passage are read.
        assert_eq!(tokens_within(Some(5), speed(50, 10), 100.0, false), Some(320));
    }

    #[test]
    fn fast_models_have_no_limit_unless_it_is_set() {
        assert_eq!(tokens_within(None, speed(5000, 100), 100.0, false), None);
        assert_eq!(tokens_within(None, speed(5000, 100), 100.0, true), Some(81920));
        assert_eq!(tokens_within(Some(2), speed(5000, 100), 100.0, false), Some(5120));
        assert_eq!(tokens_within(None, Speed::default(), 100.0, true), None);
    }

    #[test]
    fn a_local_model_is_taken_for_slow_until_it_is_measured() {
        assert_eq!(tokens_within(None, on_processors(), REPLY_TOKENS, true), Some(1024));
    }

    #[test]
    fn near_measurements_give_one_limit() {
        assert_eq!([rounded(0.0), rounded(3.0), rounded(449.0), rounded(500.0)], [0, 3, 448, 448]);
    }
}
