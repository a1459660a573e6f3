//! Words the notes of a run, the faults of replies, and the scope of a summary.

use pikerag_knowledge::facts::UnreadableReply;
use pikerag_knowledge::{LeftOut, Note, Quoting};

use crate::answers::Sentence;
use crate::foreign::chinese_reason;
use crate::ideas::{critique, revision};
use crate::language::{InWords, Language, Words};
use crate::numbers::counted;

impl InWords for Note {
    #[expect(clippy::too_many_lines, reason = "one match gives every note its words")]
    fn words(&self) -> Words {
        match self {
            Self::QuotesEvidence { because } => {
                let Words { english, chinese } = because.words();
                Words::new(
                    format!("{english}: the answer quotes its evidence."),
                    format!("{chinese}：答案摘自其证据原文。"),
                )
            }
            Self::NothingToQuote { because, fit } => {
                let Words { english, chinese } = because.words();
                Words::new(
                    format!(
                        "{english}, and no passage matches well: the answer quotes the nearest ones (score {fit:.2})."
                    ),
                    format!(
                        "{chinese}，且没有段落足够相符：答案摘录最接近的段落（得分 {fit:.2}）。"
                    ),
                )
            }
            Self::SummaryQuotes => Words::new(
                "No language model was used: the summary consists of the most central sentences.",
                "未使用语言模型：总结由最具代表性的句子组成。",
            ),
            Self::SummarizesTag { tag, passages } => Words::new(
                format!("The summary covers {} with the tag {tag}.", counted(*passages, "passage")),
                format!("总结标签为 {tag} 的 {passages} 个段落。"),
            ),
            Self::SummarizesDocuments { titles } => Words::new(
                format!("The summary covers {}.", titles.join(", ")),
                format!("总结：{}。", titles.join("、")),
            ),
            Self::ReadsFirstPassages { limit } => Words::new(
                format!("The documents are long: the run reads their first {limit} passages."),
                format!("文档较长：只读取前 {limit} 个段落。"),
            ),
            Self::ContextCut { passages, of, tokens } => Words::new(
                format!(
                    "The model is slow: it reads the best sentences of {passages} of {}, at most {tokens} tokens.",
                    counted(*of, "passage"),
                ),
                format!(
                    "模型较慢：只读取 {of} 个段落中 {passages} 个的最相关句子，最多 {tokens} 个 Token。"
                ),
            ),
            Self::PartsNotSummarized { unread, parts } => Words::new(
                format!("{unread} of {} could not be summarized.", counted(*parts, "part")),
                format!("{parts} 个部分中有 {unread} 个无法概括。"),
            ),
            Self::FewerAgents { agents } => Words::new(
                format!("The budget is too small for more agents: {agents} remain."),
                format!("预算不足以支持更多智能体：保留 {agents} 个。"),
            ),
            Self::AgentFailed { name, error } => Words::new(
                format!("The agent “{name}” failed: {error}."),
                format!("智能体“{name}”失败：{}。", chinese_reason(error)),
            ),
            Self::CoordinatorFailed { error } => Words::new(
                format!("The coordinator failed: {error}; the agents' scores rank the ideas."),
                format!("协调者失败：{}；想法按智能体的评分排序。", chinese_reason(error)),
            ),
            Self::QuestionsSkipped { name } => Words::new(
                format!(
                    "The agent “{name}” asks no questions: its share of the budget is too small."
                ),
                format!("智能体“{name}”不提问：其预算份额不足。"),
            ),
            Self::Critiqued { round, ranking } => critique(*round, ranking),
            Self::IdeasRevised { name, changed, defended, dropped } => {
                revision(name, changed, defended, dropped)
            }
            Self::NothingRevised { round } => Words::new(
                format!("No agent revised an idea, so critique {round} is left out."),
                format!("没有智能体修改想法，因此省去第 {round} 轮互评。"),
            ),
            Self::Perspectives { names } => {
                let names = names.join(" · ");
                Words::new(format!("Perspectives: {names}."), format!("视角：{names}。"))
            }
            Self::WordingDropped { figures } => Words::new(
                format!(
                    "The model's wording names figures that no step gave ({}): the results of the steps are listed instead.",
                    figures.join(", ")
                ),
                format!(
                    "模型的措辞含有各步骤都没有给出的数字（{}）：改为列出各步骤的结果。",
                    figures.join("、")
                ),
            ),
            Self::EvidenceUnchecked { unchecked, given } => Words::new(
                format!(
                    "{unchecked} of {} left out: the documents do not contain the quote.",
                    counted(*given, "argument")
                ),
                format!("{given} 条论据中舍去 {unchecked} 条：文档中没有其引文。"),
            ),
            Self::VerdictUnsupported { verdict } => {
                let Words { english, chinese } = verdict.words();
                Words::new(
                    format!(
                        "The model's verdict was `{english}`, but no checked evidence supports it: it becomes `uncertain`."
                    ),
                    format!("模型的结论为“{chinese}”，但没有经核对的证据支持，因此改为“不确定”。"),
                )
            }
            Self::CountedNotForecast { last } => Words::new(
                format!("The records reach to {last}: the run counts and does not forecast."),
                format!("记录已到 {last}：直接计数，不作预测。"),
            ),
            Self::DerivesSchema { schema, fields, key } => Words::new(
                format!(
                    "Records of `{schema}` are read for this question: {}; one thing per {}.",
                    fields.join(", "),
                    key.join(" and "),
                ),
                format!(
                    "为此问题读取 `{schema}` 的记录：{}；按 {} 区分各项。",
                    fields.join("、"),
                    key.join("、"),
                ),
            ),
            Self::ReusesSchema { schema, run } => Words::new(
                format!(
                    "Records of `{schema}` were read for an earlier question (run {run}): they serve again."
                ),
                format!("`{schema}` 的记录曾为先前的问题读取（运行 {run}），这里再次使用。"),
            ),
            Self::TakesAsSame { field, values } => Words::new(
                format!("These values of `{field}` count as the same: {}.", values.join(" = ")),
                format!("`{field}` 的这些取值视为相同：{}。", values.join(" = ")),
            ),
            Self::WordsUnused { words } => Words::new(
                format!("The query does not use these words: {}.", words.join(", ")),
                format!("查询没有用到这些词：{}。", words.join("、")),
            ),
            Self::ReadingsDiffer { rules, model } => Words::new(
                format!("The rules read the question as “{rules}”, the model as “{model}”."),
                format!("规则把问题理解为“{rules}”，模型理解为“{model}”。"),
            ),
            Self::ReadingRejected { model } => Words::new(
                format!(
                    "The model read the question as “{model}” and then rejected this reading: passages are read instead."
                ),
                format!("模型把问题理解为“{model}”，随后又否定了这种理解：改为阅读段落。"),
            ),
            Self::AnswersFromMemory => Words::new(
                "No relevant passage gave an answer: the model answers from memory.",
                "相关段落均未给出答案：由模型凭自身知识作答。",
            ),
            Self::PassageScored { title, score } => Words::new(
                format!("{title}: score {score:.2}."),
                format!("{title}：得分 {score:.2}。"),
            ),
            Self::AnswerWeighed { answer, weight } => Words::new(
                format!("{answer}: weight {weight:.3}."),
                format!("{answer}：权重 {weight:.3}。"),
            ),
            Self::NothingToVerify { query } => Words::new(
                format!("The search found nothing to verify the answer to: {query}"),
                format!("没有找到可核实此问题答案的内容：{query}"),
            ),
            Self::NothingToComplete { query } => Words::new(
                format!("The search found no answer to: {query}"),
                format!("没有找到此问题的答案：{query}"),
            ),
            Self::SplitLimit { times, question } => Words::new(
                format!("The question was split {times} times, which is the limit: {question}"),
                format!("问题已拆分 {times} 次，达到上限：{question}"),
            ),
            Self::SubQuestionsLeftOut { left_out, limit } => Words::new(
                format!("{} left out: the limit is {limit}.", counted(*left_out, "sub-question")),
                format!("舍去 {left_out} 个子问题：上限为 {limit} 个。"),
            ),
            Self::NotAnswered { question } => Words::new(
                format!("No answer was found to: {question}"),
                format!("没有得到此问题的答案：{question}"),
            ),
            Self::GraphFull { steps, left_out: 0 } => Words::new(
                format!("The graph has {steps} steps, which is the limit."),
                format!("图已有 {steps} 个步骤，达到上限。"),
            ),
            Self::GraphFull { steps, left_out } => Words::new(
                format!(
                    "The graph has {steps} steps, which is the limit: {left_out} are left out."
                ),
                format!("图已有 {steps} 个步骤，达到上限：舍去 {left_out} 个。"),
            ),
            Self::SufficiencyThreshold { perplexity } => Words::new(
                format!(
                    "The knowledge is sufficient below a perplexity of {perplexity:.2}, measured with this model."
                ),
                format!("困惑度低于 {perplexity:.2} 时知识足够（按此模型测得）。"),
            ),
            Self::PathsLimited { followed, paths } => Words::new(
                format!("The run follows {followed} of {paths} paths."),
                format!("沿 {paths} 条路径中的 {followed} 条推理。"),
            ),
            Self::NoAtomicQuestions => Words::new(
                "The base has no atomic questions, which this method searches: index it with a chat model, or use kar3, which \
                 also searches passages.",
                "知识库没有此方法所检索的原子问题：请用对话模型重新索引，或改用 kar3，它也检索段落。",
            ),
            Self::NoSentences => Words::new(
                "The base has no sentences as atoms, which this method searches: add \"sentences\" to `atoms` under [index], and \
                 index again.",
                "知识库没有此方法所检索的句子原子：请在索引的设置中把句子加入原子的种类，再重新索引。",
            ),
            Self::Calibrated { delta } => Words::new(
                format!("δ = {delta:.2}, calibrated on this base."),
                format!("δ = {delta:.2}，按此知识库校准。"),
            ),
            Self::StructureUnhelpful { structure } => Words::new(
                format!("The {structure} does not help here: the run uses plain retrieval."),
                format!(
                    "{}在此无用：改用普通检索。",
                    match structure {
                        pikerag_knowledge::Structure::Graph => "实体图谱",
                        pikerag_knowledge::Structure::Tree => "摘要树",
                        pikerag_knowledge::Structure::Tags => "标签",
                    }
                ),
            ),
            Self::NoTags => {
                Words::new("The question contains no tags of the base.", "问题中没有知识库的标签。")
            }
            Self::SpellingCorrected { words } => Sentence::SearchedFor(words).words(),
            Self::NamesSuggested { words } => Sentence::DidYouMean(words).words(),
        }
    }
}

