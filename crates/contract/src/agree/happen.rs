//! Applies one operation to a base; the content of the base determines the details.

use pikerag_knowledge::{
    Atom, AtomId, AtomKind, AtomQuery, Child, Chunk, ChunkId, ChunkResults, ChunkSet, ChunkTags,
    Community, CommunityId, CommunityReport, EntityId, EntityMention, ExtractBy, Extraction,
    FoundTag, Ground, InChunk, Judgement, Kept, KeptSchema, KeyedClass, ModelTexts, NodeId,
    NodeVector, Origin, ReadPassage, Record, RecordField, RecordId, RecordOrigin, RecordSchema,
    RelationId, RelationMention, Report, RunId, SchemaHash, ShortDescription, SourceSummary, Span,
    Stage, Structured, Summary, SummaryId, TagClass, TagEdit, Value, Vector, VectorSet, Verified,
    Which,
    records::{DayOrder, Field, FieldType, Quantity},
};

use crate::history::{Operation, documents, name, path, word};
use crate::{Store, record};

/// More than any base in these tests holds.
pub(super) const ALL: usize = 999;

/// Every set that the operations fill.
pub(super) const SETS: [VectorSet; 6] = [
    VectorSet::Chunks,
    VectorSet::Atoms(AtomKind::Question),
    VectorSet::Entities,
    VectorSet::Summaries,
    VectorSet::Sources,
    VectorSet::Sections,
];

/// The classes that exist from the beginning.
const CLASSES: [&str; 2] = ["Drug", "Place"];

fn class(n: u8) -> TagClass {
    TagClass::new(CLASSES[usize::from(n) % 2], "", Vec::new(), Origin::Declared)
}

fn class_key(n: u8) -> pikerag_knowledge::NameKey {
    pikerag_knowledge::NameKey::of_folded(&CLASSES[usize::from(n) % 2].to_lowercase())
}

pub(super) async fn begin(base: &impl Store) {
    let classes = [0, 1].map(|n| KeyedClass { key: class_key(n), class: class(n) });
    base.edit_tags(TagEdit::AddClasses(classes.to_vec())).await.unwrap();
}

/// All chunks, by identifier.
pub(super) async fn chunks(base: &impl Store) -> Vec<ChunkId> {
    base.pending(&Stage("all".to_owned()), ChunkSet::Searchable, None, ALL).await.unwrap()
}

/// The vector of a node, always the same.
pub(super) fn vector(node: NodeId) -> Vector {
    let spread = node.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let part = |shift: u32| ((spread >> shift) & 0xff) as f32 / 127.5 - 1.0;
    let raw = [part(0), part(8), part(16), part(24) + 0.1];
    let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
    raw.iter().map(|x| x / length).collect()
}

pub(super) async fn happen(base: &impl Store, operation: &Operation) {
    let all = chunks(base).await;
    let picked = |n: u8| all.get(usize::from(n) % all.len().max(1)).copied();
    match operation {
        Operation::Put { file, year, paragraphs } => {
            let file_record = record(&path(*file), &format!("{year} {paragraphs:?}"));
            base.put_file(&file_record, documents(*file, *year, paragraphs)).await.unwrap();
        }
        Operation::Delete { file } => {
            base.delete_file(&path(*file)).await.unwrap();
        }
        Operation::Atoms { chunk, words } => {
            let Some(chunk) = picked(*chunk) else { return };
            let kind = AtomKind::Question;
            let mut atoms: Vec<Atom> = Vec::new();
            for text in words.iter().map(|n| format!("Where is the {}?", word(*n))) {
                let id = AtomId::of(chunk, kind.as_str(), &text);
                if atoms.iter().all(|atom| atom.id != id) {
                    atoms.push(Atom { id, chunk, kind, text });
                }
            }
            // Once each: repeated atoms keep their place.
            if base.atoms(AtomQuery::InChunks(kind, &[chunk])).await.unwrap().is_empty() {
                let found = vec![InChunk { chunk, found: atoms }];
                base.put_chunk_results(ChunkResults::Atoms(Stage::atomize(kind), found))
                    .await
                    .unwrap();
            }
        }
        Operation::Vectors { set, most } => {
            let set = SETS[usize::from(*set) % SETS.len()];
            let waiting = base.without_vector(set, "e", None, *most).await.unwrap();
            let nodes = waiting.into_iter().map(|text| text.node);
            let vectors = nodes.map(|node| NodeVector { node, vector: vector(node) }).collect();
            base.put_vectors(set, "e", vectors).await.unwrap();
        }
        Operation::Tags { chunk, class: n, tags } => {
            let Some(chunk) = picked(*chunk) else { return };
            put_tags(base, chunk, *n, tags).await;
        }
        Operation::DropClass { class } => {
            base.edit_tags(TagEdit::DropClass(class_key(*class))).await.unwrap();
        }
        Operation::Records { chunk, years, of_document } => {
            let Some(chunk) = picked(*chunk) else { return };
            put_records(base, chunk, years, *of_document).await;
        }
        Operation::Extracted { chunk, entities } => {
            let Some(chunk) = picked(*chunk) else { return };
            let found = vec![InChunk { chunk, found: extraction(chunk, entities) }];
            base.put_chunk_results(ChunkResults::Extractions(ExtractBy::Model, found))
                .await
                .unwrap();
        }
        Operation::Described => {
            let long = base.long_descriptions(12).await.unwrap();
            let short = long.iter().map(|long| ShortDescription {
                node: long.node,
                made_from: long.key(),
                text: format!("In short {}.", long.name),
            });
            base.put_texts(ModelTexts::Descriptions(short.collect())).await.unwrap();
        }
        Operation::Communities { at } => put_communities(base, *at).await,
        Operation::Tree { wide } => put_tree(base, &all, usize::from(*wide)).await,
        Operation::Verified { answer, ground, context, seen } => {
            let (Some(ground), Some(context)) = (picked(*ground), picked(*context)) else { return };
            let chunks = base.chunks(&[ground]).await.unwrap();
            let answer = verified(*answer, &chunks, vec![context]);
            base.put_verified(vec![answer], *seen).await.unwrap();
        }
        Operation::Structured { schema, basis, chunk, years } => {
            let (Some(basis), Some(chunk)) = (picked(*basis), picked(*chunk)) else { return };
            put_structured(base, *schema, basis, chunk, years).await;
        }
        Operation::Revoked { answer } => {
            let id = verified(*answer, &[], Vec::new()).id;
            base.revoke_verified(id).await.unwrap();
        }
        Operation::Summed { chunk } => {
            let Some(chunk) = picked(*chunk) else { return };
            let held = base.chunks(&[chunk]).await.unwrap().remove(0);
            let source = base.sources(Which::Of(&[held.source])).await.unwrap().remove(0);
            let summary = format!("About {}.", source.title);
            let of = SourceSummary { source: source.id, hash: source.hash, summary };
            base.put_texts(ModelTexts::Sources(vec![of])).await.unwrap();
            let found = vec![InChunk { chunk, found: Some("It is a quay.".to_owned()) }];
            base.put_chunk_results(ChunkResults::Summaries(Stage("sum".to_owned()), found))
                .await
                .unwrap();
        }
    }
}

