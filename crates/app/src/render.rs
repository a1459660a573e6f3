//! How does an answer look on a terminal? The reasoning as a tree, the answer with numbered
//! citations, the cost.

use std::fmt::Write;

use jiff::Timestamp;
use pikerag_engine::knowledge::{
    Answer, Candidate, Check, Event, FactRead, Millis, RunEvent, Span, Spent, WrittenBy,
};
use pikerag_engine::parts::Estimate;
use pikerag_engine::{Cost, CostPart};

use crate::plain::one_line;
use crate::words::{asked, judged_by, parts, plural, via, why};

/// Candidates of a hop that are listed; the rest is counted.
const LISTED: usize = 6;

/// What happened in a run, as a tree.
pub(crate) fn reasoning(events: &[RunEvent]) -> String {
    let mut tree = String::new();
    let mut hop = 0;
    for RunEvent { event, .. } in events {
        write_hop(&mut tree, event, &mut hop);
        let _ = write_event(&mut tree, event);
    }
    tree
}

/// The same with the number of each event before its first line, and a star where it is a decision.
pub(crate) fn numbered(events: &[RunEvent]) -> String {
    let mut shown = String::new();
    for RunEvent { seq, decision, event, .. } in events {
        let mut lines = String::new();
        let _ = write_event(&mut lines, event);
        let star = if *decision { '*' } else { ' ' };
        for (place, line) in lines.lines().enumerate() {
            let _ = match place {
                0 => writeln!(shown, "{seq:>4}{star} {line}"),
                _ => writeln!(shown, "      {line}"),
            };
        }
    }
    shown
}

fn write_hop(tree: &mut String, event: &Event, hop: &mut usize) {
    if let Some(at) = event_hop(event).filter(|at| at != hop) {
        *hop = at;
        let _ = writeln!(tree, "├─ hop {at}");
    }
}

fn event_hop(event: &Event) -> Option<usize> {
    match event {
        Event::Looked { look: hop, .. }
        | Event::Proposed { hop, .. }
        | Event::Retrieved { hop, .. }
        | Event::Selected { hop, .. }
        | Event::Stopped { hop, .. } => Some(*hop),
        _ => None,
    }
}

fn write_event(tree: &mut String, event: &Event) -> std::fmt::Result {
    match event {
        Event::Began { method, question } => writeln!(tree, "{question}  ({method})"),
        Event::Proposed { thinking, proposals, .. } => {
            if !thinking.is_empty() {
                writeln!(tree, "│  ├─ thinking: {}", short(thinking, 160))?;
            }
            for proposal in proposals {
                writeln!(tree, "│  ├─ proposes: {}", one_line(proposal))?;
            }
            Ok(())
        }
        Event::Retrieved { candidates, .. } => {
            writeln!(tree, "│  ├─ finds {}", count(candidates.len(), "candidate"))?;
            write_candidates(tree, "│  │  ", candidates)
        }
        Event::Selected { title, index, .. } => {
            writeln!(tree, "│  └─ chooses {}: {}", index + 1, one_line(title))
        }
        Event::Stopped { reason, .. } => writeln!(tree, "│  └─ ends: {}", why(*reason)),
        Event::Unreadable { role, reason } => {
            writeln!(tree, "│  ├─ the reply to `{role}` stayed unreadable: {reason}")
        }
        Event::Gathered { candidates } => {
            writeln!(tree, "├─ gathers {}", count(candidates.len(), "chunk"))?;
            write_candidates(tree, "│  ", candidates)
        }
        Event::Looked { thinking, facts, answer, .. } => write_look(tree, thinking, facts, answer),
        Event::Thought { step, text } => writeln!(tree, "├─ {step}. {}", short(text, 160)),
        Event::Asked { depth, question } => {
            writeln!(tree, "├─ {}asks: {}", "│  ".repeat(*depth), short(question, 160))
        }
        Event::Resolved { depth, answer, .. } => {
            writeln!(tree, "├─ {}answered: {}", "│  ".repeat(*depth), short(answer, 160))
        }
        Event::Judged { criterion, of, holds, score, by } => {
            let verdict = if *holds { "yes" } else { "no" };
            let score = score.map(|score| format!(" {score:.2}")).unwrap_or_default();
            let by = judged_by(*by);
            writeln!(tree, "├─ {}? {verdict}{score} ({by}): {}", asked(*criterion), short(of, 100))
        }
        Event::Node { node, after, text } => {
            let after: Vec<String> = after.iter().map(ToString::to_string).collect();
            let after = if after.is_empty() {
                String::new()
            } else {
                format!(" after {}", after.join(", "))
            };
            writeln!(tree, "├─ node {node}{after}: {}", short(text, 140))
        }
        Event::Merged { steps, into } => {
            writeln!(tree, "├─ merges {} into: {}", count(steps.len(), "step"), short(into, 140))
        }
        Event::Path { nodes, answer } => {
            let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
            writeln!(tree, "├─ path {}: {}", nodes.join(" → "), short(answer, 140))
        }
        Event::Consulted { nodes } => {
            writeln!(tree, "├─ looks at {}", count(nodes.len(), "distilled node"))?;
            for node in nodes.iter().take(LISTED) {
                writeln!(tree, "│  {:.3} {}", node.score, short(&node.title, 100))?;
            }
            Ok(())
        }
        Event::Tagged { tags, query, keywords } => {
            for tag in tags {
                let class =
                    if tag.class.is_empty() { String::new() } else { format!(" ({})", tag.class) };
                let to = if tag.to.is_empty() { "?".to_owned() } else { tag.to.join("; ") };
                let tag = short(&tag.tag, 60);
                writeln!(tree, "├─ tag: {tag}{class} → {}", short(&to, 100))?;
            }
            writeln!(tree, "├─ searches for: {}", short(query, 160))?;
            if !keywords.is_empty() {
                writeln!(tree, "├─ and for the tags: {}", short(&keywords.join("; "), 160))?;
            }
            Ok(())
        }
        Event::Noted { note } => writeln!(tree, "├─ {note}"),
        Event::Answered { .. } => writeln!(tree, "└─ answers"),
    }
}

