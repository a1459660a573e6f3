//! Words causes in Chinese: errors of libraries of ours and of the system. Other causes keep their own words.

use std::error::Error;

use pikerag_baselines::BadParameter;
use pikerag_eval::EvalError;
use pikerag_indexing::{FileError, MissingPart};
use pikerag_knowledge::{DataError, Misfit, ModelError, QueryError, StoreError};
use pikerag_narrate::{InWords, budget, chinese_reason, foreign, settings_fault, system};
use pikerag_parse::ParseError;
use pikerag_postgres::ServerProblem;
use pikerag_prompt::{AskError, Unreadable};
use pikerag_retrieve::RetrieveError;
use pikerag_store::BaseProblem;
use pikerag_train::TrainError;

use super::base::{problem, server};
use super::change::change_model;
use super::database::database;
use super::local::{fetching, local_model};
use super::presence::unclear;
use crate::error::EngineError;
use crate::keys::KeysError;
use crate::settings::SettingsError;

/// An error and its causes in Chinese, each after a colon.
pub fn chinese_chain(error: &(dyn Error + 'static)) -> String {
    let mut words = Vec::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        // It words its own causes.
        if let Some(error) = error.downcast_ref::<EngineError>() {
            words.push(error.words().chinese);
            break;
        }
        words.push(one(error));
        cause = error.source();
    }
    words.join("：")
}

