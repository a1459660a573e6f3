//! Runs `worker`: the jobs of a database, until a signal ends it.

use std::time::Duration;

use pikerag_engine::knowledge::{JobRecord, JobState};
use pikerag_engine::narrate::{Language, Words};
use pikerag_engine::{Engine, shares_jobs, shown_base};
use pikerag_server::{WorkerEvent, WorkerParams, work};
use serde_json::{Value, json};

use super::serve::offered;
use crate::cli::Worker;
use crate::failure::Failure;
use crate::interrupt::signalled;
use crate::output::{Output, note, say};
use crate::plain::one_line;

/// The longest time that stopping may take.
const GRACE: Duration = Duration::from_secs(8);

/// Runs jobs until a signal ends it. Then it puts back what it holds.
pub(super) async fn worker(
    engine: Engine,
    output: Output,
    arguments: &Worker,
) -> anyhow::Result<u8> {
    let session = engine.session();
    let base = shown_base(session.folder());
    if !shares_jobs(&session) {
        return Err(Failure::NoSharedJobs(base).into());
    }
    let at_once = arguments.at_once;
    output.note(
        format!("working for {}, {at_once} parts at a time; Ctrl-C ends it", base.display()),
        format!("正在为 {} 工作，同时运行 {at_once} 个部分；按 Ctrl-C 结束", base.display()),
    );
    let params = WorkerParams { at_once, only: arguments.only.clone() };
    let signalled = signalled();
    let stopped = async {
        signalled.await;
        at_the_latest();
        output.note(
            "stopping: unfinished files are put back (Ctrl-C again to quit now)",
            "正在停止：未完成的文件将放回任务（再按一次 Ctrl-C 立即退出）",
        );
    };
    work(engine, params, move |event| report(event, output), stopped).await?;
    Ok(0)
}

/// Prints an event, in one line.
fn report(event: &WorkerEvent<'_>, output: Output) {
    if output.json {
        if let Some(line) = as_json(event) {
            say(&line.to_string());
        }
        return;
    }
    match event {
        WorkerEvent::Offered(offer) => note(&offered(offer, output.language)),
        event => {
            if let Some(line) = in_words(event, output.language) {
                say(&line);
            }
        }
    }
}

fn as_json(event: &WorkerEvent<'_>) -> Option<Value> {
    Some(match event {
        WorkerEvent::Begun { base, job, files } => {
            json!({ "event": "begun", "base": base, "job": job.id, "files": files })
        }
        WorkerEvent::Ended { base, job } => {
            let (state, reason) = (job.state.as_str(), &job.reason);
            json!({ "event": "ended", "base": base, "job": job.id, "state": state, "reason": reason })
        }
        WorkerEvent::Offered(offer) => {
            let (base, job, bill) = (&offer.base, offer.id, &offer.bill);
            json!({ "event": "offered", "base": base, "job": job, "bill": bill })
        }
        _ => return None,
    })
}

fn in_words(event: &WorkerEvent<'_>, language: Language) -> Option<String> {
    let words = match event {
        WorkerEvent::Begun { base, job, files } => {
            let (base, id) = (one_line(base), job.id);
            match files {
                0 => Words::new(
                    format!("{base}: job {id} begins the work over the whole base"),
                    format!("{base}：任务 {id} 开始处理整个知识库"),
                ),
                files => Words::new(
                    format!("{base}: job {id} begins {files} files"),
                    format!("{base}：任务 {id} 开始处理 {files} 个文件"),
                ),
            }
        }
        WorkerEvent::Ended { base, job } => ended(&one_line(base), job),
        _ => return None,
    };
    Some(words.of(language))
}

fn ended(base: &str, job: &JobRecord) -> Words {
    let id = job.id;
    let (english, chinese) = match job.state {
        JobState::Running => ("goes on", "继续进行"),
        JobState::Waiting => ("waits", "等待再次运行"),
        JobState::Offered => ("waits for approval", "等待确认"),
        JobState::SetAside => ("is set aside", "已搁置"),
        JobState::Done => ("is done", "已完成"),
        JobState::Incomplete => ("is done in part", "部分完成"),
        JobState::Failed => ("failed", "失败"),
    };
    let reason = job.reason.as_deref().filter(|_| job.state != JobState::Done).map(one_line);
    let (reason, in_chinese) = match reason {
        Some(reason) => (format!(" ({reason})"), format!("（{reason}）")),
        None => Default::default(),
    };
    Words::new(
        format!("{base}: job {id} {english}{reason}"),
        format!("{base}：任务 {id} {chinese}{in_chinese}"),
    )
}

/// Ends the program even if a disk or a model still blocks it: its leases then run out.
fn at_the_latest() {
    let end = || {
        std::thread::sleep(GRACE);
        std::process::exit(i32::from(crate::exit::FAILED));
    };
    // Without a thread, the program ends when its parts are put back.
    let _ = std::thread::Builder::new().name("grace".to_owned()).spawn(end);
}

#[cfg(test)]
mod tests {
    use pikerag_engine::knowledge::{JobKind, JobPriority};

    use super::*;

    #[test]
    fn each_part_is_a_line_in_both_languages() {
        let job = JobRecord {
            id: 7,
            kind: JobKind::Index,
            state: JobState::Incomplete,
            priority: JobPriority::Usual,
            worker: None,
            key: None,
            cap_usd: None,
            setup: String::new(),
            bill: None,
            retry_refused: false,
            attempts: 1,
            reason: Some("m is busy".to_owned()),
            added: 0,
            started: None,
            ended: None,
            due: 0,
            outcome: None,
        };
        let begun = WorkerEvent::Begun { base: "law", job: &job, files: 3 };
        let ended = WorkerEvent::Ended { base: "law", job: &job };
        let lines = [&begun, &ended].map(|event| in_words(event, Language::English).unwrap());
        assert_eq!(lines, ["law: job 7 begins 3 files", "law: job 7 is done in part (m is busy)"]);
        let lines = [&begun, &ended].map(|event| in_words(event, Language::Chinese).unwrap());
        assert_eq!(lines, ["law：任务 7 开始处理 3 个文件", "law：任务 7 部分完成（m is busy）"]);
        assert_eq!(as_json(&ended).unwrap()["state"], "incomplete");
    }
}
