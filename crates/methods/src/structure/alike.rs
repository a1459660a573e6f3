//! Asks a model which values of a field mean the same, because texts write one thing in several words and languages
//! (PIKE-RAG §5.4).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use pikerag_knowledge::tables::{Frame, Measure, RecordQuery, Test};
use pikerag_knowledge::{
    ChatModel, Event, Note, Question, RecordSchema, Role, Schema, records::FieldType,
};
use pikerag_language::fold::folded;
use pikerag_language::is_chinese;
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, closed, object, one_line, quiet_headings, shape, text,
};
use serde_json::{Value as Json, json};

use crate::run::Run;

const PROMPT: Prompt = Prompt::new(Role::Decompose, include_str!("../prompts/alike.md"), 1024)
    .with_earlier("methods/alike", &[include_str!("../prompts/earlier/alike.1.md")]);
/// Values of a field that are compared, at most.
const VALUES: usize = 100;
/// Characters of a value that are shown.
const SHOWN: usize = 100;

/// The values of a field; the first one is wanted by a condition if `is_wanted`.
struct Compared {
    field: String,
    is_key: bool,
    is_wanted: bool,
    values: Vec<String>,
}

/// Adds to the fields of `schema` which of their values are the same, and makes the conditions of `query` ask for them; the
/// trace notes them. Whether anything was added.
///
/// # Errors
/// The call failed.
pub(super) async fn unite_values(
    model: &dyn ChatModel,
    question: &Question,
    frame: &Frame,
    schema: &mut RecordSchema,
    query: &mut RecordQuery,
    run: &mut Run,
) -> Result<bool, AskError> {
    let compared = compared(schema, frame, query);
    if compared.is_empty() {
        return Ok(false);
    }
    let (fields, asked) = (shown(&compared), quiet_headings(question.query()));
    let inputs = [("question", asked.as_str()), ("fields", fields.as_str())];
    let reply = ask::<AlikeReply>(model, &PROMPT, &inputs, &mut run.account).await;
    let Some(AlikeReply(groups)) = run.readable(Role::Decompose, reply)? else { return Ok(false) };
    let mut is_changed = false;
    for compared in &compared {
        let Some(given) = groups.get(&compared.field) else { continue };
        let lists = lists(compared, given);
        let Some(field) = schema.fields.iter_mut().find(|field| field.name == compared.field)
        else {
            continue;
        };
        for values in &lists {
            run.push(Event::Noted {
                note: Note::TakesAsSame { field: field.name.clone(), values: values.clone() }
                    .into(),
            });
        }
        is_changed |= !lists.is_empty();
        if let Some(wanted) = compared.values.first().filter(|_| compared.is_wanted) {
            ask_for(query, &field.name, wanted, &lists);
        }
        field.same = lists;
    }
    Ok(is_changed)
}

/// The text fields whose values decide the figure, as far as they have two different ones.
fn compared(schema: &RecordSchema, frame: &Frame, query: &RecordQuery) -> Vec<Compared> {
    let wanted = |name: &str| {
        query.conditions.iter().find_map(|condition| match &condition.test {
            Test::Is(text) | Test::Holds(text) if condition.field == name => Some(text.clone()),
            _ => None,
        })
    };
    let measured = match &query.measure {
        Measure::Different(field) => Some(field),
        _ => None,
    };
    let mut all = Vec::new();
    for field in schema.fields.iter().filter(|field| field.kind == FieldType::Text) {
        let (is_key, wanted) = (schema.key.contains(&field.name), wanted(&field.name));
        let is_grouped = query.group.iter().any(|group| group.field == field.name);
        if !is_key && !is_grouped && wanted.is_none() && measured != Some(&field.name) {
            continue;
        }
        let mut seen = BTreeSet::new();
        let mut values = Vec::new();
        let is_wanted = wanted.is_some();
        if let Some(wanted) = wanted {
            seen.insert(wanted.clone());
            // As a text writes it, if one does.
            let cells = (0..frame.things.len()).filter_map(|thing| frame.cell(thing, &field.name));
            let written =
                cells.filter(|cell| cell.folded == wanted).map(|cell| cell.value.to_string());
            values.push(written.min().unwrap_or_else(|| unfolded(&wanted)));
        }
        for thing in 0..frame.things.len() {
            let Some(cell) = frame.cell(thing, &field.name) else { continue };
            if values.len() < VALUES && seen.insert(cell.folded.clone()) {
                values.push(cell.value.to_string());
            }
        }
        if 1 < values.len() {
            all.push(Compared { field: field.name.clone(), is_key, is_wanted, values });
        }
    }
    all
}

/// Folded text as people write it: folding puts spaces between Chinese characters.
fn unfolded(text: &str) -> String {
    let is_spaced = text.chars().any(|c| !is_chinese(c) && c != ' ');
    if is_spaced { text.to_owned() } else { text.replace(' ', "") }
}

