//! Writes a tiny random BERT in the layout of Hugging Face, and computes its vectors naively.

use std::collections::{BTreeMap, HashMap};

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::json;

pub(super) const HIDDEN: usize = 32;
pub(super) const HEADS: usize = 4;
pub(super) const WIDE: usize = 64;
pub(super) const POSITIONS: usize = 24;
pub(super) const WORDS: [&str; 12] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "ada", "wrote", "the", "first", "program", "in", "l", "."];

/// The options in which tiny models differ.
pub(super) struct Tiny {
    pub(super) prefix: &'static str,
    pub(super) dtype: Dtype,
    pub(super) model_type: &'static str,
    pub(super) activation: &'static str,
    pub(super) pooling: &'static str,
}

pub(super) const PLAIN: Tiny = Tiny {
    prefix: "",
    dtype: Dtype::F32,
    model_type: "bert",
    activation: "gelu",
    pooling: "mean_tokens",
};

pub(super) type Tensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// Random multiples of 1/64: exact in 16 bits, too.
pub(super) fn random_tensors() -> Tensors {
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![WORDS.len(), HIDDEN]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![POSITIONS, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, HIDDEN]),
    ];
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in ["encoder.layer.0", "encoder.layer.1"] {
        for (name, inputs, outputs) in [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", HIDDEN, WIDE),
            ("output.dense", WIDE, HIDDEN),
        ] {
            shapes.push((format!("{layer}.{name}.weight"), vec![outputs, inputs]));
            shapes.push((format!("{layer}.{name}.bias"), vec![outputs]));
        }
        norms.push(format!("{layer}.attention.output.LayerNorm"));
        norms.push(format!("{layer}.output.LayerNorm"));
    }
    for norm in norms {
        shapes.push((format!("{norm}.weight"), vec![HIDDEN]));
        shapes.push((format!("{norm}.bias"), vec![HIDDEN]));
    }
    let mut state = 42_u64;
    let mut number = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 57) as f32 / 64.0 - 1.0
    };
    let fill = |(name, shape): (String, Vec<usize>)| {
        let values = (0..shape.iter().product()).map(|_| number()).collect();
        (name, (shape, values))
    };
    shapes.into_iter().map(fill).collect()
}

/// Writes a folder in the layout of Hugging Face, with a tokenizer that pads, as MiniLM's does.
pub(super) fn write(tiny: &Tiny, tensors: &Tensors) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, value: serde_json::Value| {
        std::fs::write(folder.path().join(name), value.to_string()).unwrap();
    };
    save(
        "config.json",
        json!({"model_type": tiny.model_type, "hidden_size": HIDDEN, "num_hidden_layers": 2,
            "num_attention_heads": HEADS, "intermediate_size": WIDE, "pad_token_id": 1,
            "hidden_act": tiny.activation, "max_position_embeddings": POSITIONS,
            "layer_norm_eps": 1e-5}),
    );
    std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    let mode = format!("pooling_mode_{}", tiny.pooling);
    save("1_Pooling/config.json", json!({ mode: true, "pooling_mode_max_tokens": false }));
    let vocab: HashMap<&str, usize> = WORDS.iter().enumerate().map(|(i, w)| (*w, i)).collect();
    let special = |name: &str, id: usize| json!({"id": name, "ids": [id], "tokens": [name]});
    save(
        "tokenizer.json",
        json!({
            "version": "1.0",
            "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0},
            "padding": {"strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": null,
                "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
            "added_tokens": [],
            "normalizer": {"type": "BertNormalizer", "clean_text": true,
                "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                    {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"[CLS]": special("[CLS]", 2), "[SEP]": special("[SEP]", 3)}},
            "decoder": null,
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocab},
        }),
    );
    let to_bytes = |value: f32| match tiny.dtype {
        Dtype::F32 => value.to_le_bytes().to_vec(),
        Dtype::BF16 => value.to_le_bytes()[2..].to_vec(),
        _ => to_f16(value).to_le_bytes().to_vec(),
    };
    let data: Vec<(String, &Vec<usize>, Vec<u8>)> = tensors
        .iter()
        .map(|(name, (shape, values))| {
            let bytes = values.iter().flat_map(|value| to_bytes(*value)).collect();
            // A head is stored beside the body.
            let prefix = if name.starts_with("classifier") { "" } else { tiny.prefix };
            (format!("{prefix}{name}"), shape, bytes)
        })
        .collect();
    let views = data.iter().map(|(name, shape, bytes)| {
        (name, TensorView::new(tiny.dtype, (*shape).clone(), bytes).unwrap())
    });
    let bytes = safetensors::serialize(views, None).unwrap();
    std::fs::write(folder.path().join("model.safetensors"), bytes).unwrap();
    folder
}

/// The 16-bit form of a number that 16 bits hold exactly.
pub(super) fn to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let exponent = ((bits >> 23) & 0xff) as u16;
    let magnitude = if exponent == 0 { 0 } else { (exponent - 112) << 10 };
    ((bits >> 16) & 0x8000) as u16 | magnitude | ((bits >> 13) & 0x3ff) as u16
}

/// The naive BERT's vector of a text, cut at `max_tokens`.
pub(super) fn naive(tiny: &Tiny, tensors: &Tensors, text: &str, max_tokens: usize) -> Vec<f64> {
    let ids = ids(text).into_iter().take(max_tokens - 2);
    let ids: Vec<usize> = [2].into_iter().chain(ids).chain([3]).collect();
    unit(&naive_mean(tiny, tensors, &ids))
}

