//! Words messages of the libraries that read TOML, ZIP archives and XML in Chinese, and the faults that our readers find.

/// A message of such a library, or a part of one; `None` if it has no words here.
pub(crate) fn library(english: &str) -> Option<String> {
    exact(english)
        .map(str::to_owned)
        .or_else(|| value(english))
        .or_else(|| expected(english))
        .or_else(|| named(english))
}

/// A fault of a settings file, after the name of the setting if the fault is in a value.
pub fn settings_fault(english: &str) -> String {
    let fault = |english: &str| library(english).unwrap_or_else(|| english.to_owned());
    match english.strip_prefix('`').and_then(|rest| rest.split_once("`: ")) {
        Some((name, rest)) => format!("`{name}`：{}", fault(rest)),
        None => fault(english),
    }
}

fn exact(english: &str) -> Option<&'static str> {
    [TOML, ARCHIVES, MARKUP, FAULTS].into_iter().find_map(|table| among(table, english))
}

fn among(table: &[(&'static str, &'static str)], english: &str) -> Option<&'static str> {
    table.iter().find(|(message, _)| *message == english).map(|(_, chinese)| *chinese)
}

/// A value of the wrong kind, or a name that is not known.
fn value(english: &str) -> Option<String> {
    for (begin, chinese) in [("invalid type: ", "类型不符"), ("invalid value: ", "取值不符")]
    {
        if let Some(rest) = english.strip_prefix(begin) {
            let (found, wanted) = rest.rsplit_once(", expected ")?;
            return Some(format!("{chinese}：得到{}，应为{}", kind(found), kind(wanted)));
        }
    }
    if let Some(wanted) = english.strip_prefix("unknown variant, expected ") {
        return Some(format!("没有这个取值；可用：{}", choices(wanted)));
    }
    if let Some(rest) = english.strip_prefix("unknown field `") {
        let (name, known) = rest.split_once("`, ")?;
        let known = known.strip_prefix("expected ").map(choices);
        let known = known.map(|known| format!("；可用：{known}")).unwrap_or_default();
        return Some(format!("没有名为 `{name}` 的设置{known}"));
    }
    let missing = english.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    missing.map(|name| format!("缺少 `{name}`"))
}

/// Names to choose from.
fn choices(english: &str) -> String {
    let names = english.strip_prefix("one of ").unwrap_or(english);
    let names: Vec<&str> = names.split(", ").flat_map(|name| name.split(" or ")).collect();
    names.join("、")
}

/// A kind of value. A kind without words here stays as it is.
fn kind(english: &str) -> String {
    let bare = english.split(" `").next().unwrap_or(english);
    let chinese = match bare {
        "string" | "a string" => "字符串",
        "integer" | "an integer" | "i8" | "i16" | "i32" | "i64" | "isize" => "整数",
        "u8" | "u16" | "u32" | "u64" | "usize" => "不小于 0 的整数",
        "floating point" | "f32" | "f64" => "小数",
        "boolean" | "a boolean" => "布尔值",
        "map" | "a map" | "table" => "表",
        "sequence" | "a sequence" => "数组",
        "path string" => "路径",
        nonzero if nonzero.starts_with("a nonzero ") => "大于 0 的整数",
        table if table.starts_with("struct ") => "表",
        other => return format!("`{other}`"),
    };
    chinese.to_owned()
}

/// A syntax error with the characters that the library waits for.
fn expected(english: &str) -> Option<String> {
    let (fault, wanted) = english.split_once(", expected ")?;
    let wanted = wanted.split(", ").map(|part| among(WANTED, part).unwrap_or(part));
    let wanted: Vec<&str> = wanted.collect();
    Some(format!("{}，此处应为 {}", exact(fault)?, wanted.join("、")))
}

/// A message that names a part of the file.
fn named(english: &str) -> Option<String> {
    if let Some(mark) = english.strip_suffix(" not found before end of input") {
        return Some(format!("到文件末尾仍没有 {mark}"));
    }
    let tag = english.strip_prefix("close tag ");
    if let Some(tag) = tag.and_then(|rest| rest.strip_suffix(" does not match any open tag")) {
        return Some(format!("结束标签 {tag} 没有对应的开始标签"));
    }
    if let Some((wanted, found)) =
        english.strip_prefix("expected ").and_then(|rest| rest.split_once(", but "))
    {
        let found = found.strip_suffix(" was found")?;
        return Some(format!("此处应为 {wanted}，而不是 {found}"));
    }
    let extended = english.strip_prefix("cannot extend value of type ");
    let kind_of = extended.and_then(|rest| rest.strip_suffix(" with a dotted key"));
    kind_of.map(|found| format!("带点的键不能用于已有的值（{}）", kind(found)))
}

