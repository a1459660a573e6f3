//! Imitates a model that knows only its prompt. It reads facts of the [`World`](crate::World) from
//! the prompt and follows the question along them, so an answer is right only if retrieval and
//! context were right. A prompt of an unknown kind gets a well-formed reply.

mod erring;
mod methods;

use std::collections::HashMap;

use serde_json::{Value, json};

pub use self::erring::Erring;
pub use self::methods::full_oracle;
use crate::world::relations::{Kind, Language, RELATIONS, fill, language_of, parts};

/// A reply, with the kind of its prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleReply {
    /// The kind of prompt: `atomize`, `propose`, `select`, `answer`, `judge` …
    pub kind: &'static str,
    /// The reply.
    pub text: String,
}

/// The reply to a prompt; it depends on the prompt alone.
#[must_use]
pub fn oracle(prompt: &str) -> OracleReply {
    let object = |kind, object: Value| OracleReply { kind, text: object.to_string() };
    if prompt.contains("Fill in the fields of a form") {
        object("fill", filled_form(prompt))
    } else if prompt.contains("{\"questions\":") {
        object("atomize", json!({"questions": atoms(section(prompt, "Content"))}))
    } else if prompt.contains("\"sufficient\"") && prompt.contains("\"missing\"") {
        object("look", look(prompt))
    } else if prompt.contains("\"sub_questions\"") {
        object("propose", propose(prompt))
    } else if prompt.contains("\"question_idx\"") {
        object("select", select(prompt, "Sub-questions", "question_idx"))
    } else if prompt.contains("\"paragraph_idx\"") {
        object("select_chunk", select(prompt, "Paragraphs", "paragraph_idx"))
    } else if prompt.contains("\"next_rationale\"") {
        object("ircot", rationale(prompt))
    } else if prompt.contains("only be \"Yes\" or \"No\"") {
        let text = if yes(prompt) { "Yes" } else { "No" };
        OracleReply { kind: "judge", text: text.to_owned() }
    } else if prompt.contains("Are follow up questions needed here") {
        OracleReply { kind: "self_ask", text: self_ask(prompt) }
    } else if prompt.contains("\"answer\"") {
        object("answer", answer(prompt))
    } else {
        OracleReply {
            kind: "other",
            text: "Ships, companies, people and ports are told of.".to_owned(),
        }
    }
}

/// A fact with its source.
#[derive(Debug)]
struct Fact {
    object: String,
    sentence: String,
    /// The number of its passage, if passages are numbered.
    passage: Option<u64>,
}

/// The facts of a text, by subject and relation.
#[derive(Debug, Default)]
pub(crate) struct Context(HashMap<(String, usize), Fact>);

impl Context {
    /// Reads facts from sentences; a line `[n] …` begins a passage.
    pub(crate) fn read(text: &str) -> Self {
        let (mut context, mut passage) = (Self::default(), None);
        for line in text.lines() {
            let heading = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
            passage = heading.and_then(|(n, _)| n.parse().ok()).or(passage);
            for sentence in line.split_inclusive(['.', '。']).map(str::trim) {
                let sentence = unnumbered(sentence);
                for (relation, subject, object) in facts_in(sentence) {
                    let sentence = sentence.to_owned();
                    let fact = Fact { object: object.to_owned(), sentence, passage };
                    context.0.entry((subject.to_owned(), relation)).or_insert(fact);
                }
            }
        }
        context
    }

    /// Adds a fact that was worked out.
    fn tell(&mut self, subject: String, relation: usize, object: &str) {
        let (object, sentence) = (object.to_owned(), String::new());
        self.0.insert((subject, relation), Fact { object, sentence, passage: None });
    }
}

/// Removes a leading number, list mark, or mark of text that is left out.
fn unnumbered(sentence: &str) -> &str {
    let rest = sentence.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix(['.', ':']).unwrap_or(sentence);
    rest.trim_start_matches(['-', '*', ' ', '…'])
}

/// The facts that a sentence states.
fn facts_in(sentence: &str) -> Vec<(usize, &str, &str)> {
    let mut facts = Vec::new();
    for (place, relation) in RELATIONS.iter().enumerate() {
        for language in [Language::English, Language::Chinese] {
            if let Some((subject, object)) = parts(relation.words(language).says, sentence) {
                facts.push((place, subject, object));
            }
        }
    }
    facts
}

/// The start and the relations, in order, that a question asks for.
fn chain(question: &str) -> Option<(String, Vec<usize>)> {
    let question = question.trim();
    for (place, relation) in RELATIONS.iter().enumerate() {
        for language in [Language::English, Language::Chinese] {
            for asks in relation.words(language).asks {
                if let Some((subject, _)) = parts(asks, question) {
                    return Some((subject.to_owned(), vec![place]));
                }
            }
        }
    }
    english_chain(question).or_else(|| chinese_chain(question))
}

