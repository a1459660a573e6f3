//! Finds the words of a question that ask for counts, sums, rankings, groups and forecasts, in English and
//! Chinese. `reading` compares the words around them with fields.

use pikerag_knowledge::records::Quantity;
use pikerag_knowledge::tables::By;
use pikerag_language::periods::{Stretch, stretches};
use pikerag_language::{Regex, number, quantity};
use regex::Captures;

use pikerag_language::pattern;

/// The computation that a question asks for, before its records are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cues {
    /// The periods of time that it names.
    pub stretches: Vec<Stretch>,
    /// The question without these periods and without the words of the cues.
    pub rest: String,
    /// The figure or list wanted; `None` if the question asks for neither.
    pub wish: Option<Wish>,
    /// The groups to distinguish.
    pub groups: Vec<GroupCue>,
    /// Whether the greatest or the least groups are wanted, and how many of them.
    pub rank: Option<Rank>,
    /// The time to come that the question asks about, if it does.
    pub ahead: Option<Ahead>,
    /// Numbers that a field is compared with.
    pub bounds: Vec<Bound>,
    /// Whether it contains words such as `total`.
    pub is_total: bool,
    /// Whether it asks for figures that no rule computes, such as shares and differences.
    pub is_beyond: bool,
}

/// The figure or list wanted, with the words for the things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The number of these things.
    Count(String),
    /// A total.
    Sum,
    /// An average.
    Mean,
    /// The greatest number.
    Greatest,
    /// The least number.
    Least,
    /// A list of these things.
    List(String),
}

/// A group to distinguish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupCue {
    /// Periods of time.
    Time(By),
    /// The field that these words name.
    Named(String),
}

/// The first of a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    pub greatest_first: bool,
    pub limit: Option<usize>,
}

/// The time to come that a question asks about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// The length of the periods, if the question gives it.
    pub by: Option<By>,
    /// The number of periods.
    pub periods: Option<usize>,
    /// Whether the question contains words of the future.
    pub has_future_words: bool,
}

/// A number that a field is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub is_least: bool,
    /// Whether the number itself is included.
    pub included: bool,
    pub than: Quantity,
    /// The words around the number.
    pub about: String,
}

