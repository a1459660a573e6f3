//! Shows the events of a run as a tree.

use std::fmt::Write;

use pikerag_engine::knowledge::{Candidate, Event, RunEvent};
use pikerag_engine::narrate::{Language, Narration, Words, candidate, narrate};

use super::short;
use crate::plain::one_line;

/// The largest number of candidates or rows that are listed; the rest is counted.
const LISTED: usize = 6;
/// Characters of a line with a model's or a document's text.
const LONGEST: usize = 240;
/// Characters of a candidate's text.
const CANDIDATE: usize = 90;

/// The events of a run as a tree.
pub(crate) fn reasoning(events: &[RunEvent], language: Language) -> String {
    let mut tree = String::new();
    let mut hop = 0;
    for RunEvent { event, .. } in events {
        if let Some(at) = event_hop(event).filter(|at| *at != hop) {
            hop = at;
            let hop = Words::new(format!("hop {at}"), format!("第 {at} 跳")).of(language);
            let _ = writeln!(tree, "├─ {hop}");
        }
        write_event(&mut tree, event, language);
    }
    tree
}

/// The same with the number of each event before its first line, and a star where it is a decision.
pub(crate) fn numbered(events: &[RunEvent], language: Language) -> String {
    let mut shown = String::new();
    for RunEvent { seq, decision, event, .. } in events {
        let mut lines = String::new();
        write_event(&mut lines, event, language);
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

fn event_hop(event: &Event) -> Option<usize> {
    match event {
        Event::RoundRead { look: hop, .. }
        | Event::Proposed { hop, .. }
        | Event::Retrieved { hop, .. }
        | Event::Selected { hop, .. }
        | Event::Stopped { hop, .. } => Some(*hop),
        _ => None,
    }
}

fn write_event(tree: &mut String, event: &Event, language: Language) {
    let Narration { thinking, lines, details } = narrate(event, language);
    let (branch, indent) = branch(event);
    let is_whole = matches!(
        event,
        Event::Began { .. }
            | Event::Proposed { .. }
            | Event::Selected { .. }
            | Event::Unreadable { .. }
            | Event::Noted { .. }
    );
    if !thinking.is_empty() {
        let lead = language.either("thinking: ", "思考：");
        let _ = writeln!(tree, "{branch}{lead}{}", short(&thinking, LONGEST));
    }
    for line in lines {
        let line = if is_whole { one_line(&line).into_owned() } else { short(&line, LONGEST) };
        let _ = writeln!(tree, "{branch}{line}");
    }
    match event {
        Event::Retrieved { candidates, .. } | Event::Gathered { candidates } => {
            let lines =
                candidates.iter().enumerate().map(|(place, found)| shown(place, found, language));
            write_listed(tree, &indent, lines, language);
        }
        Event::Classified { .. } | Event::Planned { .. } => {
            for line in details {
                let _ = writeln!(tree, "{indent}{}", short(&line, LONGEST));
            }
        }
        _ => {
            let lines = details.iter().map(|line| short(line, LONGEST));
            write_listed(tree, &indent, lines, language);
        }
    }
}

/// The beginning of an event's lines, and of its details.
fn branch(event: &Event) -> (String, String) {
    let (branch, indent) = match event {
        Event::Began { .. } => ("", ""),
        Event::Proposed { .. }
        | Event::Retrieved { .. }
        | Event::Unreadable { .. }
        | Event::RoundRead { .. } => ("│  ├─ ", "│  │  "),
        Event::Selected { .. } | Event::Stopped { .. } => ("│  └─ ", ""),
        Event::Answered { .. } | Event::Filled { .. } => ("└─ ", ""),
        Event::Asked { depth, .. } | Event::Resolved { depth, .. } => {
            return (format!("├─ {}", "│  ".repeat(*depth)), String::new());
        }
        _ => ("├─ ", "│  "),
    };
    (branch.to_owned(), indent.to_owned())
}

fn write_listed(
    tree: &mut String,
    indent: &str,
    lines: impl ExactSizeIterator<Item = String>,
    language: Language,
) {
    let more = lines.len().saturating_sub(LISTED);
    for line in lines.take(LISTED) {
        let _ = writeln!(tree, "{indent}{line}");
    }
    if 0 < more {
        let more = Words::new(format!("… and {more} more"), format!("……另有 {more} 项"));
        let _ = writeln!(tree, "{indent}{}", more.of(language));
    }
}

fn shown(place: usize, found: &Candidate, language: Language) -> String {
    let line = candidate(found, &short(&found.text, CANDIDATE), language);
    format!("{}. {}", place + 1, one_line(&line))
}
