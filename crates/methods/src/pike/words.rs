//! Recognizes words of a question that show its class, in English and Chinese; what the base offers decides as well.

mod ahead;

use pikerag_language::pattern;

pub(super) use self::ahead::{AboutFuture, about_future};

pattern!(
    CREATIVE,
    r"^\s*(?:please\s+|can you\s+|could you\s+|help (?:us|me)\s+)*(?:suggest|propose|design|devise|brainstorm|invent|sketch|imagine|come up with|think of|draft|recommend|develop)\b|\bhow (?:could|might|can|should|would) (?:we|one|the (?:company|port|team|firm|plant|yard|management|organisation|organization)|it)\b.*|\bwhat (?:could|can|should|might) (?:we|be done|the (?:company|port|team|firm))\b|\b(?:new|fresh|creative|innovative|novel) (?:ideas?|approach(?:es)?|ways?|solutions?|concepts?)\b|\b(?:what|which|any|some) ideas\b|\bideas? (?:for|to|on|about)\b|\bways to\b|\bwhat if we\b|提出.{0,12}(?:方案|建议|思路|想法|对策|措施|创意|计划)|(?:设计|构思|策划|制定|拟定|规划|构想)(?:一|出|个|新|下|套|份)|给出.{0,10}(?:建议|方案|思路|对策|创意)|(?:如何|怎样|怎么)(?:才能|可以|能够?|去|更好地)?(?:改进|改善|提高|提升|降低|减少|优化|避免|防止|缩短|加快|创新|应对|加强|利用|保护|推广)|(?:我们|公司|港口)(?:可以|应该|应当|能)?(?:如何|怎样|怎么)|有(?:什么|哪些)(?:更?好的?|新的?|创新的?|可行的?)?(?:办法|建议|思路|创意|点子|改进|想法|对策|方法|措施)|请(?:策划|构思|设计)|头脑风暴|创意|集思广益"
);
pattern!(
    SUMMARY,
    r"\b(?:summar(?:y|ies|i[sz]e[sd]?|i[sz]ing)|overview|outline|recap|gist|synopsis|digest|in a nutshell|main (?:points?|findings?|themes?|topics?|issues?|ideas?)|key (?:points?|findings?|themes?|takeaways?|messages?)|brief me|sum up|wrap up)\b|总结|概括|概述|综述|归纳|要点|主要内容|梗概|摘要|简述|大意|概况|主要(?:问题|观点|结论|议题|事项)|综合介绍"
);
pattern!(
    COMPARE,
    r"\b(?:compare[sd]?|comparison|comparing|versus|vs\.?|differ(?:s|ence|ences|ent)?\b.*\b(?:between|from|and)|in contrast|both\b.*\bsame|the same\b.*\bas|(?:more|less|fewer|better|worse|\w{3,}er)\b.*\bthan|(?:which|who|what)\b.*\b(?:more|less|fewer|first|earlier|later|better|worse|older|younger|larger|longer|shorter|higher|lower|heavier|taller|\w{3,}er)\b.*\bor\b|\bdiffer\b|in the same\b|at the same\b|by the same\b|do .* agree|(?:in)?consisten(?:t|cy)|(?:agree|disagree|contradict|conflict|align)(?:s|ed)? with|was there a change|do both)\b|^(?:do|does|did|is|are|was|were)\b.*\bwhile\b|比较|对比|相比|区别|差异|不同(?:之处|点)|异同|哪(?:个|一个|家|台|种|款|位|份|项)?更|谁[^，。？]{0,10}更|哪[^，。？]{0,8}更|是否[^，。？]{0,6}(?:同|一样|一致)|有(?:什么|何)不同|有何(?:区别|差异)|还是.*[？?]|孰|(?:比|较).*(?:更|高|低|长|短|早|晚|多|少|大|小|快|慢|贵)(?:吗|多少)?|(?:是否|是不是)(?:相同|一样|一致|都)"
);
pattern!(
    FORESEE,
    r"\b(?:forecast|predict(?:ion)?s?|project(?:ion|ed)|outlook|extrapolat\w+|trend for|next (?:year|quarter|month)|will there be|likely (?:to )?(?:be |occur |happen )?next|(?:most )?likely need|(?:should|to) (?:we |be )?expect(?:ed)?|in the (?:coming|next))\b|预测|预计|预期|预估|展望|未来|明年|下(?:一)?(?:年|个?季度|个?月)|今后|趋势|走势|最有?可能"
);
pattern!(
    CHAIN,
    r"\b(?:whose|of the \w+(?: \w+){0,4} (?:that|which|who|where|whose|of|in|on|at|for)|(?:that|which|who) (?:\w+ ){1,8}(?:that|which|who|whose|where)|the \w+ (?:that|which|who) .* (?:is|was|does|did|has|had)|by the \w+ (?:of|that|who|which)|in which|at which|for which|on which|of which)\b|的[^，。？?]{1,14}的[^，。？?]{1,14}的|所在的|所属的|对应的|(?:该|那)(?:公司|部门|部件|港口|人|供应商|项目|合同|船|设备)|其(?:所|负责人|供应商|上级)"
);

