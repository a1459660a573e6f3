//! Decides between the readings of rules and of a model for a question over tables. Where both give the same
//! values, that is the answer. Where they differ, the model chooses between the worded readings, in both
//! orders; a model that contradicts itself is ignored.

use pikerag_knowledge::data::{DataValue, NumberRange, TableFilter, TablePlan, TableTest};
use pikerag_knowledge::{
    Answer, ClassifiedBy, Event, Note, Question, Reason, Role, Schema, TaskClass,
};
use pikerag_narrate::Language;
use pikerag_prompt::{
    Prompt, Reply, Unreadable, at_most, object, one_line, quiet_headings, shape, text,
};
use pikerag_tables::Computation;
use serde_json::json;

use super::asked::Asked;
use super::{Computed, Reader, class_of};
use crate::pike::refusal;
use crate::ports::{Ports, SolveError};
use crate::run::Run;

const PROMPT: Prompt =
    Prompt::new(Role::Decompose, include_str!("../../prompts/choose_reading.md"), 300)
        .with_earlier(
            "methods/choose_reading",
            &[include_str!("../../prompts/earlier/choose_reading.1.md")],
        );

/// Factors between a number of a question and that of a plan: percent, thousands, 万, millions, 亿, billions.
const SCALES: [f64; 7] = [1.0, 1e-2, 1e3, 1e4, 1e6, 1e8, 1e9];

/// The model's choice between one or two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    First,
    Second,
    Neither,
}

impl Reader {
    /// Answers by the readings of rules and of the model of the role `decompose`. It refuses where readings
    /// stay undecided, and where the question asks for a figure and a table fits, but the model makes no
    /// working plan. `None` where no table can answer the question, and where the model rejects its own
    /// reading of a question that texts may answer.
    ///
    /// # Errors
    /// See [`SolveError`].
    pub(super) async fn decided(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        is_classed: bool,
    ) -> Result<Option<Answer>, SolveError> {
        let by_rules = match self.certain() {
            Some(reading) => self.computed(ports, question, reading.clone()).await?,
            None => None,
        };
        let by_model = self.asked(ports, run, question).await?;
        let taken = match (by_rules, by_model) {
            (Some(rules), Asked::Plan(model)) if have_one_result(&rules, &model) => rules,
            (Some(rules), Asked::Plan(model)) => {
                run.push(Event::Noted {
                    note: Note::ReadingsDiffer {
                        rules: rules.understood.clone(),
                        model: model.understood.clone(),
                    }
                    .into(),
                });
                match self.chosen(ports, run, question, &rules, &model).await? {
                    Some(Choice::First) | None => rules,
                    Some(Choice::Second) if has_numbers(question.query(), &model) => *model,
                    Some(Choice::Second | Choice::Neither) => {
                        return Ok(Some(undecided(run, question, &[rules, *model])));
                    }
                }
            }
            (Some(rules), Asked::NoTable | Asked::NoPlan) => rules,
            (None, Asked::Plan(model)) => {
                let is_right = has_numbers(question.query(), &model)
                    && self.choice(ports, run, question, &[&model]).await? == Some(Choice::First);
                if !is_right && !is_classed && self.asks.may_be_in_text() {
                    run.push(Event::Noted {
                        note: Note::ReadingRejected { model: model.understood.clone() }.into(),
                    });
                    return Ok(None);
                }
                if !is_right {
                    return Ok(Some(undecided(run, question, &[*model])));
                }
                *model
            }
            (None, Asked::NoPlan) if self.asks.figure => {
                let language = Language::of(question.query());
                let why = self.unclear(ports, question).await?;
                return Ok(
                    why.map(|why| refusal(run, TaskClass::Quantitative, Some(why), language))
                );
            }
            (None, Asked::NoTable | Asked::NoPlan) => return Ok(None),
        };
        let by = if self.is_by_rules(&taken) { ClassifiedBy::Rules } else { ClassifiedBy::Model };
        Ok(Some(self.answer(ports, run, taken, (!is_classed).then_some(by)).await?))
    }

