//! Measures how fast the answering model reads and writes, and stores it for the limits of later
//! questions.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use pikerag_knowledge::{ChatModel, ChatRequest, Message, ModelError, Role, Timings, Usage};
use pikerag_models::{Paces, Speed};
use pikerag_narrate::Words;

use super::{DoctorCheck, DoctorFinding, absent, failure, in_order};
use crate::engine::Session;
use crate::verbs::small_call::small_request;

/// The lines of the long prompt and of the short one; a line has about 20 tokens.
const LONG: usize = 20;
const SHORT: usize = 4;
/// The tokens of each reply: the model counts until it is cut off.
const REPLY_TOKENS: u32 = 24;

/// One call if the endpoint reports its times, else two. An endpoint whose speed cannot be measured is
/// no fault.
pub(super) async fn check_speed(session: &Session) -> DoctorFinding {
    let check = DoctorCheck::Speed;
    let model = match session.bare_chat(Role::Answer) {
        Ok(Some(model)) => model,
        Ok(None) => return absent(check, Words::new("no model to measure", "没有可测量的模型")),
        Err(error) => return not_measured(failure(&error)),
    };
    let speed = match measure(model.as_ref()).await {
        Ok(speed) => speed,
        Err(error) => return not_measured(failure(&error)),
    };
    let mut measured = Paces::default();
    measured.add_speed(model.name(), speed);
    session.paces().add(&measured);
    let Words { english, chinese } = in_words(speed);
    let words = match session.reads_at_most() {
        Some(tokens) => Words::new(
            format!(
                "{english}; contexts are cut to about {tokens} tokens (`[chat] answer_seconds`)"
            ),
            format!("{chinese}；上下文缩短到约 {tokens} 个 Token（`[chat] answer_seconds`）"),
        ),
        None => Words::new(english, chinese),
    };
    in_order(check, words)
}

fn not_measured(reason: Words) -> DoctorFinding {
    let Words { english, chinese } = reason;
    let words = Words::new(format!("not measured: {english}"), format!("未能测量：{chinese}"));
    absent(DoctorCheck::Speed, words)
}

fn in_words(speed: Speed) -> Words {
    let rounded = |speed: f64| match speed < 10.0 {
        true => format!("{speed:.1}"),
        false => format!("{speed:.0}"),
    };
    let reading = speed.reading().map(rounded);
    match (reading, speed.writing().map(rounded)) {
        (Some(reading), Some(writing)) => Words::new(
            format!("it reads {reading} and writes {writing} tokens a second"),
            format!("每秒读取 {reading} 个、写出 {writing} 个 Token"),
        ),
        (Some(reading), None) => Words::new(
            format!("it reads {reading} tokens a second"),
            format!("每秒读取 {reading} 个 Token"),
        ),
        (None, Some(writing)) => Words::new(
            format!("it writes {writing} tokens a second, and reads too fast to be measured"),
            format!("每秒写出 {writing} 个 Token，读取快得无法测量"),
        ),
        (None, None) => Words::new("too fast to be measured", "快得无法测量"),
    }
}

/// The speed of a model: as its endpoint reports it, else from the times of a long and a short prompt.
async fn measure(model: &dyn ChatModel) -> Result<Speed, ModelError> {
    let long = timed(model, LONG).await?;
    if let Some(timings) = long.timings {
        return Ok(Speed::of(timings));
    }
    let short = timed(model, SHORT).await?;
    Ok(compared(long, short))
}

/// A call with its time.
#[derive(Clone, Copy, Debug)]
struct Timed {
    usage: Usage,
    time: Duration,
    timings: Option<Timings>,
}

async fn timed(model: &dyn ChatModel, lines: usize) -> Result<Timed, ModelError> {
    let messages = vec![Message::User { text: prompt(lines), images: Vec::new() }];
    let request = ChatRequest { messages, max_tokens: REPLY_TOKENS, ..small_request() };
    let began = Instant::now();
    let reply = model.complete(&request).await?;
    Ok(Timed { usage: reply.usage, time: began.elapsed(), timings: reply.timings })
}

