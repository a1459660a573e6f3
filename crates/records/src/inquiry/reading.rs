//! Reads the cues of a question as a query over the records of one schema: measure, groups, conditions, and
//! unexplained words.

use std::collections::BTreeSet;

use pikerag_knowledge::Value;
use pikerag_knowledge::records::{Field, FieldType, Quantity};
use pikerag_knowledge::tables::{By, Condition, Group, Measure, Order, RecordQuery, Test};
use pikerag_language::lexicon::concepts;
use pikerag_language::periods::Stretch;
use pikerag_language::units;

use super::cues::{Cues, GroupCue, Wish};
use super::{Form, Inquiry, Source, fields};

/// One question compared with the records of one schema.
pub(super) struct Reading<'a> {
    cues: &'a Cues,
    source: &'a Source<'a>,
    words: Vec<fields::Word>,
    explained: BTreeSet<String>,
    query: RecordQuery,
    fit: usize,
}

impl<'a> Reading<'a> {
    pub(super) fn new(cues: &'a Cues, source: &'a Source<'a>) -> Self {
        let words = fields::words_of(&cues.rest);
        Self {
            cues,
            source,
            words,
            explained: BTreeSet::new(),
            query: RecordQuery::default(),
            fit: 0,
        }
    }

    pub(super) fn read(mut self) -> Option<Inquiry> {
        let cues = self.cues;
        if cues.is_beyond {
            return None;
        }
        let things = fields::names_of_things(self.source.schema);
        let asked = concepts(&cues.rest);
        self.fit = asked.intersection(&things).count() * 2
            + asked.intersection(self.source.titles).count();
        let form = match (&cues.ahead, &cues.wish) {
            (Some(_), _) => self.look_ahead()?,
            (None, Some(wish)) => self.figures(wish)?,
            (None, None) => return None,
        };
        self.query.conditions.extend(fields::truths(self.source.schema, &mut self.words));
        let values = fields::conditions(self.source.schema, self.source.frame, &mut self.words);
        self.fit += 2 * values.len();
        self.query.conditions.extend(values);
        self.bounds();
        if self.fit == 0 {
            return None;
        }
        let mut known = self.explained;
        known.extend(things);
        known.extend(self.source.titles.iter().cloned());
        for field in &self.source.schema.fields {
            known.extend(
                std::iter::once(&field.name).chain(&field.columns).flat_map(|name| concepts(name)),
            );
        }
        let unexplained = fields::unexplained(&known, &self.words);
        Some(Inquiry { schema: 0, query: self.query, form, unexplained, fit: self.fit })
    }

    /// Reads a measure, its groups and its period of time.
    fn figures(&mut self, wish: &Wish) -> Option<Form> {
        self.groups(None);
        let form = match wish {
            Wish::List(thing) => {
                // `Which drugs …?` lists only the things of the records.
                let named = concepts(thing);
                let things = fields::names_of_things(self.source.schema);
                if named.is_disjoint(&things) && named.is_disjoint(self.source.titles) {
                    return None;
                }
                // A list has no groups.
                self.query.group.clear();
                Form::List
            }
            wish => {
                self.query.measure = self.measure(wish)?;
                Form::Figures
            }
        };
        self.rank(wish);
        self.stretch(form != Form::List)?;
        let is_unbound = form == Form::List && self.query.conditions.is_empty();
        (!is_unbound || matches!(wish, Wish::List(_))).then_some(form)
    }

    fn measure(&mut self, wish: &Wish) -> Option<Measure> {
        let schema = self.source.schema;
        let is_number = |kind| kind == FieldType::Number;
        let number = |reading: &mut Self| {
            let named = fields::named(schema, &reading.cues.rest, is_number);
            let only = || {
                let mut numbers = schema.fields.iter().filter(|field| is_number(field.kind));
                numbers.next().filter(|_| numbers.next().is_none())
            };
            let field = named.or_else(only)?;
            reading.explain(&field.name.clone());
            Some(field.name.clone())
        };
        match wish {
            Wish::Count(thing) if thing.trim().is_empty() => {
                // `Which crane cost the most?`, 总费用是多少？
                let is_sum = self.cues.is_total || self.cues.rank.is_some();
                let amount =
                    is_sum.then(|| fields::named(schema, &self.cues.rest, is_number)).flatten();
                Some(amount.map_or(Measure::Count, |field| Measure::Sum(field.name.clone())))
            }
            Wish::Count(thing) => self.counted(thing),
            Wish::Sum => Some(number(self).map_or(Measure::Count, Measure::Sum)),
            Wish::Mean => number(self).map(Measure::Mean),
            Wish::Greatest => number(self).map(Measure::Greatest),
            Wish::Least => number(self).map(Measure::Least),
            Wish::List(_) => None,
        }
    }

