//! Why is a question of its kind, and why is another scheme tried? In the language of the question.

use pikerag_knowledge::Level;

use super::wording::Tongue;

/// A reason that no model gave.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Why {
    AsksForIdeas,
    AsksOf { things: Vec<String> },
    AsksWhatIsToCome,
    RecordsReachIt { schema: String },
    CanBeCarriedOn { count: usize, schema: String, last: Option<String> },
    NoneCanBeCarriedOn,
    OneListTells { schema: String },
    AsksWhichOnes,
    AsksForAFigure,
    HasToBeWorkedOut { count: usize, schema: String },
    AsksForASummary,
    Compares,
    NothingIsSaidOf { schema: String, words: Vec<String> },
    IsAChain,
    IsScattered,
    BestPassageHolds { percent: f64 },
    MayBeTold,
    AskerSaysSo,
    LevelIsAskedFor(Level),
    NoRecordsOfIt,
    NoRecordTellsIt,
    NoRecordSpeaksOf { schema: String, words: Vec<String> },
    TooLittleIsTold { percent: f64 },
}

impl Why {
    pub(super) fn told(&self, tongue: Tongue) -> String {
        match tongue {
            Tongue::English => self.in_english(),
            Tongue::Chinese => self.in_chinese(),
        }
    }

    fn in_english(&self) -> String {
        match self {
            Self::AsksForIdeas => "its words ask for something new".to_owned(),
            Self::AsksOf { things } => format!("it puts side by side: {}", things.join(" | ")),
            Self::AsksWhatIsToCome => "its words ask for what is to come".to_owned(),
            Self::RecordsReachIt { schema } => {
                format!("the records under `{schema}` reach that time already")
            }
            Self::CanBeCarriedOn { count, schema, last } => {
                let last = last.as_ref().map(|day| format!(", the last of {day}"));
                let last = last.unwrap_or_default();
                format!("{count} things under `{schema}` can be carried on{last}")
            }
            Self::NoneCanBeCarriedOn => {
                "no records that could be carried on fit all of its words".to_owned()
            }
            Self::OneListTells { schema } => {
                format!("one document lists what it asks for, as records under `{schema}`")
            }
            Self::AsksWhichOnes => "its words ask which ones there are".to_owned(),
            Self::AsksForAFigure => "its words ask for a figure".to_owned(),
            Self::HasToBeWorkedOut { count, schema } => {
                format!("it has to be worked out of {count} things under `{schema}`")
            }
            Self::AsksForASummary => "its words ask for much in few words".to_owned(),
            Self::Compares => "its words compare".to_owned(),
            Self::NothingIsSaidOf { schema, words } => {
                format!("no record under `{schema}` says anything of: {}", words.join(", "))
            }
            Self::IsAChain => "one thing in it is named by another".to_owned(),
            Self::IsScattered => "no single passage holds most of it".to_owned(),
            Self::BestPassageHolds { percent } => {
                format!("the best passage holds {percent:.0} % of its words")
            }
            Self::MayBeTold => "its words ask for something that the documents may tell".to_owned(),
            Self::AskerSaysSo => "whoever asked said so".to_owned(),
            Self::LevelIsAskedFor(level) => format!("level {level} was asked for"),
            Self::NoRecordsOfIt => {
                "there are no records of what is asked, so the documents are read".to_owned()
            }
            Self::NoRecordTellsIt => {
                "no record tells of what is asked, so the documents are read".to_owned()
            }
            Self::NoRecordSpeaksOf { schema, words } => format!(
                "no record under `{schema}` says anything of {}, so the documents are read",
                words.join(", ")
            ),
            Self::TooLittleIsTold { percent } => {
                format!("the best passage holds {percent:.0} % of the question's words")
            }
        }
    }

