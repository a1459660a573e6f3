//! Words frequent messages of the system and of libraries of others in Chinese.

use std::io;

use crate::libraries::library;
use crate::own::own;

/// What the system says of files and connections. Other kinds keep its words.
pub fn system(error: &io::Error) -> String {
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

/// Frequent messages of the system, of `SQLite`, of the HTTP client and of the libraries that read files. All others keep
/// their words.
pub fn foreign(english: &str) -> String {
    let begins = [
        ("no such table: ", "没有此表："),
        ("no such column: ", "没有此列："),
        ("no such function: ", "没有此函数："),
        ("error sending request for url ", "请求失败 "),
    ];
    let ends = [
        (" cannot be reached", "无法访问 {}"),
        (" is out of reach", "无法连接 {}"),
        (" is busy or does not answer", "{} 繁忙或没有回应"),
        (" refused the request", "{} 拒绝了请求"),
        (" refuses every request", "{} 拒绝所有请求"),
        (" cannot do this", "{} 不支持此操作"),
        (" sent a reply that breaks the protocol", "{} 的回复不符合协议"),
    ];
    let withheld = "; not sent here because it was given for another address: ";
    if let Some((refusal, keys)) = english.split_once(withheld) {
        return format!("{}；以下密钥是为别的地址设置的，没有发送到这里：{keys}", foreign(refusal));
    }
    for (begin, chinese) in begins {
        if let Some(rest) = english.strip_prefix(begin) {
            return format!("{chinese}{rest}");
        }
    }
    for (end, chinese) in ends {
        if let Some(rest) = english.strip_suffix(end) {
            return chinese.replace("{}", rest);
        }
    }
    let call = english.strip_prefix("the `").and_then(|rest| rest.strip_suffix("` call failed"));
    if let Some(role) = call {
        return format!("`{role}` 的调用失败");
    }
    let spent =
        english.strip_prefix("the budget of ").and_then(|rest| rest.split_once(" is spent ("));
    if let Some((cap, spent)) = spent {
        return budget(cap, spent.trim_end_matches(" so far)"));
    }
    let words = match english {
        "No such file or directory (os error 2)" => "不存在",
        "Permission denied (os error 13)" => "没有权限",
        "Is a directory (os error 21)" => "是文件夹",
        "Connection refused (os error 111)" => "连接被拒绝",
        "a model call failed" => "模型调用失败",
        "the server that ran it has ended" => "运行它的服务器已结束",
        "error sending request" => "请求失败",
        "client error (Connect)" => "无法连接",
        "tcp connect error" => "TCP 连接失败",
        "dns error" => "域名无法解析",
        "operation timed out" => "超时",
        UNPRICED => {
            "金额上限需要该模型每百万 Token 的价格（免费则为 0）：请给出价格，或改为限制 Token 数或调用次数"
        }
        other => return own(other).or_else(|| library(other)).unwrap_or_else(|| other.to_owned()),
    };
    words.to_owned()
}

/// The hint for a model without a price, where a cap on money is set.
const UNPRICED: &str = "a cap on money needs its price per million tokens (0 if the model is free); name the price, or cap \
    tokens or calls instead";

/// A budget and the sum that is spent of it, or that one more call needs.
pub fn budget(cap: &str, spent: &str) -> String {
    let cap = amount(cap);
    match spent.strip_prefix("this call can cost ").and_then(|cost| cost.split_once(" on top of "))
    {
        Some((cost, before)) => {
            format!(
                "预算（{cap}）不足：此调用可能需要 {}，此前已用 {}",
                amount(cost),
                amount(before)
            )
        }
        None => format!("预算（{cap}）已用尽，已用 {}", amount(spent)),
    }
}

/// A sum of a budget, such as `2 calls`.
fn amount(english: &str) -> String {
    match english.split_once(' ') {
        Some((n, "call" | "calls")) => format!("{n} 次调用"),
        Some((n, "token" | "tokens")) => format!("{n} 个 Token"),
        Some((n, "US dollars")) => format!("{n} 美元"),
        _ => english.to_owned(),
    }
}

/// The reason of an error that a report or a run keeps as English text, with its causes after colons.
pub fn chinese_reason(english: &str) -> String {
    let causes: Vec<String> = english.split(": ").map(foreign).collect();
    causes.join("：")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_reasons_are_worded_cause_by_cause() {
        let reason = "the `summarize` call failed: m is out of reach: http://127.0.0.1:1 cannot be reached: error sending \
            request: client error (Connect): tcp connect error: Connection refused (os error 111)";
        insta::assert_snapshot!(chinese_reason(reason), @"`summarize` 的调用失败：无法连接 m：无法访问 http://127.0.0.1:1：请求失败：无法连接：TCP 连接失败：连接被拒绝");
        let spent = "the `answer` call failed: the budget of 2 calls is spent (2 calls so far)";
        insta::assert_snapshot!(chinese_reason(spent), @"`answer` 的调用失败：预算（2 次调用）已用尽，已用 2 次调用");
    }

    #[test]
    fn faults_of_archives_and_markup_are_worded_part_by_part() {
        for (english, chinese) in [
            (
                "invalid Zip archive: Could not find EOCD",
                "ZIP 文件无效：末尾没有目录：文件不完整，或不是 ZIP",
            ),
            ("compression method not supported: 97", "不支持其压缩方法：97"),
            ("Invalid checksum", "校验和不符"),
            (
                "syntax error: tag not closed: `>` not found before end of input",
                "语法错误：标签没有结束：到文件末尾仍没有 `>`",
            ),
            (
                "ill-formed document: expected `</a>`, but `</b>` was found",
                "结构有误：此处应为 `</a>`，而不是 `</b>`",
            ),
            (
                "ill-formed document: close tag `</b>` does not match any open tag",
                "结构有误：结束标签 `</b>` 没有对应的开始标签",
            ),
            ("invalid Zip archive: a new fault", "ZIP 文件无效：a new fault"),
        ] {
            assert_eq!(chinese_reason(english), chinese);
        }
        assert_eq!(foreign("its header is damaged"), "文件头已损坏");
        let withheld = "http://a refused the request; not sent here because it was given for another address: KEY";
        assert_eq!(
            foreign(withheld),
            "http://a 拒绝了请求；以下密钥是为别的地址设置的，没有发送到这里：KEY"
        );
    }

    #[test]
    fn a_missing_price_is_worded() {
        let reason = format!("the `answer` call failed: m cannot do this: {UNPRICED}");
        let chinese = chinese_reason(&reason);
        assert!(
            chinese.starts_with("`answer` 的调用失败：m 不支持此操作：金额上限需要"),
            "{chinese}"
        );
        let over = "the budget of $0.01 is spent (this call can cost $0.02 on top of $0.00 so far)";
        assert_eq!(chinese_reason(over), "预算（$0.01）不足：此调用可能需要 $0.02，此前已用 $0.00");
    }
}
