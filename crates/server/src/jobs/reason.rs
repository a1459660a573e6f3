//! Words the reason of a job. A base keeps it as English text, so that every version can read it.

use std::fmt;

use pikerag_engine::chinese_reason;
use pikerag_engine::narrate::{InWords, Language, Words};
use serde_json::Value;

/// A reason that the queue gives. Other reasons are errors of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobReason {
    /// Nobody has accepted the bill of an offer.
    NotAccepted,
    /// Other jobs have done the offered work.
    NoWorkLeft,
    /// A scan of watched folders ended with the server.
    ServerEnded,
    /// The process ended during the job.
    ProcessEnded,
    /// A file ended the process too often.
    SetAside {
        /// The file.
        file: String,
        /// The number of ends.
        times: u32,
    },
    /// The program has a defect.
    Panicked {
        /// The message of the panic.
        message: String,
    },
}

impl JobReason {
    /// A short name for programs; it does not change between versions.
    fn code(&self) -> &'static str {
        match self {
            Self::NotAccepted => "bill-not-accepted",
            Self::NoWorkLeft => "no-work-left",
            Self::ServerEnded => "server-ended",
            Self::ProcessEnded => "process-ended",
            Self::SetAside { .. } => "file-ended-process",
            Self::Panicked { .. } => "panicked",
        }
    }

    /// The reason with this English text; `None` for an error.
    fn read(text: &str) -> Option<Self> {
        let fixed = [Self::NotAccepted, Self::NoWorkLeft, Self::ServerEnded, Self::ProcessEnded];
        if let Some(reason) = fixed.into_iter().find(|reason| reason.to_string() == text) {
            return Some(reason);
        }
        if let Some(message) = text.strip_prefix("it panicked: ") {
            return Some(Self::Panicked { message: message.to_owned() });
        }
        let (file, times) = text.strip_prefix("indexing `")?.rsplit_once("` ended the process ")?;
        let times = times.strip_suffix(" times")?.parse().ok()?;
        Some(Self::SetAside { file: file.to_owned(), times })
    }
}

impl InWords for JobReason {
    fn words(&self) -> Words {
        match self {
            Self::NotAccepted => Words::new("its bill is not accepted yet", "费用尚未确认"),
            Self::NoWorkLeft => Words::new("there is no work left", "没有剩余的工作"),
            Self::ServerEnded => Words::new(
                "the server ended; its folders are scanned again",
                "服务器曾停止；会重新扫描其文件夹",
            ),
            Self::ProcessEnded => {
                Words::new("the process ended while the job was running", "任务运行时进程结束")
            }
            Self::SetAside { file, times } => Words::new(
                format!("indexing `{file}` ended the process {times} times"),
                format!("为 `{file}` 建立索引时，进程 {times} 次异常结束"),
            ),
            Self::Panicked { message } => {
                Words::new(format!("it panicked: {message}"), format!("程序错误：{message}"))
            }
        }
    }
}

impl fmt::Display for JobReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.in_words(Language::English))
    }
}

/// The code of a kept reason, if it has one, and its Chinese words. `problem` is that of the job.
pub(super) fn reason_in_chinese(
    reason: &str,
    problem: Option<&Value>,
) -> (Option<String>, Option<String>) {
    if let Some(reason) = JobReason::read(reason) {
        return (Some(reason.code().to_owned()), Some(reason.words().chinese));
    }
    let of_problem =
        |key: &str| Some(problem?.get(key)?.as_str().filter(|text| !text.is_empty())?.to_owned());
    let chinese = of_problem("detail_zh").unwrap_or_else(|| chinese_reason(reason));
    (of_problem("code"), Some(chinese))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kept_reasons_are_read_back() {
        let reasons = [
            JobReason::NotAccepted,
            JobReason::NoWorkLeft,
            JobReason::ServerEnded,
            JobReason::ProcessEnded,
            JobReason::SetAside { file: "a` ended the process 3 times.md".to_owned(), times: 3 },
            JobReason::Panicked { message: "x".to_owned() },
        ];
        for reason in reasons {
            assert_eq!(JobReason::read(&reason.to_string()), Some(reason));
        }
        assert_eq!(JobReason::read("m is out of reach"), None);
    }

    #[test]
    fn errors_have_the_words_of_the_problem() {
        let problem = json!({ "code": "base-busy", "detail_zh": "知识库正忙" });
        let shown = |reason, problem| {
            let (code, chinese) = reason_in_chinese(reason, problem);
            (code.unwrap_or_default(), chinese.unwrap_or_default())
        };
        let words = |code: &str, chinese: &str| (code.to_owned(), chinese.to_owned());
        assert_eq!(shown("busy", Some(&problem)), words("base-busy", "知识库正忙"));
        assert_eq!(shown("m is out of reach", None), words("", "无法连接 m"));
        let waits = "its bill is not accepted yet";
        assert_eq!(shown(waits, None), words("bill-not-accepted", "费用尚未确认"));
    }
}
