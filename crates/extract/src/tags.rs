//! Finds tags with a model (PIKE-RAG §5.2.2, Fig. 7): key factors of a sample, their classes, tags
//! of chunks and questions by class, and pairs of the question's and the document's word.

use std::collections::HashSet;

use pikerag_knowledge::{
    Account, ChatModel, Chunk, ChunkId, FoundTag, NameKey, Origin, Role, Schema, TagClass,
    TagExample,
};
use pikerag_language::names::tag_words;
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, index, numbered, object, one_line, passages,
    quiet_headings, text, texts, titled,
};
use serde_json::{Value, json};

/// The number of chunks in one call for key factors.
pub const FACTORED: usize = 8;
/// The most classes; the most tags of one text; the most characters of a tag or a name.
const CLASSES: usize = 12;
const TAGS: usize = 96;
const LONGEST_TAG: usize = 80;
/// The most factors of one call for classes.
const FACTORS: usize = 400;

const fn prompt(template: &'static str, max_tokens: u32) -> Prompt {
    Prompt::new(Role::Tag, template, max_tokens)
}

const FIND: Prompt = prompt(include_str!("prompts/tag_factors.md"), 2048);
const GENERALISE: Prompt = prompt(include_str!("prompts/tag_classes.md"), 2048);
const CHUNK: Prompt = prompt(include_str!("prompts/tag_chunk.md"), 1024);
const QUESTION: Prompt = prompt(include_str!("prompts/tag_question.md"), 512)
    .with_earlier("extract/tag_question", &[include_str!("prompts/earlier/tag_question.1.md")]);
const PAIRS: Prompt = prompt(include_str!("prompts/tag_pairs.md"), 512);

/// The key of a tag: one for all spellings that differ in case, accents, punctuation or English
/// ending. `None` if the tag has no word.
pub fn tag_key(tag: &str) -> Option<NameKey> {
    let words = tag_words(tag);
    (!words.is_empty()).then(|| NameKey::of_folded(&words))
}

/// A word that readers would use to look up a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// The words as the passage has them.
    pub text: String,
    /// The chunk that contains them.
    pub chunk: ChunkId,
}

/// Asks for the key factors of at most [`FACTORED`] chunks: one call.
///
/// # Errors
/// Those of the model; also an unreadable reply.
pub async fn key_factors(
    model: &dyn ChatModel,
    chunks: &[Chunk],
    account: &mut Account,
) -> Result<Vec<Factor>, AskError> {
    let shown = passages(chunks);
    let reply: Listed = ask(model, &FIND, &[("passages", shown.as_str())], account).await?;
    let mut factors = Vec::new();
    for item in reply.0 {
        let Ok(Some(place)) = index(&item, "passage", chunks.len()) else { continue };
        if let (Ok(text), Some(chunk)) = (text(&item, "factor"), chunks.get(place))
            && let Some(text) = short(&text)
        {
            factors.push(Factor { text, chunk: chunk.id });
        }
    }
    Ok(factors)
}

/// Asks for the classes of factors, besides known classes: one call. Examples that are not among
/// the factors are dropped.
///
/// # Errors
/// Those of the model; also an unreadable reply.
pub async fn tag_classes(
    model: &dyn ChatModel,
    factors: &[Factor],
    known: &[TagClass],
    account: &mut Account,
) -> Result<Vec<TagClass>, AskError> {
    let mut seen = HashSet::new();
    let distinct: Vec<&Factor> =
        factors.iter().filter(|factor| seen.insert(tag_key(&factor.text))).take(FACTORS).collect();
    let listed = numbered(distinct.iter().map(|factor| factor.text.as_str()));
    let known_listed = match known {
        [] => "(none)".to_owned(),
        known => class_list(known),
    };
    let inputs = [("known", known_listed.as_str()), ("factors", listed.as_str())];
    let reply: Listed = ask(model, &GENERALISE, &inputs, account).await?;
    let mut names: HashSet<Option<NameKey>> =
        known.iter().map(|class| tag_key(&class.name)).collect();
    let mut classes = Vec::new();
    for item in reply.0 {
        let Some(name) = text(&item, "name").ok().and_then(|name| short(&name)) else { continue };
        if !names.insert(tag_key(&name)) || CLASSES <= classes.len() {
            continue;
        }
        let covers = quiet_headings(&one_line(&text(&item, "covers").unwrap_or_default()));
        let covers: String = covers.chars().take(300).collect();
        let mut examples = Vec::new();
        for example in texts(&item, "examples").unwrap_or_default() {
            let key = tag_key(&example);
            let factor = distinct.iter().find(|factor| tag_key(&factor.text) == key);
            examples.extend(
                factor.map(|factor| TagExample {
                    text: factor.text.clone(),
                    chunk: Some(factor.chunk),
                }),
            );
        }
        classes.push(TagClass::new(&name, &covers, examples, Origin::Found));
    }
    Ok(classes)
}