fn shown(compared: &[Compared]) -> String {
    let mut shown = String::new();
    for Compared { field, is_wanted, values, .. } in compared {
        let _ = writeln!(shown, "{field}:");
        for (place, value) in values.iter().enumerate() {
            let value: String = one_line(value).chars().take(SHOWN).collect();
            let (number, mark) = match is_wanted {
                true if place == 0 => (0, " (wanted)"),
                true => (place, ""),
                false => (place + 1, ""),
            };
            let _ = writeln!(shown, "  {number}. {value}{mark}");
        }
    }
    quiet_headings(&shown)
}

/// The lists of values that a reply puts together, without those whose numbers differ: `pump 3` is not `pump 4`. Each value
/// is in one list at most, and the first of a list represents it.
fn lists(compared: &Compared, given: &[Vec<usize>]) -> Vec<Vec<String>> {
    let (mut lists, mut used) = (Vec::new(), BTreeSet::new());
    for numbers in given {
        let mut places: Vec<usize> = numbers
            .iter()
            .filter_map(
                |number| if compared.is_wanted { Some(*number) } else { number.checked_sub(1) },
            )
            .filter(|place| *place < compared.values.len() && !used.contains(place))
            .collect();
        places.sort_unstable();
        places.dedup();
        let Some(first) = places.first().and_then(|place| compared.values.get(*place)) else {
            continue;
        };
        let is_wanted = compared.is_wanted && places.first() == Some(&0);
        let digits = digits(first);
        let is_same = |place: &usize| {
            let Some(value) = compared.values.get(*place) else { return false };
            let own = self::digits(value);
            // A case of the wanted value may say more than it.
            let says_more =
                is_wanted && !compared.is_key && digits.iter().all(|number| own.contains(number));
            own == digits || says_more
        };
        places.retain(is_same);
        if places.len() < 2 {
            continue;
        }
        used.extend(places.iter().copied());
        lists
            .push(places.iter().filter_map(|place| compared.values.get(*place).cloned()).collect());
    }
    lists
}

/// The numbers in a text, sorted.
fn digits(text: &str) -> Vec<String> {
    let runs = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    let mut digits: Vec<String> = runs.map(str::to_owned).collect();
    digits.sort();
    digits
}

/// Makes the conditions on a field ask for the value that represents the wanted one.
fn ask_for(query: &mut RecordQuery, field: &str, wanted: &str, lists: &[Vec<String>]) {
    let has_cases = lists.iter().any(|values| values.first().is_some_and(|first| first == wanted));
    if !has_cases {
        return;
    }
    for condition in query.conditions.iter_mut().filter(|condition| condition.field == field) {
        if let Test::Is(text) | Test::Holds(text) = &condition.test
            && *text == folded(wanted)
        {
            condition.test = Test::Is(folded(wanted));
        }
    }
}

/// For each field, the groups of its values by their numbers.
struct AlikeReply(BTreeMap<String, Vec<Vec<usize>>>);

impl Reply for AlikeReply {
    fn schema() -> Option<Schema> {
        let numbers = json!({"type": "array", "items": {"type": "integer"}});
        let same = json!({"type": "array", "items": numbers});
        let field = closed(json!({"field": {"type": "string"}, "same": same}));
        Some(shape("alike", json!({"fields": {"type": "array", "items": field}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["fields"])?;
        let Some(Json::Array(fields)) = object.get("fields") else {
            return Err(Unreadable::key("fields", "a list of objects"));
        };
        let number =
            |number: &Json| number.as_u64().and_then(|number| usize::try_from(number).ok());
        let numbers = |group: &Json| -> Vec<usize> {
            group.as_array().into_iter().flatten().filter_map(number).collect()
        };
        let mut groups: BTreeMap<String, Vec<Vec<usize>>> = BTreeMap::new();
        for item in fields {
            let Ok(field) = text(item, "field") else { continue };
            let same = item.get("same").and_then(Json::as_array);
            groups.entry(field).or_default().extend(same.into_iter().flatten().map(numbers));
        }
        Ok(Self(groups))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_alike: AlikeReply }

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is_key: bool, is_wanted: bool, values: &[&str], given: &[&[usize]]) -> String {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        let compared = Compared { field: "x".to_owned(), is_key, is_wanted, values };
        let given: Vec<Vec<usize>> = given.iter().map(|group| group.to_vec()).collect();
        let lists = lists(&compared, &given);
        lists.iter().map(|list| list.join(" = ")).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn values_with_other_numbers_stay_apart() {
        let cranes = ["crane 40-117", "40-117", "crane 62-019", "起重机 40-117"];
        assert_eq!(
            check(true, false, &cranes, &[&[1, 2, 3, 4]]),
            "crane 40-117 = 40-117 = 起重机 40-117"
        );
        let causes = ["hydraulic leak", "leak of 3 litres", "worn brake"];
        assert_eq!(
            check(false, true, &causes, &[&[0, 1], &[1, 2], &[9]]),
            "hydraulic leak = leak of 3 litres"
        );
        assert_eq!(check(false, false, &["a", "b"], &[&[0], &[1]]), "");
    }
}
