//! Shows the wait for model calls in one line on the terminal, which is rewritten each second.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use pikerag_engine::narrate::{Language, waiting};
use pikerag_engine::parts::OpenCalls;
use tokio::time::interval;

use crate::plain::one_line;

/// The time between two states of the line: it shows whole seconds.
const PERIOD: Duration = Duration::from_secs(1);

/// The line that is on the terminal now.
static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Whether a command shows the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitLine {
    /// On a terminal.
    Shown,
    /// With `--json` or `--quiet`, and on a pipe.
    Hidden,
}

/// Does the work, and shows the open calls meanwhile. The line is gone afterwards.
pub(crate) async fn show_while<T>(
    line: WaitLine,
    calls: &OpenCalls,
    language: Language,
    work: impl Future<Output = T>,
) -> T {
    if line == WaitLine::Hidden {
        return work.await;
    }
    let show = || set(waiting(&calls.list()).map(|words| words.of(language)).as_deref());
    let result = ticking(PERIOD, show, work).await;
    set(None);
    result
}

/// Does the work, and calls `tick` at its beginning and after each period, on the same task.
async fn ticking<T>(period: Duration, tick: impl Fn(), work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let mut ticks = interval(period);
    loop {
        tokio::select! {
            biased;
            result = &mut work => return result,
            _ = ticks.tick() => tick(),
        }
    }
}

/// Rewrites the line; `None` removes it.
pub(crate) fn set(line: Option<&str>) {
    let mut shown = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    match line {
        Some(line) => {
            let bar = shown.get_or_insert_with(|| {
                let style = ProgressStyle::with_template("{wide_msg}");
                let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
                ProgressBar::new_spinner().with_style(style)
            });
            bar.set_message(one_line(line).into_owned());
        }
        None => {
            if let Some(bar) = shown.take() {
                bar.finish_and_clear();
            }
        }
    }
}

/// Prints to standard error; the line is off the terminal meanwhile.
pub(crate) fn beside<T>(print: impl FnOnce() -> T) -> T {
    let line = LINE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match line {
        Some(line) => line.suspend(print),
        None => print(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::time::sleep;

    use super::*;

    const SHORT: Duration = Duration::from_millis(2);

    #[tokio::test]
    async fn the_line_is_set_until_the_work_ends() {
        let ticks = Cell::new(0);
        let tick = || ticks.set(ticks.get() + 1);
        let work = async {
            while ticks.get() < 3 {
                sleep(SHORT).await;
            }
            "done"
        };
        assert_eq!(ticking(SHORT, tick, work).await, "done");
        let ended = ticks.get();
        assert!(3 <= ended);
        sleep(3 * SHORT).await;
        assert_eq!(ticks.get(), ended);
    }

    #[tokio::test]
    async fn work_without_a_wait_sets_no_line() {
        let work = ticking(SHORT, || panic!("nothing waits"), async { 1 });
        assert_eq!(work.await, 1);
    }

    #[tokio::test]
    async fn a_hidden_line_is_not_set_and_the_line_is_removed_at_the_end() {
        let is_shown = || LINE.lock().unwrap().is_some();
        let calls = OpenCalls::default();
        let during = show_while(WaitLine::Hidden, &calls, Language::English, async { is_shown() });
        assert!(!during.await);

        set(Some("qwen3-4b writes the answer"));
        assert!(is_shown());
        assert_eq!(beside(|| 2), 2);
        let work = show_while(WaitLine::Shown, &calls, Language::English, async { 3 });
        assert_eq!(work.await, 3);
        assert!(!is_shown());
    }
}
