//! Makes the vectors, words and bases to measure on, the same in every run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use pikerag_knowledge::{
    Atom, AtomId, AtomKind, Chunk, ChunkId, ChunkResults, CorpusWriter, DocumentGraph, FileRecord,
    InChunk, NodeId, NodeVector, SearchWriter, Source, SourceId, Stage, VectorSet,
};
use pikerag_store::Base;

use crate::runtime;

/// The dimensions of all-MiniLM-L6-v2.
const DIMENSIONS: usize = 384;
/// Different words; the n-th most frequent occurs 1/n times as often as the first (Zipf).
const VOCABULARY: f64 = 100_000.0;
/// Words of a chunk.
const WORDS: usize = 100;
/// The most frequent words stand for grammar, which queries leave out.
const GRAMMAR: usize = 100;
const CHUNKS_PER_FILE: usize = 1_000;
const VECTORS_PER_CALL: usize = 20_000;
/// Increased when the content of built bases changes.
const VERSION: u32 = 1;

/// splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In `[0, 1)`.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A direction, evenly drawn from a cube.
    pub(crate) fn unit_vector(&mut self) -> Vec<f32> {
        let mut vector: Vec<f32> = (0..DIMENSIONS)
            .map(|_| (self.next() >> 40) as f32 / (1u32 << 23) as f32 - 1.0)
            .collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        for x in &mut vector {
            *x /= length;
        }
        vector
    }

    /// The rank of a word, from 0; the n-th word has a chance of about 1/n.
    fn rank(&mut self) -> usize {
        VOCABULARY.powf(self.share()) as usize - 1
    }

    fn text(&mut self, n_words: usize) -> String {
        (0..n_words).map(|_| word(self.rank())).collect::<Vec<_>>().join(" ")
    }

    /// `n_words` words, as frequent in questions as in texts, without those that stand for grammar.
    pub(crate) fn question(&mut self, n_words: usize) -> Vec<String> {
        let ranks = std::iter::repeat_with(|| self.rank()).filter(|rank| GRAMMAR <= *rank);
        ranks.take(n_words).map(word).collect()
    }
}

/// Five syllables that no stemmer touches: `bagicubadu`.
fn word(rank: usize) -> String {
    let mut word = String::new();
    let mut left = rank;
    for _ in 0..4 {
        word.push(char::from(*b"bdfgklmnprtvwzjh".get(left % 16).unwrap_or(&b'b')));
        word.push(char::from(*b"aiou".get(left / 16 % 4).unwrap_or(&b'a')));
        left /= 64;
    }
    word + "ku"
}

/// The size of a base. All chunks and atoms have vectors.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) chunks: usize,
    pub(crate) atoms_per_chunk: usize,
}

fn folder(size: Size) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("store-bench-v{VERSION}-{}x{}", size.chunks, size.atoms_per_chunk))
}

/// The file that marks a base as completely built.
fn mark(folder: &Path) -> PathBuf {
    folder.join("whole")
}

pub(crate) fn is_built(size: Size) -> bool {
    mark(&folder(size)).exists()
}

/// Free space where bases are built, in GiB, if `df` can tell.
pub(crate) fn free_gib() -> Option<u64> {
    let output = Command::new("df").args(["-Pk", env!("CARGO_TARGET_TMPDIR")]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.lines().nth(1)?.split_whitespace().nth(3)?.parse::<u64>().ok()? >> 20)
}

/// The folder of a base of that size, which is built if it does not exist yet.
pub(crate) fn base(size: Size) -> PathBuf {
    let folder = folder(size);
    if mark(&folder).exists() {
        return folder;
    }
    let began = Instant::now();
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the folder of an unfinished base goes");
    }
    let base = Base::open_or_create(&folder).expect("an empty base");
    runtime().block_on(fill(&base, size));
    drop(base);
    fs::write(mark(&folder), "").expect("a mark");
    eprintln_built(size, began);
    folder
}

#[expect(clippy::print_stderr, reason = "divan's table goes to standard output")]
fn eprintln_built(size: Size, began: Instant) {
    eprintln!(
        "built a base of {} chunks with {} atoms each in {:.0} s",
        size.chunks,
        size.atoms_per_chunk,
        began.elapsed().as_secs_f64()
    );
}

