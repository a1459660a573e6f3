//! Lays out answers on a terminal: the reasoning as a tree, the answer with numbered citations, and the cost.

mod quotes;
mod trace;
mod worked;

use std::fmt::Write;

use jiff::Timestamp;
use pikerag_engine::knowledge::{
    Agreement, Answer, Check, KeptVerified, Millis, Recalled, ReplacedBy, Span, Spent, WrittenBy,
};
use pikerag_engine::narrate::{InWords, Language, Words, quoted_text, with_marks};
use pikerag_engine::parts::Estimate;
use pikerag_engine::{Cost, CostPart};

pub(crate) use self::trace::{numbered, reasoning};
use crate::plain::one_line;
use crate::words::plural;

/// Citations that are listed; the rest is counted.
const CITED: usize = 8;

/// The answer, its citations, and the cost.
pub(crate) fn conclusion(answer: &Answer, spent: &Spent, language: Language) -> String {
    let end = format!(
        "{}{}{}",
        written_by(answer, language),
        language.separator(),
        self::spent(spent, language)
    );
    let mut shown = String::new();
    if answer.written_by == WrittenBy::Quotation {
        if !answer.rationale.is_empty() {
            let _ = writeln!(shown, "\n{}", answer.rationale);
        }
        if answer.rationale.is_empty() || !answer.citations.is_empty() {
            let _ = writeln!(shown, "\n{}", quotes::shown(answer, language));
        }
        shown.push_str(&recalled(answer, language));
        let _ = writeln!(shown, "\n{end}");
        return shown;
    }
    let text = match answer.text.trim() {
        "" => language.either("(nothing was found)", "（没有找到）"),
        _ => answer.text.as_str(),
    };
    let marked = match answer.citations.as_slice() {
        [first, .., last] if CITED < answer.citations.len() => {
            format!("{text} [{}]…[{}]", first.number, last.number)
        }
        citations if matches!(answer.written_by, WrittenBy::LanguageModel { .. }) => {
            with_marks(text, citations)
        }
        citations => {
            let numbers = citations.iter().map(|citation| format!("[{}]", citation.number));
            format!("{text} {}", numbers.collect::<String>())
        }
    };
    let _ = writeln!(shown, "\n{}", marked.trim_end());
    if let Some(worked) = &answer.worked {
        shown.push_str(&worked::shown(worked, language));
    }
    if !answer.rationale.is_empty() {
        let _ = writeln!(shown, "\n{}", answer.rationale);
    }
    // The text of a refusal names the missing information.
    if !answer.missing.is_empty() && answer.missing != [answer.text.as_str()] {
        let missing = answer.missing.iter().map(|missing| short(missing, 240));
        let missing: Vec<String> = missing.collect();
        let lead =
            language.either("Not settled by the documents. Missing: ", "文档不足以确定。缺少：");
        let _ = writeln!(shown, "\n{lead}{}", missing.join(" · "));
    }
    shown.push_str(&recalled(answer, language));
    if !answer.citations.is_empty() {
        let _ = writeln!(shown);
    }
    for citation in answer.citations.iter().take(CITED) {
        let check = match citation.check {
            Check::Verified => "✓",
            Check::NotFound => {
                language.either("✗ these words are not in the source:", "✗ 来源中没有这些文字：")
            }
            Check::Described => language.either(
                "~ a model's description, not the source's words:",
                "~ 模型的描述，不是来源的原文：",
            ),
        };
        let _ = writeln!(
            shown,
            "[{}] {} {check} “{}”",
            citation.number,
            place(&citation.uri, citation.page, citation.span, language),
            short(&quoted_text(citation), 240)
        );
        if let Some(by) = &citation.replaced_by {
            let _ = writeln!(shown, "    {}", replaced(by, language));
        }
    }
    if let Some(more @ 1..) = answer.citations.len().checked_sub(CITED) {
        let more = Words::new(
            format!("… and {more} more; `--json` lists all citations and records"),
            format!("……另有 {more} 条；`--json` 列出全部引用与记录"),
        );
        let _ = writeln!(shown, "{}", more.of(language));
    }
    let _ = writeln!(shown, "\n{end}");
    shown
}