fn english_chain(question: &str) -> Option<(String, Vec<usize>)> {
    let mut rest = question.strip_prefix("What is the ")?.strip_suffix('?')?;
    let mut relations = Vec::new();
    loop {
        let next = RELATIONS.iter().enumerate().find_map(|(place, relation)| {
            let rest = rest.strip_prefix(relation.words(Language::English).name)?;
            Some((place, rest.strip_prefix(" of the ")?))
        });
        let Some((relation, after)) = next else { break };
        relations.insert(0, relation);
        rest = after;
    }
    let mut kinds = Kind::ALL.iter().map(|kind| kind.name(Language::English));
    let subject = kinds.find_map(|kind| rest.strip_prefix(kind)?.strip_prefix(' '))?;
    (!relations.is_empty()).then(|| (subject.to_owned(), relations))
}

fn chinese_chain(question: &str) -> Option<(String, Vec<usize>)> {
    let mut words = question.strip_suffix("是什么？")?.split('的');
    let start = words.next()?;
    let mut kinds = Kind::ALL.iter().map(|kind| kind.name(Language::Chinese));
    let subject = kinds.find_map(|kind| start.strip_prefix(kind))?;
    let relation = |name| RELATIONS.iter().position(|r| r.words(Language::Chinese).name == name);
    let relations: Vec<usize> = words.map(relation).collect::<Option<_>>()?;
    (!relations.is_empty()).then(|| (subject.to_owned(), relations))
}

/// How far the facts lead towards an answer.
pub(crate) struct Walk<'a> {
    facts: Vec<&'a Fact>,
    /// The answer, if the facts reach the end of the chain.
    pub(crate) answer: Option<String>,
    /// The subject and the relation of the first unknown fact.
    missing: Option<(String, usize)>,
}

/// Follows a question through the facts; `None` if it is not of this world.
pub(crate) fn walk<'a>(question: &str, context: &'a Context) -> Option<Walk<'a>> {
    let (mut at, relations) = chain(question)?;
    let mut facts = Vec::new();
    for relation in relations {
        match context.0.get(&(at.clone(), relation)) {
            Some(fact) => {
                at.clone_from(&fact.object);
                facts.push(fact);
            }
            None => return Some(Walk { facts, answer: None, missing: Some((at, relation)) }),
        }
    }
    Some(Walk { facts, answer: Some(at), missing: None })
}

/// The question for a fact, in the first or the second wording.
fn asked(subject: &str, relation: usize, form: usize) -> String {
    fill(RELATIONS[relation].words(language_of(subject)).asks[form], subject, "")
}

fn atoms(content: &str) -> Vec<String> {
    let mut atoms = Vec::new();
    for line in content.lines() {
        for sentence in line.split_inclusive(['.', '。']).map(str::trim) {
            atoms.extend(
                facts_in(sentence).into_iter().map(|(relation, s, _)| asked(s, relation, 0)),
            );
        }
    }
    if atoms.is_empty() {
        // No facts of this world: a question from the first words of each line.
        let lines = content.lines().filter(|line| !line.trim().is_empty());
        let begins =
            lines.map(|line| line.split_whitespace().take(7).collect::<Vec<_>>().join(" "));
        atoms.extend(begins.take(8).map(|words| format!("What is said of {words}?")));
    }
    atoms
}

fn propose(prompt: &str) -> Value {
    let context = Context::read(section(prompt, "Context"));
    let question = question(prompt);
    let proposals = match walk(question, &context) {
        Some(Walk { missing: Some((subject, relation)), .. }) => {
            vec![asked(&subject, relation, 1), asked(&subject, relation, 0)]
        }
        // A question of another world: propose the question itself once.
        None if section(prompt, "Context").len() < 20 => vec![question.to_owned()],
        _ => Vec::new(),
    };
    json!({"thinking": "One step after the other.", "sub_questions": proposals})
}

fn select(prompt: &str, heading: &str, key: &str) -> Value {
    let candidates: Vec<(u64, &str)> = section(prompt, heading)
        .lines()
        .filter_map(|line| line.split_once(". "))
        .filter_map(|(n, text)| Some((n.parse().ok()?, text)))
        .collect();
    let context = Context::read(section(prompt, "Context"));
    let chosen = match walk(question(prompt), &context) {
        Some(Walk { missing: Some((subject, relation)), .. }) => {
            candidates.iter().find(|(_, text)| {
                let asks = |form| asked(&subject, relation, form) == text.trim();
                asks(0)
                    || asks(1)
                    || Context::read(text).0.contains_key(&(subject.clone(), relation))
            })
        }
        Some(_) => None,
        None => candidates.first(),
    };
    json!({"thinking": "What is missing.", key: chosen.map(|(n, _)| n)})
}