    /// Reads a count as a count of things, as a count of a field's values, or as the sum of a number.
    fn counted(&mut self, thing: &str) -> Option<Measure> {
        let schema = self.source.schema;
        let is_different =
            ["different", "distinct", "various", "不同"].iter().any(|word| thing.contains(word));
        let first: String = thing
            .split_whitespace()
            .filter(|word| !["different", "distinct", "various", "separate"].contains(word))
            .take(2)
            .collect::<Vec<_>>()
            .join(" ");
        if let Some(field) = self.amount(&first) {
            self.fit += 2;
            self.explain(&field);
            return Some(Measure::Sum(field));
        }
        let named = concepts(&first);
        let things = fields::names_of_things(schema);
        let shared = named.intersection(&things).count();
        let field = fields::named(schema, &first, |kind| kind != FieldType::Date);
        let own = field.map_or(0, |field| concepts(&field.name).intersection(&named).count());
        match field {
            Some(field) if field.kind == FieldType::Number && shared < own => {
                self.fit += 2;
                Some(Measure::Sum(field.name.clone()))
            }
            Some(field)
                if field.kind == FieldType::Text
                    && !schema.key.contains(&field.name)
                    && (shared < own || is_different) =>
            {
                self.fit += 2;
                Some(Measure::Different(field.name.clone()))
            }
            // The words name nothing in these records, so the records do not count it.
            _ if shared == 0 && named.is_disjoint(self.source.titles) && self.fit == 0 => None,
            _ => Some(Measure::Count),
        }
    }

    /// The number field with this unit: `how many hours of downtime`.
    fn amount(&self, thing: &str) -> Option<String> {
        let unit = units::known(thing.split_whitespace().next()?)?;
        let is_number = |kind| kind == FieldType::Number;
        let measured = |name: &str| {
            let own = self.unit_of(name).and_then(|own| units::known(&own));
            own.is_some_and(|own| own.amount_in(unit, 1.0).is_some())
        };
        let named = fields::named(self.source.schema, &self.cues.rest, is_number);
        let numbers = self.source.schema.fields.iter().filter(|field| is_number(field.kind));
        let field = named.into_iter().chain(numbers).find(|field| measured(&field.name))?;
        Some(field.name.clone())
    }

    /// Reads the groups. With `time`, the caller sets the length of the periods and time cues are skipped.
    fn groups(&mut self, time: Option<By>) {
        for cue in &self.cues.groups {
            let group = match cue {
                GroupCue::Time(by) if time.is_none() => {
                    self.date().map(|date| Group { field: date, by: *by })
                }
                GroupCue::Time(_) => None,
                GroupCue::Named(words) => self.group_named(words),
            };
            let is_new =
                |group: &Group| !self.query.group.iter().any(|held| held.field == group.field);
            if let Some(group) = group.filter(is_new)
                && self.query.group.len() < RecordQuery::MOST_GROUPS
            {
                self.explain(&group.field.clone());
                self.fit += 1;
                self.query.group.push(group);
            }
        }
    }

    fn group_named(&self, words: &str) -> Option<Group> {
        // The words after `per` begin with the field's name. Chinese text may continue without a space.
        let words: Vec<&str> = words.split_whitespace().take(2).collect();
        let words = words.join(" ");
        let field = fields::named(self.source.schema, &words, |kind| {
            matches!(kind, FieldType::Text | FieldType::Bool)
        })?;
        Some(Group { field: field.name.clone(), by: By::Value })
    }

    fn rank(&mut self, wish: &Wish) {
        let order = |greatest: bool| if greatest { Order::Greatest } else { Order::Least };
        if self.query.group.is_empty() {
            // `Which crane had the longest standstill?` ranks cranes only if `crane` is a field.
            return;
        }
        if let Some(rank) = self.cues.rank {
            self.query.order = order(rank.greatest_first);
            self.query.limit = rank.limit;
        } else if matches!(wish, Wish::Greatest | Wish::Least) {
            self.query.order = order(*wish == Wish::Greatest);
            self.query.limit = Some(1);
        }
    }

    /// The date field that the question names; else the first one.
    fn date(&self) -> Option<String> {
        let is_date = |kind| kind == FieldType::Date;
        let named = fields::named(self.source.schema, &self.cues.rest, is_date);
        let first = || self.source.schema.fields.iter().find(|field| is_date(field.kind));
        Some(named.or_else(first)?.name.clone())
    }

