//! Reads periods relative to today, such as `last year` or 上个月. No table contains today's date.

use pikerag_language::pattern;

use super::Cues;

pattern!(
    RELATIVE,
    r"\b(?P<the>the )?(?:last|past|preceding)\s+(?:(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|few|couple of)\s+)?(?:years?|quarters?|months?|weeks?|weekend|days?)\b|\bthis (?:calendar |financial |fiscal )?(?:year|quarter|month|week|morning|spring|summer|autumn|winter|season)\b|\b(?:current|present|coming) (?:calendar |financial |fiscal )?(?:year|quarter|month|week|season)\b|\b(?:today|yesterday|tomorrow|nowadays)\b|\brecent (?:years|months|weeks|days)\b|\b(?:years?|months?|weeks?|days?) ago\b|\b(?:year|quarter|month)[- ]to[- ]date\b|去年|今年|前年|本年度?|上一?年度|上一?个?季度|本季度|这个?季度|上个?月|本月|这个月|当月|上一?周|本周|这周|上星期|这星期|昨天|今天|昨日|今日|明天|近期|(?:最近|过去|近)的?\s*(?:\d{1,2}|[一二两三四五六七八九十几])\s*个?(?:年|季度|月|周|星期|天|日)"
);
/// Words before `the last year` that make it a time span.
const WITHIN: [&str; 6] = ["in", "over", "during", "within", "for", "since"];
/// Words after `the last year` that specify it as the last one of a list.
const OF_A_LIST: [&str; 9] =
    ["of", "in", "when", "that", "listed", "recorded", "with", "where", "shown"];

impl Cues {
    /// Reads a period relative to today. `The last year in which` refers to a year of a table.
    pub(super) fn read_relative(&mut self) {
        let found = RELATIVE.captures_iter(&self.text).find_map(|found| {
            let whole = found.get(0)?;
            let span = self.span(whole.range());
            let before = span.start.checked_sub(1).map(|at| self.folded(at)).unwrap_or_default();
            let is_of_a_list =
                found.name("the").is_some() && OF_A_LIST.contains(&self.folded(span.end));
            let is_the_last = found.name("the").is_some() && !WITHIN.contains(&before);
            let is_free = span.clone().all(|at| !self.is_used(at));
            (is_free && !is_of_a_list && !is_the_last).then_some(span)
        });
        if let Some(span) = found {
            self.mark(span.clone());
            self.relative = Some(span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_periods_that_count_from_today_are_relative() {
        let read = |question: &str| {
            let cues = Cues::of(question);
            cues.relative.map(|span| Cues::of(question).text_of(span).to_owned())
        };
        for (question, expected) in [
            ("How many orders came in last year?", Some("last year")),
            ("How many orders came in over the last two months?", Some("the last two months")),
            ("What did we sell this month?", Some("this month")),
            ("去年有多少个订单？", Some("去年")),
            ("最近三个月的订单有几个？", Some("最近三个月")),
            ("What was the last year in which it rained?", None),
            ("Which was the last month with a loss?", None),
            ("How many orders were there in 2021?", None),
            ("最近的机场是哪个？", None),
        ] {
            assert_eq!(read(question).as_deref(), expected, "{question}");
        }
    }
}
