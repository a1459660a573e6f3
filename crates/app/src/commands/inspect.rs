//! Runs `status` and `export`.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

use pikerag_engine::knowledge::{Backlog, BaseSummary, RefusalCause, RefusalCount, Structure};
use pikerag_engine::narrate::Words;
use pikerag_engine::parts::mark_in_words;
use pikerag_engine::{Session, StatusResponse, chinese_reason};

use super::feedback::show_stale_answers;
use super::files::{show_gone, show_omitted_in_base, show_replaced, show_same, show_unclear};
use crate::advice;
use crate::cli::Export;
use crate::failure::Failure;
use crate::output::{Output, say_json};
use crate::plain::{Shown, one_line};
use crate::render::{count, short};
use crate::words;

/// The name of an embedder without the mark of its endpoint.
fn model(embedder: &str) -> &str {
    embedder.rsplit_once('#').map_or(embedder, |(model, _)| model)
}

pub(crate) async fn status(session: &Session, output: Output) -> anyhow::Result<u8> {
    let response = pikerag_engine::status(session).await?;
    if output.json {
        return say_json(&response);
    }
    let StatusResponse {
        base,
        root,
        summary,
        originals,
        embedder,
        no_embedder,
        no_embedder_code: _,
        no_embedder_zh,
        waiting,
        stale,
        gone,
        unclear,
        omitted_in_base,
        same,
        replaced,
        verified,
        stale_answers,
    } = response;
    let (base, root) = (base.display(), root.display());
    output.say(
        format!("knowledge base in {base}, of files in {root}"),
        format!("知识库在 {base}，文件在 {root}"),
    );
    show_counts(&summary, output);
    if let (Some(reason), Some(chinese)) = (&no_embedder, &no_embedder_zh) {
        output.note(
            format!("the embedder cannot be used: {reason}; see `pikerag doctor`"),
            format!("嵌入模型无法使用：{chinese}；见 `pikerag doctor`"),
        );
    }
    let made_by = match (&summary.embedder, embedder) {
        (Some(made_by), _) => Words::new(model(made_by), model(made_by)),
        (None, Some(embedder)) => {
            let model = model(&embedder);
            Words::new(format!("{model} makes them"), format!("由 {model} 生成"))
        }
        (None, None) => Words::new("no embedder: words alone", "没有嵌入模型：只按词检索"),
    };
    let (vectors, calls, usage) = (summary.vectors, summary.calls, &summary.usage);
    output.say(
        format!("  {} ({})", count(vectors, "vector"), made_by.english),
        format!("  {vectors} 个向量（{}）", made_by.chinese),
    );
    let (prompt, reply) = (usage.prompt_tokens, usage.completion_tokens);
    output.say(
        format!("  {} in the ledger, {prompt} + {reply} tokens", count(calls, "model call")),
        format!("  调用账本中有 {calls} 次模型调用，{prompt} + {reply} 个 Token"),
    );
    if originals.files + originals.without > 0 {
        let (kept, without) = (originals.files, originals.without);
        let mib = originals.bytes as f64 / f64::from(1 << 20);
        output.say(
            format!("  originals of {} kept, {mib:.1} MiB; {without} not", count(kept, "file")),
            format!("  保留了 {kept} 个文件的原始内容，{mib:.1} MiB；{without} 个没有保留"),
        );
    }
    if 0 < verified {
        output.say(
            format!("  {}", count(verified, "verified answer")),
            format!("  {verified} 条人工核实的问答"),
        );
    }
    show_stale_answers(stale_answers, output);
    show_pending(&waiting, &summary.refused, &stale, output);
    show_same(&same, output);
    show_replaced(&replaced, output);
    show_gone(&gone, output);
    show_unclear(&unclear, output);
    show_omitted_in_base(&omitted_in_base, output);
    Ok(0)
}

