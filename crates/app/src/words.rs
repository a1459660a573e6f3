//! Names of node kinds and counts, as the terminal shows them; `--json` keeps the keys.

use pikerag_engine::called;

/// So many nodes of a kind, as the export calls it; `atom (question)` is an atomic question.
pub(crate) fn nodes(kind: &str, n: usize) -> String {
    let (kind, sort) = match kind.strip_suffix(')').and_then(|kind| kind.split_once(" (")) {
        Some(("atom", sort)) => (format!("atomic {sort}"), String::new()),
        Some((kind, sort)) => (called(kind), format!(" ({sort})")),
        None => (called(kind), String::new()),
    };
    format!("{}{sort}", plural(n, &kind))
}

/// How often something is mentioned.
pub(crate) fn times(n: usize) -> String {
    match n {
        0 => "nowhere".to_owned(),
        1 => "once".to_owned(),
        n => format!("{n} times"),
    }
}

/// The plural of a noun, unless it is one.
pub(crate) fn plural(n: usize, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_counts() {
        let shown = [("source", 1), ("entity", 2), ("atom (question)", 3), ("record (load)", 0)]
            .map(|(kind, n)| nodes(kind, n));
        assert_eq!(shown, ["document", "entities", "atomic questions", "records (load)"]);
        assert_eq!(called("refers_to"), "refers to");
        assert_eq!([0, 1, 2].map(times), ["nowhere", "once", "2 times"]);
    }
}