/// A prompt that no cache knows: it begins with a random number.
fn prompt(lines: usize) -> String {
    let random = RandomState::new().hash_one(lines);
    let line = "The crane in the northern harbour lifts forty tons of steel on every dry day.";
    let text = vec![line; lines].join("\n");
    format!("Note {random:016x}.\n{text}\nCount from 1 to 100, with commas:")
}

/// The speed from two calls whose replies have the same length: the longer prompt takes the time of the
/// further tokens. Times that differ by less than their noise give no speed of reading.
fn compared(long: Timed, short: Timed) -> Speed {
    let further = long.usage.prompt_tokens.saturating_sub(short.usage.prompt_tokens);
    let reading = long.time.saturating_sub(short.time);
    let is_measured = short.time / 10 < reading && 0 < further;
    let (read_tokens, reading) = if is_measured { (further, reading) } else { (0, Duration::ZERO) };
    let a_token = reading.as_secs_f64() / further.max(1) as f64;
    let read_short = Duration::from_secs_f64(a_token * short.usage.prompt_tokens as f64);
    let writing = short.time.saturating_sub(read_short);
    Speed::of(Timings {
        read_tokens,
        reading,
        written_tokens: short.usage.completion_tokens,
        writing,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use pikerag_knowledge::ChatReply;

    use super::*;

    fn call(prompt_tokens: u64, millis: u64) -> Timed {
        let usage = Usage { prompt_tokens, completion_tokens: 20 };
        Timed { usage, time: Duration::from_millis(millis), timings: None }
    }

    /// 50 tokens a second are read, 10 written: 500 tokens take 10 s, 100 take 2 s, 20 are written in 2 s.
    #[test]
    fn two_calls_give_both_speeds() {
        let speed = compared(call(500, 12_000), call(100, 4_000));
        assert_eq!(speed.reading().map(f64::round), Some(50.0));
        assert_eq!(speed.writing().map(f64::round), Some(10.0));
        let words = in_words(speed);
        assert_eq!(words.english, "it reads 50 and writes 10 tokens a second");
    }

    #[test]
    fn equal_times_give_no_speed_of_reading() {
        let speed = compared(call(500, 4_000), call(100, 4_000));
        assert_eq!((speed.reading(), speed.writing()), (None, Some(5.0)));
        assert_eq!(
            compared(call(500, 0), call(100, 0)),
            Speed::of(Timings { written_tokens: 20, ..Timings::default() })
        );
    }

    #[test]
    fn prompts_begin_differently_each_time() {
        let begin = |text: String| text.chars().take(20).collect::<String>();
        assert_ne!(begin(prompt(4)), begin(prompt(4)));
    }

    /// Counts its calls; its replies report times or not.
    struct Counted {
        calls: AtomicUsize,
        timings: Option<Timings>,
    }

    #[async_trait]
    impl ChatModel for Counted {
        fn name(&self) -> &'static str {
            "counted"
        }

        async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ModelError> {
            self.calls.fetch_add(1, Ordering::SeqCst);
            Ok(ChatReply { timings: self.timings, ..ChatReply::default() })
        }
    }

    #[tokio::test]
    async fn an_endpoint_without_times_is_asked_twice() {
        let second = Duration::from_secs(1);
        let reported =
            Timings { read_tokens: 400, reading: second, written_tokens: 24, writing: second };
        for (timings, calls) in [(None, 2), (Some(reported), 1)] {
            let model = Counted { calls: AtomicUsize::new(0), timings };
            let speed = measure(&model).await.unwrap();
            assert_eq!(model.calls.load(Ordering::SeqCst), calls);
            assert_eq!(speed.reading(), timings.map(|_| 400.0));
        }
    }
}