async fn fill(base: &Base, size: Size) {
    let mut random = Random(2);
    let (mut chunks, mut atoms) = (Vec::new(), Vec::new());
    for file in 0..size.chunks.div_ceil(CHUNKS_PER_FILE) {
        let path = format!("file-{file:04}.jsonl");
        let record = FileRecord { path, hash: String::new(), recipe: String::new() };
        let documents: Vec<DocumentGraph> = (file * CHUNKS_PER_FILE..size.chunks)
            .take(CHUNKS_PER_FILE)
            .map(|n| document(&format!("{}#{n}", record.path), &mut random))
            .collect();
        let here: Vec<ChunkId> =
            documents.iter().flat_map(|document| &document.chunks).map(|chunk| chunk.id).collect();
        base.put_file(&record, documents).await.expect("a file is stored");
        let mut made =
            |chunk: &ChunkId| InChunk { chunk: *chunk, found: atoms_of(*chunk, size, &mut random) };
        let of_file: Vec<InChunk<Vec<Atom>>> = here.iter().map(&mut made).collect();
        chunks.extend(here.iter().map(|chunk| NodeId::from(*chunk)));
        atoms.extend(of_file.iter().flat_map(|made| &made.found).map(|atom| NodeId::from(atom.id)));
        let stage = Stage::atomize(AtomKind::Question);
        base.put_chunk_results(ChunkResults::Atoms(stage.clone(), of_file))
            .await
            .expect("atoms are stored");
    }
    let sets = [(VectorSet::Chunks, chunks), (VectorSet::Atoms(AtomKind::Question), atoms)];
    for (set, mut ids) in sets {
        // Indexing embeds in this order.
        ids.sort_unstable();
        for part in ids.chunks(VECTORS_PER_CALL) {
            let vectors = part
                .iter()
                .map(|node| NodeVector { node: *node, vector: random.unit_vector() })
                .collect();
            base.put_vectors(set, "synthetic", vectors).await.expect("vectors are stored");
        }
    }
    base.refresh().await.expect("indexes are built");
}

/// Stores a file of `n` documents with one chunk each, with atoms and vectors for all.
pub(crate) async fn put(base: &Base, path: &str, n: usize, atoms: usize, random: &mut Random) {
    let record = FileRecord { path: path.to_owned(), hash: String::new(), recipe: String::new() };
    let documents: Vec<DocumentGraph> =
        (0..n).map(|place| document(&format!("{path}#{place}"), random)).collect();
    let chunks: Vec<ChunkId> =
        documents.iter().flat_map(|document| &document.chunks).map(|chunk| chunk.id).collect();
    base.put_file(&record, documents).await.expect("a file is stored");
    let size = Size { chunks: n, atoms_per_chunk: atoms };
    let mut atomized =
        |chunk: &ChunkId| InChunk { chunk: *chunk, found: atoms_of(*chunk, size, random) };
    let made: Vec<InChunk<Vec<Atom>>> = chunks.iter().map(&mut atomized).collect();
    let atoms: Vec<NodeId> =
        made.iter().flat_map(|made| &made.found).map(|atom| NodeId::from(atom.id)).collect();
    base.put_chunk_results(ChunkResults::Atoms(Stage::atomize(AtomKind::Question), made))
        .await
        .expect("atoms are stored");
    let chunks: Vec<NodeId> = chunks.into_iter().map(NodeId::from).collect();
    for (set, ids) in [(VectorSet::Chunks, chunks), (VectorSet::Atoms(AtomKind::Question), atoms)] {
        let vector = |node| NodeVector { node, vector: random.unit_vector() };
        let vectors = ids.into_iter().map(vector).collect();
        base.put_vectors(set, "synthetic", vectors).await.expect("vectors are stored");
    }
}

fn document(uri: &str, random: &mut Random) -> DocumentGraph {
    let (title, text) = (random.text(2), random.text(WORDS));
    let id = SourceId::of(uri);
    let of = ChunkId::of(id, "", &text, 0);
    let chunk = Chunk {
        id: of,
        source: id,
        uri: uri.to_owned(),
        ..pikerag_doubles::chunk(0, &title, &text)
    };
    let source = Source {
        id,
        uri: uri.to_owned(),
        title,
        media_type: "text/plain".to_owned(),
        hash: String::new(),
        language: None,
        metadata: BTreeMap::new(),
        summary: None,
    };
    DocumentGraph {
        source,
        text,
        sections: Vec::new(),
        chunks: vec![chunk],
        links: Vec::new(),
        figures: Vec::new(),
        names: Vec::new(),
        known_as: Vec::new(),
    }
}

fn atoms_of(chunk: ChunkId, size: Size, random: &mut Random) -> Vec<Atom> {
    let kind = AtomKind::Question;
    let texts = (0..size.atoms_per_chunk).map(|_| random.text(10));
    let atom =
        |text: String| Atom { id: AtomId::of(chunk, kind.as_str(), &text), chunk, kind, text };
    texts.map(atom).collect()
}
