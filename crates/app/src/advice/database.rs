//! Says what to do about a database of bases.

use pikerag_engine::narrate::Words;
use pikerag_engine::parts::ServerProblem;

/// The advice about a server of databases.
pub(super) fn about_database(problem: &ServerProblem) -> Option<Words> {
    let (english, chinese) = match problem {
        ServerProblem::Address { .. } => (
            "correct it in `base` of the settings, `PIKERAG_BASE` or `--base`",
            "请在设置的 `base`、`PIKERAG_BASE` 或 `--base` 中更正",
        ),
        ServerProblem::Unreachable { .. } => (
            "check that the server runs, and the account and password of the address",
            "请检查服务器是否在运行，以及地址中的账户和密码",
        ),
        ServerProblem::AllInUse { .. } => (
            "try it again, or raise `[postgres]` in the settings",
            "请重试，或在设置中提高 `[postgres]`",
        ),
        ServerProblem::Lost { .. } => (
            "check that the server runs, then try it again: nothing that was stored is lost",
            "请检查服务器是否在运行，然后重试：已存储的内容不会丢失",
        ),
        ServerProblem::DiskFull { .. } => (
            "make space there, then try it again: nothing that was stored is lost",
            "请在那里清理空间，然后重试：已存储的内容不会丢失",
        ),
        ServerProblem::NotAllowed { .. } => (
            "run one command with an account that may create schemas in this database",
            "请用可在此数据库中创建 schema 的账户运行一次命令",
        ),
        ServerProblem::OldServer { .. }
        | ServerProblem::Encoding { .. }
        | ServerProblem::NoVectors { .. } => return None,
    };
    Some(Words::new(english, chinese))
}
