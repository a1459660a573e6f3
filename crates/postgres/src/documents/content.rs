//! Writes the rows of documents: sources, sections, chunks, figures, links and names.

use pikerag_knowledge::{
    Chunk, ChunkId, DocumentGraph, FileRecord, Image, Link, NameKey, NameUse, Section, Source,
    SourceId,
};
use pikerag_store::shared::{code, packed};

use crate::batches::{ROWS, batches};
use crate::fault::Sql;
use crate::rows::{Text, number, signed, to_json};
use crate::tx::Tx;

/// Stores documents of a file with their sections, in place of earlier ones of the same identity.
pub(super) async fn put_sources(
    tx: &Tx,
    file: &FileRecord,
    documents: &[&DocumentGraph],
) -> Sql<()> {
    let sql = "INSERT INTO sources
           (id, uri, title, media_type, hash, language, metadata, text, length, summary, file)
         SELECT w.*, $11::text FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[],
           $6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[]) AS w
         ON CONFLICT (base, id) DO UPDATE SET file = excluded.file, uri = excluded.uri, title = excluded.title,
           media_type = excluded.media_type, hash = excluded.hash, language = excluded.language,
           metadata = excluded.metadata, text = excluded.text, length = excluded.length,
           summary = excluded.summary";
    for batch in batches(documents, |document| (document.source.id, document.text.len())) {
        let sources: Vec<&Source> = batch.iter().map(|document| &document.source).collect();
        let texts = batch.iter().map(|document| &document.text);
        let lengths: Vec<i64> = texts.clone().map(|text| number(text.len())).collect();
        let metadata = sources.iter().map(|source| to_json(&source.metadata));
        let metadata = metadata.collect::<Sql<Vec<String>>>()?;
        let languages = sources.iter().map(|source| Text::optional(source.language.as_ref()));
        let languages: Vec<Option<Text<'_>>> = languages.collect();
        let summaries = sources.iter().map(|source| Text::optional(source.summary.as_ref()));
        let summaries: Vec<Option<Text<'_>>> = summaries.collect();
        tx.run(
            sql,
            &[
                &signed(sources.iter().map(|source| source.id.0)),
                &Text::all(sources.iter().map(|source| &source.uri)),
                &Text::all(sources.iter().map(|source| &source.title)),
                &Text::all(sources.iter().map(|source| &source.media_type)),
                &Text::all(sources.iter().map(|source| &source.hash)),
                &languages,
                &metadata,
                &Text::all(texts),
                &lengths,
                &summaries,
                &Text(&file.path),
            ],
        )
        .await?;
    }
    put_sections(tx, documents).await
}

async fn put_sections(tx: &Tx, documents: &[&DocumentGraph]) -> Sql<()> {
    let sources = signed(documents.iter().map(|document| document.source.id.0));
    tx.run("DELETE FROM sections WHERE source = ANY($1::bigint[])", &[&sources]).await?;
    let sections: Vec<&Section> =
        documents.iter().flat_map(|document| &document.sections).collect();
    let sql = "INSERT INTO sections (id, source, parent, ordinal, level, heading)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])";
    for part in sections.chunks(ROWS) {
        let ids = signed(part.iter().map(|section| section.id.0));
        let sources = signed(part.iter().map(|section| section.source.0));
        let parent = |section: &&Section| section.parent.map(|parent| parent.0.cast_signed());
        let parents: Vec<Option<i64>> = part.iter().map(parent).collect();
        let ordinals: Vec<i64> = part.iter().map(|section| i64::from(section.ordinal)).collect();
        let levels: Vec<i64> = part.iter().map(|section| i64::from(section.level)).collect();
        let headings = Text::all(part.iter().map(|section| &section.heading));
        tx.run(sql, &[&ids, &sources, &parents, &ordinals, &levels, &headings]).await?;
    }
    Ok(())
}

/// Stores chunks. One that is stored already keeps its text and summary; it also keeps its generation
/// if headings, kind and visibility are the same.
pub(super) async fn put_chunks(tx: &Tx, chunks: &[&Chunk], generation: i64) -> Sql<()> {
    let sql = "INSERT INTO chunks (id, source, section, headings, ordinal, kind, text, span_start, span_end,
           page, cells, area, summary, hidden, boxes, generation)
         SELECT w.*, $16::bigint FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[],
           $5::bigint[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[],
           $12::text[], $13::text[], $14::boolean[], $15::text[]) AS w
         ON CONFLICT (base, id) DO UPDATE SET section = excluded.section, headings = excluded.headings,
           ordinal = excluded.ordinal, kind = excluded.kind, span_start = excluded.span_start,
           span_end = excluded.span_end, page = excluded.page, cells = excluded.cells,
           area = excluded.area, hidden = excluded.hidden, boxes = excluded.boxes,
           generation = CASE WHEN (chunks.headings, chunks.kind, chunks.hidden)
                 IS DISTINCT FROM (excluded.headings, excluded.kind, excluded.hidden)
               THEN excluded.generation ELSE chunks.generation END";
    for batch in batches(chunks, |chunk| (chunk.id, chunk.text.len())) {
        let section = |chunk: &&Chunk| chunk.section.map(|section| section.0.cast_signed());
        let sections: Vec<Option<i64>> = batch.iter().map(section).collect();
        let headings = batch.iter().map(|chunk| to_json(&chunk.headings));
        let headings = headings.collect::<Sql<Vec<String>>>()?;
        let ordinals: Vec<i64> = batch.iter().map(|chunk| i64::from(chunk.ordinal)).collect();
        let kinds: Vec<&str> = batch.iter().map(|chunk| chunk.kind.as_str()).collect();
        let starts: Vec<i64> = batch.iter().map(|chunk| number(chunk.span.start)).collect();
        let ends: Vec<i64> = batch.iter().map(|chunk| number(chunk.span.end)).collect();
        let pages: Vec<Option<i64>> = batch.iter().map(|chunk| chunk.page.map(i64::from)).collect();
        let cells = batch.iter().map(|chunk| chunk.table.as_ref().map(to_json).transpose());
        let cells = cells.collect::<Sql<Vec<Option<String>>>>()?;
        let areas = batch.iter().map(|chunk| chunk.area.as_ref().map(to_json).transpose());
        let areas = areas.collect::<Sql<Vec<Option<String>>>>()?;
        let summaries = batch.iter().map(|chunk| Text::optional(chunk.summary.as_ref()));
        let summaries: Vec<Option<Text<'_>>> = summaries.collect();
        let hidden: Vec<bool> = batch.iter().map(|chunk| chunk.hidden).collect();
        let boxes = batch.iter().map(|chunk| Ok(packed(&chunk.boxes)?));
        let boxes = boxes.collect::<Sql<Vec<Option<String>>>>()?;
        tx.run(
            sql,
            &[
                &signed(batch.iter().map(|chunk| chunk.id.0)),
                &signed(batch.iter().map(|chunk| chunk.source.0)),
                &sections,
                &headings,
                &ordinals,
                &kinds,
                &Text::all(batch.iter().map(|chunk| &chunk.text)),
                &starts,
                &ends,
                &pages,
                &cells,
                &areas,
                &summaries,
                &hidden,
                &boxes,
                &generation,
            ],
        )
        .await?;
    }
    Ok(())
}

