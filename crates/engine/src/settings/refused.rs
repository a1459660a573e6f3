//! Words the reasons why a value of a setting is refused, in both languages.

use std::fmt;

use pikerag_narrate::{InWords, Language, Words};

/// The reason why a value is refused. The English words follow the name of the setting.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumIter)]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "a field means what its variant's words say of it")]
pub enum RefusedValue {
    /// Chunks of so few tokens contain no fact.
    ChunkTooSmall,
    /// The smallest chunk is larger than the largest.
    MinAboveMax { min: u64, max: u64 },
    /// The name of a class of tags has no letter or digit.
    ClassWithoutName { name: String },
    /// Tesseract names its languages otherwise.
    NoTesseractLanguage { language: String },
    /// A part of a score is outside of 0 to 1.
    NoShare,
    /// A power of weights is not above 0.
    NoPower,
    /// A price is below 0.
    Negative,
    /// Weights and an endpoint are both set.
    WeightsAndEndpoint,
    /// An endpoint of a reranker has no model.
    RerankerWithoutModel,
    /// A model of a reranker has no address.
    RerankerWithoutAddress,
    /// An endpoint of an embedder has no model.
    EmbedderWithoutModel,
    /// The name of a base has other characters, or is reserved.
    BadBaseName { name: String, reserved: &'static str },
    /// A folder is watched for an unknown base.
    UnknownBase { name: String },
    /// The address is not of the web.
    NoWebAddress,
    /// This is no origin of the web.
    NoOrigin { origin: String },
    /// The number of runs is outside of its range.
    RunsOutOfRange { most: usize },
    /// A glob of files cannot be parsed.
    NoGlob { glob: String, reason: String },
    /// A variable of the environment holds no address of a database.
    NoDatabase { variable: String },
    /// A text is no pattern of tables.
    NoTablePattern { pattern: String },
    /// No base is in a database, which would hold the shared spending.
    SharedWithoutDatabase,
}

impl RefusedValue {
    /// A short name for programs; it does not change between versions.
    pub fn code(&self) -> &'static str {
        self.into()
    }
}

impl InWords for RefusedValue {
    fn words(&self) -> Words {
        match self {
            Self::ChunkTooSmall => Words::new(
                "must be at least 20: smaller chunks contain no fact",
                "至少为 20：更小的文本块不含事实",
            ),
            Self::MinAboveMax { min, max } => Words::new(
                format!("({min}) must not be above `index.max_tokens` ({max})"),
                format!("{min} 不能大于 `index.max_tokens`（{max}）"),
            ),
            Self::ClassWithoutName { name } => Words::new(
                format!("contains a class without a name: `{name}`"),
                format!("其中有没有名称的类别：`{name}`"),
            ),
            Self::NoTesseractLanguage { language } => Words::new(
                format!(
                    "contains `{language}`, which is not a language of Tesseract, such as `eng`, `deu`, `chi_sim`"
                ),
                format!("`{language}` 不是 Tesseract 的语言，例如 `eng`、`deu`、`chi_sim`"),
            ),
            Self::NoShare => Words::new(
                "must be between 0 and 1: it is the part of a score that spreads",
                "必须在 0 与 1 之间：它是得分中传播的比例",
            ),
            Self::NoPower => Words::new(
                "must be above 0: it is a power of weights",
                "必须大于 0：它是权重的指数",
            ),
            Self::Negative => Words::new("must not be negative", "不能为负数"),
            Self::WeightsAndEndpoint => Words::new(
                "and an endpoint are set: leave one of them out",
                "同时设置了权重与端点：请去掉其中一个",
            ),
            Self::RerankerWithoutModel => Words::new(
                "is not set, and `rerank.base_url` names an endpoint",
                "没有设置，而 `rerank.base_url` 指定了端点",
            ),
            Self::RerankerWithoutAddress => Words::new(
                "is not set, and rerankers have no default address (Jina: `https://api.jina.ai/v1`)",
                "没有设置，而重排模型没有默认地址（Jina：`https://api.jina.ai/v1`）",
            ),
            Self::EmbedderWithoutModel => Words::new(
                "is not set, and `embed.kind` asks for an endpoint",
                "没有设置，而 `embed.kind` 要求使用端点",
            ),
            Self::BadBaseName { name, reserved } => Words::new(
                format!(
                    "has a base with the name `{name}`: a name has only letters, digits, `-` and `_`, and `{reserved}` is the name of `base`"
                ),
                format!(
                    "知识库名称 `{name}` 不可用：名称只含字母、数字、`-` 和 `_`，且 `{reserved}` 是 `base` 的名称"
                ),
            ),
            Self::UnknownBase { name } => Words::new(
                format!("names a base `{name}` that is not in `server.bases`"),
                format!("知识库 `{name}` 不在 `server.bases` 中"),
            ),
            Self::NoWebAddress => Words::new(
                "must begin with http:// or https://",
                "必须以 `http://` 或 `https://` 开头",
            ),
            Self::NoOrigin { origin } => Words::new(
                format!(
                    "contains `{origin}`, which is not an origin such as https://chat.example.org"
                ),
                format!("`{origin}` 不是来源；请写成 `https://chat.example.org` 的形式"),
            ),
            Self::RunsOutOfRange { most } => {
                Words::new(format!("must be from 1 to {most}"), format!("必须在 1 至 {most} 之间"))
            }
            Self::NoGlob { glob, reason } => Words::new(
                format!("contains `{glob}`, which is not a glob: {reason}"),
                format!("`{glob}` 不是有效的通配模式：`{reason}`"),
            ),
            Self::NoDatabase { variable } => Words::new(
                format!(
                    "names the variable {variable}, whose value is not an address such as postgres://USER@HOST/DATABASE"
                ),
                format!(
                    "环境变量 `{variable}` 的值不是数据库地址；请写成 `postgres://USER@HOST/DATABASE` 的形式"
                ),
            ),
            Self::NoTablePattern { pattern } => Words::new(
                format!(
                    "contains `{pattern}`, which is not a pattern of tables such as `orders` or `public.*`"
                ),
                format!("`{pattern}` 不是表的模式，例如 `orders`、`public.*`"),
            ),
            Self::SharedWithoutDatabase => Words::new(
                "needs a base in PostgreSQL: the spending of all processes is kept in its database",
                "需要 PostgreSQL 中的知识库：所有进程的花费记在其数据库中",
            ),
        }
    }
}

impl fmt::Display for RefusedValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.in_words(Language::English))
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator;

    use super::*;

    /// Names in backticks stay as they are.
    #[test]
    fn reasons_are_worded_in_both_languages() {
        let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
        let mut lines = Vec::new();
        for reason in RefusedValue::iter() {
            let Words { english, chinese } = reason.words();
            let bare: String = chinese.split('`').step_by(2).collect();
            let names = ["Tesseract", "Jina", "PostgreSQL"];
            let english_words = names.into_iter().fold(bare, |text, name| text.replace(name, ""));
            assert!(!english.chars().any(is_chinese), "{reason:?}: {english}");
            assert!(!english_words.contains(|c: char| c.is_ascii_lowercase()), "{chinese}");
            lines.push(format!("{}: {chinese}", reason.code()));
        }
        insta::assert_snapshot!(lines.join("\n"));
    }
}
