//! Names of counts, stages, states and kinds of nodes in both languages, as the terminal shows them; `--json` keeps the keys.

use pikerag_engine::knowledge::{Problem, RunState, Structure};
use pikerag_engine::narrate::{InWords, Language, Words, problem_place};
use pikerag_engine::{TreeEnd, TreeLine, called};

/// The name of a kind of `n` nodes; `atom (question)` in the export is an atomic question.
pub(crate) fn nodes(kind: &str, n: usize, language: Language) -> String {
    if language == Language::Chinese {
        return node_in_chinese(kind);
    }
    let (kind, sort) = match kind.strip_suffix(')').and_then(|kind| kind.split_once(" (")) {
        Some(("atom", sort)) => (format!("atomic {sort}"), String::new()),
        Some((kind, sort)) => (called(kind), format!(" ({sort})")),
        None => (called(kind), String::new()),
    };
    format!("{}{sort}", plural(n, &kind))
}

fn node_in_chinese(kind: &str) -> String {
    let (kind, sort) = match kind.strip_suffix(')').and_then(|kind| kind.split_once(" (")) {
        Some(("atom", sort)) => (sort, ""),
        Some((kind, sort)) => (kind, sort),
        None => (kind, ""),
    };
    let name = match kind {
        "source" => "文档",
        "section" => "章节",
        "chunk" => "文本块",
        "atom" => "原子问题与句子",
        "question" => "原子问题",
        "statement" => "原子陈述",
        "sentence" => "原子句子",
        "entity" => "实体",
        "relation" => "关系",
        "record" => "记录",
        "tag" => "标签",
        "community" => "社区",
        "community_report" => "社区报告",
        "summary" => "摘要",
        "verified_answer" => "人工核实的问答",
        "text" => "正文",
        "table" => "表",
        "code" => "代码",
        "figure" => "图片",
        "caption" => "图注",
        other => other,
    };
    let sort = match sort {
        "" => String::new(),
        "text" => "（正文）".to_owned(),
        "table" => "（表）".to_owned(),
        "figure" => "（图片）".to_owned(),
        other => format!("（{other}）"),
    };
    format!("{name}{sort}")
}

/// The Chinese name of a set of vectors, whose English name is the plural of a kind of nodes.
pub(crate) fn vector_set(set: &str) -> String {
    let kind = match set {
        "entities" => "entity",
        "summaries" => "summary",
        other => other.strip_suffix('s').unwrap_or(other),
    };
    node_in_chinese(kind)
}

/// The name of a kind of edges.
pub(crate) fn edges(kind: &str, language: Language) -> String {
    if language == Language::English {
        return called(kind);
    }
    let name = match kind {
        "refers_to" => "指向",
        "contains" => "包含",
        "next" => "后接",
        "answers" => "回答",
        "mentions" => "提及",
        "relates" => "关联",
        "tagged" => "带有标签",
        "derived_from" => "得自",
        "member_of" => "属于",
        other => return other.replace('_', " "),
    };
    name.to_owned()
}

/// A line of the tree around a node: an edge, then a node with its identifier and label, or a number of nodes.
pub(crate) fn tree_line(line: &TreeLine, language: Language) -> String {
    let indent = "  ".repeat(usize::from(line.depth));
    let edge = line.edge.as_ref().map_or_else(String::new, |edge| {
        let kind = edges(&edge.kind, language);
        if edge.is_inward { format!("<- {kind} - ") } else { format!("- {kind} -> ") }
    });
    match &line.end {
        TreeEnd::Node { kind, sort, id, label } => {
            let kind = match (language, sort.as_str()) {
                (Language::English, "") => called(kind),
                (Language::English, sort) => format!("{} ({sort})", called(kind)),
                (Language::Chinese, "") => node_in_chinese(kind),
                (Language::Chinese, sort) => node_in_chinese(&format!("{kind} ({sort})")),
            };
            format!("{indent}{edge}{kind} {id}  {label}")
        }
        TreeEnd::More(n) => {
            let more = Words::new(format!("… and {n} more"), format!("……另有 {n} 个"));
            format!("{indent}{edge}{}", more.of(language))
        }
    }
}

