//! `parse`: what does reading make of a file? Piece by piece, so that a person sees why an answer
//! has what it has.

use pikerag_engine::knowledge::{Area, Block, BlockKind, Document, Problem};
use pikerag_engine::parts::Parsed;
use pikerag_engine::{EngineError, ParseRequest, Session};

use crate::cli::Parse;
use crate::exit;
use crate::output::{note, say, say_json};
use crate::plain::one_line;
use crate::render::count;

pub(crate) async fn parse(session: &Session, json: bool, arguments: &Parse) -> anyhow::Result<u8> {
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
        show(document);
    }
    for Problem { place, reason } in problems {
        note(&format!("problem: {place}{}{reason}", if place.is_empty() { "" } else { ": " }));
    }
    Ok(0)
}

fn show(document: &Document) {
    let Document { fragment, title, media_type, text, blocks, links, images, metadata, .. } =
        document;
    let of = if fragment.is_empty() { String::new() } else { format!(" ({fragment})") };
    say(&format!("{}: {media_type}", one_line(&format!("{title}{of}"))));
    for (key, value) in metadata {
        say(&format!("  {}", one_line(&format!("{key}: {value}"))));
    }
    let tables = blocks.iter().filter(|block| matches!(block.kind, BlockKind::Table(_))).count();
    let pages = blocks.iter().filter_map(|block| block.page).max();
    say(&format!(
        "  {}{}, {}, {}, {} kept",
        pages.map_or_else(String::new, |pages| format!("{}, ", count(pages as usize, "page"))),
        count(blocks.len(), "piece"),
        count(tables, "table"),
        count(links.len(), "link"),
        count(images.len(), "picture"),
    ));
    for block in blocks {
        say("");
        say(&format!("[{}]", label(block)));
        say(block.span.of(text).unwrap_or_default());
    }
    say("");
}

fn label(block: &Block) -> String {
    let mut label = match &block.kind {
        BlockKind::Heading { level } => format!("heading {level}"),
        BlockKind::Paragraph => "paragraph".to_owned(),
        BlockKind::Item => "item".to_owned(),
        BlockKind::Table(table) => {
            let columns = table.rows.iter().chain([&table.header]).map(Vec::len).max();
            format!("table of {} × {}", table.lines.len(), columns.unwrap_or_default())
        }
        BlockKind::Code => "code".to_owned(),
        BlockKind::Caption => "caption".to_owned(),
        BlockKind::Figure { image: Some(_) } => "figure".to_owned(),
        BlockKind::Figure { image: None } => "figure, not kept".to_owned(),
    };
    if let Some(page) = block.page {
        label = format!("{label}, page {page}");
    }
    if let Some(area) = block.area {
        let Area { left, top, right, bottom } = area;
        label = format!("{label}, at {left:.0},{top:.0} to {right:.0},{bottom:.0}");
    }
    if block.hidden {
        label += ", hidden";
    }
    label
}
