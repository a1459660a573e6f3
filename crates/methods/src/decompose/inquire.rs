//! Asks a model to read a question as a query over records. The model sees the schemas with some of their
//! values, and its reply is checked against them.

use std::fmt::Write;

use pikerag_knowledge::records::{FieldType, Quantity};
use pikerag_knowledge::tables::{By, Condition, Frame, Group, Measure, Order, RecordQuery, Test};
use pikerag_knowledge::{ChatModel, Question, RecordSchema, Role, Schema};
use pikerag_language::fold::folded;
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, closed, object, one_line, or_null, quiet_headings,
    shape, text,
};
use pikerag_records::unify::canonical_name;
use serde_json::{Value as Json, json};

use crate::run::Run;
use pikerag_records::inquiry::{Form, Inquiry, Source};

const PROMPT: Prompt = Prompt::new(Role::Decompose, include_str!("prompts/inquire.md"), 600)
    .with_earlier("methods/inquire", &[include_str!("prompts/earlier/inquire.1.md")]);
/// Values of a field that are shown, at most.
const SHOWN: usize = 8;
/// Characters of one of them, at most.
const VALUE: usize = 40;
/// The tests of a condition, and the measures, as the prompt names them.
const TESTS: [&str; 10] =
    ["equals", "contains", "from", "to", "at_least", "above", "at_most", "below", "true", "false"];
const MEASURES: [&str; 7] = ["count", "different", "sum", "mean", "least", "greatest", "list"];

