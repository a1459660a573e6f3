//! Words frequent messages of the system and of libraries of others in Chinese.

use std::io;

/// What the system says of files and connections. Other kinds keep its words.
pub(super) fn system(error: &io::Error) -> String {
    let words = match error.kind() {
        io::ErrorKind::NotFound => "不存在",
        io::ErrorKind::PermissionDenied => "没有权限",
        io::ErrorKind::AlreadyExists => "已存在",
        io::ErrorKind::IsADirectory => "是文件夹",
        io::ErrorKind::NotADirectory => "不是文件夹",
        io::ErrorKind::AddrInUse => "地址已被占用",
        io::ErrorKind::ConnectionRefused => "连接被拒绝",
        io::ErrorKind::TimedOut => "超时",
        io::ErrorKind::StorageFull => "磁盘已满",
        io::ErrorKind::ReadOnlyFilesystem => "文件系统只读",
        io::ErrorKind::BrokenPipe => "管道已关闭",
        _ => return foreign(&error.to_string()),
    };
    words.to_owned()
}

/// Frequent messages of the system, of `SQLite` and of the HTTP client. All others keep their words.
pub(super) fn foreign(english: &str) -> String {
    let begins = [
        ("no such table: ", "没有此表："),
        ("no such column: ", "没有此列："),
        ("no such function: ", "没有此函数："),
        ("error sending request for url ", "请求失败 "),
    ];
    for (begin, chinese) in begins {
        if let Some(rest) = english.strip_prefix(begin) {
            return format!("{chinese}{rest}");
        }
    }
    let words = match english {
        "No such file or directory (os error 2)" => "不存在",
        "Permission denied (os error 13)" => "没有权限",
        "Is a directory (os error 21)" => "是文件夹",
        "Connection refused (os error 111)" => "连接被拒绝",
        "client error (Connect)" => "无法连接",
        "tcp connect error" => "TCP 连接失败",
        "dns error" => "域名无法解析",
        "operation timed out" => "超时",
        other => other,
    };
    words.to_owned()
}
