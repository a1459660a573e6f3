//! Runs `init`: writes a settings file, and names the models that can be used next.

use std::path::Path;

use pikerag_engine::parts::find_open_model;
use pikerag_engine::settings::{Environment, PROVIDERS, Provider};
use pikerag_engine::{InitRequest, InitResponse};

use super::models::{show_server, size};
use crate::cli::Init;
use crate::output::{Output, say_json};

/// The open model to begin with: the smallest of the catalogue that is made for English and Chinese
/// texts.
const SUGGESTED: &str = "qwen2.5-1.5b";

pub(super) async fn init(
    arguments: &Init,
    (path, environment): (&Path, &Environment),
    offline: bool,
    output: Output,
) -> anyhow::Result<u8> {
    let request = InitRequest { path, environment, provider: arguments.provider, offline };
    let response = pikerag_engine::init(&request).await?;
    if output.json {
        return say_json(&response);
    }
    show_file(&response, output);
    match response.provider {
        Some(provider) => show_provider(provider, &response, output),
        None => suggest(&response, output),
    }
    Ok(0)
}

fn show_file(response: &InitResponse, output: Output) {
    let path = response.written.display();
    if response.trusted {
        output.say(
            format!(
                "{path} is written and trusted; every line in it is optional. Next: `pikerag index PATH…`; after each \
                 change: `pikerag trust`"
            ),
            format!(
                "已写出并信任 {path}；其中每一行都可省略。下一步：`pikerag index PATH…`；每次修改后：`pikerag trust`"
            ),
        );
    } else {
        output.say(
            format!(
                "{path} is written; every line in it is optional. There is no folder to store trust in: name the file \
                 with --config FILE or PIKERAG_CONFIG"
            ),
            format!(
                "已写出 {path}；其中每一行都可省略。没有文件夹可保存信任记录：请用 --config FILE 或 PIKERAG_CONFIG 指定该文件"
            ),
        );
    }
}

/// The lines of a provider, and what is still missing for its first call.
fn show_provider(provider: &Provider, response: &InitResponse, output: Output) {
    let Provider { name, base_url, model, .. } = provider;
    output.say(
        format!("{name}: {base_url}, model {model}; other models: change `model` in the file"),
        format!("{name}：{base_url}，模型 {model}；要用其他模型，请修改文件中的 `model`"),
    );
    if !provider.placeholders.is_empty() {
        let (english, chinese) =
            (provider.placeholders.join(" and "), provider.placeholders.join(" 和 "));
        output.note(
            format!("replace {english} in the file, then run `pikerag trust`"),
            format!("请替换文件中的 {chinese}，然后运行 `pikerag trust`"),
        );
    }
    if let Some(variable) = response.overridden_by {
        output.note(
            format!("{variable} names another model or address and has priority: unset it"),
            format!("{variable} 指定了另一个模型或地址并优先：请取消设置"),
        );
    }
    match provider.api_key_env.filter(|_| !response.has_key) {
        Some(variable) => output.note(
            format!("next: `export {variable}=…` with your key, then `pikerag doctor`"),
            format!("下一步：用 `export {variable}=…` 设置您的密钥，然后 `pikerag doctor`"),
        ),
        None => output.note("next: `pikerag doctor`", "下一步：`pikerag doctor`"),
    }
}

/// The models that could write answers: of servers that were found, of the catalogue, of providers.
fn suggest(response: &InitResponse, output: Output) {
    output.note(
        "for answers in words, choose a language model; without one, pikerag quotes passages:",
        "要得到成文的回答，请选择语言模型；没有时 pikerag 引用原文：",
    );
    for server in &response.servers {
        show_server(server, output);
    }
    let bytes = find_open_model(SUGGESTED).map_or(0, |known| known.bytes);
    let bytes = size(bytes);
    output.note(
        format!(
            "on this machine: `pikerag models pull --server {SUGGESTED}` ({bytes}), then `pikerag models use \
             {SUGGESTED}`; others: `pikerag models`"
        ),
        format!(
            "在本机运行：`pikerag models pull --server {SUGGESTED}`（{bytes}），然后 `pikerag models use \
             {SUGGESTED}`；其他模型：`pikerag models`"
        ),
    );
    let names: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
    output.note(
        format!("from a provider: `pikerag init --provider NAME`: {}", names.join(", ")),
        format!("使用服务商：`pikerag init --provider NAME`：{}", names.join("、")),
    );
}
