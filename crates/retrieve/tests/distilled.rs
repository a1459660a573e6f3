//! Tests that each kind of distilled node that leads to a chunk counts by its own factor (PIKE-RAG §5.2.3).
#![cfg(test)]

mod common;

use pikerag_knowledge::{
    Child, Chunk, ChunkId, ChunkResults, ChunkTags, ChunksOf, Community, CommunityId,
    CommunityReport, CorpusReader, CorpusWriter, EntityId, EntityMention, ExtractBy, Extraction,
    FoundTag, GraphReader, GraphWriter, InChunk, KeyedClass, ModelTexts, NameKey, NodeId,
    NodeVector, Origin, Record, RecordField, RecordId, RecordOrigin, Report, SchemaHash,
    SearchWriter, SourceId, Stage, Summary, SummaryId, TagClass, TagEdit, TagWriter, VectorSet,
    Which,
};
use pikerag_language::names::tag_words;
use pikerag_retrieve::{LayerParams, Spread, layers};

use common::{Embedding, Shelf};

const LIBRARY: [(&str, &str); 3] = [
    ("snow.md", "# Snow\n\nSnow is white."),
    ("tea.md", "# Tea\n\nTea comes from leaves."),
    ("nets.md", "# Crane\n\nThe crane was built of nets."),
];
const QUESTION: &str = "Where was the crane built?";
/// What every node below is about; the text of the chunk that they lead to has no word of it.
const ABOUT: &str = "the crane was built";

/// Each kind raises the chunk that its node leads to, and no kind counts without its factor.
#[tokio::test]
async fn each_kind_of_distilled_node_counts_by_its_own_factor() {
    let none = LayerParams {
        distilled: 1.0,
        sharpness: 1.0,
        spread: Spread::Off,
        ..LayerParams::default()
    };
    let kinds: [(&str, LayerParams); 5] = [
        ("entity", LayerParams { entities: 1.0, ..none }),
        ("report", LayerParams { reports: 1.0, ..none }),
        ("summary", LayerParams { summaries: 1.0, ..none }),
        ("tag", LayerParams { tags: 1.0, ..none }),
        ("record", LayerParams { records: 1.0, ..none }),
    ];
    for (kind, params) in kinds {
        // Tags need no embedder.
        let embedding = if kind == "tag" { Embedding::None } else { Embedding::Hashes };
        let shelf = Shelf::of(&LIBRARY, embedding).await;
        let snow = shelf.chunk("Snow").await;
        shelf.lead(kind, &snow).await;
        let ignored = distilled(&shelf, &snow, none).await;
        let counted = distilled(&shelf, &snow, params).await;
        // Sentences of the chunk may be a little like the question.
        assert!(ignored < 0.1 && ignored + 0.2 < counted, "{kind}: {ignored} became {counted}");
    }
}

/// The part of a chunk's score that its distilled nodes give.
async fn distilled(shelf: &Shelf, chunk: &Chunk, params: LayerParams) -> f32 {
    let hits = layers(shelf.finder(), QUESTION, 9, params).await.unwrap();
    let hit = hits.iter().find(|hit| hit.chunk == chunk.id);
    hit.and_then(|hit| hit.parts.get("distilled")).copied().unwrap_or_default()
}

impl Shelf {
    async fn chunk(&self, title: &str) -> Chunk {
        let sources: Vec<SourceId> =
            self.base.sources(Which::All).await.unwrap().iter().map(|source| source.id).collect();
        let lists = self.base.chunks_of(ChunksOf::Sources(&sources), 9).await.unwrap();
        let ids: Vec<ChunkId> = lists.into_iter().flat_map(|list| list.chunks).collect();
        let chunks = self.base.chunks(&ids).await.unwrap();
        chunks.into_iter().find(|chunk| chunk.title == title).unwrap()
    }

    /// Puts a node about the question that leads to the chunk, and one about something else.
    async fn lead(&self, kind: &str, chunk: &Chunk) {
        match kind {
            "entity" => self.put_entities(chunk, ABOUT, "").await,
            "report" => self.put_entities(chunk, "plain", ABOUT).await,
            "summary" => self.put_summaries(chunk).await,
            "tag" => self.put_tag(chunk, "crane").await,
            _ => self.put_record(chunk).await,
        }
        self.base.refresh().await.unwrap();
    }

