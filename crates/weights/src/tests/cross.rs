//! Compares the scores of tiny random cross-encoders with a naive implementation.

use safetensors::Dtype;
use serde_json::{Value, json};

use super::super::{LaterReranker, LocalReranker};
use super::tiny::{HIDDEN, PLAIN, POSITIONS, Tensors, Tiny, forward, ids, random_tensors, write};
use super::weights;
use pikerag_knowledge::Reranker;

const QUERY: &str = "the program";

fn texts() -> Vec<String> {
    let long = "the first program in . ".repeat(20);
    let texts = ["Ada wrote the first program.", "", "unknown words", &long, "the", "in . the"];
    texts.map(str::to_owned).to_vec()
}

/// Random tensors with the two layers of a head.
fn with_head(dense: &str, score: &str) -> Tensors {
    let mut tensors = random_tensors();
    let mut state = 7_u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 25) as f32 / 64.0 - 1.0
    };
    for (name, outputs) in [(dense, HIDDEN), (score, 1)] {
        let weight = (0..outputs * HIDDEN).map(|_| number()).collect();
        let bias = (0..outputs).map(|_| number()).collect();
        tensors.insert(format!("{name}.weight"), (vec![outputs, HIDDEN], weight));
        tensors.insert(format!("{name}.bias"), (vec![outputs], bias));
    }
    tensors
}

/// A folder whose `config.json` names an architecture, with a tokenizer that joins pairs as BERT's
/// does.
fn folder(tiny: &Tiny, tensors: &Tensors, config: &Value) -> tempfile::TempDir {
    let folder = write(tiny, tensors);
    let change = |name: &str, change: &dyn Fn(&mut Value)| {
        let path = folder.path().join(name);
        let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut json);
        std::fs::write(path, json.to_string()).unwrap();
    };
    change("config.json", &|json| {
        json.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
    });
    let special = |id: &str, kind: u8| json!({"SpecialToken": {"id": id, "type_id": kind}});
    let sequence = |id: &str, kind: u8| json!({"Sequence": {"id": id, "type_id": kind}});
    change("tokenizer.json", &|json| {
        json["post_processor"]["pair"] = json!([
            special("[CLS]", 0),
            sequence("A", 0),
            special("[SEP]", 0),
            sequence("B", 1),
            special("[SEP]", 1)
        ]);
    });
    std::fs::remove_dir_all(folder.path().join("1_Pooling")).unwrap();
    folder
}

/// The score of one pair: `[CLS] query [SEP] text [SEP]`, the longer one cut.
fn naive(tiny: &Tiny, tensors: &Tensors, head: (&str, &str), query: &str, text: &str) -> f64 {
    let is_bert = tiny.model_type == "bert";
    let max_tokens = if is_bert { POSITIONS } else { POSITIONS - 2 };
    let (query, mut text) = (ids(query), ids(text));
    text.truncate(max_tokens - 3 - query.len());
    let second = usize::from(is_bert);
    let first = [2].into_iter().chain(query).chain([3]).map(|id| (id, 0));
    let tokens: Vec<(usize, usize)> =
        first.chain(text.into_iter().chain([3]).map(|id| (id, second))).collect();
    let row = forward(tiny, tensors, &tokens)[0].clone();
    let linear = |x: &[f64], name: &str| -> Vec<f64> {
        let (weight, bias) =
            (&tensors[&format!("{name}.weight")].1, &tensors[&format!("{name}.bias")].1);
        let rows = weight.chunks(HIDDEN).zip(bias);
        let dot = |row: &[f32]| row.iter().zip(x).map(|(w, x)| f64::from(*w) * x).sum::<f64>();
        rows.map(|(row, bias)| f64::from(*bias) + dot(row)).collect()
    };
    let dense: Vec<f64> = linear(&row, head.0).into_iter().map(f64::tanh).collect();
    linear(&dense, head.1)[0]
}

