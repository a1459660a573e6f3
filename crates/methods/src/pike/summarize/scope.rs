//! Chooses the passages to summarize: those with a named tag, those of named documents, files or folders,
//! else those that fit best.

use crate::context::ReadingOrder;
use pikerag_extract::tag_key;
use pikerag_knowledge::{Chunk, ChunksOf, Event, Note, SourceId, Which, file_part};
use pikerag_language::fold::folded;

use crate::candidates::fetch;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};
use crate::run::Run;
use pikerag_language::pattern;

/// Chunks that are found where no document is named.
const FOUND: usize = 40;
/// Chunks of the documents that are named, at most.
const CHUNKS: usize = 2_000;

pattern!(
    TAGGED,
    r#"\b(?:tagged|with the tags?|under the tag|labell?ed)\s+(?:as\s+|with\s+)?["“']?([^"”'?.!]+?)["”']?\s*[?.!]?\s*$|标签(?:为|是)?["“「]?([^"”」的，。？?]+?)["”」]?的"#
);

/// The passages to summarize: those with a tag that the question names as one, those of documents that it
/// names, or those that fit it best.
pub(super) async fn scope(
    ports: &Ports,
    run: &mut Run,
    query: &str,
) -> Result<(Vec<Chunk>, ReadingOrder), SolveError> {
    let tagged = tagged(ports, query).await?;
    if let Some((tag, chunks)) = tagged {
        let note = Note::SummarizesTag { tag, passages: chunks.len() };
        run.push(Event::Noted { note: note.into() });
        return Ok((chunks, ReadingOrder::Document));
    }
    let named = named(ports, query).await?;
    if named.is_empty() {
        return Ok((found(ports, query).await?, ReadingOrder::Document));
    }
    let titles = named.iter().map(|(_, title)| title.clone()).collect();
    run.push(Event::Noted { note: Note::SummarizesDocuments { titles }.into() });
    let chunks = chunks_of(ports, &named.iter().map(|(id, _)| *id).collect::<Vec<_>>()).await?;
    if chunks.len() == CHUNKS {
        run.push(Event::Noted { note: Note::ReadsFirstPassages { limit: CHUNKS }.into() });
    }
    Ok((chunks, ReadingOrder::Given))
}

/// The chunks with a tag that the question names as one: `… tagged "aspirin"`, `标签为…的`; none where no chunk has it.
async fn tagged(ports: &Ports, query: &str) -> Result<Option<(String, Vec<Chunk>)>, SolveError> {
    let Some(phrase) = TAGGED.captures(query).and_then(|found| found.get(1).or(found.get(2)))
    else {
        return Ok(None);
    };
    // `Drug: aspirin` names the class, too.
    let tag = phrase.as_str().rsplit([':', '：']).next().unwrap_or_default().trim();
    let Some(key) = tag_key(tag) else { return Ok(None) };
    let ids = ports
        .base
        .chunks_of(ChunksOf::Tags(&[key]), usize::MAX)
        .await?
        .pop()
        .unwrap_or_default()
        .chunks;
    let ids = ids.get(..ids.len().min(CHUNKS)).unwrap_or_default();
    let chunks = ports.base.chunks(ids).await?;
    Ok((!chunks.is_empty()).then(|| (tag.to_owned(), chunks)))
}

/// The documents that the question names by title, file or folder, in the order of their URIs, with their
/// titles. Only those with the longest name; all documents of one file.
async fn named(ports: &Ports, query: &str) -> Result<Vec<(SourceId, String)>, SolveError> {
    let asked = format!(" {} ", folded(query));
    let mut found: Vec<(usize, SourceId, String)> = Vec::new();
    for source in ports.base.sources(Which::All).await? {
        let file = file_part(&source.uri);
        let name = file.rsplit('/').next().unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        let folder = file.rsplit('/').nth(1).map(|folder| format!("{folder}/"));
        let names = [
            Some(source.title.clone()),
            Some(name.to_owned()),
            Some(stem.replace(['-', '_'], " ")),
            folder,
        ];
        let length = names.iter().flatten().map(|name| folded(name)).filter(|name| {
            // One short word is no name.
            let words = name.split(' ').count();
            (1 < words || 5 < name.chars().count()) && asked.contains(&format!(" {name} "))
        });
        if let Some(length) = length.map(|name| name.len()).max() {
            found.push((length, source.id, source.title));
        }
    }
    let longest = found.iter().map(|(length, ..)| *length).max().unwrap_or(0);
    let whole = found.into_iter().filter(|(length, ..)| *length == longest);
    Ok(whole.map(|(_, id, title)| (id, title)).collect())
}

/// The passages of these documents, at most [`CHUNKS`].
async fn chunks_of(ports: &Ports, sources: &[SourceId]) -> Result<Vec<Chunk>, SolveError> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for source in sources {
        let left = CHUNKS - chunks.len();
        if left == 0 {
            break;
        }
        let first = ports.base.first_chunks(*source, left).await?;
        chunks.extend(first.into_iter().filter(Chunk::is_searchable));
    }
    Ok(chunks)
}

async fn found(ports: &Ports, query: &str) -> Result<Vec<Chunk>, SolveError> {
    let params = RetrievalParams { chunks: FOUND, ..RetrievalParams::auto() };
    fetch(ports, &retrieve(ports, query, params).await?).await
}
