//! Lists the metrics of a report and reads them from rows.

use pikerag_knowledge::TaskClass;
use pikerag_narrate::Language;
use serde::{Deserialize, Serialize};

use super::Row;

/// A figure that every row has, or some rows.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Metric {
    /// Share of answers that equal a label, both normalized.
    Em,
    /// Share of answers that contain a label, both normalized: the exact match of papers with
    /// full-sentence answers.
    Contained,
    /// Harmonic mean of precision and recall over words, with the best label.
    F1,
    /// Share of the answer's words that a label has; the best over all labels.
    Precision,
    /// Share of a label's words that the answer has; the best over all labels.
    Recall,
    /// Share of answers that the judging model finds right.
    Acc,
    /// Share of answers that come from the retrieved passages.
    Consistency,
    /// The perplexity of a model that writes from the retrieved passages; lower is surer.
    Perplexity,
    /// Share of answers that choose exactly the right options.
    Choice,
    /// Share of answers that name exactly the right articles.
    Articles,
    /// F1 over the numbers of the articles named.
    ArticlesF1,
    /// F1 over the names of the crimes named.
    CrimesF1,
    /// F1 over the longest common subsequence of words (Rouge-L).
    RougeL,
    /// Share of forecasts with the direction of the truth (PIKE-RAG §6.1).
    Trend,
    /// Distance of a forecast from the truth, in shares of the truth; lower is better.
    Error,
    /// Share of forecasts whose interval contains the truth.
    Covered,
    /// Share of answers over tables that are right, or refused if the tables do not hold the
    /// answer.
    Right,
    /// Share of them that give another answer.
    Wrong,
    /// Share of them that are withheld.
    Withheld,
    /// Whether ideas answer the question, by the judging model. From 0 to 1, as the four below
    /// (PIKE-RAG §6.1).
    Relevance,
    /// Whether they differ from each other.
    Diversity,
    /// Whether they cover the matter.
    Comprehensiveness,
    /// Whether they are particular to this case.
    Uniqueness,
    /// Whether they show a strategy that is not obvious.
    Inspiration,
    /// The proxy of relevance without a model, see [`Criteria`](crate::criteria::Criteria); so with
    /// the four below.
    RelevanceProxy,
    /// Without a model: the difference between two ideas.
    DiversityProxy,
    /// Without a model: the share of the passages that some idea cites.
    ComprehensivenessProxy,
    /// Without a model: the share of ideas that cite a passage and add to it.
    UniquenessProxy,
    /// Without a model: the share of ideas with a next step.
    InspirationProxy,
    /// Share of questions that were answered as the class that the data set gives.
    Routed,
    /// Share of the gold evidence that was found.
    Evidence,
    /// Share of answers that refuse.
    Refused,
    /// Share of an answer's citations that are verified.
    Citations,
    /// Model calls per question, without judging.
    Calls,
    /// Tokens of prompts per question, without judging.
    PromptTokens,
    /// Tokens of replies per question, without judging.
    CompletionTokens,
    /// Tokens of prompts and replies together.
    Tokens,
    /// US dollars per question; none if the price of a model is unknown.
    Usd,
    /// Seconds of wall time, from question to answer.
    Seconds,
}

impl Metric {
    /// Every metric, in the order of the tables.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Scores that a table shows beside EM and F1 if some row has them.
    pub(super) const FURTHER: [Self; 9] = [
        Self::Contained,
        Self::Acc,
        Self::Consistency,
        Self::Perplexity,
        Self::Choice,
        Self::Articles,
        Self::ArticlesF1,
        Self::CrimesF1,
        Self::RougeL,
    ];

    /// Scores of the levels beyond facts, shown in a table of their own if some row has them.
    pub(super) const OF_LEVELS: [Self; 17] = [
        Self::Routed,
        Self::Right,
        Self::Wrong,
        Self::Withheld,
        Self::Trend,
        Self::Error,
        Self::Covered,
        Self::Relevance,
        Self::RelevanceProxy,
        Self::Diversity,
        Self::DiversityProxy,
        Self::Comprehensiveness,
        Self::ComprehensivenessProxy,
        Self::Uniqueness,
        Self::UniquenessProxy,
        Self::Inspiration,
        Self::InspirationProxy,
    ];