    fn is_by_rules(&self, taken: &Computed) -> bool {
        let plans = taken.reading.computation.plans();
        self.certain().is_some_and(|certain| certain.computation.plans() == plans)
    }

    /// Which of two readings is meant; `None` where the model's choice depends on their order, or its reply
    /// cannot be read.
    async fn chosen(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        first: &Computed,
        second: &Computed,
    ) -> Result<Option<Choice>, SolveError> {
        let one = self.choice(ports, run, question, &[first, second]).await?;
        let other = self.choice(ports, run, question, &[second, first]).await?;
        let turned = other.map(|choice| match choice {
            Choice::First => Choice::Second,
            Choice::Second => Choice::First,
            Choice::Neither => Choice::Neither,
        });
        Ok(one.filter(|one| Some(*one) == turned))
    }

    async fn choice(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        readings: &[&Computed],
    ) -> Result<Option<Choice>, SolveError> {
        let lettered = ["A", "B"].iter().zip(readings);
        let lines: Vec<String> = lettered
            .map(|(letter, reading)| {
                let files = files(reading).join(", ");
                format!(
                    "{letter}: {}\nFrom: {files}\nIts result: {}",
                    reading.understood, reading.lead.text
                )
            })
            .collect();
        let (shown, asked) =
            (quiet_headings(&lines.join("\n\n")), quiet_headings(question.query()));
        let several = if readings.len() == 1 { "" } else { "yes" };
        let inputs =
            [("readings", shown.as_str()), ("question", asked.as_str()), ("several", several)];
        let reply = run.ask::<ChoiceReply>(ports, &PROMPT, &inputs).await?;
        Ok(reply.and_then(|ChoiceReply(choice)| match (choice, readings.len()) {
            (Choice::Second, 1) => None,
            (choice, _) => Some(choice),
        }))
    }
}

/// Whether two readings give the same values. A difference is the same in both directions.
fn have_one_result(one: &Computed, other: &Computed) -> bool {
    let is_difference =
        |it: &Computed| matches!(it.reading.computation, Computation::Difference(..));
    let sizes = |it: &Computed| -> Vec<String> {
        it.lead.values.iter().map(|value| value.trim_start_matches(['-', '−']).to_owned()).collect()
    };
    one.lead.values == other.lead.values
        || (is_difference(one) && is_difference(other) && sizes(one) == sizes(other))
}

/// The names of the first files of a reading's tables, each on one line. A title may leave out what the rows are about.
fn files(reading: &Computed) -> Vec<String> {
    const FILES: usize = 3;
    let parts = reading.tables.iter().flat_map(|table| table.parts.iter().take(FILES));
    let name = |uri: &str| one_line(uri.rsplit('/').next().unwrap_or(uri));
    parts.map(|part| name(&part.uri)).collect()
}

/// A refusal of a figure that shows how the question may be meant.
pub(super) fn undecided(run: &mut Run, question: &Question, readings: &[Computed]) -> Answer {
    let why = Reason::TableUndecided {
        readings: readings.iter().map(|reading| reading.understood.clone()).collect(),
        statements: readings.iter().map(Computed::statement).collect(),
    };
    let class = readings.first().map_or(TaskClass::Quantitative, |first| class_of(&first.reading));
    refusal(run, class, Some(why), Language::of(question.query()))
}

/// Whether the plans of a reading hold each number of the question, perhaps in thousands or millions: without
/// one of its conditions it is another question.
fn has_numbers(question: &str, computed: &Computed) -> bool {
    let values: Vec<String> =
        computed.reading.computation.plans().into_iter().flat_map(values_of).collect();
    let is_in_plan = |number: &String| {
        let scaled: Vec<f64> = match number.parse::<f64>() {
            Ok(value) => SCALES.iter().map(|scale| value * scale).collect(),
            Err(_) => Vec::new(),
        };
        let is_near = |value: f64| scaled.iter().any(|it| (value - it).abs() <= 1e-9 * it.abs());
        values
            .iter()
            .any(|value| value.contains(number.as_str()) || value.parse().is_ok_and(is_near))
    };
    numbers(question).iter().all(is_in_plan)
}

