//! Writes examples and preferences in the formats of trainers: TRL, OpenAI's fine-tuning, LLaMA-Factory.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::convert::Example;
use crate::pairs::Preference;
use crate::split::Part;

/// The format of a trainer.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// TRL: JSON Lines of a conversational prompt and its completion, so that the loss covers the completion alone.
    #[default]
    Trl,
    /// OpenAI's fine-tuning: JSON Lines of messages; preferences with `input` and two outputs.
    Openai,
    /// LLaMA-Factory: JSON lists in Alpaca's form, and `dataset_info.json`.
    LlamaFactory,
}

/// A file of an export: its name and its text.
pub type File = (String, String);

/// The files of a part: examples, and preferences if there are any. A part without examples gets no file.
pub fn files(format: Format, part: Part, examples: &[Example], pairs: &[Preference]) -> Vec<File> {
    let rows: Vec<Value> = examples.iter().map(|example| of_example(format, example)).collect();
    let pairs: Vec<Value> = pairs.iter().map(|pair| of_pair(format, pair)).collect();
    let both = [(part.name().to_owned(), rows), (format!("dpo-{}", part.name()), pairs)];
    let filled = both.into_iter().filter(|(_, rows)| !rows.is_empty());
    filled.map(|(name, rows)| file(format, &name, &rows)).collect()
}

/// `dataset_info.json`, which LLaMA-Factory reads beside its files; `None` for other formats.
pub fn index(format: Format, files: &[File]) -> Option<File> {
    if format != Format::LlamaFactory {
        return None;
    }
    let mut sets = serde_json::Map::new();
    for (file, _) in files {
        let name = file.trim_end_matches(".json");
        let columns = |reply: Value| {
            let mut columns = json!({ "prompt": "instruction", "query": "input" });
            merge(&mut columns, reply);
            columns
        };
        let info = if name.starts_with("dpo-") {
            let columns = columns(json!({ "chosen": "chosen", "rejected": "rejected" }));
            json!({ "file_name": file, "ranking": true, "columns": columns })
        } else {
            json!({ "file_name": file, "columns": columns(json!({ "response": "output" })) })
        };
        sets.insert(format!("pikerag_{}", name.replace('-', "_")), info);
    }
    Some(("dataset_info.json".to_owned(), format!("{:#}\n", Value::Object(sets))))
}

fn merge(to: &mut Value, from: Value) {
    if let (Some(to), Value::Object(from)) = (to.as_object_mut(), from) {
        to.extend(from);
    }
}

fn of_example(format: Format, example: &Example) -> Value {
    let Example { prompt, completion, .. } = example;
    match format {
        Format::Trl => json!({ "prompt": [user(prompt)], "completion": [assistant(completion)] }),
        Format::Openai => json!({ "messages": [user(prompt), assistant(completion)] }),
        Format::LlamaFactory => {
            json!({ "instruction": prompt, "input": "", "output": completion })
        }
    }
}

fn of_pair(format: Format, pair: &Preference) -> Value {
    let Preference { prompt, chosen, rejected, .. } = pair;
    match format {
        Format::Trl => json!({
            "prompt": [user(prompt)], "chosen": [assistant(chosen)], "rejected": [assistant(rejected)],
        }),
        Format::Openai => json!({
            "input": { "messages": [user(prompt)], "tools": [], "parallel_tool_calls": true },
            "preferred_output": [assistant(chosen)],
            "non_preferred_output": [assistant(rejected)],
        }),
        Format::LlamaFactory => {
            json!({ "instruction": prompt, "input": "", "chosen": chosen, "rejected": rejected })
        }
    }
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

fn file(format: Format, name: &str, rows: &[Value]) -> File {
    match format {
        Format::Trl | Format::Openai => {
            let mut lines = String::new();
            for row in rows {
                lines += &row.to_string();
                lines.push('\n');
            }
            (format!("{name}.jsonl"), lines)
        }
        Format::LlamaFactory => {
            (format!("{name}.json"), format!("{:#}\n", Value::Array(rows.to_vec())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: Format) -> String {
        let text = |text: &str| text.to_owned();
        let examples = [Example { item: text("1"), prompt: text("x"), completion: text("y") }];
        let pairs = [Preference {
            item: text("1"),
            prompt: text("x"),
            chosen: text("y"),
            rejected: text("z"),
        }];
        let mut files = files(format, Part::Train, &examples, &pairs);
        files.extend(index(format, &files));
        let shown: Vec<String> =
            files.iter().map(|(name, text)| format!("{name}:\n{text}")).collect();
        shown.concat()
    }

    #[test]
    fn rows_of_each_trainer() {
        insta::assert_snapshot!(written(Format::Trl));
        insta::assert_snapshot!(written(Format::Openai));
        insta::assert_snapshot!(written(Format::LlamaFactory));
    }

    #[test]
    fn an_empty_part_has_no_file() {
        assert!(files(Format::Trl, Part::Test, &[], &[]).is_empty());
    }
}
