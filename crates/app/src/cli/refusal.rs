//! Words the reasons why a command line is refused.

use std::error::Error as _;
use std::fmt::Write;
use std::num::{IntErrorKind, ParseIntError};

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use pikerag_engine::BadGlob;
use pikerag_engine::knowledge::{BadFilter, UnknownClass, UnknownLevel};
use pikerag_engine::narrate::{InWords, Language};

use super::misuse::Misuse;
use super::value::BadValue;
use super::{Arguments, chinese};

/// The reason why the arguments are not used: they ask for help, are unknown, or do not fit together.
pub(crate) enum Refusal {
    /// The parser refuses them, or shows help.
    Parser(Error),
    /// Each is valid, but not with the others.
    Misuse(Misuse),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Parser(error)
    }
}

impl Refusal {
    /// The help or the version, if that was asked for.
    pub(crate) fn help(&self) -> Option<&Error> {
        match self {
            Self::Parser(error) if !error.use_stderr() => Some(error),
            _ => None,
        }
    }

    /// The message, with the usage of the command.
    pub(crate) fn message(&self, language: Language) -> String {
        match (self, language) {
            (Self::Parser(error), Language::English) => error.render().to_string(),
            (Self::Parser(error), Language::Chinese) => in_chinese(error),
            (Self::Misuse(misuse), Language::English) => Arguments::command()
                .error(ErrorKind::ValueValidation, misuse.words().english)
                .render()
                .to_string(),
            (Self::Misuse(misuse), Language::Chinese) => {
                let usage = super::command(Language::Chinese).render_usage().to_string();
                format!("错误：{}{}", misuse.words().chinese, ending(Some(&usage)))
            }
        }
    }
}

/// What the parser says, as its own formatter does in English.
fn in_chinese(error: &Error) -> String {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::DisplayVersion
    ) {
        return error.render().to_string();
    }
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => Some(usage.to_string()),
        _ => None,
    };
    format!("错误：{}{}{}", reason(error), tips(error), ending(usage.as_deref()))
}

fn ending(usage: Option<&str>) -> String {
    let usage = usage.map(|usage| format!("\n\n用法：{}", chinese::usage(usage)));
    format!("{}\n\n更多信息请用 `--help` 查看。", usage.unwrap_or_default())
}

fn reason(error: &Error) -> String {
    let argument = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::ArgumentConflict => conflict(error, &argument),
        ErrorKind::NoEquals => format!("`{argument}` 的值前需要等号"),
        ErrorKind::InvalidValue if value.is_empty() => format!(
            "`{argument}` 缺少值{}",
            listed("可选值", &texts(error, ContextKind::ValidValue))
        ),
        ErrorKind::InvalidValue => format!(
            "`{argument}` 的值 `{value}` 无效{}",
            listed("可选值", &texts(error, ContextKind::ValidValue))
        ),
        ErrorKind::ValueValidation => {
            format!("`{argument}` 的值 `{value}` 无效{}", cause(error))
        }
        ErrorKind::InvalidSubcommand => format!(
            "没有命令 `{}`",
            text(error, ContextKind::InvalidSubcommand).unwrap_or_default()
        ),
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(error, ContextKind::InvalidArg);
            format!("缺少必需的参数：{}", missing.join(" "))
        }
        ErrorKind::MissingSubcommand => format!(
            "`{}` 后缺少命令",
            text(error, ContextKind::InvalidSubcommand).unwrap_or_default()
        ),
        ErrorKind::UnknownArgument => format!("没有参数 `{argument}`"),
        ErrorKind::TooManyValues => format!("`{argument}` 多了值 `{value}`"),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("`{argument}` 的值的个数不对")
        }
        ErrorKind::InvalidUtf8 => "参数不是 UTF-8 文本".to_owned(),
        _ => format!("命令行无法解析：{}", error.kind()),
    }
}

fn conflict(error: &Error, argument: &str) -> String {
    let command = text(error, ContextKind::InvalidSubcommand);
    let this = command.unwrap_or_else(|| argument.to_owned());
    let others = texts(error, ContextKind::PriorArg);
    match others.as_slice() {
        [other] if *other == this => format!("`{this}` 只能给出一次"),
        [] => format!("`{this}` 不能与其他参数合用"),
        others => format!("`{this}` 不能与 {} 合用", quoted(others)),
    }
}

/// Why a value is refused, after a colon.
fn cause(error: &Error) -> String {
    let Some(source) = error.source() else { return String::new() };
    let words = if let Some(bad) = source.downcast_ref::<BadValue>() {
        bad.words().chinese
    } else if let Some(bad) = source.downcast_ref::<ParseIntError>() {
        not_a_number(*bad.kind()).to_owned()
    } else if let Some(bad) = source.downcast_ref::<BadFilter>() {
        filter(bad)
    } else if let Some(BadGlob { glob, reason }) = source.downcast_ref::<BadGlob>() {
        format!("`{glob}` 不是有效的通配模式：`{reason}`")
    } else if source.is::<UnknownClass>() {
        "没有此问题类别；可选 factual、bridging、comparative、quantitative、summarizing、predictive、creative"
            .to_owned()
    } else if source.is::<UnknownLevel>() {
        "没有此级别；可选 L0、L1、L2、L3、L4".to_owned()
    } else {
        // clap's words of a range.
        source.to_string().replace(" is not in ", " 不在范围内：")
    };
    format!("：{words}")
}

fn not_a_number(kind: IntErrorKind) -> &'static str {
    match kind {
        IntErrorKind::PosOverflow => "数字过大",
        IntErrorKind::NegOverflow => "数字过小",
        IntErrorKind::Zero => "必须大于 0",
        _ => "不是非负整数",
    }
}

fn filter(bad: &BadFilter) -> String {
    match bad {
        BadFilter::NoComparison { .. } => {
            "没有比较；过滤条件写作 FIELD=VALUE，或用 <、<=、>、>= 连接字段与值".to_owned()
        }
        BadFilter::NoField { field } => format!(
            "没有可过滤的字段 `{field}`；可用 source、folder、date、meta:NAME、tag:CLASS、record:SCHEMA.FIELD"
        ),
        BadFilter::NoValue { .. } => "没有给出值".to_owned(),
        BadFilter::Unordered { field } => format!("`{field}` 只能用 = 比较"),
        BadFilter::NoDate { value } => {
            format!("`{value}` 不是日期；请写作 2020-01-31、2020-01 或 2020")
        }
    }
}

/// What may have been meant.
fn tips(error: &Error) -> String {
    let mut tips = String::new();
    for kind in
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
    {
        let meant = texts(error, kind);
        if !meant.is_empty() {
            let _ = write!(tips, "\n\n  提示：相近的有 {}", quoted(&meant));
        }
    }
    let argument = text(error, ContextKind::InvalidArg).filter(|_| {
        error.kind() == ErrorKind::UnknownArgument && error.get(ContextKind::Suggested).is_some()
    });
    if let Some(argument) = argument {
        let _ = write!(tips, "\n\n  提示：若 `{argument}` 是一个值，请写作 `-- {argument}`");
    }
    tips
}

fn listed(name: &str, values: &[String]) -> String {
    match values {
        [] => String::new(),
        values => format!("\n  [{name}：{}]", values.join("、")),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join("、")
}

/// A text that belongs to an error.
fn text(error: &Error, kind: ContextKind) -> Option<String> {
    texts(error, kind).into_iter().next()
}

fn texts(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}