/// Asks for the tags of a chunk in some classes, each once: one call.
///
/// # Errors
/// Those of the model; also an unreadable reply.
pub async fn chunk_tags(
    model: &dyn ChatModel,
    chunk: &Chunk,
    classes: &[TagClass],
    account: &mut Account,
) -> Result<Vec<FoundTag>, AskError> {
    let (title, text) = titled(chunk);
    let listed = class_list(classes);
    let inputs = [("classes", listed.as_str()), ("title", &title), ("text", &text)];
    let reply: Listed = ask(model, &CHUNK, &inputs, account).await?;
    Ok(by_class(&reply.0, classes))
}

/// The prompt that [`chunk_tags`] would send, for estimates.
///
/// # Errors
/// None, unless the built-in template is broken.
pub fn chunk_tags_prompt(chunk: &Chunk, classes: &[TagClass]) -> Result<String, AskError> {
    let (title, text) = titled(chunk);
    let listed = class_list(classes);
    CHUNK.render(&[("classes", listed.as_str()), ("title", &title), ("text", &text)])
}

/// The prompt that [`key_factors`] would send, for estimates.
///
/// # Errors
/// None, unless the built-in template is broken.
pub fn factors_prompt(chunks: &[Chunk]) -> Result<String, AskError> {
    FIND.render(&[("passages", &passages(chunks))])
}

/// Asks for the tags of a question by class, each once: one call.
///
/// # Errors
/// Those of the model; also an unreadable reply.
pub async fn question_tags(
    model: &dyn ChatModel,
    question: &str,
    classes: &[TagClass],
    account: &mut Account,
) -> Result<Vec<FoundTag>, AskError> {
    let (listed, question) = (class_list(classes), quiet_headings(question));
    let inputs = [("classes", listed.as_str()), ("question", question.as_str())];
    let reply: Listed = ask(model, &QUESTION, &inputs, account).await?;
    Ok(by_class(&reply.0, classes))
}

/// Matches tags of a question with tags of a passage, by index in both lists: one call. Equal tags
/// are not listed.
///
/// # Errors
/// Those of the model; also an unreadable reply.
pub async fn map_tags(
    model: &dyn ChatModel,
    question: &str,
    of_question: &[&str],
    of_passage: &[&str],
    account: &mut Account,
) -> Result<Vec<(usize, usize)>, AskError> {
    let question = quiet_headings(question);
    let (ours, theirs) =
        (numbered(of_question.iter().copied()), numbered(of_passage.iter().copied()));
    let inputs =
        [("question", question.as_str()), ("question_tags", &ours), ("passage_tags", &theirs)];
    let reply: Listed = ask(model, &PAIRS, &inputs, account).await?;
    let mut pairs = Vec::new();
    for item in reply.0 {
        let one = index(&item, "question_tag", of_question.len());
        let other = index(&item, "passage_tag", of_passage.len());
        let (Ok(Some(one)), Ok(Some(other))) = (one, other) else { continue };
        let same = of_question.get(one).map(|tag| tag_key(tag))
            == of_passage.get(other).map(|tag| tag_key(tag));
        if !same && !pairs.contains(&(one, other)) {
            pairs.push((one, other));
        }
    }
    Ok(pairs)
}

/// Lists classes with their examples, numbered from 1; replies use these numbers.
fn class_list(classes: &[TagClass]) -> String {
    let mut lines = Vec::with_capacity(classes.len());
    for class in classes {
        let examples: Vec<&str> =
            class.examples.iter().map(|example| example.text.as_str()).collect();
        let examples = match examples.as_slice() {
            [] => String::new(),
            examples => format!(" (such as {})", examples.join("; ")),
        };
        lines.push(format!("{}: {}{examples}", class.name, class.covers));
    }
    numbered(lines.iter().map(String::as_str))
}

