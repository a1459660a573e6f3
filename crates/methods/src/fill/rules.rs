//! Fills simple schemas without a model: the answer goes into one field, its other parts into fields with pikerag's
//! own names.

use pikerag_knowledge::{Answer, Check, Citation, Grade, WrittenBy};
use pikerag_language::Regex;
use pikerag_prompt::list_items;
use serde_json::{Map, Number, Value, json};

use super::fields::{Field, OF_CITATION, Part, Type, are_simple, fields, most, root_object};
use super::grounded::folded;
use super::numbers::single;
use super::schema::check;

/// The longest item of a list that is read without a model, in words.
const LONGEST_ITEM: usize = 8;
/// The confidence of an answer that is only probable.
const PROBABLE: f64 = 0.5;

/// The object for any schema: the answer with its reasons, its sources and what it does not know.
pub(super) fn whole(answer: &Answer) -> Value {
    let text = if is_withheld(answer) { Value::Null } else { json!(plain_text(answer)) };
    json!({
        "answer": text, "rationale": answer.rationale, "refused": is_withheld(answer),
        "missing": answer.missing, "citations": cited(answer, None),
    })
}

/// Whether the answer gives nothing that a field could take.
pub(super) fn is_withheld(answer: &Answer) -> bool {
    let is_not_found = answer.quotes.as_ref().is_some_and(|it| it.grade == Grade::NotFound);
    answer.refused || is_not_found || answer.text.trim().is_empty()
}

/// Fills the schema.
///
/// # Errors
/// The name of a field for which the answer gives no single value.
pub(super) fn fill(root: &Value, question: &str, answer: &Answer) -> Result<Value, String> {
    let fields = fields(root);
    if !are_simple(root, &fields) {
        let unknown = fields.iter().find(|field| field.part == Part::Unknown);
        return Err(unknown.or(fields.first()).map(|it| it.name.to_owned()).unwrap_or_default());
    }
    let mut filled = Map::new();
    for field in &fields {
        let Some(kind) = field.kind else { return Err(field.name.to_owned()) };
        let value = match field.part {
            Part::Answer => taken(root, kind, (question, answer)),
            part => own(root, part, kind, answer),
        };
        filled.insert(field.name.to_owned(), value.ok_or_else(|| field.name.to_owned())?);
    }
    checked(root, filled)
}

/// Fills the schema from an answer that is withheld: nulls where the schema allows them.
///
/// # Errors
/// The name of a field that needs a value.
pub(super) fn fill_withheld(root: &Value, answer: &Answer) -> Result<Value, String> {
    let mut filled = Map::new();
    let mut says_so = false;
    for field in fields(root) {
        let value = match (field.kind, field.part) {
            (Some(kind), Part::Refused | Part::Missing | Part::Confidence | Part::Rationale) => {
                own(root, field.part, kind, answer)
            }
            (Some(_), Part::Citations | Part::Sources) => Some(json!([])),
            _ if allows_null(root, &field) => Some(Value::Null),
            _ if field.is_required => return Err(field.name.to_owned()),
            _ => None,
        };
        says_so |= field.part == Part::Refused || value == Some(Value::Null);
        filled.extend(value.map(|value| (field.name.to_owned(), value)));
    }
    // Without a null, the object would look like an answer.
    if says_so { checked(root, filled) } else { Err("refused".to_owned()) }
}

fn checked(root: &Value, filled: Map<String, Value>) -> Result<Value, String> {
    let filled = Value::Object(filled);
    match check(root, &filled) {
        Ok(()) => Ok(filled),
        Err(misfit) => Err(misfit.path),
    }
}

fn allows_null(root: &Value, field: &Field<'_>) -> bool {
    match field.kind {
        Some(kind) => kind.is_nullable,
        None => {
            // Several types: null may be one of them.
            let own = root_object(root).and_then(|object| {
                object.get("properties").and_then(|own| own.get(field.name)).cloned()
            });
            let mut schema = own.unwrap_or_default();
            if let (Some(fields), Some(shared)) = (schema.as_object_mut(), root.get("$defs")) {
                fields.insert("$defs".to_owned(), shared.clone());
            }
            check(&schema, &Value::Null).is_ok()
        }
    }
}