/// The verified answer to the question, if the answer differs from it or confirms it.
fn recalled(answer: &Answer, language: Language) -> String {
    let recalled = answer.worked.as_ref().and_then(|worked| worked.recalled.as_ref());
    let Some(Recalled { kept, newer, agreement }) = recalled else { return String::new() };
    let KeptVerified { verified, changed } = kept;
    let who = format!("{} ({})", one_line(&verified.by), when(verified.at));
    let (given, right) = (short(&verified.given, 240), verified.holds().unwrap_or_default());
    let (since, later) = match (changed.as_slice(), newer) {
        ([], 0) => Default::default(),
        ([], newer) => (
            format!("; {} since", count(*newer, "new passage")),
            format!("；此后有 {newer} 个新段落"),
        ),
        (changed, _) => {
            let changed: Vec<_> = changed.iter().map(|uri| one_line(uri)).collect();
            let changed = changed.join(", ");
            (format!("; since then {changed} changed"), format!("；此后 {changed} 有改动"))
        }
    };
    let again = "`pikerag feedback accept last` or `correct` settles it";
    let settle = "请用 `pikerag feedback accept last` 或 `correct` 确定";
    let right = short(right, 240);
    let words = match agreement {
        Agreement::Taken => return String::new(),
        Agreement::Same => Words::new(
            format!("{who} verified the same{since}"),
            format!("{who} 核实过相同的回答{later}"),
        ),
        Agreement::Rejected => Words::new(
            format!("! {who} rejected this answer{since}; {again}"),
            format!("! {who} 否定过此回答{later}；{settle}"),
        ),
        Agreement::Other if right.is_empty() => Words::new(
            format!("{who} rejected another answer: {given}"),
            format!("{who} 否定过另一个回答：{given}"),
        ),
        Agreement::Other => Words::new(
            format!("! {who} verified another answer: {right}{since}; {again}"),
            format!("! {who} 核实过另一个回答：{right}{later}；{settle}"),
        ),
    };
    format!("\n{}\n", words.of(language))
}

/// The mark of a citation whose document a newer version replaces.
fn replaced(by: &ReplacedBy, language: Language) -> String {
    format!("! {}", one_line(&by.in_words(language)))
}

/// The place of a passage, for a person. Bytes count in the text that was read: for tables, pages and older encodings they
/// differ from the bytes of the file.
pub(crate) fn place(uri: &str, page: Option<u32>, span: Span, language: Language) -> String {
    let (uri, Span { start, end }) = (one_line(uri), span);
    let (english, chinese) = match page {
        Some(page) => (format!(", page {page}"), format!("，第 {page} 页")),
        None => Default::default(),
    };
    Words::new(
        format!("{uri}{english}, bytes {start}–{end} of its text"),
        format!("{uri}{chinese}，文本的第 {start}–{end} 字节"),
    )
    .of(language)
}

fn written_by(answer: &Answer, language: Language) -> String {
    let words = match &answer.written_by {
        WrittenBy::LanguageModel { model } => {
            Words::new(format!("answered by {model}"), format!("由 {model} 回答"))
        }
        WrittenBy::Quotation => Words::new(
            "no language model wrote this: it quotes its evidence",
            "未使用语言模型：回答摘自其证据原文",
        ),
        WrittenBy::Computation => Words::new(
            "no language model wrote this: it was computed from records",
            "未使用语言模型：由记录算出",
        ),
        WrittenBy::Person { name } => {
            let name = one_line(name);
            Words::new(
                format!("verified by {name}; the documents have no newer information"),
                format!("由 {name} 核实；此后文档没有新的内容"),
            )
        }
    };
    words.of(language)
}

