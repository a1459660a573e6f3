//! Runs `index` and `estimate`.

use pikerag_engine::narrate::{InWords, Words};
use pikerag_engine::parts::{IndexReport, Outcome, Repeat};
use pikerag_engine::{CostlyFile, EstimateResponse, IndexResponse, Session, chinese_reason};

use super::feedback::show_stale_answers;
use super::files::{
    missing, show_gone, show_more, show_omitted, show_omitted_in_base, show_unclear,
};
use crate::advice;
use crate::cli::{Estimate, Index};
use crate::exit;
use crate::output::{Bar, Output, note, say, say_json};
use crate::plain::one_line;
use crate::render::{self, count};
use crate::words;

/// The largest number of problems that are listed.
const LISTED: usize = 20;

pub(crate) async fn index(
    session: &Session,
    output: Output,
    arguments: &Index,
) -> anyhow::Result<u8> {
    let bar = Bar::new(output);
    let watch = |progress| bar.watch(progress);
    let response = pikerag_engine::index(session, &arguments.request(&watch)).await?;
    if output.json {
        say_json(&response)?;
    } else {
        show(&response, output);
    }
    if arguments.prune && !output.json {
        show_unclear(&response.unclear, output);
    }
    let report = &response.report;
    // A file in a folder that cannot be read may still exist, so pruning is not complete.
    let is_pruned = !arguments.prune || response.unclear.is_empty();
    Ok(match report.is_whole() && is_pruned {
        true => 0,
        false if report.over_budget => exit::OVER_BUDGET,
        false => exit::INCOMPLETE,
    })
}

/// Shows the results of models and rules besides atoms.
fn show_made(report: &IndexReport, output: Output) {
    let IndexReport { records, unread_records, untyped_values, invented_values, .. } = report;
    if records + unread_records > 0 {
        output.say(
            format!(
                "{} read; {} kept untyped; {} of the model not in the text, dropped; {} unreadable",
                count(*records, "record"),
                count(*untyped_values, "value"),
                count(*invented_values, "value"),
                count(*unread_records, "reply"),
            ),
            format!(
                "读取 {records} 条记录；{untyped_values} 个值未能确定类型，按原样保留；{invented_values} 个模型给出的值不在文本中，已舍去；\
                 {unread_records} 个回复无法解析"
            ),
        );
    }
    let IndexReport { extracted, reports, summaries, described, tags, tagged, .. } = report;
    if extracted + reports + summaries > 0 {
        output.say(
            format!(
                "entities of {} found; {} and {} written",
                count(*extracted, "chunk"),
                count(*reports, "report"),
                count(*summaries, "summary"),
            ),
            format!(
                "从 {extracted} 个文本块提取实体；写出 {reports} 份社区报告和 {summaries} 份摘要"
            ),
        );
    }
    if *described > 0 {
        output.say(
            format!("{} described or summarized", count(*described, "table, figure or document")),
            format!("描述或概括 {described} 个表、图片或文档"),
        );
    }
    if *tagged > 0 {
        output.say(
            format!("{} in {}", count(*tags, "tag"), count(*tagged, "chunk")),
            format!("{tagged} 个文本块中有 {tags} 个标签"),
        );
    }
}

/// Shows files that were not read, and returns the numbers of read files, unchanged files and new chunks.
fn show_files(report: &IndexReport, output: Output) -> (usize, usize, usize) {
    let (mut stored, mut unchanged, mut chunks) = (0, 0, 0);
    for (path, outcome) in &report.files {
        match outcome {
            Outcome::Stored { report, .. } => {
                stored += 1;
                chunks += report.added;
            }
            Outcome::Unchanged => unchanged += 1,
            Outcome::Waiting { reason } => {
                let (path, reason) = (one_line(path), one_line(reason));
                output.note(
                    format!("waits: {path}: {reason}"),
                    format!("待处理：{path}：{}", chinese_reason(&reason)),
                );
            }
            Outcome::Failed { reason } => {
                let (path, reason) = (one_line(path), advice::file(reason, output.language));
                let reason = one_line(&reason);
                output
                    .note(format!("left out: {path}: {reason}"), format!("略过：{path}：{reason}"));
            }
        }
    }
    (stored, unchanged, chunks)
}

