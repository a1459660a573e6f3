//! Answers from the typed tables of the base: rules make a plan of the question, and so does a model where there is one; the store
//! works it out, and the answer says how the question was understood (PIKE-RAG §5.4: structuring; §3.2: quantitative
//! questions). A question that is not understood to its last word gets no figure.

mod ahead;
mod asked;
mod asks;
mod decided;
mod excerpt;
mod kinds;
mod lead;
mod offered;

use std::sync::Arc;

use pikerag_knowledge::data::{DataTable, PlanRows};
use pikerag_knowledge::{
    Answer, Chunk, ClassifiedBy, Event, Level, Note, Question, Reason, Role, SourceId, StoreError,
    TaskClass,
};
use pikerag_narrate::{InWords, Language, Sentence};
use pikerag_tables::{
    Catalog, Computation, Reading, SeriesReading, kinds_ahead, readings, readings_ahead,
};

pub(super) use self::ahead::Foreseen;
pub(super) use self::asks::Asks;
use self::decided::undecided;
use self::lead::{Lead, lead, understood, with_plan};
use super::cited::computed_answer;
use super::limit::too_high;
use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// Columns that a message names.
const NAMED: usize = 100;
/// Readings that a message names.
const NEAREST: usize = 2;

/// By how much the score of a rival may be less than that of the best reading.
const RIVAL: i64 = 1;

/// By how much the score of a reading over a table in the language of the question may be less than that of one over another table.
const NATIVE: i64 = 8;

/// How many times as many words have a part in a near reading as have none.
const NEAR: usize = 2;

/// How a question reads over the tables of the base.
pub(super) struct Reader {
    catalog: Arc<Catalog>,
    /// The best first.
    readings: Vec<Reading>,
    /// The same, as the past of what the question asks for ahead; the best first.
    ahead: Vec<SeriesReading>,
    /// Its readings as a question for the kind that comes next; the best first.
    kinds: Vec<Reading>,
    asks: Asks,
    /// The documents of the passages that fit the question best, the best first.
    found: Vec<SourceId>,
}

/// A reading that was worked out.
struct Computed {
    reading: Reading,
    tables: Vec<DataTable>,
    results: Vec<PlanRows>,
    lead: Lead,
    /// How the question was understood.
    understood: String,
    /// The answer: the lead with what was understood.
    text: String,
}

impl Computed {
    /// The statements that give its result.
    fn statement(&self) -> String {
        let statements: Vec<&str> = self.results.iter().map(|result| result.sql.as_str()).collect();
        statements.join("; ")
    }
}

/// Whether somebody may mean a reading: it names something of its table, and lacks few words.
fn is_near(reading: &Reading) -> bool {
    reading.is_grounded && NEAR * reading.unused_weight() <= reading.n_used
}

/// Whether a reading over another table is about as sure as the best one.
fn is_rival(best: &Reading, other: &Reading) -> bool {
    other.is_certain()
        && other.tables.len() == best.tables.len()
        && other.tables.first() != best.tables.first()
        && best.score <= other.score + RIVAL
}

/// The names of columns that a message lists.
fn names_of_columns(table: &DataTable) -> Vec<String> {
    table.columns.iter().take(NAMED).map(|column| column.name.clone()).collect()
}

/// The class of a question that reads so: what a cell tells is a fact, all else is worked out.
pub(super) fn class_of(reading: &Reading) -> TaskClass {
    match &reading.computation {
        Computation::One(plan) if plan.measures.is_empty() && plan.order.is_none() => {
            TaskClass::Factual
        }
        _ => TaskClass::Quantitative,
    }
}

