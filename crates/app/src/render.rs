//! How does an answer look on a terminal? The reasoning as a tree, the answer with numbered
//! citations, the cost.

mod trace;
mod worked;

use std::fmt::Write;

use jiff::Timestamp;
use pikerag_engine::knowledge::{
    Agreement, Answer, Check, KeptVerified, Millis, Recalled, Span, Spent, WrittenBy,
};
use pikerag_engine::parts::Estimate;
use pikerag_engine::{Cost, CostPart};

pub(crate) use self::trace::{numbered, reasoning};
use crate::plain::one_line;
use crate::words::plural;

/// Citations that are listed; the rest is counted.
const CITED: usize = 8;

/// The answer, its citations, and the cost.
pub(crate) fn conclusion(answer: &Answer, spent: &Spent) -> String {
    let mut shown = String::new();
    if answer.written_by == WrittenBy::Quotation {
        if !answer.rationale.is_empty() {
            let _ = writeln!(shown, "\n{}", answer.rationale);
        }
        if answer.rationale.is_empty() || !answer.citations.is_empty() {
            let _ = writeln!(shown, "\n{}", passages(answer));
        }
        shown.push_str(&recalled(answer));
        let _ = writeln!(shown, "\n{}; {}", written_by(answer), self::spent(spent));
        return shown;
    }
    let numbers = match answer.citations.as_slice() {
        [first, .., last] if CITED < answer.citations.len() => {
            format!("[{}]…[{}]", first.number, last.number)
        }
        citations => {
            let numbers = citations.iter().map(|citation| format!("[{}]", citation.number));
            numbers.collect::<Vec<_>>().concat()
        }
    };
    let text =
        if answer.text.trim().is_empty() { "(nothing was found)" } else { answer.text.as_str() };
    let _ = writeln!(shown, "\n{}", format!("{text} {numbers}").trim_end());
    if let Some(worked) = &answer.worked {
        shown.push_str(&worked::shown(worked));
    }
    if !answer.rationale.is_empty() {
        let _ = writeln!(shown, "\n{}", answer.rationale);
    }
    // A refusal says what is lacking.
    if !answer.missing.is_empty() && answer.missing != [answer.text.as_str()] {
        let missing = answer.missing.iter().map(|missing| short(missing, 240));
        let missing: Vec<String> = missing.collect();
        let _ = writeln!(shown, "\nNot settled by the documents. Lacking: {}", missing.join(" · "));
    }
    shown.push_str(&recalled(answer));
    if !answer.citations.is_empty() {
        let _ = writeln!(shown);
    }
    for citation in answer.citations.iter().take(CITED) {
        let check = match citation.check {
            Check::Verified => "✓".to_owned(),
            Check::NotFound => "✗ these words do not stand there:".to_owned(),
            Check::Described => "~ a model's description, not the source's words:".to_owned(),
        };
        let _ = writeln!(
            shown,
            "[{}] {} {check} “{}”",
            citation.number,
            place(&citation.uri, citation.page, citation.span),
            short(&citation.quote, 240)
        );
    }
    if let Some(more @ 1..) = answer.citations.len().checked_sub(CITED) {
        let _ = writeln!(
            shown,
            "… and {more} more; `--json` lists them, and the places of all records"
        );
    }
    let _ = writeln!(shown, "\n{}; {}", written_by(answer), self::spent(spent));
    shown
}

/// What people had said of the question, where the answer is not theirs.
fn recalled(answer: &Answer) -> String {
    let recalled = answer.worked.as_ref().and_then(|worked| worked.recalled.as_ref());
    let Some(Recalled { kept, newer, agreement }) = recalled else { return String::new() };
    let KeptVerified { verified, changed } = kept;
    let who = format!("{} ({})", one_line(&verified.by), when(verified.at));
    let (given, right) = (short(&verified.given, 240), verified.holds().unwrap_or_default());
    let since = match (changed.as_slice(), newer) {
        ([], 0) => String::new(),
        ([], newer) => format!("; {} since", count(*newer, "new passage")),
        (changed, _) => {
            let changed: Vec<_> = changed.iter().map(|uri| one_line(uri)).collect();
            format!("; since then {} changed", changed.join(", "))
        }
    };
    let again = "`pikerag feedback accept last` or `correct` settles it";
    let said = match agreement {
        Agreement::Taken => return String::new(),
        Agreement::Same => format!("{who} verified the same{since}"),
        Agreement::Rejected => format!("! {who} rejected this answer{since}; {again}"),
        Agreement::Other if right.is_empty() => format!("{who} rejected another answer: {given}"),
        Agreement::Other => {
            format!("! {who} verified another answer: {}{since}; {again}", short(right, 240))
        }
    };
    format!("\n{said}\n")
}

