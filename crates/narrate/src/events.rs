//! Words the events of a run.

use pikerag_knowledge::{Candidate, Consulted, Event, FactRead, MappedTag};

use crate::language::{InWords, Language, Words, joined};
use crate::numbers::counted;
use crate::scores::score_parts;

/// The words of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narration {
    /// The model's thoughts before the event; empty if there are none.
    pub thinking: String,
    /// The event, in at least one line, unless a model proposed nothing.
    pub lines: Vec<String>,
    /// Details of the last line.
    pub details: Vec<String>,
}

impl Narration {
    fn line(english: impl Into<String>, chinese: impl Into<String>, language: Language) -> Self {
        Self { lines: vec![Words::new(english, chinese).of(language)], ..Self::default() }
    }

    fn with(self, details: impl IntoIterator<Item = String>) -> Self {
        Self { details: details.into_iter().collect(), ..self }
    }
}

/// An event in words, without the candidates of a search: see [`candidate`].
#[expect(clippy::too_many_lines, reason = "one match gives every event its words")]
pub fn narrate(event: &Event, language: Language) -> Narration {
    let line = |english: String, chinese: String| Narration::line(english, chinese, language);
    match event {
        Event::Began { method, question } => {
            line(format!("{question}  ({method})"), format!("{question}（{method}）"))
        }
        Event::Proposed { thinking, proposals, .. } => Narration {
            thinking: thinking.clone(),
            lines: prefixed(language.either("proposes: ", "提出："), proposals),
            details: Vec::new(),
        },
        Event::Retrieved { candidates, .. } => line(
            format!("finds {}", counted(candidates.len(), "candidate")),
            format!("找到 {} 个候选", candidates.len()),
        ),
        Event::Selected { title, index, .. } => line(
            format!("chooses {}: {title}", index + 1),
            format!("选择第 {} 个：{title}", index + 1),
        ),
        Event::Stopped { reason, .. } => {
            let Words { english, chinese } = reason.words();
            line(format!("ends: {english}"), format!("结束：{chinese}"))
        }
        Event::Unreadable { role, reason } => {
            let Words { english, chinese } = reason.words();
            line(
                format!("the reply to `{role}` could not be read: {english}"),
                format!("`{role}` 的回复无法解析：{chinese}"),
            )
        }
        Event::Gathered { candidates } => line(
            format!("gathers {}", counted(candidates.len(), "chunk")),
            format!("汇集 {} 个文本块", candidates.len()),
        ),
        Event::RoundRead { thinking, facts, answer, .. } => {
            let mut lines: Vec<String> =
                facts.iter().map(|fact| fact_read(fact, language)).collect();
            if !answer.is_empty() {
                lines
                    .push(format!("{}{answer}", language.either("would answer: ", "目前的答案：")));
            }
            Narration { thinking: thinking.clone(), lines, details: Vec::new() }
        }
        Event::Thought { step, text } => line(format!("{step}. {text}"), format!("{step}. {text}")),
        Event::Asked { question, .. } => {
            line(format!("asks: {question}"), format!("提问：{question}"))
        }
        Event::Resolved { answer, .. } => {
            line(format!("answers: {answer}"), format!("得到：{answer}"))
        }
        Event::Judged { criterion, of, holds, score, by } => {
            let score = score.map(|score| format!(" {score:.2}")).unwrap_or_default();
            let (criterion, by) = (criterion.words(), by.words());
            let (yes, shi) = if *holds { ("yes", "是") } else { ("no", "否") };
            line(
                format!("{}? {yes}{score} ({}): {of}", criterion.english, by.english),
                format!("{}？{shi}{score}（{}）：{of}", criterion.chinese, by.chinese),
            )
        }
        Event::Node { node, after, text } => {
            let after: Vec<String> = after.iter().map(ToString::to_string).collect();
            let (spoken, written) = match after.is_empty() {
                true => Default::default(),
                false => (
                    format!(" after {}", after.join(", ")),
                    format!("（在 {} 之后）", after.join("、")),
                ),
            };
            line(format!("node {node}{spoken}: {text}"), format!("节点 {node}{written}：{text}"))
        }
        Event::Merged { steps, into } => line(
            format!("merges {} into: {into}", counted(steps.len(), "step")),
            format!("{} 步合并为：{into}", steps.len()),
        ),
        Event::Path { nodes, answer } => {
            let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
            let nodes = nodes.join(" → ");
            line(format!("path {nodes}: {answer}"), format!("路径 {nodes}：{answer}"))
        }
        Event::Consulted { nodes } => line(
            format!("reads {}", counted(nodes.len(), "distilled node")),
            format!("查阅 {} 个提炼节点", nodes.len()),
        )
        .with(nodes.iter().map(|Consulted { score, title, .. }| format!("{score:.3} {title}"))),
        Event::Tagged { tags, query, keywords } => tagged(tags, query, keywords, language),
        Event::Classified { class, by, reasons } => {
            let (level, class, by) = (class.level(), class.words(), by.words());
            line(
                format!("class: {} ({level}, by {})", class.english, by.english),
                format!("类别：{}（{level}，由{}判断）", class.chinese, by.chinese),
            )
            .with(reasons.iter().map(|reason| reason.in_words(language)))
        }
        Event::Planned { round, because, steps } => {
            let why = match round {
                1 => String::new(),
                _ => language.either(": ", "：").to_owned() + &joined(because, language),
            };
            let steps = steps.iter().zip(1..);
            line(format!("plan {round}{why}"), format!("计划 {round}{why}"))
                .with(steps.map(|(step, place)| format!("{place}. {}", step.in_words(language))))
        }
        Event::Recalled { verified, by, because, .. } => {
            let Words { english, chinese } = because.words();
            line(
                format!("{by} has verified an answer to it ({verified}); {english}"),
                format!("{by} 核实过对它的回答（{verified}）；{chinese}"),
            )
        }
        Event::Structured { schema, is_declared, coverage } => {
            let (english, chinese) = match (is_declared, coverage.passages) {
                (true, _) => ("", ""),
                (false, Some(_)) => (", read from passages", "（读自段落）"),
                (false, None) => (", read from columns of tables", "（取自表格的列）"),
            };
            let (records, things, documents) =
                (coverage.records, coverage.things, coverage.with_records);
            line(
                format!(
                    "gathers records of `{schema}`{english}: {} about {} from {}",
                    counted(records, "record"),
                    counted(things, "thing"),
                    counted(documents, "document"),
                ),
                format!(
                    "汇集 `{schema}` 的记录{chinese}：{documents} 份文档中的 {records} 条，共 {things} 项"
                ),
            )
        }
        Event::Tabulated { matched, rows, .. } => line(
            format!("computes from {}", counted(*matched, "thing")),
            format!("由 {matched} 项计算"),
        )
        .with(rows.iter().map(|row| row.in_words(language))),
        Event::Queried { tables, sql, matched, .. } => line(
            format!("queries {}: {matched} rows fit", tables.join(", ")),
            format!("查询 {}：{matched} 行符合", tables.join("、")),
        )
        .with(sql.iter().cloned()),
        Event::SeriesForecast { forecast } => line(
            format!("tests {}", counted(forecast.tried.len(), "model")),
            format!("检验 {} 个模型", forecast.tried.len()),
        )
        .with(forecast.tried.iter().map(|tried| {
            let Words { english, chinese } = tried.model.words();
            let scaled = |words: &str| {
                tried.mase.map(|mase| format!("{words}{mase:.2}")).unwrap_or_default()
            };
            let naive = scaled(", times naive: ");
            let plain = scaled("，为朴素法的 ");
            Words::new(
                format!("{english}: error {:.2}{naive}", tried.mae),
                format!("{chinese}：误差 {:.2}{plain}", tried.mae),
            )
            .of(language)
        })),
        Event::Organized { given, kept, left_out } => line(
            format!("reads {kept} of {}", counted(*given, "chunk")),
            format!("阅读 {given} 个文本块中的 {kept} 个"),
        )
        .with(left_out.iter().map(|(why, count)| {
            let Words { english, chinese } = why.words();
            Words::new(
                format!("{count} left out: {english}"),
                format!("舍去 {count} 个：{chinese}"),
            )
            .of(language)
        })),
        Event::Filled { schema, is_filled } => filled(schema, *is_filled, language),
        Event::Noted { note } => {
            Narration { lines: vec![note.in_words(language)], ..Narration::default() }
        }
        Event::Answered { .. } => line("answers".to_owned(), "作答".to_owned()),
    }
}