fn write_look(
    tree: &mut String,
    thinking: &str,
    facts: &[FactRead],
    answer: &str,
) -> std::fmt::Result {
    if !thinking.is_empty() {
        writeln!(tree, "│  ├─ thinking: {}", short(thinking, 240))?;
    }
    for FactRead { passage, title, text, stands, .. } in facts {
        let doubt = if *stands { "" } else { " (not in these words)" };
        let title = short(title, 60);
        writeln!(tree, "│  ├─ reads [{passage}] {title}: {}{doubt}", short(text, 160))?;
    }
    match answer {
        "" => Ok(()),
        answer => writeln!(tree, "│  ├─ would answer: {}", short(answer, 160)),
    }
}

fn write_candidates(tree: &mut String, indent: &str, candidates: &[Candidate]) -> std::fmt::Result {
    for (place, candidate) in candidates.iter().take(LISTED).enumerate() {
        let parts = match parts(&candidate.parts) {
            none if none.is_empty() => none,
            parts => format!(" ({parts})"),
        };
        let leads_to = match candidate.atom {
            Some(_) => format!("  → {}", one_line(&candidate.title)),
            None => String::new(),
        };
        writeln!(
            tree,
            "{indent}{}. {:.3} {}{leads_to} [{}]{parts}",
            place + 1,
            candidate.score,
            short(&candidate.text, 90),
            via(candidate.via)
        )?;
    }
    match candidates.len().checked_sub(LISTED) {
        Some(more) if 0 < more => writeln!(tree, "{indent}… and {more} more"),
        _ => Ok(()),
    }
}

/// The answer, its citations, and the cost.
pub(crate) fn conclusion(answer: &Answer, spent: &Spent) -> String {
    let mut shown = String::new();
    if answer.written_by == WrittenBy::Quotation {
        let _ = writeln!(shown, "\n{}", passages(answer));
        let _ = writeln!(shown, "\n{}; {}", written_by(answer), self::spent(spent));
        return shown;
    }
    let mut numbers = String::new();
    for citation in &answer.citations {
        let _ = write!(numbers, "[{}]", citation.number);
    }
    let text =
        if answer.text.trim().is_empty() { "(nothing was found)" } else { answer.text.as_str() };
    let _ = writeln!(shown, "\n{text} {numbers}");
    if !answer.rationale.is_empty() {
        let _ = writeln!(shown, "\n{}", answer.rationale);
    }
    if !answer.missing.is_empty() {
        let missing = answer.missing.iter().map(|missing| short(missing, 240));
        let missing: Vec<String> = missing.collect();
        let _ = writeln!(shown, "\nNot settled by the documents. Lacking: {}", missing.join(" · "));
    }
    if !answer.citations.is_empty() {
        let _ = writeln!(shown);
    }
    for citation in &answer.citations {
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
    let _ = writeln!(shown, "\n{}; {}", written_by(answer), self::spent(spent));
    shown
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
    if 0.0 < total.usd { format!(", {:.4} US dollars", total.usd) } else { String::new() }
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
