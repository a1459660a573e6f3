//! Words errors in Chinese. A cause from a library, a model or the system follows in its own
//! language.

use pikerag_knowledge::{RunState, Structure, error_chain};
use pikerag_methods::SolveError;
use pikerag_narrate::{InWords, Words};

use super::causes::chinese_chain;
use crate::error::{
    EndpointOf, EngineError, FeedbackError, Missing, Needed, NoWords, QuestionFile, WeightsOf,
};

impl InWords for EngineError {
    #[expect(clippy::too_many_lines, reason = "a line for each error")]
    fn words(&self) -> Words {
        let chinese = match self {
            Self::Settings(error) => format!("设置无法使用：{}", chinese_chain(error)),
            Self::SettingsExist { path } => format!("{} 已存在，未作改动", path.display()),
            Self::NoProgram(error) => format!("找不到本程序：{}", chinese_chain(error)),
            Self::NoFolder(error) => format!("找不到工作文件夹：{}", chinese_chain(error)),
            Self::NoBase { folder } => format!("无法打开 {}：还没有知识库", folder.display()),
            Self::OnlyPart => "此密钥只能查看知识库的一部分，而此操作需要整个知识库".to_owned(),
            Self::TooMany { given, most } => format!("一次请求最多 {most} 项，收到 {given} 项"),
            Self::NotFound { what, name } => missing(*what, name),
            Self::Needs(needed) => needs(*needed).to_owned(),
            Self::NoWords(NoWords::Question) => "问题中没有词".to_owned(),
            Self::NoWords(NoWords::Query) => "没有可检索的词".to_owned(),
            Self::NoWords(NoWords::Name(name)) => format!("`{name}` 中没有词"),
            Self::File { file, source } => format!("{file} 无法读取：{}", chinese_chain(source)),
            Self::Misfit(error) => format!("要更正的文字不符：{}", chinese_chain(error)),
            Self::RunForgotten { run, .. } => {
                format!("运行 {run} 含有某文档的文本，已随该文档彻底删除")
            }
            Self::Store(error) => format!("知识库无法读写：{}", chinese_chain(error)),
            Self::Retrieve(error) => format!("检索失败：{}", chinese_chain(error)),
            Self::Solve(error) => solve(error),
            Self::NoMethod(error) => format!("没有{}", choice("方法", &error.to_string())),
            Self::NoSearch(error) => format!("没有{}", choice("检索", &error.to_string())),
            Self::Eval(error) => format!("问题或预设无法使用：{}", chinese_chain(error)),
            Self::Train(error) => format!("无法准备训练数据：{}", chinese_chain(error)),
            Self::Endpoint { of, source } => {
                format!("{}设置有误：{}", endpoint(*of), chinese_chain(source))
            }
            Self::NoWeights { of: WeightsOf::Embedder, reason } => {
                format!("嵌入模型的权重无法使用：{reason}")
            }
            Self::NoWeights { of: WeightsOf::Reranker(folder), reason } => {
                format!("重排模型的权重（{}）无法使用：{reason}", folder.display())
            }
            Self::QuestionsUnreadable { of, path, source } => {
                format!(
                    "{}文件 {} 无法读取：{}",
                    questions(*of),
                    path.display(),
                    chinese_chain(source)
                )
            }
            Self::BadQuestion { of, path, line, source } => {
                format!("{} 的第 {line} 行不是{}：{source}", path.display(), questions(*of))
            }
            Self::UnclearRun { name } => format!("有多个运行以 `{name}` 开头"),
            Self::UnclearFile { name, files } => {
                format!("有多个文件名为 `{name}`：{}", files.join("、"))
            }
            Self::RunNotAnswered { run, state } => {
                format!("运行 {run} 的状态是{}，没有回答", state_of(*state))
            }
            Self::PromptMissing { run, prompt } => {
                format!("运行 {run} 使用了 `{prompt}`，这个版本没有此提示词")
            }
            Self::NoDecision { run, seq, decisions } => {
                let decisions: Vec<String> = decisions.iter().map(u32::to_string).collect();
                let known =
                    if decisions.is_empty() { "无".to_owned() } else { decisions.join("、") };
                format!("运行 {run} 的事件 {seq} 不是决定；属于决定的有：{known}")
            }
            Self::Feedback(error) => feedback(error),
            Self::Parameter(error) => format!("所保留运行的参数已不存在：{}", chinese_chain(error)),
            Self::Cancelled => "已取消".to_owned(),
            Self::ClassOfOtherMethod { method } => {
                format!("`{method}` 不使用问题的类别或级别；`pike` 使用")
            }
            Self::NothingAdmitted { filter } => format!("知识库中没有符合过滤条件的内容：{filter}"),
            Self::NoProposal(error) => format!("模型没有提出记录类型：{}", chinese_chain(error)),
            Self::NotParsed { path, source } => {
                format!("{} 无法读取：{}", path.display(), chinese_chain(source))
            }
            Self::NotDeleted { path, source } => {
                format!("{path} 未删除：{}", chinese_chain(source))
            }
            Self::TagClassExists { name } => format!("类别 `{name}` 已存在"),
            Self::NotWritten { path, source } => {
                format!("{} 未能写入：{}", path.display(), chinese_chain(source))
            }
            Self::Output(error) => format!("输出无法写入：{}", chinese_chain(error)),
            Self::Page(error) => format!("页面无法生成：{}", chinese_chain(error)),
            Self::Json(error) => format!("结果无法写成 JSON：{error}"),
            Self::NamedTwice { label } => format!("`{label}` 出现了两次"),
            Self::BadParameter { label, source } => format!("`{label}` 的参数或取值未知：{source}"),
            Self::CorporaDoNotFit { questions, corpora } => format!(
                "{questions} 个问题文件与 {corpora} 个语料库不匹配：请给出一个共用的，或每个文件各一个（`-` 表示没有）"
            ),
            Self::NoEvidence { data_set } => {
                format!("`{data_set}` 没有标准证据，无法比较检索")
            }
            Self::OtherRun { folder, what } => {
                format!("{} 中的运行有不同的设置：{what}", folder.display())
            }
            Self::BadRows { path, source } => format!("{} 无法读取：{source}", path.display()),
            Self::CorpusUnreadable { path, reason } => {
                format!("{path} 无法读取：{}", chinese_chain(reason))
            }
            Self::CorpusIncomplete { reason, .. } => {
                format!("语料库未全部索引，因此未作评测：{reason}")
            }
        };
        Words::new(error_chain(self), chinese)
    }
}