/// Syntax errors of TOML.
const TOML: &[(&str, &str)] = &[
    ("missing assignment between key-value pairs", "键和值之间缺少 `=`"),
    ("extra assignment between key-value pairs", "键和值之间多了一个 `=`"),
    ("extra `=`", "多了一个 `=`"),
    ("unexpected `=` in array", "数组中不能有 `=`"),
    ("missing comma between array elements", "数组的元素之间缺少逗号"),
    ("missing comma between key-value pairs", "键值对之间缺少逗号"),
    ("extra comma in array", "数组中多了一个逗号"),
    ("extra comma in inline table", "行内表中多了一个逗号"),
    ("missing array opening", "数组缺少 `[`"),
    ("missing inline table opening", "行内表缺少 `{`"),
    ("missing table open", "表头缺少 `[`"),
    ("missing opening quote", "缺少左引号"),
    ("missing comment start", "注释缺少 `#`"),
    ("missing escaped value", "`\\` 之后缺少字符"),
    ("missing value", "缺少值"),
    ("missing value for key", "键没有值"),
    ("key with no value", "键没有值"),
    ("missing key for inline table element", "行内表的值没有键"),
    ("unclosed array", "数组没有结束"),
    ("unclosed table", "表头没有结束"),
    ("unclosed array table", "表头没有结束"),
    ("unclosed inline table", "行内表没有结束"),
    ("string values must be quoted", "字符串须加引号"),
    ("unquoted keys cannot be empty", "没有引号的键不能为空"),
    ("invalid unquoted key", "键含有须加引号的字符"),
    ("invalid key", "键无效"),
    ("invalid key-value pair", "键值对无效"),
    ("invalid inline table element", "行内表的元素无效"),
    ("invalid table", "表头无效"),
    ("invalid value", "值无效"),
    ("invalid string", "字符串无效"),
    ("invalid basic string", "字符串无效"),
    ("invalid literal string", "字符串无效"),
    ("invalid multi-line basic string", "多行字符串无效"),
    ("invalid multi-line literal string", "多行字符串无效"),
    ("invalid boolean", "布尔值无效"),
    ("invalid date-time", "日期时间无效"),
    ("invalid float", "小数无效"),
    ("invalid integer number", "整数无效"),
    ("invalid comment character", "注释含有不允许的字符"),
    ("integer number overflowed", "整数过大"),
    ("unexpected leading zero", "数字不能以 0 开头"),
    ("unexpected sign", "此处不能有正负号"),
    ("unexpected content", "此处有多余的内容"),
    ("unexpected key or value", "此处有多余的键或值"),
    ("unexpected content between comment and newline", "注释之后有多余的内容"),
    ("carriage return must be followed by newline", "回车符之后必须换行"),
    ("`_` may only go between digits", "`_` 只能在数字之间"),
    ("too few unicode value digits", "字符编码的位数不足"),
    ("keys cannot be multi-line basic strings", "键不能是多行字符串"),
    ("keys cannot be multi-line literal strings", "键不能是多行字符串"),
    ("duplicate key", "键重复"),
];

/// What TOML can expect at a place.
const WANTED: &[(&str, &str)] = &[
    ("key", "键"),
    ("value", "值"),
    ("newline", "换行"),
    ("nothing", "空"),
    ("basic string", "双引号字符串"),
    ("literal string", "单引号字符串"),
    ("characters", "字符"),
    ("digits", "数字"),
    ("letters", "字母"),
];

