//! Runs `files`, and shows missing and equal files for `index` and `status`.

use pikerag_engine::knowledge::uri::is_relation;
use pikerag_engine::narrate::{InWords, Language, Words, joined};
use pikerag_engine::parts::ReplacedDocument;
use pikerag_engine::{OmittedFiles, OnDisk, Session, UnclearFiles};

use crate::output::{Output, say, say_json};
use crate::plain::{one_line, shell_word};
use crate::render::count;

/// The largest number of files that are listed.
const LISTED: usize = 20;

pub(crate) async fn files(session: &Session, output: Output) -> anyhow::Result<u8> {
    let response = pikerag_engine::files(session).await?;
    let Output { json, language } = output;
    if json {
        return say_json(&response);
    }
    for file in &response.files {
        let (name, documents, chunks) = (one_line(&file.name), file.documents, file.chunks);
        let mut line = Words::new(
            format!("{name}: {}, {}", count(documents, "document"), count(chunks, "chunk")),
            format!("{name}：{documents} 个文档，{chunks} 个文本块"),
        )
        .of(language);
        line += match file.on_disk {
            OnDisk::There => "",
            OnDisk::Gone => language.either("; missing on disk", "；磁盘上已不存在"),
            OnDisk::Unclear => language.either("; not found", "；未能找到"),
        };
        if !file.same_as.is_empty() {
            line += language.either("; same content as ", "；内容与此相同：");
            line += &one_line(&file.same_as.join(", "));
        }
        say(&line);
    }
    let root = response.root.display();
    output.note(format!("paths are relative to {root}"), format!("路径相对于 {root}"));
    Ok(0)
}

/// Says where a file of the base, or a table, is missing.
pub(super) fn missing(path: &str) -> Words {
    match is_relation(path) {
        true => Words::new("missing in its database", "数据库中已不存在"),
        false => Words::new("missing on disk", "磁盘上已不存在"),
    }
}

/// Lists files of the base that no longer exist on disk, and tables that are gone.
pub(super) fn show_gone(gone: &[String], output: Output) {
    for path in gone.iter().take(LISTED) {
        let Words { english, chinese } = missing(path);
        let path = one_line(path);
        output.note(format!("{english}: {path}"), format!("{chinese}：{path}"));
    }
    if let Some(more) = gone.len().checked_sub(LISTED) {
        show_more(more, output, |more| {
            Words::new(count(more, "more file"), format!("{more} 个文件"))
        });
    }
    if !gone.is_empty() {
        let n = gone.len();
        output.note(
            format!(
                "the base still contains {} missing on disk; `pikerag index --prune FOLDER` or `pikerag delete PATH` \
                 removes them",
                count(n, "file")
            ),
            format!(
                "知识库仍含有磁盘上已不存在的 {n} 个文件；用 `pikerag index --prune FOLDER` 或 `pikerag delete PATH` 移除"
            ),
        );
    }
}

/// Shows the files and folders that were not taken from folders, by kind.
pub(super) fn show_omitted(omitted: &[OmittedFiles], output: Output) {
    if omitted.is_empty() {
        return;
    }
    let Words { english, chinese } = kinds(omitted);
    output.note(
        format!("not taken: {english}; `--include GLOB` takes them"),
        format!("未读取：{chinese}；如需读取，请用 `--include GLOB`"),
    );
}

/// Shows the files of the base that `index` does not take from folders any more, by kind.
pub(super) fn show_omitted_in_base(omitted: &[OmittedFiles], output: Output) {
    if omitted.is_empty() {
        return;
    }
    let Words { english, chinese } = kinds(omitted);
    output.note(
        format!(
            "the base contains files that `index` leaves out of folders: {english}; `pikerag delete PATH…` removes them, \
             `index --include GLOB` keeps them up to date"
        ),
        format!(
            "知识库含有 `index` 现在会从文件夹中略去的文件：{chinese}；用 `pikerag delete PATH…` 移除，\
             或用 `index --include GLOB` 继续更新"
        ),
    );
}

fn kinds(omitted: &[OmittedFiles]) -> Words {
    let line = |language| one_line(&joined(omitted, language)).into_owned();
    Words::new(line(Language::English), line(Language::Chinese))
}

/// Prints the number of entries beyond those that are listed, if there are any.
pub(super) fn show_more(more: usize, output: Output, words: impl Fn(usize) -> Words) {
    if 0 < more {
        let Words { english, chinese } = words(more);
        output.note(
            format!("… and {english} (--json lists all)"),
            format!("……另有 {chinese}（--json 列出全部）"),
        );
    }
}

/// Lists names with the same content.
pub(super) fn show_same(same: &[Vec<String>], output: Output) {
    for names in same.iter().take(LISTED) {
        let names = one_line(&names.join(", ")).into_owned();
        output.say(format!("  same content: {names}"), format!("  内容相同：{names}"));
    }
    if let Some(more @ 1..) = same.len().checked_sub(LISTED) {
        output.say(
            format!("  … and {more} more (--json lists all)"),
            format!("  ……另有 {more} 组（--json 列出全部）"),
        );
    }
}

/// Lists documents that a newer version in the base replaces.
pub(super) fn show_replaced(replaced: &[ReplacedDocument], output: Output) {
    for ReplacedDocument { uri, by } in replaced.iter().take(LISTED) {
        let (name, by) = (one_line(uri), by.words());
        let (english, chinese) = (one_line(&by.english), one_line(&by.chinese));
        output.say(format!("  {name}: {english}"), format!("  {name}：{chinese}"));
    }
    if let Some(more @ 1..) = replaced.len().checked_sub(LISTED) {
        output.say(
            format!("  … and {more} more replaced documents (--json lists all)"),
            format!("  ……另有 {more} 个已被取代的文档（--json 列出全部）"),
        );
    }
}

/// Lists folders whose files may or may not exist.
pub(super) fn show_unclear(unclear: &[UnclearFiles], output: Output) {
    for UnclearFiles { folder, files, why, why_zh, .. } in unclear {
        let folder = folder.display().to_string();
        let (name, word) = (one_line(&folder), shell_word(&folder));
        let word = one_line(&word);
        output.note(
            format!(
                "not found: {} in {name}: {why}; kept, `pikerag delete {word}` removes them",
                count(*files, "file")
            ),
            format!(
                "未能找到：{name} 中的 {files} 个文件：{why_zh}；仍保留，用 `pikerag delete {word}` 移除"
            ),
        );
    }
}
