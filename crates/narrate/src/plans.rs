//! Words the steps of a plan and the use of a verified answer.

use pikerag_knowledge::{PlanStep, Recollection, StepKind};

use crate::language::{InWords, Words};
use crate::numbers::counted;

impl InWords for StepKind {
    fn words(&self) -> Words {
        match self {
            Self::Read => Words::new("read", "阅读"),
            Self::Compute => Words::new("compute", "计算"),
            Self::Compare => Words::new("compare", "比较"),
            Self::Summarize => Words::new("summarize", "概括"),
            Self::Forecast => Words::new("forecast", "预测"),
            Self::Think => Words::new("find ideas", "构思"),
        }
    }
}

impl InWords for PlanStep {
    fn words(&self) -> Words {
        match self {
            Self::FindPassages => {
                Words::new("find the passages that match best", "找出最相符的段落")
            }
            Self::ReadAndSearch => Words::new(
                "read them, search for missing facts, read again",
                "阅读，查找缺少的内容，再阅读",
            ),
            Self::QuoteSentences => {
                Words::new("quote the sentences that match best", "摘录最相符的句子")
            }
            Self::FindEachThing => {
                Words::new("find what the documents say about each thing", "找出文档对每一项的说明")
            }
            Self::AlignByAttribute => Words::new(
                "align it by attribute, each cell with its source",
                "按属性对齐，每格注明来源",
            ),
            Self::ConcludeFromTable => {
                Words::new("draw the conclusion from the table", "由表格得出结论")
            }
            Self::FindRecords => Words::new(
                "find records: declared ones first, then tables",
                "寻找记录：先看声明的，再看表格",
            ),
            Self::StructurePassages => Words::new(
                "if none match, derive their schema from the question and read passages as records",
                "若没有，就由问题得出记录的结构，把段落读成记录",
            ),
            Self::GatherRecords { schema } => Words::new(
                format!("gather all records of `{schema}`, one thing per key"),
                format!("汇集 `{schema}` 的全部记录，每个键一项"),
            ),
            Self::ComputeFigure => {
                Words::new("compute the figure with the query engine", "由查询引擎计算")
            }
            Self::CiteRecords => Words::new("cite each record behind it", "引用所依据的每条记录"),
            Self::TakeDocuments => Words::new(
                "take the named documents, or all matching passages",
                "取用提到的文档，或所有相符的段落",
            ),
            Self::SummarizeParts => {
                Words::new("summarize each part, then all parts together", "先逐部分概括，再总括")
            }
            Self::SortByTime => Words::new("sort the records by time", "按时间排序"),
            Self::ForecastSeries => Words::new(
                "test each model on the past, forecast with the best one",
                "用过去的数据检验每个模型，以最好的进行预测",
            ),
            Self::FindPastAndCauses => Words::new(
                "find passages on the past, on causes and on doubts",
                "找出有关过去、原因和疑点的段落",
            ),
            Self::WeighEvidence => {
                Words::new("weigh the evidence for and against", "权衡支持与反对的证据")
            }
            Self::CheckEvidence => Words::new(
                "check each quote; a verdict without checked evidence becomes uncertain",
                "核对每条引文；没有经核对的证据的结论改为不确定",
            ),
            Self::ChoosePerspectives => Words::new("choose perspectives", "选取视角"),
            Self::RunAgents => Words::new(
                "let one agent per perspective search and think, all at once",
                "让每个视角的智能体同时查找并思考",
            ),
            Self::JudgeIdeas => {
                Words::new("let the agents judge each other's ideas", "让智能体互相评判想法")
            }
            Self::MergeIdeas => Words::new(
                "merge the ideas, with their evidence and their gaps",
                "汇总想法，注明依据与不足",
            ),
            Self::AnswerPart { name, kind, question } => {
                let Words { english, chinese } = kind.words();
                Words::new(
                    format!("{{{name}}}: {english}: {question}"),
                    format!("{{{name}}}：{chinese}：{question}"),
                )
            }
        }
    }
}

impl InWords for Recollection {
    fn words(&self) -> Words {
        match self {
            Self::Reused => Words::new(
                "the documents have nothing new, so this run gives that answer",
                "文档没有新的内容，因此以此作答",
            ),
            Self::Rejected => again("a person rejected that answer", "那个回答已被否定"),
            Self::EvidenceChanged { titles } => again(
                &format!("its evidence has changed: {}", titles.join(", ")),
                &format!("它的证据已改变：{}", titles.join("、")),
            ),
            Self::NewPassages { count } => again(
                &format!(
                    "{} among the best {} new since then",
                    counted(*count, "passage"),
                    if *count == 1 { "is" } else { "are" }
                ),
                &format!("最相符的段落中有 {count} 个是此后新增的"),
            ),
            Self::ComputedAgain => {
                again("that answer was computed from records", "那个回答是由记录计算得出的")
            }
            Self::ClassRequested => again("the caller set a class", "提问者指定了类别"),
            Self::RecordsAnswer => {
                again("records answer it without a model call", "记录即可回答，无需调用模型")
            }
        }
    }
}

fn again(english: &str, chinese: &str) -> Words {
    Words::new(format!("answered again: {english}"), format!("重新作答：{chinese}"))
}