/// The answer as a value of a type; `None` if it does not give a single one.
fn taken(root: &Value, kind: Type<'_>, (question, answer): (&str, &Answer)) -> Option<Value> {
    let text = plain_text(answer);
    let choices = kind.choices();
    if choices.is_empty() && kind.name() == "string" {
        return Some(json!(text));
    }
    // A passage that was found for the question says other things too.
    let is_number = matches!(kind.name(), "number" | "integer") && asks_for_number(question);
    let is_possible = answer.quotes.as_ref().is_some_and(|it| it.grade == Grade::Possibly);
    if is_possible || (answer.written_by == WrittenBy::Quotation && !is_number) {
        return None;
    }
    if !choices.is_empty() {
        return chosen(&choices, &text).map(|choice| json!(choice));
    }
    let values =
        answer.worked.as_deref().map(|worked| worked.values.as_slice()).unwrap_or_default();
    match kind.name() {
        "number" | "integer" => {
            let source = match values {
                [only] => only.as_str(),
                _ => text.as_str(),
            };
            number(single(source)?)
        }
        "boolean" => yes_or_no(&text).map(Value::Bool),
        "array" if kind.items(root)?.choices().is_empty() => match values {
            [] => items(&text).map(|items| json!(items)),
            values => Some(json!(values)),
        },
        _ => None,
    }
}

/// Whether a question asks for a number or a year.
fn asks_for_number(question: &str) -> bool {
    const WORDS: [&str; 16] = [
        "how many",
        "how much",
        "how long",
        "how old",
        "how far",
        "how high",
        "how tall",
        "how deep",
        "how heavy",
        "number of",
        "what year",
        "which year",
        "多少",
        "几",
        "哪年",
        "哪一年",
    ];
    let question = question.to_lowercase();
    WORDS.iter().any(|word| question.contains(word))
}

/// The answer's text without the numbers of citations.
fn plain_text(answer: &Answer) -> String {
    let text = answer.text.trim();
    match Regex::new(r"\s*\[\d+(?:\s*[,;，、]\s*\d+)*\]") {
        Ok(marks) => marks.replace_all(text, "").trim().to_owned(),
        Err(_) => text.to_owned(),
    }
}

/// A number as JSON: whole numbers without a fraction.
fn number(value: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        return Some(json!(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}

/// The one choice whose words occur in the text. A choice within another that occurs too does not count. `None` if the
/// rest of the text denies something: `not safe` is not `safe`.
fn chosen<'a>(choices: &[&'a str], text: &str) -> Option<&'a str> {
    let (words, lower) = (folded(text), text.to_lowercase());
    // Words have no signs, which distinguish `C++` from `C`.
    let is_sign = |c: char| !c.is_alphanumeric();
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for choice in choices.iter().copied() {
        let own = folded(&choice.replace('_', " "));
        let has_signs = choice.starts_with(is_sign) || choice.ends_with(is_sign);
        let is_literal = !has_signs || lower.contains(&choice.to_lowercase());
        if is_literal && holds(&words, &own) {
            found.push((choice, own));
        }
    }
    let is_within = |(choice, own): &(&str, Vec<String>)| {
        found.iter().any(|(other, longer)| other != choice && holds(longer, own))
    };
    let mut longest = found.iter().filter(|one| !is_within(one));
    let (Some((only, own)), None) = (longest.next(), longest.next()) else { return None };
    let is_clear = words.starts_with(own) || !denies(&without(&words, own));
    is_clear.then_some(*only)
}

/// Whether words occur one after another among others.
fn holds(words: &[String], own: &[String]) -> bool {
    !own.is_empty() && words.windows(own.len()).any(|window| window == own)
}

/// The words before, between and behind the places of others.
fn without<'a>(mut words: &'a [String], own: &[String]) -> Vec<&'a str> {
    let mut left = Vec::new();
    while let Some((first, others)) = words.split_first() {
        match words.strip_prefix(own).filter(|_| !own.is_empty()) {
            Some(rest) => words = rest,
            None => {
                left.push(first.as_str());
                words = others;
            }
        }
    }
    left
}

