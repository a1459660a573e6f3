//! What does a file give? Prints each block with its page and box: `cargo run -p pikerag-parse
//! --example show -- [--text] FILE…`. Pictures of text are not recognised here.
#![expect(clippy::print_stdout, reason = "an example prints")]

use pikerag_knowledge::{Block, BlockKind, Document};
use pikerag_parse::{Limits, Unaided, parse};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let text_only = files.first().is_some_and(|first| first == "--text");
    if text_only {
        files.remove(0);
    }
    for file in files {
        let bytes = std::fs::read(&file)?;
        match parse(&file, &bytes, &Limits::default(), &Unaided) {
            Ok(parsed) if text_only => {
                for document in parsed.documents {
                    println!("{}", document.text);
                }
            }
            Ok(parsed) => {
                for document in &parsed.documents {
                    show(document);
                }
                for problem in &parsed.problems {
                    println!("! {}: {}", problem.place, problem.reason);
                }
            }
            Err(error) => println!("error: {error}"),
        }
    }
    Ok(())
}

fn show(document: &Document) {
    println!("== {} ({})", document.title, document.media_type);
    for (key, value) in &document.metadata {
        println!("   {key}: {value}");
    }
    for block in &document.blocks {
        let Block { kind, span, page, area, hidden } = block;
        let name = match kind {
            BlockKind::Heading { level } => format!("h{level}"),
            BlockKind::Paragraph => "p".to_owned(),
            BlockKind::Item => "item".to_owned(),
            BlockKind::Table(_) => "table".to_owned(),
            BlockKind::Code => "code".to_owned(),
            BlockKind::Caption => "caption".to_owned(),
            BlockKind::Figure { image } => {
                let image = image.and_then(|image| document.images.get(image));
                image.map_or("figure".to_owned(), |image| format!("figure {image:?}"))
            }
        };
        let page = page.map_or(String::new(), |page| format!(" p{page}"));
        let area = area.map_or(String::new(), |area| {
            format!(" {:.0},{:.0}-{:.0},{:.0}", area.left, area.top, area.right, area.bottom)
        });
        let hidden = if *hidden { " HIDDEN" } else { "" };
        println!("[{name}{page}{area}{hidden}] {}", span.of(&document.text).unwrap_or_default());
        if let BlockKind::Table(table) = kind {
            println!("   header {:?}", table.header);
        }
    }
    for link in &document.links {
        println!("-> {:?} {}", link.span.of(&document.text).unwrap_or_default(), link.target);
    }
}
