//! Says what to do about a file that is left out.

use pikerag_engine::narrate::Words;
use pikerag_engine::parts::{DatabaseFault, FileError};

/// The advice about a file that is left out.
pub(super) fn about_file(error: &FileError) -> Option<Words> {
    let (english, chinese) = match error {
        FileError::TooLarge { .. } => {
            ("raise `limits.file_mib`, or split it", "请提高 `limits.file_mib`，或拆分文件")
        }
        FileError::TooSlow { .. } => (
            "raise `limits.wall_seconds` if it is worth the wait",
            "如值得等待，请提高 `limits.wall_seconds`",
        ),
        FileError::TooMuchWork { .. } => (
            "raise `limits.cpu_seconds` if it is worth the wait",
            "如值得等待，请提高 `limits.cpu_seconds`",
        ),
        FileError::TooMuchMemory { .. } | FileError::Unfolds { .. } => {
            ("raise `limits.memory_mib`, or split it", "请提高 `limits.memory_mib`，或拆分文件")
        }
        FileError::Database(fault) => return about_database(fault),
        FileError::EmptyFolder => {
            ("hidden files and folders are skipped", "隐藏的文件和文件夹会被略过")
        }
        FileError::NotUtf8 => (
            "rename it; `convmv -f gbk -t utf-8 --notest FILE` converts a name in GBK",
            "请重命名；`convmv -f gbk -t utf-8 --notest 文件` 可转换 GBK 编码的文件名",
        ),
        _ => return None,
    };
    Some(Words::new(english, chinese))
}

/// The advice about a database or a table of it.
fn about_database(fault: &DatabaseFault) -> Option<Words> {
    let (english, chinese) = match fault {
        DatabaseFault::Unreachable { .. } | DatabaseFault::Lost { .. } => (
            "check that the server runs and the address is right, and run the command again",
            "请检查服务器是否运行、地址是否正确，然后再次运行该命令",
        ),
        DatabaseFault::Insecure { .. } => (
            "add `sslrootcert=FILE` to the address for a certificate of your own; `sslmode=disable` sends everything unencrypted",
            "若使用自己的证书，请在地址中加上 `sslrootcert=FILE`；`sslmode=disable` 则不加密",
        ),
        DatabaseFault::Denied { .. } => (
            "put the address with the account and its password into a variable, and name it under `[[sources.database]]` as `url_variable`",
            "请把含账户与密码的地址放入环境变量，并在 `[[sources.database]]` 的 `url_variable` 中指定它",
        ),
        DatabaseFault::NoPermission | DatabaseFault::NoTable => (
            "let the account read it: `GRANT SELECT ON TABLE … TO …`",
            "请授予账户读取权限：`GRANT SELECT ON TABLE … TO …`",
        ),
        DatabaseFault::UnusedPattern { .. } => {
            ("correct `sources.database.tables`", "请更正 `sources.database.tables`")
        }
        DatabaseFault::RepeatedKey { .. } => (
            "name columns in `sources.database.key` that identify a row",
            "请在 `sources.database.key` 中指定能区分各行的列",
        ),
        DatabaseFault::TooManyRows { .. } => (
            "raise `sources.database.rows`, or choose other tables or a view",
            "请提高 `sources.database.rows`，或选择其他表或视图",
        ),
        DatabaseFault::TooMuchText { .. } => (
            "raise `sources.database.mib`, or choose other tables or a view",
            "请提高 `sources.database.mib`，或选择其他表或视图",
        ),
        DatabaseFault::TooSlow => (
            "raise `sources.database.statement_seconds`",
            "请提高 `sources.database.statement_seconds`",
        ),
        DatabaseFault::Vanished => ("run the command again", "请再次运行该命令"),
        _ => return None,
    };
    Some(Words::new(english, chinese))
}