/// Whether one of the folded words denies something. They have no apostrophes, and Chinese ones are single characters.
fn denies(words: &[&str]) -> bool {
    const DENIALS: [&str; 29] = [
        "not", "no", "never", "neither", "nor", "none", "without", "cannot", "cant", "isnt",
        "arent", "wasnt", "werent", "dont", "doesnt", "didnt", "wont", "wouldnt", "hasnt",
        "havent", "hadnt", "不", "没", "沒", "无", "無", "非", "未", "否",
    ];
    words.iter().any(|word| DENIALS.contains(word))
}

/// Yes or no, if the text begins with it as a word of its own: `No one knows` is no answer.
fn yes_or_no(text: &str) -> Option<bool> {
    const YES: [&str; 8] = ["yes", "true", "是", "是的", "对", "能", "可以", "有"];
    const NO: [&str; 9] = ["no", "false", "否", "不", "不是", "不能", "不可以", "没有", "无"];
    let begins = text.find(char::is_alphanumeric)?;
    let text = text.get(begins..)?;
    let ends = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (first, rest) = text.split_at_checked(ends)?;
    if rest.trim_start().starts_with(char::is_alphanumeric) {
        return None;
    }
    let first = first.to_lowercase();
    match (YES.contains(&first.as_str()), NO.contains(&first.as_str())) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// The items of a list in a text; `None` if it is running text, or may be one item or several.
fn items(text: &str) -> Option<Vec<String>> {
    let lines = list_items(text);
    if 1 < lines.len() {
        return Some(lines);
    }
    let text = text.trim().trim_end_matches(['.', '。', ';', '；']);
    let mark = ["; ", "；", "、", ", "].into_iter().find(|mark| text.contains(mark));
    let mut parts: Vec<&str> = mark.map_or(vec![text], |mark| text.split(mark).collect());
    let last = parts.pop().unwrap_or_default();
    let behind_and = last.strip_prefix("and ").or_else(|| last.strip_prefix("or "));
    match (behind_and, beside_and(last), mark) {
        (Some(last), _, Some(_)) => parts.push(last),
        // A comma alone may come before a remark, and *and* alone may be within a name.
        (_, Some(_), None) | (_, None, Some(", ")) => return None,
        (_, Some((first, second)), _) => parts.extend([first, second]),
        (_, None, _) => parts.push(last),
    }
    let items: Vec<String> = parts.iter().map(|item| item.trim().to_owned()).collect();
    let is_short = |item: &String| {
        let n_words = item.split_whitespace().count();
        !item.is_empty() && n_words <= LONGEST_ITEM && item.chars().count() <= 10 * LONGEST_ITEM
    };
    items.iter().all(is_short).then_some(items)
}

/// The two last items of a list, which *and* joins: `the K2 and the Z4`.
fn beside_and(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    for mark in [" and ", " or ", "以及", "和", "或"] {
        if let Some((first, second)) = text.split_once(mark) {
            return Some((first, second)).filter(|_| !second.contains(mark));
        }
    }
    None
}

/// The value of a part with pikerag's own name.
fn own(root: &Value, part: Part, kind: Type<'_>, answer: &Answer) -> Option<Value> {
    Some(match part {
        Part::Rationale => json!(answer.rationale.trim()),
        Part::Citations => match kind.items(root)? {
            items if items.name() == "string" => {
                json!(verified(answer).map(|citation| citation.quote.as_str()).collect::<Vec<_>>())
            }
            items => cited(answer, Some(items.field_names().as_slice())),
        },
        Part::Sources => {
            let mut names: Vec<&str> = Vec::new();
            for citation in verified(answer) {
                if !names.contains(&citation.uri.as_str()) {
                    names.push(&citation.uri);
                }
            }
            json!(names)
        }
        Part::Confidence => confidence(kind, answer)?,
        Part::Refused => json!(is_withheld(answer)),
        Part::Missing => json!(answer.missing),
        Part::Answer | Part::Unknown => return None,
    })
}

fn verified(answer: &Answer) -> impl Iterator<Item = &Citation> {
    answer.citations.iter().filter(|citation| citation.check == Check::Verified)
}

/// The verified citations with these fields, or with all.
fn cited(answer: &Answer, names: Option<&[&str]>) -> Value {
    let names = names.unwrap_or(&OF_CITATION);
    let mut cited = Vec::new();
    for citation in verified(answer) {
        let all = json!({
            "number": citation.number, "uri": citation.uri, "title": citation.title,
            "page": citation.page, "quote": citation.quote, "check": citation.check,
        });
        let own = |name: &&str| Some(((*name).to_owned(), all.get(*name)?.clone()));
        cited.push(Value::Object(names.iter().filter_map(own).collect()));
    }
    Value::Array(cited)
}

/// The share of citations that were verified: no probability. It is 0 for a withheld answer, and at most one half for
/// an answer that is only probable.
fn share_verified(answer: &Answer) -> f64 {
    if is_withheld(answer) {
        return 0.0;
    }
    if matches!(answer.written_by, WrittenBy::Person { .. }) {
        return 1.0;
    }
    let share = verified(answer).count() as f64 / answer.citations.len().max(1) as f64;
    let is_possible = answer.quotes.as_ref().is_some_and(|it| it.grade == Grade::Possibly);
    if is_possible || !answer.missing.is_empty() { share.min(PROBABLE) } else { share }
}

fn confidence(kind: Type<'_>, answer: &Answer) -> Option<Value> {
    let share = share_verified(answer);
    match kind.name() {
        "string" => {
            let word = if PROBABLE < share {
                "high"
            } else if 0.0 < share {
                "medium"
            } else {
                "low"
            };
            let choices = kind.choices();
            let same = |choice: &&&str| choice.eq_ignore_ascii_case(word);
            match choices.as_slice() {
                [] => Some(json!(word)),
                choices => choices.iter().find(same).map(|choice| json!(choice)),
            }
        }
        "integer" => number((100.0 * share).round()),
        _ if most(kind) == Some(100.0) => number((100.0 * share).round()),
        _ => number(share),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{answer, cited_answer};
    use super::*;

    const QUESTION: &str = "Which is it?";

    fn filled(properties: &Value, text: &str) -> Result<Value, String> {
        let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
        let root = json!({"type": "object", "properties": properties, "required": names});
        fill(&root, QUESTION, &answer(text))
    }

    #[test]
    fn one_field_takes_the_answer_in_its_type() {
        let cases = [
            (json!({"type": "string"}), "Forty tons. [1][2, 3]", json!("Forty tons.")),
            (json!({"type": "integer"}), "It lifts 40 tons.", json!(40)),
            (json!({"type": "number"}), "12.5 t", json!(12.5)),
            (json!({"type": "boolean"}), "Yes, since 2019.", json!(true)),
            (json!({"type": "boolean"}), "不能，除非获得许可。", json!(false)),
            (json!({"enum": ["red", "dark red", "blue"]}), "It is dark red.", json!("dark red")),
            (json!({"enum": ["safe", "not safe"]}), "It is not safe.", json!("not safe")),
            (json!({"enum": ["yes", "no"]}), "No, it is not.", json!("no")),
            (json!({"enum": ["合格", "不合格"]}), "检验结果：不合格。", json!("不合格")),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                "The PT100, the K2 and the Z4.",
                json!(["The PT100", "the K2", "the Z4"]),
            ),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                "- a b\n- c",
                json!(["a b", "c"]),
            ),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                "Oslo, Bergen, and Tromsø",
                json!(["Oslo", "Bergen", "Tromsø"]),
            ),
            (json!({"type": "array", "items": {"type": "string"}}), "Oslo", json!(["Oslo"])),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                "青岛、上海和宁波",
                json!(["青岛", "上海", "宁波"]),
            ),
        ];
        for (kind, text, value) in cases {
            assert_eq!(filled(&json!({ "x": kind }), text), Ok(json!({ "x": value })), "{text}");
        }
    }

    #[test]
    fn an_answer_without_a_single_value_fills_nothing() {
        let long = "The first crane was built in a hall beside the old harbour of the town, and the second";
        for (kind, text) in [
            (json!({"type": "integer"}), "3 of 12 cranes"),
            (json!({"type": "integer"}), "12.5 t"),
            (json!({"type": "boolean"}), "It depends."),
            (json!({"type": "boolean"}), "No one knows."),
            (json!({"type": "boolean"}), "No crane has a date."),
            (json!({"enum": ["red", "blue"]}), "red or blue"),
            (json!({"enum": ["safe", "dangerous"]}), "The crane is not safe."),
            (json!({"enum": ["safe", "dangerous"]}), "The crane isn't safe."),
            (json!({"enum": ["有", "无"]}), "记录里没有。"),
            (json!({"enum": ["C++", "Java"]}), "It is written in C."),
            (json!({"type": "string", "format": "date"}), "On 1 March 2024."),
            (json!({"type": "array", "items": {"type": "string"}}), long),
            (json!({"type": "array", "items": {"type": "string"}}), "Oslo, the capital"),
            (json!({"type": "array", "items": {"type": "string"}}), "Smith and Wesson"),
        ] {
            assert_eq!(filled(&json!({ "x": kind }), text), Err("x".to_owned()), "{text}");
        }
        let two = json!({"city": {"type": "string"}, "country": {"type": "string"}});
        assert_eq!(filled(&two, "Oslo"), Err("city".to_owned()));
    }

    #[test]
    fn own_names_take_the_parts_of_the_answer() {
        let list = |items: &Value| json!({"type": "array", "items": items});
        let citation = json!({"type": "object", "properties": {"uri": {"type": "string"}, "quote": {"type": "string"}}, "additionalProperties": false});
        let text = json!({"type": "string"});
        let properties = json!({
            "answer": text, "rationale": text, "citations": list(&citation), "sources": list(&text),
            "confidence": {"type": "number"}, "refused": {"type": "boolean"}, "missing": list(&text),
        });
        let root = json!({"type": "object", "properties": properties});
        let expected = json!({
            "answer": "Oslo", "rationale": "By the guide.", "citations": [{"uri": "guide.md", "quote": "Oslo is the capital."}],
            "sources": ["guide.md"], "confidence": 1, "refused": false, "missing": [],
        });
        assert_eq!(fill(&root, QUESTION, &cited_answer()), Ok(expected));
        let words = json!({"type": "object", "properties": {"confidence": {"enum": ["HIGH", "LOW"], "type": "string"}, "quotes": list(&text)}});
        let expected = json!({"confidence": "HIGH", "quotes": ["Oslo is the capital."]});
        assert_eq!(fill(&words, QUESTION, &cited_answer()), Ok(expected));
    }

    #[test]
    fn a_withheld_answer_gives_nulls_or_nothing() {
        let withheld = Answer { refused: true, ..answer("The guide does not say it.") };
        let nullable = json!({"type": "object", "properties": {
            "capital": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "citations": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"},
        }, "required": ["capital", "citations"]});
        assert_eq!(
            fill_withheld(&nullable, &withheld),
            Ok(json!({"capital": null, "citations": []}))
        );
        let strict = json!({"type": "object", "properties": {"capital": {"type": "string"}}, "required": ["capital"]});
        assert_eq!(fill_withheld(&strict, &withheld), Err("capital".to_owned()));
        let optional = json!({"type": "object", "properties": {"capital": {"type": "string"}}});
        assert!(fill_withheld(&optional, &withheld).is_err());
        assert_eq!(whole(&withheld)["answer"], Value::Null);
        assert_eq!(whole(&withheld)["refused"], true);
    }

    #[test]
    fn figures_of_passages_are_taken_only_if_the_question_asks_for_one() {
        let quotes = pikerag_knowledge::Quotes { grade: Grade::Possibly, absent: Vec::new() };
        let possible = Answer { quotes: Some(quotes), ..answer("It has 3 bolts.") };
        let found = Answer { written_by: WrittenBy::Quotation, ..answer("It has 3 bolts.") };
        let of = |kind: &str, question: &str, answer: &Answer| {
            let root = json!({"type": "object", "properties": {"x": {"type": kind}}});
            fill(&root, question, answer).map(|filled| filled["x"].clone())
        };
        let unclear = Err("x".to_owned());
        assert_eq!(of("integer", "How many bolts?", &possible), unclear);
        assert_eq!(of("string", "How many bolts?", &possible), Ok(json!("It has 3 bolts.")));
        assert_eq!(of("integer", "How many bolts?", &found), Ok(json!(3)));
        assert_eq!(of("integer", "When was it built?", &found), unclear);
        assert_eq!(of("boolean", "Has it bolts?", &found), unclear);
    }
}
