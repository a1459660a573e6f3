//! Chooses the column that `oldest`, `longest-serving` or 最早 ranks by: an age, a birthday or the time of an event.

use super::Composer;
use crate::cues::{Direction, Extreme, Ranked};
use crate::scope::ColumnPlace;

/// Words for the age of persons that rank the greatest age first.
const OLD: [&str; 5] = ["oldest", "最年长", "最老", "年龄最大", "年纪最大"];
const YOUNG: [&str; 4] = ["youngest", "最年轻", "年龄最小", "年纪最小"];
/// Chinese words for an age, which stand before an extreme.
const AGES: [&str; 2] = ["年龄", "年纪"];
/// Words for early and late, which the time of an event can answer.
const EARLY_OR_LATE: [&str; 4] = ["最早", "最晚", "最新", "newest"];
/// Words for a time of service, and for its beginning.
const TENURES: [&str; 4] = ["tenur", "工龄", "司龄", "任期"];
const HIRED: [&str; 8] = ["hire", "join", "employ", "onboard", "recruit", "入职", "录用", "到岗"];
const LEFT: [&str; 6] = ["left", "leav", "resign", "exit", "离职", "辞职"];

impl Composer<'_> {
    /// The column of an age or a time that an extreme ranks by, and the direction of the ranking.
    pub(super) fn by_time(&mut self, extreme: &Extreme) -> Option<(ColumnPlace, Direction)> {
        let words = self.cues.text_of(extreme.span.clone()).to_lowercase();
        if extreme.ranked == Ranked::Tenure {
            return self.by_tenure();
        }
        // 年龄 is a word of its own, and may name a column.
        let longer = self.cues.text_of(extreme.span.start.saturating_sub(2)..extreme.span.end);
        let words =
            if AGES.iter().any(|age| longer.starts_with(age)) { longer.to_owned() } else { words };
        let is_old = OLD.contains(&words.as_str());
        if is_old || YOUNG.contains(&words.as_str()) {
            return self.by_age(is_old);
        }
        if !EARLY_OR_LATE.contains(&words.as_str()) {
            return None;
        }
        let (span, place) = self.only_event()?;
        self.claim_event(&span, place);
        Some((place, extreme.direction))
    }

    fn by_age(&self, is_old: bool) -> Option<(ColumnPlace, Direction)> {
        let of = |words: &[&str], is_kind: &dyn Fn(ColumnPlace) -> bool| {
            let places = self.scope.columns().map(|(place, ..)| place);
            let mut found =
                places.filter(|it| it.table == 0 && is_kind(*it) && self.has_word_of(*it, words));
            found.next().filter(|_| found.next().is_none())
        };
        let ends = match is_old {
            true => [Direction::Greatest, Direction::Least],
            false => [Direction::Least, Direction::Greatest],
        };
        let [of_age, of_birth] = ends;
        let age = of(&["age", "年龄", "岁数"], &|place| self.scope.is_measure(place));
        let birth =
            || of(&["birth", "born", "dob", "出生"], &|place| self.scope.kind(place).is_time());
        age.map(|place| (place, of_age)).or_else(|| birth().map(|place| (place, of_birth)))
    }

    /// Ranks by the longest time of service. The question may or may not include people who left.
    fn by_tenure(&mut self) -> Option<(ColumnPlace, Direction)> {
        let places: Vec<ColumnPlace> =
            self.scope.columns().map(|(place, ..)| place).filter(|it| it.table == 0).collect();
        let found = |words: &[&str], fits: &dyn Fn(ColumnPlace) -> bool| {
            places.iter().copied().find(|place| self.has_word_of(*place, words) && fits(*place))
        };
        let tenure = found(&TENURES, &|place| self.scope.is_measure(place));
        let hired = found(&HIRED, &|place| self.scope.kind(place).is_time());
        let has_left = found(&LEFT, &|_| true).is_some();
        self.n_unplaced += usize::from(has_left);
        tenure
            .map(|place| (place, Direction::Greatest))
            .or_else(|| hired.map(|place| (place, Direction::Least)))
    }

    /// The only measure, for an extreme that names no dimension: `highest`, but not `oldest`.
    pub(super) fn only_measure_of(&self, extreme: &Extreme) -> Option<ColumnPlace> {
        let says_what = match extreme.ranked {
            Ranked::Dimension(dimension) => dimension != "cost",
            Ranked::Tenure => true,
            _ => false,
        };
        self.scope.only_measure().filter(|_| !says_what)
    }
}