/// Faults of ZIP archives: the kind, the details, and those of one entry.
const ARCHIVES: &[(&str, &str)] = &[
    ("invalid Zip archive", "ZIP 文件无效"),
    ("unsupported Zip archive", "不支持此 ZIP 文件"),
    ("Could not find EOCD", "末尾没有目录：文件不完整，或不是 ZIP"),
    ("Could not find EOCD64", "末尾没有目录：文件不完整，或不是 ZIP"),
    ("No CDFH found", "没有目录"),
    ("Invalid CDFH offset in EOCD", "目录的位置有误"),
    ("Invalid central directory size or offset", "目录的位置有误"),
    ("Invalid Central Directory header", "目录的条目有误"),
    ("Invalid local file header", "条目的开头有误"),
    ("Multi-disk ZIP files are not supported", "不支持分卷"),
    ("Password required to decrypt file", "已加密"),
    ("specified file not found in archive", "其中没有此文件"),
    ("compression method not supported", "不支持其压缩方法"),
    ("Invalid checksum", "校验和不符"),
    ("File is larger than its declared uncompressed size", "解压后大于声明的大小"),
    ("corrupt deflate stream", "压缩数据已损坏"),
    ("i/o error", "读取出错"),
];

/// Faults of XML.
const MARKUP: &[(&str, &str)] = &[
    ("syntax error", "语法错误"),
    ("ill-formed document", "结构有误"),
    ("error while parsing attribute", "属性有误"),
    ("tag not closed", "标签没有结束"),
    ("start tag not closed", "开始标签没有对应的结束标签"),
    ("comment not closed", "注释没有结束"),
    ("DOCTYPE not closed", "DOCTYPE 没有结束"),
    ("CDATA not closed", "CDATA 没有结束"),
    ("attribute value not closed", "属性值没有结束"),
    ("entity or character reference not closed", "字符引用没有结束"),
    ("unknown or missed symbol in markup", "标记中有未知或缺少的符号"),
    ("forbidden string `--` was found in a comment", "注释中不能有 `--`"),
];

/// Faults that we find in a file, and in the file of a base.
const FAULTS: &[(&str, &str)] = &[
    ("it is not a database", "不是数据库"),
    ("it is the database of another program", "是其他程序的数据库"),
    ("it holds no knowledge base", "其中没有知识库"),
    ("there is no knowledge base yet", "还没有知识库"),
    ("there is no knowledge base, and none can be created", "没有知识库，也无法创建"),
    ("its header has no layout number", "文件头缺少布局编号"),
    ("database disk image is malformed", "数据库文件的内容已损坏"),
    ("file is not a database", "不是数据库"),
    ("it has no pages", "没有页"),
    ("its structure is damaged and no page can be found", "结构已损坏，找不到任何页"),
    ("its header is damaged", "文件头已损坏"),
    ("its package document is missing or damaged", "包文档缺失或损坏"),
    ("it has no header", "没有邮件头"),
    ("it has no element", "没有元素"),
    (
        "its end is missing, so it was not saved or copied completely",
        "缺少末尾：没有完整保存或复制",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_settings_are_worded() {
        for (english, chinese) in [
            ("key with no value, expected `=`", "键没有值，此处应为 `=`"),
            ("unclosed array, expected `]`", "数组没有结束，此处应为 `]`"),
            (
                "missing comma between array elements, expected `,`, newline",
                "数组的元素之间缺少逗号，此处应为 `,`、换行",
            ),
            ("duplicate key", "键重复"),
            (
                "`file_mib`: invalid type: string, expected u64",
                "`file_mib`：类型不符：得到字符串，应为不小于 0 的整数",
            ),
            (
                "`k`: invalid value: integer `0`, expected a nonzero u32",
                "`k`：取值不符：得到整数，应为大于 0 的整数",
            ),
            (
                "`kind`: unknown variant, expected one of `auto`, `local`, `none`",
                "`kind`：没有这个取值；可用：`auto`、`local`、`none`",
            ),
            ("unknown variant, expected `a` or `b`", "没有这个取值；可用：`a`、`b`"),
            (
                "unknown field `modle`, expected one of `base_url`, `model`",
                "没有名为 `modle` 的设置；可用：`base_url`、`model`",
            ),
            ("unknown field `x`, there are no fields", "没有名为 `x` 的设置"),
            ("missing field `name`", "缺少 `name`"),
            ("`_` may only go between digits", "`_` 只能在数字之间"),
            (
                "cannot extend value of type string with a dotted key",
                "带点的键不能用于已有的值（字符串）",
            ),
            ("something new of a later version", "something new of a later version"),
        ] {
            assert_eq!(settings_fault(english), chinese);
        }
    }
}