pattern!(
    COUNT_EN,
    r"\b(?:how many(?: times)?|how often|(?:what (?:is|was) )?the (?:total )?number of|number of|count(?: of)?|count the)\b\s*((?:(?:different|distinct|various|separate)\s+)?(?:[\w'-]+\s*){0,3})"
);
pattern!(
    COUNT_ZH,
    r"(?:多少|几)(?:次|回)|(?:多少|几)\s*(?:个|家|种|位|名|台|项|起|件|座|款|条|份|款|批|种不同的|类)?(?:不同的)?([\p{Han}A-Za-z]{0,6})|(?:数量|次数|总数|件数|个数)"
);
pattern!(
    SUM,
    r"\b(?:in total|altogether|the total|total|sum of|summed|combined|overall sum)\b|总共|一共|合计|总计|累计|总和|总"
);
pattern!(MEAN, r"\b(?:on average|average|mean)\b|平均(?:值|数)?");
pattern!(
    GREATEST,
    r"\b(?:highest|largest|longest|greatest|biggest|maximum|max|most expensive|costliest|heaviest|tallest|fastest)\b|最(?:高|大|长|贵|久|重|快)"
);
pattern!(
    LEAST,
    r"\b(?:lowest|smallest|shortest|minimum|min|cheapest|lightest|slowest)\b|最(?:低|小|短|便宜|轻|慢)"
);
pattern!(
    MOST,
    r"\b(?:the most|most often|most frequent(?:ly)?|most common(?:ly)?|most)\b|最多|最常(?:见)?|最频繁"
);
pattern!(FEWEST, r"\b(?:the fewest|fewest|the least|least often|least)\b|最少");
pattern!(
    TOP,
    r"\b(?:the )?(?:top|first)\s+(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten)\b|前\s*(\d{1,3}|[一二三四五六七八九十]{1,2})\s*(?:名|个|家|位|大|的)?"
);
pattern!(
    TIME_GROUP,
    r"\b(?:per|each|every|by|in each|for each|in every)\s+(?:calendar )?(year|quarter|month)\b|\b(annually|yearly|quarterly|monthly)\b|\b(year|quarter|month) by (?:year|quarter|month)\b|(?:每一?个?|各个?|逐|按|历)(年|季度|月份|月)(?:度|份)?(?:分别)?"
);
pattern!(
    WHICH_TIME,
    r"\b(?:in )?(?:which|what) (year|quarter|month)\b|(?:在)?哪(?:一)?(?:个)?(年|季度|月份|月)"
);
pattern!(
    GROUP_EN,
    r"\b(?:per|for each|for every|each|every|broken down by|grouped by|by|across)\s+((?:[\w-]+\s*){1,3})"
);
pattern!(
    GROUP_ZH,
    r"(?:每一?(?:个|家|种|位|名|台|次|项|座|类|款)?|各(?:个|家|种|类|位|台)?|按(?:照)?)([\p{Han}]{1,6})"
);
pattern!(WHICH_EN, r"\b(?:which|what|who)\s+((?:[\w-]+\s*){0,3})");
pattern!(WHICH_ZH, r"哪(?:一)?(?:个|家|种|位|名|台|类|些|座|款|项)?([\p{Han}]{0,6})");
pattern!(
    LIST,
    r"\b(?:list|which|name|show)\s+(?:all\s+|me\s+|the\s+|of\s+)*((?:[\w-]+\s*){1,4})|(?:列出|有)?哪些([\p{Han}]{0,6})|列出(?:所有)?([\p{Han}]{0,6})"
);
pattern!(
    NEXT,
    r"\bnext\s+(\d{1,2}|two|three|four|five|six|several|few)?\s*(year|quarter|month)s?\b|\b(?:in the )?coming\s+(\d{1,2}|two|three|four|five|six)?\s*(year|quarter|month)s?\b|(?:未来|今后|接下来)的?\s*(\d{1,2}|[一二两三四五六])?\s*个?(年|季度|月)|(明年|来年|下一?年|下一?个?季度|下一?个?月)"
);
pattern!(
    FUTURE,
    r"\b(?:will|going to|forecast|predict(?:ed|ion)?|project(?:ed|ion)|expect(?:ed)? (?:to|for|in)|likely to|in (?:the )?future|outlook|extrapolat\w+)\b|(?:将会?(?:有|是|达|获|发|需|出)|预测|预计|预期|预估|估计会|可能会|会有(?:多少|几)|展望|趋势外推|今后|未来)"
);
pattern!(
    NEXT_KIND,
    r"\b(?:likely|most likely|probably|expected)\b.*\bnext\b|\bnext\b.*\b(?:likely|probable|probably|expected)\b|(?:下一(?:次|个|起|种|批)|接下来).*(?:可能|最有可能|会是)|(?:最)?可能.*下一"
);
pattern!(
    LIKELY,
    r"\b(?:most )?(?:likely|probable|probably)(?: to)?\b|\bnext\b(?: time)?|最?有?可能(?:会)?|下一(?:次|个|起|种|批)|接下来"
);
pattern!(
    BOUND,
    r"(?P<more>more than|over|above|exceed(?:s|ed|ing)?|greater than|longer than|超过|大于|多于|高于|长于)\s*(?P<n1>\d[\d,.]*)\s*(?P<u1>(?:小时|分钟|天|周|个月|年|万元|美元|欧元|英镑|日元|克朗|元|公斤|千克|吨|公里|毫米|厘米|米|次|[A-Za-z%$€£‰]{1,12})?)|(?P<least>at least|no less than|至少|不少于|不低于)\s*(?P<n2>\d[\d,.]*)\s*(?P<u2>(?:小时|分钟|天|周|个月|年|万元|美元|欧元|英镑|日元|克朗|元|公斤|千克|吨|公里|毫米|厘米|米|次|[A-Za-z%$€£‰]{1,12})?)|(?P<less>less than|fewer than|under|below|shorter than|低于|小于|少于|短于)\s*(?P<n3>\d[\d,.]*)\s*(?P<u3>(?:小时|分钟|天|周|个月|年|万元|美元|欧元|英镑|日元|克朗|元|公斤|千克|吨|公里|毫米|厘米|米|次|[A-Za-z%$€£‰]{1,12})?)|(?P<most>at most|no more than|up to|至多|不超过|不多于)\s*(?P<n4>\d[\d,.]*)\s*(?P<u4>(?:小时|分钟|天|周|个月|年|万元|美元|欧元|英镑|日元|克朗|元|公斤|千克|吨|公里|毫米|厘米|米|次|[A-Za-z%$€£‰]{1,12})?)"
);
pattern!(
    BEYOND,
    r"\b(?:share|percentage|percent of|proportion|fraction|ratio|rate of|difference between|correlat\w+|how many more|how much more|median|per cent)\b|占比|百分比|百分之|比例|比率|相差|差值|中位数|增长率"
);

