//! Runs `methods`: lists the methods, or shows one with its parameters and its cost.

mod chinese;

use pikerag_engine::narrate::{InWords, Language, Words};
use pikerag_engine::parts::{Description, WithoutModel};
use pikerag_engine::{MethodResponse, Session};
use serde_json::Value;

use crate::cli::Methods;
use crate::output::{Output, say, say_json};
use crate::render::count;

pub(crate) fn methods(
    session: &Session,
    output: Output,
    arguments: &Methods,
) -> anyhow::Result<u8> {
    let Output { json, language } = output;
    if let Some(name) = &arguments.name {
        return one(output, &pikerag_engine::method_by_name(session, name)?);
    }
    let methods = pikerag_engine::methods();
    if json {
        say_json(&methods)?;
    } else if arguments.markdown {
        say(&table(&methods));
    } else {
        let widest = methods.iter().map(|method| method.name.len()).max().unwrap_or_default();
        for method in &methods {
            let Description { name, source, .. } = method;
            let without = without_model(method.without_model, language);
            say(&format!("{name:widest$}  {}", summary(method, language)));
            output.say(
                format!("{:widest$}  {source}; without a model: {without}", ""),
                format!("{:widest$}  出处：{}；没有模型时：{without}", "", chinese::source(source)),
            );
        }
    }
    Ok(0)
}

/// The table of docs/reference/methods.md; `cargo xtask docs` puts it there.
fn table(methods: &[Description]) -> String {
    let mut lines = vec![
        "| name | in short | source | without a model |".to_owned(),
        "| --- | --- | --- | --- |".to_owned(),
    ];
    for method in methods {
        let without = without_model(method.without_model, Language::English);
        let cells = [&summary(method, Language::English), method.source, without]
            .map(|cell| cell.replace('|', "\\|"));
        lines.push(format!("| `{}` | {} |", method.name, cells.join(" | ")));
    }
    lines.join("\n")
}

/// The summary of a method, and the structure that it needs.
fn summary(method: &Description, language: Language) -> String {
    let needs = |structure| {
        Words::new(
            format!(". Needs `index --with {structure}`"),
            format!("。需要 `index --with {structure}`"),
        )
        .of(language)
    };
    let text = match language {
        Language::English => method.summary,
        Language::Chinese => chinese::summary(method.name).unwrap_or(method.summary),
    };
    format!("{text}{}", method.needs.map(needs).unwrap_or_default())
}

fn without_model(without: WithoutModel, language: Language) -> &'static str {
    match without {
        WithoutModel::HopRetrieval => language.either("on hop retrieval", "跳转检索"),
        WithoutModel::Quotes => language.either("quotes", "摘录原文"),
        WithoutModel::Fails => language.either("no", "不可用"),
    }
}

fn one(output: Output, method: &MethodResponse) -> anyhow::Result<u8> {
    let Output { json, language } = output;
    if json {
        return say_json(method);
    }
    let MethodResponse { description, set, cost } = method;
    let (name, source) = (description.name, description.source);
    let (summary, colon) = (summary(description, language), language.either(": ", "："));
    say(&format!("{name}{colon}{summary}"));
    output.say(format!("source: {source}"), format!("出处：{}", chinese::source(source)));
    let roles: Vec<String> = description.roles.iter().map(ToString::to_string).collect();
    let roles = roles.join(language.either(", ", "、"));
    output.say(format!("asks the models for: {roles}"), format!("所用的模型角色：{roles}"));
    let without = without_model(description.without_model, language);
    output.say(format!("without a model: {without}"), format!("没有模型时：{without}"));
    if !description.parameters.is_empty() {
        output.say(
            format!("parameters, in [methods.{name}], or in [methods] for all methods:"),
            format!("参数，写在 [methods.{name}] 中，或写在 [methods] 中供所有方法使用："),
        );
    }
    for parameter in &description.parameters {
        let now = value(set.get(parameter.name), language);
        let default = value(Some(&parameter.default), language);
        let (usual, chinese) = match now == default {
            true => Default::default(),
            false => (format!(", by default {default}"), format!("，默认为 {default}")),
        };
        let (name, range, meaning) = (parameter.name, parameter.range.words(), parameter.meaning);
        let meaning = match language {
            Language::English => meaning,
            Language::Chinese => chinese::meaning(name).unwrap_or(meaning),
        };
        output.say(
            format!("  {name} = {now}{usual} ({}): {meaning}", range.english),
            format!("  {name} = {now}{chinese}（{}）：{meaning}", range.chinese),
        );
    }
    let (typical, most) = (cost.calls, usize::try_from(cost.most_calls)?);
    output.say(
        format!(
            "one question: {typical:.1} calls typically; at most {}, if every reply is readable",
            count(most, "call")
        ),
        format!("每个问题：通常 {typical:.1} 次调用；若每个回复均可解析，最多 {most} 次"),
    );
    let (fixed, chunks, reply) = (cost.fixed, cost.chunks, cost.reply);
    output.say(
        format!(
            "one call: about {fixed} tokens and {chunks:.1} chunks in the prompt, {reply} tokens in the reply"
        ),
        format!("每次调用：提示约 {fixed} 个 Token 与 {chunks:.1} 个文本块，回复 {reply} 个 Token"),
    );
    let basis = &cost.basis;
    output.say(format!("based on: {basis}"), "依据：此方法的算法与论文中的数字");
    Ok(0)
}

/// A parameter's value. Scores have the digits of single precision.
fn value(value: Option<&Value>, language: Language) -> String {
    match value {
        None | Some(Value::Null) => language.either("unset", "未设置").to_owned(),
        Some(number) if number.is_f64() => (number.as_f64().unwrap_or_default() as f32).to_string(),
        Some(other) => other.to_string(),
    }
}