impl InWords for Quoting {
    fn words(&self) -> Words {
        match self {
            Self::NoModel => Words::new("No language model was used", "未使用语言模型"),
            Self::ReplyUnreadable => Words::new("The reply could not be read", "回复无法解析"),
            Self::AnswerUnsupported => Words::new(
                "No sentence that was read has the words of the model's answer",
                "读过的句子中都没有模型答案的原话",
            ),
        }
    }
}

impl InWords for UnreadableReply {
    fn words(&self) -> Words {
        match self {
            Self::Empty => Words::new("it was empty", "回复为空"),
            Self::CutOff { max_tokens } => Words::new(
                format!("it was cut off at {max_tokens} tokens"),
                format!("回复在 {max_tokens} 个 Token 处被截断"),
            ),
            Self::NoObject { keys } => Words::new(
                format!("no JSON object with `{keys}` was found in it"),
                format!("其中没有含 `{keys}` 的对象"),
            ),
            Self::BadKey { key, expected } => Words::new(
                format!("`{key}` must be {expected}"),
                format!("`{key}` 应为：{expected}"),
            ),
            Self::Refused => Words::new("the model refused the request", "模型拒绝了请求"),
        }
    }
}

impl InWords for LeftOut {
    fn words(&self) -> Words {
        match self {
            Self::Twice => Words::new("found twice", "重复找到"),
            Self::Alike => Words::new("another passage says the same", "另有段落内容相同"),
            Self::NoRoom => Words::new("over the token budget", "超出预算"),
        }
    }
}