impl Cues {
    /// Reads the cues of a question.
    pub fn of(question: &str) -> Self {
        let (stretches, rest) = stretches(question);
        let mut cues = Self { stretches, rest, ..Self::default() };
        cues.is_beyond = BEYOND.is_match(&cues.rest);
        cues.look_ahead();
        cues.bounds();
        cues.rank_and_limit();
        cues.group();
        cues.wish();
        cues
    }

    /// Removes the first match of a pattern from the rest. If `keeps`, its first group stays in place.
    fn take(&mut self, pattern: &Regex, keeps: bool) -> Option<Vec<Option<String>>> {
        let found = pattern.captures(&self.rest)?;
        let groups: Vec<Option<String>> = found
            .iter()
            .skip(1)
            .map(|group| group.map(|held| held.as_str().trim().to_owned()))
            .collect();
        let whole = found.get(0)?.range();
        let kept = first_group(&found).filter(|_| keeps).unwrap_or_default();
        self.rest.replace_range(whole, &format!(" {kept} "));
        Some(groups)
    }

    fn look_ahead(&mut self) {
        let mut ahead = Ahead::default();
        if NEXT_KIND.is_match(&self.rest) && !NEXT.is_match(&self.rest) {
            ahead.has_future_words = true;
            self.rest = LIKELY.replace_all(&self.rest, " ").into_owned();
        }
        if let Some(found) = NEXT.captures(&self.rest) {
            let get = |at: usize| found.get(at).map(|held| held.as_str());
            let count = [1, 3, 5].into_iter().find_map(get);
            let unit = [2, 4, 6, 7].into_iter().find_map(get).unwrap_or_default();
            ahead.by = Some(period(unit));
            // `next few years`, or 未来 with a unit and no number, means three.
            let is_several = count.is_some_and(|count| count == "several" || count == "few");
            let is_plural = get(6).is_some() && count.is_none();
            ahead.periods = match count.and_then(small_number) {
                Some(count) => Some(count),
                None if is_several || is_plural => Some(3),
                None => Some(1),
            };
            ahead.has_future_words = true;
            let whole = found.get(0).map(|whole| whole.range());
            if let Some(whole) = whole {
                self.rest.replace_range(whole, " ");
            }
        }
        if FUTURE.is_match(&self.rest) {
            ahead.has_future_words = true;
            self.rest = FUTURE.replace_all(&self.rest, " ").into_owned();
        }
        if ahead.has_future_words {
            self.ahead = Some(ahead);
        }
    }

    fn bounds(&mut self) {
        while let Some(found) = BOUND.captures(&self.rest) {
            let get = |name: &str| found.name(name).map(|held| held.as_str());
            let amount = ["n1", "n2", "n3", "n4"].into_iter().find_map(get);
            let unit = ["u1", "u2", "u3", "u4"].into_iter().find_map(get).unwrap_or_default();
            let Some(whole) = found.get(0).map(|whole| whole.range()) else { break };
            let than = amount.and_then(|amount| quantity(&format!("{amount} {unit}")));
            if let Some((amount, unit_of_amount)) = than {
                let around = |range: std::ops::Range<usize>| {
                    self.rest.get(range).unwrap_or_default().to_owned()
                };
                let from = self.rest.floor_char_boundary(whole.start.saturating_sub(40));
                let to = self.rest.floor_char_boundary((whole.end + 20).min(self.rest.len()));
                self.bounds.push(Bound {
                    is_least: get("more").or_else(|| get("least")).is_some(),
                    included: get("least").or_else(|| get("most")).is_some(),
                    than: Quantity { amount, unit: unit_of_amount },
                    about: format!(
                        "{} {unit} {}",
                        around(from..whole.start),
                        around(whole.end..to)
                    ),
                });
            }
            self.rest.replace_range(whole, " ");
        }
    }