    async fn put_entities(&self, chunk: &Chunk, name: &str, report: &str) {
        let mention = |id: u64, name: &str| EntityMention {
            id: EntityId(id),
            name: name.to_owned(),
            kind: String::new(),
            description: String::new(),
        };
        let tea = self.chunk("Tea").await.id;
        let of = |chunk, entity| InChunk {
            chunk,
            found: Extraction { entities: vec![entity], relations: Vec::new() },
        };
        let found = vec![of(chunk.id, mention(1, name)), of(tea, mention(2, "leaves"))];
        self.base
            .put_chunk_results(ChunkResults::Extractions(ExtractBy::Names, found))
            .await
            .unwrap();
        self.put_vectors(VectorSet::Entities, &[(1, name), (2, "leaves")]).await;
        let outline = self.base.outline().await.unwrap();
        let community = Community {
            id: CommunityId(7),
            level: 0,
            parent: None,
            members: vec![EntityId(1)],
            report: None,
        };
        assert!(self.base.put_communities(outline.generation, vec![community]).await.unwrap());
        let report = Report { summary: report.to_owned(), ..Report::default() };
        let report = CommunityReport { community: CommunityId(7), report };
        self.base.put_texts(ModelTexts::Reports(vec![report])).await.unwrap();
    }

    async fn put_summaries(&self, chunk: &Chunk) {
        let tea = self.chunk("Tea").await.id;
        let of = |chunk: ChunkId, text: &str| Summary {
            id: SummaryId::of(&[chunk.0]),
            level: 1,
            text: text.to_owned(),
            children: vec![Child::Chunk(chunk)],
        };
        let all = vec![of(chunk.id, ABOUT), of(tea, "leaves")];
        let texts: Vec<(u64, &str)> = vec![(all[0].id.0, ABOUT), (all[1].id.0, "leaves")];
        self.base.put_texts(ModelTexts::Clusters(all.clone())).await.unwrap();
        self.put_vectors(VectorSet::Summaries, &texts).await;
    }

    async fn put_tag(&self, chunk: &Chunk, tag: &str) {
        let machine = TagClass::new("machine", "what lifts", Vec::new(), Origin::Declared);
        let class = machine.id;
        let key = NameKey::of_folded(&tag_words("machine"));
        let edit = TagEdit::AddClasses(vec![KeyedClass { key, class: machine }]);
        self.base.edit_tags(edit).await.unwrap();
        let key = NameKey::of_folded(&tag_words(tag));
        let tags = vec![FoundTag { class, key, text: tag.to_owned() }];
        let found = ChunkTags { chunk: chunk.id, classes: vec![class], tags };
        self.base.put_chunk_results(ChunkResults::Tags(vec![found])).await.unwrap();
    }

    async fn put_record(&self, chunk: &Chunk) {
        let record = Record {
            id: RecordId::of("machine", chunk.id, "crane", 0),
            schema: "machine".to_owned(),
            chunk: chunk.id,
            source: chunk.source,
            uri: chunk.uri.clone(),
            page: None,
            span: chunk.span,
            origin: RecordOrigin::Lines,
            fields: vec![RecordField {
                name: "what".to_owned(),
                raw: ABOUT.to_owned(),
                value: None,
            }],
        };
        let stage = Stage("records:machine:0000000000000007:rules".to_owned());
        let found = vec![InChunk { chunk: chunk.id, found: vec![record] }];
        self.base
            .put_chunk_results(ChunkResults::Records(stage, SchemaHash(7), found))
            .await
            .unwrap();
    }

    async fn put_vectors(&self, set: VectorSet, texts: &[(u64, &str)]) {
        let embedder = pikerag_doubles::HashEmbedder::new(4096);
        let words: Vec<String> = texts.iter().map(|(_, text)| (*text).to_owned()).collect();
        let vectors = texts.iter().zip(embedder.vectors(&words));
        let vectors = vectors.map(|((id, _), vector)| NodeVector { node: NodeId(*id), vector });
        self.base.put_vectors(set, "hash", vectors.collect()).await.unwrap();
    }
}