// Two relations in one word.
pattern!(
    TWICE_REMOVED,
    r"\bgrand-?(?:father|mother|parent|son|daughter|child)|\b(?:father|mother|sister|brother|son|daughter)-in-law\b|\b(?:uncle|aunt|niece|nephew|cousin|stepfather|stepmother|half-(?:brother|sister))\b|祖父|祖母|外公|外婆|岳父|岳母|公公|婆婆|叔叔|伯伯|姑姑|舅舅|姨妈|侄子|侄女|外甥|堂[兄弟姐妹]|表[兄弟姐妹]|嫂子|女婿|儿媳"
);
// The question is about somebody in a relation to a named thing: `Where did the director of … die?`
pattern!(
    RELATED,
    r"\b(?:what|where|when|how|which|why)\b.*(?:\bthe (?:\w+ )?|['’]s (?:\w+ )?)(?:director|performer|composer|author|writer|singer|producer|publisher|founder|creator|inventor|designer|architect|owner|maker|manufacturer|supplier|builder|employer|manager|captain|president|chairman|editor|inspector|successor|predecessor|teacher|spouse|wife|husband|father|mother|son|daughter|brother|sister|child|parent|partner|birthplace|hometown)s?(?:\s+(?:of|who|that)\b|\s+(?:\w+ed|die|born|live|work|study|graduate|come|play)\b)|\b(?:what|where|when|how)\b.*\bthe (?:\w+ ){1,2}(?:who|whom|that|which|where)\b|的(?:导演|演唱者|作曲者|作者|编剧|歌手|制片人|出版社|创始人|创建者|发明者|设计师|建筑师|所有者|制造商|供应商|雇主|经理|船长|总裁|董事长|校长|负责人|检查员|父亲|母亲|丈夫|妻子|儿子|女儿|兄弟|姐妹)(?:出生|死|逝世|毕业|来自|住|葬|任职|工作|成立|何时|什么时候|在哪|是哪[国年里个一])"
);
// The question is about two named things, even if no word compares them.
pattern!(
    OF_TWO,
    r"\bthe same\b|\bboth\b|\b(?:which|who|whose|what|where|when)\b.*\bor\b|^(?:of|between|among|out of)\b.*\band\b|\bout of\b.*\band\b|^(?:are|were|is|was|do|did|does|have|has|had)\b.*\b(?:and|or)\b.*\?|还是|都是|同一"
);

// Two questions are joined, and the answer needs both.
pattern!(
    SEVERAL,
    r"\band (?:how|what|which|who|whose|when|where|why|is|are|was|were|will|does|do|did|should|can)\b|\?.*\?|(?:多少|几|谁|哪|什么|何时|为什么|如何|是否)[^，；？]*[，；？].*(?:多少|几[个次家人台]|谁|哪|什么|何时|为什么|如何|会不会|是否|原因)|？[^？]+[？。]"
);
// The question combines kinds of steps: a thing named by its rank or its figure, a comparison or a summary of such things, the
// future of such a thing.
pattern!(
    COMBINED,
    r"\b(?:the|those|two|three|both) (?:\w+ ){0,4}(?:(?:that|which|who) .*\b(?:most|least|best|worst|more than|fewer than|never)\b|with (?:the )?(?:most|fewest|highest|lowest|largest|smallest|longest|shortest|more than|fewer than)\b)|\bthe (?:most|least)[ -]\w+ \w+(?:'s)?\b.*\b(?:suppli|compar|summar|why|who|where|how)|\b(?:compare|summari[sz]e|why|who|where)\b.*\b(?:most often|least often|the (?:most|fewest|highest|lowest|largest|smallest|longest|shortest))\b|\bwhere (?:the )?most\b|\b(?:cost|lose|lost|have|had|take|took|caused?) more\b.*\bor\b|\bor\b.*\b(?:cost|lose|lost|have|had|take|took|caused?) more\b|最(?:多|少|高|低|长|短|大|小|久|频繁|常)的[^，。？]{1,8}，|最(?:多|少|高|低|长|短|大|小|久|频繁|常)[^，。？]{0,6}的[^，。？]{1,12}(?:由|是谁|的|在哪|为什么|何时|怎么|如何|哪)|(?:比较|对比|概括|总结)[^，。？]*最(?:多|少|高|低|长|短|大|小|频繁|常)"
);

// The reason belongs to the answer of the question before it.
pattern!(
    REASON_TOO,
    r",?\s*and why\s*\?*\s*$|[，,]?(?:为什么|并说明(?:理由|原因|依据))[？?。]*\s*$"
);

/// Whether a question may need steps of several kinds.
pub(super) fn combines(question: &str) -> bool {
    asks_several(question) || COMBINED.is_match(&REASON_TOO.replace(question.trim(), "?"))
}

/// Whether two questions are joined, so that an answer to the last one alone would leave one open.
pub(super) fn asks_several(question: &str) -> bool {
    SEVERAL.is_match(&REASON_TOO.replace(question.trim(), "?"))
}

/// Whether a question asks for something new.
pub(super) fn asks_for_ideas(question: &str) -> bool {
    CREATIVE.is_match(question)
}

/// Whether a question asks for much in few words.
pub(super) fn asks_for_a_summary(question: &str) -> bool {
    SUMMARY.is_match(question)
}

/// Whether a question compares things, named or not.
pub(super) fn compares(question: &str) -> bool {
    COMPARE.is_match(question)
}

/// Whether a question that names two things compares them.
pub(super) fn asks_of_two(question: &str) -> bool {
    COMPARE.is_match(question) || OF_TWO.is_match(question)
}

/// Whether a question asks for what has not happened yet.
pub(super) fn looks_ahead(question: &str) -> bool {
    FORESEE.is_match(question)
}

/// Whether a question names one thing by another.
pub(super) fn is_chain(question: &str) -> bool {
    CHAIN.is_match(question) || TWICE_REMOVED.is_match(question) || RELATED.is_match(question)
}
