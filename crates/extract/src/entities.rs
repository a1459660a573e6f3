//! Extracts the entities and relations of a chunk with one call (GraphRAG §3.1).
//!
//! Without a model, proper names are the entities, and two names in one sentence are related.
//!
//! Differs from GraphRAG: the name alone identifies an entity, not name and type, because models
//! rarely give the same type twice. The model is not asked for missed entities.

use std::collections::BTreeMap;

use pikerag_knowledge::{
    Account, ChatModel, Chunk, EntityId, EntityMention, Extraction, RelationId, RelationMention,
    Role, Schema,
};
use pikerag_language::fold::{Token, tokens};
use pikerag_language::names::{LONGEST, joined, names_in};
use pikerag_language::sentences;
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, closed, find_json, shape, text, titled,
    without_thinking,
};
use serde_json::{Value, json};

const PROMPT: Prompt = Prompt::new(Role::Extract, include_str!("prompts/entities.md"), 4096);

/// The most names of a sentence that are related with each other; more of them are a list, not a
/// statement.
const RELATED: usize = 12;
/// The largest weight of a relation in one chunk.
const HEAVIEST: f64 = 10.0;

/// Extracts entities and relations: one call, or two if the first reply is unreadable.
///
/// # Errors
/// Those of the model; also an unreadable reply.
pub async fn extract(
    model: &dyn ChatModel,
    chunk: &Chunk,
    account: &mut Account,
) -> Result<Extraction, AskError> {
    let (title, text) = titled(chunk);
    let inputs = [("title", title.as_str()), ("text", text.as_str())];
    let reply: RawReply = ask(model, &PROMPT, &inputs, account).await?;
    Ok(reply.0)
}

/// The prompt that [`extract`] would send, for estimates.
///
/// # Errors
/// None, unless the built-in template is broken.
pub fn extract_prompt(chunk: &Chunk) -> Result<String, AskError> {
    let (title, text) = titled(chunk);
    PROMPT.render(&[("title", title.as_str()), ("text", text.as_str())])
}

/// The proper names of a chunk as entities, without a model call. The first sentence with the name
/// describes it; every sentence with two names relates them.
pub fn extract_names(chunk: &Chunk) -> Extraction {
    let mut found = Found::default();
    for range in sentences(&chunk.text) {
        let Some(sentence) = chunk.text.get(range) else { continue };
        let shown = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut together = Vec::new();
        for name in longest_names(sentence) {
            if let Some(id) = found.entity(name, "", &shown)
                && !together.contains(&id)
            {
                together.push(id);
            }
        }
        together.truncate(RELATED);
        together.sort_unstable();
        for (place, subject) in together.iter().enumerate() {
            for object in together.iter().skip(place + 1) {
                found.relation(*subject, *object, &shown, 1.0);
            }
        }
    }
    found.extraction()
}

