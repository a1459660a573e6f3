//! Shows the wait for model calls in one line on the terminal, which is rewritten several times a second, and below it
//! the answer while a model writes it.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use pikerag_engine::knowledge::DraftPart;
use pikerag_engine::narrate::{Language, waiting};
use pikerag_engine::parts::OpenCalls;
use tokio::time::interval;

use crate::plain::one_line;

/// The time between two states of the line.
const PERIOD: Duration = Duration::from_millis(200);

/// The characters of a draft that are shown, at most: it must fit on the screen to be rewritten.
const DRAFT: usize = 600;

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

/// Does the work, and shows the open calls meanwhile, with the answer that a model writes. All of it is gone afterwards.
pub(crate) async fn show_while<T>(
    line: WaitLine,
    calls: &OpenCalls,
    language: Language,
    work: impl Future<Output = T>,
) -> T {
    if line == WaitLine::Hidden {
        return work.await;
    }
    // While this exists, models are asked to send their answers piece by piece.
    let _watches = calls.drafts();
    let show = || {
        let line = waiting(&calls.list()).map(|words| words.of(language));
        let draft = calls.draft().map(|draft| draft_line(draft.part, &draft.text, language));
        rewrite(line.as_deref(), draft.as_deref());
    };
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

/// The end of a draft, which is called unchecked, or of the reasons before it.
fn draft_line(part: DraftPart, text: &str, language: Language) -> String {
    let label = match part {
        DraftPart::Reasons => language.either("reasons so far: ", "目前的理由："),
        DraftPart::Answer => language.either("draft, not checked yet: ", "草稿（尚未核对）："),
    };
    let left_out = text.chars().count().saturating_sub(DRAFT);
    let end: String = text.chars().skip(left_out).collect();
    let cut = if 0 < left_out { "…" } else { "" };
    format!("{label}{cut}{end}")
}

/// Rewrites the line; `None` removes it.
pub(crate) fn set(line: Option<&str>) {
    rewrite(line, None);
}

/// Rewrites the line and the draft below it; without a line, removes both.
fn rewrite(line: Option<&str>, draft: Option<&str>) {
    let mut shown = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    match line {
        Some(line) => {
            let bar = shown.get_or_insert_with(ProgressBar::new_spinner);
            let template = if draft.is_some() { "{wide_msg}\n{prefix}" } else { "{wide_msg}" };
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_prefix(one_line(draft.unwrap_or_default()).into_owned());
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
        // What a model writes does not steer the terminal.
        rewrite(Some("qwen3-4b writes the answer"), Some("In \u{1b}[2JOslo\u{202e}"));
        let prefix = || LINE.lock().unwrap().as_ref().unwrap().prefix();
        assert_eq!(prefix(), "In ␛[2JOslo\\u{202e}");
        set(Some("qwen3-4b grades a step"));
        assert_eq!(prefix(), "");
        let work = show_while(WaitLine::Shown, &calls, Language::English, async { 3 });
        assert_eq!(work.await, 3);
        assert!(!is_shown());
    }

    #[test]
    fn a_draft_is_called_unchecked_and_its_end_is_shown() {
        let line = |text: &str, language| draft_line(DraftPart::Answer, text, language);
        let reasons = draft_line(DraftPart::Reasons, "It is a town.", Language::English);
        assert_eq!(reasons, "reasons so far: It is a town.");
        assert_eq!(line("In Oslo", Language::English), "draft, not checked yet: In Oslo");
        assert_eq!(line("在青砚", Language::Chinese), "草稿（尚未核对）：在青砚");
        let long = format!("x{}", "长".repeat(DRAFT));
        let shown = line(&long, Language::English);
        assert_eq!(shown, format!("draft, not checked yet: …{}", "长".repeat(DRAFT)));
    }
}
