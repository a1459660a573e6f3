//! Asks a model for the `SELECT` of a question and reads it as a plan. Its tables and columns must exist. For
//! a statement that makes no plan, the model is asked once more, with the reason.

use pikerag_knowledge::{Question, Role, Schema, SourceId, StoreError};
use pikerag_prompt::{Prompt, Reply, Unreadable, object, quiet_headings, shape, text};
use pikerag_tables::{Catalog, Reading, TableView, read_statement, shown};
use serde_json::json;

use super::{Computed, Reader};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

static PROMPT: Prompt =
    Prompt::new(Role::Decompose, include_str!("../../prompts/query_tables.md"), 500);
/// Statements for one question: the second one with what is wrong with the first.
const TRIES: usize = 2;
/// Characters of all tables that are shown, at most.
const CHARACTERS: usize = 6_000;
/// Tables that are shown, and those of them that rules chose, at most.
const TABLES: usize = 5;
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
    /// The tables that it sees, in words and by their places in the catalog.
    shown: String,
    likely: Vec<usize>,
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
            let inputs = [
                ("tables", self.shown.as_str()),
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
            match read_statement(&statement, self.catalog, &self.likely) {
                Ok(None) => return Ok(Try::NoTable),
                Ok(Some(reading)) => return Ok(Try::Reading(Box::new(reading))),
                Err(fault) => self.refuse(&fault.to_string()),
            }
        }
        Ok(Try::Over)
    }

    /// Notes what is wrong with the last statement.
    pub(super) fn refuse(&mut self, why: &str) {
        self.fault = quiet_headings(why);
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
        let mut likely = self.likely();
        let (tables, n_shown) = shown(question.query(), &self.catalog, &likely, CHARACTERS);
        likely.truncate(n_shown);
        Tries {
            catalog: &self.catalog,
            prompt,
            shown: quiet_headings(&tables),
            likely,
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

    /// The tables that the model sees: the first over which rules read the question, then those of passages
    /// that a search found, then the others in these orders.
    fn likely(&self) -> Vec<usize> {
        let read: Vec<usize> =
            self.readings.iter().flat_map(|reading| reading.tables.iter().copied()).collect();
        let mut likely = Vec::new();
        let mut add = |table: usize, most: usize| {
            if likely.len() < most && !likely.contains(&table) {
                likely.push(table);
            }
        };
        for table in &read {
            add(*table, BY_RULES);
        }
        let found = self.found.iter().flat_map(|source| self.tables_of(*source));
        for table in found.chain(read).chain(0..self.catalog.tables.len()) {
            add(table, TABLES);
        }
        likely
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
pikerag_test_support::fuzz_replies! { reply_said: StatementReply }
