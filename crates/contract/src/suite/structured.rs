//! Tests that a store keeps the schemas that questions derived, and the records that were read under them.

use pikerag_knowledge::{
    Chunk, ChunkId, Filter, FilterField, Kept, KeptSchema, ReadPassage, Record, RecordField,
    RecordId, RecordOrigin, RecordSchema, RecordsOf, RunId, StoreError, Structured,
    StructuredReader,
};

use super::fixture::put_pages;
use crate::agree::happen::schema_of;
use crate::{Shelf, Store};

fn schema(name: &str) -> RecordSchema {
    schema_of(name, "page")
}

fn kept(name: &str, at: u64) -> KeptSchema {
    KeptSchema { schema: schema(name), run: RunId("r1".to_owned()), at }
}

/// A record of each of these chunks.
fn read(name: &str, chunks: &[Chunk]) -> Vec<(ReadPassage, Vec<Record>)> {
    let of = |chunk: &Chunk| {
        let passage = ReadPassage { chunk: chunk.id, at: 3, invented: 1, incomplete: 2 };
        let fields =
            vec![RecordField { name: "page".to_owned(), raw: chunk.text.clone(), value: None }];
        let record = Record {
            id: RecordId::of(name, chunk.id, "", 0),
            schema: name.to_owned(),
            chunk: chunk.id,
            source: chunk.source,
            uri: chunk.uri.clone(),
            page: None,
            span: chunk.span,
            origin: RecordOrigin::Model,
            fields,
        };
        (passage, vec![record])
    };
    chunks.iter().map(of).collect()
}

fn structured(name: &str, at: u64, basis: &[ChunkId], chunks: &[Chunk]) -> Structured {
    Structured { kept: kept(name, at), basis: basis.to_vec(), read: read(name, chunks) }
}

async fn uris(base: &(impl pikerag_knowledge::KnowledgeBase + ?Sized), name: &str) -> Vec<String> {
    let records = base.records(RecordsOf::Schema(name)).await.unwrap();
    records.into_iter().map(|record| record.uri).collect()
}

async fn names(base: &(impl StructuredReader + ?Sized)) -> Vec<String> {
    base.kept_schemas().await.unwrap().into_iter().map(|kept| kept.schema.name).collect()
}

pub async fn structured_records_are_kept_with_their_schema(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let pages = put_pages(shelf, 3).await;
    let chunks = base.chunks(&pages).await.unwrap();
    let first = structured("stop", 1, &pages[..1], &chunks[..2]);
    assert!(base.put_structured(first.clone()).await.unwrap());
    assert_eq!(base.kept_schemas().await.unwrap(), [kept("stop", 1)]);
    let mut passages: Vec<ReadPassage> = first.read.iter().map(|(passage, _)| *passage).collect();
    passages.sort_by_key(|passage| passage.chunk);
    assert_eq!(base.passages_read(&schema("stop")).await.unwrap(), passages);
    assert_eq!(uris(base, "stop").await, ["00.txt", "01.txt"]);
    // Another question reads on under the schema; a passage that is read again has its later records only.
    let more = Structured { read: vec![(passages[0], Vec::new())], ..first.clone() };
    assert!(base.put_structured(more).await.unwrap());
    assert_eq!(uris(base, "stop").await.len(), 1);
    let rest = Structured { basis: Vec::new(), ..structured("stop", 9, &[], &chunks[2..]) };
    assert!(base.put_structured(rest).await.unwrap());
    assert!(uris(base, "stop").await.contains(&"02.txt".to_owned()));
    assert_eq!(base.kept_schemas().await.unwrap(), [kept("stop", 1)]);
    // A new schema needs passages that it was derived from, and a name of its own.
    assert!(!base.put_structured(structured("leak", 2, &[], &chunks)).await.unwrap());
    assert!(!base.put_structured(structured("leak", 2, &[ChunkId(7)], &chunks)).await.unwrap());
    let mut other = structured("stop", 2, &pages[..1], &chunks);
    other.kept.schema.words = vec!["other".to_owned()];
    assert!(!base.put_structured(other).await.unwrap());
    assert_eq!(names(base).await, ["stop"]);
    // The latest ones are kept.
    for at in 2..2 + KeptSchema::MOST as u64 {
        let next = structured(&format!("kind{at}"), at, &pages[..1], &[]);
        assert!(base.put_structured(next).await.unwrap());
    }
    assert_eq!(names(base).await.len(), KeptSchema::MOST);
    assert_eq!(names(base).await.first().unwrap(), &format!("kind{}", 1 + KeptSchema::MOST));
    assert_eq!(uris(base, "stop").await, Vec::<String>::new());
}