/// How much text a summary covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryScope {
    /// Passages that were read.
    pub passages: usize,
    /// Documents that they are from.
    pub documents: usize,
    /// Passages whose summary was read in place of their text.
    pub summarized: usize,
    /// Passages that were left out, by reason; none is 0.
    pub left_out: Vec<(LeftOut, usize)>,
}

/// One sentence on how much text a summary covers.
pub fn summary_scope(scope: &SummaryScope, language: Language) -> String {
    let left: usize = scope.left_out.iter().map(|(_, count)| count).sum();
    let reasons = scope.left_out.iter();
    let reasons: Vec<String> =
        reasons.map(|(why, count)| format!("{count} {}", why.in_words(language))).collect();
    let reasons = reasons.join(language.either(", ", "，"));
    let SummaryScope { passages, documents, summarized, .. } = scope;
    let parts = [
        Words::new(
            format!("Read: {passages} passages of {documents} documents"),
            format!("已读 {documents} 份文档的 {passages} 段"),
        ),
        Words::new(
            format!("the summaries of {summarized} more"),
            format!("另有 {summarized} 段只读了摘要"),
        ),
        Words::new(
            format!("{left} more were left out ({reasons})"),
            format!("另有 {left} 段未读（{reasons}）"),
        ),
    ];
    let counts = [1, *summarized, left];
    let parts = parts.into_iter().zip(counts).filter(|(_, count)| 0 < *count);
    let shown: Vec<String> = parts.map(|(part, _)| part.of(language)).collect();
    shown.join(language.either("; ", "，")) + language.either(".", "。")
}
