//! Reads the words of a question about the future: `next three months`, `明年`, `forecast`.

use pikerag_knowledge::tables::By;
use pikerag_language::{month_named, pattern};

use super::numbers::small_number;
use super::{Cues, Goal};

/// A question's words about the future, without the periods that it names by their years.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ahead {
    /// The length of the future periods, if the question gives it.
    pub(crate) by: Option<By>,
    /// The number of these periods.
    pub(crate) count: Option<usize>,
    /// A month of next year, from 1.
    pub(crate) month: Option<u32>,
    /// The length of the periods that need a figure each: `monthly`.
    pub(crate) each: Option<By>,
    /// Whether a word alone means the future: `will`, but not `expected`.
    pub(crate) is_stated: bool,
    /// Whether the question asks for days or weeks, which are shorter than any period.
    pub(crate) is_too_fine: bool,
}

/// The number of years that `several` means.
const SEVERAL: usize = 3;

pattern!(
    MONTH_OF_NEXT_YEAR,
    r"(?:明年|来年)的?\s*(\d{1,2}|[一二三四五六七八九十]{1,2})月(?:份)?|\bin\s+([a-z]{3,9})\s+(?:of\s+)?next year\b|\bnext\s+(january|february|march|april|may|june|july|august|september|october|november|december)\b"
);
pattern!(
    NEXT,
    r"\b(?:(?:over|in|for|during|within)\s+)?(?:the\s+)?(?:next|coming|following|upcoming)\s+(?:(\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|few|couple of)\s+)?(?:calendar\s+)?(year|quarter|month)s?\b|\b(?:in\s+)?(\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+(year|quarter|month)s'?\s+(?:ahead|from now|time)\b|(?:未来|今后|往后|接下来)的?\s*(\d{1,2}|[一二两三四五六七八九十]{1,2}|几)?\s*个?(年|季度?|月)(?:里|内)?|(明年|来年|下一?年度?|后年|下一?个?季度?|下一?个?月)"
);
pattern!(
    FUTURE,
    r"\b(?:will|shall|going to|forecasts?|forecasted|predict(?:ed|ions?)?|projections?|future|outlook|extrapolat\w+)\b|将会?(?:发生)?|预测|展望|推算|今后|未来|会(?:是|有|达到?|发生|出现)"
);
// They mean the future next to a future year, and may belong to a column's name.
pattern!(
    EXPECTED,
    r"\b(?:projected|expect(?:ed)?|estimated?|likely|probably)\b|预计|预期|预估|估计|可能"
);
// The question asks which value comes next, not how many.
pattern!(
    LIKELY_KIND,
    r"\b(?:is |are |will )?(?:the )?(?:most )?likel(?:y|iest)(?: to)?(?: (?:be|have|occur|happen|fail|break down|come|appear|arise))?(?: next)?(?: time)?\b|\bwill (?:probably )?(?:be|occur|happen|fail|break down|come|appear|arise) next\b|(?:接下来|下一?次|今后|以后)?(?:将)?最(?:有)?可能(?:会)?(?:再次?)?(?:是|出现|发生|出)?(?:的)?|下一?次(?:会|将)(?:是|出现|发生)"
);
pattern!(YEAR, r"\b(?:19|20|21)\d\d\b|\d{4}年");
pattern!(
    TOO_FINE,
    r"\b(?:tomorrow|daily|weekly|next week|next day|each day|per day|each week|per week|tonight)\b|明天|后天|每天|每日|逐日|下周|每周"
);
// `Rain will fall` is no decrease.
pattern!(FALLS, r"\b(?:rain|snow|precipitation)\w*\s+(?:will\s+)?fall\b");
pattern!(UNTIL, r"\b(?:until|till|up to|through|by(?: the end of)?)\s+(?:\w+\s+)?\d{4}\b");
pattern!(
    EACH_PERIOD,
    r"\b(?:per|each|every|by|for each)\s+(?:calendar\s+)?(year|quarter|month)\b|\b(yearly|annually|quarterly|monthly)\b|(?:每一?个?|各个?|逐|按)(年|季度?|月)份?"
);

// `monthly` is left out: it is part of many names, such as `monthly fee`.
pattern!(
    PER_PERIOD,
    r"\b(?:per|each|every|by|for each)\s+(?:calendar\s+)?(year|quarter|month)\b|(?:每一?个?|各个?|逐|按)(年|季度?|月)份?"
);

impl Cues {
    /// Reads `per month`, 每年: figures for each period. The words stay unmarked, because they may name a column.
    pub(super) fn read_per_period(&mut self) {
        let Some(found) = PER_PERIOD.captures_iter(&self.text).next() else { return };
        let Some(unit) = found.get(1).or_else(|| found.get(2)) else { return };
        let Some(whole) = found.get(0) else { return };
        let span = self.span(whole.range());
        if span.clone().all(|at| !self.is_used(at)) {
            self.per_period = Some((period_of(unit.as_str()), span));
        }
    }

