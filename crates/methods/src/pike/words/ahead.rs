//! Tells apart questions about the future by their words, in English and Chinese: statements of documents, judgements, figures.

use pikerag_language::pattern;

/// What a question about the future asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pike) enum AboutFuture {
    /// What a document or a person states about it: a fact that can be read.
    Stated,
    /// Whether something is likely, or how something develops.
    Judgement,
    /// A figure.
    Figure,
}

// `What does the review predict?` The group is the subject, which may be no document: `What do you expect?`
pattern!(
    STATES,
    r"\b(?:does|do|did|has|have|had)\s+((?:[\w'’-]+\s+){1,6}?)(?:\w+ly\s+|already\s+|also\s+)?(?:predict|forecast|fores[ae][ew]|foreseen|foretell|expect|anticipate|project|plan|envisage|estimate|assume|promise|announce|intend)(?:s|d|ed|ned)?\b|\bwhat (?:forecast|outlook|prediction|expectation|estimate|projection)s?\s+(?:does|do|did)\s+((?:[\w'’-]+\s+){1,6}?)(?:give|make|offer|contain|present|publish|draw)\b|\b(?:does|do|did)\s+((?:[\w'’-]+\s+){1,6}?)(?:say|state|tell|report|write|mention|note|claim)\b.*\b(?:next|coming|future|outlook|ahead|20[2-9]\d)\b"
);
pattern!(
    NO_AUTHOR,
    r"^(?:you|we|i|one|us|people|(?:.*\s)?(?:data|records?|figures|numbers|trends?|series|history|statistics|tables?))\s*$"
);
pattern!(
    ACCORDING,
    r"\baccording to\b|\bin the (?:view|opinion|judge?ment|words) of\b|\b(?:review|report|plan|budget|letter|study|paper|article|handbook|manual|minutes|memo|strategy|programme|program|author|management|board|document|schedule|agenda|contract)s?['’]s? (?:\w+ )?(?:forecast|prediction|outlook|expectation|projection|plan|estimate|assumption)s?\b"
);
pattern!(
    STATED_IN,
    r"\b(?:forecasts?|predict(?:ions?|ed)|outlook|expect(?:ations?|ed)|project(?:ions?|ed)|plan(?:s|ned)?|estimate[sd]?|announced)\b.{0,40}\b(?:in|of|by|from|within) the (?:\w+ ){0,2}(?:review|report|plan|budget|letter|study|paper|article|handbook|manual|minutes|memo|strategy|programme|program|author|management|board|document|schedule|agenda|contract)s?\b|\bin the (?:\w+ ){0,2}(?:review|report|plan|budget|letter|study|paper|article|handbook|manual|minutes|memo|strategy|programme|program|document|schedule|agenda|contract)s?\b.*\b(?:predicted|forecast|foreseen|expected|projected|anticipated|planned|announced)\b|\b(?:was|were|been)\b[^?]{0,60}?\b(?:predicted|forecast(?:ed)?|foreseen|expected|projected|anticipated|planned|announced|promised)\b|\b(?:what|which|who|when|where)\b.*\b(?:is|are) (?:planned|scheduled|announced|agreed)\b"
);
pattern!(
    LIKELY,
    r"\bhow (?:likely|probable)\b|\bis it (?:\w+ )?(?:likely|unlikely|probable|improbable|plausible|foreseeable|to be expected)\b|\b(?:is|are)\b[^?]*\bto be expected\b|\bwhat are the (?:chances|odds|prospects)\b|\b(?:is|are) there (?:an? |any |some |still (?:an? )?)?(?:\w+ )?(?:chances?|prospects?|likelihood|probability|hope)\b|\b(?:is there|what is) (?:an? |any |the )?(?:\w+ )?(?:risk|danger) (?:that\b|of \w+ing\b)|\bwhat is the (?:\w+ )?(?:chance|likelihood|probability|prospect)\b|\b(?:should|must|can|could) (?:we|i|one|you) (?:\w+ )?(?:expect|count on|hope for|fear|worry)\b|\bdo you (?:think|believe|expect)\b.*\bwill\b"
);
// `Which company, covered by both, is likely to win?` asks for a name.
pattern!(
    IS_LIKELY,
    r"(?:^|[,;:]\s*)(?:and |but |so )?(?:is|are)\b[^?]*\b(?:(?:likely|unlikely)(?: to\b|\s*[?,.]|$)|(?:bound|set|going|certain|sure) to\b)"
);
pattern!(ASKS_FOR_NAME, r"^\s*(?:which|what|who|whom|whose|when|where)\b");
pattern!(
    TREND,
    r"\b(?:what|how) (?:is|are) the (?:\w+ )?(?:trend|outlook|tendency)\b|\bwhat (?:trend|tendency)\b|\bhow will\b.*\b(?:develop|evolve|change|turn out|look)\b|\bwhere (?:is|are)\b.*\b(?:heading|headed|going|moving)\b|\bwhat will\b.*\blook like\b"
);
pattern!(
    WILL,
    r"(?:^|[,;:]\s*)(?:and |but |so |then )?(?:will|won['’]t)\b|(?:^|[,;:]\s*)(?:is|are)\b[^?]*\bgoing to\b"
);
pattern!(MIGHT, r"(?:^|[,;:]\s*)(?:and |but |so |then )?(?:could|might|may|can)\b");
pattern!(TO_READER, r"\b(?:will|could|can|would) you\b");
pattern!(
    CHANGE,
    r"\b(?:worse|better|worsen|improve|deteriorate|rise|rising|fall|falling|increase|decrease|grow|growing|decline|shrink|drop|continue|keep|persist|recur|return|again|become|remain|stay|last|more|fewer|less|\w+rer|disappear|double|halve|succeed|fail|solve|run out|pay off)\b"
);
pattern!(
    HORIZON,
    r"\b(?:next|coming|following) (?:\w+ )?(?:years?|months?|quarters?|weeks?|winter|summer|spring|autumn|season|decades?)\b|\bin (?:the )?future\b|\bsoon\b|\b(?:by|before|until|in|within|after) (?:the end of )?20[2-9]\d\b|\bin the (?:long|short|medium) (?:run|term)\b|\bwithin \w+ (?:years?|months?)\b|\bever\b"
);
pattern!(
    FIGURE,
    r"\bhow (?:many|much|often|long|high|large|big|far|fast)\b|\b(?:what|which) (?:number|amount|share|percentage|quantity|figure|sum|total|price|cost|value|volume)\b|多少|几(?:次|个|台|起|座|件|回|项|名|家|天|年|吨|成)"
);
pattern!(
    FORECAST,
    r"^\s*(?:please\s+)?(?:forecast|predict|extrapolate|estimate|project|compute|calculate)\b|\bforecast of\b|\bwhat will\b.*\b(?:be|cost|amount to|reach|total|come to)\b|^\s*请?(?:预测|估计|估算|推算|外推|计算)|次数|数量|总数|总量|金额|总额"
);
pattern!(
    STATES_ZH,
    r"(?:报告|回顾|计划|规划|年报|预算|评估|研究|论文|文章|手册|纪要|信|邮件|合同|协议|方案|战略|白皮书|公告|通知|文件|文档)[^，。？?]{0,8}?(?:预计|预期|预测|预言|预见|预估|估计|展望|期望|计划|打算|认为|提到|写到|规定|承诺|宣布|指出)|(?:作者|专家|董事会|管理层|公司|工程师|分析师|政府|供应商|部门|负责人|经理)(?:们|方面|也|都|是否|曾|曾经|已|已经|还){0,2}(?:预计|预期|预测|预言|预见|预估|估计|展望|期望|计划|打算|认为|提到|规定|承诺|宣布|指出)|对[^，。？?]{1,12}(?:有|作|做|给)(?:出|了|过)?(?:什么|哪些|何|怎样的|何种)(?:预测|展望|预期|估计)|(?:根据|按照?|依据|据)[^，。？?]{0,10}(?:报告|回顾|计划|规划|年报|预算|评估|研究|论文|文章|手册|纪要|信|邮件|合同|协议|方案|战略|白皮书|公告|通知|文件|文档)"
);
pattern!(
    LIKELY_ZH,
    r"是否有?可能|有没有(?:可能|希望)|有(?:多大|很大)?可能[^，。？?]*吗|(?:可能性|概率|几率|机率|希望|风险|把握|前景)[^，。？?]{0,4}(?:大不大|高不高|大吗|高吗|多大|多高|多少|如何|怎么样|怎样)|有望[^，。？?]*吗|(?:趋势|走势|走向|动向)(?:会)?(?:如何|怎样|怎么样|是什么)|(?:如何|怎样|怎么)(?:发展|变化|演变)|(?:是否|要不要)(?:应当?|应该|需要|该)?(?:预期|预料|担心)"
);
pattern!(WHETHER_ZH, r"会不会");
pattern!(ABILITY_ZH, r"会不会(?:说|写|用|做|使用|操作|讲|开)");
pattern!(
    WILL_ZH,
    r"是否(?:会|将|能)|能否|能不能|(?:会|将|能)[^，。？?]{0,14}吗|(?:会|将)[^，。？?]{1,12}还是"
);
// `齿轮箱漏油明年减少吗？`
pattern!(ASKS_ZH, r"[^，。？?]{2,}吗");
pattern!(
    CHANGE_ZH,
    r"更(?:加|为|多|少|高|低|好|差|大|小|快|慢|糟|坏|严重|频繁|稀少)|加剧|恶化|好转|改善|增加|增多|增长|减少|上升|下降|继续|再次|还会|变得|提高|降低|缓解|消失|加重|扩大|缩小|失败|成功|解决"
);
pattern!(
    HORIZON_ZH,
    r"明年|来年|后年|今后|以后|未来|将来|下一?个?(?:年|季度|季|月|冬|夏|春|秋)|20[2-9]\d年|(?:年|月)内|长期"
);