/// The names of a sentence as written there, from left to right, the longest one at each place.
fn longest_names(sentence: &str) -> Vec<&str> {
    let known = names_in(sentence);
    let words = tokens(sentence);
    let mut names = Vec::new();
    let mut rest = words.as_slice();
    while !rest.is_empty() {
        let name = |length: &usize| -> bool {
            let words: Vec<String> =
                rest.iter().take(*length).map(|word| word.folded.clone()).collect();
            known.contains(&words)
        };
        let longest = (1..=rest.len().min(2 * LONGEST)).rev().find(name);
        let taken = longest.unwrap_or(1);
        if let (Some(_), Some(first), Some(last)) = (longest, rest.first(), rest.get(taken - 1)) {
            names.extend(sentence.get(first.start..last.end()));
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    names
}

/// The entity that a name identifies; `None` if the name has no word.
pub fn entity_of(name: &str) -> Option<EntityId> {
    let words: Vec<String> = tokens(name).into_iter().map(|word: Token<'_>| word.folded).collect();
    (!words.is_empty()).then(|| EntityId::of_folded(&joined(&words)))
}

/// Collects each entity and each relation once, in order of first mention.
#[derive(Default)]
struct Found {
    entities: Vec<EntityMention>,
    relations: Vec<RelationMention>,
    place: BTreeMap<EntityId, usize>,
    related: BTreeMap<RelationId, usize>,
}

impl Found {
    fn entity(&mut self, name: &str, kind: &str, description: &str) -> Option<EntityId> {
        let id = entity_of(name)?;
        let (name, kind) = (one_line(name), one_line(kind).to_lowercase());
        let held = self.place.get(&id).and_then(|place| self.entities.get_mut(*place));
        match held {
            Some(held) => {
                if held.kind.is_empty() {
                    held.kind = kind;
                }
                // Keeps the first description that is not empty.
                if held.description.is_empty() {
                    held.description = one_line(description);
                }
            }
            None => {
                self.place.insert(id, self.entities.len());
                let description = one_line(description);
                self.entities.push(EntityMention { id, name, kind, description });
            }
        }
        Some(id)
    }

    fn relation(&mut self, subject: EntityId, object: EntityId, description: &str, weight: f64) {
        if subject == object {
            return;
        }
        let id = RelationId::of(subject, object);
        match self.related.get(&id).and_then(|place| self.relations.get_mut(*place)) {
            Some(held) => held.weight += weight,
            None => {
                self.related.insert(id, self.relations.len());
                let description = one_line(description);
                self.relations.push(RelationMention { id, subject, object, description, weight });
            }
        }
    }

    fn extraction(self) -> Extraction {
        Extraction { entities: self.entities, relations: self.relations }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct RawReply(Extraction);

impl Reply for RawReply {
    fn schema() -> Option<Schema> {
        let entity = closed(
            json!({"name": {"type": "string"}, "type": {"type": "string"}, "description": {"type": "string"}}),
        );
        let relation = closed(json!({
            "source": {"type": "string"}, "target": {"type": "string"},
            "description": {"type": "string"}, "weight": {"type": "number"}
        }));
        Some(shape(
            "entities",
            json!({
                "entities": {"type": "array", "items": entity},
                "relations": {"type": "array", "items": relation}
            }),
        ))
    }

    /// Skips invalid entries. An end of a relation that was not listed becomes an entity.
    fn read(reply: &str) -> Result<Self, Unreadable> {
        const KEYS: [&str; 3] = ["entities", "relations", "relationships"];
        let reply = without_thinking(reply);
        if reply.is_empty() {
            return Err(Unreadable::Empty);
        }
        let Some(object) = find_json(reply, &KEYS) else {
            return Err(Unreadable::NoObject { keys: "entities`, `relations".to_owned() });
        };
        let object = object.value;
        let mut found = Found::default();
        for item in list(&object, &["entities"])? {
            let name = match item {
                Value::String(name) => Some(name.clone()),
                other => first_text(other, &["name", "entity", "title"]),
            };
            let kind = first_text(item, &["type", "kind"]).unwrap_or_default();
            let description = first_text(item, &["description"]).unwrap_or_default();
            if let Some(name) = name {
                found.entity(&name, &kind, &description);
            }
        }
        for item in list(&object, &["relations", "relationships"])? {
            let ends = (
                first_text(item, &["source", "subject", "from"]),
                first_text(item, &["target", "object", "to"]),
            );
            let (Some(subject), Some(object)) = ends else { continue };
            let keys = ["description", "relation", "predicate"];
            let description = first_text(item, &keys).unwrap_or_default();
            let ends = (found.entity(&subject, "", ""), found.entity(&object, "", ""));
            if let (Some(subject), Some(object)) = ends {
                found.relation(subject, object, &description, weight(item));
            }
        }
        for relation in &mut found.relations {
            relation.weight = relation.weight.min(HEAVIEST);
        }
        Ok(Self(found.extraction()))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_raw_reply: RawReply }

/// The list under the first of these keys that exists; empty if none does.
fn list<'a>(object: &'a Value, keys: &[&'static str]) -> Result<&'a [Value], Unreadable> {
    match keys.iter().find_map(|key| Some((key, object.get(key)?))) {
        None | Some((_, Value::Null)) => Ok(&[]),
        Some((_, Value::Array(items))) => Ok(items),
        Some((key, _)) => Err(Unreadable::key(key, "a list of objects")),
    }
}

fn first_text(item: &Value, keys: &[&str]) -> Option<String> {
    let value = keys.iter().find_map(|key| text(item, key).ok())?;
    (!value.trim().is_empty()).then_some(value)
}

/// From 1 to 10; 1 if the reply gives no readable weight.
fn weight(item: &Value) -> f64 {
    let value = ["weight", "strength"].iter().find_map(|key| text(item, key).ok());
    let number = value.and_then(|value| value.trim().parse::<f64>().ok()).filter(|n| n.is_finite());
    number.unwrap_or(1.0).clamp(1.0, HEAVIEST)
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;

    use super::*;

    fn shown(found: &Extraction) -> Vec<String> {
        let name = |id: EntityId| {
            found.entities.iter().find(|entity| entity.id == id).unwrap().name.clone()
        };
        let entities = found
            .entities
            .iter()
            .map(|entity| format!("{} ({}): {}", entity.name, entity.kind, entity.description));
        let relations = found.relations.iter().map(|relation| {
            let (subject, object) = (name(relation.subject), name(relation.object));
            format!("{subject} -{}-> {object}: {}", relation.weight, relation.description)
        });
        entities.chain(relations).collect()
    }

    #[test]
    fn replies_are_read_in_many_formats() {
        let read = |reply: &str| shown(&RawReply::read(reply).unwrap().0);
        let value = r#"{"entities": [{"name": "KX-40", "type": "Crane", "description": "Lifts."},
            {"name": "kx 40", "type": "machine", "description": ""}, "Varnsund", 7, {"type": "x"}, {"name": "?!"}],
            "relationships": [{"source": "KX-40", "target": "Ilse  Brandt", "description": "designed by", "strength": "8"},
            {"source": "KX-40", "target": "kx-40"}, {"source": "KX-40"}]}"#;
        assert_eq!(
            read(value),
            [
                "KX-40 (crane): Lifts.",
                "Varnsund (): ",
                "Ilse Brandt (): ",
                "KX-40 -8-> Ilse Brandt: designed by"
            ]
        );
        assert_eq!(read(r#"{"entities": []}"#), Vec::<String>::new());
        // In a truncated reply, whole entries are kept.
        let cut =
            r#"{"entities": [{"name": "A", "type": "", "description": ""}, {"name": "B", "ty"#;
        assert_eq!(read(cut), ["A (): ", "B (): "]);
        assert!(RawReply::read("I cannot.").is_err() && RawReply::read("").is_err());
        assert!(RawReply::read(r#"{"entities": "KX-40"}"#).is_err());
    }

    #[test]
    fn names_in_one_sentence_are_related() {
        let text = "The KX-40 was designed by Ilse Brandt. Ilse Brandt was born in Varnsund.";
        let chunk = chunk(1, "", text);
        let mut found = shown(&extract_names(&chunk));
        found.sort();
        // The identifiers decide which of two names comes first.
        let ends = |line: &str| line.contains("-1->");
        assert_eq!(found.iter().filter(|line| ends(line)).count(), 2, "{found:?}");
        found.retain(|line| !ends(line));
        assert_eq!(
            found,
            [
                "Ilse Brandt (): The KX-40 was designed by Ilse Brandt.",
                "KX-40 (): The KX-40 was designed by Ilse Brandt.",
                "Varnsund (): Ilse Brandt was born in Varnsund."
            ]
        );
        assert_eq!(entity_of("ＫＸ－40"), entity_of("kx 40"));
        assert_eq!(entity_of("—"), None);
    }
}