fn show(response: &IndexResponse, output: Output) {
    let IndexResponse { report, pruned, retried, gone, spent, .. } = response;
    let language = output.language;
    let (stored, unchanged, chunks) = show_files(report, output);
    for (path, problem) in report.problems.iter().take(LISTED) {
        let Words { english, chinese } = words::problem(problem);
        let (comma, colon) = if problem.place.is_empty() { (": ", "：") } else { (", ", "，") };
        let (path, english, chinese) = (one_line(path), one_line(&english), one_line(&chinese));
        output.note(
            format!("problem: {path}{comma}{english}"),
            format!("问题：{path}{colon}{chinese}"),
        );
    }
    if let Some(more) = report.problems.len().checked_sub(LISTED) {
        show_more(more, output, |more| {
            Words::new(count(more, "more problem"), format!("{more} 个问题"))
        });
    }
    show_unanswered(report, output);
    for path in &response.originals.too_large {
        let path = one_line(path);
        output.note(
            format!("original not kept, too large for `index.originals_mib`: {path}"),
            format!("未保留原始内容，超过 `index.originals_mib`：{path}"),
        );
    }
    show_stale_answers(response.stale_answers, output);
    for path in pruned {
        let Words { english, chinese } = missing(path);
        let path = one_line(path);
        output.say(format!("removed {path}: {english}"), format!("已移除 {path}：{chinese}"));
    }
    for (old, new) in &report.moved {
        let (old, new) = (one_line(old), one_line(new));
        output.say(
            format!("removed {old}: renamed to {new}"),
            format!("已移除 {old}：已改名为 {new}"),
        );
    }
    show_repeats(&report.repeats, output);
    show_gone(gone, output);
    show_omitted(&response.omitted, output);
    show_omitted_in_base(&response.omitted_in_base, output);
    if 0 < *retried {
        output.say(
            format!("{} asked about again", count(*retried, "refused piece")),
            format!("重新请求了 {retried} 项曾被拒绝的内容"),
        );
    }
    let (failed, atoms, vectors) = (report.failed_files(), report.atoms, report.vectors);
    output.say(
        format!(
            "{} read, {unchanged} unchanged, {failed} left out; {} new; {}, {} made",
            count(stored, "file"),
            count(chunks, "chunk"),
            count(atoms, "atom"),
            count(vectors, "vector"),
        ),
        format!(
            "读取 {stored} 个文件，{unchanged} 个未变，略过 {failed} 个；新增 {chunks} 个文本块；生成 {atoms} 个原子问题或句子、{vectors} 个向量"
        ),
    );
    show_made(report, output);
    show_unreadable(report, output);
    if let Some(line) = render::paid(spent, language) {
        say(&line);
    }
    if let Some(reason) = &report.stopped {
        output.note(format!("stopped: {reason}"), format!("已停止：{}", chinese_reason(reason)));
    }
    if report.stopped.is_some() || report.failures > 0 {
        note(&advice::unfinished(report, language));
    }
}

/// Shows unreadable replies, structures that were not built, and dropped questions.
fn show_unreadable(report: &IndexReport, output: Output) {
    let IndexReport { undecided, unextracted, duplicates, pronouns, unreadable, .. } = report;
    if *undecided > 0 {
        output.note(
            format!(
                "{} unreadable twice: rules decided instead, or no text was written",
                count(*undecided, "reply")
            ),
            format!("{undecided} 个回复两次均无法解析：改由规则决定，或未写文字"),
        );
    }
    if *unextracted > 0 {
        output.note(
            format!(
                "{} unreadable twice: names and sentences are used instead",
                count(*unextracted, "reply")
            ),
            format!("{unextracted} 个回复两次均无法解析：改用名称与句子"),
        );
    }
    for reason in &report.missing {
        let reason = advice::not_built(*reason, output.language);
        output.note(format!("left out: {reason}"), format!("略过：{reason}"));
    }
    for reason in &report.stale {
        let reason = advice::not_updated(*reason, output.language);
        output.note(format!("not updated: {reason}"), format!("未更新：{reason}"));
    }
    if duplicates + pronouns + unreadable > 0 {
        output.say(
            format!(
                "dropped {} and {}; {} fell back to sentences",
                count(*duplicates, "repeated question"),
                count(*pronouns, "nameless question"),
                count(*unreadable, "chunk"),
            ),
            format!(
                "舍去 {duplicates} 个重复的问题和 {pronouns} 个没有名称的问题；{unreadable} 个文本块改用句子"
            ),
        );
    }
}

