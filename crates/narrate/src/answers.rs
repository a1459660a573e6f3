//! Words the answers that no model writes. A replay compares answers, so these keep their wording.

use pikerag_knowledge::Respelling;

use crate::language::{InWords, Words};
use crate::reasons::nearest;

/// An answer, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentence<'a> {
    /// The documents do not contain the answer, and why.
    Insufficient(&'a str),
    /// The answer that is most likely.
    MostLikely(&'a str),
    /// Knowledge is missing for these steps, a line each.
    MissingKnowledge(&'a str),
    /// The documents' statements about each thing, side by side, without a conclusion.
    SideBySide,
    /// The documents' statements about a development, without a verdict, because no model is set.
    JudgementNeedsModel,
    /// The documents' statements about a development, without a verdict, because the model's reply
    /// could not be read.
    JudgementUnreadable,
    /// Whether things are the same.
    IsSame(bool),
    /// The model's reply could not be read.
    ReplyUnreadable,
    /// No passage has these words of the question, which are its subject; the nearest passages follow.
    WordsUnknown(&'a [String]),
    /// No document mentions these things, which the question names.
    NotMentioned(&'a [String]),
    /// No passage has a word of the question.
    NotInDocuments,
    /// A model replied, and its answer is empty.
    NoAnswer,
    /// No sentence that was read holds the answer's words.
    AnswerUnsupported,
    /// The same of an answer that is not shown.
    AnswerLeftOut,
    /// What an answer lacks that its model does not find in the cited passage.
    StatingPassage,
    /// The documents' words that are searched for, because no passage has those of the question.
    SearchedFor(&'a [Respelling]),
    /// The documents' names that resemble names of the question, which no passage has.
    DidYouMean(&'a [Respelling]),
    /// A table may have the answer.
    TableMayAnswer {
        /// Title of the table.
        table: &'a str,
        /// Words of the question that were not understood.
        words: &'a [String],
        /// Readings of the question without these words, the nearest first.
        readings: &'a [String],
        /// The statement of each reading.
        statements: &'a [String],
    },
}

impl InWords for Sentence<'_> {
    fn words(&self) -> Words {
        match self {
            Self::Insufficient(why) => Words::new(
                format!("Insufficient information. ({why})"),
                format!("信息不足。 ({why})"),
            ),
            Self::MostLikely(answer) => {
                Words::new(format!("most likely: {answer}"), format!("最有可能: {answer}"))
            }
            Self::MissingKnowledge(steps) => Words::new(
                format!(
                    "The knowledge base does not hold enough to answer this. Knowledge is missing for:\n{steps}"
                ),
                format!("知识库中的内容不足以回答这个问题。缺少以下步骤所需的知识：\n{steps}"),
            ),
            Self::SideBySide => Words::new(
                "Below are the documents' statements about each item; a conclusion needs a language model.",
                "以下并列各文档对每一项的说明；得出结论需要语言模型。",
            ),
            Self::JudgementNeedsModel => Words::new(
                "Below are the documents' statements on this; a judgement of how likely it is needs a language model.",
                "以下是文档中与此有关的说明；判断其可能性需要语言模型。",
            ),
            Self::JudgementUnreadable => Words::new(
                "Below are the documents' statements on this; the model's judgement could not be read.",
                "以下是文档中与此有关的说明；模型的判断无法解析。",
            ),
            Self::IsSame(true) => Words::new("Yes", "是"),
            Self::IsSame(false) => Words::new("No", "否"),
            Self::ReplyUnreadable => {
                Words::new("The model's reply could not be read.", "模型的回复无法解析。")
            }
            Self::WordsUnknown(words) => words_unknown(words),
            Self::NotMentioned(things) => Words::new(
                format!("No document mentions “{}”.", things.join("”, “")),
                format!("没有文档提到“{}”。", things.join("”、“")),
            ),
            Self::NotInDocuments => Words::new(
                "Not found: no passage has a word of the question. Ask in other words.",
                "未找到：没有段落含有问题中的词。请换个说法提问。",
            ),
            Self::AnswerUnsupported => Words::new(
                "No sentence that was read has the words of this answer.",
                "读过的句子中都没有这个答案的原话。",
            ),
            Self::AnswerLeftOut => Words::new(
                "The model's answer was left out: no sentence that was read has its words.",
                "模型的答案未予采用：读过的句子中都没有它的原话。",
            ),
            Self::StatingPassage => {
                Words::new("a passage that states this answer", "写明这一答案的段落")
            }
            Self::NoAnswer => Words::new("No answer was found.", "没有找到答案。"),
            Self::SearchedFor(words) => {
                let (typed, found) = both(words);
                Words::new(
                    format!(
                        "Searched for “{}”, because no passage has “{}”.",
                        found.join("”, “"),
                        typed.join("”, “")
                    ),
                    format!(
                        "按“{}”检索，因为没有段落含有“{}”。",
                        found.join("”、“"),
                        typed.join("”、“")
                    ),
                )
            }
            Self::DidYouMean(words) => {
                let (typed, found) = both(words);
                Words::new(
                    format!(
                        "No passage has “{}”: did you mean “{}”?",
                        typed.join("”, “"),
                        found.join("”, “")
                    ),
                    format!(
                        "没有段落含有“{}”：您是否指“{}”？",
                        typed.join("”、“"),
                        found.join("”、“")
                    ),
                )
            }
            Self::TableMayAnswer { table, words, readings, statements } => {
                let nearest = nearest(readings, statements);
                Words::new(
                    format!(
                        "The table `{table}` may have the answer, but this was not understood: {}. The nearest reading: \
                         {nearest}. `pikerag sql` gives the result of such a statement.",
                        words.join(", ")
                    ),
                    format!(
                        "表 `{table}` 中可能有答案，但以下内容未能理解：{}。最接近的理解：{nearest}。`pikerag sql` 可给出这样的语句的结果。",
                        words.join("、")
                    ),
                )
            }
        }
    }
}

fn words_unknown(words: &[String]) -> Words {
    let (noun, pronoun) = match words {
        [_] => ("word", "it"),
        _ => ("words", "them"),
    };
    Words::new(
        format!(
            "No passage has the {noun} “{}”: the documents use others for {pronoun}, or do not have the answer.",
            words.join("”, “")
        ),
        format!("没有段落含有“{}”：文档可能用别的说法，也可能没有答案。", words.join("”、“")),
    )
}

/// The question's words, and the documents' words for them.
fn both(words: &[Respelling]) -> (Vec<&str>, Vec<&str>) {
    words.iter().map(|word| (word.word.as_str(), word.to.as_str())).unzip()
}