    /// Reads a question about the future, and leaves out the words about the future. Without such words, its periods
    /// may be in the future.
    pub(crate) fn looking_ahead(question: &str) -> (Self, Ahead) {
        let mut cues = Self::written(question);
        let ahead = cues.read_ahead();
        cues.read_rest();
        if ahead.each.is_some() {
            (cues.each, cues.per_period) = (None, None);
        }
        if cues.goal == Goal::Difference && cues.take(&FALLS).is_some() {
            cues.goal = Goal::Value;
        }
        (cues, ahead)
    }

    /// Reads a question about the next value; `None` if it asks for none.
    pub(crate) fn asking_for_a_kind(question: &str) -> Option<Self> {
        let mut cues = Self::written(question);
        cues.take(&LIKELY_KIND)?;
        cues.read_rest();
        (cues.goal == Goal::Value && cues.extremes.is_empty()).then_some(cues)
    }

    /// Whether a word means the future.
    pub(crate) fn has_words_ahead(question: &str) -> bool {
        [&*MONTH_OF_NEXT_YEAR, &*NEXT, &*FUTURE].into_iter().any(|words| words.is_match(question))
            || (EXPECTED.is_match(question) && YEAR.is_match(question))
    }

    fn read_ahead(&mut self) -> Ahead {
        let mut ahead = Ahead::default();
        if let Some(found) = self.take_groups(&MONTH_OF_NEXT_YEAR, |groups| {
            let month = groups.iter().flatten().next()?;
            let digits = small_number(month).and_then(|number| u32::try_from(number).ok());
            digits.or_else(|| month_named(&month.to_lowercase()))
        }) {
            ahead.month = Some(found).filter(|month| (1..=12).contains(month));
        } else if let Some((by, count)) = self.take_groups(&NEXT, next) {
            (ahead.by, ahead.count) = (Some(by), Some(count));
        }
        ahead.each = self.take_groups(&EACH_PERIOD, |groups| {
            groups.iter().flatten().next().map(|unit| period_of(unit))
        });
        ahead.is_stated = FUTURE.is_match(&self.text) || ahead != Ahead::default();
        ahead.is_too_fine = TOO_FINE.is_match(&self.text);
        let marked: Vec<_> = [&*FUTURE, &*EXPECTED, &*UNTIL]
            .into_iter()
            .flat_map(|words| words.find_iter(&self.text).map(|found| self.span(found.range())))
            .collect();
        for span in marked {
            self.mark(span);
        }
        ahead
    }

    /// Takes the first match of a pattern whose groups have a meaning.
    fn take_groups<T>(
        &mut self,
        pattern: &pikerag_language::Regex,
        read: impl Fn(&[Option<&str>]) -> Option<T>,
    ) -> Option<T> {
        let found = pattern.captures(&self.text)?;
        let groups: Vec<Option<&str>> =
            found.iter().skip(1).map(|group| group.map(|held| held.as_str())).collect();
        let stated = read(&groups)?;
        let span = self.span(found.get(0)?.range());
        self.mark(span);
        Some(stated)
    }
}

/// The length and the number of periods of a match of [`NEXT`].
fn next(groups: &[Option<&str>]) -> Option<(By, usize)> {
    let [count, unit, later_count, later_unit, chinese_count, chinese_unit, bare] = groups else {
        return None;
    };
    if let Some(bare) = bare {
        let count = if bare.starts_with('后') { 2 } else { 1 };
        return Some((period_of(bare), count));
    }
    let unit = unit.or(*later_unit).or(*chinese_unit)?;
    let count = count.or(*later_count).or(*chinese_count);
    let count = match count.map(str::to_lowercase).as_deref() {
        // 未来几年 means several years, but `the next year` means one.
        None if chinese_unit.is_some() => SEVERAL,
        None => 1,
        Some("several" | "few" | "几") => SEVERAL,
        Some("couple of") => 2,
        Some("eleven") => 11,
        Some("twelve") => 12,
        Some(count) => small_number(count)?,
    };
    Some((period_of(unit), count))
}

fn period_of(unit: &str) -> By {
    let unit = unit.to_lowercase();
    match () {
        () if unit.contains("quarter") || unit.contains('季') => By::Quarter,
        () if unit.contains("month") || unit.contains('月') => By::Month,
        () => By::Year,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_time_to_come_are_read() {
        let stated = || Ahead { is_stated: true, ..Ahead::default() };
        let ahead = |by, count| Ahead { by: Some(by), count: Some(count), ..stated() };
        let month = |month| Ahead { month: Some(month), ..stated() };
        for (question, expected) in [
            ("Forecast the sales for the next three months.", ahead(By::Month, 3)),
            ("What will the price be next year?", ahead(By::Year, 1)),
            ("How high will it be in five years' time?", ahead(By::Year, 5)),
            ("未来六个月的产量预计是多少？", ahead(By::Month, 6)),
            ("后年会有多少次维修？", ahead(By::Year, 2)),
            ("明年三月的产量会是多少？", month(3)),
            ("What will the output be in March next year?", month(3)),
            ("下个季度的销售额", ahead(By::Quarter, 1)),
            ("Forecast monthly sales for 2027", Ahead { each: Some(By::Month), ..stated() }),
            ("What will sales be in 2027?", stated()),
            ("What was the estimated budget?", Ahead::default()),
        ] {
            assert_eq!(Cues::looking_ahead(question).1, expected, "{question}");
        }
    }
}