async fn put_tags(base: &impl Store, chunk: ChunkId, n: u8, tags: &[u8]) {
    let of = class(n).id;
    let tag = |n: &u8| FoundTag { class: of, key: tag_key(*n), text: word(*n).to_owned() };
    let tags = tags.iter().map(tag).collect();
    let found = ChunkTags { chunk, classes: vec![of], tags };
    base.put_chunk_results(ChunkResults::Tags(vec![found])).await.unwrap();
}

/// A person's judgment of one of a few answers.
pub(crate) fn verified(answer: u8, grounds: &[Chunk], context: Vec<ChunkId>) -> Verified {
    let (question, given) = (format!("Where is the {}?", word(answer)), "Here.".to_owned());
    let ground = |chunk: &Chunk| Ground {
        chunk: chunk.id,
        uri: chunk.uri.clone(),
        title: chunk.title.clone(),
        page: None,
        span: chunk.span,
        quote: chunk.text.clone(),
    };
    Verified {
        id: Verified::id_of(&question, &given, "Ada"),
        question,
        judgement: Judgement::Accepted,
        given,
        correction: None,
        by: "Ada".to_owned(),
        at: u64::from(answer % 3),
        note: String::new(),
        class: None,
        method: "pike".to_owned(),
        run: None,
        grounds: grounds.iter().map(ground).collect(),
        context,
    }
}

/// The key of a tag: English words are stemmed.
pub(super) fn tag_key(n: u8) -> pikerag_knowledge::NameKey {
    pikerag_knowledge::NameKey::of_folded(&pikerag_language::names::tag_words(word(n)))
}

async fn put_records(base: &impl Store, chunk: ChunkId, years: &[u8], of_document: bool) {
    let origin = if of_document { RecordOrigin::Metadata } else { RecordOrigin::Lines };
    let records = records_of(base, "approval", chunk, years, origin).await;
    let stage = Stage("records:approval:0000000000000007:rules".to_owned());
    let found = vec![InChunk { chunk, found: records }];
    base.put_chunk_results(ChunkResults::Records(stage, SchemaHash(7), found)).await.unwrap();
}

async fn put_structured(
    base: &impl Store,
    schema: u8,
    basis: ChunkId,
    chunk: ChunkId,
    years: &[u8],
) {
    let (kept, name) = (kept_schema(schema), kept_schema(schema).schema.name);
    let passage = ReadPassage { chunk, at: 3, invented: years.len(), incomplete: 1 };
    let records = records_of(base, &name, chunk, years, RecordOrigin::Model).await;
    let read = vec![(passage, records)];
    base.put_structured(Structured { kept, basis: vec![basis], read }).await.unwrap();
}

/// One of a few schemas that questions derive.
pub(super) fn kept_schema(n: u8) -> KeptSchema {
    let schema = schema_of(&format!("kind{n}"), "year");
    KeptSchema { schema, run: RunId("r".to_owned()), at: u64::from(n) }
}

