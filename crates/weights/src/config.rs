//! Reads a model's shape from its folder and checks that we can run it (`config.json` and the files
//! of sentence-transformers next to it).

use std::num::NonZeroUsize;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{WeightsError, read};

/// The default limit at which texts are cut: the length that MiniLM was trained on.
const MAX_TOKENS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);

/// The sizes and options in which BERT models differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    /// Numbers per token, and per vector.
    pub(super) hidden: usize,
    pub(super) layers: usize,
    /// Attention heads per layer; they share `hidden` evenly.
    pub(super) heads: usize,
    /// Numbers per token inside the feed-forward step.
    pub(super) intermediate: usize,
    /// Added to a variance before its square root is taken.
    pub(super) epsilon: f32,
    pub(super) activation: Activation,
    pub(super) pooling: Pooling,
    /// The position of the first token: 0, but after the padding token's in `RoBERTa`.
    pub(super) first_position: usize,
    /// The limit at which a text is cut, special tokens included.
    pub(super) max_tokens: NonZeroUsize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activation {
    Gelu,
    GeluTanh,
    Relu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    /// The mean over all tokens.
    Mean,
    /// The first token, `[CLS]`.
    First,
}

#[derive(Deserialize)]
struct ConfigFile {
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "bert_epsilon")]
    layer_norm_eps: f32,
    #[serde(default = "bert_activation")]
    hidden_act: String,
    #[serde(default)]
    pad_token_id: Option<usize>,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

fn bert_epsilon() -> f32 {
    1e-12
}

fn bert_activation() -> String {
    "gelu".to_owned()
}

/// One step of a sentence-transformers pipeline.
#[derive(Deserialize)]
struct Module {
    r#type: String,
}

#[derive(Deserialize)]
struct LengthFile {
    max_seq_length: Option<NonZeroUsize>,
}

/// Reads the shape of the model in a folder.
///
/// `1_Pooling/config.json` is optional (mean pooling), and so are `modules.json` and
/// `sentence_bert_config.json` (256 tokens).
///
/// # Errors
/// [`WeightsError::Unsupported`] names the first feature that we would compute wrongly.
pub(super) fn read_shape(folder: &Path) -> Result<Shape, WeightsError> {
    let path = folder.join("config.json");
    let config: ConfigFile = read_json(&path)?;
    let unsupported = |what: String| Err(WeightsError::Unsupported { path: path.clone(), what });

    let first_position = match config.model_type.as_str() {
        "bert" => 0,
        "roberta" | "xlm-roberta" => config.pad_token_id.unwrap_or(1).saturating_add(1),
        other => return unsupported(format!("model type `{other}`")),
    };
    let activation = match config.hidden_act.as_str() {
        "gelu" => Activation::Gelu,
        "gelu_new" | "gelu_pytorch_tanh" => Activation::GeluTanh,
        "relu" => Activation::Relu,
        other => return unsupported(format!("activation `{other}`")),
    };
    match config.position_embedding_type.as_deref() {
        None | Some("absolute") => {}
        Some(other) => return unsupported(format!("position embedding `{other}`")),
    }
    let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
    if hidden == 0 || heads == 0 || !hidden.is_multiple_of(heads) {
        return unsupported(format!("{heads} heads that share {hidden} numbers"));
    }
    let positions = config.max_position_embeddings.saturating_sub(first_position);
    let Some(positions) = NonZeroUsize::new(positions) else {
        return unsupported("a model without positions".to_owned());
    };
    check_modules(folder)?;
    Ok(Shape {
        hidden,
        layers: config.num_hidden_layers,
        heads,
        intermediate: config.intermediate_size,
        epsilon: config.layer_norm_eps,
        activation,
        pooling: read_pooling(folder)?,
        first_position,
        max_tokens: read_max_tokens(folder)?.min(positions),
    })
}

