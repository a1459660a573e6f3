//! Words the reasons for a question's class and for the failure of a plan.

use pikerag_knowledge::Reason;
use pikerag_knowledge::facts::OfferedRecords;
use pikerag_knowledge::tables::By;

use crate::language::{InWords, Words};
use crate::numbers::counted;

/// The answer of a run is a reason that ends with a full stop or that says how few words a passage
/// covers. A replay compares answers, so these keep their wording.
impl InWords for Reason {
    #[expect(clippy::too_many_lines, reason = "one match gives every reason its words")]
    fn words(&self) -> Words {
        match self {
            Self::AsksForIdeas => Words::new("the question asks for new ideas", "问题要求新的想法"),
            Self::ComparesNamed { things } => {
                let things = things.join(" | ");
                Words::new(
                    format!("the question compares: {things}"),
                    format!("问题比较：{things}"),
                )
            }
            Self::AsksAboutFuture => {
                Words::new("the question asks about the future", "问题涉及将来的情况")
            }
            Self::AsksForList => Words::new("the question asks for a list", "问题要求列出清单"),
            Self::AsksForFigure => Words::new("the question asks for a figure", "问题要求一个数字"),
            Self::AsksForSummary => Words::new("the question asks for a summary", "问题要求总结"),
            Self::Compares => {
                Words::new("the question contains words of comparison", "问题含有表示比较的词")
            }
            Self::IsChain => Words::new(
                "the question names one thing by its relation to another",
                "问题通过一件事物与另一件事物的关系来指称它",
            ),
            Self::IsScattered => Words::new(
                "no single passage contains most of the question's words",
                "没有一个段落包含问题中的大部分词",
            ),
            Self::BestPassageCovers { percent } | Self::TooLittleCovered { percent } => {
                covered(*percent)
            }
            Self::AsksForFact => Words::new(
                "the question asks for a fact that the documents may state",
                "问题询问文档中可能写明的事实",
            ),
            Self::ClassRequested => Words::new("the caller set the class", "提问者指定了类别"),
            Self::LevelRequested { level } => Words::new(
                format!("the caller set level {level}"),
                format!("提问者指定了 {level} 级"),
            ),
            Self::AboveLevel { class, level, needs } => {
                let Words { english, chinese } = class.words();
                Words::new(
                    format!(
                        "This question is {english}; it needs level {needs}, and the level is set to {level}."
                    ),
                    format!("这是{chinese}问题，需要 {needs} 级；当前设为 {level} 级。"),
                )
            }
            Self::CombinesSteps => {
                Words::new("the answer combines steps of several kinds", "回答需要组合几类步骤")
            }
            Self::StepGave { name, result } => {
                Words::new(format!("{{{name}}} is: {result}"), format!("{{{name}}} 为：{result}"))
            }
            Self::StepGaveNothing { name } => Words::new(
                format!("the step {{{name}}} gave no answer"),
                format!("步骤 {{{name}}} 没有得到回答"),
            ),
            Self::AgentAsks => {
                Words::new("an agent asks, so the documents are read", "由智能体提问，因此查阅文档")
            }
            Self::VerifiedSameQuestion { by } => Words::new(
                format!("{by} verified an answer to this question in this class"),
                format!("{by} 按此类别核实过对本问题的回答"),
            ),
            Self::VerifiedSimilarQuestion { question } => Words::new(
                format!("the similar question `{question}` has a verified answer in this class"),
                format!("相似问题 `{question}` 有此类别的人工核实的回答"),
            ),
            Self::RecordsCoverPeriod { schema } => Words::new(
                format!("the records of `{schema}` already cover that period"),
                format!("`{schema}` 的记录已包含那段时间"),
            ),
            Self::RecordsAllowForecast { count, schema, last } => {
                let things = counted(*count, "thing");
                let (english, chinese) = match last {
                    Some(day) => (format!(", the latest of {day}"), format!("，最近的是 {day}")),
                    None => Default::default(),
                };
                Words::new(
                    format!("the records of `{schema}` allow a forecast: {things}{english}"),
                    format!("`{schema}` 的记录可用于预测：共 {count} 项{chinese}"),
                )
            }
            Self::AsksForJudgement => Words::new(
                "the question asks whether or how something will develop",
                "问题要求判断事情会不会发生或如何发展",
            ),
            Self::AsksWhatIsStated => Words::new(
                "the question asks what a document or a person states about the future",
                "问题询问文档或某人对将来的说法",
            ),
            Self::NothingToJudge => Words::new(
                "The search found no passage about this development, so there is nothing to judge it by. Add documents \
                 about its past or its causes.",
                "没有找到与此发展有关的内容，无从判断。请补充有关其过去或原因的文档。",
            ),
            Self::JudgementNeedsModel => Words::new(
                "A judgement of this development needs a language model (`reason`), and none is set: set `[roles.reason]` \
                 or `[chat]` in pikerag.toml. No passage matches well enough to be quoted.",
                "判断这一发展需要语言模型（`reason`），目前未设置：请在 pikerag.toml 中设置 `[roles.reason]` 或 `[chat]`。\
                 没有足够相符、可供摘录的段落。",
            ),
            Self::NoRecordsForForecast => Words::new(
                "no records match the question and allow a forecast",
                "没有与问题相符且可用于预测的记录",
            ),
            Self::OneDocumentLists { schema } => Words::new(
                format!("one document lists the answer as records of `{schema}`"),
                format!("有一份文档以 `{schema}` 的记录列出了答案"),
            ),
            Self::NeedsCalculation { count, schema } => Words::new(
                format!(
                    "the answer must be computed from {} in `{schema}`",
                    counted(*count, "thing")
                ),
                format!("需要由 `{schema}` 的 {count} 项算出"),
            ),
            Self::WordsNotInRecords { schema, words } => Words::new(
                format!("no record of `{schema}` contains: {}", words.join(", ")),
                format!("`{schema}` 的记录没有提到：{}", words.join("、")),
            ),
            Self::BaseOffers { records, documents, percent, titles } => {
                offered(records, *documents, *percent, titles)
            }
            Self::NoMatchingRecords => {
                read_instead("the base has no matching records", "知识库没有相符的记录")
            }
            Self::RecordsLackAnswer => {
                read_instead("no record contains the answer", "没有记录包含答案")
            }
            Self::PassagesLackRecords { schema, read } => read_instead(
                &format!(
                    "{} gave no records of `{schema}` that a figure can rest on",
                    counted(*read, "passage")
                ),
                &format!("读过的 {read} 个段落没有给出可供计算的 `{schema}` 记录"),
            ),
            Self::RecordsDoNotMention { schema, words } => read_instead(
                &format!("no record of `{schema}` mentions {}", words.join(", ")),
                &format!("`{schema}` 的记录没有提到{}", words.join("、")),
            ),
            Self::TablesAnswer { tables } => {
                let tables = tables.join(", ");
                Words::new(
                    format!("the tables answer it: {tables}"),
                    format!("表中有答案：{tables}"),
                )
            }
            Self::TableUnclear { table, columns, words, readings, statements } => {
                let nearest = nearest(readings, statements);
                Words::new(
                    format!(
                        "The table `{table}` fits, but not all of the question was understood ({}), so there is no figure. \
                         {}Its columns: {}. Ask with their names.",
                        words.join(", "),
                        after("The nearest reading: ", &nearest, ". "),
                        columns.join(", "),
                    ),
                    format!(
                        "表 `{table}` 与问题相符，但问题中有内容未能理解（{}），因此不给出数字。{}表的列：{}。请用列名提问。",
                        words.join("、"),
                        after("最接近的理解：", &nearest, "。"),
                        columns.join("、"),
                    ),
                )
            }
            Self::TableExcerpt { table, columns, read, rows, readings, statements } => {
                let nearest = nearest(readings, statements);
                Words::new(
                    format!(
                        "Only {read} of the {rows} rows of the table `{table}` were read, and the question asks over all of \
                         them, so there is no figure. {}Its columns: {}. Ask with their names.",
                        after("The nearest reading: ", &nearest, ". "),
                        columns.join(", "),
                    ),
                    format!(
                        "表 `{table}` 共有 {rows} 行，只读取了其中 {read} 行，而问题涉及所有行，因此不给出数字。{}表的列：{}。请用列名提问。",
                        after("最接近的理解：", &nearest, "。"),
                        columns.join("、"),
                    ),
                )
            }
            Self::TableUndecided { readings, statements } => {
                let nearest = nearest(readings, statements);
                Words::new(
                    format!(
                        "It is not certain how the question is meant over the tables, so there is no figure. It may be: \
                         {nearest}. Ask with the names of the columns."
                    ),
                    format!(
                        "无法确定问题在表中所指的是什么，因此不给出数字。可能是：{nearest}。请用列名提问。"
                    ),
                )
            }
            Self::NoDates { field } => Words::new(
                format!(
                    "No matching record has a date under `{field}`, so there is no series to forecast."
                ),
                format!("符合条件的记录都没有 `{field}` 日期，无法形成可外推的序列。"),
            ),
            Self::MixedUnits => Words::new(
                "The figures have different units, so they form no single series.",
                "数值的单位不一致，无法形成同一序列。",
            ),
            Self::DatesTooFarApart { field } => Words::new(
                format!(
                    "The dates under `{field}` are too far apart for one series; some of them may be wrong."
                ),
                format!("`{field}` 的日期相距过远，无法形成序列；其中可能有错误。"),
            ),
            Self::NotTwoThings => {
                read_instead("the question does not name two things", "问题没有指明两件事物")
            }
            Self::NothingToCompare => read_instead(
                "the search found nothing about the compared things",
                "没有找到关于所比较事物的内容",
            ),
            Self::TableUnreadable => {
                read_instead("the model's table could not be read", "模型写的表格无法解析")
            }
            Self::FewerThanTwoDescribed => read_instead(
                "the documents describe fewer than two of the things",
                "文档只说明了其中不到两项",
            ),
            Self::NoPartSummarized => read_instead(
                "no part of the passages could be summarized",
                "没有一部分内容能够概括",
            ),
            Self::NoIdeas => read_instead("no agent found an idea", "没有智能体提出想法"),
            Self::NothingToSummarize => {
                Words::new("the search found nothing to summarize", "没有找到可总结的内容")
            }
            Self::NoSentences => {
                Words::new("the passages contain no sentences", "找到的内容中没有句子")
            }
            Self::IdeasNeedModel => Words::new(
                "Ideas need a language model (`reason`), and none is set: set `[roles.reason]` or `[chat]` in \
             pikerag.toml. Without a model, ask for the facts, figures and forecasts behind such ideas.",
                "提出创意需要语言模型（`reason`），目前未设置：请在 pikerag.toml 中设置 `[roles.reason]` 或 `[chat]`。\
             没有模型时，可以先询问创意所依据的事实、数字和预测。",
            ),
            Self::ForecastNeedsRecords => Words::new(
                "A forecast needs records with dates that match the question, and the base has none. Declare them \
             (`[[records]]`, see `pikerag schema propose`) or add a table that lists them.",
                "预测需要带日期的相关记录，而知识库中没有符合的记录。请在设置中声明记录（`[[records]]`，参见 `pikerag schema propose`），\
             或加入列出它们的表格。",
            ),
            Self::TooFewPeriods { least, known, period } => too_few(*least, *known, *period),
            Self::SeriesHasGaps { periods, missing } => Words::new(
                format!(
                    "{missing} of {periods} periods from the first to the last have no figure, so there is no series to forecast. \
                     Ask for longer periods."
                ),
                format!(
                    "首末之间共 {periods} 期，其中 {missing} 期没有数值，无法形成可延续的序列。请改问更长的周期。"
                ),
            ),
            Self::TooFarAhead { last, steps, farthest } => Words::new(
                format!(
                    "The records end with {last}, {steps} periods before the requested one; no forecast goes beyond {farthest} periods."
                ),
                format!("记录止于 {last}，距所问时间有 {steps} 期；超过 {farthest} 期无法预测。"),
            ),
            Self::TooFewCases { least, known } => Words::new(
                format!(
                    "A forecast of the next kind needs at least {least} cases; the records have {known}."
                ),
                format!("预测下一次的类别至少需要 {least} 个案例，现有记录只有 {known} 个。"),
            ),
        }
    }
}