fn answer(prompt: &str) -> Value {
    let shown = section(prompt, "Context");
    let context = Context::read(shown);
    match walk(question(prompt), &context) {
        Some(Walk { answer: Some(answer), facts, .. }) => {
            let citations: Vec<Value> = facts
                .iter()
                .filter_map(|fact| Some(json!({"passage": fact.passage?, "quote": fact.sentence})))
                .collect();
            json!({"answer": answer, "rationale": "Read step by step.", "citations": citations})
        }
        Some(_) => json!({"answer": "unknown", "rationale": "A step is missing.", "citations": []}),
        None => {
            let last = shown.split_whitespace().next_back().unwrap_or("unknown");
            json!({"answer": last, "rationale": "The last word.", "citations": []})
        }
    }
}

/// A form with the answer in each field of text, and null in the others.
fn filled_form(prompt: &str) -> Value {
    let format = section(prompt, "Output format");
    let schema = format.get(format.find('{').unwrap_or(0)..).unwrap_or_default();
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let answer = section(prompt, "Answer").lines().next().unwrap_or_default();
    let mut form = serde_json::Map::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let is_text = field["type"] == "string";
        form.insert(name.clone(), if is_text { json!(answer) } else { Value::Null });
    }
    Value::Object(form)
}

/// The facts on the path to the answer; then the answer, or the missing facts.
fn look(prompt: &str) -> Value {
    let shown = format!("{}\n{}", section(prompt, "Context"), section(prompt, "Facts so far"));
    let context = Context::read(&shown);
    let Some(walked) = walk(question(prompt), &context) else {
        let thinking = "Of another world.";
        return json!({"thinking": thinking, "facts": [], "sufficient": true, "missing": [], "answer": "unknown"});
    };
    let fact = |fact: &&Fact| json!({"passage": fact.passage, "fact": fact.sentence});
    let facts: Vec<Value> = walked.facts.iter().map(fact).collect();
    let missing: Vec<String> = walked.missing.iter().map(|(s, r)| asked(s, *r, 0)).collect();
    let answer = walked.answer.unwrap_or_default();
    json!({
        "thinking": "Step by step.", "facts": facts, "sufficient": missing.is_empty(), "missing": missing,
        "answer": answer,
    })
}

fn rationale(prompt: &str) -> Value {
    let context = Context::read(section(prompt, "Reference context for your question"));
    match walk(question(prompt), &context) {
        Some(Walk { missing: Some((subject, relation)), .. }) => {
            let next = format!("It has to be known: {}", asked(&subject, relation, 0));
            match prompt.contains("Rationale so far")
                && section(prompt, "Rationale so far").contains(&next)
            {
                true => json!({"next_rationale": null, "answer": "unknown"}),
                false => json!({"next_rationale": next, "answer": null}),
            }
        }
        walked => {
            let answer = walked.and_then(|walked| walked.answer);
            json!({"next_rationale": null, "answer": answer.as_deref().unwrap_or("unknown")})
        }
    }
}

/// Judges an answer by its labels, and its support by the words of the passages; anything else is
/// denied.
fn yes(prompt: &str) -> bool {
    let plain = |text: &str| crate::words::words(text).join(" ");
    let given = plain(section(prompt, "Answer").lines().next().unwrap_or_default());
    let holds = |text: &str| !given.is_empty() && plain(text).contains(&given);
    let labels = section(prompt, "Correct answer labels");
    let is_label = |label: &str| !plain(label).is_empty() && given.contains(&plain(label));
    labels.lines().any(is_label) || (labels.is_empty() && holds(section(prompt, "Passages")))
}

/// The next lines of a self-ask transcript.
fn self_ask(prompt: &str) -> String {
    let transcript = prompt.rsplit("Question: ").next().unwrap_or_default();
    let question = transcript.lines().next().unwrap_or_default();
    let mut context = Context::default();
    let mut followed = None;
    for line in transcript.lines() {
        if let Some(asked) = line.strip_prefix("Follow up: ") {
            followed = chain(asked);
        } else if let Some(object) = line.strip_prefix("Intermediate answer: ")
            && let Some((subject, relations)) = followed.take()
            && let [relation] = relations.as_slice()
        {
            context.tell(subject, *relation, object.trim());
        }
    }
    let walked = walk(question, &context);
    let answer = walked.as_ref().and_then(|walked| walked.answer.clone());
    let ends = transcript.trim_end().ends_with("So the final answer is:");
    match walked.and_then(|walked| walked.missing) {
        Some((subject, relation)) if !ends => {
            format!("Yes.\nFollow up: {}", asked(&subject, relation, 0))
        }
        _ if ends => answer.unwrap_or_else(|| "unknown".to_owned()),
        _ => format!("No.\nSo the final answer is: {}", answer.as_deref().unwrap_or("unknown")),
    }
}

