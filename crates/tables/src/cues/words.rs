//! Reads the words of a question that name a calculation, a thing or a condition.

use std::ops::Range;

use pikerag_language::pattern;

use super::numbers::small_number;
use super::{Cue, Cues, Goal, Occurrence};

pattern!(
    COUNT,
    r"\bhow many\b|\bwhat (?:is|was) the (?:total )?number of\b|\bhow often\b|\bcount of\b|多少\s*(?:个|单|笔|例|宗|桩|栋|套|间|班|场|届|轮|家|种|位|名|台|项|起|件|座|款|条|份|批|次|回|天|只|架|所|支|辆|艘|本|张|头|匹|颗|类)|有多少[？?。]?\s*$|多少人(?:[^口数均]|$)|几\s*(?:个|单|笔|例|宗|桩|栋|套|间|班|场|届|轮|家|种|位|名|台|项|起|件|座|款|条|份|批|次|回|天|只|架|所|支|辆|艘|本|张|头|匹|颗|类|人)"
);
pattern!(
    HOW_MUCH,
    r"\bhow (?:much|high|low|deep|long|tall|heavy|large|big|old|far|fast)\b|多少|多高|多大|多重|多长|多远|多深|几[点倍]"
);
pattern!(MEAN, r"\b(?:on average|average|mean)\b|平均(?:值|数|每\S)?");
pattern!(MEDIAN, r"\bmedian\b|中位数|中值");
pattern!(
    SUM,
    r"\b(?:in total|altogether|total|sum|summed|combined|together|overall|(?:adds?|added|comes?|came|amounts?|amounted) (?:up )?to|spend|spent)\b|花费?了?多少钱?|总共|一共|合计|总计|累计|总和|加起来|总(?:的)?|全年"
);
pattern!(
    SHARE,
    r"\b(?:what (?:share|percentage|proportion|percent|fraction)|percentage of|share of|proportion of|what per ?cent)\b|百分之(?:几|多少)|占比|占多少(?:百分比|比例)?|比例|百分比"
);
pattern!(
    GROWTH,
    r"\bby (?:what percentage|how many percent|what percent|how many per ?cent)\b|\bpercent(?:age)? (?:growth|increase|change)\b|(?:增长|上升|下降|增加|减少|提高|下跌|上涨)了?\s*百分之(?:几|多少)|增长率"
);
pattern!(
    DIFFERENCE,
    r"\bby how (?:many|much)\b|\bhow (?:many|much) (?:more|less|fewer|higher|lower|heavier|longer|larger|greater|older)\b|\bdifference\b|相差|差(?:多少|值|距)|(?:上升|下降|增加|减少|增长|提高|上涨|下跌)了?多少|多出?多少|少多少"
);
pattern!(
    CHANGE,
    r"\bhow (?:many|much)\b.{0,40}\b(?:lose|lost|gain(?:ed)?|rise|rose|fall|fell|drop(?:ped)?|grow|grew|increase[ds]?|decrease[ds]?)\b"
);
pattern!(EXISTS, r"^(?:is|are|was|were|does|do|did|has|have)\b|有没有|是否(?:有|存在)?|是不是");
pattern!(DISTINCT, r"\b(?:different|distinct|unique|various)\b|不同(?:的|类型的)?|几种|多少种");
pattern!(LIST, r"\b(?:list|name all|name the|show all|give (?:all|the))\b|哪些|列出|哪几");
pattern!(
    WHICH,
    r"\b(?:which|what|who|whose|name the)\b|星期几|周几|哪一?(?:个|单|张|笔|例|份|台|家|种|位|名|台|些|座|款|年|天|月|所|支|颗|条|项|类|起|几个|几天|几)?|什么|谁"
);
pattern!(
    WHEN,
    r"\bwhen\b|\b(?:in |on )?(?:which|what) (?:year|month|day|date|quarter)s?\b|何时|什么时候|哪一?(?:年|天|日|月|季度)|哪个月|哪年哪月"
);
pattern!(WHERE, r"\bwhere\b|哪里|哪儿|何处|在哪");
pattern!(
    TOP,
    r"\b(?:top|first)\s+(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten)\b|\b(?:the |which |what |are the )?(two|three|four|five|six|seven|eight|nine|ten|\d{1,2})\s+(?:\w+\s+){0,5}?(?:highest|lowest|largest|smallest|biggest|longest|shortest|most|fewest|best|oldest|newest|heaviest|tallest|cheapest)|前\s*(\d{1,3}|[一二三四五六七八九十两]{1,2})\s*(?:名|个|家|位|大|款|种|项|座)?|(?:最\S{1,2}的)([二三四五六七八九十两]|\d{1,2})(?:个|家|位|名|座|种)"
);
pattern!(
    RANK,
    r"\b(second|third|fourth|fifth|2nd|3rd|4th|5th)[- ](?:most|highest|lowest|largest|smallest|biggest|longest|heaviest|best|oldest|common)|第([二三四五])(?:高|低|大|多|少|长|重|快|小)"
);
pattern!(
    FIRST,
    r"\bfor the first time\b|\bfirst (?:time|year|month|day|quarter|date)\b|\bfirst (?:exceed|go|went|rise|rose|pass|reach|drop)|\bfirst\b|\bearliest\b|首次|第一次|第一个|第一天|最早|从哪一天开始|开始"
);
pattern!(
    LAST,
    r"\b(?:for the )?last (?:time|year|month|day|date)\b|\blatest\b|最后一?(?:次|个|天)?|最晚|哪一天为止|为止|最近一次"
);
// `Who joined last`.
pattern!(
    LAST_ALONE,
    r"\blast$|\blast\s*[?.]|\blast (?:to|hired|joined|paid|delivered|opened|closed)\b"
);
pattern!(
    EMPTY,
    r"\b(?:is|are|was|were|have|has|with)?\s*(?:missing|unknown|not (?:recorded|given|known|entered|stated)|no (?:\w+ ){1,3}(?:entered|recorded|given|stated|filled in|on file)|empty|blank|without an?)\b|\bhave no\b|\bhas no\b|缺少|缺失|没有(?:记录|填写?|写|录入|数据|登记|提供|标注)?|未(?:记录|知|填写?|登记|录入)|为空|空缺"
);
pattern!(FILLED, r"\bknown\b|已知|有记录");
pattern!(NOT, r"\bnot\b|\bother than\b|\bexcept\b|\bwithout\b|不是|不在|不属于|除了");
pattern!(
    EACH,
    r"\b(?:per|each|every|for each|by each)\b|各(?:个|家|种|类|有|省|国|是)?|每一?(?:个|家|种|类|年|月)?|分别"
);
pattern!(COMPARE, r"\b(?:compared (?:to|with)|versus|vs\.?)\b|相比|比较|对比");
pattern!(NONE_OF, r"\bno (?P<w>\w+)(?: at all)?\b|\bnone at all\b|为零|是零");