/// Rejects pipelines with a further step, such as a dense layer: its weights would be missing.
fn check_modules(folder: &Path) -> Result<(), WeightsError> {
    let path = folder.join("modules.json");
    if !path.is_file() {
        return Ok(());
    }
    for module in read_json::<Vec<Module>>(&path)? {
        let name = module.r#type.rsplit('.').next().unwrap_or_default();
        if !matches!(name, "Transformer" | "Pooling" | "Normalize") {
            let what = format!("pipeline step `{}`", module.r#type);
            return Err(WeightsError::Unsupported { path, what });
        }
    }
    Ok(())
}

/// Reads flags such as `"pooling_mode_mean_tokens": true`; exactly one may be set.
fn read_pooling(folder: &Path) -> Result<Pooling, WeightsError> {
    let path = folder.join("1_Pooling").join("config.json");
    if !path.is_file() {
        return Ok(Pooling::Mean);
    }
    let flags: serde_json::Map<String, serde_json::Value> = read_json(&path)?;
    let set: Vec<&str> = flags
        .iter()
        .filter(|(_, value)| **value == serde_json::Value::Bool(true))
        .filter_map(|(name, _)| name.strip_prefix("pooling_mode_"))
        .collect();
    match set.as_slice() {
        ["mean_tokens"] => Ok(Pooling::Mean),
        ["cls_token"] => Ok(Pooling::First),
        modes => {
            let what = format!("pooling by `{}`", modes.join("` and `"));
            Err(WeightsError::Unsupported { path, what })
        }
    }
}

fn read_max_tokens(folder: &Path) -> Result<NonZeroUsize, WeightsError> {
    let path = folder.join("sentence_bert_config.json");
    if !path.is_file() {
        return Ok(MAX_TOKENS);
    }
    let length: LengthFile = read_json(&path)?;
    Ok(length.max_seq_length.unwrap_or(MAX_TOKENS))
}

pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, WeightsError> {
    serde_json::from_slice(&read(path)?)
        .map_err(|cause| WeightsError::Malformed { path: path.to_owned(), source: cause.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BERT: &str = r#"{"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 100"#;

    /// The shape of a folder with these files, or the error.
    fn check(config: &str, others: &[(&str, &str)]) -> Result<Shape, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        std::fs::write(folder.path().join("config.json"), config).unwrap();
        for (name, content) in others {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        read_shape(folder.path()).map_err(|error| match error {
            WeightsError::Unsupported { what, .. } => what,
            other => other.to_string(),
        })
    }

    #[test]
    fn reads_defaults_and_their_overrides() {
        let shape = check(&format!("{BERT}}}"), &[]).unwrap();
        assert_eq!((shape.activation, shape.pooling), (Activation::Gelu, Pooling::Mean));
        assert_eq!(shape.max_tokens.get(), 100, "no more tokens than positions");
        let roberta = BERT.replace("\"bert\"", "\"roberta\"");
        let shape = check(
            &format!("{roberta}, \"hidden_act\": \"relu\", \"pad_token_id\": 1}}"),
            &[
                ("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true, "x": 3}"#),
                ("sentence_bert_config.json", r#"{"max_seq_length": 64}"#),
                ("modules.json", r#"[{"type": "sentence_transformers.models.Pooling"}]"#),
            ],
        );
        let shape = shape.unwrap();
        assert_eq!((shape.activation, shape.pooling), (Activation::Relu, Pooling::First));
        assert_eq!((shape.first_position, shape.max_tokens.get()), (2, 64));
    }

    #[test]
    fn names_unsupported_features() {
        let mpnet = BERT.replace("\"bert\"", "\"mpnet\"");
        let dense = r#"[{"type": "sentence_transformers.models.Dense"}]"#;
        let pooling = r#"{"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": true}"#;
        let found = [
            check(&format!("{mpnet}}}"), &[]),
            check(&format!("{BERT}, \"hidden_act\": \"swish\"}}"), &[]),
            check(&format!("{BERT}, \"position_embedding_type\": \"relative_key\"}}"), &[]),
            check(&format!("{}}}", BERT.replace("heads\": 2", "heads\": 3")), &[]),
            check(&format!("{BERT}}}"), &[("modules.json", dense)]),
            check(&format!("{BERT}}}"), &[("1_Pooling/config.json", pooling)]),
        ];
        let found: Vec<String> = found.into_iter().map(Result::unwrap_err).collect();
        insta::assert_snapshot!(found.join("\n"), @r"
        model type `mpnet`
        activation `swish`
        position embedding `relative_key`
        3 heads that share 8 numbers
        pipeline step `sentence_transformers.models.Dense`
        pooling by `max_tokens` and `mean_tokens`
        ");
    }
}