/// What a question about the future asks for; `None` if its words do not show it. A question for a figure of the past counts
/// as one for a figure, too.
pub(in crate::pike) fn about_future(question: &str) -> Option<AboutFuture> {
    let judged = judgement_at(question);
    if is_stated(question, judged) {
        return Some(AboutFuture::Stated);
    }
    let figure = FIGURE.find(question).map(|found| found.start());
    match (judged, figure) {
        (Some(judged), Some(figure)) if figure < judged => Some(AboutFuture::Figure),
        (Some(_), _) => Some(AboutFuture::Judgement),
        (None, Some(_)) => Some(AboutFuture::Figure),
        (None, None) => FORECAST.is_match(question).then_some(AboutFuture::Figure),
    }
}

/// Whether a document or a person is asked for what it states. `judged` is the place of words of a judgement.
fn is_stated(question: &str, judged: Option<usize>) -> bool {
    let has_author = STATES.captures_iter(question).any(|found| {
        let subject = found.iter().skip(1).flatten().next();
        subject.is_some_and(|subject| !NO_AUTHOR.is_match(subject.as_str()))
    });
    if has_author || ACCORDING.is_match(question) {
        return true;
    }
    // `Is the growth that was planned likely?` judges.
    let is_before = |place: usize| judged.is_none_or(|judged| place < judged);
    if STATED_IN.find(question).is_some_and(|found| is_before(found.start())) {
        return true;
    }
    STATES_ZH.find(question).is_some_and(|found| {
        let is_attribute = question.get(found.end()..).is_some_and(|rest| rest.starts_with('的'));
        judged.is_none_or(|judged| found.start() < judged && !is_attribute)
    })
}

