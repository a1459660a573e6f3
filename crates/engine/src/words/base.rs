//! Words in Chinese why a base, or the server of its database, cannot be used.

use pikerag_narrate::foreign;
use pikerag_postgres::ServerProblem;
use pikerag_store::BaseProblem;

pub(super) fn problem(error: &BaseProblem) -> String {
    match error {
        BaseProblem::ReadOnly { folder } => format!("{} 不可写", folder.display()),
        BaseProblem::Busy { path } => format!("另一个进程正在使用 {}", path.display()),
        BaseProblem::StillRead { path } => format!(
            "已从 {} 彻底删除的内容尚未覆写：此前开始的提问、检索或导出仍在读取",
            path.display()
        ),
        BaseProblem::Forgotten { folder } => {
            format!("其间 {} 中有内容被彻底删除", folder.display())
        }
        BaseProblem::Exists { folder } => format!("{} 中已有知识库，未作改动", folder.display()),
        BaseProblem::FileThere { path } => format!("{} 已存在，未作改动", path.display()),
        BaseProblem::DamagedDatabase { path, faults } => {
            let faults: Vec<String> = faults.iter().map(|fault| foreign(fault)).collect();
            format!("{} 已损坏：{}", path.display(), faults.join("；"))
        }
    }
}

pub(super) fn server(error: &ServerProblem) -> String {
    match error {
        ServerProblem::Address { address, .. } => {
            format!("{address} 不是形如 `postgres://user@host/database?base=name` 的地址")
        }
        ServerProblem::Unreachable { server, .. } => format!("无法连接数据库服务器 {server}"),
        ServerProblem::AllInUse { server } => format!("到 {server} 的连接均在使用中"),
        ServerProblem::Lost { .. } => "与数据库的连接中断".to_owned(),
        ServerProblem::DiskFull { .. } => "数据库的磁盘已满".to_owned(),
        ServerProblem::OldServer { server, version, least } => {
            format!("{server} 是 PostgreSQL {version}，需要 {least} 或更高版本")
        }
        ServerProblem::Encoding { server, encoding } => {
            format!("{server} 处数据库的编码是 {encoding}；请创建编码为 UTF8 的数据库")
        }
        ServerProblem::NoVectors { server } => format!(
            "{server} 需要 0.8 或更高版本的 pgvector 扩展：请先安装，再执行 `CREATE EXTENSION vector`"
        ),
        ServerProblem::NotAllowed { server, .. } => {
            format!("须创建或更新 {server} 处的表，而此账户没有权限")
        }
    }
}