/// The words of an English message that ends with the names to choose from.
fn choice(what: &str, english: &str) -> String {
    let name = english.split('`').nth(1).unwrap_or_default();
    let known = english.split_once("choose from ").map_or("", |(_, known)| known);
    format!("{what} `{name}`；可用：{known}")
}

fn missing(what: Missing, name: &str) -> String {
    match what {
        Missing::Chunk => format!("没有文本块 {name}"),
        Missing::File => format!("{name} 不在知识库中"),
        Missing::Original => format!("没有保留 {name} 的原始内容"),
        Missing::Correction => format!("没有第 {name} 条更正"),
        Missing::Evaluation => format!("没有评测 `{name}`"),
        Missing::Backup => format!("没有备份 {name}"),
        Missing::Run => format!("没有运行 `{name}`"),
        Missing::Node => format!("知识库中没有节点 `{name}`"),
        Missing::TagClass => format!("没有标签类别 `{name}`"),
        Missing::TagPair => format!("没有标签对 `{name}`"),
    }
}

fn needs(needed: Needed) -> &'static str {
    match needed {
        Needed::Embedder => "没有嵌入模型",
        Needed::Reranker => "没有重排模型",
        Needed::ChatForPairs => "学习标签对需要对话模型",
        Needed::Judge => "没有用于评判的模型",
        Needed::LogProbabilities => "没有可给出对数概率的模型，无法计算困惑度",
        Needed::RunFolder => "缺少运行的文件夹",
        Needed::DataFolder => "预设需要数据集的文件夹，或问题文件",
        Needed::TagClasses => "还没有标签类别",
        Needed::PartsOfBase => "没有可评测的方法：缺少它们所需的部分",
    }
}

fn endpoint(of: EndpointOf) -> String {
    match of {
        EndpointOf::Role(role) => format!("`{role}` 的模型"),
        EndpointOf::Embedder => "嵌入模型".to_owned(),
        EndpointOf::Reranker => "重排模型".to_owned(),
    }
}

fn questions(of: QuestionFile) -> &'static str {
    match of {
        QuestionFile::Asked => "问题",
        QuestionFile::Labelled => "已标注的问题",
        QuestionFile::Demonstrations => "轨迹（`methods.demonstrations`）",
    }
}

fn state_of(state: RunState) -> &'static str {
    match state {
        RunState::Running => "运行中",
        RunState::Answered => "已回答",
        RunState::Failed => "失败",
        RunState::Cancelled => "已取消",
    }
}

fn feedback(error: &FeedbackError) -> String {
    match error {
        FeedbackError::NoVerified { name } => {
            format!("没有人工核实的问答 `{name}`，或有多个以此开头")
        }
        FeedbackError::NothingToAccept { run } => format!("运行 {run} 没有回答"),
        FeedbackError::NoAuthor => "未说明反馈由谁提供".to_owned(),
        FeedbackError::EmptyCorrection => "更正中没有词".to_owned(),
    }
}

fn solve(error: &SolveError) -> String {
    match error {
        SolveError::Retrieve(error) => format!("检索失败：{}", chinese_chain(error)),
        SolveError::Ask(error) => format!("模型调用失败：{}", chinese_chain(error)),
        SolveError::Store(error) => format!("知识库无法读取：{}", chinese_chain(error)),
        SolveError::NoModel { role } => {
            format!("此方法需要语言模型（`{role}`），目前未设置")
        }
        SolveError::NoScorer => "此方法需要对数概率，而没有设置能给出它的模型".to_owned(),
        SolveError::NotBuilt { structure } => {
            let structure = match structure {
                Structure::Graph => "实体图谱",
                Structure::Tree => "摘要树",
                Structure::Tags => "标签",
            };
            format!("此方法需要知识库的{structure}，而它尚未建立")
        }
        SolveError::NoLabelledQuestions => {
            "此方法需要标注为已知或未知的问题，而没有给出".to_owned()
        }
        SolveError::Query(error) => format!("记录无法计算：{}", chinese_chain(error)),
        SolveError::NoEngine => "没有计算记录的查询引擎".to_owned(),
        SolveError::Cancelled => "运行已取消".to_owned(),
        SolveError::Diverged { seq } => {
            format!("事件 {seq} 与当时不同：知识库或设置已改变")
        }
        SolveError::UnfitChange { seq, wanted } => {
            let wanted = match *wanted {
                "sub-questions" => "子问题",
                "the number of a candidate" => "候选的编号",
                "the name of a class" => "类型的名称",
                "a verdict" => "一个判断",
                "text" => "文字",
                other => other,
            };
            format!("对事件 {seq} 的改动不适用；需要：{wanted}")
        }
        SolveError::NoCandidate { index, candidates } => {
            format!("没有第 {} 个候选：只找到 {candidates} 个", index + 1)
        }
    }
}