impl Cues {
    pub(super) fn read_words(&mut self) {
        self.read_limit();
        self.read_rank();
        self.read_goal();
        self.each = self.take(&EACH);
        self.which = self.take(&WHICH);
        self.occurrence = if self.occurrence.is_some() {
            self.occurrence
        } else if self.take_last().is_some() {
            Some(Occurrence::Last)
        } else if self.limit.is_none() && self.take_beside_periods(&FIRST).is_some() {
            Some(Occurrence::First)
        } else {
            None
        };
        self.empty = self.find(&EMPTY);
        self.filled = if self.empty.is_some() { None } else { self.take(&FILLED) };
        self.not = self.find(&NOT);
        self.none_of = self.find(&NONE_OF);
        for pattern in [&*LIST, &*COMPARE] {
            self.take(pattern);
        }
    }

    /// `The last time`, but not `last year`.
    fn take_last(&mut self) -> Option<Range<usize>> {
        let alone = || self.find(&LAST_ALONE).filter(|_| !self.events.is_empty());
        let span = self.find(&LAST).or_else(alone).filter(|span| !self.is_in_period(span))?;
        if self.relative.as_ref().is_some_and(|relative| relative.contains(&span.start)) {
            return None;
        }
        self.mark(span.clone());
        Some(span)
    }

    /// `top five`, `the three largest`, `前三名`.
    fn read_limit(&mut self) {
        let Some(found) = TOP.captures(&self.text) else { return };
        let Some(number) = found.iter().skip(1).flatten().next() else { return };
        self.limit = small_number(number.as_str());
        if self.limit.is_some() {
            let whole = found.get(0).filter(|whole| whole.as_str().starts_with('前'));
            let span = self.span(whole.unwrap_or(number).range());
            self.mark(span);
        }
    }

    /// `second most`, `第三高`.
    fn read_rank(&mut self) {
        let Some(found) = RANK.captures(&self.text) else { return };
        let Some(number) = found.iter().skip(1).flatten().next() else { return };
        self.nth = small_number(number.as_str());
        let span = self.span(number.range());
        self.mark(span);
    }

    fn read_goal(&mut self) {
        for (cue, pattern) in [
            (Cue::Mean, &*MEAN),
            (Cue::Sum, &*SUM),
            (Cue::Distinct, &*DISTINCT),
            (Cue::Where, &*WHERE),
            (Cue::HowMuch, &*HOW_MUCH),
        ] {
            if self.take(pattern).is_some() {
                self.asked.insert(cue);
            }
        }
        if WHEN.is_match(&self.text) {
            self.asked.insert(Cue::When);
        }
        self.count = self.find_count();
        if let Some(span) = self.count.clone() {
            self.mark(span);
        }
        let is_median = self.take(&MEDIAN).is_some();
        let is_growth = self.take(&GROWTH).is_some();
        let is_share = !is_growth && self.take(&SHARE).is_some();
        let is_difference =
            !is_growth && (self.take(&DIFFERENCE).is_some() || CHANGE.is_match(&self.text));
        let is_open = WHICH.is_match(&self.text) || self.count.is_some();
        self.goal = match () {
            () if is_growth => Goal::Growth,
            () if is_share => Goal::Share,
            () if is_difference => Goal::Difference,
            () if is_median => Goal::Median,
            () if self.has(Cue::Mean) => Goal::Mean,
            () if EXISTS.is_match(&self.text) && !is_open => Goal::Exists,
            () if self.count.is_some() => Goal::Count,
            () if self.has(Cue::Sum) => Goal::Sum,
            () => Goal::Value,
        };
    }

    /// Where a question asks for a count. `哪几个` and `星期几` ask for things.
    fn find_count(&self) -> Option<Range<usize>> {
        let found = COUNT.find_iter(&self.text).find(|found| {
            let before = self.text.get(..found.start()).unwrap_or_default();
            !(found.as_str().starts_with('几') && before.ends_with(['哪', '期', '周']))
        })?;
        Some(self.span(found.range()))
    }
}
