//! Asks a model in one call for the facts of the passages, whether they suffice, what is missing, and the answer.

use pikerag_knowledge::{Question, Role, Schema};
use pikerag_prompt::{
    Prompt, Reply, Unreadable, ask_read, at_most, closed, list_items, object, quiet_headings,
    shape, text, texts,
};
use pikerag_reason::how_to_answer;
use serde_json::{Value, json};

use super::findings::Findings;
use super::shown::Shown;
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use crate::verdict::{THINKING, yes_or_no};

pub(super) const PROMPT: Prompt = Prompt::new(Role::Look, include_str!("../prompts/look.md"), 2048)
    .with_earlier("methods/look", &[include_str!("../prompts/earlier/look.1.md")])
    .answering_if("sufficient", "thinking");

/// What a reading round asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    /// Whether the model answers along with the facts.
    pub(super) answers: bool,
    /// Whether this is the last round.
    pub(super) is_last: bool,
    /// Sub-questions that may be asked, at most.
    pub(super) lookups: usize,
}

/// A model's reply in one round, unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoundReply {
    /// The model's own words; may be empty.
    pub(crate) thinking: String,
    /// Each fact with the number of its passage as shown, if the model gave one.
    pub(crate) facts: Vec<(Option<usize>, String)>,
    /// Whether the facts settle the question.
    pub(crate) sufficient: bool,
    /// Sub-questions, each once, in the model's order.
    pub(crate) missing: Vec<String>,
    /// Empty if the model gave none.
    pub(crate) answer: String,
}

/// Asks about these passages; `None` if the reply stayed unreadable.
pub(super) async fn read_round(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    findings: &Findings,
    shown: &Shown,
    asking: Asking,
) -> Result<Option<RoundReply>, SolveError> {
    let asked = quiet_headings(&question.text);
    let context = match shown.text() {
        empty if empty.is_empty() => "(no passages were found)".to_owned(),
        passages => passages,
    };
    let (facts, tried) = (findings.facts_so_far(), findings.tried());
    // The first version of the prompt shows it; kept runs are replayed with that text.
    let others = findings.others(&shown.numbers());
    let (lookups, form) = (asking.lookups.to_string(), how_to_answer(question));
    let yes = |is: bool| if is { "yes" } else { "" };
    let inputs = [
        ("form", form.as_ref()),
        ("answers", yes(asking.answers)),
        ("last", yes(asking.is_last)),
        ("lookups", lookups.as_str()),
        ("context", context.as_str()),
        ("facts", facts.as_str()),
        ("tried", tried.as_str()),
        ("others", others.as_str()),
        ("question", asked.as_str()),
    ];
    let model = ports.models.need(Role::Look)?;
    let schema = Some(schema(asking.answers, asking.lookups));
    let reply = ask_read(model, &PROMPT, &inputs, schema, read, &mut run.account).await;
    Ok(run.readable(Role::Look, reply)?)
}

