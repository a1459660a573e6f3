//! Runs `delete`, `backup`, `restore`, `migrate`, `original` and `check`.

use std::path::Path;

use pikerag_engine::narrate::{Language, Words};
use pikerag_engine::parts::{Copied, Finding, Health, Part, Remains};
use pikerag_engine::{
    BackupResponse, CheckRequest, DeleteRequest, DeleteResponse, Session, chinese_check,
};

use super::inspect::write_to;
use crate::cli::{Delete, Original};
use crate::exit;
use crate::output::{Output, say, say_json};
use crate::plain::one_line;
use crate::render::count;
use crate::words;

pub(crate) async fn delete(
    session: &Session,
    output: Output,
    arguments: &Delete,
) -> anyhow::Result<u8> {
    let request = DeleteRequest { paths: arguments.paths.paths.clone(), forget: arguments.forget };
    let response = pikerag_engine::delete(session, &request).await?;
    if output.json {
        say_json(&response)?;
    } else {
        show_deleted(&response, output);
    }
    Ok(match response {
        _ if response.overwrites_later => exit::INCOMPLETE,
        _ if response.deleted.is_empty() && !response.finished => exit::FAILED,
        _ => 0,
    })
}

fn show_deleted(response: &DeleteResponse, output: Output) {
    for name in &response.deleted {
        let name = one_line(name);
        output.say(format!("deleted {name}"), format!("已删除 {name}"));
    }
    if response.finished {
        output.say(
            "the space of documents that were forgotten earlier is overwritten now",
            "此前彻底删除的文档所释放的空间现已覆写",
        );
    }
    if response.deleted.is_empty() {
        output.note(
            "the base has no file of this name; `pikerag files` lists the files",
            "知识库中没有此名称的文件；用 `pikerag files` 列出文件",
        );
    } else if let Some(forgotten) = response.forgotten {
        let (overwritten, chinese) = match response.overwrites_later {
            false => ("the freed space is overwritten", "所释放的空间已覆写"),
            true => (
                "the freed space is not overwritten yet, because an earlier question or export still reads it: run \
                 `pikerag check --repair` when that has ended",
                "所释放的空间尚未覆写，因为此前开始的提问或导出仍在读取：请在其结束后运行 `pikerag check --repair`",
            ),
        };
        let Words { english, chinese: removed } = remains(forgotten);
        output.say(
            format!("forgot {english} with the text; {overwritten}"),
            format!("已彻底删除含有其文本的 {removed}；{chinese}"),
        );
    } else if response.remains != Remains::default() {
        let Words { english, chinese } = remains(response.remains);
        output.note(
            format!(
                "{english} still contain the text; to remove them too, index the file again, then run `pikerag delete --forget FILE`"
            ),
            format!("{chinese}仍含有其文本；若要一并删除，请重新索引该文件，再运行 `pikerag delete --forget 文件`"),
        );
    }
}

/// Calls, runs and verified answers with the text of a document.
fn remains(Remains { calls, runs, verified }: Remains) -> Words {
    let (call, run) = (count(calls, "model call"), count(runs, "run"));
    match verified {
        0 => Words::new(format!("{call} and {run}"), format!("{calls} 次模型调用和 {runs} 次运行")),
        _ => Words::new(
            format!("{call}, {run} and {}", count(verified, "verified answer")),
            format!("{calls} 次模型调用、{runs} 次运行和 {verified} 条人工核实的问答"),
        ),
    }
}

pub(crate) async fn backup(session: &Session, output: Output, to: &Path) -> anyhow::Result<u8> {
    let response = pikerag_engine::backup(session, to).await?;
    if output.json {
        return say_json(&response);
    }
    let BackupResponse { base, backup, .. } = &response;
    let (base, backup, copied) = (base.display(), backup.display(), copied(&response.copied));
    output.say(
        format!("{base} is in {backup}: {}", copied.english),
        format!("{base} 已备份到 {backup}：{}", copied.chinese),
    );
    Ok(0)
}

pub(crate) async fn restore(session: &Session, output: Output, from: &Path) -> anyhow::Result<u8> {
    let response = pikerag_engine::restore(session, from).await?;
    if output.json {
        return say_json(&response);
    }
    let BackupResponse { base, backup, .. } = &response;
    let (base, backup, copied) = (base.display(), backup.display(), copied(&response.copied));
    output.say(
        format!("{base} is restored from {backup}: {}", copied.english),
        format!("已由 {backup} 恢复 {base}：{}", copied.chinese),
    );
    Ok(0)
}