/// The separate numbers of a text, without marks between digits.
fn numbers(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ',' | '_');
    let words = text.split(|c: char| !is_part(c));
    let bare = words.map(|word| word.trim_matches(['.', ',']).replace([',', '_'], ""));
    let leading = |word: String| -> String {
        word.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect()
    };
    let numbers: Vec<String> = bare.map(leading).collect();
    // The parts of a date.
    let parts = numbers.iter().flat_map(|number| match number.matches('.').count() {
        0 | 1 => vec![number.as_str()],
        _ => number.split('.').collect(),
    });
    parts.filter(|number| !number.is_empty()).map(str::to_owned).collect()
}

/// The values that a plan compares with, the number of rows that it takes, and the names of its columns.
fn values_of(plan: &TablePlan) -> Vec<String> {
    let mut values: Vec<String> = plan.limit.iter().map(usize::to_string).collect();
    for filter in &plan.filters {
        add_values(filter, &mut values);
    }
    for filter in &plan.having {
        add_ends(&filter.range, &mut values);
    }
    let measures = plan.measures.iter().chain(plan.having.iter().map(|filter| &filter.measure));
    for filter in measures.flat_map(|measure| &measure.only) {
        add_values(filter, &mut values);
    }
    let columns = plan.columns().map(|column| column.column.clone());
    values.extend(columns);
    values
}

fn add_ends(range: &NumberRange, values: &mut Vec<String>) {
    values.extend([range.from, range.to].into_iter().flatten().map(|end| end.to_string()));
}

fn add_values(filter: &TableFilter, values: &mut Vec<String>) {
    let mut add = |value: &DataValue| values.push(value.to_string());
    match &filter.test {
        TableTest::Is(all) | TableTest::IsNot(all) => all.iter().for_each(&mut add),
        TableTest::Between { from, to, .. } => from.iter().chain(to).for_each(&mut add),
        TableTest::Contains(text) | TableTest::Within(text) => {
            add(&DataValue::Text(text.clone()));
        }
        TableTest::InMonths(months) => {
            for month in months {
                add(&DataValue::Integer((*month).into()));
            }
        }
        TableTest::Combined { range, .. } => add_ends(range, values),
        TableTest::AnyOf(filters) | TableTest::Among { filters, .. } => {
            for filter in filters {
                add_values(filter, values);
            }
        }
        TableTest::MoreThan(_)
        | TableTest::BesideMean { .. }
        | TableTest::IsEmpty
        | TableTest::IsFilled => {}
    }
}

/// The choice of a reply.
struct ChoiceReply(Choice);

impl Reply for ChoiceReply {
    fn schema() -> Option<Schema> {
        let choice = json!({"type": "string", "enum": ["A", "B", "none"]});
        Some(shape("reading", json!({"thinking": at_most(400), "choice": choice})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let reply = object(reply, &["choice"])?;
        match text(&reply, "choice")?.trim().trim_matches(['"', '.']).to_lowercase().as_str() {
            "a" => Ok(Self(Choice::First)),
            "b" => Ok(Self(Choice::Second)),
            "none" | "neither" => Ok(Self(Choice::Neither)),
            _ => Err(Unreadable::key("choice", "A, B or none")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn reads_separate_numbers_of_a_question() {
        for (text, expected) in [
            ("How many of 1,200.5 in Q3 2020, HY-65?", "1200.5 2020 65"),
            ("2025年超过1.5万元的有几笔？top 3.", "2025 1.5 3"),
            ("the 2010s and 3rd of 31.12.2025", "2010 3 31 12 2025"),
            ("no number", ""),
        ] {
            assert_eq!(numbers(text).join(" "), expected);
        }
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { any_reply: ChoiceReply }