pub(super) async fn put_figures(tx: &Tx, documents: &[DocumentGraph]) -> Sql<()> {
    let figures: Vec<&(ChunkId, Image)> =
        documents.iter().flat_map(|document| &document.figures).collect();
    let sql = "INSERT INTO figures (chunk, media_type, bytes)
         SELECT * FROM unnest($1::bigint[], $2::text[], $3::bytea[]) ON CONFLICT DO NOTHING";
    for batch in batches(&figures, |(chunk, image)| (*chunk, image.bytes.len())) {
        let chunks = signed(batch.iter().map(|(chunk, _)| chunk.0));
        let media_types = Text::all(batch.iter().map(|(_, image)| &image.media_type));
        let bytes: Vec<&[u8]> = batch.iter().map(|(_, image)| image.bytes.as_slice()).collect();
        tx.run(sql, &[&chunks, &media_types, &bytes]).await?;
    }
    Ok(())
}

/// Replaces the links and names of these chunks by those of the documents.
pub(super) async fn put_links_and_names(
    tx: &Tx,
    documents: &[DocumentGraph],
    chunks: &[&Chunk],
) -> Sql<()> {
    let chunks = signed(chunks.iter().map(|chunk| chunk.id.0));
    tx.run("DELETE FROM links WHERE chunk = ANY($1::bigint[])", &[&chunks]).await?;
    tx.run("DELETE FROM names WHERE chunk = ANY($1::bigint[])", &[&chunks]).await?;
    let links: Vec<&(ChunkId, Link)> =
        documents.iter().flat_map(|document| &document.links).collect();
    let sql = "INSERT INTO links (chunk, target, span_start, span_end)
         SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])";
    for part in links.chunks(ROWS) {
        let chunks = signed(part.iter().map(|(chunk, _)| chunk.0));
        let targets = Text::all(part.iter().map(|(_, link)| &link.target));
        let starts: Vec<i64> = part.iter().map(|(_, link)| number(link.span.start)).collect();
        let ends: Vec<i64> = part.iter().map(|(_, link)| number(link.span.end)).collect();
        tx.run(sql, &[&chunks, &targets, &starts, &ends]).await?;
    }
    let names: Vec<&(ChunkId, NameUse)> =
        documents.iter().flat_map(|document| &document.names).collect();
    let sql = "INSERT INTO names (chunk, how, key)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING";
    for part in names.chunks(ROWS) {
        let chunks = signed(part.iter().map(|(chunk, _)| chunk.0));
        let uses = part.iter().map(|(_, name)| numbered(name));
        let (hows, keys): (Vec<i64>, Vec<i64>) = uses.unzip();
        tx.run(sql, &[&chunks, &hows, &keys]).await?;
    }
    Ok(())
}

/// The stored number of the use of a name, and the name.
fn numbered(name: &NameUse) -> (i64, i64) {
    let (how, key) = match name {
        NameUse::Bears { key, weight } => (i64::from(*weight).max(1), key),
        NameUse::Mentions(key) => (0, key),
        NameUse::Links(key) => (-1, key),
    };
    (how, key.0.cast_signed())
}

/// Replaces the names of the documents themselves.
pub(super) async fn put_known_as(tx: &Tx, documents: &[DocumentGraph]) -> Sql<()> {
    let sources = signed(documents.iter().map(|document| document.source.id.0));
    tx.run("DELETE FROM source_names WHERE source = ANY($1::bigint[])", &[&sources]).await?;
    let names = documents.iter().flat_map(|document| {
        let of = document.source.id;
        document.known_as.iter().map(move |(key, how)| (of, *key, code(*how)))
    });
    let names: Vec<(SourceId, NameKey, i64)> = names.collect();
    let sql = "INSERT INTO source_names (source, how, key)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING";
    for part in names.chunks(ROWS) {
        let sources = signed(part.iter().map(|(source, _, _)| source.0));
        let hows: Vec<i64> = part.iter().map(|(_, _, how)| *how).collect();
        let keys = signed(part.iter().map(|(_, key, _)| key.0));
        tx.run(sql, &[&sources, &hows, &keys]).await?;
    }
    Ok(())
}
