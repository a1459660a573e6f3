//! What are the steps of a class? The scheme that is printed before it is followed (PIKE-RAG §4.1).

use pikerag_knowledge::{Role, TaskClass};

use super::classify::Evidence;
use super::wording::Tongue;
use crate::ports::Ports;

/// The scheme of a class: what to retrieve, how to reason. In the language of the question.
pub(super) fn steps(
    ports: &Ports,
    tongue: Tongue,
    class: TaskClass,
    evidence: &Evidence,
) -> Vec<String> {
    let schema = evidence.collection().map(|(collection, _)| &collection.schema.name);
    let records = match (schema, tongue) {
        (None, _) => tongue
            .say("look for records: declared ones, then tables", "寻找记录：先看声明的，再看表格")
            .to_owned(),
        (Some(schema), Tongue::English) => {
            format!("gather all records under `{schema}`, one thing for each key")
        }
        (Some(schema), Tongue::Chinese) => format!("汇集 `{schema}` 的全部记录，每个键一项"),
    };
    let steps: &[&str] = match class {
        TaskClass::Factual | TaskClass::Bridging => {
            let answers = ports.models.of(Role::Answer).is_some();
            let read = match answers && ports.models.of(Role::Look).is_some() {
                true => tongue.say(
                    "read them, look up what is missing, and read again",
                    "阅读，查找缺少的内容，再阅读",
                ),
                false => tongue.say("quote the sentences that fit best", "摘录最相符的句子"),
            };
            &[tongue.say("find the passages that fit best", "找出最相符的段落"), read]
        }
        TaskClass::Comparative => &[
            tongue.say("find what the documents tell of each thing", "找出文档对每一项的说明"),
            tongue.say(
                "align it by attribute, each cell with its source",
                "按属性对齐，每格注明来源",
            ),
            tongue.say("tell the verdict from the table", "由表格得出结论"),
        ],
        TaskClass::Quantitative => &[
            &records,
            tongue.say("work the figure out by the query engine", "由查询引擎计算"),
            tongue.say("cite each record that it rests on", "引用所依据的每条记录"),
        ],
        TaskClass::Summarizing => &[
            tongue.say(
                "take the documents that are named, or all passages that fit",
                "取用提到的文档，或所有相符的段落",
            ),
            tongue.say("tell each part in few words, then all of them", "先逐部分概括，再总括"),
        ],
        TaskClass::Predictive => &[
            &records,
            tongue.say("put them in order of time", "按时间排序"),
            tongue.say(
                "try each model on the past, and carry the series on by the best",
                "用过去的数据检验每个模型，以最好的推算下去",
            ),
        ],
        TaskClass::Creative => &[
            tongue.say("choose perspectives", "选取视角"),
            tongue.say(
                "let an agent of each look things up and think, all at once",
                "让每个视角的智能体同时查找并思考",
            ),
            tongue.say("let them judge each other's ideas", "让它们互相评判想法"),
            tongue.say(
                "put the ideas together, with their evidence and their gaps",
                "汇总想法，注明依据与不足",
            ),
        ],
    };
    steps.iter().map(|step| (*step).to_owned()).collect()
}