/// Reads tags with their classes; a reply gives the class by number or by name.
fn by_class(items: &[Value], classes: &[TagClass]) -> Vec<FoundTag> {
    let mut seen = HashSet::new();
    let mut tags = Vec::new();
    for item in items {
        let named = || {
            let name = tag_key(&text(item, "class").ok()?)?;
            classes.iter().find(|class| tag_key(&class.name) == Some(name))
        };
        let class = named().or_else(|| classes.get(index(item, "class", classes.len()).ok()??));
        let Some(tag) = text(item, "tag").ok().and_then(|tag| short(&tag)) else { continue };
        if let (Some(class), Some(key)) = (class, tag_key(&tag))
            && tags.len() < TAGS
            && seen.insert((class.id, key))
        {
            tags.push(FoundTag { class: class.id, key, text: tag });
        }
    }
    tags
}

/// A tag on one line; `None` if it is empty or too long.
fn short(tag: &str) -> Option<String> {
    let tag = one_line(tag);
    (tag_key(&tag).is_some() && tag.chars().count() <= LONGEST_TAG).then_some(tag)
}

/// The objects under the key that the prompts ask for; other values are skipped.
struct Listed(Vec<Value>);

impl Reply for Listed {
    /// The prompt describes the format in words, because five formats share this reader.
    fn schema() -> Option<Schema> {
        None
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        const KEYS: [&str; 4] = ["factors", "classes", "tags", "pairs"];
        let found = object(reply, &KEYS)?;
        for key in KEYS {
            match found.get(key) {
                Some(Value::Array(items)) => return Ok(Self(items.clone())),
                // Tags by class: {"tags": {"symptom": ["…"]}}.
                Some(Value::Object(by_class)) => return Ok(Self(flat(by_class))),
                Some(_) => {
                    let expected = "a list of objects".to_owned();
                    return Err(Unreadable::BadKey { key: key.to_owned(), expected });
                }
                None => {}
            }
        }
        Err(Unreadable::NoObject { keys: KEYS.join("`, `") })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_listed: Listed }

fn flat(by_class: &serde_json::Map<String, Value>) -> Vec<Value> {
    let mut items = Vec::new();
    for (class, tags) in by_class {
        for tag in tags.as_array().into_iter().flatten() {
            items.push(json!({ "class": class, "tag": tag }));
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Vec<TagClass> {
        vec![
            TagClass::new("offence", "what somebody did", vec![], Origin::Declared),
            TagClass::new("刑罚", "判处的刑罚", vec![], Origin::Declared),
        ]
    }

    fn read(reply: &str) -> Vec<String> {
        let classes = classes();
        let name = |id| &classes.iter().find(|class| class.id == id).unwrap().name;
        let tags = by_class(&Listed::read(reply).unwrap().0, &classes);
        tags.into_iter().map(|tag| format!("{}: {}", name(tag.class), tag.text)).collect()
    }

    #[test]
    fn tags_are_read_in_many_formats() {
        let expected = ["offence: theft", "刑罚: 有期徒刑"];
        assert_eq!(
            read(
                r#"{"tags": [{"class": 1, "tag": " theft "}, {"class": "2", "tag": "有期徒刑"}]}"#
            ),
            expected
        );
        assert_eq!(
            read(
                r#"{"tags": [{"class": "Offence", "tag": "theft"}, {"class": "offences", "tag": "Thefts"},
                {"class": "刑罚", "tag": "有期徒刑"}, {"class": 9, "tag": "x"}, {"tag": "y"}, 7, {"class": 1, "tag": "?!"}]}"#
            ),
            expected
        );
        assert_eq!(
            read(r#"{"tags": {"offence": ["theft"], "刑罚": ["有期徒刑", 3.5]}}"#)[..2],
            ["offence: theft", "刑罚: 有期徒刑"]
        );
        assert!(Listed::read("theft").is_err() && Listed::read(r#"{"tags": 3}"#).is_err());
    }

    #[test]
    fn spellings_of_one_tag() {
        assert_eq!(tag_key("Term of Imprisonment"), tag_key("terms of imprisonment!"));
        assert_ne!(tag_key("theft"), tag_key("robbery"));
        assert_eq!(tag_key("有期徒刑"), tag_key("「有期徒刑」"));
        assert_eq!(tag_key("—"), None);
    }

    #[test]
    fn tags_that_are_too_long_are_dropped() {
        assert_eq!(short(&"word ".repeat(30)), None);
        assert_eq!(short("a\n b"), Some("a b".to_owned()));
    }
}