/// Calls and tokens, whether paid now or before.
pub(crate) fn spent(spent: &Spent, language: Language) -> String {
    let (usage, calls) = (spent.usage(), spent.calls());
    let (prompt, reply) = (usage.prompt_tokens, usage.completion_tokens);
    Words::new(
        format!("{}, {prompt} + {reply} tokens", count(calls, "call")),
        format!("{calls} 次调用，{prompt} + {reply} 个 Token"),
    )
    .of(language)
}

/// Tokens of an endpoint's cache at the end of a list; empty if it reports none.
pub(crate) fn cached(tokens: u64, language: Language) -> String {
    match tokens {
        0 => String::new(),
        _ => {
            Words::new(format!(", {tokens} of them cached"), format!("，其中 {tokens} 个来自缓存"))
                .of(language)
        }
    }
}

/// A time, in UTC.
pub(crate) fn when(millis: Millis) -> String {
    let time =
        i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    time.map_or_else(String::new, |time| time.strftime("%Y-%m-%d %H:%M").to_string())
}

/// The cost that was paid, by role; `None` if nothing was.
pub(crate) fn paid(cost: &Cost, language: Language) -> Option<String> {
    let total = &cost.total;
    if total.calls == 0 {
        return None;
    }
    let by_role: Vec<String> =
        cost.parts.iter().map(|part| format!("{} {}", part.role, part.calls)).collect();
    let CostPart { calls, prompt_tokens, completion_tokens, usd, .. } = total;
    let (by_role, money) = (
        by_role.join(language.either(", ", "，")),
        match 0.0 < *usd {
            true => dollars(*usd, language),
            false => String::new(),
        },
    );
    let words = Words::new(
        format!(
            "paid in this run: {calls} calls ({by_role}), {prompt_tokens} + {completion_tokens} tokens{money}"
        ),
        format!(
            "本次运行付费：{calls} 次调用（{by_role}），{prompt_tokens} + {completion_tokens} 个 Token{money}"
        ),
    );
    Some(words.of(language))
}

/// Money at the end of a list.
pub(crate) fn dollars(usd: f64, language: Language) -> String {
    Words::new(format!(", {usd:.4} US dollars"), format!("，{usd:.4} 美元")).of(language)
}

/// The estimated cost of indexing.
pub(crate) fn bill(estimate: &Estimate, usd: Option<f64>, language: Language) -> String {
    match language {
        Language::English => bill_in_english(estimate, usd),
        Language::Chinese => bill_in_chinese(estimate, usd),
    }
}

fn bill_in_chinese(estimate: &Estimate, usd: Option<f64>) -> String {
    let Estimate { files, unchanged, chunks, calls, usage, .. } = estimate;
    let mut line = match files + unchanged {
        0 => "预估：".to_owned(),
        _ => format!("预估：读取 {files} 个文件（{unchanged} 个未变），"),
    };
    let _ = write!(line, "{chunks} 个文本块");
    if *calls == 0 {
        return line + "；没有付费调用";
    }
    let (prompt, reply) = (usage.prompt_tokens, usage.completion_tokens);
    let _ = write!(line, "；{calls} 次模型调用，约 {prompt} + {reply} 个 Token");
    match usd {
        Some(usd) => {
            let _ = write!(line, "，约 {usd:.2} 美元");
        }
        None => line += "；如需金额，请在 pikerag.toml 的 [prices] 中给出模型价格",
    }
    line
}

fn bill_in_english(estimate: &Estimate, usd: Option<f64>) -> String {
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
        None => line += "; for a sum, set the price of the model in [prices] of pikerag.toml",
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

/// The columns of a text on a terminal: Chinese characters take two.
pub(crate) fn width(text: &str) -> usize {
    text.chars()
        .map(|c| {
            if ('\u{1100}'..'\u{ffe7}').contains(&c) && !('\u{2010}'..'\u{2e7f}').contains(&c) {
                2
            } else {
                1
            }
        })
        .sum()
}