/// The name of a stage of indexing, or of the work of an evaluation.
pub(crate) fn stage(name: &str, language: Language) -> String {
    let chinese = match name {
        _ if language == Language::English => name,
        "reading" => "读取文件",
        "vectors" => "生成向量",
        "sentences" => "切分句子",
        "tables" => "读取表格",
        "records" => "读取记录",
        "records in running text" => "从正文读取记录",
        "table summaries" => "概括表格",
        "figure descriptions" => "描述图片",
        "document summaries" => "概括文档",
        "atomic questions" => "写原子问题",
        "atomic statements" => "写原子陈述",
        "entities and relations" => "提取实体与关系",
        "entities by name" => "按名称合并实体",
        "descriptions of entities" => "描述实体",
        "communities" => "划分社区",
        "community reports" => "写社区报告",
        "sentences of communities" => "选取社区的句子",
        "summaries of the tree" => "建立摘要树",
        "declared tag classes" => "处理已声明的标签类别",
        "tag classes" => "归纳标签类别",
        "tags" => "标注标签",
        "collecting" => "收集轨迹",
        "labelling" => "标注问题",
        "comparing" => "与标注比较",
        "MiB fetched" => "已下载 MiB",
        "packages fetched" => "已下载软件包",
        other => other,
    };
    chinese.to_owned()
}

/// The name of a structure that is built besides the atoms.
pub(crate) fn structure(structure: Structure, language: Language) -> &'static str {
    match structure {
        Structure::Graph => language.either("graph", "实体图谱"),
        Structure::Tree => language.either("tree", "摘要树"),
        Structure::Tags => language.either("tags", "标签"),
    }
}

/// A problem of a file, after its place.
pub(crate) fn problem(problem: &Problem) -> Words {
    let Problem { place, reason, fact, .. } = problem;
    let chinese = fact.as_ref().map_or_else(|| reason.clone(), |fact| fact.words().chinese);
    match place.as_str() {
        "" => Words::new(reason, chinese),
        place => {
            Words::new(format!("{place}: {reason}"), format!("{}：{chinese}", problem_place(place)))
        }
    }
}

/// The state of a run.
pub(crate) fn state(state: RunState, language: Language) -> &'static str {
    match state {
        RunState::Running => language.either(state.as_str(), "运行中"),
        RunState::Answered => language.either(state.as_str(), "已回答"),
        RunState::Failed => language.either(state.as_str(), "失败"),
        RunState::Cancelled => language.either(state.as_str(), "已取消"),
    }
}

/// How often something is mentioned.
pub(crate) fn times(n: usize, language: Language) -> String {
    match (n, language) {
        (n, Language::Chinese) => format!("{n} 次"),
        (0, _) => "0 times".to_owned(),
        (1, _) => "once".to_owned(),
        (n, _) => format!("{n} times"),
    }
}

/// The plural of a noun, unless it is one.
pub(crate) fn plural(n: usize, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use pikerag_engine::TreeEdge;

    use super::*;

    #[test]
    fn kinds_and_counts() {
        let kinds = [("source", 1), ("entity", 2), ("atom (question)", 3), ("record (load)", 0)];
        let english = kinds.map(|(kind, n)| nodes(kind, n, Language::English));
        assert_eq!(english, ["document", "entities", "atomic questions", "records (load)"]);
        let chinese = kinds.map(|(kind, n)| nodes(kind, n, Language::Chinese));
        assert_eq!(chinese, ["文档", "实体", "原子问题", "记录（load）"]);
        assert_eq!(called("refers_to"), "refers to");
    }

    #[test]
    fn lines_of_the_tree() {
        let node = |kind: &str, sort: &str, label: &str| TreeEnd::Node {
            kind: kind.to_owned(),
            sort: sort.to_owned(),
            id: "75cda4fe24a91178".to_owned(),
            label: label.to_owned(),
        };
        let line = |depth, edge: Option<(&str, bool)>, end| TreeLine {
            depth,
            edge: edge.map(|(kind, is_inward)| TreeEdge { kind: kind.to_owned(), is_inward }),
            end,
        };
        let lines = [
            line(0, None, node("source", "text/markdown", "Guide")),
            line(1, Some(("contains", false)), node("chunk", "text", "# Guide")),
            line(2, Some(("refers_to", true)), node("section", "", "More")),
            line(1, Some(("contains", false)), TreeEnd::More(2)),
        ];
        let shown = |language| lines.each_ref().map(|line| tree_line(line, language));
        assert_eq!(
            shown(Language::English),
            [
                "document (text/markdown) 75cda4fe24a91178  Guide",
                "  - contains -> chunk (text) 75cda4fe24a91178  # Guide",
                "    <- refers to - section 75cda4fe24a91178  More",
                "  - contains -> … and 2 more",
            ]
        );
        assert_eq!(
            shown(Language::Chinese),
            [
                "文档（text/markdown） 75cda4fe24a91178  Guide",
                "  - 包含 -> 文本块（正文） 75cda4fe24a91178  # Guide",
                "    <- 指向 - 章节 75cda4fe24a91178  More",
                "  - 包含 -> ……另有 2 个",
            ]
        );
    }

    #[test]
    fn counts_of_times() {
        assert_eq!([0, 1, 2].map(|n| times(n, Language::English)), ["0 times", "once", "2 times"]);
    }
}