    fn in_chinese(&self) -> String {
        match self {
            Self::AsksForIdeas => "问的是新的想法".to_owned(),
            Self::AsksOf { things } => format!("把这些放在一起比较：{}", things.join(" | ")),
            Self::AsksWhatIsToCome => "问的是将来的情况".to_owned(),
            Self::RecordsReachIt { schema } => format!("`{schema}` 的记录已包含那段时间"),
            Self::CanBeCarriedOn { count, schema, last } => {
                let last = last.as_ref().map(|day| format!("，最近的是 {day}"));
                let last = last.unwrap_or_default();
                format!("`{schema}` 的 {count} 项可以据以推算{last}")
            }
            Self::NoneCanBeCarriedOn => "没有符合全部条件、可据以推算的记录".to_owned(),
            Self::OneListTells { schema } => {
                format!("有一份文档以 `{schema}` 的记录列出了所问的内容")
            }
            Self::AsksWhichOnes => "问的是有哪些".to_owned(),
            Self::AsksForAFigure => "问的是数字".to_owned(),
            Self::HasToBeWorkedOut { count, schema } => {
                format!("需要由 `{schema}` 的 {count} 项算出")
            }
            Self::AsksForASummary => "要求用少量的话概括许多内容".to_owned(),
            Self::Compares => "问的是比较".to_owned(),
            Self::NothingIsSaidOf { schema, words } => {
                format!("`{schema}` 的记录没有提到：{}", words.join("、"))
            }
            Self::IsAChain => "其中一件事物要通过另一件才能知道".to_owned(),
            Self::IsScattered => "没有一个段落包含其中的大部分".to_owned(),
            Self::BestPassageHolds { percent } | Self::TooLittleIsTold { percent } => {
                format!("最相符的段落包含问题中 {percent:.0}% 的词")
            }
            Self::MayBeTold => "问的是文档中可能写明的事".to_owned(),
            Self::AskerSaysSo => "提问者如此指定".to_owned(),
            Self::LevelIsAskedFor(level) => format!("指定了 {level} 级"),
            Self::NoRecordsOfIt => "没有所问内容的记录，因此阅读文档".to_owned(),
            Self::NoRecordTellsIt => "没有记录说明所问的内容，因此阅读文档".to_owned(),
            Self::NoRecordSpeaksOf { schema, words } => {
                format!("`{schema}` 的记录没有提到{}，因此阅读文档", words.join("、"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pikerag_language::is_chinese;

    use super::*;

    #[test]
    fn each_reason_is_told_in_both_languages() {
        let (schema, words) =
            ("缺陷 faults".to_owned(), vec!["wear".to_owned(), "磨损".to_owned()]);
        let (count, percent) = (3, 41.6);
        let last = Some("2024-05-01".to_owned());
        let all = [
            Why::AsksForIdeas,
            Why::AsksOf { things: words.clone() },
            Why::AsksWhatIsToCome,
            Why::RecordsReachIt { schema: schema.clone() },
            Why::CanBeCarriedOn { count, schema: schema.clone(), last },
            Why::NoneCanBeCarriedOn,
            Why::OneListTells { schema: schema.clone() },
            Why::AsksWhichOnes,
            Why::AsksForAFigure,
            Why::HasToBeWorkedOut { count, schema: schema.clone() },
            Why::AsksForASummary,
            Why::Compares,
            Why::NothingIsSaidOf { schema: schema.clone(), words: words.clone() },
            Why::IsAChain,
            Why::IsScattered,
            Why::BestPassageHolds { percent },
            Why::MayBeTold,
            Why::AskerSaysSo,
            Why::LevelIsAskedFor(Level::L3),
            Why::NoRecordsOfIt,
            Why::NoRecordTellsIt,
            Why::NoRecordSpeaksOf { schema: schema.clone(), words },
            Why::TooLittleIsTold { percent },
        ];
        for why in all {
            // What is quoted is in whatever language it was written in.
            let bare = |tongue| {
                why.told(tongue).replace(&schema, "").replace("磨损", "").replace("wear", "")
            };
            let (english, chinese) = (bare(Tongue::English), bare(Tongue::Chinese));
            assert!(!english.chars().any(is_chinese), "{english}");
            let letters = |c: &char| c.is_ascii_lowercase();
            assert!(
                chinese.chars().any(is_chinese) && !chinese.chars().any(|c| letters(&c)),
                "{chinese}"
            );
        }
    }
}
