//! Asks a model for the `SELECT` of a question and reads it as a plan. Its tables and columns must exist. For
//! a statement that makes no plan, the model is asked once more, with the reason.

use std::collections::HashSet;

use pikerag_knowledge::{Question, Role, Schema, SourceId, StoreError};
use pikerag_prompt::{Prompt, Reply, Unreadable, object, quiet_headings, shape, text};
use pikerag_tables::{Catalog, Reading, Room, TableView, read_statement, shown};
use serde_json::json;

use super::{Computed, Reader};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

static PROMPT: Prompt =
    Prompt::new(Role::Decompose, include_str!("../../prompts/query_tables.md"), 500).with_earlier(
        "methods/query_tables",
        &[include_str!("../../prompts/earlier/query_tables.1.md")],
    );
/// Statements for one question: the second one with what is wrong with the first.
const TRIES: usize = 2;
/// The budget of tables that are shown. A model may use each of them, and sees those that it used in full
/// if it has to write its statement again.
const ROOM: Room = Room { tables: 5, full: 6_000, brief: 2_000 };
/// The most tables that rules place before those of found passages.
const BY_RULES: usize = 3;

/// The result of asking a model about a question.
pub(super) enum Asked {
    /// A plan that was computed.
    Plan(Box<Computed>),
    /// No table that it saw can answer the question, or the reply cannot be read.
    NoTable,
    /// It made no plan that works, or one without a result.
    NoPlan,
}

/// The statements of a model for one question, one try after the other.
pub(super) struct Tries<'a> {
    catalog: &'a Catalog,
    prompt: &'static Prompt,
    /// The tables by their places in the catalog, the likely ones first; the model sees as many as fit.
    tables: Vec<usize>,
    question: String,
    /// The last statement, and what is wrong with it.
    before: String,
    fault: String,
    n_left: usize,
}

/// One try.
pub(super) enum Try {
    /// A statement that reads as plans.
    Reading(Box<Reading>),
    /// No table that the model saw can answer the question, or the reply cannot be read.
    NoTable,
    /// There is no further try.
    Over,
}

impl Tries<'_> {
    /// Asks for a statement: once more, with what is wrong, while it cannot be read as plans.
    ///
    /// # Errors
    /// See [`SolveError`].
    pub(super) async fn next(&mut self, ports: &Ports, run: &mut Run) -> Result<Try, SolveError> {
        while let Some(left) = self.n_left.checked_sub(1) {
            self.n_left = left;
            let (tables, n_shown) = shown(&self.question, self.catalog, &self.tables, ROOM);
            let tables = quiet_headings(&tables);
            let inputs = [
                ("tables", tables.as_str()),
                ("question", self.question.as_str()),
                ("before", self.before.as_str()),
                ("fault", self.fault.as_str()),
            ];
            let Some(StatementReply(statement)) =
                run.ask::<StatementReply>(ports, self.prompt, &inputs).await?
            else {
                return Ok(Try::NoTable);
            };
            self.before = quiet_headings(&statement);
            let seen = self.tables.get(..n_shown).unwrap_or_default();
            match read_statement(&statement, self.catalog, seen) {
                Ok(None) => return Ok(Try::NoTable),
                Ok(Some(reading)) => return Ok(Try::Reading(Box::new(reading))),
                Err(fault) => self.refuse(&fault.to_string()),
            }
        }
        Ok(Try::Over)
    }

    /// Notes what is wrong with the last statement. The tables that it uses come first in the next prompt, in full.
    pub(super) fn refuse(&mut self, why: &str) {
        self.fault = quiet_headings(why);
        let words: HashSet<&str> =
            self.before.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let is_unused = |at: &usize| {
            let view = self.catalog.tables.get(*at);
            !view.is_some_and(|view| words.contains(view.table.name.as_str()))
        };
        self.tables.sort_by_key(is_unused);
    }
}