    fn rank_and_limit(&mut self) {
        let limit = self.take_limit();
        let greatest = MOST.is_match(&self.rest) && !GREATEST.is_match(&self.rest);
        let fewest = FEWEST.is_match(&self.rest) && !LEAST.is_match(&self.rest);
        if greatest || fewest || limit.is_some() {
            self.rank = Some(Rank { greatest_first: !fewest, limit: limit.or(Some(1)) });
            for pattern in [&*MOST, &*FEWEST] {
                self.rest = pattern.replace_all(&self.rest, " ").into_owned();
            }
        }
    }

    fn take_limit(&mut self) -> Option<usize> {
        let found = TOP.captures(&self.rest)?;
        let limit = found.get(1).or_else(|| found.get(2)).and_then(|n| small_number(n.as_str()))?;
        let whole = found.get(0)?.range();
        self.rest.replace_range(whole, " ");
        Some(limit).filter(|limit| 0 < *limit)
    }

    fn group(&mut self) {
        while let Some(found) = self.take(&TIME_GROUP, false) {
            let unit = found.into_iter().flatten().next().unwrap_or_default();
            self.add_group(GroupCue::Time(period(&unit)));
        }
        if let Some(found) = self.take(&WHICH_TIME, false) {
            let unit = found.into_iter().flatten().next().unwrap_or_default();
            self.add_group(GroupCue::Time(period(&unit)));
        }
        for pattern in [&*GROUP_EN, &*GROUP_ZH] {
            let named: Vec<String> = pattern
                .captures_iter(&self.rest)
                .filter_map(|found| Some(found.get(1)?.as_str().trim().to_owned()))
                .collect();
            for words in named {
                self.add_group(GroupCue::Named(words));
            }
        }
        // The grouping words 每家 and 各 have no meaning of their own.
        self.rest = GROUP_ZH.replace_all(&self.rest, " $1").into_owned();
        // `Which company had the most?`, `Which crane had the longest standstill?`
        let is_superlative =
            self.rank.is_some() || GREATEST.is_match(&self.rest) || LEAST.is_match(&self.rest);
        let is_next = self.ahead.is_some();
        if is_superlative || is_next {
            for pattern in [&*WHICH_EN, &*WHICH_ZH] {
                if let Some(found) = pattern.captures(&self.rest).and_then(|found| found.get(1)) {
                    let words = found.as_str().trim().to_owned();
                    self.add_group(GroupCue::Named(words));
                }
            }
        }
    }

    fn add_group(&mut self, cue: GroupCue) {
        let is_empty = matches!(&cue, GroupCue::Named(words) if words.is_empty());
        if !is_empty && !self.groups.contains(&cue) {
            self.groups.push(cue);
        }
    }

    fn wish(&mut self) {
        let counted = COUNT_EN.is_match(&self.rest) || COUNT_ZH.is_match(&self.rest);
        let summed = SUM.is_match(&self.rest);
        self.is_total = summed;
        let sought = [(&*MEAN, Wish::Mean), (&*GREATEST, Wish::Greatest), (&*LEAST, Wish::Least)];
        if let Some((pattern, wish)) =
            sought.into_iter().find(|(pattern, _)| pattern.is_match(&self.rest))
        {
            self.rest = pattern.replace_all(&self.rest, " ").into_owned();
            self.rest = SUM.replace_all(&self.rest, " ").into_owned();
            self.wish = Some(wish);
            return;
        }
        if counted {
            let thing = self.take(&COUNT_EN, true).or_else(|| self.take(&COUNT_ZH, true));
            let thing = thing.and_then(|groups| groups.into_iter().flatten().next());
            self.rest = SUM.replace_all(&self.rest, " ").into_owned();
            self.wish = Some(Wish::Count(thing.unwrap_or_default()));
            return;
        }
        if summed {
            self.rest = SUM.replace_all(&self.rest, " ").into_owned();
            self.wish = Some(Wish::Sum);
            return;
        }
        // `Which fault comes next?` asks for one of the groups.
        if self.ahead.is_some() && !self.groups.is_empty() {
            return;
        }
        if self.rank.is_some() {
            self.wish = Some(Wish::Count(String::new()));
            return;
        }
        if let Some(found) = LIST.captures(&self.rest) {
            let thing = found.iter().skip(1).flatten().next();
            self.wish =
                Some(Wish::List(thing.map_or_else(String::new, |thing| thing.as_str().to_owned())));
        }
    }
}

