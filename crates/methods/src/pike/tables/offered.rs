//! Says what the tables offer for a question before it is answered: their names and columns, and whether rules are sure how it reads.

use pikerag_knowledge::data::DataTable;
use pikerag_knowledge::{Question, TaskClass};
use pikerag_prompt::one_line;

use super::{Reader, class_of, names_of_columns};

/// Tables that a plan is made from.
const SHOWN: usize = 20;

impl Reader {
    /// Whether rules account for every word of the question, as a question for a figure or for a forecast.
    pub(in crate::pike) fn is_settled(&self, question: &Question) -> bool {
        match self.asks.ahead {
            true => self.foreseeing(question).is_some(),
            false => self.certain().is_some(),
        }
    }

    /// The class of the question as rules read it over the tables; `None` where they are not sure.
    pub(in crate::pike) fn class(&self) -> Option<TaskClass> {
        self.certain().map(class_of)
    }

    /// The tables in words for a model, one a line: title, number of rows, columns.
    pub(in crate::pike) fn in_words(&self) -> String {
        let line = |table: &DataTable| {
            let columns: Vec<String> =
                names_of_columns(table).iter().map(|name| one_line(name)).collect();
            format!(
                "Table: {} ({} rows): {}",
                one_line(&table.title),
                table.rows,
                columns.join(", ")
            )
        };
        let tables = self.catalog.tables.iter().take(SHOWN).map(|view| line(&view.table));
        tables.collect::<Vec<_>>().join("\n")
    }
}