    /// Its name in data files and JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The head of its column in a table.
    pub fn head(self) -> &'static str {
        match self {
            Self::Em => "EM",
            Self::F1 => "F1",
            Self::Acc => "Acc",
            Self::ArticlesF1 => "articles F1",
            Self::CrimesF1 => "crimes F1",
            Self::RougeL => "Rouge-L",
            Self::RelevanceProxy => "relevance (proxy)",
            Self::DiversityProxy => "diversity (proxy)",
            Self::ComprehensivenessProxy => "comprehensiveness (proxy)",
            Self::UniquenessProxy => "uniqueness (proxy)",
            Self::InspirationProxy => "inspiration (proxy)",
            Self::Citations => "citations ✓",
            Self::PromptTokens => "prompt",
            Self::CompletionTokens => "reply",
            Self::Usd => "US$",
            other => other.name(),
        }
    }

    /// The head of its column in a table of this language.
    pub(super) fn head_in(self, language: Language) -> &'static str {
        match language {
            Language::English => self.head(),
            Language::Chinese => self.head_in_chinese(),
        }
    }

    fn head_in_chinese(self) -> &'static str {
        match self {
            Self::Em | Self::F1 | Self::Acc | Self::RougeL => self.head(),
            Self::Contained => "包含",
            Self::Precision => "精确率",
            Self::Recall => "召回率",
            Self::Consistency => "一致性",
            Self::Perplexity => "困惑度",
            Self::Choice => "选项",
            Self::Articles => "法条",
            Self::ArticlesF1 => "法条 F1",
            Self::CrimesF1 => "罪名 F1",
            Self::Trend => "趋势",
            Self::Error => "误差",
            Self::Covered => "区间覆盖",
            Self::Right => "正确",
            Self::Wrong => "错误",
            Self::Withheld => "保留不答",
            Self::Relevance => "相关性",
            Self::Diversity => "多样性",
            Self::Comprehensiveness => "全面性",
            Self::Uniqueness => "独特性",
            Self::Inspiration => "启发性",
            Self::RelevanceProxy => "相关性（近似）",
            Self::DiversityProxy => "多样性（近似）",
            Self::ComprehensivenessProxy => "全面性（近似）",
            Self::UniquenessProxy => "独特性（近似）",
            Self::InspirationProxy => "启发性（近似）",
            Self::Routed => "类别正确",
            Self::Evidence => "证据",
            Self::Refused => "拒答",
            Self::Citations => "引用 ✓",
            Self::Calls => "调用",
            Self::PromptTokens => "提示",
            Self::CompletionTokens => "回复",
            Self::Tokens => "Token",
            Self::Usd => "美元",
            Self::Seconds => "秒",
        }
    }

    /// Whether it is a share, shown in %.
    pub fn is_share(self) -> bool {
        !matches!(
            self,
            Self::Perplexity
                | Self::Calls
                | Self::PromptTokens
                | Self::CompletionTokens
                | Self::Tokens
                | Self::Usd
                | Self::Seconds
        )
    }

    /// Its value in a row; none if the row has none.
    pub fn of(self, row: &Row) -> Option<f64> {
        match self {
            Self::Em => Some(row.scores.em),
            Self::Contained => row.task.contained,
            Self::F1 => Some(row.scores.f1),
            Self::Precision => Some(row.scores.precision),
            Self::Recall => Some(row.scores.recall),
            Self::Acc => row.acc,
            Self::Consistency => row.consistent,
            Self::Perplexity => row.perplexity,
            Self::Choice => row.task.choice,
            Self::Articles => row.task.articles,
            Self::ArticlesF1 => row.task.articles_f1,
            Self::CrimesF1 => row.task.crimes_f1,
            Self::RougeL => row.task.rouge_l,
            Self::Trend => row.foresight.trend,
            Self::Error => row.foresight.error,
            Self::Covered => row.foresight.covered,
            Self::Right => row.figured.map(|it| it.right),
            Self::Wrong => row.figured.map(|it| it.wrong),
            Self::Withheld => row.figured.map(|it| it.withheld),
            Self::Relevance => row.criteria.map(|it| it.relevance),
            Self::Diversity => row.criteria.map(|it| it.diversity),
            Self::Comprehensiveness => row.criteria.map(|it| it.comprehensiveness),
            Self::Uniqueness => row.criteria.map(|it| it.uniqueness),
            Self::Inspiration => row.criteria.map(|it| it.inspiration),
            Self::RelevanceProxy => row.proxies.map(|it| it.relevance),
            Self::DiversityProxy => row.proxies.map(|it| it.diversity),
            Self::ComprehensivenessProxy => row.proxies.map(|it| it.comprehensiveness),
            Self::UniquenessProxy => row.proxies.map(|it| it.uniqueness),
            Self::InspirationProxy => row.proxies.map(|it| it.inspiration),
            Self::Routed => {
                let label: TaskClass = row.kind.as_ref()?.parse().ok()?;
                row.class.map(|class| f64::from(u8::from(class == label)))
            }
            Self::Evidence => row.final_recall.map(f64::from),
            Self::Refused => Some(f64::from(u8::from(row.refused))),
            Self::Citations => {
                (0 < row.citations).then(|| row.verified as f64 / row.citations as f64)
            }
            Self::Calls => Some(row.calls as f64),
            Self::PromptTokens => Some(row.prompt_tokens as f64),
            Self::CompletionTokens => Some(row.completion_tokens as f64),
            Self::Tokens => Some((row.prompt_tokens + row.completion_tokens) as f64),
            Self::Usd => row.usd,
            Self::Seconds => Some(row.seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use pikerag_narrate::Language;

    use super::Metric;

    #[test]
    fn heads_of_columns_are_chinese() {
        // These names are the same in Chinese.
        let names = ["EM", "F1", "Acc", "Rouge-L", "Token"];
        for &metric in Metric::ALL {
            let head = metric.head_in(Language::Chinese);
            let is_chinese = !head.replace(" F1", "").contains(|c: char| c.is_ascii_alphabetic());
            assert!(names.contains(&head) || is_chinese, "{metric:?}: {head}");
        }
    }

    #[test]
    fn names_are_those_of_the_json() {
        for &metric in Metric::ALL {
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
        }
    }
}