impl Reader {
    /// Asks the model of the role `decompose`.
    ///
    /// # Errors
    /// See [`SolveError`].
    pub(super) async fn asked(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
    ) -> Result<Asked, SolveError> {
        let mut tries = self.tries(&PROMPT, question);
        loop {
            let reading = match tries.next(ports, run).await? {
                Try::Reading(reading) => reading,
                Try::NoTable => return Ok(Asked::NoTable),
                Try::Over => return Ok(Asked::NoPlan),
            };
            match self.worked_out(ports, question, *reading).await? {
                Ok(Some(computed)) => return Ok(Asked::Plan(Box::new(computed))),
                Ok(None) => tries.refuse("it has no result"),
                Err(fault) => tries.refuse(&fault),
            }
        }
    }

    /// The statements of a model for a question, before the first one.
    pub(super) fn tries(&self, prompt: &'static Prompt, question: &Question) -> Tries<'_> {
        Tries {
            catalog: &self.catalog,
            prompt,
            tables: self.likely(),
            question: quiet_headings(question.query()),
            before: String::new(),
            fault: String::new(),
            n_left: TRIES,
        }
    }

    /// The reading with its result; `Err` with the reason where the store refuses the plan.
    pub(super) async fn worked_out(
        &self,
        ports: &Ports,
        question: &Question,
        reading: Reading,
    ) -> Result<Result<Option<Computed>, String>, StoreError> {
        match self.computed(ports, question, reading).await {
            Ok(computed) => Ok(Ok(computed)),
            Err(StoreError::Data(refused)) => Ok(Err(refused.to_string())),
            Err(error) => Err(error),
        }
    }

    /// All tables, each once: the first over which rules read the question, then those of passages that a
    /// search found, then the others in these orders.
    fn likely(&self) -> Vec<usize> {
        let read = || self.readings.iter().flat_map(|reading| reading.tables.iter().copied());
        let mut seen = HashSet::new();
        let first: Vec<usize> = read().filter(|table| seen.insert(*table)).take(BY_RULES).collect();
        let found = self.found.iter().flat_map(|source| self.tables_of(*source));
        let all = first.into_iter().chain(found).chain(read()).chain(0..self.catalog.tables.len());
        let mut seen = HashSet::new();
        all.filter(|table| seen.insert(*table)).collect()
    }

    /// The tables that hold rows of a document.
    fn tables_of(&self, source: SourceId) -> impl Iterator<Item = usize> {
        let is_of = move |view: &TableView| view.table.parts.iter().any(|it| it.source == source);
        let tables = self.catalog.tables.iter().enumerate();
        tables.filter(move |(_, view)| is_of(view)).map(|(at, _)| at)
    }
}

/// The statement of a reply; empty where no table fits.
struct StatementReply(String);

impl Reply for StatementReply {
    fn schema() -> Option<Schema> {
        Some(shape("query", json!({"sql": {"type": "string"}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        match object(reply, &["sql"]).and_then(|reply| text(&reply, "sql")) {
            Ok(statement) => Ok(Self(statement)),
            Err(unreadable) => bare_statement(reply).map(Self).ok_or(unreadable),
        }
    }
}

/// The statement of a reply that is no JSON, perhaps within a fence.
fn bare_statement(reply: &str) -> Option<String> {
    let begin = reply.to_ascii_lowercase().find("select ")?;
    let statement = reply.get(begin..)?;
    let end = [statement.find("```"), statement.find(';')].into_iter().flatten().min();
    Some(statement.get(..end.unwrap_or(statement.len()))?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Reply, StatementReply};

    #[test]
    fn statements_are_found_with_and_without_json() {
        for (reply, expected) in [
            (r#"{"sql": "SELECT 1"}"#, "SELECT 1"),
            (r#"{"sql": ""}"#, ""),
            ("```sql\nSELECT a\nFROM t;\n```", "SELECT a\nFROM t"),
            ("```\nselect a from t\n```\nIt counts rows.", "select a from t"),
            ("SELECT a FROM t; it counts.", "SELECT a FROM t"),
        ] {
            assert_eq!(StatementReply::read(reply).unwrap().0, expected, "{reply}");
        }
        assert!(StatementReply::read("No table fits.").is_err());
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { any_reply: StatementReply }