pub async fn structured_records_go_with_what_they_were_made_from(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let pages = put_pages(shelf, 3).await;
    let chunks = base.chunks(&pages).await.unwrap();
    base.put_structured(structured("stop", 1, &pages[..1], &chunks)).await.unwrap();
    // A passage that was read: its own records go.
    shelf.put("02.txt", "Page 2 is elsewhere.").await;
    assert_eq!(uris(base, "stop").await, ["00.txt", "01.txt"]);
    assert_eq!(base.passages_read(&schema("stop")).await.unwrap().len(), 2);
    // A passage that the schema was derived from: all of it goes.
    base.delete_file("00.txt").await.unwrap();
    assert_eq!(names(base).await, Vec::<String>::new());
    assert_eq!(uris(base, "stop").await, Vec::<String>::new());
    assert_eq!(base.passages_read(&schema("stop")).await.unwrap(), []);
}

pub async fn structured_records_are_visible_only_with_their_schema(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let pages = put_pages(shelf, 3).await;
    let chunks = base.chunks(&pages).await.unwrap();
    base.put_structured(structured("stop", 1, &pages[..1], &chunks)).await.unwrap();
    base.put_structured(structured("leak", 2, &pages[1..2], &chunks)).await.unwrap();
    let seen = async |conditions: &[&str]| {
        let conditions = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
        let part = base.snapshot(&Filter::default(), &Filter { conditions }).await.unwrap();
        let read = part.passages_read(&schema("stop")).await.unwrap().len();
        (names(part.as_ref()).await, uris(part.as_ref(), "stop").await, read)
    };
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        seen(&[]).await,
        (owned(&["leak", "stop"]), owned(&["00.txt", "01.txt", "02.txt"]), 3)
    );
    assert_eq!(
        seen(&["source=00.txt|02.txt"]).await,
        (owned(&["stop"]), owned(&["00.txt", "02.txt"]), 2)
    );
    // Names of fields come from hidden passages.
    assert_eq!(seen(&["source=02.txt"]).await, (Vec::new(), Vec::new(), 0));
    // What a question derived decides nobody's access.
    let by_record = Filter { conditions: vec!["record:stop.page=x".parse().unwrap()] };
    let error = base.snapshot(&Filter::default(), &by_record).await.err().unwrap();
    let StoreError::NoField { known, .. } = error else { panic!("{error}") };
    assert!(known.iter().all(|field| !matches!(field, FilterField::Record { .. })));
}

pub async fn a_declared_schema_replaces_a_structured_one(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let pages = put_pages(shelf, 2).await;
    let chunks = base.chunks(&pages).await.unwrap();
    base.put_structured(structured("stop", 1, &pages[..1], &chunks)).await.unwrap();
    base.put_structured(structured("leak", 2, &pages[..1], &chunks)).await.unwrap();
    // Indexing keeps what questions derived.
    let other = [schema("repair").declared()];
    assert_eq!(base.keep_only(Kept::Records(&other)).await.unwrap(), 0);
    assert_eq!(names(base).await, ["leak", "stop"]);
    let declared = [schema("stop").declared()];
    assert_eq!(base.keep_only(Kept::Records(&declared)).await.unwrap(), 2);
    assert_eq!((names(base).await, uris(base, "leak").await.len()), (vec!["leak".to_owned()], 2));
}
