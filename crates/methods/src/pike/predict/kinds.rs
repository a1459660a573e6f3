//! Gives the kinds that may come next in declared records: by how often each came, with the uncertainty of a share.

use pikerag_knowledge::tables::{By, Group, Measure, Order, RecordQuery};
use pikerag_knowledge::worked::Outcome;
use pikerag_knowledge::{Reason, TaskClass, Worked};
use pikerag_narrate::{Language, coverage, first_kinds, kinds_rationale, query as query_words};

use super::Ahead;
use crate::collections::Collection;
use crate::pike::figures::{answer_from_figures, covered, figures, tabulate};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// The greatest number of kinds in an answer.
pub(in crate::pike) const KINDS: usize = 5;
/// The least number of cases that shares are given for.
pub(in crate::pike) const CASES: usize = 5;
/// Of the standard normal distribution, for an interval of 80 %.
const Z: f64 = 1.2816;

/// Answers with the values of a field that may come next, by how often each came.
pub(super) async fn kinds(
    ports: &Ports,
    run: &mut Run,
    language: Language,
    collection: &Collection,
    query: &RecordQuery,
    field: &str,
    date: Option<&str>,
) -> Result<Ahead, SolveError> {
    let group = vec![Group { field: field.to_owned(), by: By::Value }];
    let query = RecordQuery {
        group,
        measure: Measure::Count,
        order: Order::Greatest,
        limit: None,
        ..query.clone()
    };
    let table = tabulate(ports, run, collection, &query)?;
    let named: Vec<_> =
        table.rows.iter().filter(|row| row.key.iter().any(|key| !key.is_empty())).collect();
    let all: usize = named.iter().map(|row| row.things.len()).sum();
    if all < CASES {
        return Ok(Ahead::Lacks(Some(Reason::TooFewCases { least: CASES, known: all })));
    }
    // The later half of those that have a day.
    let mut dated: Vec<(String, usize)> = named
        .iter()
        .flat_map(|row| &row.things)
        .filter_map(|thing| {
            let cell = collection.unified.frame.cell(*thing, date?)?;
            Some((cell.value.to_string(), *thing))
        })
        .collect();
    dated.sort();
    let later: Vec<usize> = dated.iter().skip(dated.len() / 2).map(|(_, thing)| *thing).collect();
    let earlier: Vec<usize> = dated.iter().take(dated.len() / 2).map(|(_, thing)| *thing).collect();
    let cases: Vec<Cases> = named
        .iter()
        .map(|row| {
            let of = |half: &[usize]| half.iter().filter(|it| row.things.contains(it)).count();
            let (earlier, later) = (of(&earlier), of(&later));
            Cases { kind: row.key.join(", "), count: row.things.len(), earlier, later }
        })
        .collect();
    let outlook = outlook(&cases);
    let text = first_kinds(&outlook, KINDS, language);
    let mut own = figures(collection, &query, &table);
    own.coverage = covered(collection, &table);
    let trend = outlook.first().map_or(0.0, |outcome| outcome.trend);
    let rationale = [
        query_words(&collection.schema.name, &query, false, language),
        kinds_rationale(all, trend, language),
        coverage(&own.coverage, language),
    ];
    let mut worked = Worked::of(TaskClass::Predictive);
    (worked.figures, worked.outlook) = (Some(own), outlook);
    let answer =
        answer_from_figures(ports, run, text, rationale.join(language.space()), worked).await?;
    Ok(Ahead::Answered(Box::new(answer)))
}

/// The cases of one kind.
pub(in crate::pike) struct Cases {
    pub(in crate::pike) kind: String,
    /// All of them.
    pub(in crate::pike) count: usize,
    /// Those in the earlier half of all dated cases, and in the later half.
    pub(in crate::pike) earlier: usize,
    pub(in crate::pike) later: usize,
}

/// The share that each kind has, in the same order, with its interval; the trend is 0 where no case has a date.
pub(in crate::pike) fn outlook(cases: &[Cases]) -> Vec<Outcome> {
    let sum = |part: fn(&Cases) -> usize| cases.iter().map(part).sum::<usize>();
    let (all, earlier, later) = (sum(|it| it.count), sum(|it| it.earlier), sum(|it| it.later));
    let share = |part: usize, all: usize| if all == 0 { 0.0 } else { part as f64 / all as f64 };
    let outcome = |kind: &Cases| {
        let (low, high) = wilson(kind.count, all);
        Outcome {
            kind: kind.kind.clone(),
            share: share(kind.count, all),
            low,
            high,
            count: kind.count,
            trend: share(kind.later, later) - share(kind.earlier, earlier),
        }
    };
    cases.iter().map(outcome).collect()
}

/// The interval of a share, after Wilson (1927).
fn wilson(count: usize, all: usize) -> (f64, f64) {
    let (n, share) = (all as f64, count as f64 / all as f64);
    let middle = share + Z * Z / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((middle - spread) / scale).max(0.0), ((middle + spread) / scale).min(1.0))
}