/// Asks a model for the query. `None` where no records can answer the question, or the reply fits no schema.
///
/// # Errors
/// The call failed.
pub(crate) async fn inquire(
    model: &dyn ChatModel,
    question: &Question,
    sources: &[Source<'_>],
    run: &mut Run,
) -> Result<Option<Inquiry>, AskError> {
    let records: Vec<String> = sources.iter().map(shown).collect();
    let records = quiet_headings(&records.join("\n"));
    let asked = quiet_headings(question.query());
    let inputs = [("records", records.as_str()), ("question", asked.as_str())];
    let reply = ask::<QueryReply>(model, &PROMPT, &inputs, &mut run.account).await;
    let reply = run.readable(Role::Decompose, reply)?;
    Ok(reply.and_then(|reply| fit_query(&reply.0, sources)))
}

fn shown(source: &Source<'_>) -> String {
    let Source { schema, frame, .. } = source;
    let mut shown = format!("{}: {}\n", schema.name, one_line(&schema.description));
    for field in &schema.fields {
        let mut values: Vec<String> = Vec::new();
        for thing in 0..frame.things.len() {
            let Some(cell) = frame.cell(thing, &field.name) else { continue };
            let value: String = cell.value.to_string().chars().take(VALUE).collect();
            if SHOWN <= values.len() {
                break;
            }
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let values = one_line(&values.join(" | "));
        let _ = writeln!(shown, "  {} ({}), such as {values}", field.name, field.kind.as_str());
    }
    shown
}

/// A reply as an object; its content is checked against the schemas later.
struct QueryReply(Json);

impl Reply for QueryReply {
    fn schema() -> Option<Schema> {
        let word = || json!({"type": "string"});
        let word_or_null = || json!({"type": ["string", "null"]});
        let number_or_null = || json!({"type": ["integer", "null"]});
        let one_of = |words: &[&str]| json!({"type": "string", "enum": words});
        let condition = closed(json!({"field": word(), "is": one_of(&TESTS), "value": word()}));
        let group =
            closed(json!({"field": word(), "by": one_of(&["value", "year", "quarter", "month"])}));
        let measure = closed(json!({"what": one_of(&MEASURES), "field": word_or_null()}));
        let ahead = closed(json!({
            "by": one_of(&["year", "quarter", "month"]),
            "until": word_or_null(),
            "periods": number_or_null()
        }));
        Some(shape(
            "records_query",
            json!({
                "schema": word_or_null(),
                "conditions": {"type": "array", "items": condition},
                "group": {"type": "array", "items": group, "maxItems": RecordQuery::MOST_GROUPS},
                "measure": measure,
                "order": one_of(&["key", "greatest", "least"]),
                "limit": number_or_null(),
                "ahead": or_null(ahead)
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        object(reply, &["schema"]).map(Self)
    }
}

/// The query of a reply, as far as it fits the schema that it names.
fn fit_query(reply: &Json, sources: &[Source<'_>]) -> Option<Inquiry> {
    let name = text(reply, "schema").ok()?;
    let at = sources.iter().position(|source| source.schema.name == name)?;
    let Source { schema, frame, .. } = sources.get(at)?;
    let list = |key: &str| reply.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
    let mut query = RecordQuery::default();
    for condition in list("conditions") {
        // Without the unreadable condition it would be another question.
        query.conditions.push(condition_of(schema, frame, &condition)?);
    }
    for group in list("group").iter().take(RecordQuery::MOST_GROUPS) {
        let field = schema.field(text(group, "field").ok()?.as_str())?;
        let by = match field.kind {
            FieldType::Date => by_of(&text(group, "by").unwrap_or_default()),
            _ => By::Value,
        };
        query.group.push(Group { field: field.name.clone(), by });
    }
    let measure = reply.get("measure");
    let what = measure.and_then(|measure| text(measure, "what").ok()).unwrap_or_default();
    let of = measure.and_then(|measure| text(measure, "field").ok());
    let field = of.and_then(|name| schema.field(&name));
    // Nothing else can be computed: durations in words are text where the schema says so.
    let number = field.filter(|field| field.kind == FieldType::Number);
    let (field, number) =
        (field.map(|field| field.name.clone()), number.map(|field| field.name.clone()));
    let mut form = Form::Figures;
    query.measure = match what.as_str() {
        "different" => Measure::Different(field?),
        "sum" => Measure::Sum(number?),
        "mean" => Measure::Mean(number?),
        "least" => Measure::Least(number?),
        "greatest" => Measure::Greatest(number?),
        "list" => {
            form = Form::List;
            Measure::Count
        }
        _ => Measure::Count,
    };
    query.order = match text(reply, "order").unwrap_or_default().as_str() {
        "greatest" => Order::Greatest,
        "least" => Order::Least,
        _ => Order::Key,
    };
    let whole =
        |value: Option<&Json>| value.and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok());
    query.limit = whole(reply.get("limit")).filter(|limit| 0 < *limit);
    if let Some(ahead) = reply.get("ahead").filter(|ahead| ahead.is_object()) {
        let date = schema.fields.iter().find(|field| field.kind == FieldType::Date)?.name.clone();
        query.group.clear();
        (query.order, query.limit) = (Order::Key, None);
        // No record meets a condition on days to come.
        query.conditions.retain(|condition| condition.field != date);
        let until =
            text(ahead, "until").ok().filter(|day| pikerag_records::series::day(day).is_some());
        let by = by_of(&text(ahead, "by").unwrap_or_default());
        let periods = whole(ahead.get("periods")).unwrap_or(1).max(1);
        form =
            Form::Series { date, by: if by == By::Value { By::Year } else { by }, until, periods };
    }
    Some(Inquiry { schema: at, query, form, unexplained: Vec::new(), fit: 1 })
}

fn by_of(name: &str) -> By {
    match name {
        "year" => By::Year,
        "quarter" => By::Quarter,
        "month" => By::Month,
        _ => By::Value,
    }
}

fn condition_of(schema: &RecordSchema, frame: &Frame, reply: &Json) -> Option<Condition> {
    let field = schema.field(text(reply, "field").ok()?.as_str())?;
    let value = match reply.get("value") {
        Some(Json::String(value)) => value.clone(),
        Some(Json::Number(value)) => value.to_string(),
        _ => String::new(),
    };
    let is = text(reply, "is").unwrap_or_default();
    let number = || -> Option<Quantity> {
        let amount = value.trim().parse::<f64>().ok().filter(|amount| amount.is_finite())?;
        let unit = (0..frame.things.len()).find_map(|thing| {
            match &frame.cell(thing, &field.name)?.value {
                pikerag_knowledge::Value::Number(number) => number.unit.clone(),
                _ => None,
            }
        });
        Some(Quantity { amount, unit })
    };
    let day = |end: &str| {
        let day = match value.len() {
            4 => format!("{value}{}", if end == "from" { "-01-01" } else { "-12-31" }),
            7 => format!("{value}{}", if end == "from" { "-01" } else { "-31" }),
            _ => value.clone(),
        };
        (day.len() == 10 && day.starts_with(|c: char| c.is_ascii_digit())).then_some(day)
    };
    let test = match (is.as_str(), field.kind) {
        ("equals", FieldType::Text) => Test::Is(folded(canonical_name(field, &value))),
        ("contains", FieldType::Text) => Test::Holds(folded(&value)),
        ("from", FieldType::Date) => Test::Between { from: Some(day("from")?), to: None },
        ("to", FieldType::Date) => Test::Between { from: None, to: Some(day("to")?) },
        ("equals" | "contains", FieldType::Date) => {
            Test::Between { from: Some(day("from")?), to: Some(day("to")?) }
        }
        ("at_least", FieldType::Number) => Test::AtLeast(number()?),
        ("above", FieldType::Number) => Test::Above(number()?),
        ("at_most", FieldType::Number) => Test::AtMost(number()?),
        ("below", FieldType::Number) => Test::Below(number()?),
        ("true", FieldType::Bool) => Test::IsTrue(true),
        ("false", FieldType::Bool) => Test::IsTrue(false),
        _ => return None,
    };
    Some(Condition { field: field.name.clone(), test })
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { any_reply: QueryReply }

#[cfg(test)]
mod tests {
    use super::*;

    /// Each word of the schema occurs in the text, and the other way round.
    #[test]
    fn text_and_schema_name_the_same_words() {
        let task = PROMPT.template.split("# Output format").next().unwrap();
        let schema = QueryReply::schema().unwrap().schema;
        for key in schema["properties"].as_object().unwrap().keys() {
            assert!(task.contains(&format!("\"{key}\"")), "{key}");
        }
        for word in TESTS.iter().chain(&MEASURES) {
            assert!(task.contains(&format!("\"{word}\"")), "{word}");
        }
        let most = format!("at most {}", RecordQuery::MOST_GROUPS);
        assert!(task.contains(&most), "{most}");
        assert_eq!(schema["properties"]["ahead"]["type"], json!(["object", "null"]));
    }
}