fn filled(schema: &str, is_filled: bool, language: Language) -> Narration {
    let name = if schema.is_empty() { String::new() } else { format!(" `{schema}`") };
    let (english, chinese) = match is_filled {
        true => {
            (format!("fills the schema{name} from the answer"), format!("按回答填写数据结构{name}"))
        }
        false => (
            format!("the answer does not give the values of the schema{name}"),
            format!("回答没有给出数据结构{name}的值"),
        ),
    };
    Narration::line(english, chinese, language)
}

fn prefixed(prefix: &str, texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| format!("{prefix}{text}")).collect()
}

fn fact_read(fact: &FactRead, language: Language) -> String {
    let FactRead { passage, title, text, is_quoted, .. } = fact;
    let (english, chinese) = match is_quoted {
        true => ("", ""),
        false => (" (not in these words)", "（并非原话）"),
    };
    Words::new(
        format!("reads [{passage}] {title}: {text}{english}"),
        format!("读到 [{passage}] {title}：{text}{chinese}"),
    )
    .of(language)
}

fn tagged(tags: &[MappedTag], query: &str, keywords: &[String], language: Language) -> Narration {
    let mut lines = Vec::new();
    for MappedTag { tag, class, to } in tags {
        let class = if class.is_empty() { String::new() } else { format!(" ({class})") };
        let to = if to.is_empty() { "?".to_owned() } else { to.join("; ") };
        lines.push(format!("{}{tag}{class} → {to}", language.either("tag: ", "标签：")));
    }
    lines.push(format!("{}{query}", language.either("searches for: ", "检索：")));
    if !keywords.is_empty() {
        let keywords = keywords.join("; ");
        lines.push(format!("{}{keywords}", language.either("and for the tags: ", "并检索标签：")));
    }
    Narration { lines, ..Narration::default() }
}

/// A candidate without its rank: score, text, the chunk that an atom leads to, path, parts of the
/// score. `text` is shown in place of the candidate's text.
pub fn candidate(candidate: &Candidate, text: &str, language: Language) -> String {
    let parts = match score_parts(&candidate.parts, language) {
        none if none.is_empty() => none,
        parts => format!(" ({parts})"),
    };
    let leads_to = match candidate.atom {
        Some(_) => format!("  → {}", candidate.title),
        None => String::new(),
    };
    let via = candidate.via.in_words(language);
    format!("{:.3} {text}{leads_to} [{via}]{parts}", candidate.score)
}