/// A schema with one field, which is its key.
pub(crate) fn schema_of(name: &str, field: &str) -> RecordSchema {
    let (kind, order) = (FieldType::Text, DayOrder::default());
    let (columns, same) = (Vec::new(), Vec::new());
    RecordSchema {
        name: name.to_owned(),
        description: String::new(),
        fields: vec![Field { name: field.to_owned(), kind, columns, order, same }],
        key: vec![field.to_owned()],
        words: Vec::new(),
        model: true,
    }
}

async fn records_of(
    base: &impl Store,
    schema: &str,
    chunk: ChunkId,
    years: &[u8],
    origin: RecordOrigin,
) -> Vec<Record> {
    let held = base.chunks(&[chunk]).await.unwrap().remove(0);
    let mut records: Vec<Record> = Vec::new();
    for (nth, year) in (0_u32..).zip(years) {
        let amount = f64::from(*year);
        let value = Some(Value::Number(Quantity { amount, unit: None }));
        let field = RecordField { name: "year".to_owned(), raw: year.to_string(), value };
        records.push(Record {
            id: RecordId::of(schema, chunk, &year.to_string(), nth),
            schema: schema.to_owned(),
            chunk,
            source: held.source,
            uri: held.uri.clone(),
            page: held.page,
            span: Span { start: held.span.start, end: held.span.start + nth as usize },
            origin,
            fields: vec![field],
        });
    }
    records
}

/// Each entity is related to the next; the descriptions depend on the chunk.
fn extraction(chunk: ChunkId, entities: &[u8]) -> Extraction {
    let mention = |n: &u8| EntityMention {
        id: EntityId(name(*n).0),
        name: if chunk.0.is_multiple_of(2) { word(*n).to_owned() } else { word(*n).to_uppercase() },
        kind: ["", "thing"][(chunk.0 % 2) as usize].to_owned(),
        description: format!("A {} of {}.", word(*n), chunk.0 % 3),
    };
    let mut ids: Vec<u8> = entities.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let entities: Vec<EntityMention> = ids.iter().map(mention).collect();
    let relation = |pair: &[EntityMention]| RelationMention {
        id: RelationId::of(pair[0].id, pair[1].id),
        subject: pair[0].id,
        object: pair[1].id,
        description: format!("near {}", chunk.0 % 2),
        weight: 1.0 + (chunk.0 % 4) as f64,
    };
    Extraction { relations: entities.windows(2).map(relation).collect(), entities }
}

/// One community of all entities, and two parts of it.
async fn put_communities(base: &impl Store, at: u8) {
    let outline = base.outline().await.unwrap();
    let all: Vec<EntityId> = outline.entities.iter().map(|entity| entity.id).collect();
    let (one, other) = all.split_at(usize::from(at) % (all.len() + 1));
    // Identities represent their members.
    let named = |place: u64, members: &[EntityId]| {
        CommunityId(members.iter().fold(place, |id, of| id.rotate_left(7) ^ of.0))
    };
    let [top, left, right] = [named(1, &all), named(2, one), named(3, other)];
    let of = |id, level, parent, members: &[EntityId]| Community {
        id,
        level,
        parent,
        members: members.to_vec(),
        report: None,
    };
    let communities =
        vec![of(top, 0, None, &all), of(left, 1, Some(top), one), of(right, 1, Some(top), other)];
    let current = base.put_communities(outline.generation, communities).await.unwrap();
    assert!(current, "nothing was written since");
    let report = |community| CommunityReport {
        community,
        report: Report { title: format!("A report on {at}"), ..Report::default() },
    };
    base.put_texts(ModelTexts::Reports(vec![report(top), report(right), report(CommunityId(9))]))
        .await
        .unwrap();
}

/// Summaries of `wide` chunks each, and one above them all.
async fn put_tree(base: &impl Store, chunks: &[ChunkId], wide: usize) {
    let summary = |level, children: Vec<Child>| {
        let ids: Vec<u64> = children
            .iter()
            .map(|child| match child {
                Child::Chunk(id) => id.0,
                Child::Summary(id) => id.0,
            })
            .collect();
        Summary { id: SummaryId::of(&ids), level, text: format!("Sum of {}.", ids.len()), children }
    };
    let group =
        |chunks: &[ChunkId]| summary(1, chunks.iter().map(|id| Child::Chunk(*id)).collect());
    let leaves: Vec<Summary> = chunks.chunks(wide.max(1)).map(group).collect();
    let above = leaves.iter().map(|leaf| Child::Summary(leaf.id)).collect::<Vec<_>>();
    let ids: Vec<SummaryId> = leaves.iter().map(|leaf| leaf.id).collect();
    base.keep_only(Kept::Summaries(1, &ids)).await.unwrap();
    base.keep_only(Kept::Summaries(2, &[])).await.unwrap();
    base.put_texts(ModelTexts::Clusters(leaves)).await.unwrap();
    if !above.is_empty() {
        base.put_texts(ModelTexts::Clusters(vec![summary(2, above)])).await.unwrap();
    }
}
