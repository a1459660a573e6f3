//! Words notices in Chinese.

use pikerag_narrate::{InWords, Words};

use crate::notice::{Notice, Unmet};

impl InWords for Notice {
    fn words(&self) -> Words {
        let chinese = match self {
            Self::OtherVectors { made_by, in_use } => {
                format!("向量由 {made_by} 而非 {in_use} 生成：只按词检索")
            }
            Self::NoEmbedder { made_by } => {
                format!("向量由 {made_by} 生成，而它目前不可用：只按词检索")
            }
            Self::Foreign { embedder } => {
                format!("{embedder} 用于英文，而大多数文档不是英文：按词检索比按语义更有效")
            }
            Self::NoReranker { model } => {
                format!("离线：未使用重排模型 {model}，结果保持检索的顺序")
            }
            Self::ReadOnly { folder } => {
                format!("{} 不可写：运行与模型的回复都不会保留", folder.display())
            }
            Self::RunForgotten => {
                "此次运行未予保留：其间有文档被彻底删除，而它可能含有该文档的内容".to_owned()
            }
            Self::RunNotKept { reason } => format!("此次运行未能保留：{reason}"),
            Self::ClockLeap { days } => {
                format!("时钟比上一次运行超前 {days} 天：没有因时间过久而删除任何运行；请检查时钟")
            }
            Self::NoAtomizer => "`index.atoms` 需要对话模型，但目前未使用：改为索引句子".to_owned(),
            Self::NoModel { base_url } => format!(
                "没有使用模型：已设置 {base_url}，但没有设置模型；请设置 OPENAI_MODEL 或 [chat] 中的 `model`"
            ),
            Self::PasswordTyped => {
                "数据库的密码写在命令行中，进程列表和命令历史会显示它".to_owned()
            }
            Self::Unanswerable { path, questions } => {
                format!("{}：已略过数据集标为无法回答的 {questions} 个问题", path.display())
            }
            Self::NoEvidence { data_set, questions, of } => {
                format!("{data_set}：{of} 个问题中有 {questions} 个没有标准证据，已略过")
            }
            Self::EvidenceNotIndexed { data_set, questions, of } => {
                format!(
                    "{data_set}：{of} 个问题中有 {questions} 个的标准证据不在知识库中，算作未找到"
                )
            }
            Self::MethodsLeftOut { data_set, methods, unmet } => {
                format!("{data_set}：略去 {}：{}", methods.join("、"), missing(*unmet))
            }
        };
        Words::new(self.to_string(), chinese)
    }
}

fn missing(unmet: Unmet) -> &'static str {
    match unmet {
        Unmet::Graph => "知识库没有实体图谱",
        Unmet::Tree => "知识库没有摘要树",
        Unmet::Questions => "知识库没有原子问题",
        Unmet::Sentences => "知识库没有以句子为原子",
        Unmet::LabelledQuestions => "没有提供带标注的问题",
    }
}