/// The words of a text, as the tokenizer numbers them.
pub(super) fn ids(text: &str) -> Vec<usize> {
    let words = text.to_lowercase().replace('.', " . ");
    let id = |word: &str| WORDS.iter().position(|known| *known == word).unwrap_or(1);
    words.split_whitespace().map(id).collect()
}

pub(super) fn unit(vector: &[f64]) -> Vec<f64> {
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    vector.iter().map(|x| x / length).collect()
}

/// The mean over the tokens of a single text, or the first one's vector.
pub(super) fn naive_mean(tiny: &Tiny, tensors: &Tensors, ids: &[usize]) -> Vec<f64> {
    let tokens: Vec<(usize, usize)> = ids.iter().map(|id| (*id, 0)).collect();
    let x = forward(tiny, tensors, &tokens);
    let n_rows = if tiny.pooling == "cls_token" { 1 } else { x.len() };
    let mean = |i: usize| x.iter().take(n_rows).map(|x| x[i]).sum::<f64>() / n_rows as f64;
    (0..HIDDEN).map(mean).collect()
}

/// BERT as its paper defines it, in double precision: the rows of the last layer, for tokens with
/// their types.
pub(super) fn forward(tiny: &Tiny, tensors: &Tensors, tokens: &[(usize, usize)]) -> Vec<Vec<f64>> {
    let get = |name: &str| -> Vec<f64> {
        tensors[name].1.iter().map(|value| f64::from(*value)).collect()
    };
    let linear = |x: &[Vec<f64>], name: &str| -> Vec<Vec<f64>> {
        let (weight, bias) = (get(&format!("{name}.weight")), get(&format!("{name}.bias")));
        let output = |x: &Vec<f64>, o: usize| -> f64 {
            bias[o]
                + x.iter()
                    .enumerate()
                    .map(|(i, x)| x * weight[o * x_len(tensors, name) + i])
                    .sum::<f64>()
        };
        x.iter().map(|x| (0..bias.len()).map(|o| output(x, o)).collect()).collect()
    };
    let norm = |x: &[f64], name: &str| -> Vec<f64> {
        let (gain, shift) = (get(&format!("{name}.weight")), get(&format!("{name}.bias")));
        let mean = x.iter().sum::<f64>() / HIDDEN as f64;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / HIDDEN as f64;
        let scaled = |i: usize| (x[i] - mean) / (variance + 1e-5).sqrt() * gain[i] + shift[i];
        (0..HIDDEN).map(scaled).collect()
    };
    let add_norm = |x: &[Vec<f64>], y: &[Vec<f64>], name: &str| -> Vec<Vec<f64>> {
        let sum = |(x, y): (&Vec<f64>, &Vec<f64>)| x.iter().zip(y).map(|(x, y)| x + y).collect();
        x.iter().zip(y).map(sum).map(|x: Vec<f64>| norm(&x, name)).collect()
    };
    let activate = |x: f64| match tiny.activation {
        "relu" => x.max(0.0),
        "gelu" => 0.5 * x * (1.0 + erf(x / 2.0_f64.sqrt())),
        _ => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
            0.5 * x * (1.0 + inner.tanh())
        }
    };

    let first = if tiny.model_type == "bert" { 0 } else { 2 };
    let row = |name: &str, i: usize| {
        get(&format!("embeddings.{name}.weight"))[i * HIDDEN..][..HIDDEN].to_vec()
    };
    let mut x: Vec<Vec<f64>> = Vec::new();
    for (position, (id, kind)) in tokens.iter().enumerate() {
        let parts = [
            row("word_embeddings", *id),
            row("position_embeddings", first + position),
            row("token_type_embeddings", *kind),
        ];
        let sum: Vec<f64> = (0..HIDDEN).map(|i| parts.iter().map(|part| part[i]).sum()).collect();
        x.push(norm(&sum, "embeddings.LayerNorm"));
    }
    for layer in ["encoder.layer.0", "encoder.layer.1"] {
        let at = |name: &str| format!("{layer}.{name}");
        let [q, k, v] = ["query", "key", "value"]
            .map(|part| linear(&x, &at(&format!("attention.self.{part}"))));
        let mut attended = vec![vec![0.0; HIDDEN]; x.len()];
        for head in 0..HEADS {
            let part = head * HIDDEN / HEADS..(head + 1) * HIDDEN / HEADS;
            for i in 0..x.len() {
                let score = |j: usize| -> f64 {
                    let dot: f64 = part.clone().map(|c| q[i][c] * k[j][c]).sum();
                    (dot / ((HIDDEN / HEADS) as f64).sqrt()).exp()
                };
                let total: f64 = (0..x.len()).map(score).sum();
                for c in part.clone() {
                    attended[i][c] = (0..x.len()).map(|j| score(j) / total * v[j][c]).sum();
                }
            }
        }
        let attended = linear(&attended, &at("attention.output.dense"));
        x = add_norm(&x, &attended, &at("attention.output.LayerNorm"));
        let mut wide = linear(&x, &at("intermediate.dense"));
        wide.iter_mut().flatten().for_each(|x| *x = activate(*x));
        x = add_norm(&x, &linear(&wide, &at("output.dense")), &at("output.LayerNorm"));
    }
    x
}

fn x_len(tensors: &Tensors, name: &str) -> usize {
    tensors[&format!("{name}.weight")].0[1]
}

/// erf by its Taylor series; 1 beyond the range where the series is accurate.
fn erf(x: f64) -> f64 {
    if x.abs() > 5.0 {
        return x.signum();
    }
    let (mut term, mut total) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        total += term / f64::from(2 * n + 1);
    }
    total * std::f64::consts::FRAC_2_SQRT_PI
}
