//! Lists the words of questions that add no condition, and those for a change.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use pikerag_language::pattern;

use super::Cues;

pattern!(
    NOISE,
    r"\b(?:please|quickly|still|yet|at the moment|at present|right now|currently|presently|to date|up to now|until now|overall|so far|in (?:our|the|this) (?:data|records?|books?|system|register|database|spreadsheet|sheet|overview|list)|on (?:the )?(?:list|books|file|record)|do we have|we have|tell me|just out of curiosity|out of curiosity|do you know|can you|could you|thank you|thanks|hello|hi|according to|going by|in the data|in the (?:list|table|record|file|dataset)|in this (?:list|table|record|file|dataset)|on record|recorded|listed|measured|measurements?|data|full name|ever|in all|by name|there|exist|they|give|altogether|stand for|possible|whole|entire|really|actually|exactly|figures?|happened?|occurr?(?:ed|s)?|took place|take place|reach(?:es|ed)?|carr(?:y|ies|ied)|lies?|located|live[sd]?|gets?|got|buil[dt]s?|operate[sd]?|fl[ye]w?|flown|fly|departed|observed?|go(?:es)?|went|come[s]?|came|makes?|made|placed?|takes?|took|used?|uses|exist(?:s|ed)?|hit|seen?|show[ns]?|showed|appear(?:s|ed)?|becom(?:e|es|ing)|became|belongs?|contains?|includes?|hold[s]?|held|run[s]?|ran|sold|bought|began|begin[s]?|started?|ends?|ended|do|done|among|out|sell|sells|shop|ledger|race|cast|listed|received|receive|sit|sat|dated|daily|yearly|years?|months?|days?|two-letter|three-letter|letters?|persons?|people|kinds?|different|both|all|over|early|late|off|public)\b"
);

// They may contain words of columns: 名 of 名单.
pattern!(
    HARMLESS,
    r"(?:台账|名单|清单|花名册|登记表|登记册|系统|数据库|明细表?|报表|表格)(?:里面|[里中上内])面?|(?:我们|咱们|我司|本公司|公司)(?:里面|里|内)?(?:一共|总共|目前|现在|共)|请问|医院里|院里|厂里|店里|公司里|所里|全国|全公司|全院|全厂|全所|到现在|到如今|(?:请?帮(?:我|忙)|麻烦你?)?(?:查|看|算|数|统计)一下|截至目前|到目前为止|迄今为止?"
);

/// The longest word of [`NOISE_ZH`], in characters.
const LONGEST: usize = 4;

/// Chinese words that carry no condition.
const NOISE_ZH: &str = "\
    发生的 发生了 请给出 观察了 告诉我 请列出 这三个 数据里 观测中 记录到 那一天 \
    一年里 数据中 查一下 有多少 三个 多少 用了 观测 人均 首尾 观察 只有 部门 帮我 \
    叫做 生产 哪个 按照 一个 放到 所有 当时 一下 哪家 下降 一年 大约 等等 情况 \
    最终 记录 各自 包括 现在 变化 制造 一次 国际 以来 部分 哪位 那天 哪里 年份 \
    出现 导致 总共 对应 个月 这里 整个 时期 次数 化学 以及 一家 列出 麻烦 全部 \
    目前 飞了 每年 并列 月份 日期 开放 大概 使用 根据 这些 分别 各州 给出 阶段 \
    时候 飞往 发现 两种 数据 每月 知道 天数 你好 请问 谢谢 一天 其中 记为 属于 \
    全年 上升 实际 造成 数量 左右 大气 信息 表里 曾经 日子 当年 表中 这个 每天 \
    什么 一共 出发 两天 里面 总计 位于 那年 两家 两个 共有 具体 之间 那个 期间 该 \
    想 这 名 年 属 占 及 为 里 飞 使 吗 能 含 座 之 把 才 还 了 有 吧 和 \
    已 家 仍 共 等 次 由 按 中 或 我 哪 又 叫 会 以 请 算 天 则 要 各 再 \
    月 架 起 去 呢 其 几 日 被 个 在 刚 的 种 将 都 也 到 项 人 所 就 当 \
    天 份 款 批 卖 卖出 卖了 收 收了 上 里面 牌子 其他 他 夺走 下 那款 \
    台 位 只 与 那 并 从 便 曾 件 查 说 让 是 来 于";

/// Words for a change. In a question about a difference, they add nothing.
const CHANGES: [&str; 24] = [
    "rise",
    "rose",
    "risen",
    "grow",
    "grew",
    "grown",
    "increase",
    "increased",
    "fall",
    "fell",
    "drop",
    "dropped",
    "decrease",
    "decreased",
    "decline",
    "declined",
    "lose",
    "lost",
    "gain",
    "gained",
    "change",
    "changed",
    "bring",
    "brought",
];

impl Cues {
    /// Marks words that name no column, although their characters alone may.
    pub(super) fn read_harmless(&mut self) {
        let found: Vec<Range<usize>> =
            HARMLESS.find_iter(&self.text).map(|found| self.span(found.range())).collect();
        for span in found {
            self.mark(span.clone());
            self.harmless.push(span);
        }
    }

    /// Whether a piece belongs to words that name no column.
    pub(crate) fn is_harmless(&self, piece: usize) -> bool {
        self.harmless.iter().any(|span| span.contains(&piece))
    }

    /// The spans of English words that carry no condition.
    pub(crate) fn noise(&self) -> Vec<Range<usize>> {
        NOISE.find_iter(&self.text).map(|found| self.span(found.range())).collect()
    }
}

/// The length of the longest Chinese word without a condition that a text begins with, in characters; 0 for none.
pub(crate) fn noise_length(text: &[char]) -> usize {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| NOISE_ZH.split_whitespace().collect());
    (1..=LONGEST.min(text.len()))
        .rev()
        .find(|length| {
            let word: String = text.iter().take(*length).collect();
            WORDS.contains(word.as_str())
        })
        .unwrap_or(0)
}

/// Whether a word names a change.
pub(crate) fn is_change(word: &str) -> bool {
    CHANGES.contains(&word)
}
