//! Names classes, paths, criteria and models.

use pikerag_knowledge::worked::{ForecastModel, NoRecord};
use pikerag_knowledge::{
    ClassifiedBy, ColumnKind, Criterion, JudgedBy, StopReason, TaskClass, Via,
};

use crate::language::{InWords, Words};

impl InWords for TaskClass {
    fn words(&self) -> Words {
        let chinese = match self {
            Self::Factual => "事实",
            Self::Bridging => "多跳",
            Self::Comparative => "对比",
            Self::Quantitative => "统计",
            Self::Summarizing => "总结",
            Self::Predictive => "预测",
            Self::Creative => "创意",
        };
        Words::new(self.as_str(), chinese)
    }
}

impl InWords for ColumnKind {
    fn words(&self) -> Words {
        let chinese = match self {
            Self::Integer => "整数",
            Self::Real => "小数",
            Self::Year => "年份",
            Self::Date => "日期",
            Self::Boolean => "是否",
            Self::Identifier => "标识",
            Self::Category => "类别",
            Self::Text => "文本",
        };
        Words::new(self.as_str(), chinese)
    }
}

impl InWords for Via {
    fn words(&self) -> Words {
        match self {
            Self::Atoms => Words::new("atoms", "原子问题"),
            Self::Chunks => Words::new("chunks", "文本块"),
            Self::Hops => Words::new("links and names", "链接与名称"),
            Self::Graph => Words::new("entities", "实体"),
            Self::Tree => Words::new("summaries", "摘要"),
            Self::Tags => Words::new("tags", "标签"),
            Self::Verified => Words::new("verified answers", "人工核实的问答"),
            Self::BackupAtoms => {
                Words::new("the question itself, by atoms", "问题本身，按原子问题")
            }
            Self::BackupChunks => {
                Words::new("the question itself, by chunks", "问题本身，按文本块")
            }
        }
    }
}

impl InWords for StopReason {
    fn words(&self) -> Words {
        match self {
            Self::NothingProposed => Words::new("nothing is missing", "没有缺少的信息"),
            Self::NothingFound => Words::new("nothing new was found", "没有找到新的内容"),
            Self::NothingSelected => Words::new("nothing more is needed", "不再需要更多内容"),
            Self::NoneHelps => Words::new("no candidate helps", "候选均无帮助"),
            Self::HopLimit => Words::new("the limit of hops is reached", "已达跳数上限"),
            Self::Unreadable => Words::new("the reply could not be read", "回复无法解析"),
        }
    }
}

impl InWords for Criterion {
    fn words(&self) -> Words {
        match self {
            Self::Known => Words::new("known without a search", "无需检索即知"),
            Self::Clear => Words::new("clear", "清楚"),
            Self::NeedsRetrieval => Words::new("needs retrieval", "需要检索"),
            Self::Relevant => Words::new("relevant", "相关"),
            Self::Supported => Words::new("supported", "有依据"),
            Self::Useful => Words::new("useful", "有用"),
            Self::Sufficient => Words::new("sufficient", "足够"),
            Self::Confident => Words::new("confident", "有把握"),
            Self::Promising => Words::new("promising", "有希望"),
            Self::Consistent => Words::new("consistent", "一致"),
        }
    }
}

impl InWords for ClassifiedBy {
    fn words(&self) -> Words {
        match self {
            Self::Rules => Words::new("rules", "规则"),
            Self::Model => Words::new("a model", "模型"),
            Self::Asker => Words::new("the caller", "提问者"),
            Self::Verified => Words::new("a verified answer", "人工核实的问答"),
        }
    }
}

impl InWords for JudgedBy {
    fn words(&self) -> Words {
        match self {
            Self::LogProbabilities => Words::new("by log-probabilities", "按对数概率"),
            Self::SelfAssessment => Words::new(
                "by the model's own grade, without log-probabilities",
                "按模型自评，无对数概率",
            ),
            Self::Verdict => Words::new("by the model's verdict", "由模型判断"),
            Self::Neighbours => {
                Words::new("by the nearest labelled questions", "按最相近的已标注问题")
            }
        }
    }
}

impl InWords for ForecastModel {
    fn words(&self) -> Words {
        match self {
            Self::Combination => Words::new("the mean of all models", "各模型的平均"),
            Self::Naive => Words::new("naive (as the last figure)", "朴素法（同上一期）"),
            Self::SeasonalNaive => {
                Words::new("seasonal naive (as a year before)", "季节朴素法（同上年同期）")
            }
            Self::Mean => Words::new("the mean of all figures", "历史均值"),
            Self::Drift => Words::new("drift (a line from first to last)", "漂移法（首末连线）"),
            Self::Smoothing => Words::new("exponential smoothing", "指数平滑"),
            Self::Seasonal => Words::new("seasons by loess, the rest smoothed", "季节分解与平滑"),
        }
    }
}

impl InWords for NoRecord {
    fn words(&self) -> Words {
        match self {
            Self::NotPlain => Words::new(
                "no matching table, line or field, and no model reads texts",
                "没有符合的表格、行或字段，且没有模型阅读正文",
            ),
            Self::NotFound => Words::new(
                "no matching table, line or field, and a model found none in the text",
                "没有符合的表格、行或字段，模型在正文中也未找到",
            ),
            Self::NotRead => Words::new(
                "none of its passages was read for this question",
                "没有为此问题阅读其中的段落",
            ),
            Self::NoTable => Words::new(
                "no such table; declare `[[records]]` to read texts too",
                "没有这样的表格；声明 `[[records]]` 后也会阅读正文",
            ),
        }
    }
}