/// An error without its causes.
fn one(error: &(dyn Error + 'static)) -> String {
    let known = error.downcast_ref().map(settings);
    let known = known.or_else(|| error.downcast_ref().map(model));
    let known = known.or_else(|| error.downcast_ref().map(local_model));
    let known = known.or_else(|| error.downcast_ref().map(fetching));
    let known = known.or_else(|| error.downcast_ref().map(change_model));
    let known = known.or_else(|| error.downcast_ref().map(store));
    let known = known.or_else(|| error.downcast_ref().map(problem));
    let known = known.or_else(|| error.downcast_ref().map(server));
    let known = known.or_else(|| error.downcast_ref().map(data));
    let known = known.or_else(|| error.downcast_ref().map(file));
    let known = known.or_else(|| error.downcast_ref().map(database));
    let known = known.or_else(|| error.downcast_ref().map(parse));
    let known = known.or_else(|| error.downcast_ref().map(keys));
    let known = known.or_else(|| error.downcast_ref().map(unclear));
    let known = known.or_else(|| error.downcast_ref().copied().map(missing_part));
    let known = known.or_else(|| error.downcast_ref().map(ask));
    let known = known.or_else(|| error.downcast_ref().map(unreadable));
    let known = known.or_else(|| error.downcast_ref().map(retrieve));
    let known = known.or_else(|| error.downcast_ref().map(eval));
    let known = known.or_else(|| error.downcast_ref().map(train));
    let known = known.or_else(|| error.downcast_ref().map(misfit));
    let known = known.or_else(|| error.downcast_ref().map(query));
    let known = known.or_else(|| error.downcast_ref().map(parameter));
    let known = known.or_else(|| error.downcast_ref().map(system));
    known.unwrap_or_else(|| foreign(&error.to_string()))
}

fn settings(error: &SettingsError) -> String {
    match error {
        SettingsError::Unreadable { path, .. } => format!("{} 无法读取", path.display()),
        SettingsError::Malformed { path, place, reason } => {
            let place = place.map(|(line, column)| format!(" 第 {line} 行第 {column} 列"));
            let (path, place) = (path.display(), place.unwrap_or_default());
            format!("{path}{place}：{}", settings_fault(reason))
        }
        SettingsError::Untrusted { path, sets, has_changed } => format!(
            "{} {}，而它设置了 {}",
            path.display(),
            if *has_changed { "在信任之后有改动" } else { "未受信任" },
            sets.join("、")
        ),
        SettingsError::NoStateFolder => {
            "无法保存信任记录：XDG_STATE_HOME 与 HOME 都没有指定文件夹".to_owned()
        }
        SettingsError::TrustNotKept { folder, .. } => {
            format!("无法在 {} 中保存信任记录", folder.display())
        }
        SettingsError::NoText { name } => format!("环境变量 {name} 不是 UTF-8 文本"),
        SettingsError::Refused { key, reason } => {
            format!("`{key}` 的值不可用：{}", reason.words().chinese)
        }
        SettingsError::Records(_) => "`[[records]]` 无法使用".to_owned(),
        SettingsError::NoneInFlight => "同时进行的模型调用至少为 1".to_owned(),
    }
}

fn model(error: &ModelError) -> String {
    match error {
        ModelError::Busy { model, .. } => format!("{model} 繁忙或没有回应"),
        ModelError::Unreachable { model, .. } => format!("无法连接 {model}"),
        ModelError::Refused { model, .. } => format!("{model} 拒绝了此请求"),
        ModelError::Denied { model, .. } => format!("{model} 拒绝所有请求"),
        ModelError::NotStarted { model, .. } => format!("无法启动 {model}"),
        ModelError::Broken { model, .. } => format!("{model} 的回复不符合协议"),
        ModelError::OverBudget { cap, spent } => budget(cap, spent),
        ModelError::KeyEnded => "此请求的密钥已撤销或已过期".to_owned(),
        ModelError::NotRecorded { role, model } => {
            format!("重放时不访问网络，而对 {model} 的此 `{role}` 请求没有记录")
        }
        ModelError::Unsupported { model, hint } => {
            format!("{model} 不支持此操作：{}", foreign(hint))
        }
        ModelError::NoLogprobs { model } => format!(
            "{model} 不提供对数概率；需要能提供的模型（vLLM、llama.cpp、OpenAI 的非推理模型）"
        ),
        ModelError::Ledger { .. } => "调用账本出错".to_owned(),
    }
}

fn store(error: &StoreError) -> String {
    match error {
        StoreError::Failed { source, .. }
            if source.is::<BaseProblem>() || source.is::<ServerProblem>() =>
        {
            "操作失败".to_owned()
        }
        StoreError::Failed { what, .. } => format!("操作失败（{what}）"),
        StoreError::Missing { what } => format!("知识库中没有 {what}"),
        StoreError::NoField { field, known } => {
            let known: Vec<String> = known.iter().map(ToString::to_string).collect();
            format!("知识库没有字段 `{field}`；已有：{}", known.join("、"))
        }
        StoreError::Data(error) => data(error),
        StoreError::LeaseLost { job } => format!("任务 {job} 已被停止，或已由其他工作进程接手"),
        StoreError::NotOurs { path, reason } => format!("无法打开 {path}：{}", foreign(reason)),
    }
}

fn data(error: &DataError) -> String {
    match error {
        DataError::NoTable { table, known } => format!("没有表 `{table}`；{}", listed("表", known)),
        DataError::NoColumn { table, column, known } => {
            format!("`{table}` 没有列 `{column}`；{}", listed("列", known))
        }
        DataError::WrongKind { column, kind, .. } => {
            format!("`{column}` 的类型是{}，不能这样使用", kind.words().chinese)
        }
        DataError::TwiceJoined { table } => format!("计划中 `{table}` 出现了两次"),
        DataError::NoMeasure => "计划按度量排序，却没有度量".to_owned(),
        DataError::NoGroup { column } => {
            format!("计划按 `{column}` 给各组排序，而它不能区分各组")
        }
        DataError::TooLong { seconds } => {
            format!("语句在 {seconds} 秒后中止；请缩小范围或先汇总")
        }
        DataError::BadStatement { reason, known } => {
            format!("语句有误（{}）；{}", foreign(reason), listed("表", known))
        }
        DataError::NotAllowed { reason, known } => {
            format!("语句不被允许（{reason}）：只允许对表执行一个 SELECT；{}", listed("表", known))
        }
    }
}

fn listed(what: &str, known: &[String]) -> String {
    const LISTED: usize = 20;
    let shown = known.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join("、");
    match known.len() {
        0 => format!("没有任何{what}"),
        n if LISTED < n => format!("已有{what}：{shown}……（共 {n} 个）"),
        _ => format!("已有{what}：{shown}"),
    }
}

fn file(error: &FileError) -> String {
    match error {
        FileError::Unreadable { reason } => format!("无法读取：{}", foreign(reason)),
        FileError::Missing => "没有这个文件".to_owned(),
        FileError::EmptyFolder => "文件夹中没有文件".to_owned(),
        FileError::NotUtf8 => "文件名不是 UTF-8，按其他编码也得不到唯一的名称".to_owned(),
        FileError::NotRegular => "不是文件，而是链接、文件夹或设备".to_owned(),
        FileError::TooLarge { bytes, most } => format!(
            "大小为 {:.1} MiB，超过上限 {} MiB",
            *bytes as f64 / f64::from(1 << 20),
            most >> 20
        ),
        FileError::Unfolds { most } => format!("解压后超过 {most} MiB"),
        FileError::TooSlow { seconds } => format!("读取超过 {seconds} 秒"),
        FileError::TooMuchWork { seconds } => format!("读取所用处理器时间超过 {seconds} 秒"),
        FileError::TooMuchMemory { mib } => format!("读取所需内存超过 {mib} MiB"),
        FileError::Crashed { reason } => format!("解析器出错（{reason}）；未保留任何内容"),
        FileError::NoParser { reason } => format!("解析器无法使用：{reason}"),
        FileError::Refused(error) => parse(error),
        FileError::NoText => "其中没有文本".to_owned(),
        FileError::Database(fault) => database(fault),
    }
}

fn parse(error: &ParseError) -> String {
    match error {
        ParseError::Empty { name } => format!("`{name}` 是空文件：请检查是否已完整保存或复制"),
        ParseError::TooLarge { name, bytes, limit } => {
            format!("`{name}` 有 {bytes} 字节，超过上限 {limit}：请拆分文件或提高上限")
        }
        ParseError::Unsupported { name, seen, .. } => {
            let is_locked = seen.contains("encrypted") || seen.contains("password");
            match seen.contains("holds something else") {
                true => format!("`{name}` 的内容与其扩展名不符"),
                false if is_locked => format!("`{name}` 已加密：请先解除加密"),
                false => format!("`{name}` 的格式不受支持"),
            }
        }
        ParseError::NoPage { name, page, pages } => {
            format!("`{name}` 有 {pages} 页，没有第 {page} 页")
        }
        ParseError::NotText { name, .. } => {
            format!("`{name}` 不是文本；若是文档，请先转换为文本")
        }
        ParseError::Malformed { name, format, reason } => format!(
            "`{name}` 不能按 {} 读取（{}）；请用相应程序打开并重新保存；若是纯文本，请改名为 .txt",
            format_name(format),
            chinese_reason(reason)
        ),
        ParseError::Redirect { name, to } => {
            format!("`{name}` 只跳转到 {to}：请改为索引该页面")
        }
        ParseError::NothingInside { name } => {
            format!("`{name}` 中没有文本：请检查是否选对了文件")
        }
    }
}

/// A format that a file was read as. Most are names, which both languages share.
fn format_name(english: &str) -> &str {
    match english {
        "a ZIP archive" => "ZIP 压缩文件",
        "an EPUB book" => "EPUB 电子书",
        "an e-mail" => "邮件",
        "a document with any text" => "含有文本的文档",
        other => other,
    }
}

fn keys(error: &KeysError) -> String {
    match error {
        KeysError::Store { path, .. } => format!("{} 中的密钥无法使用", path.display()),
        KeysError::NoKey { id } => format!("没有密钥 `{id}`"),
        KeysError::NoPlace => {
            "没有存放密钥的位置：未设置 `server.keys`，XDG_STATE_HOME 与 HOME 也没有指定文件夹"
                .to_owned()
        }
        KeysError::NoRandom => "系统没有提供随机数，无法创建密钥".to_owned(),
        KeysError::NotWritten { path, .. } => format!("密钥无法写入 {}", path.display()),
    }
}

fn missing_part(missing_part: MissingPart) -> String {
    match missing_part {
        MissingPart::TreeModels => "摘要树需要嵌入模型和对话模型",
        MissingPart::TagModel => "标签需要对话模型",
        MissingPart::TagClasses => "文档中没有找到标签类别，也没有声明",
    }
    .to_owned()
}

fn ask(error: &AskError) -> String {
    match error {
        AskError::Model { role, .. } => format!("`{role}` 的调用失败"),
        AskError::Unreadable { role, reply, reason } => {
            format!("`{role}` 的回复无法解析（{}）：{reply:?}", unreadable(reason))
        }
        AskError::Template { role, .. } => format!("`{role}` 的模板有误"),
    }
}

fn unreadable(reason: &Unreadable) -> String {
    match reason {
        Unreadable::Empty => "回复是空的".to_owned(),
        Unreadable::CutOff { max_tokens } => format!("在 {max_tokens} 个 Token 处被截断"),
        Unreadable::NoObject { keys } => format!("其中没有含 `{keys}` 的 JSON 对象"),
        Unreadable::BadKey { key, expected } => format!("`{key}` 必须是 {expected}"),
    }
}

fn retrieve(error: &RetrieveError) -> String {
    match error {
        RetrieveError::Store(_) => "知识库无法检索",
        RetrieveError::Model(_) => "问题无法嵌入",
        RetrieveError::Rerank(_) => "结果无法重排",
    }
    .to_owned()
}

fn eval(error: &EvalError) -> String {
    match error {
        EvalError::Unreadable { path, .. } => format!("{} 中的问题无法读取", path.display()),
        EvalError::NotAQuestion { path, place, .. } => {
            format!("{} 的此处不是问题（{place}）", path.display())
        }
        EvalError::NoAnswer { path, place, id } => {
            format!("{} 的问题 `{id}` 没有标准答案（{place}）", path.display())
        }
        EvalError::SameId { path, place, id, first } => {
            format!("{} 的问题 `{id}` 重复（{place}；{first}）", path.display())
        }
        EvalError::UnknownFormat { path, known } => {
            format!("{} 的格式未知；可用：{known}", path.display())
        }
        EvalError::NoSuchFormat { name, known } => format!("没有格式 `{name}`；可用：{known}"),
        EvalError::BadMethod { label, part } => {
            format!("`{label}` 中的 `{part}` 不是参数；请写作 `method:name=value`")
        }
        EvalError::NoSuchPreset { name, known } => format!("没有预设 `{name}`；可用：{known}"),
        EvalError::NoDataSet { name, folder, names } => {
            format!("{} 中没有数据集 `{name}`；已查找 {names}", folder.display())
        }
        EvalError::Data { file, .. } => format!("内置文件 `{file}` 有误"),
        EvalError::Page { .. } => "报告无法写成网页".to_owned(),
        EvalError::Report { .. } => "报告无法写成 JSON".to_owned(),
    }
}

fn train(error: &TrainError) -> String {
    match error {
        TrainError::Unreadable { path, .. } => format!("{} 无法读取", path.display()),
        TrainError::ForeignLine { path, line, .. } => {
            format!("{} 第 {line} 行不是 `train` 写出的内容", path.display())
        }
        TrainError::Mixed { path, holds } => {
            let holds = if *holds == "labels" { "标注" } else { "轨迹" };
            format!("{} 中是{holds}；轨迹与标注请分开导出", path.display())
        }
        TrainError::NoDecompositions { path } => format!(
            "{} 没有问题分解：没有记录带有 `question_decomposition` 或 `decomposition`",
            path.display()
        ),
        TrainError::NoQuestions => "没有给出问题文件".to_owned(),
        TrainError::JudgeOfRuns => "已保存的运行不由模型评判".to_owned(),
        TrainError::NothingRight { trajectories } => {
            format!("{trajectories} 条轨迹中没有一条得出正确回答")
        }
        TrainError::Connected { largest, questions } => {
            format!("{questions} 个问题中有 {largest} 个因共用文档而相连，无法按文档划分")
        }
    }
}

fn misfit(error: &Misfit) -> String {
    match error {
        Misfit::Empty => "要更正的段落中没有词".to_owned(),
        Misfit::NotThere => "所读文本中没有此段落".to_owned(),
        Misfit::Unclear(n) => format!("此段落出现了 {n} 次：请多给出一些上下文"),
        Misfit::Across => "此段落跨越多个段落或单元格：请分别更正".to_owned(),
    }
}

fn query(error: &QueryError) -> String {
    match error {
        QueryError::NoField(name) => format!("这些记录没有字段 `{name}`"),
        QueryError::WrongType { field, kind, .. } => {
            format!("`{field}` 的类型是 {kind}，不能这样使用")
        }
        QueryError::TooManyGroups => "分组的字段过多".to_owned(),
        QueryError::Engine(_) => "记录无法计算".to_owned(),
    }
}

fn parameter(error: &BadParameter) -> String {
    match error {
        BadParameter::Unknown { name, known, .. } => {
            format!("没有参数 `{name}`；可用：{known}")
        }
        BadParameter::OutOfRange { name, range, value, .. } => {
            format!("`{name}` 必须是 {}，而不是 {value}", range.words().chinese)
        }
    }
}
