//! Derives the schema of the things that a question asks about, from the question and some passages (PIKE-RAG
//! §5.4).

use pikerag_knowledge::{ChatModel, Chunk, Question, RecordSchema, Role, Schema};
use pikerag_language::fold::folded;
use pikerag_language::is_chinese;
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, closed, object, one_line, or_null, passages,
    quiet_headings, shape, text, texts,
};
use pikerag_records::schema_of;
use serde_json::json;

use crate::run::Run;

const PROMPT: Prompt = Prompt::new(Role::Decompose, include_str!("../prompts/structure.md"), 1024)
    .with_earlier("methods/structure", &[include_str!("../prompts/earlier/structure.1.md")]);
/// Fields of a schema, at most.
const FIELDS: usize = 8;
/// Words that passages are chosen by, at most.
const WORDS: usize = 12;
/// Further searches, at most.
const SEARCHES: usize = 3;
/// Letters of a word that passages are chosen by, at least; Chinese words may be shorter.
const LETTERS: usize = 3;

/// What has to be collected for a question.
pub(super) struct Derived {
    /// The schema of the records; its words choose the passages.
    pub(super) schema: RecordSchema,
    /// Which known schema it is; `None` for a new one.
    pub(super) known: Option<usize>,
    /// Further searches for passages.
    pub(super) searches: Vec<String>,
}

/// Asks a model for the schema of a question. `None` where no figure can be collected, or the reply stayed unreadable.
///
/// # Errors
/// The call failed.
pub(super) async fn derive(
    model: &dyn ChatModel,
    question: &Question,
    shown: &[Chunk],
    known: &[&RecordSchema],
    run: &mut Run,
) -> Result<Option<Derived>, AskError> {
    let kinds: Vec<String> = known.iter().map(|schema| described(schema)).collect();
    let kinds = if kinds.is_empty() { "(none)".to_owned() } else { kinds.join("\n") };
    let (kinds, asked) = (quiet_headings(&kinds), quiet_headings(question.query()));
    let shown = passages(shown);
    let inputs =
        [("known", kinds.as_str()), ("passages", shown.as_str()), ("question", asked.as_str())];
    let reply = ask::<StructureReply>(model, &PROMPT, &inputs, &mut run.account).await;
    let Some(reply) = run.readable(Role::Decompose, reply)? else { return Ok(None) };
    let StructureReply { known: name, schema, searches } = reply;
    let at = name.and_then(|name| known.iter().position(|schema| schema.name == name.trim()));
    let schema = match at.and_then(|at| known.get(at)) {
        Some(known) => Some((*known).clone()),
        None => schema,
    };
    Ok(schema.map(|schema| Derived { schema, known: at, searches }))
}

/// A known kind on one line: its name, its description, its fields.
fn described(schema: &RecordSchema) -> String {
    let fields: Vec<String> = fields_of(schema);
    format!("{}: {} ({})", schema.name, one_line(&schema.description), fields.join(", "))
}

/// The fields with their types: `day (date)`.
pub(super) fn fields_of(schema: &RecordSchema) -> Vec<String> {
    let field = |field: &pikerag_knowledge::records::Field| {
        format!("{} ({})", field.name, field.kind.as_str())
    };
    schema.fields.iter().map(field).collect()
}

/// The schema of a reply, or the name of a known one.
#[derive(Debug)]
struct StructureReply {
    known: Option<String>,
    schema: Option<RecordSchema>,
    searches: Vec<String>,
}

impl Reply for StructureReply {
    fn schema() -> Option<Schema> {
        let word = || json!({"type": "string"});
        let words = |most: usize| json!({"type": "array", "items": word(), "maxItems": most});
        let types = ["text", "number", "date", "bool"];
        let field = closed(json!({"name": word(), "type": {"type": "string", "enum": types}}));
        let schema = closed(json!({
            "name": word(),
            "description": word(),
            "fields": {"type": "array", "items": field, "maxItems": FIELDS},
            "key": words(FIELDS)
        }));
        Some(shape(
            "structure",
            json!({
                "known": {"type": ["string", "null"]},
                "schema": or_null(schema),
                "words": words(WORDS),
                "searches": words(SEARCHES)
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["schema", "known"])?;
        let none = ["", "null", "none", "无"];
        let known = text(&object, "known")
            .ok()
            .filter(|name| !none.contains(&name.to_lowercase().as_str()));
        let list = |key: &str| texts(&object, key).unwrap_or_default();
        let described = object.get("schema").filter(|schema| schema.is_object());
        let schema = match described {
            Some(described) => {
                let mut schema = schema_of(described)
                    .ok_or_else(|| Unreadable::key("schema", "an object with \"name\""))?;
                schema.fields.truncate(FIELDS);
                let names: Vec<String> =
                    schema.fields.iter().map(|field| field.name.clone()).collect();
                schema.key.retain(|name| names.contains(name));
                if schema.key.is_empty() {
                    // Without a key, one thing in two documents would count twice.
                    return Err(Unreadable::key("key", "a list of names of the schema's fields"));
                }
                schema.words = list("words").into_iter().filter(|word| is_telling(word)).collect();
                schema.words.truncate(WORDS);
                RecordSchema::check(std::slice::from_ref(&schema))
                    .map_err(|error| Unreadable::key("schema", error.to_string()))?;
                Some(schema)
            }
            None => None,
        };
        let mut searches = list("searches");
        searches.truncate(SEARCHES);
        Ok(Self { known, schema, searches })
    }
}

/// Whether a word is long enough to choose passages by.
fn is_telling(word: &str) -> bool {
    let folded = folded(word);
    !folded.is_empty()
        && (folded.chars().any(is_chinese)
            || LETTERS <= folded.chars().filter(|c| c.is_alphanumeric()).count())
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_structure: StructureReply }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_names_a_known_kind_or_describes_a_new_one() {
        let new = r#"{"known": "null", "schema": {"name": "Night stop", "description": "A stop", "fields": [
            {"name": "Day", "type": "date"}, {"name": "crane"}, {"name": "cause", "type": "text"}], "key": ["day", "crane", "x"]},
            "words": ["stop", "a", "停"], "searches": "crane stopped"}"#;
        let reply = StructureReply::read(new).unwrap();
        insta::assert_snapshot!(serde_json::to_string(&reply.schema).unwrap(), @r#"{"name":"night_stop","description":"A stop","fields":[{"name":"day","type":"date"},{"name":"crane","type":"text"},{"name":"cause","type":"text"}],"key":["day","crane"],"words":["stop","停"],"model":true}"#);
        assert_eq!((reply.known, reply.searches), (None, vec!["crane stopped".to_owned()]));
        let known = StructureReply::read(r#"{"known": "night_stop", "schema": null}"#).unwrap();
        assert_eq!(known.known.as_deref(), Some("night_stop"));
        assert!(known.schema.is_none());
        let without_key = r#"{"schema": {"name": "stop", "fields": ["cause"], "key": []}}"#;
        let error = StructureReply::read(without_key).unwrap_err().to_string();
        assert_eq!(error, "`key` must be a list of names of the schema's fields");
    }
}
