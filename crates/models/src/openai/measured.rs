//! Reads an endpoint's own measurement of a call: tokens of its cache, and the times of reading and
//! writing (`timings` of llama.cpp's server).

use std::time::Duration;

use pikerag_knowledge::Timings;
use serde_json::Value;

/// The tokens of the prompt that the endpoint had in its cache; 0 if it does not report them.
pub(super) fn cached(usage: Option<&Value>, timings: Option<&Value>) -> u64 {
    let details = usage.and_then(|usage| usage.get("prompt_tokens_details"));
    counted(timings, "cache_n").or_else(|| counted(details, "cached_tokens")).unwrap_or(0)
}

/// The times of a call; `None` if one is missing, or no time.
pub(super) fn timings(timings: &Value) -> Option<Timings> {
    let time = |field: &str| {
        let seconds = timings.get(field)?.as_f64()? / 1e3;
        Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
    };
    Some(Timings {
        read_tokens: counted(Some(timings), "prompt_n")?,
        reading: time("prompt_ms")?,
        written_tokens: counted(Some(timings), "predicted_n")?,
        writing: time("predicted_ms")?,
    })
}

/// A count as the endpoint gives it; `None` for zero (it does not count) and for numbers beyond 2³²
/// (it counts wrongly).
pub(super) fn counted(usage: Option<&Value>, field: &str) -> Option<u64> {
    let count = usage?.get(field)?.as_u64()?;
    (0 < count && u32::try_from(count).is_ok()).then_some(count)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The fields of a reply of llama.cpp's server.
    #[test]
    fn times_and_cached_tokens_are_read() {
        let reported = json!({
            "cache_n": 41, "prompt_n": 10, "prompt_ms": 500.0, "predicted_n": 8, "predicted_ms": 4000.5,
        });
        let read = timings(&reported).unwrap();
        assert_eq!((read.read_tokens, read.written_tokens), (10, 8));
        assert_eq!(read.reading, Duration::from_millis(500));
        assert_eq!(read.writing, Duration::from_micros(4_000_500));
        assert_eq!(cached(None, Some(&reported)), 41);
    }

    #[test]
    fn other_endpoints_report_the_cache_in_their_usage() {
        let usage = json!({"prompt_tokens_details": {"cached_tokens": 1024}});
        assert_eq!(cached(Some(&usage), None), 1024);
        assert_eq!(cached(Some(&json!({"prompt_tokens_details": null})), None), 0);
        for bad in [json!({}), json!({"prompt_n": 1, "prompt_ms": -1.0}), json!("fast")] {
            assert_eq!(timings(&bad), None, "{bad}");
        }
    }
}