pub(crate) async fn migrate(
    session: &Session,
    output: Output,
    from: &Path,
    to: &Path,
) -> anyhow::Result<u8> {
    let response = pikerag_engine::migrate(session.engine(), from, to).await?;
    if output.json {
        return say_json(&response);
    }
    let copied = copied(&response.copied);
    let (from, to) = (response.from.display(), response.to.display());
    output.say(
        format!("{from} is copied to {to}: {}", copied.english),
        format!("已把 {from} 复制到 {to}：{}", copied.chinese),
    );
    Ok(0)
}

fn copied(copied: &Copied) -> Words {
    let (files, calls, runs) = (copied.files, copied.calls, copied.runs);
    Words::new(
        format!("{}, {}, {}", count(files, "file"), count(calls, "call"), count(runs, "run")),
        format!("{files} 个文件，{calls} 次调用，{runs} 次运行"),
    )
}

pub(crate) async fn original(
    session: &Session,
    output: Output,
    arguments: &Original,
) -> anyhow::Result<u8> {
    let original = pikerag_engine::original(session, &arguments.path).await?;
    let out = arguments.out.as_deref();
    write_to(out, |writer| Ok(writer.write_all(&original.bytes)?))?;
    if output.json && out.is_some() {
        let (file, hash, bytes) = (&original.file, &original.hash, original.bytes.len());
        say_json(
            &serde_json::json!({ "file": file, "hash": hash, "bytes": bytes, "written": out }),
        )?;
    }
    Ok(0)
}

pub(crate) async fn check(session: &Session, output: Output, repair: bool) -> anyhow::Result<u8> {
    let response = pikerag_engine::check(session, CheckRequest { repair }).await?;
    if output.json {
        say_json(&response)?;
    } else {
        for finding in &response.findings {
            say(&line(finding, output.language));
        }
        let is_derived = |finding: &Finding| {
            !matches!(finding.part, Part::Database | Part::Texts | Part::Originals)
        };
        let damaged = |finding: &&Finding| finding.health == Health::Damaged;
        match response.findings.iter().find(damaged) {
            None => {}
            Some(finding) if is_derived(finding) && !repair => {
                output.note(
                    "`pikerag check --repair` rebuilds it",
                    "用 `pikerag check --repair` 重建",
                );
            }
            Some(_) if !repair => {
                output.note(
                    "`pikerag check --repair` rebuilds indexes; for all else, restore a backup with `pikerag restore`",
                    "用 `pikerag check --repair` 重建索引；其余请用 `pikerag restore` 恢复备份",
                );
            }
            Some(_) => output.note(
                "restore a backup with `pikerag restore`, or index again",
                "请用 `pikerag restore` 恢复备份，或重新索引",
            ),
        }
    }
    Ok(if response.sound { 0 } else { exit::FAILED })
}

fn line(finding: &Finding, language: Language) -> String {
    let health = match finding.health {
        Health::Sound if finding.repaired => language.either("repaired ", "已修复"),
        Health::Sound => language.either("sound    ", "完好  "),
        Health::Behind => language.either("behind   ", "待更新"),
        Health::Damaged => language.either("DAMAGED  ", "已损坏"),
    };
    let part = match &finding.part {
        Part::Database => language.either("database", "数据库"),
        Part::Texts => language.either("texts", "文本"),
        Part::Originals => language.either("originals", "原始文件"),
        Part::FullText => language.either("full text", "全文索引"),
        Part::Vectors(set) => {
            let says = says(finding, language);
            return Words::new(
                format!("{health} vectors of {set}: {says}"),
                format!("{health} {}的向量：{says}", words::vector_set(set)),
            )
            .of(language);
        }
        Part::Leftovers => language.either("leftovers", "残留文件"),
        Part::Forgetting => language.either("forgetting", "彻底删除"),
    };
    let colon = language.either(": ", "：");
    format!("{health} {part}{colon}{}", says(finding, language))
}

/// The content of a part, or its faults.
fn says(finding: &Finding, language: Language) -> String {
    match language {
        Language::English => finding.says.clone(),
        Language::Chinese => chinese_check(&finding.fact),
    }
}