/// Words a reason why the next plan reads the documents.
fn read_instead(english: &str, chinese: &str) -> Words {
    Words::new(format!("{english}, so the documents are read"), format!("{chinese}，因此阅读文档"))
}

/// The readings, each with the statement that gives its result, if there is one.
pub(crate) fn nearest(readings: &[String], statements: &[String]) -> String {
    let statements = statements.iter().map(Some).chain(std::iter::repeat(None));
    let worded = readings.iter().zip(statements).map(|(reading, statement)| match statement {
        Some(statement) => format!("{reading} [{statement}]"),
        None => reading.clone(),
    });
    worded.collect::<Vec<_>>().join(" | ")
}

/// `text` between `before` and `end`; empty if `text` is empty.
fn after(before: &str, text: &str, end: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{before}{text}{end}") }
}

fn covered(percent: f64) -> Words {
    Words::new(
        format!("the best passage contains {percent:.0} % of the question's words"),
        format!("最相符的段落包含问题中 {percent:.0}% 的词"),
    )
}

fn offered(records: &[OfferedRecords], documents: usize, percent: f64, titles: &[String]) -> Words {
    let (mut english, mut chinese) = (Vec::new(), Vec::new());
    for OfferedRecords { schema, count, dates } in records {
        let (spoken, written) = match dates {
            Some((first, last)) => {
                (format!(" ({first} to {last})"), format!("（{first} 至 {last}）"))
            }
            None => Default::default(),
        };
        english.push(format!("{} in `{schema}`{spoken}", counted(*count, "thing")));
        chinese.push(format!("`{schema}` 的 {count} 项{written}"));
    }
    if records.is_empty() {
        english.push("no matching records".to_owned());
        chinese.push("没有相符的记录".to_owned());
    }
    let titles = titles.join(" | ");
    Words::new(
        format!(
            "the base offers {}; passages of {}, the best with {percent:.0} % of the question's words: {titles}",
            english.join(", "),
            counted(documents, "document")
        ),
        format!(
            "知识库提供：{}；{documents} 份文档中的段落，最相符的包含问题中 {percent:.0}% 的词：{titles}",
            chinese.join("，")
        ),
    )
}

fn too_few(least: usize, known: usize, period: By) -> Words {
    let (english, chinese) = match period {
        By::Year | By::Value => ("years", "年"),
        By::Quarter => ("quarters", "个季度"),
        By::Month => ("months", "个月"),
    };
    Words::new(
        format!(
            "A forecast needs figures of at least {least} {english}; the records cover {known}. Add documents that cover \
             more of them, or ask for shorter periods."
        ),
        format!(
            "预测至少需要 {least} {chinese}的数值，现有记录只覆盖 {known} {chinese}。请补充覆盖更长时间的文档，或改问更短的周期。"
        ),
    )
}