impl Reply for RoundReply {
    fn schema() -> Option<Schema> {
        Some(schema(true, MISSING))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        read(reply)
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_look: RoundReply }

/// Characters of a fact or of a sub-question, and the number of facts, at most; the prompt has the same numbers.
const FACT: usize = 300;
const FACTS: usize = 8;
/// Sub-questions where no parameter sets another number.
const MISSING: usize = 3;

/// Keys in the order in which the model must write them: reasons before the verdict, the verdict before the answer. At most
/// `missing` sub-questions.
fn schema(answers: bool, missing: usize) -> Schema {
    let fact = closed(json!({"passage": {"type": "integer"}, "fact": at_most(FACT)}));
    let answer = answers.then(|| ("answer", json!({"type": "string"})));
    let keys = [
        ("thinking", at_most(THINKING)),
        ("facts", json!({"type": "array", "items": fact, "maxItems": FACTS})),
        ("sufficient", json!({"type": "boolean"})),
        ("missing", json!({"type": "array", "items": at_most(FACT), "maxItems": missing})),
    ];
    let name = if answers { "look" } else { "look_collecting" };
    shape(name, keys.into_iter().chain(answer).collect())
}

fn read(reply: &str) -> Result<RoundReply, Unreadable> {
    let object = object(reply, &["sufficient"])?;
    let mut missing = texts(&object, "missing").unwrap_or_default();
    let mut seen = std::collections::HashSet::new();
    missing.retain(|question| seen.insert(question.to_lowercase()));
    Ok(RoundReply {
        thinking: text(&object, "thinking").unwrap_or_default(),
        facts: facts(&object),
        sufficient: yes_or_no(&object.to_string(), "sufficient")?,
        missing,
        answer: text(&object, "answer").map(|answer| answer.trim().to_owned()).unwrap_or_default(),
    })
}

/// Facts in any of the shapes that models give them: objects, or lines with `[n]` at either end.
fn facts(object: &Value) -> Vec<(Option<usize>, String)> {
    let items = match object.get("facts") {
        Some(Value::Array(items)) => items.clone(),
        Some(Value::String(lines)) => list_items(lines).into_iter().map(Value::String).collect(),
        _ => Vec::new(),
    };
    let mut facts = Vec::new();
    for item in items {
        let (passage, words) = match &item {
            Value::String(line) => numbered_line(line),
            item => {
                let number = ["passage", "number", "id"]
                    .iter()
                    .find_map(|key| pikerag_prompt::index(item, key, 100_000).ok()?)
                    .map(|place| place + 1);
                let words = ["fact", "quote", "text"].iter().find_map(|key| text(item, key).ok());
                let (inside, words) = numbered_line(&words.unwrap_or_default());
                (number.or(inside), words)
            }
        };
        if words.chars().any(char::is_alphanumeric) {
            facts.push((passage, words));
        }
    }
    facts
}

/// Splits `[3] words` or `words [3]` into the number and the words.
fn numbered_line(line: &str) -> (Option<usize>, String) {
    let line = line.trim();
    let number = |inside: &str| inside.trim().parse::<usize>().ok().filter(|number| 0 < *number);
    if let Some((inside, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && (number(inside).is_some() || inside.trim() == "?")
    {
        return (number(inside), rest.trim_start_matches([':', ' ']).to_owned());
    }
    if let Some((before, inside)) = line.strip_suffix(']').and_then(|rest| rest.rsplit_once('['))
        && (number(inside).is_some() || inside.trim() == "?")
    {
        return (number(inside), before.trim().to_owned());
    }
    (None, line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_replies_in_many_shapes() {
        let reply = RoundReply::read(
            r#"{"thinking": "so", "facts": [{"passage": 2, "fact": "A is B."}, "C is D. [3]", "[1] E", "F [?]", {"x": 1}, " "],
                "sufficient": "no", "missing": ["1. Who?", "who?", "When?"], "answer": 7}"#,
        );
        let reply = reply.unwrap();
        let facts: Vec<String> =
            reply.facts.iter().map(|(number, words)| format!("{number:?} {words}")).collect();
        assert_eq!(facts, ["Some(2) A is B.", "Some(3) C is D.", "Some(1) E", "None F"]);
        assert_eq!((reply.sufficient, reply.answer.as_str()), (false, "7"));
        assert_eq!(reply.missing, ["Who?", "When?"]);
        let bare = RoundReply::read(r#"{"sufficient": true, "facts": "A [1]\nB"}"#).unwrap();
        assert_eq!((bare.facts.len(), bare.missing.len(), bare.answer.as_str()), (2, 0, ""));
        assert!(RoundReply::read(r#"{"answer": "x"}"#).is_err());
        assert!(RoundReply::read(r#"{"sufficient": "perhaps"}"#).is_err());
    }

    #[test]
    fn reasons_come_before_the_verdict_and_the_verdict_before_the_answer() {
        for answers in [true, false] {
            let schema = schema(answers, MISSING).schema.to_string();
            let at = |key: &str| schema.find(&format!("\"{key}\"")).unwrap_or(usize::MAX);
            let keys = ["thinking", "facts", "sufficient", "missing", "answer"];
            assert!(keys.iter().map(|key| at(key)).is_sorted(), "{schema}");
        }
    }

    /// The text of the prompt and the schema of the reply have the same limits.
    #[test]
    fn text_and_schema_have_the_same_limits() {
        let facts =
            format!("at most {FACTS}, each copied word for word from one passage, {FACT} letters");
        assert!(PROMPT.template.contains(&facts), "{facts}");
        let schema = schema(true, 2).schema;
        assert_eq!(schema["properties"]["missing"]["maxItems"], 2);
        assert_eq!(schema["properties"]["facts"]["maxItems"], FACTS);
    }

    /// The reply to the first version of the prompt, with more facts and sub-questions than are asked for now.
    #[test]
    fn longer_replies_are_read_too() {
        let fact = json!({"passage": 1, "fact": "A is B.".repeat(60)});
        let reply = json!({
            "thinking": "", "facts": vec![fact; 12], "sufficient": false,
            "missing": ["a?", "b?", "c?", "d?", "e?"], "answer": ""
        });
        let reply = RoundReply::read(&reply.to_string()).unwrap();
        assert_eq!((reply.facts.len(), reply.missing.len()), (12, 5));
        let none = RoundReply::read(r#"{"facts": [], "sufficient": false}"#).unwrap();
        assert!(none.missing.is_empty() && none.answer.is_empty());
    }
}
