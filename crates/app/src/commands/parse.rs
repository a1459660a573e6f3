//! Runs `parse`: shows how a file is read, piece by piece, to explain the passages of answers.

use pikerag_engine::knowledge::{Area, Block, BlockKind, Document};
use pikerag_engine::narrate::{Language, Words};
use pikerag_engine::parts::Parsed;
use pikerag_engine::{EngineError, ParseRequest, Session};

use crate::cli::Parse;
use crate::exit;
use crate::output::{Output, say, say_json};
use crate::plain::one_line;
use crate::render::count;
use crate::words;

pub(crate) async fn parse(
    session: &Session,
    output: Output,
    arguments: &Parse,
) -> anyhow::Result<u8> {
    let json = output.json;
    let parsed = match pikerag_engine::parse(
        session,
        &ParseRequest { path: arguments.file.clone() },
    )
    .await
    {
        Ok(parsed) => parsed,
        Err(EngineError::NotParsed { source, .. }) if json => {
            say_json(&serde_json::json!({ "refused": source.to_string() }))?;
            return Ok(exit::FAILED);
        }
        Err(error) => return Err(error.into()),
    };
    if json {
        return say_json(&parsed);
    }
    let Parsed { documents, problems } = &parsed;
    for document in documents {
        show(document, output);
    }
    for problem in problems {
        let Words { english, chinese } = words::problem(problem);
        output.note(format!("problem: {english}"), format!("问题：{chinese}"));
    }
    Ok(0)
}

fn show(document: &Document, output: Output) {
    let Document { fragment, title, media_type, text, blocks, links, images, metadata, .. } =
        document;
    let of = if fragment.is_empty() { String::new() } else { format!(" ({fragment})") };
    say(&format!("{}: {media_type}", one_line(&format!("{title}{of}"))));
    for (key, value) in metadata {
        say(&format!("  {}", one_line(&format!("{key}: {value}"))));
    }
    let tables = blocks.iter().filter(|block| matches!(block.kind, BlockKind::Table(_))).count();
    let pages = blocks.iter().filter_map(|block| block.page).max();
    let (english, chinese) = match pages {
        Some(pages) => (format!("{}, ", count(pages as usize, "page")), format!("{pages} 页，")),
        None => Default::default(),
    };
    let (pieces, links, pictures) = (blocks.len(), links.len(), images.len());
    output.say(
        format!(
            "  {english}{}, {}, {}, {} kept",
            count(pieces, "piece"),
            count(tables, "table"),
            count(links, "link"),
            count(pictures, "picture"),
        ),
        format!(
            "  {chinese}{pieces} 个片段，{tables} 个表，{links} 个链接，保留 {pictures} 张图片"
        ),
    );
    for block in blocks {
        say("");
        say(&format!("[{}]", label(block, output.language)));
        say(block.span.of(text).unwrap_or_default());
    }
    say("");
}

fn label(block: &Block, language: Language) -> String {
    let kind = match &block.kind {
        BlockKind::Heading { level } => {
            Words::new(format!("heading {level}"), format!("{level} 级标题")).of(language)
        }
        BlockKind::Table(table) => {
            let columns = table.rows.iter().chain([&table.header]).map(Vec::len).max();
            let (lines, columns) = (table.lines.len(), columns.unwrap_or_default());
            Words::new(format!("table of {lines} × {columns}"), format!("{lines} × {columns} 的表"))
                .of(language)
        }
        BlockKind::Paragraph => language.either("paragraph", "段落").to_owned(),
        BlockKind::Item => language.either("item", "列表项").to_owned(),
        BlockKind::Code => language.either("code", "代码").to_owned(),
        BlockKind::Caption => language.either("caption", "图注").to_owned(),
        BlockKind::Figure { image: Some(_) } => language.either("figure", "图片").to_owned(),
        BlockKind::Figure { image: None } => {
            language.either("figure, not kept", "图片，未保留").to_owned()
        }
    };
    let mut label = kind;
    if let Some(page) = block.page {
        label += &Words::new(format!(", page {page}"), format!("，第 {page} 页")).of(language);
    }
    if let Some(area) = block.area {
        let Area { left, top, right, bottom } = area;
        let words = Words::new(
            format!(", at {left:.0},{top:.0} to {right:.0},{bottom:.0}"),
            format!("，位置 {left:.0},{top:.0} 至 {right:.0},{bottom:.0}"),
        );
        label += &words.of(language);
    }
    if block.hidden {
        label += language.either(", hidden", "，隐藏");
    }
    label
}
