//! Which figure of a row is meant?

use serde::{Deserialize, Serialize};

use super::Row;

/// A figure that every row has, or some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Share of answers that equal a label, both normalized.
    Em,
    /// Share of answers in which a label stands whole, both normalized: what papers whose models answer in sentences
    /// call exact match.
    Contained,
    /// Harmonic mean of precision and recall over words, with the label that gives most.
    F1,
    /// Share of the answer's words that a label has; the best over all labels.
    Precision,
    /// Share of a label's words that the answer has; the best over all labels.
    Recall,
    /// Share of answers that the judging model finds right.
    Acc,
    /// Share of answers that stem from what was retrieved.
    Consistency,
    /// How sure a model is that writes from what was retrieved; lower is surer.
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
    /// Share of the gold evidence that was found.
    Evidence,
    /// Share of answers that say there is none.
    Refused,
    /// Share of an answer's citations that are verified.
    Citations,
    /// Model calls per question, judging left out.
    Calls,
    /// Tokens of prompts per question, judging left out.
    PromptTokens,
    /// Tokens of replies per question, judging left out.
    CompletionTokens,
    /// Tokens of prompts and replies together.
    Tokens,
    /// US dollars per question; none where the price of a model is not known.
    Usd,
    /// Seconds of wall time, from question to answer.
    Seconds,
}

impl Metric {
    /// Every metric, in the order of the tables.
    pub const ALL: [Self; 22] = [
        Self::Em,
        Self::Contained,
        Self::F1,
        Self::Precision,
        Self::Recall,
        Self::Acc,
        Self::Consistency,
        Self::Perplexity,
        Self::Choice,
        Self::Articles,
        Self::ArticlesF1,
        Self::CrimesF1,
        Self::RougeL,
        Self::Evidence,
        Self::Refused,
        Self::Citations,
        Self::Calls,
        Self::PromptTokens,
        Self::CompletionTokens,
        Self::Tokens,
        Self::Usd,
        Self::Seconds,
    ];

    /// Scores that a table shows beside EM and F1 where some row has them.
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

    /// Its name in data files and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Em => "em",
            Self::Contained => "contained",
            Self::F1 => "f1",
            Self::Precision => "precision",
            Self::Recall => "recall",
            Self::Acc => "acc",
            Self::Consistency => "consistency",
            Self::Perplexity => "perplexity",
            Self::Choice => "choice",
            Self::Articles => "articles",
            Self::ArticlesF1 => "articles_f1",
            Self::CrimesF1 => "crimes_f1",
            Self::RougeL => "rouge_l",
            Self::Evidence => "evidence",
            Self::Refused => "refused",
            Self::Citations => "citations",
            Self::Calls => "calls",
            Self::PromptTokens => "prompt_tokens",
            Self::CompletionTokens => "completion_tokens",
            Self::Tokens => "tokens",
            Self::Usd => "usd",
            Self::Seconds => "seconds",
        }
    }

    /// What stands above its column in a table.
    pub fn head(self) -> &'static str {
        match self {
            Self::Em => "EM",
            Self::F1 => "F1",
            Self::Acc => "Acc",
            Self::ArticlesF1 => "articles F1",
            Self::CrimesF1 => "crimes F1",
            Self::RougeL => "Rouge-L",
            Self::Citations => "citations ✓",
            Self::PromptTokens => "prompt",
            Self::CompletionTokens => "reply",
            Self::Usd => "US$",
            other => other.name(),
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

    /// Its value in a row; none where the row has none.
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
    use super::Metric;

    #[test]
    fn names_are_those_of_the_json() {
        for metric in Metric::ALL {
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
        }
    }
}
