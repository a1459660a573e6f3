//! Names failures of the command line itself: files that it writes, and a server that it calls.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use pikerag_engine::narrate::{InWords, Words};

/// The operation that failed; its cause comes from the system or a library.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A file was not written.
    NotWritten(PathBuf),
    /// A folder was not created.
    NoFolder(PathBuf),
    /// The pages of the manual were not written to a folder.
    NoPages(PathBuf),
    /// No server answers at an address.
    NoServer(String),
    /// No key was made.
    NoKey,
    /// `server.bases` has no base of this name, and none was made over REST.
    NoSuchBase { name: String, usual: &'static str },
    /// A worker needs a base in a database, and the base is a folder.
    NoSharedJobs(PathBuf),
    /// No collector of traces can be used.
    NoCollector,
}

impl InWords for Failure {
    fn words(&self) -> Words {
        match self {
            Self::NotWritten(path) => {
                let path = path.display();
                Words::new(format!("{path} cannot be written"), format!("无法写入 {path}"))
            }
            Self::NoFolder(path) => {
                let path = path.display();
                Words::new(format!("{path} cannot be created"), format!("无法创建 {path}"))
            }
            Self::NoPages(path) => {
                let path = path.display();
                Words::new(
                    format!("the pages cannot be written to {path}"),
                    format!("手册页无法写入 {path}"),
                )
            }
            Self::NoServer(url) => {
                Words::new(format!("no server answers at {url}"), format!("{url} 没有服务器回应"))
            }
            Self::NoKey => Words::new("no key was created", "没有创建密钥"),
            Self::NoSuchBase { name, usual } => Words::new(
                format!(
                    "there is no base `{name}` in `server.bases`, and none was made with this name; the base of `base` is named `{usual}`"
                ),
                format!(
                    "`server.bases` 中没有知识库 `{name}`，也没有创建过此名称的知识库；`base` 的知识库名为 `{usual}`"
                ),
            ),
            Self::NoSharedJobs(base) => {
                let base = base.display();
                Words::new(
                    format!(
                        "the base {base} is a folder, which only one process writes: `pikerag serve` runs its jobs. Workers need a base in PostgreSQL: `--base postgres://user@host/database`"
                    ),
                    format!(
                        "知识库 {base} 是一个文件夹，只能由一个进程写入：其任务由 `pikerag serve` 运行。工作进程需要 PostgreSQL 中的知识库：`--base postgres://用户@主机/数据库`"
                    ),
                )
            }
            Self::NoCollector => {
                Words::new("the collector of traces cannot be used", "跟踪收集器无法使用")
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().english)
    }
}

impl Error for Failure {}

impl Failure {
    /// The same with its cause.
    pub(crate) fn of(self, cause: impl Error + Send + Sync + 'static) -> Caused {
        Caused { failure: self, cause: Box::new(cause) }
    }
}

/// A failure with its cause.
#[derive(Debug)]
pub(crate) struct Caused {
    pub(crate) failure: Failure,
    cause: Box<dyn Error + Send + Sync>,
}

impl fmt::Display for Caused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)
    }
}

impl Error for Caused {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.cause.as_ref())
    }
}
