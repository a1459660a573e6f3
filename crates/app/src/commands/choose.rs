//! Offers the possible readings of a question over tables, and shows the rows of the chosen one.

use std::io::{BufRead, IsTerminal};

use pikerag_engine::knowledge::{Reason, SqlLimits};
use pikerag_engine::{Session, SqlRequest};

use super::tables::lines;
use crate::output::{Output, note, say};
use crate::plain::one_line;

/// Between the statements of one reading, each of which gives one of its figures.
const NEXT: &str = "; SELECT ";

/// A reading in words, with its statements.
type Offered<'a> = (&'a str, &'a str);

/// Asks on a terminal for the intended reading and shows its rows; whether one was chosen.
///
/// # Errors
/// The base cannot be read.
pub(super) async fn offer(
    session: &Session,
    refusal: &Reason,
    output: Output,
) -> anyhow::Result<bool> {
    let offered = offered(refusal);
    let is_interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if offered.is_empty() || !is_interactive {
        return Ok(false);
    }
    for (number, (reading, _)) in (1..).zip(&offered) {
        note(&format!("{number}  {}", one_line(reading)));
    }
    output.note(
        "Which reading is intended? Type its number, or press Enter for none.",
        "指的是哪一种？请输入编号；都不是则按 Enter。",
    );
    let Some((_, statements)) = chosen(&offered, std::io::stdin().lock())? else {
        return Ok(false);
    };
    for statement in split(statements) {
        let limits = SqlLimits::default();
        let found = pikerag_engine::sql(session, &SqlRequest { statement, limits }).await?;
        for line in lines(&found) {
            say(&line);
        }
    }
    Ok(true)
}

/// The readings of a refusal that have statements.
fn offered(refusal: &Reason) -> Vec<Offered<'_>> {
    match refusal {
        Reason::TableUnclear { readings, statements, .. }
        | Reason::TableUndecided { readings, statements }
        | Reason::TableExcerpt { readings, statements, .. } => {
            readings.iter().map(String::as_str).zip(statements.iter().map(String::as_str)).collect()
        }
        _ => Vec::new(),
    }
}

/// The reading whose number is typed; `None` for an empty line, the end of the input, or anything else.
fn chosen<'a>(
    offered: &[Offered<'a>],
    mut input: impl BufRead,
) -> std::io::Result<Option<Offered<'a>>> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let number = line.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    Ok(number.and_then(|at| offered.get(at).copied()))
}

/// The statements of a reading one by one.
fn split(statements: &str) -> Vec<String> {
    let mut parts = statements.split(NEXT);
    let first = parts.next().map(str::to_owned);
    first.into_iter().chain(parts.map(|part| format!("SELECT {part}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_chooses_a_reading() {
        let refusal = Reason::TableUndecided {
            readings: vec!["sum of amount".to_owned(), "mean of amount".to_owned()],
            statements: vec!["SELECT 1".to_owned(), "SELECT 2; SELECT 3".to_owned()],
        };
        let offered = offered(&refusal);
        let chosen = |typed: &str| chosen(&offered, typed.as_bytes()).unwrap();
        assert_eq!(chosen("2\n"), Some(("mean of amount", "SELECT 2; SELECT 3")));
        assert_eq!(chosen(" 1 "), Some(("sum of amount", "SELECT 1")));
        for typed in ["", "\n", "0\n", "3\n", "q\n", "-1\n"] {
            assert_eq!(chosen(typed), None, "{typed:?}");
        }
        assert_eq!(split("SELECT 2; SELECT 3"), ["SELECT 2", "SELECT 3"]);
        assert_eq!(super::offered(&Reason::NoIdeas), []);
    }
}