/// What was quoted without a model: one passage after the other, with its title and its place.
fn passages(answer: &Answer) -> String {
    if answer.citations.is_empty() {
        return "Probably not in the documents.".to_owned();
    }
    let mut shown = "No model wrote this: passages to read".to_owned();
    for citation in &answer.citations {
        let check = if citation.check == Check::Verified { "" } else { " ✗ not found there" };
        let _ = write!(
            shown,
            "\n[{}] {}: “{}”\n    {}{check}",
            citation.number,
            one_line(&citation.title),
            short(&citation.quote, 600),
            place(&citation.uri, citation.page, citation.span)
        );
    }
    shown
}

/// Where something stands, for a person. Bytes count in the text that was read: of a table, a page or a file in an older
/// encoding it is not the file's own.
pub(crate) fn place(uri: &str, page: Option<u32>, span: Span) -> String {
    let page = page.map(|page| format!(", page {page}")).unwrap_or_default();
    format!("{}{page}, bytes {}–{} of its text", one_line(uri), span.start, span.end)
}

fn written_by(answer: &Answer) -> String {
    match &answer.written_by {
        WrittenBy::LanguageModel { model } => format!("answered by {model}"),
        WrittenBy::Quotation => "no language model wrote this: it quotes its evidence".to_owned(),
        WrittenBy::Reckoning => {
            "no language model wrote this: it was worked out of records".to_owned()
        }
        WrittenBy::Person { name } => {
            format!("verified by {}; no document has anything new to say since", one_line(name))
        }
    }
}

/// Calls and tokens, whether paid now or before.
pub(crate) fn spent(spent: &Spent) -> String {
    let usage = spent.usage();
    let calls = count(spent.calls(), "call");
    format!("{calls}, {} + {} tokens", usage.prompt_tokens, usage.completion_tokens)
}

/// When something happened, in universal time.
pub(crate) fn when(millis: Millis) -> String {
    let time =
        i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    time.map_or_else(String::new, |time| time.strftime("%Y-%m-%d %H:%M").to_string())
}

/// What was really paid, by role; `None` if nothing was.
pub(crate) fn paid(cost: &Cost) -> Option<String> {
    let total = &cost.total;
    if total.calls == 0 {
        return None;
    }
    let by_role: Vec<String> =
        cost.parts.iter().map(|part| format!("{} {}", part.role, part.calls)).collect();
    Some(format!(
        "paid in this run: {} calls ({}), {} + {} tokens{}",
        total.calls,
        by_role.join(", "),
        total.prompt_tokens,
        total.completion_tokens,
        money(total)
    ))
}

fn money(total: &CostPart) -> String {
    if 0.0 < total.usd { dollars(total.usd) } else { String::new() }
}

/// Money behind a list of what it was paid for.
pub(crate) fn dollars(usd: f64) -> String {
    format!(", {usd:.4} US dollars")
}

/// What indexing will take.
pub(crate) fn bill(estimate: &Estimate, usd: Option<f64>) -> String {
    let mut line = format!(
        "estimate: {}{}",
        if estimate.files + estimate.unchanged == 0 {
            String::new()
        } else {
            format!(
                "{} to read ({} unchanged), ",
                count(estimate.files, "file"),
                estimate.unchanged
            )
        },
        count(estimate.chunks, "chunk")
    );
    if estimate.calls == 0 {
        line += "; no paid call";
        return line;
    }
    let _ = write!(
        line,
        "; {}, about {} + {} tokens",
        count(estimate.calls, "model call"),
        estimate.usage.prompt_tokens,
        estimate.usage.completion_tokens
    );
    match usd {
        Some(usd) => {
            let _ = write!(line, ", about {usd:.2} US dollars");
        }
        None => line += "; for money, give the model's price in pikerag.toml, [prices]",
    }
    line
}

pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {}", plural(n, what))
}

/// One line of at most `most` characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let mut cut: String = line.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
