//! The events of a run as a tree.

use std::fmt::Write;

use pikerag_engine::knowledge::{Candidate, Event, RunEvent};
use pikerag_engine::narrate::{Language, Narration, candidate, narrate};

use super::short;
use crate::plain::one_line;

/// Candidates of a hop, and rows, that are listed; the rest is counted.
const LISTED: usize = 6;
/// Characters of a line with a model's or a document's text.
const LONGEST: usize = 240;
/// Characters of a candidate's text.
const CANDIDATE: usize = 90;

/// What happened in a run, as a tree.
pub(crate) fn reasoning(events: &[RunEvent]) -> String {
    let mut tree = String::new();
    let mut hop = 0;
    for RunEvent { event, .. } in events {
        if let Some(at) = event_hop(event).filter(|at| *at != hop) {
            hop = at;
            let _ = writeln!(tree, "├─ hop {at}");
        }
        write_event(&mut tree, event);
    }
    tree
}

/// The same with the number of each event before its first line, and a star where it is a decision.
pub(crate) fn numbered(events: &[RunEvent]) -> String {
    let mut shown = String::new();
    for RunEvent { seq, decision, event, .. } in events {
        let mut lines = String::new();
        write_event(&mut lines, event);
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
        Event::Looked { look: hop, .. }
        | Event::Proposed { hop, .. }
        | Event::Retrieved { hop, .. }
        | Event::Selected { hop, .. }
        | Event::Stopped { hop, .. } => Some(*hop),
        _ => None,
    }
}

fn write_event(tree: &mut String, event: &Event) {
    let Narration { thinking, lines, details } = narrate(event, Language::English);
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
        let _ = writeln!(tree, "{branch}thinking: {}", short(&thinking, LONGEST));
    }
    for line in lines {
        let line = if is_whole { one_line(&line).into_owned() } else { short(&line, LONGEST) };
        let _ = writeln!(tree, "{branch}{line}");
    }
    match event {
        Event::Retrieved { candidates, .. } | Event::Gathered { candidates } => {
            let lines = candidates.iter().enumerate().map(|(place, found)| shown(place, found));
            write_listed(tree, &indent, lines);
        }
        Event::Classified { .. } | Event::Planned { .. } => {
            for line in details {
                let _ = writeln!(tree, "{indent}{}", short(&line, LONGEST));
            }
        }
        _ => write_listed(tree, &indent, details.iter().map(|line| short(line, LONGEST))),
    }
}

/// What stands before an event's lines, and before its details.
fn branch(event: &Event) -> (String, String) {
    let (branch, indent) = match event {
        Event::Began { .. } => ("", ""),
        Event::Proposed { .. }
        | Event::Retrieved { .. }
        | Event::Unreadable { .. }
        | Event::Looked { .. } => ("│  ├─ ", "│  │  "),
        Event::Selected { .. } | Event::Stopped { .. } => ("│  └─ ", ""),
        Event::Answered { .. } => ("└─ ", ""),
        Event::Asked { depth, .. } | Event::Resolved { depth, .. } => {
            return (format!("├─ {}", "│  ".repeat(*depth)), String::new());
        }
        _ => ("├─ ", "│  "),
    };
    (branch.to_owned(), indent.to_owned())
}

fn write_listed(tree: &mut String, indent: &str, lines: impl ExactSizeIterator<Item = String>) {
    let more = lines.len().saturating_sub(LISTED);
    for line in lines.take(LISTED) {
        let _ = writeln!(tree, "{indent}{line}");
    }
    if 0 < more {
        let _ = writeln!(tree, "{indent}… and {more} more");
    }
}

fn shown(place: usize, found: &Candidate) -> String {
    let line = candidate(found, &short(&found.text, CANDIDATE), Language::English);
    format!("{}. {}", place + 1, one_line(&line))
}
