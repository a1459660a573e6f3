//! What happened on the way to an answer, as a tree.

use std::fmt::Write;

use pikerag_engine::knowledge::{Candidate, Event, FactRead, RunEvent};

use super::{count, short};
use crate::plain::one_line;
use crate::words::{asked, classified_by, forecast_model, judged_by, parts, via, why};

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
        Event::Classified { .. }
        | Event::Planned { .. }
        | Event::Recalled { .. }
        | Event::Structured { .. }
        | Event::Tabulated { .. }
        | Event::Foretold { .. }
        | Event::Organized { .. } => write_scheme(tree, event),
        Event::Noted { note } => writeln!(tree, "├─ {note}"),
        Event::Answered { .. } => writeln!(tree, "└─ answers"),
    }
}

/// How a question is classified, and what its scheme comes to.
fn write_scheme(tree: &mut String, event: &Event) -> std::fmt::Result {
    match event {
        Event::Classified { class, by, reasons } => {
            let by = classified_by(*by);
            writeln!(tree, "├─ class: {class} ({}, by {by})", class.level())?;
            for reason in reasons {
                writeln!(tree, "│  {}", short(reason, 160))?;
            }
            Ok(())
        }
        Event::Planned { round, because, steps } => {
            let because =
                if *round == 1 { String::new() } else { format!(": {}", short(because, 160)) };
            writeln!(tree, "├─ plan {round}{because}")?;
            for (place, step) in steps.iter().enumerate() {
                writeln!(tree, "│  {}. {}", place + 1, one_line(step))?;
            }
            Ok(())
        }
        Event::Recalled { verified, by, because, .. } => {
            let (by, because) = (one_line(by), short(because, 240));
            writeln!(tree, "├─ {by} has verified an answer to it ({verified}); {because}")
        }
        Event::Structured { schema, is_declared, coverage } => {
            let told = if *is_declared { "" } else { ", told from the columns of tables" };
            writeln!(
                tree,
                "├─ gathers records under `{}`{told}: {}, {} of {}",
                one_line(schema),
                count(coverage.records, "record"),
                count(coverage.things, "thing"),
                count(coverage.with_records, "document"),
            )
        }
        Event::Tabulated { matched, rows, .. } => {
            writeln!(tree, "├─ works out over {}", count(*matched, "thing"))?;
            for row in rows.iter().take(LISTED) {
                writeln!(tree, "│  {}", short(row, 120))?;
            }
            match rows.len().checked_sub(LISTED) {
                Some(more) if 0 < more => writeln!(tree, "│  … and {more} more"),
                _ => Ok(()),
            }
        }
        Event::Foretold { forecast } => {
            writeln!(tree, "├─ tries {}", count(forecast.tried.len(), "model"))?;
            for tried in &forecast.tried {
                let mase =
                    tried.mase.map_or_else(String::new, |mase| format!(", {mase:.2} of naive"));
                writeln!(tree, "│  {}: error {:.2}{mase}", forecast_model(tried.model), tried.mae)?;
            }
            Ok(())
        }
        Event::Organized { given, kept, left_out } => {
            writeln!(tree, "├─ reads {kept} of {}", count(*given, "chunk"))?;
            for (why, number) in left_out {
                writeln!(tree, "│  {number} left out: {}", one_line(why))?;
            }
            Ok(())
        }
        _ => Ok(()),
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
