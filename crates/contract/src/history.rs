//! Generates random histories of the operations of indexing and people.

use std::collections::BTreeMap;

use pikerag_knowledge::{
    Chunk, ChunkId, ChunkKind, DocumentGraph, NameKey, NameUse, Section, SectionId, Source,
    SourceId, Span,
};
use proptest::prelude::*;

/// One operation. Numbers select from the existing items; any number is valid.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "a field selects the item of its variant")]
pub enum Operation {
    /// Stores a file in place of its older version: paragraphs of words below headings.
    Put { file: u8, year: u8, paragraphs: Vec<Paragraph> },
    /// Deletes a file.
    Delete { file: u8 },
    /// Gives a chunk atoms, each with words.
    Atoms { chunk: u8, words: Vec<u8> },
    /// Gives vectors to pending texts of a set.
    Vectors { set: u8, most: usize },
    /// Stores the tags of a class in a chunk.
    Tags { chunk: u8, class: u8, tags: Vec<u8> },
    /// Deletes a class and its tags.
    DropClass { class: u8 },
    /// Stores the records of a chunk.
    Records { chunk: u8, years: Vec<u8>, of_document: bool },
    /// Stores the entities of a chunk.
    Extracted { chunk: u8, entities: Vec<u8> },
    /// Stores short descriptions of nodes with long ones.
    Described,
    /// Groups entities into communities with reports.
    Communities { at: u8 },
    /// Builds a tree of summaries over the chunks.
    Tree { wide: u8 },
    /// Stores the summaries of a document and a chunk.
    Summed { chunk: u8 },
    /// Stores a judgment of an answer that cites one chunk and was written from another.
    Verified { answer: u8, ground: u8, context: u8, seen: bool },
    /// Stores a schema that a question derived from one chunk, and its records of another.
    Structured { schema: u8, basis: u8, chunk: u8, years: Vec<u8> },
    /// Revokes this judgment.
    Revoked { answer: u8 },
}

/// Words below a heading.
#[derive(Clone, Debug)]
pub struct Paragraph {
    heading: u8,
    words: Vec<u8>,
    mentions: u8,
    is_hidden: bool,
}

/// Histories of a few operations on a few files.
pub fn histories() -> impl Strategy<Value = Vec<Operation>> {
    prop::collection::vec(operation(), 1..24)
}

/// Changes of everything that filters read, each alone.
pub(crate) fn changes_for_filters() -> Vec<Operation> {
    let paragraph =
        |heading, word| Paragraph { heading, words: vec![word], mentions: 0, is_hidden: false };
    let put = |file, year, heads: &[u8]| {
        let paragraphs = (0..).zip(heads).map(|(word, head)| paragraph(*head, word)).collect();
        Operation::Put { file, year, paragraphs }
    };
    let mut changes = vec![put(0, 1, &[0, 1]), put(1, 0, &[0]), put(0, 2, &[0, 1])];
    // Every chunk takes its turn, because its number depends on its text.
    for chunk in 0..3 {
        let (class, other) = (chunk % 2, (chunk + 1) % 2);
        changes.extend([
            Operation::Tags { chunk, class, tags: vec![0, 1] },
            Operation::Tags { chunk, class: other, tags: vec![1, 5] },
            Operation::Tags { chunk, class, tags: vec![1] },
            Operation::Records { chunk, years: vec![3], of_document: false },
            Operation::Records { chunk, years: vec![1], of_document: false },
            Operation::Records { chunk, years: vec![2], of_document: true },
            Operation::Structured { schema: 0, basis: chunk, chunk, years: vec![2] },
        ]);
    }
    changes.extend([Operation::DropClass { class: 0 }, Operation::DropClass { class: 1 }]);
    changes.extend([put(0, 2, &[0]), put(0, 2, &[1, 1, 0]), Operation::Delete { file: 1 }]);
    changes
}