/// Shows the number of nodes of each kind.
fn show_counts(summary: &BaseSummary, output: Output) {
    let BaseSummary { files, sources, sections, chunks, questions, sentences, .. } = summary;
    output.say(
        format!(
            "  {}, {}, {}, {}",
            count(*files, "file"),
            count(*sources, "document"),
            count(*sections, "section"),
            count(*chunks, "chunk")
        ),
        format!("  {files} 个文件，{sources} 个文档，{sections} 个章节，{chunks} 个文本块"),
    );
    output.say(
        format!("  {}, {}", count(*questions, "atomic question"), count(*sentences, "sentence")),
        format!("  {questions} 个原子问题，{sentences} 个句子"),
    );
    let BaseSummary { statements, records, entities, relations, summaries, .. } = summary;
    if statements + records > 0 {
        output.say(
            format!("  {}, {}", count(*statements, "atomic statement"), count(*records, "record")),
            format!("  {statements} 个原子陈述，{records} 条记录"),
        );
    }
    let BaseSummary { communities, reports, tags, .. } = summary;
    if entities + summaries > 0 {
        output.say(
            format!(
                "  {}, {}, {} with {}; {}",
                count(*entities, "entity"),
                count(*relations, "relation"),
                count(*communities, "community"),
                count(*reports, "report"),
                count(*summaries, "summary")
            ),
            format!(
                "  {entities} 个实体，{relations} 个关系，{communities} 个社区及 {reports} 份社区报告；{summaries} 份摘要"
            ),
        );
    }
    if *tags > 0 {
        output.say(format!("  {}", count(*tags, "tag")), format!("  {tags} 个标签"));
    }
}

/// Shows the work of the next run of indexing, and refused requests.
fn show_pending(
    waiting: &[Backlog],
    refused: &[RefusalCount],
    stale: &[Structure],
    output: Output,
) {
    let (language, advice) = (output.language, advice::refused(output.language));
    for Backlog { stage, count: left } in waiting {
        let what = match stage.as_str() {
            "vectors" => "text",
            "document summaries" => "document",
            _ => "chunk",
        };
        let wait = if *left == 1 { "waits" } else { "wait" };
        output.say(
            format!("  {} {wait} for {stage}", count(*left, what)),
            format!("  待处理 {left} 项：{}", words::stage(stage, language)),
        );
    }
    for refused in refused {
        let (was, chinese) = match refused.cause {
            RefusalCause::Refused => ("refused", "被拒绝"),
            RefusalCause::Unreadable => ("answered unreadably", "回复无法解析"),
        };
        let (work, n) = (mark_in_words(&refused.stage), refused.count);
        let (label, reason) = (one_line(&refused.label), short(&refused.reason, 160));
        output.say(
            format!("  {work}: {n} {was}, such as {label} ({reason}); {advice}"),
            format!(
                "  {}：{n} 项{chinese}，例如 {label}（{}）；{advice}",
                words::stage(work, language),
                chinese_reason(&reason)
            ),
        );
    }
    for structure in stale {
        let wait = if *structure == Structure::Tags { "wait" } else { "waits" };
        output.say(
            format!("  the {structure} {wait} to be built"),
            format!("  待建立：{}", words::structure(*structure, language)),
        );
    }
    if !waiting.is_empty() || !stale.is_empty() {
        output.say(
            "  run `pikerag index PATH…` again to continue",
            "  请再次运行 `pikerag index PATH…` 以继续",
        );
    }
}

pub(crate) async fn export(session: &Session, arguments: &Export) -> anyhow::Result<u8> {
    let export = pikerag_engine::export(session).await?;
    // Writing an export blocks its thread.
    tokio::task::block_in_place(|| {
        write_to(arguments.output.as_deref(), |writer| Ok(export.write(writer)?))
    })?;
    Ok(0)
}

/// Writes to a new file, or to standard output: exactly, or plain where that is a terminal.
pub(super) fn write_to<T>(
    path: Option<&Path>,
    write: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    match path {
        Some(path) => {
            let file = std::fs::File::create(path)
                .map_err(|error| Failure::NotWritten(path.to_owned()).of(error))?;
            through(BufWriter::new(file), write)
        }
        None => {
            let stdout = std::io::stdout();
            let is_terminal = stdout.is_terminal();
            let quiet = Quiet(stdout);
            match is_terminal {
                true => through(BufWriter::new(Shown::on(quiet)), write),
                false => through(BufWriter::new(quiet), write),
            }
        }
    }
}

/// Writes and flushes: an error of a buffer that is only dropped would be lost.
fn through<T>(
    mut to: impl Write + Send,
    write: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let written = write(&mut to)?;
    to.flush()?;
    Ok(written)
}

/// A reader that has seen enough (`| head`) ends the program quietly, as tools do.
pub(super) struct Quiet<W: Write>(pub(super) W);

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        quiet_end(self.0.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        quiet_end(self.0.flush())
    }
}

fn quiet_end<T>(written: std::io::Result<T>) -> std::io::Result<T> {
    if written.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
    written
}