/// The place of the first words that ask for a judgement.
fn judgement_at(question: &str) -> Option<usize> {
    let at = |words: &pikerag_language::Regex| words.find(question).map(|found| found.start());
    let changes = CHANGE.is_match(question) || CHANGE_ZH.is_match(question);
    let has_horizon = HORIZON.is_match(question) || HORIZON_ZH.is_match(question);
    let is_to_reader = TO_READER.is_match(question);
    let whether = at(&WHETHER_ZH).filter(|_| !ABILITY_ZH.is_match(question));
    let is_likely = at(&IS_LIKELY).filter(|_| !ASKS_FOR_NAME.is_match(question));
    let will = at(&WILL).filter(|_| (changes || has_horizon) && !is_to_reader);
    let might = at(&MIGHT).filter(|_| changes && has_horizon && !is_to_reader);
    let will_zh = at(&WILL_ZH).filter(|_| changes || has_horizon);
    let asks_zh = at(&ASKS_ZH).filter(|_| changes && has_horizon);
    [at(&LIKELY), is_likely, at(&TREND), at(&LIKELY_ZH), whether, will, might, will_zh, asks_zh]
        .into_iter()
        .flatten()
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kind, whether it was kept apart while the rules were written, question.
    fn questions() -> impl Iterator<Item = (Option<AboutFuture>, bool, &'static str)> {
        include_str!("ahead.txt").lines().map(|line| {
            let mut columns = line.split('\t');
            let kind = match columns.next().unwrap() {
                "stated" => Some(AboutFuture::Stated),
                "judgement" => Some(AboutFuture::Judgement),
                "figure" => Some(AboutFuture::Figure),
                _ => None,
            };
            let is_apart = columns.next() == Some("apart");
            (kind, is_apart, columns.next().unwrap())
        })
    }

    #[test]
    fn questions_about_the_future_are_recognized() {
        let wrong: Vec<_> = questions()
            .filter(|(kind, is_apart, question)| !is_apart && about_future(question) != *kind)
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
    /// All 40 were right when they were first tried; rules may trade a few of them.
    #[test]
    fn most_questions_kept_apart_are_recognized() {
        let apart = questions().filter(|(_, is_apart, _)| *is_apart);
        let (right, wrong): (Vec<_>, Vec<_>) =
            apart.partition(|(kind, _, question)| about_future(question) == *kind);
        assert!(36 <= right.len() && right.len() + wrong.len() == 40, "{wrong:#?}");
    }
}
