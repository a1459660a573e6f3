//! `methods`: which ways to answer are there?

use pikerag_engine::parts::{Description, WithoutModel};
use pikerag_engine::{MethodResponse, Session};
use serde_json::Value;

use crate::cli::Methods;
use crate::output::{say, say_json};
use crate::render::count;

pub(crate) fn methods(session: &Session, json: bool, arguments: &Methods) -> anyhow::Result<u8> {
    if let Some(name) = &arguments.name {
        return one(json, &pikerag_engine::method_by_name(session, name)?);
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
            let without = without_model(method.without_model);
            say(&format!("{name:widest$}  {}", summary(method)));
            say(&format!("{:widest$}  {source}; without a model: {without}", ""));
        }
    }
    Ok(0)
}

/// The table of docs/methods.md; `cargo xtask docs` puts it there.
fn table(methods: &[Description]) -> String {
    let mut lines = vec![
        "| name | in short | source | without a model |".to_owned(),
        "| --- | --- | --- | --- |".to_owned(),
    ];
    for method in methods {
        let without = without_model(method.without_model);
        let cells = [&summary(method), method.source, without].map(|cell| cell.replace('|', "\\|"));
        lines.push(format!("| `{}` | {} |", method.name, cells.join(" | ")));
    }
    lines.join("\n")
}

fn summary(method: &Description) -> String {
    let needs = method.needs.map(|structure| format!(". Needs `index --with {structure}`"));
    format!("{}{}", method.summary, needs.unwrap_or_default())
}

fn without_model(without: WithoutModel) -> &'static str {
    match without {
        WithoutModel::HopRetrieval => "on hop retrieval",
        WithoutModel::Quotes => "quotes",
        WithoutModel::Fails => "no",
    }
}

fn one(json: bool, method: &MethodResponse) -> anyhow::Result<u8> {
    if json {
        return say_json(method);
    }
    let MethodResponse { description, set, cost } = method;
    say(&format!("{}: {}", description.name, summary(description)));
    say(&format!("source: {}", description.source));
    let roles: Vec<String> = description.roles.iter().map(ToString::to_string).collect();
    say(&format!("asks the models for: {}", roles.join(", ")));
    say(&format!("without a model: {}", without_model(description.without_model)));
    if !description.parameters.is_empty() {
        let name = description.name;
        say(&format!("parameters, in [methods.{name}] or for all that have them in [methods]:"));
    }
    for parameter in &description.parameters {
        let (now, default) = (value(set.get(parameter.name)), value(Some(&parameter.default)));
        let default =
            if now == default { String::new() } else { format!(", by default {default}") };
        say(&format!(
            "  {} = {now}{default} ({}): {}",
            parameter.name, parameter.range, parameter.meaning
        ));
    }
    say(&format!(
        "one question: {:.1} calls as it usually goes; at most {}, where every reply is read at once",
        cost.calls,
        count(usize::try_from(cost.most_calls)?, "call")
    ));
    say(&format!(
        "one call: about {} tokens and {:.1} chunks in the prompt, {} tokens in the reply",
        cost.fixed, cost.chunks, cost.reply
    ));
    say(&format!("told from: {}", cost.basis));
    Ok(0)
}

/// A parameter's value. Scores have the digits of single precision.
fn value(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "unset".to_owned(),
        Some(number) if number.is_f64() => (number.as_f64().unwrap_or_default() as f32).to_string(),
        Some(other) => other.to_string(),
    }
}