impl Reader {
    /// Reads the question.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(super) async fn of(
        ports: &Ports,
        question: &Question,
        asks: Asks,
    ) -> Result<Self, SolveError> {
        let catalog = ports.tables.catalogs.of(ports.base.as_ref()).await?;
        let readings = readings(question.query(), &catalog);
        let ahead = match asks.ahead {
            true => readings_ahead(question.query(), &catalog),
            false => Vec::new(),
        };
        let kinds = kinds_ahead(question.query(), &catalog);
        let mut reader = Self { catalog, readings, ahead, kinds, asks, found: Vec::new() };
        reader.prefer(Language::of(question.query()));
        Ok(reader)
    }

    /// The same, beside the passages that fit the question best, the best first.
    pub(super) fn beside(self, passages: &[Chunk]) -> Self {
        Self { found: passages.iter().map(|passage| passage.source).collect(), ..self }
    }

    /// Whether the base has typed tables.
    pub(super) fn has_tables(&self) -> bool {
        !self.catalog.tables.is_empty()
    }

    /// Answers where the question reads over the tables, and nobody wants another class or level: by rules, to its last word;
    /// with a model, as both say.
    ///
    /// # Errors
    /// See [`SolveError`].
    pub(super) async fn solve(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        (class, level): (Option<TaskClass>, Option<Level>),
    ) -> Result<Option<Answer>, SolveError> {
        let fits = |reading: &Reading| {
            let own = class_of(reading);
            class.is_none_or(|class| class == own) && too_high(level, own).is_none()
        };
        if self.is_for_model(ports) {
            // The class of what the model reads is known once it has read it.
            let is_open = class.is_none() && too_high(level, TaskClass::Quantitative).is_none();
            let is_fit = self.certain().map_or(is_open, fits);
            return match is_fit {
                true => self.decided(ports, run, question, false).await,
                false => Ok(None),
            };
        }
        let Some(reading) = self.certain().filter(|reading| fits(reading)) else { return Ok(None) };
        let Some(computed) = self.computed(ports, question, reading.clone()).await? else {
            return Ok(None);
        };
        if let Some(rival) = self.rival(Language::of(question.query()))
            && let Ok(Some(rival)) = self.worked_out(ports, question, rival.clone()).await?
            && rival.lead.values != computed.lead.values
        {
            return Ok(Some(undecided(run, question, &[computed, rival])));
        }
        Ok(Some(self.answer(ports, run, computed, Some(ClassifiedBy::Rules)).await?))
    }

    /// Answers a question that is classified as quantitative, where [`Reader::solve`] did not ask the model.
    ///
    /// # Errors
    /// See [`SolveError`].
    pub(super) async fn figure(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        class: Option<TaskClass>,
    ) -> Result<Option<Answer>, SolveError> {
        let is_asked = (self.is_for_model(ports) && class.is_none())
            || ports.models.of(Role::Decompose).is_none();
        if is_asked || !self.has_tables() || self.asks.ahead {
            return Ok(None);
        }
        self.decided(ports, run, question, true).await
    }

    /// Why there is no figure: the table that fits best, with the words that were not understood, and how the question reads
    /// without them. `None` where no table fits.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(super) async fn unclear(
        &self,
        ports: &Ports,
        question: &Question,
    ) -> Result<Option<Reason>, SolveError> {
        let Some(reading) = self.readings.first().filter(|reading| reading.is_grounded) else {
            return Ok(None);
        };
        let Some(table) = self.tables(reading).into_iter().next() else { return Ok(None) };
        let (readings, statements) = self.nearest(ports, question).await?;
        Ok(Some(Reason::TableUnclear {
            columns: names_of_columns(&table),
            table: table.title,
            words: reading.unused_words.clone(),
            readings,
            statements,
        }))
    }

    /// The nearest readings in words, with the `SELECT` of each.
    async fn nearest(
        &self,
        ports: &Ports,
        question: &Question,
    ) -> Result<(Vec<String>, Vec<String>), SolveError> {
        let (mut readings, mut statements) = (Vec::new(), Vec::new());
        for near in self.readings.iter().filter(|near| is_near(near)).take(NEAREST) {
            // A reading that lacks words may make a plan that does not fit the table.
            if let Ok(Some(computed)) = self.worked_out(ports, question, near.clone()).await? {
                readings.push(computed.understood.clone());
                statements.push(computed.statement());
            }
        }
        Ok((readings, statements))
    }

    /// What a person may do about a question that passages were quoted for, where its nearest reading is a figure over a table;
    /// `None` where there is a model, which would have made a plan of it.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(super) async fn advice(
        &self,
        ports: &Ports,
        question: &Question,
    ) -> Result<Option<String>, SolveError> {
        let is_figure =
            |reading: &Reading| is_near(reading) && class_of(reading) == TaskClass::Quantitative;
        let may_advise = ports.models.of(Role::Decompose).is_none()
            && !self.asks.ahead
            && self.readings.first().is_some_and(is_figure);
        if !may_advise {
            return Ok(None);
        }
        let Some(Reason::TableUnclear { table, words, readings, statements, .. }) =
            self.unclear(ports, question).await?
        else {
            return Ok(None);
        };
        let advice = Sentence::TableMayAnswer {
            table: &table,
            words: &words,
            readings: &readings,
            statements: &statements,
        };
        let has_readings = !readings.is_empty();
        Ok(has_readings.then(|| advice.in_words(Language::of(question.query()))))
    }

    /// Puts a reading over a table in the language of the question before a better one that it rivals.
    fn prefer(&mut self, language: Language) {
        let is_asked = |reading: &Reading| self.language_of(reading) == Some(language);
        let Some(best) = self.readings.first().filter(|best| !is_asked(best)) else { return };
        let is_preferred = |other: &Reading| {
            other.is_certain() && is_asked(other) && best.score <= other.score + NATIVE
        };
        if let Some(place) = self.readings.iter().position(is_preferred) {
            let preferred = self.readings.remove(place);
            self.readings.insert(0, preferred);
        }
    }

    /// A reading that rivals the best one: over a table in the language of the question, unless the best one's table is not in
    /// it either.
    fn rival(&self, language: Language) -> Option<&Reading> {
        let (best, others) = self.readings.split_first()?;
        let is_asked = |reading: &Reading| self.language_of(reading) == Some(language);
        others.iter().find(|other| is_rival(best, other) && (is_asked(other) || !is_asked(best)))
    }

    /// The language of a reading's table, by its title and its columns.
    fn language_of(&self, reading: &Reading) -> Option<Language> {
        let table = &self.catalog.tables.get(*reading.tables.first()?)?.table;
        let columns = table.columns.iter().map(|column| column.name.as_str());
        let names: Vec<&str> = columns.chain([table.title.as_str()]).collect();
        Some(Language::of(&names.join(" ")))
    }

    /// The reading that rules are sure of.
    fn certain(&self) -> Option<&Reading> {
        self.readings.first().filter(|reading| reading.is_certain())
    }

    /// Whether a model makes a plan, too: there is one, and the question asks for a figure or an amount, or names something of
    /// a table, with at least as many words that have a part in a plan as without one.
    fn is_for_model(&self, ports: &Ports) -> bool {
        let names_some = |reading: &Reading| {
            reading.is_certain()
                || (reading.is_grounded && reading.unused_weight() <= reading.n_used.max(1))
        };
        ports.models.of(Role::Decompose).is_some()
            && !self.asks.ahead
            && self.has_tables()
            && (!self.asks.may_be_in_text() || self.readings.first().is_some_and(names_some))
    }

    fn tables(&self, reading: &Reading) -> Vec<DataTable> {
        let tables = reading.tables.iter().filter_map(|at| self.catalog.tables.get(*at));
        tables.map(|view| view.table.clone()).collect()
    }

    /// Works a reading out; `None` where the tables hold no figure for it, more than one where one is asked for, or, for a
    /// question that looks ahead, no row.
    ///
    /// # Errors
    /// The base cannot be read; [`StoreError::Data`] where a plan does not fit the tables.
    async fn computed(
        &self,
        ports: &Ports,
        question: &Question,
        reading: Reading,
    ) -> Result<Option<Computed>, StoreError> {
        let language = Language::of(question.query());
        let tables = self.tables(&reading);
        let mut results = Vec::new();
        for plan in reading.computation.plans() {
            results.push(ports.base.run_plan(plan).await?);
        }
        // What the tables do not reach yet is a matter of forecasts.
        if self.asks.ahead && results.iter().all(|result| result.matched == 0) {
            return Ok(None);
        }
        let Some(lead) = lead(&reading, &tables, &results, language) else { return Ok(None) };
        let understood = understood(&reading, &tables, language);
        let text = with_plan(&lead.text, &understood, language);
        Ok(Some(Computed { reading, tables, results, lead, understood, text }))
    }

    /// The answer of a reading, with its trace. `by` names who read the question, if its class is not in the trace yet.
    async fn answer(
        &self,
        ports: &Ports,
        run: &mut Run,
        computed: Computed,
        by: Option<ClassifiedBy>,
    ) -> Result<Answer, SolveError> {
        let Computed { reading, tables, results, lead, text, .. } = computed;
        if let Some(by) = by {
            let tables = tables.iter().map(|table| table.title.clone()).collect();
            let why = Reason::TablesAnswer { tables };
            run.classified(class_of(&reading), by, vec![why.into()])?;
        }
        queried(run, &tables, &results.iter().collect::<Vec<_>>(), &reading.unused_words);
        if !reading.unused_words.is_empty() {
            run.push(Event::Noted {
                note: Note::WordsUnused { words: reading.unused_words.clone() }.into(),
            });
        }
        let worked = lead.worked(class_of(&reading));
        // The text shows how the question was understood; there is nothing to add.
        computed_answer(ports, run, (text, String::new()), lead.places(), worked).await
    }
}

/// Tells the trace which statements gave which number of rows.
fn queried(run: &mut Run, tables: &[DataTable], results: &[&PlanRows], unused: &[String]) {
    run.push(Event::Queried {
        tables: tables.iter().map(|table| table.title.clone()).collect(),
        sql: results.iter().map(|result| result.sql.clone()).collect(),
        matched: results.iter().map(|result| result.matched).sum(),
        unused: unused.to_vec(),
    });
}