fn operation() -> impl Strategy<Value = Operation> {
    let few = || prop::collection::vec(0..6_u8, 0..4);
    let paragraph =
        (0..3_u8, prop::collection::vec(0..6_u8, 1..6), 0..6_u8, prop::bool::weighted(0.1));
    let paragraph = paragraph.prop_map(|(heading, words, mentions, is_hidden)| Paragraph {
        heading,
        words,
        mentions,
        is_hidden,
    });
    prop_oneof![
        5 => (0..4_u8, 0..4_u8, prop::collection::vec(paragraph, 0..4))
            .prop_map(|(file, year, paragraphs)| Operation::Put { file, year, paragraphs }),
        1 => (0..4_u8).prop_map(|file| Operation::Delete { file }),
        2 => (any::<u8>(), few()).prop_map(|(chunk, words)| Operation::Atoms { chunk, words }),
        3 => (any::<u8>(), 1..9_usize).prop_map(|(set, most)| Operation::Vectors { set, most }),
        2 => (any::<u8>(), 0..2_u8, few())
            .prop_map(|(chunk, class, tags)| Operation::Tags { chunk, class, tags }),
        1 => (0..2_u8).prop_map(|class| Operation::DropClass { class }),
        2 => (any::<u8>(), few(), any::<bool>()).prop_map(|(chunk, years, of_document)| {
            Operation::Records { chunk, years, of_document }
        }),
        3 => (any::<u8>(), few()).prop_map(|(chunk, entities)| Operation::Extracted { chunk, entities }),
        1 => Just(Operation::Described),
        1 => any::<u8>().prop_map(|at| Operation::Communities { at }),
        1 => (1..4_u8).prop_map(|wide| Operation::Tree { wide }),
        1 => any::<u8>().prop_map(|chunk| Operation::Summed { chunk }),
        2 => (0..4_u8, any::<u8>(), any::<u8>(), any::<bool>()).prop_map(
            |(answer, ground, context, seen)| Operation::Verified { answer, ground, context, seen }
        ),
        2 => (0..3_u8, any::<u8>(), any::<u8>(), few()).prop_map(
            |(schema, basis, chunk, years)| Operation::Structured { schema, basis, chunk, years }
        ),
        1 => (0..4_u8).prop_map(|answer| Operation::Revoked { answer }),
    ]
}

/// A word in one of two languages.
pub(crate) fn word(n: u8) -> &'static str {
    ["crane", "harbour", "起重机", "sensor", "letter", "quay"][usize::from(n) % 6]
}

/// A name in titles and texts of chunks.
pub(crate) fn name(n: u8) -> NameKey {
    NameKey::of_folded(word(n))
}

/// The path of a file: one of two folders.
pub(crate) fn path(file: u8) -> String {
    format!("{}/{file}.md", if file.is_multiple_of(2) { "law" } else { "tea" })
}

/// The document of a file, or none if it is empty.
pub(crate) fn documents(file: u8, year: u8, paragraphs: &[Paragraph]) -> Vec<DocumentGraph> {
    if paragraphs.is_empty() {
        return Vec::new();
    }
    let uri = path(file);
    let id = SourceId::of(&uri);
    let title = format!("Title {}", word(file));
    let (mut text, mut chunks, mut sections) = (String::new(), Vec::new(), Vec::<Section>::new());
    let mut names = Vec::new();
    for (ordinal, paragraph) in (0_u32..).zip(paragraphs) {
        let heading = format!("Part {}", word(paragraph.heading));
        let section = match sections.iter().find(|section| section.heading == heading) {
            Some(section) => section.id,
            None => {
                let place = sections.len() as u32;
                let section = SectionId::of(id, place);
                sections.push(Section {
                    id: section,
                    source: id,
                    parent: sections.first().map(|first| first.id),
                    ordinal: place,
                    level: 1,
                    heading: heading.clone(),
                });
                section
            }
        };
        let words: Vec<&str> = paragraph.words.iter().map(|n| word(*n)).collect();
        let start = text.len();
        text.push_str(&words.join(" "));
        let span = Span { start, end: text.len() };
        text.push_str("\n\n");
        let own = words.join(" ");
        let nth = chunks.iter().filter(|held: &&Chunk| held.text == own).count() as u32;
        let chunk = ChunkId::of(id, "", &own, nth);
        names.push((chunk, NameUse::Mentions(name(paragraph.mentions))));
        names.push((chunk, NameUse::Bears { key: name(paragraph.heading), weight: 80 }));
        names.push((chunk, NameUse::Links(name(paragraph.mentions.wrapping_add(1)))));
        chunks.push(Chunk {
            id: chunk,
            source: id,
            uri: uri.clone(),
            title: title.clone(),
            section: Some(section),
            headings: vec![heading],
            ordinal,
            kind: ChunkKind::Text,
            text: own,
            span,
            page: None,
            area: None,
            boxes: Vec::new(),
            table: None,
            summary: None,
            hidden: paragraph.is_hidden,
        });
    }
    let metadata = BTreeMap::from([
        ("author".to_owned(), ["Ada", "Eve"][usize::from(year) % 2].to_owned()),
        ("date".to_owned(), format!("{}-03", 2018 + u32::from(year))),
    ]);
    let source = Source {
        id,
        uri,
        title,
        media_type: "text/markdown".to_owned(),
        hash: text.clone(),
        language: None,
        metadata,
        summary: None,
    };
    let (links, figures, known_as) = (Vec::new(), Vec::new(), Vec::new());
    vec![DocumentGraph { source, text, sections, chunks, links, figures, names, known_as }]
}