/// The text below a heading of the prompt, up to the next heading; empty without that heading.
fn section<'a>(prompt: &'a str, heading: &str) -> &'a str {
    let heading = format!("# {heading}\n");
    let at = match prompt.rfind(&format!("\n{heading}")) {
        Some(at) => at + 1,
        None if prompt.starts_with(&heading) => 0,
        None => return "",
    };
    let rest = prompt.get(at + heading.len()..).unwrap_or_default();
    let end = if rest.starts_with("# ") { Some(0) } else { rest.find("\n# ") };
    rest.get(..end.unwrap_or(rest.len())).unwrap_or_default().trim()
}

fn question(prompt: &str) -> &str {
    section(prompt, "Question").lines().next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::{chain, oracle, section};

    const CONTEXT: &str = "# Context\n[1] Grey Tern Vela\nThe captain of the ship Grey Tern Vela is Cora Dunba. \
        Letters call it bold.\n\n[2] 沈青川\n船员沈青川出生在恒秋港。\n\n# Question\n";

    #[test]
    fn questions_are_understood_in_both_languages() {
        let two = chain("What is the birthplace of the captain of the ship Grey Tern Vela?");
        assert_eq!(two, Some(("Grey Tern Vela".to_owned(), vec![1, 6])));
        let two = chain("轮船飞若号的船长的出生地是什么？");
        assert_eq!(two, Some(("飞若号".to_owned(), vec![1, 6])));
        assert_eq!(chain("Where was Cora Dunba born?"), Some(("Cora Dunba".to_owned(), vec![6])));
        assert_eq!(chain("Who was Ada?"), None);
    }

    #[test]
    fn it_proposes_and_selects_the_missing_fact() {
        let question = "What is the birthplace of the captain of the ship Grey Tern Vela?";
        let reply = oracle(&format!("{{\"sub_questions\"}}\n\n{CONTEXT}{question}"));
        assert_eq!(reply.kind, "propose");
        assert!(reply.text.contains("Where was Cora Dunba born?"), "{reply:?}");
        let listed = "# Sub-questions\n1. Who?\n2. In which port was Cora Dunba born?";
        let reply = oracle(&format!("{{\"question_idx\"}}\n\n{listed}\n\n{CONTEXT}{question}"));
        assert!(reply.text.contains("\"question_idx\":2"), "{reply:?}");
    }

    #[test]
    fn it_answers_with_the_words_of_a_passage() {
        let chat = oracle(&format!("{{\"answer\"}}\n\n{CONTEXT}船员沈青川的出生地是什么？"));
        let reply: serde_json::Value = serde_json::from_str(&chat.text).unwrap();
        assert_eq!(reply["answer"], "恒秋港");
        assert_eq!(reply["citations"][0]["passage"], 2);
        assert_eq!(reply["citations"][0]["quote"], "船员沈青川出生在恒秋港。");
    }

    #[test]
    fn it_judges_by_labels_and_by_passages() {
        let asks = "The reply must only be \"Yes\" or \"No\".\n\n";
        for (rest, reply) in [
            ("# Correct answer labels\nthe Velahaven\n\n# Answer\nVelahaven, the port", "No"),
            ("# Correct answer labels\nVelahaven\n\n# Answer\nVelahaven, the port", "Yes"),
            ("# Passages\nIt lies in Velahaven.\n\n# Answer\nVelahaven", "Yes"),
            ("# Passages\nIt lies there.\n\n# Answer\nVelahaven", "No"),
            ("# Question\nWho?", "No"),
        ] {
            assert_eq!(oracle(&format!("{asks}{rest}")).text, reply, "{rest}");
        }
    }

    #[test]
    fn sections_end_at_the_next_heading() {
        assert_eq!(section("# A\nx\n\n# B\ny\nz", "A"), "x");
        assert_eq!(section("# A\nx\n\n# B\ny\nz", "B"), "y\nz");
        assert_eq!(section("# A\n\n# B\ny", "A"), "");
        assert_eq!(section("# A\nx", "C"), "");
    }
}