#[test]
fn equals_a_naive_cross_encoder() {
    let bert = ("pooler.dense", "classifier");
    let roberta = ("classifier.dense", "classifier.out_proj");
    let one = json!({"0": "LABEL_0"});
    let variants = [
        (Tiny { ..PLAIN }, bert, json!({"num_labels": 1})),
        (Tiny { prefix: "bert.", dtype: Dtype::F16, ..PLAIN }, bert, json!({"id2label": one})),
        (
            Tiny { prefix: "roberta.", model_type: "roberta", ..PLAIN },
            roberta,
            json!({"id2label": one}),
        ),
        (
            Tiny { prefix: "roberta.", model_type: "xlm-roberta", ..PLAIN },
            roberta,
            json!({"id2label": one}),
        ),
    ];
    for (tiny, head, mut config) in variants {
        let mut tensors = with_head(head.0, head.1);
        let name = if tiny.model_type == "bert" { "Bert" } else { "XLMRoberta" };
        config["architectures"] = json!([format!("{name}ForSequenceClassification")]);
        if tiny.model_type != "bert" {
            let types = tensors.get_mut("embeddings.token_type_embeddings.weight").unwrap();
            *types = (vec![1, HIDDEN], types.1[..HIDDEN].to_vec());
        }
        let folder = folder(&tiny, &tensors, &config);
        let reranker = LocalReranker::open(&weights(&folder)).unwrap();
        let scores = reranker.rerank_now(QUERY, &texts()).unwrap();
        assert_eq!(scores.len(), texts().len());
        for (text, score) in texts().iter().zip(&scores) {
            let expected = naive(&tiny, &tensors, head, QUERY, text);
            let off = (f64::from(*score) - expected).abs();
            assert!(off < 3e-3, "{} {text:?}: {score}, not {expected}", tiny.model_type);
            let alone = reranker.rerank_now(QUERY, std::slice::from_ref(text)).unwrap();
            assert_eq!(alone[0].to_bits(), score.to_bits(), "{text:?}");
        }
        let swapped = reranker.rerank_now("Ada wrote the first program.", &[QUERY.to_owned()]);
        assert_ne!(swapped.unwrap()[0].to_bits(), scores[0].to_bits());
    }
}

#[tokio::test]
async fn weights_are_loaded_with_the_first_texts() {
    let config = json!({"architectures": ["BertForSequenceClassification"], "num_labels": 1});
    let folder = folder(&PLAIN, &with_head("pooler.dense", "classifier"), &config);
    let later = LaterReranker::new(weights(&folder)).unwrap();
    let now = LocalReranker::open(&weights(&folder)).unwrap();
    let relevance = later.rerank(QUERY, &texts()).await.unwrap();
    assert_eq!(relevance.scores, now.rerank_now(QUERY, &texts()).unwrap());
    assert_eq!(now.rerank(QUERY, &[]).await.unwrap().scores, [0.0; 0]);

    let later = LaterReranker::new(weights(&folder)).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), "{").unwrap();
    assert!(later.rerank(QUERY, &[]).await.unwrap().scores.is_empty());
    assert!(later.rerank(QUERY, &texts()).await.is_err());
}

#[test]
fn reports_models_that_are_not_rerankers() {
    let run = |config: Value, damage: &dyn Fn(&mut Tensors)| -> String {
        let mut tensors = with_head("pooler.dense", "classifier");
        damage(&mut tensors);
        let folder = folder(&PLAIN, &tensors, &config);
        let error = LocalReranker::open(&weights(&folder)).err().unwrap();
        error.to_string().replace(&folder.path().display().to_string(), "~")
    };
    let bert = |labels: usize| json!({"architectures": ["BertForSequenceClassification"], "num_labels": labels});
    let found = [
        run(json!({}), &|_| {}),
        run(json!({"architectures": ["BertModel"]}), &|_| {}),
        run(json!({"architectures": ["BertForSequenceClassification"]}), &|_| {}),
        run(bert(3), &|_| {}),
        run(bert(1), &|tensors| drop(tensors.remove("classifier.weight"))),
        run(bert(1), &|tensors| drop(tensors.remove("pooler.dense.bias"))),
    ];
    insta::assert_snapshot!(found.join("\n"), @"
    ~/config.json asks for a model that is not a `…ForSequenceClassification`, which is not supported
    ~/config.json asks for `BertModel`, not a `…ForSequenceClassification`, which is not supported
    ~/config.json asks for 2 labels (a reranker has one), which is not supported
    ~/config.json asks for 3 labels (a reranker has one), which is not supported
    tensor `classifier.weight` in ~/model.safetensors is missing
    tensor `pooler.dense.bias` in ~/model.safetensors is missing
    ");
}

#[test]
fn a_score_that_is_not_finite_is_an_error() {
    let mut tensors = with_head("pooler.dense", "classifier");
    tensors.get_mut("classifier.bias").unwrap().1[0] = f32::NAN;
    let config = json!({"architectures": ["BertForSequenceClassification"], "num_labels": 1});
    let folder = folder(&PLAIN, &tensors, &config);
    let reranker = LocalReranker::open(&weights(&folder)).unwrap();
    let error = reranker.rerank_now(QUERY, &texts()).unwrap_err();
    assert!(matches!(error, pikerag_knowledge::ModelError::Broken { .. }), "{error}");
}