    /// Reads the period of time as a condition, and, if `splits`, groups by several periods. `None` if
    /// there is a period but no date field.
    fn stretch(&mut self, splits: bool) -> Option<()> {
        let stretches = &self.cues.stretches;
        let (Some(first), Some(last)) = (stretches.first(), stretches.last()) else {
            return Some(());
        };
        let date = self.date()?;
        self.fit += 1;
        self.explain(&date);
        let from = stretches.iter().all(|stretch| stretch.from.is_some());
        let from = from
            .then(|| stretches.iter().filter_map(|stretch| stretch.from.clone()).min())
            .flatten();
        let to = stretches.iter().all(|stretch| stretch.to.is_some());
        let to =
            to.then(|| stretches.iter().filter_map(|stretch| stretch.to.clone()).max()).flatten();
        if first != last && splits && !self.query.group.iter().any(|group| group.field == date) {
            // `2016 and 2017` asks for a figure of each.
            let whole_years = stretches.iter().all(|stretch| {
                let ends = |day: &Option<String>, end: &str| {
                    day.as_ref().is_some_and(|day| day.ends_with(end))
                };
                ends(&stretch.from, "-01-01") && ends(&stretch.to, "-12-31")
            });
            let by = if whole_years { By::Year } else { By::Month };
            self.query.group.push(Group { field: date.clone(), by });
        }
        self.query.conditions.push(Condition { field: date, test: Test::Between { from, to } });
        Some(())
    }

    /// Reads the numbers that a field is compared with.
    fn bounds(&mut self) {
        for bound in &self.cues.bounds {
            let is_number = |kind| kind == FieldType::Number;
            let named = fields::named(self.source.schema, &bound.about, is_number);
            let by_unit = || {
                let unit = units::known(bound.than.unit.as_deref()?)?;
                let measured = |field: &&Field| {
                    is_number(field.kind)
                        && self
                            .unit_of(&field.name)
                            .and_then(|own| units::known(&own))
                            .is_some_and(|own| own.amount_in(unit, 1.0).is_some())
                };
                self.source.schema.fields.iter().find(measured)
            };
            let Some(field) = named.or_else(by_unit) else { continue };
            let name = field.name.clone();
            let than = self.in_unit_of(&name, &bound.than);
            let test = match (bound.is_least, bound.included) {
                (true, true) => Test::AtLeast(than),
                (true, false) => Test::Above(than),
                (false, true) => Test::AtMost(than),
                (false, false) => Test::Below(than),
            };
            self.explain(&name);
            self.fit += 1;
            self.query.conditions.push(Condition { field: name, test });
        }
    }

    /// The unit of a field's first number that has one.
    fn unit_of(&self, field: &str) -> Option<String> {
        let frame = self.source.frame;
        (0..frame.things.len()).find_map(|thing| match &frame.cell(thing, field)?.value {
            Value::Number(number) => number.unit.clone(),
            _ => None,
        })
    }

    /// A number converted to the unit of the field; the amount stays if either unit is unknown.
    fn in_unit_of(&self, field: &str, than: &Quantity) -> Quantity {
        let own = self.unit_of(field);
        let units =
            than.unit.as_deref().and_then(units::known).zip(own.as_deref().and_then(units::known));
        let amount = units.and_then(|(given, own)| given.amount_in(own, than.amount));
        Quantity { amount: amount.unwrap_or(than.amount), unit: own }
    }

    /// Reads a series to forecast, or kinds that may come next.
    fn look_ahead(&mut self) -> Option<Form> {
        let ahead = self.cues.ahead.clone().unwrap_or_default();
        let kinds = self.cues.groups.iter().find_map(|cue| match cue {
            GroupCue::Named(words) if self.cues.wish.is_none() => self.group_named(words),
            _ => None,
        });
        if let Some(group) = kinds {
            self.fit += 1;
            self.explain(&group.field.clone());
            return Some(Form::Kinds { date: self.date(), field: group.field });
        }
        let date = self.date()?;
        self.groups(Some(By::Year));
        self.query.group.clear();
        self.query.measure = match &self.cues.wish {
            Some(wish @ (Wish::Count(_) | Wish::Sum | Wish::Mean)) => self.measure(wish)?,
            Some(_) => return None,
            None => Measure::Count,
        };
        let stretch = self.cues.stretches.last();
        let until = stretch.and_then(|stretch| stretch.to.clone().or_else(|| stretch.from.clone()));
        let by = ahead.by.or_else(|| stretch.map(length)).unwrap_or(By::Year);
        // `How many per quarter in 2020?`
        let finer = self.cues.groups.iter().find_map(|cue| match cue {
            GroupCue::Time(by) => Some(*by),
            GroupCue::Named(_) => None,
        });
        self.explain(&date);
        Some(Form::Series {
            date,
            by: finer.unwrap_or(by),
            until,
            periods: ahead.periods.unwrap_or(1),
        })
    }

    fn explain(&mut self, field: &str) {
        self.explained.extend(concepts(field));
    }
}

/// The length of a period of time, as a grouping.
fn length(stretch: &Stretch) -> By {
    let month =
        |day: &Option<String>| day.as_ref().and_then(|day| day.get(5..7)?.parse::<u32>().ok());
    let same_year = stretch.from.as_ref().map(|day| day.get(..4))
        == stretch.to.as_ref().map(|day| day.get(..4));
    match (month(&stretch.from), month(&stretch.to)) {
        (Some(first), Some(last)) if same_year && first == last => By::Month,
        (Some(first), Some(last)) if same_year && last == first + 2 => By::Quarter,
        _ => By::Year,
    }
}
