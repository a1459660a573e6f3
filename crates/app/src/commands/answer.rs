//! `ask` and `search`: what the base is for.

use pikerag_coordinate::solve;
use pikerag_knowledge::{AtomKind, Question};
use pikerag_retrieve::{Hit, Search as By, atoms, hops, hybrid, nearest, search as search_by};
use serde_json::json;

use crate::cli::{Ask, Search, SearchPath};
use crate::exit;
use crate::output::{note, say, say_json};
use crate::render;
use crate::wiring::Wiring;
use crate::words;

pub(crate) async fn ask(wiring: &Wiring, arguments: &Ask) -> anyhow::Result<u8> {
    let method = wiring.method(&arguments.method)?;
    let base = wiring.base()?;
    let ports = wiring.ports(&base).await?;
    let question = Question { id: "asked".to_owned(), text: arguments.question.trim().to_owned() };
    anyhow::ensure!(!question.text.is_empty(), "the question is empty");
    let answer = solve(&ports, &question, method).await?;
    if wiring.json {
        say_json(
            &json!({ "question": question.text, "method": arguments.method, "answer": answer }),
        )?;
    } else {
        if !arguments.quiet {
            say(render::reasoning(&answer).trim_end());
        }
        say(render::conclusion(&answer).trim_end());
        if let Some(line) = wiring.spent_line() {
            say(&line);
        }
    }
    Ok(if answer.context.chunks.is_empty() { exit::INCOMPLETE } else { 0 })
}

pub(crate) async fn search(wiring: &Wiring, arguments: &Search) -> anyhow::Result<u8> {
    let base = wiring.base()?;
    let ports = wiring.ports(&base).await?;
    let finder = ports.finder();
    let (query, k) = (arguments.query.as_str(), arguments.k);
    let mut shown_atoms = Vec::new();
    let hits: Vec<Hit> = match arguments.by {
        SearchPath::Hybrid => hybrid(finder, query, k).await?,
        SearchPath::Hops => hops(finder, query, k, wiring.hops()).await?,
        SearchPath::Layers => search_by(finder, By::Layers, query, k, wiring.searches()).await?,
        SearchPath::Joined => search_by(finder, By::Joined, query, k, wiring.searches()).await?,
        SearchPath::Meaning => {
            anyhow::ensure!(ports.embedder.is_some(), "there is no embedder; see `pikerag doctor`");
            nearest(finder, query, k, -1.0).await?
        }
        SearchPath::Words => {
            let by_words = pikerag_retrieve::Finder { embedder: None, ..finder };
            nearest(by_words, query, k, 0.0).await?
        }
        SearchPath::Atoms => {
            let summary = ports.base.summary().await?;
            let kind = match (summary.questions, summary.statements) {
                (0, 0) => AtomKind::Sentence,
                (0, _) => AtomKind::Statement,
                _ => AtomKind::Question,
            };
            let found = atoms(finder, kind, &[query.to_owned()], k, 0.0, &[]).await?;
            shown_atoms = found.iter().map(|hit| hit.atom.text.clone()).collect();
            found.iter().map(pikerag_retrieve::AtomHit::as_chunk).collect()
        }
    };
    let ids: Vec<_> = hits.iter().map(|hit| hit.chunk).collect();
    let chunks = ports.base.chunks(&ids).await?;
    if wiring.json {
        let rows: Vec<_> = hits
            .iter()
            .zip(&chunks)
            .enumerate()
            .map(|(place, (hit, chunk))| {
                json!({ "score": hit.score, "parts": hit.parts, "atom": shown_atoms.get(place), "chunk": chunk })
            })
            .collect();
        say_json(&rows)?;
        return Ok(0);
    }
    if hits.is_empty() {
        note("nothing was found");
    }
    for (place, (hit, chunk)) in hits.iter().zip(&chunks).enumerate() {
        say(&format!(
            "{}. {}  {:.4} ({})",
            place + 1,
            chunk.full_title(),
            hit.score,
            words::parts(&hit.parts)
        ));
        if let Some(atom) = shown_atoms.get(place) {
            say(&format!("   {}", render::short(atom, 110)));
        }
        say(&format!("   {}", render::place(&chunk.uri, chunk.page, chunk.span)));
        say(&format!("   {}", render::short(&chunk.text, 160)));
    }
    Ok(0)
}
