//! Words in Chinese why a database or a table of it cannot be read.

use pikerag_indexing::DatabaseFault;
use pikerag_narrate::foreign;

/// A fault of a database. The server's own words stay as they are, unless they are frequent.
pub(super) fn database(fault: &DatabaseFault) -> String {
    match fault {
        DatabaseFault::BadUrl { .. } => {
            "数据库地址不可用：须写成 `postgres://USER@HOST/DATABASE`，特殊字符用百分号编码"
                .to_owned()
        }
        DatabaseFault::Offline => "离线运行，不连接数据库".to_owned(),
        DatabaseFault::Unreachable { server, reason } => {
            format!("无法连接 {server}：{}", foreign(reason))
        }
        DatabaseFault::Insecure { server, reason } => {
            format!("无法与 {server} 建立安全连接：{}", foreign(reason))
        }
        DatabaseFault::Denied { server, user, reason } => {
            format!("{server} 拒绝账户 `{user}`：{}", foreign(reason))
        }
        DatabaseFault::NoDatabase { server, database } => {
            format!("{server} 没有数据库 `{database}`")
        }
        DatabaseFault::NoTable => "数据库中没有设置所选、且账户可以读取的表".to_owned(),
        DatabaseFault::UnusedPattern { pattern } => format!("数据库中没有符合 `{pattern}` 的表"),
        DatabaseFault::NoPermission => "账户无权读取".to_owned(),
        DatabaseFault::Vanished => "读取期间它被移除或更改".to_owned(),
        DatabaseFault::RepeatedKey { columns } => format!("多行的键（{columns}）相同"),
        DatabaseFault::TooManyRows { most } => format!("超过 {most} 行"),
        DatabaseFault::TooMuchText { mib } => format!("各行的文本超过 {mib} MiB"),
        DatabaseFault::TooSlow => "一条语句超过了时限".to_owned(),
        DatabaseFault::Lost { reason } => format!("与数据库的连接已中断：{}", foreign(reason)),
        DatabaseFault::Failed { reason } => format!("数据库报告错误：{}", foreign(reason)),
    }
}