/// The first group of a match, which stays in the text.
fn first_group(found: &Captures<'_>) -> Option<String> {
    found.iter().skip(1).flatten().next().map(|group| group.as_str().to_owned())
}

fn period(unit: &str) -> By {
    let unit = unit.to_lowercase();
    match unit.as_str() {
        _ if unit.contains("quarter") || unit.contains('季') => By::Quarter,
        _ if unit.contains("month") || unit.contains('月') => By::Month,
        _ => By::Year,
    }
}

fn small_number(text: &str) -> Option<usize> {
    const WORDS: [&str; 10] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let word = WORDS.iter().position(|word| word.eq_ignore_ascii_case(text)).map(|at| at + 1);
    let text = text.replace('两', "二");
    word.or_else(|| number(&text).and_then(|number| usize::try_from(number).ok()))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;

    fn described(question: &str) -> String {
        let cues = Cues::of(question);
        let mut shown = format!("{:?}", cues.wish);
        if !cues.groups.is_empty() {
            let _ = write!(shown, " {:?}", cues.groups);
        }
        if let Some(rank) = cues.rank {
            let _ =
                write!(shown, " {}{:?}", if rank.greatest_first { "↓" } else { "↑" }, rank.limit);
        }
        if let Some(ahead) = cues.ahead {
            let _ = write!(shown, " ahead {:?} {:?}", ahead.by, ahead.periods);
        }
        for bound in cues.bounds {
            let _ = write!(
                shown,
                " {}{}{:?}",
                if bound.is_least { ">" } else { "<" },
                bound.than.amount,
                bound.than.unit
            );
        }
        shown
    }

    #[test]
    fn english() {
        let shown: Vec<String> = [
            "How many drugs were approved in 2018?",
            "What is the total number of approvals per year?",
            "Which company had the most approvals?",
            "List the top five companies by approvals",
            "What was the average downtime per crane?",
            "Which crane had the longest standstill?",
            "Which drugs were approved in 2014?",
            "How many drugs will be approved next year?",
            "How many approvals are expected in the next three quarters?",
            "How many repairs took more than 12.5 hours?",
            "Who designed the KX-40?",
        ]
        .map(described)
        .to_vec();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        Some(Count("drugs were approved"))
        Some(Count("approvals")) [Time(Year)]
        Some(Count("")) [Named("company had   approvals")] ↓Some(1)
        Some(Count("")) [Named("approvals")] ↓Some(5)
        Some(Mean) [Named("crane")]
        Some(Greatest) [Named("crane had the")]
        Some(List("drugs were approved  "))
        Some(Count("drugs   be approved")) ahead Some(Year) Some(1)
        Some(Count("approvals are   the")) ahead Some(Quarter) Some(3)
        Some(Count("repairs took")) >12.5Some("hours")
        None
        "#);
    }

    #[test]
    fn chinese() {
        let shown: Vec<String> = [
            "2018年批准了多少种药物？",
            "每年批准了多少种新药？",
            "哪家公司获批的药物最多？",
            "获批最多的前五家公司",
            "各公司分别有多少个批准？",
            "平均停机时间是多少小时？",
            "哪台起重机停机时间最长？",
            "2014年批准了哪些药物？",
            "明年将批准多少种药物？",
            "未来三个季度预计有多少次故障？",
            "超过12小时的维修有多少次？",
            "KX-40是谁设计的？",
        ]
        .map(described)
        .to_vec();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        Some(Count("药物"))
        Some(Count("新药")) [Time(Year)]
        Some(Count("")) [Named("公司获批的药")] ↓Some(1)
        Some(Count("")) ↓Some(5)
        Some(Count("批准")) [Named("公司分别有多")]
        Some(Mean)
        Some(Greatest) [Named("起重机停机时")]
        Some(List("药物"))
        Some(Count("药物")) ahead Some(Year) Some(1)
        Some(Count("")) ahead Some(Quarter) Some(3)
        Some(Count("")) >12Some("小时")
        None
        "#);
    }

    proptest! {
        #[test]
        fn no_question_panics(text in "(\\PC|how many |more than 5|多少|每年|next 2 years|top 3){0,12}") {
            let _ = Cues::of(&text);
        }
    }
}