/// Names the files that repeat others. It is a notice: nothing is wrong with them.
fn show_repeats(repeats: &[Repeat], output: Output) {
    for Repeat { file, of, is_whole, is_left_out } in repeats.iter().take(LISTED) {
        let (file, of) = (one_line(file), one_line(of));
        let (english, chinese) = match (*is_whole, *is_left_out) {
            (_, true) => ("repeats, and is left out:", "的内容与此重复，已略过："),
            (true, false) => ("repeats", "的内容与此重复："),
            (false, false) => ("is almost the same as", "的内容与此几乎相同："),
        };
        output.note(format!("{file} {english} {of}"), format!("{file} {chinese}{of}"));
    }
    let more = repeats.len().saturating_sub(LISTED);
    show_more(more, output, |more| {
        Words::new(count(more, "more repeated file"), format!("{more} 个重复的文件"))
    });
}

/// Shows calls that failed, and those that a model refused.
fn show_unanswered(report: &IndexReport, output: Output) {
    for (chunk, reason) in &report.failed {
        let (chunk, reason) = (one_line(chunk), one_line(reason));
        output.note(
            format!("failed: {chunk}: {reason}"),
            format!("失败：{chunk}：{}", chinese_reason(&reason)),
        );
    }
    for (chunk, reason) in &report.refusals {
        let (chunk, reason) = (one_line(chunk), one_line(reason));
        output.note(
            format!("refused: {chunk}: {reason}"),
            format!("被拒绝：{chunk}：{}", chinese_reason(&reason)),
        );
    }
    if 0 < report.refused {
        let (n, advice) = (report.refused, advice::refused(output.language));
        output.note(
            format!("{} refused; {advice}", count(n, "call")),
            format!("{n} 次调用被拒绝；{advice}"),
        );
    }
}

/// Shows the files that cost most, if there are many or one looks wrong.
fn show_costliest(response: &EstimateResponse, output: Output) {
    let EstimateResponse { estimate, costliest, .. } = response;
    let is_paid = 0 < estimate.calls && costliest.len() < estimate.files;
    if !is_paid && !costliest.iter().any(CostlyFile::looks_wrong) {
        return;
    }
    for file in costliest {
        let Words { english, chinese } = file.words();
        let (colon, comma) = if file.looks_wrong() { (": ", "：") } else { ("", "") };
        let CostlyFile { chunks, calls, tokens, .. } = file;
        let name = one_line(&file.file);
        output.note(
            format!(
                "costs most: {name}: {}, {}, {tokens} tokens{colon}{english}",
                count(*chunks, "chunk"),
                count(*calls, "model call")
            ),
            format!(
                "费用最高：{name}：{chunks} 个文本块，{calls} 次模型调用，{tokens} 个 Token{comma}{chinese}"
            ),
        );
    }
}

pub(crate) async fn estimate(
    session: &Session,
    output: Output,
    arguments: &Estimate,
) -> anyhow::Result<u8> {
    let response = pikerag_engine::estimate(session, &arguments.request()).await?;
    for notice in &response.notices {
        output.notice(notice);
    }
    let estimate = &response.estimate;
    if output.json {
        say_json(&response)?;
    } else {
        for (path, reason) in &estimate.unreadable {
            let (path, reason) = (one_line(path), advice::file(reason, output.language));
            output.note(
                format!("would be left out: {path}: {reason}"),
                format!("将略过：{path}：{reason}"),
            );
        }
        show_omitted(&response.omitted, output);
        show_costliest(&response, output);
        say(&render::bill(estimate, response.usd, output.language));
    }
    Ok(if estimate.unreadable.is_empty() { 0 } else { exit::INCOMPLETE })
}
